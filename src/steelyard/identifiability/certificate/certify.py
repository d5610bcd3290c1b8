r"""The excitation certificate: which of the identifiable combinations some data really determines.

With the base regressor W of the data, columns scaled by c and each joint's equations divided by the standard
deviation of its noise, the singular values of $W\,\mathrm{diag}(c)$ tell directions apart:

- without a wanted accuracy, columns have unit length, and a direction counts as determined when its singular
  value is at least `smallest` times the largest. The default, 1e-6, is where even 10⁴ samples of a sensor
  good to four digits say nothing;
- with one, c is the wanted standard deviation of each base parameter, and a direction is determined when its
  singular value is at least one: its standard deviation is then the wanted one or better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import Compressed, compress
from steelyard.errors import InputError
from steelyard.identifiability.base_parameters import BaseParameters
from steelyard.identifiability.certificate.directions import Direction, sparse_directions
from steelyard.identifiability.certificate.facts import joint_facts
from steelyard.identifiability.certificate.trials import Trials
from steelyard.identifiability.certificate.verdict import Certificate, Missing
from steelyard.identifiability.criteria.information import Information
from steelyard.identifiability.restricted import free_base
from steelyard.identifiability.structure import Identifiability
from steelyard.layout import Layout
from steelyard.robot import Robot

SMALLEST = 1e-6
ZERO_COLUMN = 1e-11
"""A column this short against the longest is round-off, which must not be scaled to unit length."""
WEAKEST = 3
"""How many of the worst determined directions are named."""


def certify_excitation(
    structure: Identifiability,
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    rng: np.random.Generator,
    sigma: ArrayLike | None = None,
    accuracy: Mapping[str, float] | None = None,
    smallest: float = SMALLEST,
) -> Certificate:
    """Compare what a motion shows with what can be known, and say what the rest would need.

    The motion is a recording's, a planned one's at sample times, or any other.

    Args:
        structure: what can be known of the robot; parameters that its layout fixes are not asked for.
        robot: the robot.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s².
        rng: source of the motions tried to explain what is missing.
        sigma: standard deviation of each torque's noise, shape (nv,), N·m or N; None where it is not known.
        accuracy: wanted standard deviation of a base parameter by its SI unit, such as `{"kg m^2": 1e-3}`;
            needs `sigma`.
        smallest: relative singular value from which a direction counts, where no accuracy is wanted.

    Returns:
        The certificate.

    Raises:
        InputError: an argument does not fit, or a unit has no wanted accuracy.
    """
    motion = (
        checked("q", q, ("N", robot.nq)),
        checked("v", v, ("N", robot.nv)),
        checked("a", a, ("N", robot.nv)),
    )
    # Compression takes whole equations; the torques do not matter here.
    compressed = compress(robot, structure.layout, [(*motion, np.zeros_like(motion[1]))])
    certificate = certify_compressed(structure, compressed, sigma=sigma, accuracy=accuracy, smallest=smallest)
    if certificate.complete:
        return certificate
    trials = Trials(robot, structure.layout, certificate.base, motion, rng, static=structure.static)
    changes = np.column_stack([missing.direction.change for missing in certificate.missing])
    facts = joint_facts(robot, *motion)
    explained = []
    for missing, remedies in zip(certificate.missing, trials.remedies(changes), strict=True):
        joints = dict.fromkeys(name for remedy in remedies for name in (*remedy.moving, *remedy.elsewhere))
        mine = tuple(facts[name] for name in joints if name in facts)
        explained.append(replace(missing, remedies=remedies, facts=(*mine, *missing.facts)))
    return replace(certificate, missing=tuple(explained))


def certify_compressed(
    structure: Identifiability,
    compressed: Compressed,
    *,
    sigma: ArrayLike | None = None,
    accuracy: Mapping[str, float] | None = None,
    smallest: float = SMALLEST,
) -> Certificate:
    """Compare what a compressed log of any length shows with what can be known.

    Args:
        structure: what can be known of the robot; parameters that its layout fixes are not asked for.
        compressed: the log, from `dynamics.compress` with the same layout.
        sigma: standard deviation of each torque's noise, shape (nv,), N·m or N; None where it is not known.
        accuracy: wanted standard deviation of a base parameter by its SI unit; needs `sigma`.
        smallest: relative singular value from which a direction counts, where no accuracy is wanted.

    Returns:
        The certificate, which names what is missing but not what would show it: that needs the motion.

    Raises:
        InputError: an argument does not fit, or a unit has no wanted accuracy.
    """
    if compressed.size != structure.layout.size:
        raise InputError(
            f"has {compressed.size} parameters, the structure {structure.layout.size}.",
            place="compressed",
            remedy="Compress with the layout of the structure.",
        )
    if not 0.0 < smallest < 1.0:
        raise InputError(f"must lie between 0 and 1, got {smallest}.", place="smallest")
    base = free_base(structure)
    R = compressed.factor(
        None if sigma is None else 1.0 / _positive("sigma", sigma, len(compressed.triangles))
    )
    information = Information.of_regressor(R[:, base.columns])
    norms = information.norms
    seen = norms > ZERO_COLUMN * norms.max(initial=0.0)
    c = np.where(seen, 1.0 / np.where(seen, norms, 1.0), 1.0)
    if accuracy is not None:
        c = _wanted(structure.layout, base, sigma, accuracy)
    spectrum = information.spectrum(np.diag(np.where(seen, c, 0.0)))
    s = np.sqrt(spectrum.values)
    if accuracy is None and s[0] > 0.0:
        s = s / s[0]
    threshold = smallest if accuracy is None else 1.0
    V, known = spectrum.vectors, int((s >= threshold).sum())
    missing = sparse_directions(V[:, known:], s[known:], c, base.names)
    weakest = [
        sparse_directions(V[:, [k]], s[[k]], c, base.names)[0]
        for k in range(known - 1, max(known - 1 - WEAKEST, -1), -1)
    ]
    return Certificate(
        structure.robot,
        compressed.samples * len(compressed.triangles),
        base,
        read_only(s),
        threshold,
        tuple(Missing(direction, facts=_more_data(direction, accuracy)) for direction in missing),
        tuple(weakest),
    )


def _more_data(direction: Direction, accuracy: Mapping[str, float] | None) -> tuple[str, ...]:
    """How much of the same data would reach the accuracy, where that is less than a thousand times more."""
    if accuracy is None or direction.strength < 1e-3:
        return ()
    return (f"or with {direction.strength**-2:.3g} times as much of the same data",)


def _positive(name: str, values: ArrayLike, count: int) -> Array:
    array = checked(name, values, (count,))
    if array.min(initial=np.inf) <= 0.0:
        raise InputError(f"must be positive, got {array.min():g}.", place=name)
    return array


def _wanted(
    layout: Layout, base: BaseParameters, sigma: ArrayLike | None, accuracy: Mapping[str, float]
) -> Array:
    """The wanted standard deviation of each base parameter, by the unit of its leading one."""
    if sigma is None:
        raise InputError("a wanted accuracy needs the noise of the torques.", place="sigma")
    units = [layout.parameters[k].unit for k in base.columns]
    for unit in units:
        if unit not in accuracy:
            raise InputError(
                f"no accuracy is wanted of base parameters in {unit}.",
                place="accuracy",
                remedy=f"State it for {', '.join(dict.fromkeys(units))}.",
            )
    return _positive("accuracy", [accuracy[unit] for unit in units], base.count)
