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
from steelyard.errors import InputError
from steelyard.excitation.payload_scale import PayloadScale
from steelyard.excitation.torque_meter import (
    PayloadEquations,
    TorqueMeter,
    measured_times,
    payload_equations,
)
from steelyard.identifiability import Criterion, Direction, Information, score, sparse_directions
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.motion import Motion, MotionSample
from steelyard.robot import Robot

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


class Showing(StrEnum):
    """The verdict about one number, see `SHOWN` and `NOT_SHOWN`."""

    SHOWN = "shown"
    WEAK = "weak"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True, eq=False)
class Shown:
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
    def verdicts(self) -> dict[str, Showing]:
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
        for verdict in Showing:
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


def shown_by(robot: Robot, motion: Motion, meter: TorqueMeter, *, scale: PayloadScale | None = None) -> Shown:
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
) -> Shown:
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


def _judged(equations: PayloadEquations, frame: str, scale: PayloadScale) -> Shown:
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
    return Shown(
        frame,
        scale,
        deviations,
        sparse_directions(V[:, faint], strengths[faint], s, PARAMETER_NAMES),
        sparse_directions(V[:, weak], strengths[weak], s, PARAMETER_NAMES),
        score(Criterion.COND, Information.of_regressor(equations.payload)).value,
    )


def _verdict(share: float) -> Showing:
    if share <= SHOWN:
        return Showing.SHOWN
    return Showing.NOT_SHOWN if share >= NOT_SHOWN else Showing.WEAK
