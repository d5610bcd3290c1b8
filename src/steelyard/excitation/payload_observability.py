r"""What a motion shows of the body a tool holds: the deviation of each of its ten numbers, and a verdict.

Deviations are those of least squares on torques with the stated noise, the unknown drive terms estimated as
well. Whether one is small is a matter of what is held: the ten numbers of a body of mass m and size l are of
the size m, m l and m l², their scales.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import compress
from steelyard.errors import InputError, UnknownNameError
from steelyard.identifiable import Criterion, Direction, Information, score, sparse_directions
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS, change_of_frame
from steelyard.layout import layout_of
from steelyard.motion import Motion, MotionSample
from steelyard.robot import Robot

# The size of a body, by which the deviations of its ten numbers are called small or large.


def by_kind(mass: float, first_moment: float, inertia: float) -> Array:
    """Ten numbers of a body that differ by kind only, such as wanted deviations.

    Args:
        mass: of m, kg.
        first_moment: of mx, my and mz, kg m.
        inertia: of the six of the tensor, kg m².

    Returns:
        One for each of the ten numbers, shape (10,), SI.
    """
    return np.array([mass, *(first_moment,) * 3, *(inertia,) * 6])


@dataclass(frozen=True)
class PayloadScale:
    """The size of a body by which deviations are called small or large.

    Attributes:
        mass: m, kg.
        length: l, m.
    """

    mass: float = 1.0
    length: float = 0.1

    def __post_init__(self) -> None:
        for name in ("mass", "length"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise InputError(f"must be positive and finite, got {getattr(self, name)}.", place=name)

    @property
    def ten(self) -> Array:
        """The scales m, m l and m l² of the ten numbers, shape (10,), SI."""
        return by_kind(self.mass, self.mass * self.length, self.mass * self.length**2)

    def __str__(self) -> str:
        """A few words: `1 kg and 0.1 m`."""
        return f"{self.mass:g} kg and {self.length:g} m"


# What measured torques say of the body a tool holds: their equations in its ten numbers and in nuisances.
#
# Each torque, over the standard deviation of its noise, is one equation
#
# $$\tau = Y_L(q, v, a)\,T(X_{LT})\,\varphi_T + N\eta + \varepsilon, \qquad \varepsilon \sim (0, 1),$$
#
# with the ten numbers $\varphi_T$ of the body in the tool frame T, moved to the link L that carries it, and
# the nuisances $\eta$: drive terms of every joint that are not known while the body is held.

DEPENDENT = 1e-10
"""Share of the largest singular value of the nuisances' unit columns below which they repeat each other."""


@dataclass(frozen=True, eq=False)
class TorqueMeter:
    """How torques are measured. The array is read-only.

    Attributes:
        noise: standard deviation of each joint's torque noise, independent from sample to sample, shape
            (nv,), N·m or N. Noise that lasts n samples counts as √n times as large.
        rate: samples per second, Hz.
        unknown: drive terms of every joint that are not known while the body is held: `offset`, `viscous`,
            `coulomb`, `rotor`.
    """

    noise: Array
    rate: float = 1000.0
    unknown: tuple[str, ...] = ("offset",)

    def __post_init__(self) -> None:
        noise = checked("noise", self.noise, ("nv",))
        if not (noise > 0.0).all():
            raise InputError(f"must be positive, got {noise.min():g}.", place="noise")
        if not (np.isfinite(self.rate) and self.rate > 0.0):
            raise InputError(f"must be positive and finite, got {self.rate}.", place="rate")
        terms = tuple(term.name for term in DRIVE_TERMS)
        for name in self.unknown:
            if name not in terms:
                raise UnknownNameError("drive term", name, terms, place="unknown")
        object.__setattr__(self, "noise", read_only(noise))
        object.__setattr__(self, "unknown", tuple(self.unknown))


@dataclass(frozen=True, eq=False)
class PayloadEquations:
    """Torque equations over their noise, or as many rows with the same Gram matrix. Arrays are read-only.

    Attributes:
        payload: columns of the ten numbers in the tool frame, shape (M, 10), SI.
        nuisance: columns of the unknown drive terms, shape (M, n), SI.
    """

    payload: Array
    nuisance: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "payload", read_only(self.payload))
        object.__setattr__(self, "nuisance", read_only(self.nuisance))

    def unconfounded(self) -> Array:
        """What is left of the ten columns outside the span of the nuisances, shape (M, 10), SI.

        Its Gram matrix is the information about the ten numbers whatever the nuisances are.
        """
        W, N = self.payload, self.nuisance
        lengths = np.linalg.norm(N, axis=0)
        # Friction of a joint that stands still shows nowhere, and confounds nothing.
        N = N[:, lengths > 0.0] / lengths[lengths > 0.0]
        U, s, _ = np.linalg.svd(N, full_matrices=False)
        U = U[:, s > DEPENDENT * s.max(initial=0.0)]
        return np.asarray(W - U @ (U.T @ W))


def payload_equations(robot: Robot, at: MotionSample, meter: TorqueMeter) -> PayloadEquations:
    """The equations of a motion's samples, compressed to as many rows as there are parameters.

    Args:
        robot: an arm.
        at: the samples that are measured; the meter's rate does not count.
        meter: how.

    Raises:
        InputError: an array does not fit the robot.
    """
    robot.require_arm()
    noise = checked("noise", meter.noise, (robot.nv,))
    layout = layout_of(robot, meter.unknown)
    # Compression takes whole equations; the torques do not matter here.
    R = compress(robot, layout, [(at.q, at.v, at.a, np.zeros_like(at.v))]).factor(1.0 / noise)
    tool = robot.tool_frame
    of_link = R[:, layout.of_link(robot.link_names[tool.link])]
    return PayloadEquations(of_link @ change_of_frame(tool.placement), R[:, 10 * len(layout.links) : -1])


def measured_times(duration: float, rate: float) -> Array:
    """When samples fall in a motion, from its start on.

    Args:
        duration: of the motion, s.
        rate: samples per second, Hz.

    Returns:
        Times up to the duration, shape (N,), s.
    """
    # A duration of whole sampling times has a sample at its end, whatever its last bit says.
    return np.asarray(np.arange(int(np.floor(duration * rate * (1.0 + 1e-12))) + 1) / rate)


SHOWN = 0.1
"""A number is shown when its deviation is at most this share of its scale."""
NOT_SHOWN = 1.0
"""It is not shown from this share on: the data does not tell it from zero. In between it is weak."""
BLIND = 1e-12
"""A direction whose torques are this small a share of the ten columns' is blind: round-off, not evidence."""
NEGLIGIBLE = 1e-6
"""Share of a blind direction that is round-off, and leaves a number its finite deviation."""
NAMED = 0.1
"""Share of a combination, in terms of the scales, from which a number is named in it."""


class Observability(StrEnum):
    """The verdict about one number, see `SHOWN` and `NOT_SHOWN`."""

    SHOWN = "shown"
    WEAK = "weak"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True, eq=False)
class PayloadObservability:
    """What data shows of the body a tool holds, in the tool frame. Arrays are read-only.

    Attributes:
        frame: name of the tool frame.
        scale: by which deviations are judged.
        deviations: standard deviations of the ten numbers, infinite where the data is blind, shape (10,), SI.
        not_shown: changes of the ten numbers that the data does not tell from zero, their deviation being
            the scale or more; each with the fewest terms.
        weak: likewise those whose deviation is between a tenth of the scale and the scale.
        cond: condition number of the ten columns, rows over the noise, in SI units; infinite where they are
            dependent. The unknown drive terms are not counted.
    """

    frame: str
    scale: PayloadScale
    deviations: Array
    not_shown: tuple[Direction, ...]
    weak: tuple[Direction, ...]
    cond: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "deviations", read_only(self.deviations))

    @property
    def verdicts(self) -> dict[str, Observability]:
        """The verdict about each of the ten numbers, by name."""
        shares = self.deviations / self.scale.ten
        return dict(zip(PARAMETER_NAMES, (_verdict(share) for share in shares.tolist()), strict=True))

    def missing(self, required: ArrayLike) -> tuple[str, ...]:
        """Numbers whose deviation is larger than wanted.

        Args:
            required: largest deviation of each, infinite where any will do, shape (10,), SI.

        Returns:
            Their names.
        """
        wanted = checked("required", required, (10,), finite=False)
        larger = zip(PARAMETER_NAMES, self.deviations > wanted, strict=True)
        return tuple(name for name, is_larger in larger if is_larger)

    def __str__(self) -> str:
        """A line for each verdict, and one for each combination that is not shown."""
        verdicts = self.verdicts
        deviations = dict(zip(PARAMETER_NAMES, self.deviations.tolist(), strict=True))
        units = dict(zip(PARAMETER_NAMES, PARAMETER_UNITS, strict=True))
        lines = [f"In the frame of {self.frame}, beside a body of {self.scale}:"]
        for verdict in Observability:
            names = [name for name in PARAMETER_NAMES if verdicts[name] is verdict]
            if names:
                listed = ", ".join(f"{name} (±{deviations[name]:.2g} {units[name]})" for name in names)
                lines.append(f"  {verdict}: {listed}")
        lines += [f"  not told apart: {words}" for words in map(self._together, self.not_shown) if words]
        return "\n".join(lines)

    def _together(self, direction: Direction) -> str:
        """The numbers a change mixes, such as `Iyz with -3.4 mz`; empty where it is one number's alone."""
        size = dict(zip(PARAMETER_NAMES, self.scale.ten.tolist(), strict=True))
        (leader, _), *others = direction.terms
        mixed = [
            f"{change:.2g} {name}"
            for name, change in others
            if abs(change) * size[leader] >= NAMED * size[name]
        ]
        return f"{leader} with {', '.join(mixed)}" if mixed else ""


def shown_by(
    robot: Robot, motion: Motion, meter: TorqueMeter, *, scale: PayloadScale | None = None
) -> PayloadObservability:
    """What a planned motion will show of the body the tool holds, the robot itself being known.

    Args:
        robot: an arm; its tool frame is the body's.
        motion: all of it with the body held.
        meter: how torques are measured, and what of the drives is not known.
        scale: of a body like the one held; None for 1 kg and 0.1 m.

    Returns:
        What is shown.

    Raises:
        InputError: the motion or the meter does not fit the robot.
    """
    if motion.joints != robot.joint_names:
        raise InputError(f"moves other joints than those of '{robot.name}'.", place="motion")
    return shown_by_samples(
        robot, motion.sample(measured_times(motion.duration, meter.rate)), meter, scale=scale
    )


def shown_by_samples(
    robot: Robot, at: MotionSample, meter: TorqueMeter, *, scale: PayloadScale | None = None
) -> PayloadObservability:
    """What the samples of a recording show of the body the tool holds, the robot itself being known.

    Args:
        robot: an arm; its tool frame is the body's.
        at: position, velocity and acceleration at every sample, all of them with the body held.
        meter: how torques were measured; its rate does not count.
        scale: of a body like the one held; None for 1 kg and 0.1 m.

    Returns:
        What is shown.

    Raises:
        InputError: an array does not fit the robot.
    """
    equations = payload_equations(robot, at, meter)
    return _judged(equations, robot.tool_frame.name, PayloadScale() if scale is None else scale)


def _judged(equations: PayloadEquations, frame: str, scale: PayloadScale) -> PayloadObservability:
    r"""With $W\,\mathrm{diag}(s) = U\Sigma V^T$ the direction $V_k$ has the deviation $1/\sigma_k$."""
    s = scale.ten
    _, strengths, Vt = np.linalg.svd(equations.unconfounded() * s, full_matrices=False)
    V = Vt.T
    blind = strengths <= BLIND * np.linalg.norm(equations.payload * s)
    strengths = np.where(blind, 0.0, strengths)
    seen = V[:, ~blind] / strengths[~blind]
    hidden = np.linalg.norm(V[:, blind], axis=1) > NEGLIGIBLE
    deviations = np.where(hidden, np.inf, s * np.linalg.norm(seen, axis=1))
    faint = strengths <= 1.0 / NOT_SHOWN
    weak = ~faint & (strengths < 1.0 / SHOWN)
    return PayloadObservability(
        frame,
        scale,
        deviations,
        sparse_directions(V[:, faint], strengths[faint], s, PARAMETER_NAMES),
        sparse_directions(V[:, weak], strengths[weak], s, PARAMETER_NAMES),
        score(Criterion.COND, Information.of_regressor(equations.payload)).value,
    )


def _verdict(share: float) -> Observability:
    if share <= SHOWN:
        return Observability.SHOWN
    return Observability.NOT_SHOWN if share >= NOT_SHOWN else Observability.WEAK
