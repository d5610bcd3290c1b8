"""Play a certified motion on a LeRobot arm, and record the log that Steelyard identifies from.

    steelyard excite so101 --lock gripper=0 --out motion.json
    python examples/lerobot_play.py motion.json --port /dev/ttyACM0 --id my_arm --approach 5 --out log.csv
    steelyard identify so101 log.csv --lock gripper=0 --torque-constant … --out my_arm

The arm is whatever has `get_observation` and `send_action` as LeRobot's `Robot` does, with keys `<motor>.pos`
in degrees or in -100 … 100 of the calibrated range. Both count from the middle of that range; where it is not
the description's zero, say where it is with `--zero elbow_flex=0.05`. Motor currents are read where the arm's
bus has them (Feetech STS: 6.5 mA a step). At the end the arm holds its position. Without `--port` a stand-in
arm is played, which only shows how it goes.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InputError
from steelyard.motion import Motion, bezier, read_motion
from steelyard.recording import Recording, require_writable_log, write

Array = NDArray[np.float64]
STEPS = 4096
"""Steps of an STS3215 in a turn."""
CURRENT_STEP, SIGN = 0.0065, 1 << 15
"""A step of its current, A, and the bit that says that it is negative."""
TOLERANCE = 0.05
"""How far from the start an arm may stand, rad; a servo with play stands no nearer."""
RATE = 50.0
"""Commands a second, Hz; LeRobot's bus of six servos manages about a hundred."""


class Arm(Protocol):
    """What is asked of an arm: two methods of `lerobot.robots.Robot`."""

    def get_observation(self) -> dict[str, Any]:
        """Where it is."""

    def send_action(self, action: dict[str, float]) -> dict[str, float]:
        """Where it is to be; answers what was sent, which a limit of the arm may have changed."""


@dataclass(frozen=True)
class Scale:
    """What turns a motor's unit into radians: `radians = zero + per_unit * value`.

    Attributes:
        per_unit: rad.
        zero: where the middle of the calibrated range is in the robot's description, rad.
    """

    per_unit: float
    zero: float = 0.0

    @classmethod
    def degrees(cls, zero: float = 0.0) -> Scale:
        """Of an arm with `use_degrees`.

        Args:
            zero: where the middle of its range is, rad.
        """
        return cls(math.pi / 180.0, zero)

    @classmethod
    def percent(cls, range_min: int, range_max: int, zero: float = 0.0) -> Scale:
        """Of an arm that counts -100 … 100 of its calibrated range.

        Args:
            range_min: of its calibration, steps.
            range_max: of its calibration, steps.
            zero: where the middle of its range is, rad.
        """
        return cls((range_max - range_min) * math.pi / STEPS / 100.0, zero)


@dataclass
class Clock:
    """Time that passes; a stand-in has one of its own."""

    now: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], None] = time.sleep


def play(
    arm: Arm,
    motion: Motion,
    scales: Mapping[str, Scale],
    *,
    rate: float = RATE,
    approach: float = 0.0,
    clock: Clock | None = None,
) -> Recording:
    """Play a motion from its start, and record.

    Args:
        arm: the arm, connected.
        motion: the motion; its joints are called as the motors.
        scales: of each motor.
        rate: commands a second, Hz.
        approach: seconds in which the arm is brought to the start; 0 to refuse when it is not there.
        clock: that passes.

    Returns:
        Positions, what was commanded, and currents where the arm tells them.

    Raises:
        InputError: the arm is not at the start, or does not take a command as it is; it is told to stay.
    """
    clock = clock or Clock()
    player = _Player(arm, motion.joints, scales, clock)
    start = motion.sample([0.0]).q[0]
    if approach > 0.0:
        here = player.positions()
        player.run(bezier(motion.joints, approach, np.column_stack([here] * 3 + [start] * 3)), rate)
    off = np.abs(player.positions() - start)
    if off.max() > TOLERANCE:
        joint = motion.joints[int(off.argmax())]
        raise InputError(
            f"stands {off.max():.3g} rad from the start of the motion.",
            place=joint,
            remedy="Bring the arm there by hand, or with --approach 5 where the way is free.",
        )
    return player.run(motion, rate)


@dataclass
class _Player:
    arm: Arm
    joints: Sequence[str]
    scales: Mapping[str, Scale]
    clock: Clock
    _rows: list[tuple[float, Array, Array, Array]] = field(default_factory=list)

    def positions(self) -> Array:
        seen = self.arm.get_observation()
        missing = [joint for joint in self.joints if f"{joint}.pos" not in seen]
        if missing:
            told = ", ".join(key for key in seen if key.endswith(".pos"))
            raise InputError(f"the arm does not tell '{missing[0]}.pos'; it tells {told}.", place="motion")
        units = [(self.scales[joint], float(seen[f"{joint}.pos"])) for joint in self.joints]
        return np.array([scale.zero + scale.per_unit * value for scale, value in units])

    def run(self, motion: Motion, rate: float) -> Recording:
        """Send the motion's positions, each at its time, and read what the arm does."""
        self._rows = []
        times = np.arange(math.floor(motion.duration * rate) + 1) / rate
        start = self.clock.now()
        try:
            for due, q in zip(times, motion.sample(times).q, strict=True):
                self.clock.sleep(max(0.0, start + due - self.clock.now()))
                self._command(q)
                seen = self.positions()
                self._rows.append((self.clock.now() - start, seen, q, self._currents()))
        except BaseException:
            # Whatever went wrong, the arm stays where it is.
            self._send(self.positions())
            raise
        t, q, wanted, current = (np.array(column) for column in zip(*self._rows, strict=True))
        told = {} if np.isnan(current).any() else {"current": current}
        return Recording(joints=tuple(self.joints), time=t, q=q, q_ref=wanted, **told)

    def _command(self, q: Array) -> None:
        sent, taken = self._send(q)
        for key, value in sent.items():
            if not math.isclose(taken.get(key, value), value, rel_tol=1e-6, abs_tol=1e-3):
                raise InputError(
                    f"the arm made {taken[key]:.4g} of the command {value:.4g}, so this is not the motion "
                    "that was certified.",
                    place=key,
                    remedy="Lift max_relative_target, or state lower --velocity to excite.",
                )

    def _send(self, q: Array) -> tuple[dict[str, float], dict[str, float]]:
        scales = [self.scales[joint] for joint in self.joints]
        values = [(x - scale.zero) / scale.per_unit for scale, x in zip(scales, q.tolist(), strict=True)]
        action = {f"{joint}.pos": value for joint, value in zip(self.joints, values, strict=True)}
        return action, self.arm.send_action(dict(action))

    def _currents(self) -> Array:
        """Of the motors, A; not a number where the arm does not tell."""
        bus = getattr(self.arm, "bus", None)
        if bus is None:
            return np.full(len(self.joints), np.nan)
        raw = bus.sync_read("Present_Current", normalize=False)
        steps = [raw[joint] for joint in self.joints]
        # Sign and magnitude, unless the bus has decoded it.
        return CURRENT_STEP * np.array([SIGN - x if x >= SIGN else x for x in steps], dtype=float)


class StandIn:
    """An arm that is not there: follows its commands with a lag, by LeRobot's interface."""

    def __init__(self, motors: Sequence[str], lag: float = 0.03) -> None:
        self.bus = self
        self._now, self._lag = 0.0, lag
        self._at, self._goal = dict.fromkeys(motors, 0.0), dict.fromkeys(motors, 0.0)
        self.clock = Clock(lambda: self._now, self._pass)

    def _pass(self, seconds: float) -> None:
        self._now += seconds
        share = 1.0 - math.exp(-seconds / self._lag)
        self._at = {motor: x + share * (self._goal[motor] - x) for motor, x in self._at.items()}

    def get_observation(self) -> dict[str, Any]:
        """Where it is, degrees."""
        return {f"{motor}.pos": x for motor, x in self._at.items()}

    def send_action(self, action: dict[str, float]) -> dict[str, float]:
        """Follow from now on; degrees."""
        self._goal |= {key.removesuffix(".pos"): value for key, value in action.items()}
        return action

    def sync_read(self, name: str, normalize: bool = True) -> dict[str, int]:
        """Currents in proportion to how far it lags, in steps."""
        steps = {motor: round(20 * (self._goal[motor] - x)) for motor, x in self._at.items()}
        return {motor: x if x >= 0 else SIGN - x for motor, x in steps.items()}


def _real(port: str, name: str) -> tuple[Any, dict[str, Scale]]:
    """LeRobot's SO-101, connected and in degrees."""
    for place in ("lerobot.robots.so_follower", "lerobot.robots.so101_follower"):
        try:
            robots = importlib.import_module(place)
            break
        except ImportError:
            continue
    else:
        sys.exit("LeRobot is not installed; see https://huggingface.co/docs/lerobot.")
    arm = robots.SO101Follower(robots.SO101FollowerConfig(port=port, id=name, use_degrees=True))
    arm.connect()
    return arm, dict.fromkeys(arm.bus.motors, Scale.degrees())


def main() -> None:
    """Play by the arguments of the command line."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("motion", nargs="?", help="motion file of excite; a short one for the stand-in")
    words.add_argument("--port", help="of the arm, such as /dev/ttyACM0")
    words.add_argument("--id", default="arm", help="of its calibration")
    words.add_argument("--approach", type=float, default=0.0, help="seconds to the start")
    words.add_argument("--rate", type=float, default=RATE, help="commands a second, Hz")
    words.add_argument("--zero", action="append", default=[], metavar="JOINT=RAD", help="middle of its range")
    words.add_argument("--out", default="log.csv", help="log to write")
    given = words.parse_args()
    names = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
    there_and_back = np.outer(np.linspace(0.5, 0.9, 5), [0, 0, 0, 1, 1, -1, -1, 0, 0, 0])
    try:
        require_writable_log(given.out)
        motion = read_motion(given.motion) if given.motion else bezier(names, 4.0, there_and_back)
        clock = Clock()
        if given.port:
            arm, scales = _real(given.port, given.id)
        else:
            arm, scales = StandIn(motion.joints), dict.fromkeys(motion.joints, Scale.degrees())
            clock = arm.clock
        for joint, _, zero in (text.partition("=") for text in given.zero):
            scales[joint] = Scale(scales[joint].per_unit, float(zero))
        log = play(arm, motion, scales, rate=given.rate, approach=given.approach, clock=clock)
        write(log, Path(given.out))
    except (InputError, KeyError, ValueError) as error:
        sys.exit(f"error: {error}")
    off = np.abs(log.q - log.channels["q_ref"]).max()
    whose = "the arm" if given.port else "the stand-in"
    print(
        f"{log.n} samples of {', '.join(log.channels)} in {given.out}; {whose} was at most {off:.3g} rad off."
    )


if __name__ == "__main__":
    main()
