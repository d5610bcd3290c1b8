"""Whether data determines all that torques could tell, and if not, which motion is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import scipy
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import Compressed, compress, torque_regressor
from steelyard.errors import InputError
from steelyard.identifiable.base_parameters import BaseParameters
from steelyard.identifiable.criteria import Information
from steelyard.identifiable.random_states import random_positions
from steelyard.identifiable.restricted import free_base
from steelyard.identifiable.structure import Identifiability
from steelyard.layout import Layout
from steelyard.robot import Robot

# Directions among base parameters that data leaves open, written with as few terms as possible.

NEGLIGIBLE = 1e-6
"""Share of a direction below which a term is round-off."""
TERMS = 4
"""How many terms a sentence names."""


@dataclass(frozen=True, eq=False)
class Direction:
    """A change of the base parameters.

    Attributes:
        terms: the base parameters that change and by how much, in their units, the leading one by 1.
        change: the same for all base parameters, shape (b,), SI.
        strength: length of its torques for a scaled change of unit length, dimensionless: at most the largest
            singular value that its basis was given.
    """

    terms: tuple[tuple[str, float], ...]
    change: Array
    strength: float

    def __str__(self) -> str:
        """One line: `link2.Ixx+ with -0.31 link3.mz+`."""
        (leader, _), *others = self.terms
        named = [f"{coefficient:.3g} {name}" for name, coefficient in others[: TERMS - 1]]
        if len(others) >= TERMS:
            named.append("…")
        return f"{leader} with {', '.join(named)}" if named else leader


def sparse_directions(
    vectors: Array, strengths: Array, scales: Array, names: tuple[str, ...]
) -> tuple[Direction, ...]:
    r"""A basis of a subspace in reduced echelon form, which has the fewest terms where directions are apart.

    Pivots are chosen by length among the scaled coordinates, so a base parameter that is open by itself comes
    out as itself and no coefficient is large.

    Args:
        vectors: orthonormal basis in scaled coordinates z, one per column, shape (b, k), dimensionless.
        strengths: singular value of each vector, shape (k,), dimensionless.
        scales: c with beta = c z, shape (b,), SI.
        names: of the base parameters.

    Returns:
        The directions, ordered by their leading parameter.
    """
    k = vectors.shape[1]
    if k == 0:
        return ()
    _, _, order = scipy.linalg.qr(vectors.T, mode="economic", pivoting=True)
    pivots = np.sort(order[:k])
    mixing = np.linalg.inv(vectors[pivots])
    echelon = vectors @ mixing
    echelon[np.abs(echelon) < NEGLIGIBLE * np.abs(echelon).max(axis=0)] = 0.0
    directions = []
    for column, pivot in enumerate(pivots):
        z = echelon[:, column]
        change = scales * z / (scales[pivot] * z[pivot])
        others = [j for j in np.argsort(-np.abs(z), kind="stable") if z[j] != 0.0 and j != pivot]
        terms = tuple((names[j], float(change[j])) for j in (pivot, *others))
        m = mixing[:, column]
        strength = float(np.linalg.norm(strengths * m) / np.linalg.norm(m))
        directions.append(Direction(terms, read_only(change), strength))
    return tuple(directions)


# What joints do in a motion that a reader should know when something does not show.

STILL = 1e-3
"""Range and speed below which a joint counts as still, rad or m and rad/s or m/s."""
STEADY = 1e-3
"""Spread of a speed relative to the speed below which it counts as constant."""


def joint_facts(robot: Robot, q: Array, v: Array, a: Array) -> dict[str, str]:
    """Say what is special about the motion of each joint, where something is.

    Args:
        robot: the robot.
        q: positions, shape (N, nq), rad or m.
        v: velocities, shape (N, nv), rad/s or m/s.
        a: accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        A clause by joint, such as `joint4 stays at 0 rad`; joints that move freely are left out.
    """
    facts = {}
    at_q = at_v = 0
    for joint in robot.joints:
        mine, rates = slice(at_q, at_q + joint.nq), slice(at_v, at_v + joint.nv)
        at_q, at_v = mine.stop, rates.stop
        if joint.nv == 0:
            continue
        place, speed = q[:, mine], v[:, rates]
        span, top = float(np.ptp(place, axis=0).max()), float(np.abs(speed).max())
        if span < STILL and top < STILL and float(np.abs(a[:, rates]).max()) < STILL:
            unit = "rad" if joint.kind.rotates else "m"
            where = f"stays at {_rounded(float(place.mean())):g} {unit}" if joint.nv == 1 else "never moves"
            facts[joint.name] = f"{joint.name} {where}"
        elif joint.nv == 1 and float(np.ptp(speed)) < STEADY * top:
            facts[joint.name] = f"{joint.name} moves at one speed"
        elif joint.nv == 1 and (speed > 0.0).all() | (speed < 0.0).all():
            facts[joint.name] = f"{joint.name} never turns back"
    return facts


def _rounded(x: float) -> float:
    """Three decimals, without a negative zero."""
    return round(x, 3) + 0.0


# What would show a direction that data leaves open, in words.

NAMED = 4
"""Up to how many single joints are named as alternatives."""


@dataclass(frozen=True)
class Remedy:
    """What would show a direction.

    Attributes:
        moving: joints that have to move.
        elsewhere: joints that have to be at another place, moving or not.
    """

    moving: tuple[str, ...]
    elsewhere: tuple[str, ...]

    def __str__(self) -> str:
        """A clause: `joint5 moves freely while joint4 is elsewhere`."""
        moving = (
            f"{_listed(self.moving)} {_verb(self.moving, 'moves freely', 'move freely')}"
            if self.moving
            else ""
        )
        verb = _verb(self.elsewhere, "is elsewhere", "are elsewhere")
        elsewhere = f"{_listed(self.elsewhere)} {verb}" if self.elsewhere else ""
        return " while ".join(part for part in (moving, elsewhere) if part)


def alternatives(remedies: Sequence[Remedy]) -> str:
    """What would show a direction, in one clause.

    Args:
        remedies: each enough by itself.

    Returns:
        `joint4 or joint6 moves freely`; many single joints are counted instead of named.
    """
    single = [remedy for remedy in remedies if len(remedy.moving) + len(remedy.elsewhere) == 1]
    if len(single) > NAMED:
        return f"any of {len(single)} joints moves freely or is elsewhere"
    moving = [remedy.moving[0] for remedy in single if remedy.moving]
    elsewhere = [remedy.elsewhere[0] for remedy in single if remedy.elsewhere]
    parts = [f"{' or '.join(moving)} moves freely"] if moving else []
    parts += [f"{' or '.join(elsewhere)} is elsewhere"] if elsewhere else []
    return " or ".join([*parts, *(str(remedy) for remedy in remedies if remedy not in single)])


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _verb(names: Sequence[str], one: str, many: str) -> str:
    return one if len(names) == 1 else many


# Why data leaves a direction open: the joints that would have to move, found by trying.
#
# The motion is kept but for some joints, which are held at another place or move freely, and a direction
# shows when its torque is then no longer small. Where no single joint is enough, all of them move at first
# and are put back one after the other as long as the direction still shows.

SAMPLES = 32
"""States of the motion that are tried."""
SHOWS = 1e-4
"""A direction shows when its torque is at least this share of what it is when every joint moves freely."""
RISES = 3.0
"""And this many times what it is in the motion as it is."""


class TriedChange(IntEnum):
    """What a joint does differently."""

    NONE = 0
    ELSEWHERE = 1
    MOVES = 2


class Trials:
    """A motion, and what its torques would be if some joints did something else.

    Attributes:
        joints: indices of the joints that move by themselves.
        most: the most a joint can do; in static experiments none moves.
    """

    def __init__(
        self,
        robot: Robot,
        layout: Layout,
        base: BaseParameters,
        motion: tuple[Array, Array, Array],
        rng: np.random.Generator,
        *,
        static: bool,
    ) -> None:
        self.robot, self.layout, self.base = robot, layout, base
        picked = np.linspace(0, len(motion[0]) - 1, min(SAMPLES, len(motion[0]))).round().astype(int)
        self.motion = tuple(x[picked] for x in motion)
        self.most = TriedChange.ELSEWHERE if static else TriedChange.MOVES
        n = len(picked)
        self.places = [random_positions(joint, n, rng, within_limits=True) for joint in robot.joints]
        self.v, self.a = rng.normal(size=(2, n, robot.nv))
        self.joints = [i for i, joint in enumerate(robot.joints) if joint.nv > 0]

    def torque(self, changes: dict[int, TriedChange], directions: Array) -> Array:
        """Root mean square torque of directions when joints do something else.

        Args:
            changes: what each joint does, by its index; the others do what they do in the motion.
            directions: changes of the base parameters, one per column, shape (b, k), SI.

        Returns:
            The torque of each direction, shape (k,), N·m or N.
        """
        q, v, a = (x.copy() for x in self.motion)
        at_q = np.cumsum([0, *(joint.nq for joint in self.robot.joints)])
        at_v = np.cumsum([0, *(joint.nv for joint in self.robot.joints)])
        for i, change in changes.items():
            mine, rates = slice(at_q[i], at_q[i + 1]), slice(at_v[i], at_v[i + 1])
            if change is TriedChange.ELSEWHERE:
                q[:, mine] = self.places[i][0]
            elif change is TriedChange.MOVES:
                q[:, mine], v[:, rates], a[:, rates] = self.places[i], self.v[:, rates], self.a[:, rates]
        Y = torque_regressor(self.robot, self.layout, q, v, a)[..., self.base.columns]
        return np.asarray(np.sqrt(np.mean((Y @ directions) ** 2, axis=(0, 1))))

    def remedies(self, directions: Array) -> list[tuple[Remedy, ...]]:
        """The single joints that would show each direction, or else one set of joints.

        Args:
            directions: changes of the base parameters, one per column, shape (b, k), SI.

        Returns:
            The remedies of each direction; none where even all joints together do not show it.
        """
        everything = dict.fromkeys(self.joints, self.most)
        needed = np.maximum(SHOWS * self.torque(everything, directions), RISES * self.torque({}, directions))
        found: list[list[Remedy]] = [[] for _ in needed]
        for i in self.joints:
            shown = np.zeros(len(needed), dtype=bool)
            for change in (TriedChange.ELSEWHERE, TriedChange.MOVES)[: self.most]:
                shows = self.torque({i: change}, directions) > needed
                for k in map(int, np.flatnonzero(shows & ~shown)):
                    found[k].append(self._remedy({i: change}))
                shown |= shows
        for k, remedies in enumerate(found):
            if not remedies and self.torque(everything, directions[:, [k]])[0] > needed[k]:
                remedies.append(self._remedy(self._fewest(directions[:, [k]], needed[k])))
        return [tuple(mine) for mine in found]

    def _fewest(self, direction: Array, needed: float) -> dict[int, TriedChange]:
        """A set of changes none of which can be spared."""
        changes = dict.fromkeys(self.joints, self.most)
        for i in self.joints:
            for less in list(TriedChange)[: self.most]:
                if self.torque(changes | {i: less}, direction)[0] > needed:
                    changes[i] = less
                    break
        return changes

    def _remedy(self, changes: dict[int, TriedChange]) -> Remedy:
        names = self.robot.joint_names
        moving, elsewhere = (
            tuple(names[i] for i, change in changes.items() if change is kind)
            for kind in (TriedChange.MOVES, TriedChange.ELSEWHERE)
        )
        return Remedy(moving, elsewhere)


# `ExcitationCertificate`: how much of what can be known some data determines, and what the rest would need.

LISTED = 10
"""How many missing directions the summary lists."""


@dataclass(frozen=True, eq=False)
class Missing:
    """A direction that data leaves open.

    Attributes:
        direction: the change of base parameters that does not show.
        remedies: what would show it, each enough by itself; empty where only a factor of the data was known.
        facts: what the joints of the remedies do in the data.
    """

    direction: Direction
    remedies: tuple[Remedy, ...] = ()
    facts: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A sentence: what is open, what would show it, and what the data has instead."""
        shown = f"; it shows when {alternatives(self.remedies)}" if self.remedies else ""
        facts = f" ({', '.join(self.facts)})" if self.facts else ""
        return f"{self.direction}{shown}{facts}"


@dataclass(frozen=True, eq=False)
class ExcitationCertificate:
    """How much of what can be known some data determines.

    Attributes:
        robot: name of the robot.
        equations: number of torques measured, samples times degrees of freedom.
        base: the identifiable combinations.
        singular_values: of the scaled base regressor, decreasing, shape (b,), dimensionless; over the largest
            one, or wanted over attained standard deviations.
        threshold: from which singular value on a direction is determined, dimensionless.
        missing: the directions left open.
        weakest: the directions determined worst, the worst first; singular vectors, not thinned out.
    """

    robot: str
    equations: int
    base: BaseParameters
    singular_values: Array
    threshold: float
    missing: tuple[Missing, ...]
    weakest: tuple[Direction, ...]

    @property
    def determined(self) -> int:
        """Number of combinations the data determines."""
        return self.base.count - len(self.missing)

    @property
    def complete(self) -> bool:
        """Whether the data determines all that can be known."""
        return not self.missing

    def __str__(self) -> str:
        """The verdict, what is missing and why, and what is weak, line by line."""
        lines = [f"this data determines {self.determined} of {self.base.count} combinations"]
        if self.equations < self.base.count:
            lines.append(f"it is too short: {self.equations} torques cannot tell {self.base.count} numbers")
        lines += [f"missing: {missing}" for missing in self.missing[:LISTED]]
        if len(self.missing) > LISTED:
            lines.append(f"missing: {len(self.missing) - LISTED} more")
        lines += [f"weak ({direction.strength:.1e}): {direction}" for direction in self.weakest]
        return "\n".join(lines)


# The excitation certificate: which of the identifiable combinations some data really determines.
#
# With the base regressor W of the data, columns scaled by c and each joint's equations divided by the
# standard deviation of its noise, the singular values of $W\,\mathrm{diag}(c)$ tell directions apart:
#
# - without a wanted accuracy, columns have unit length, and a direction counts as determined when its
#   singular value is at least `smallest` times the largest. The default, 1e-6, is where even 10⁴ samples of a
#   sensor good to four digits say nothing;
# - with one, c is the wanted standard deviation of each base parameter, and a direction is determined when
#   its singular value is at least one: its standard deviation is then the wanted one or better.

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
) -> ExcitationCertificate:
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
) -> ExcitationCertificate:
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
    return ExcitationCertificate(
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
