"""The tube of the robust law in closed loop, for payloads and arms at the corners of what it was told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.plain_plant import PlainPlant
from steelyard.arrays import Array
from steelyard.control import control_command
from steelyard.control.controller import described_model
from steelyard.control.robust_tracking import FORMS, RobustTracking, Tube
from steelyard.drive import Drive
from steelyard.inertia import Body
from steelyard.motion import random_fourier
from steelyard.robot import Robot
from steelyard.rollout import ClosedLoop, rollout
from steelyard.zoo import zoo_robot

ROTORS = (8.0, 12.0, 9.0, 11.5, 8.5, 8.5, 9.0)
SPREAD, HEAVIEST, REACH, KR = 0.05, 4.0, 0.2, 5.0
SMALLEST = (1 - SPREAD) * min(ROTORS)
OPTIONS: dict[str, dict[str, float]] = {
    "armour": {"alpha": 1.0, "largest_inertia": 60.0},
    "clamped": {"alpha": 1.0},
    "componentwise": {"kappa": 50.0},
}


def geared_gen3(scale: float = 1.0) -> Robot:
    """A Gen3 with its gears' inertia, links and drives scaled."""
    robot = zoo_robot("kinova_gen3")
    joints = [
        replace(joint, drive=Drive(scale, 0.4 * scale, 0.0, rotor * scale))
        for joint, rotor in zip(robot.joints, ROTORS, strict=True)
    ]
    links = [
        replace(link, own=Body.from_parameters(scale * link.own.parameters))  # type: ignore[union-attr]
        for link in robot.links
    ]
    return replace(robot, joints=tuple(joints), links=tuple(links))


ROBOT = geared_gen3()
LAYOUT, PHI = described_model(ROBOT)
LAST = LAYOUT.of_link(ROBOT.link_names[-1])


def law_of(form: str, *, share: float = 1.0, radius: float = 0.01) -> RobustTracking:
    """The law for any payload up to 4 kg within a ball of 0.2 m; with a share of that box if told."""
    h, inertia = HEAVIEST * REACH, HEAVIEST * REACH**2
    off = inertia / 2
    upper = np.array([HEAVIEST, h, h, h, inertia, off, inertia, off, off, inertia])
    lower = np.array([0.0, -h, -h, -h, 0.0, -off, 0.0, -off, -off, 0.0])
    theta, half = PHI.copy(), SPREAD * np.abs(PHI)
    theta[LAST] += (lower + upper) / 2
    half[LAST] += (upper - lower) / 2
    level = Tube.of_radius(radius, SMALLEST, KR).level
    options = OPTIONS[form]
    return RobustTracking(
        ROBOT, LAYOUT, theta, share * half, KR, level, SMALLEST, form=form, rest_velocity=0.02, **options
    )


def payload(seed: int) -> Body:
    """A point mass at the edge of the ball, or a heavy body inside of it."""
    rng = np.random.default_rng(seed)
    p = rng.normal(size=3)
    p *= REACH / np.linalg.norm(p) * (1.0 if seed % 2 == 0 else 0.5)
    m = HEAVIEST if seed != 3 else 0.3
    outer = m * (p @ p * np.eye(3) - np.outer(p, p))
    xx, xy, xz, yy, yz, zz = outer[np.triu_indices(3)]
    return Body.from_parameters(np.array([m, *(m * p), xx, xy, yy, xz, yz, zz]))


def truth(seed: int) -> tuple[float, Array]:
    scale = 1.0 + SPREAD * (-1.0) ** seed
    theta = scale * PHI
    theta[LAST] += payload(seed).parameters
    return scale, theta


def swing(seed: int, h: float, duration: float) -> tuple[Array, Array, Array]:
    """From rest to rest, joints in different directions."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, duration, h)[:, None]
    start, turn = rng.uniform(-1, 1, (2, ROBOT.nv))
    w = 2 * np.pi / duration
    wave = (1 - np.cos(w * t)) / 2, w * np.sin(w * t) / 2, w * w * np.cos(w * t) / 2
    q, v, a = (0.4 * turn * x for x in wave)
    return start + q, v, a


def levels(theta: Array, q: Array, r: Array) -> Array:
    """V of every row, mass matrices by Pinocchio."""
    judge = PinocchioRobot.of(ROBOT, theta[: 10 * ROBOT.nv].reshape(-1, 10))
    rotor = np.diag(theta[10 * ROBOT.nv :].reshape(-1, 4)[:, 3])
    return np.array([0.5 * x @ (judge.mass_matrix(at) + rotor) @ x for at, x in zip(q, r, strict=True)])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(5))
def test_the_tube_is_kept_with_any_payload_of_the_box(form: str, seed: int) -> None:
    law, (_, theta) = law_of(form), truth(seed)
    assert (np.abs(theta - law.parameters) <= law.half_widths * (1 + 1e-12)).all()
    q, v, a = swing(seed, 1e-3, 1.0)
    run = rollout(ROBOT, LAYOUT, theta, q, v, a, ClosedLoop(law, 1e-3), code="generic")
    e, rate = q - run.q, v - run.v
    r = rate + KR * e
    assert np.linalg.norm(r, axis=1).max() <= law.tube.radius
    assert np.linalg.norm(e, axis=1).max() <= law.tube.position
    assert np.linalg.norm(rate, axis=1).max() <= law.tube.velocity
    assert levels(theta, run.q[::7], r[::7]).max() <= law.level


def test_without_its_robust_torque_the_arm_leaves_the_tube() -> None:
    law, (_, theta) = law_of("clamped", share=1e-3), truth(0)
    q, v, a = swing(0, 1e-3, 1.0)
    run = rollout(ROBOT, LAYOUT, theta, q, v, a, ClosedLoop(law, 1e-3), code="generic")
    assert np.linalg.norm(v - run.v + KR * (q - run.q), axis=1).max() > 2 * law.tube.radius


@pytest.mark.parametrize("form", FORMS)
def test_an_arm_that_starts_at_the_edge_of_the_tube_does_not_leave_it(form: str) -> None:
    # Short cycles, as the promise is for continuous time; a start at the edge has no room for a lag.
    law, (_, theta) = law_of(form), truth(2)
    q, v, a = swing(2, 1e-4, 1.0)
    q, v, a = q[:1500], v[:1500], a[:1500]
    judge = PinocchioRobot.of(ROBOT, theta[: 10 * ROBOT.nv].reshape(-1, 10))
    H = judge.mass_matrix(q[0]) + np.diag(theta[10 * ROBOT.nv :].reshape(-1, 4)[:, 3])
    r = np.random.default_rng(3).normal(size=ROBOT.nv)
    r *= np.sqrt(2 * 0.98 * law.level / (r @ H @ r))
    loop = ClosedLoop(law, 1e-4)
    run = rollout(ROBOT, LAYOUT, theta, q, v, a, loop, v_start=v[0] - r, code="generic")
    after = levels(theta, run.q[::5], (v - run.v + KR * (q - run.q))[::5])
    assert after[0] == pytest.approx(0.98 * law.level, rel=1e-9)
    assert after.max() <= law.level
    assert after[-1] < 0.5 * law.level


@pytest.mark.parametrize(("form", "seed"), [*zip(FORMS, (0, 1, 2), strict=True)])
def test_the_tube_is_kept_by_a_robot_that_mujoco_moves(form: str, seed: int) -> None:
    law, h = law_of(form), 1e-3
    robot = geared_gen3(truth(seed)[0]).with_body("payload", payload(seed), frame=ROBOT.link_names[-1])
    motion = random_fourier(ROBOT, np.random.default_rng(seed)).sample(h * np.arange(400))
    plant, memory = PlainPlant(robot), np.array(law.memory)
    plant.place(motion.q[0])
    for q_ref, v_ref, a_ref in zip(motion.q, motion.v, motion.a, strict=True):
        e, rate = q_ref - plant.q, v_ref - plant.v
        assert np.linalg.norm(rate + KR * e) <= law.tube.radius
        assert np.linalg.norm(e) <= law.tube.position
        plant.advance(control_command(law, memory, plant.q, plant.v, q_ref, v_ref, a_ref), h)
