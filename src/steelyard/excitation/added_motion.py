"""The smallest motion to add to a planned one so that it shows all of the body that is held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.excitation.pause import Pause
from steelyard.excitation.pause_search import PauseSearch
from steelyard.excitation.payload_scale import PayloadScale
from steelyard.excitation.shown import SHOWN, Shown
from steelyard.excitation.smallest_addition import smallest_addition
from steelyard.excitation.torque_meter import TorqueMeter
from steelyard.limits import Certificate, MotionLimits, certify
from steelyard.motion import AnyMotion, FourierMotion, extent

DURATIONS = (0.8, 1.2, 1.6, 2.4, 3.2, 4.8, 6.4)
"""Durations that are tried, s."""


@dataclass(frozen=True, eq=False)
class AddedMotion:
    """A planned motion that shows what is wanted, by an addition where it needs one. Arrays are read-only.

    Attributes:
        motion: all of it.
        addition: from rest to rest; None where nothing is missing.
        amplitude: how far the addition takes each joint from the pose of the pause, zero where it stands
            still, shape (nv,), rad or m.
        units: of the amplitudes.
        required: wanted standard deviations of the ten numbers in the tool frame, shape (10,), SI.
        before: what the planned motion shows.
        after: what all of it shows.
        certificate: the proof that all of it keeps the limits.
    """

    motion: AnyMotion
    addition: FourierMotion | None
    amplitude: Array
    units: tuple[str, ...]
    required: Array
    before: Shown
    after: Shown
    certificate: Certificate

    def __post_init__(self) -> None:
        for name in ("amplitude", "required"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def moving(self) -> tuple[int, ...]:
        """Numbers, from 1, of the joints that the addition moves."""
        return tuple(int(k) + 1 for k in np.flatnonzero(self.amplitude))

    def __str__(self) -> str:
        """One sentence: which joints to move, for how long, how far, and what that shows."""
        if self.addition is None:
            return "Nothing needs to be added: the planned motion shows all that is wanted."
        furthest = int(self.amplitude.argmax())
        return (
            f"Add {self.addition.duration:g} s of motion on {_joints(self.moving)}, up to "
            f"{self.amplitude[furthest]:.2g} {self.units[furthest]} from the pose, to show "
            f"{_listed(self.before.missing(self.required))}."
        )


def added_motion(
    limits: MotionLimits,
    planned: AnyMotion,
    meter: TorqueMeter,
    rng: np.random.Generator,
    *,
    required: ArrayLike | None = None,
    scale: PayloadScale | None = None,
    part: int | None = None,
    durations: Sequence[float] = DURATIONS,
    rounds: int = 2,
) -> AddedMotion:
    """Find the smallest motion to add to a planned one so that it shows the body held as well as wanted.

    An addition is a Fourier series from rest to rest in a pause of the planned motion. Small means, in this
    order: the wrist alone where that does, the shortest time, the fewest joints from the tip inwards, the
    smallest amplitude of the motion that was found.

    Args:
        limits: what the motion must respect; its robot's tool frame is the body's. The weight of a heavy body
            belongs into its parameters.
        planned: a motion that ends at rest, all of it with the body held.
        meter: how torques are measured, and what of the drives is not known.
        rng: source of all random choices; one number is drawn from it where something is missing.
        required: wanted standard deviations of the ten numbers in the tool frame, infinite where any will do,
            shape (10,), SI; None for a tenth of their scales.
        scale: of a body like the one held; None for 1 kg and 0.1 m.
        part: how many parts of a planned sequence come before the pause, where it must rest; None for all.
        durations: to try, increasing, s.
        rounds: local searches for each set of joints and duration.

    Returns:
        The planned motion with its addition, certified.

    Raises:
        NoSolutionError: no motion of this robot shows what is wanted, or none that does was found.
        NotCertifiedError: the whole motion cannot be proven to keep its limits.
        InputError: the planned motion does not fit the robot, or does not rest where more is to be added.
    """
    if len(durations) == 0 or (np.diff(durations) <= 0.0).any():
        raise InputError("must be one or more, and increase.", place="durations")
    body = PayloadScale() if scale is None else scale
    wanted = SHOWN * body.ten if required is None else checked("required", required, (10,), finite=False)
    pause = Pause(limits, planned, part, meter, body, wanted)
    before = after = pause.shown()
    motion, addition, amplitude = planned, None, np.zeros(limits.robot.nv)
    if before.missing(wanted):
        addition = pause.shrunk(smallest_addition(PauseSearch(pause, rounds, rng), durations))
        motion, amplitude = pause.joined(addition), _amplitude(addition, pause.pose)
        after = pause.shown(addition)
    units = tuple(joint.position_unit for joint in limits.robot.joints)
    proof = certify(limits, motion)
    return AddedMotion(motion, addition, amplitude, units, wanted, before, after, proof)


def _amplitude(addition: FourierMotion, pose: Array) -> Array:
    """How far each joint goes, (nv,), rad or m."""
    goes = extent(addition)
    moves = addition.sine.any(axis=1) | addition.cosine.any(axis=1)
    return np.where(moves, np.maximum(goes.upper - pose, pose - goes.lower), 0.0)


def _joints(numbers: tuple[int, ...]) -> str:
    if len(numbers) == 1:
        return f"joint {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"joints {numbers[0]}-{numbers[-1]}"
    return f"joints {_listed([str(number) for number in numbers])}"


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
