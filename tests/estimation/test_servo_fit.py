"""Servos from commands and positions, with MuJoCo as the arm."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from oracles.servo_plant import mujoco_log
from steelyard.drive import Servo
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.estimation.servo import ServoEstimate, ServoLog, fit_servos, servo_start
from steelyard.identifiable import structural_identifiability
from steelyard.layout import layout_of
from steelyard.robot import Robot
from steelyard.rollout import ServoArm, ServoCommand, servo_rollout
from steelyard.zoo import zoo_robot

LAST_BIT = 2 * np.pi / 4096
SERVOS = [
    Servo(8.0 + 2 * k, 0.0, 0.028 + 0.004 * k, 0.6 + 0.1 * k, 0.06 + 0.02 * k, delay=0.03) for k in range(6)
]


def robot() -> Robot:
    return zoo_robot("so101")


@cache
def arm(name: str = "so101") -> ServoArm:
    return ServoArm(zoo_robot(name))


def sines_and_steps(time: np.ndarray, joints: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    parts = ((0.3, 0.13), (0.2, 0.41), (0.1, 0.9), (0.05, 2.1))
    u = sum(a * np.sin(2 * np.pi * f * time[:, None] + rng.uniform(0, 6, joints)) for a, f in parts)
    return u + 0.3 * np.sign(np.sin(2 * np.pi * time[:, None] * np.linspace(0.2, 0.4, joints)))


@cache
def mujoco(rate: int, seconds: float, limit: float = np.inf, damping: float = 0.0) -> ServoLog:
    servos = [replace(s, limit=limit, damping=damping) for s in SERVOS]
    time = np.arange(0.0, seconds, 1.0 / rate)
    u = sines_and_steps(time, 6)
    q, _ = mujoco_log(robot(), servos, time, u, u[0], step=1e-4)
    return ServoLog(time, np.round(q / LAST_BIT) * LAST_BIT, ServoCommand(time, u))


def errors(found: ServoEstimate, servos: list[Servo]) -> dict[str, float]:
    """Relative errors, the delay's in milliseconds."""
    joints = list(robot().joint_names)
    made = {}
    for name, value in zip(found.names, found.values, strict=True):
        joint, _, term = name.rpartition(".")
        true = getattr(servos[joints.index(joint)] if joint else servos[0], term)
        made[name] = 1e3 * (value - true) if term == "delay" else value / true - 1.0
    return made


@pytest.mark.parametrize("rate", [50, 100])
def test_servos_of_mujoco_come_out_without_a_guess(rate: int) -> None:
    found = fit_servos(arm(), [mujoco(rate, 16.0)])
    assert found.converged
    assert found.hidden == ()
    # What is left is what the encoder rounds away.
    np.testing.assert_allclose(found.residual, LAST_BIT / np.sqrt(12.0), rtol=0.1)
    wrong = errors(found, SERVOS)
    assert abs(wrong.pop("delay")) < 0.2
    relative = found.deviations / found.values
    for name, spread in zip(found.names, relative, strict=True):
        if name == "delay":
            continue
        # The wrist's roll and the jaw weigh next to nothing: their scale is faint, and is said to be.
        if name.startswith(("wrist_roll", "gripper")):
            assert spread > 0.03
            assert abs(wrong[name]) < 4.5 * spread
        else:
            assert abs(wrong[name]) < 0.03
    ratio = found.servos[5].viscous / found.servos[5].stiffness
    assert ratio == pytest.approx(1.1 / 18.0, rel=5e-3)


def test_a_wrong_start_ends_where_the_linear_one_does() -> None:
    log = mujoco(50, 16.0)
    rng = np.random.default_rng(5)
    start = []
    for s in SERVOS:
        kp, armature, viscous, coulomb = np.exp(rng.uniform(-1.1, 1.1, 4))
        start.append(
            Servo(s.stiffness * kp, 0.0, s.armature * armature, s.viscous * viscous, s.coulomb * coulomb)
        )
    near, far = fit_servos(arm(), [log]), fit_servos(arm(), [log], start=start)
    assert far.converged
    assert far.costs[0] > 100.0 * near.costs[0]
    np.testing.assert_allclose(far.residual, near.residual, rtol=2e-3)
    strong = [k for k, name in enumerate(near.names) if not name.startswith(("wrist_roll", "gripper"))]
    np.testing.assert_allclose(far.values[strong], near.values[strong], rtol=2e-3)


def test_a_limit_that_holds_is_found_and_tells_damping_from_friction() -> None:
    servos = [replace(s, limit=1.3, damping=0.2) for s in SERVOS]
    terms = ("stiffness", "damping", "armature", "viscous", "coulomb", "limit", "delay")
    found = fit_servos(arm(), [mujoco(50, 16.0, 1.3, 0.2)], terms=terms)
    assert found.converged
    wrong = errors(found, servos)
    for joint in ("shoulder_lift", "elbow_flex", "wrist_flex"):
        for term in ("stiffness", "damping", "viscous", "limit", "armature"):
            assert abs(wrong[f"{joint}.{term}"]) < 0.03, (joint, term)


def test_damping_and_friction_are_known_by_their_sum_where_nothing_saturates() -> None:
    terms = ("stiffness", "damping", "armature", "viscous", "coulomb", "delay")
    log = mujoco(50, 16.0)
    found = fit_servos(arm(), [log], terms=terms)
    assert set(found.hidden) == {f"{j}.{t}" for j in robot().joint_names for t in ("damping", "viscous")}
    assert found.servos[1].damping + found.servos[1].viscous == pytest.approx(0.7, rel=0.01)
    with pytest.raises(NoSolutionError, match=r"elbow_flex\.damping"):
        fit_servos(arm(), [log], terms=terms, on_blind="refuse")


def test_without_links_the_scale_is_infinite_until_a_gain_is_known() -> None:
    log = mujoco(50, 16.0)
    descriptor = structural_identifiability(robot(), layout_of(robot())).descriptor
    links = np.linalg.pinv(descriptor)
    found = fit_servos(arm(), [log], links=links)
    scaled = [k for k, name in enumerate(found.names) if name.rpartition(".")[2] in ("stiffness", "coulomb")]
    assert np.isinf(found.deviations[scaled]).all()
    assert (found.intervals[scaled] == [0.0, np.inf]).all()
    assert np.isfinite(found.deviations[found.names.index("delay")])
    known = fit_servos(arm(), [log], links=links, fixed=["shoulder_lift.stiffness"], known=SERVOS)
    assert "shoulder_lift.stiffness" not in known.names
    assert known.servos[1].stiffness == 10.0
    wrong = errors(replace_links(known), SERVOS)
    for name in ("elbow_flex.stiffness", "elbow_flex.armature", "shoulder_lift.viscous"):
        assert abs(wrong[name]) < 0.03, name
    # An armature that turns with its link alone is told from it by nothing.
    assert {"shoulder_pan.armature", "shoulder_lift.armature"} <= set(known.hidden)


def replace_links(found: ServoEstimate) -> ServoEstimate:
    """The estimate without its links."""
    count = len(found.names) - len(found.link_values)
    return replace(
        found,
        names=found.names[:count],
        values=found.values[:count],
        deviations=found.deviations[:count],
        intervals=found.intervals[:count],
    )


def test_intervals_of_95_percent_cover() -> None:
    name, n = "two_link", 2
    truth = [Servo(60.0, 0.0, 0.3, 3.0, 0.8, delay=0.0333), Servo(40.0, 0.0, 0.1, 1.5, 0.5, delay=0.0333)]
    time = np.arange(0.0, 12.0, 0.02)
    inside, ratios = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        command = ServoCommand(time, sines_and_steps(time, n, seed))
        q = servo_rollout(arm(name), truth, command, time, command.position[0], np.zeros(n)).q
        q = np.round((q + 3e-4 * rng.normal(size=q.shape)) / LAST_BIT) * LAST_BIT
        found = fit_servos(arm(name), [ServoLog(time, q, command)])
        true = [
            getattr(truth[int(x[5]) - 1] if "." in x else truth[0], x.rpartition(".")[2]) for x in found.names
        ]
        inside.append((found.intervals[:, 0] <= true) & (true <= found.intervals[:, 1]))
        ratios.append((found.values - true) / found.deviations)
    assert np.mean(inside) > 0.9
    # Not by being wide: errors are of the size that is said.
    assert 0.7 < np.sqrt(np.mean(np.square(ratios))) < 1.3


def test_stribeck_friction_and_an_offset_are_found_where_they_are_sought() -> None:
    from steelyard.drive import StribeckShape

    shape = StribeckShape(0.4, 1.0)
    truth = [
        Servo(60.0, 0.0, 0.3, 3.0, 0.8, delay=0.02, offset=0.03, stribeck=0.6, stribeck_shape=shape),
        Servo(40.0, 0.0, 0.1, 1.5, 0.5, delay=0.02, offset=-0.02, stribeck=0.4, stribeck_shape=shape),
    ]
    time = np.arange(0.0, 20.0, 0.01)
    command = ServoCommand(time, sines_and_steps(time, 2, 7))
    q = servo_rollout(arm("two_link"), truth, command, time, command.position[0], np.zeros(2)).q
    log = ServoLog(time, np.round(q / 2e-4) * 2e-4, command)
    terms = (
        "stiffness",
        "armature",
        "viscous",
        "coulomb",
        "stribeck",
        "stribeck_velocity",
        "offset",
        "delay",
    )
    found = fit_servos(arm("two_link"), [log], terms=terms)
    for servo, true in zip(found.servos, truth, strict=True):
        assert servo.offset == pytest.approx(true.offset, abs=1e-3)
        assert servo.coulomb + servo.stribeck == pytest.approx(true.coulomb + true.stribeck, rel=0.05)
        assert servo.stiffness == pytest.approx(true.stiffness, rel=0.02)


def test_the_start_is_near_and_says_whose_scale_it_did_not_see() -> None:
    begin = servo_start(arm(), [mujoco(50, 16.0)], layout_of(robot()).complete_nominal())
    assert begin.unscaled == ("wrist_roll", "gripper")
    for servo, true in zip(begin.servos[:4], SERVOS[:4], strict=True):
        assert servo.stiffness == pytest.approx(true.stiffness, rel=0.15)
        assert abs(servo.delay - 0.03) <= 0.011


def test_what_does_not_fit_is_refused_by_name() -> None:
    log = mujoco(50, 16.0)
    with pytest.raises(InputError, match="logs"):
        fit_servos(arm(), [])
    with pytest.raises(UnknownNameError, match="stifness"):
        fit_servos(arm(), [log], terms=["stifness"])
    with pytest.raises(UnknownNameError, match=r"hip\.stiffness"):
        fit_servos(arm(), [log], fixed=["hip.stiffness"], known=SERVOS)
    with pytest.raises(InputError, match="known"):
        fit_servos(arm(), [log], fixed=["gripper.stiffness"])
    with pytest.raises(InputError, match="joints"):
        fit_servos(arm("two_link"), [log])
    with pytest.raises(InputError, match="samples"):
        ServoLog(log.time[:5], log.position[:5], log.command)
