"""The player of LeRobot arms, on an arm that counts steps of servos and scales them as LeRobot does."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.motion import bezier
from steelyard.recording import read, write

FILE = Path(__file__).resolve().parents[1] / "examples" / "lerobot_play.py"
spec = importlib.util.spec_from_file_location("lerobot_play", FILE)
assert spec is not None
assert spec.loader is not None
lerobot_play: Any = importlib.util.module_from_spec(spec)
sys.modules["lerobot_play"] = lerobot_play
spec.loader.exec_module(lerobot_play)

JOINTS = ("pan", "flex")
RANGES = {"pan": (700, 3300), "flex": (1000, 2500), "gripper": (0, 4095)}
MOTION = bezier(JOINTS, 2.0, np.outer([0.4, -0.3], [0, 0, 0, 1, 2, -1, 0, 0, 0]))


class Servos:
    """Servos that are where they are told to be, in steps; `degrees` or -100 … 100 on the outside."""

    def __init__(self, degrees: bool, most: float = np.inf) -> None:
        self.degrees, self.most = degrees, most
        self.steps = {name: float(sum(ends)) / 2 for name, ends in RANGES.items()}
        self.now, self.sent, self.bus = 0.0, [], self
        self.clock = lerobot_play.Clock(lambda: self.now, self._pass)

    def _pass(self, seconds: float) -> None:
        self.now += seconds

    def _outside(self, name: str, steps: float) -> float:
        low, high = RANGES[name]
        return (
            (steps - (low + high) / 2) * 360 / 4096
            if self.degrees
            else (steps - low) / (high - low) * 200 - 100
        )

    def get_observation(self) -> dict[str, Any]:
        return {f"{n}.pos": self._outside(n, x) for n, x in self.steps.items()} | {"camera": np.zeros((2, 2))}

    def send_action(self, action: dict[str, float]) -> dict[str, float]:
        taken = {}
        for key, value in action.items():
            name = key.removesuffix(".pos")
            low, high = RANGES[name]
            here = self._outside(name, self.steps[name])
            taken[key] = float(np.clip(value, here - self.most, here + self.most))
            x = taken[key]
            self.steps[name] = (
                x / 360 * 4096 + (low + high) / 2 if self.degrees else low + (x + 100) / 200 * (high - low)
            )
        self.sent.append((self.now, dict(self.steps)))
        return taken

    def sync_read(self, name: str, normalize: bool = True) -> dict[str, int]:
        assert name == "Present_Current"
        assert not normalize
        return {"pan": 100, "flex": 32768 + 100, "gripper": 0}


def scales(arm: Servos) -> dict[str, Any]:
    if arm.degrees:
        return dict.fromkeys(JOINTS, lerobot_play.Scale.degrees())
    return {name: lerobot_play.Scale.percent(*RANGES[name]) for name in JOINTS}


@pytest.mark.parametrize("degrees", [True, False])
def test_the_servos_turn_by_the_motion_and_the_log_tells_it(degrees: bool, tmp_path: Path) -> None:
    arm = Servos(degrees)
    log = lerobot_play.play(arm, MOTION, scales(arm), rate=50.0, clock=arm.clock)
    assert log.n == 101
    np.testing.assert_allclose(log.time, np.arange(101) / 50.0, atol=1e-9)
    wanted = MOTION.sample(log.time).q
    np.testing.assert_allclose(log.channels["q_ref"], wanted, atol=1e-12)
    np.testing.assert_allclose(log.q, wanted, atol=1e-9)
    for k, name in enumerate(JOINTS):
        turned = [(steps[name] - sum(RANGES[name]) / 2) / 4096 * 2 * np.pi for _, steps in arm.sent]
        np.testing.assert_allclose(turned, wanted[:, k], atol=1e-9)
    np.testing.assert_allclose(log.channels["current"], np.tile([0.65, -0.65], (101, 1)))
    assert arm.steps["gripper"] == 4095 / 2, "what the motion does not move stays"
    write(log, tmp_path / "log.csv")
    assert read(tmp_path / "log.csv", joints=JOINTS).q.tobytes() == log.q.tobytes()


def test_an_arm_that_is_not_at_the_start_is_refused_or_brought_there() -> None:
    arm = Servos(True)
    arm.steps["flex"] += 300
    with pytest.raises(InputError, match=r"flex: stands 0\.46 rad from the start"):
        lerobot_play.play(arm, MOTION, scales(arm), clock=arm.clock)
    assert not arm.sent
    lerobot_play.play(arm, MOTION, scales(arm), approach=3.0, clock=arm.clock)
    path = np.array([steps["flex"] for _, steps in arm.sent])
    assert np.abs(np.diff(path)).max() < 30, "no jump on the way"


def test_a_zero_elsewhere_moves_what_is_sent() -> None:
    arm = Servos(True)
    shifted = scales(arm) | {"pan": lerobot_play.Scale.degrees(0.02)}
    lerobot_play.play(arm, MOTION, shifted, clock=arm.clock)
    first = (arm.sent[0][1]["pan"] - 2000) / 4096 * 2 * np.pi
    assert first == pytest.approx(-0.02)


def test_a_command_that_the_arm_clips_ends_the_motion_and_the_arm_stays() -> None:
    arm = Servos(True, most=0.2)
    with pytest.raises(InputError, match="this is not the motion that was certified"):
        lerobot_play.play(arm, MOTION, scales(arm), clock=arm.clock)
    assert arm.sent[-1][1] == pytest.approx(arm.sent[-2][1])


def test_a_joint_that_the_arm_does_not_have_is_named() -> None:
    arm = Servos(True)
    other = bezier(("pan", "elbow"), 1.0, np.zeros((2, 6)))
    with pytest.raises(InputError, match=r"does not tell 'elbow\.pos'; it tells pan\.pos, flex\.pos"):
        lerobot_play.play(
            arm, other, dict.fromkeys(("pan", "elbow"), lerobot_play.Scale.degrees()), clock=arm.clock
        )
