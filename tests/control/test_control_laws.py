"""The control laws, judged by Pinocchio and by the error they leave."""

from __future__ import annotations

import json

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_robot
from steelyard.archive import digest
from steelyard.arrays import read_only_view
from steelyard.compiled import kernel
from steelyard.control import (
    PD,
    Admittance,
    ComputedTorque,
    Controller,
    FeedforwardPD,
    GravityPID,
    RobustTracking,
    control_command,
)
from steelyard.control.adaptive_payload import AdaptivePayload
from steelyard.control.computed_torque import AdaptiveRobust
from steelyard.errors import DescriptionError, InputError
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot


def drives(robot: Robot) -> dict[str, np.ndarray]:
    terms = ("viscous", "coulomb", "offset", "rotor")
    return {t: np.array([joint.drive.value(t) or 0.0 for joint in robot.joints]) for t in terms}


def drawn(rng: np.random.Generator, nv: int) -> list[np.ndarray]:
    return [rng.uniform(-2, 2, nv) for _ in range(5)]


def test_pd_pulls_each_joint_to_its_reference_alone() -> None:
    robot, rng = zoo_robot("panda"), np.random.default_rng(0)
    kp, kd = rng.uniform(0, 100, (2, robot.nv))
    q, v, q_ref, v_ref, a_ref = drawn(rng, robot.nv)
    tau = PD(robot, kp, kd).torque(q, v, q_ref, v_ref, a_ref)
    for j in range(robot.nv):
        assert tau[j] == pytest.approx(kp[j] * (q_ref[j] - q[j]) + kd[j] * (v_ref[j] - v[j]), rel=1e-13)
    assert not PD(robot, kp, kd).torque(q, v, q, v, a_ref).any()


@pytest.mark.parametrize("seed", range(12))
def test_computed_torque_is_the_inverse_dynamics_of_the_commanded_acceleration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = zoo_robot("panda") if seed == 0 else random_robot(rng)
    kp, kd = rng.uniform(0, 50, (2, robot.nv))
    q, v, q_ref, v_ref, a_ref = drawn(rng, robot.nv)
    v_ref[rng.random(robot.nv) < 0.3] = 0.0
    u = a_ref + kd * (v_ref - v) + kp * (q_ref - q)
    has = drives(robot)
    rigid = PinocchioRobot.of(robot, link_parameters(robot)).torques(q, v, u)
    friction = has["viscous"] * v_ref + has["coulomb"] * np.sign(v_ref) + has["offset"]
    expected = rigid + friction + has["rotor"] * u
    assert_agree(ComputedTorque.nominal(robot, kp, kd).torque(q, v, q_ref, v_ref, a_ref), expected)


def test_with_an_exact_model_the_error_obeys_the_linear_law() -> None:
    # ë + Kd ė + Kp e = 0 for every joint, whatever the others do; the acceleration is Pinocchio's.
    robot, rng = random_robot(np.random.default_rng(3), bodies=6, shapes=("solid",)), np.random.default_rng(4)
    layout = layout_of(robot)  # the rigid links alone
    kp, kd = np.full(robot.nv, 30.0), np.full(robot.nv, 11.0)
    law = ComputedTorque(robot, layout, layout.complete_nominal(), kp, kd)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    for _ in range(10):
        q, v, q_ref, v_ref, a_ref = drawn(rng, robot.nv)
        bias = judge.torques(q, v, np.zeros(robot.nv))
        a = np.linalg.solve(judge.mass_matrix(q), law.torque(q, v, q_ref, v_ref, a_ref) - bias)
        error = (a_ref - a) + kd * (v_ref - v) + kp * (q_ref - q)
        assert_agree(error, np.zeros(robot.nv), scale=float(np.abs(a).max()))


def test_the_model_of_computed_torque_may_differ_from_the_description() -> None:
    robot, rng = zoo_robot("two_link"), np.random.default_rng(1)
    layout = layout_of(robot, ["viscous"])
    phi = layout.complete_nominal()
    q, v, q_ref, v_ref, a_ref = drawn(rng, robot.nv)
    one, two = (
        ComputedTorque(robot, layout, s * phi, 9.0, 6.0).torque(q, v, q_ref, v_ref, a_ref) for s in (1, 2)
    )
    np.testing.assert_allclose(two, 2 * one, rtol=1e-13)


@kernel
def cycles(step, tree, numbers, gains, memory, states, tau):  # type: ignore[no-untyped-def]
    for n in range(len(states)):
        s = states[n]
        step(tree, numbers, gains, memory, s[0], s[1], s[2], s[3], s[4], tau[n])


def every_law(robot: Robot) -> dict[str, Controller]:
    laws: tuple[Controller, ...] = (
        PD(robot, 50.0, 5.0),
        FeedforwardPD(robot, 2.0, 0.5, 100.0, 20.0, cycle=1e-3),
        GravityPID.nominal(robot, 50.0, 20.0, 5.0, 3.0, cycle=1e-3),
        ComputedTorque.nominal(robot, 50.0, 5.0),
        Admittance.nominal(robot, 50.0, 5.0, 30.0, np.full(6, 2.0), np.full(6, 40.0), cycle=1e-3),
        RobustTracking.nominal(robot, 0.05, 5.0, 1e-3, 0.05, alpha=1.0, rest_velocity=0.02),
        AdaptivePayload.nominal(robot, 5.0, 5.0, np.full(10, 0.1), cycle=1e-3),
        AdaptiveRobust.nominal(robot, 50.0, 10.0, 1.0, 1e-3, cycle=1e-3),
    )
    return {law.law: law for law in laws}


LAWS = tuple(every_law(zoo_robot("two_link")))


@pytest.mark.parametrize("name", LAWS)
def test_a_compiled_loop_gives_what_single_calls_give(name: str) -> None:
    robot, rng = zoo_robot("two_link"), np.random.default_rng(2)
    controller = every_law(robot)[name]
    states = rng.uniform(-1, 1, (6, 5, robot.nv))
    tau = np.empty((6, robot.nv))
    memory, again = np.array(controller.memory), np.array(controller.memory)
    cycles(
        controller.step,
        controller.tree,
        controller.numbers,
        controller.gains,
        memory,
        read_only_view(states),
        tau,
    )
    np.testing.assert_array_equal(tau[0], controller.torque(*states[0]))
    for n in range(6):
        np.testing.assert_array_equal(tau[n], control_command(controller, again, *states[n]))
    np.testing.assert_array_equal(memory, again)
    assert np.isfinite(tau).all()


# With memory and without; the loop above is compiled with every law.
@pytest.mark.parametrize("name", ["computed-torque", "gravity-pid"])
def test_the_simulated_robot_obeys_its_law(name: str) -> None:
    robot = zoo_robot("two_link")
    controller = every_law(robot)[name]
    log = simulate_motion(
        robot, random_fourier(robot, np.random.default_rng(1)), controller=controller, duration=0.2
    )
    memory = np.array(controller.memory)
    rows = zip(log.q, log.v, log.q_ref, log.v_ref, log.a_ref, strict=True)  # type: ignore[arg-type]
    np.testing.assert_array_equal(log.tau, [control_command(controller, memory, *row) for row in rows])
    assert digest(log.provenance[0].detail["controller"]) == digest(controller.settings)


@pytest.mark.parametrize("name", LAWS)
def test_what_a_law_says_of_itself_is_frozen_and_plain(name: str) -> None:
    controller = every_law(zoo_robot("two_link"))[name]
    assert json.loads(json.dumps(dict(controller.settings))) == dict(controller.settings)
    assert controller.settings["law"] == name
    assert controller.gains.shape[1] == 2
    for array in (controller.gains, controller.memory, *controller.numbers):
        assert not array.flags.writeable


def test_one_compiled_version_serves_writable_and_frozen_arrays() -> None:
    robot = zoo_robot("panda")
    law = ComputedTorque.nominal(robot, 50.0, 5.0)
    state = np.zeros((5, robot.nv))
    law.torque(*state)
    before = len(law.step.signatures)  # type: ignore[attr-defined]
    law.torque(*read_only_view(state))
    law.torque(*(list(row) for row in state))
    law.torque(*np.zeros((5, robot.nv), order="F"))
    assert len(law.step.signatures) == before  # type: ignore[attr-defined]


def test_settings_name_law_gains_and_model() -> None:
    robot = zoo_robot("two_link")
    gains = {"law": "pd", "kp": [3.0, 3.0], "kd": [1.0, 2.0]}
    assert PD(robot, 3.0, [1.0, 2.0]).settings == gains
    assert PD(robot, 3.0, [1.0, 2.0], cycle=0.002).settings == {**gains, "cycle": 0.002}
    one = ComputedTorque.nominal(robot, 3.0, 2.0)
    heavier = ComputedTorque(robot, one.layout, 1.1 * one.parameters, 3.0, 2.0)
    assert one.settings["model"] != heavier.settings["model"]
    assert one.settings["model"] == ComputedTorque.nominal(robot, 5.0, 1.0).settings["model"]


def test_bad_gains_states_and_models_are_refused() -> None:
    robot = zoo_robot("two_link")
    with pytest.raises(InputError, match="kp: must not be negative, got -1 at joint"):
        PD(robot, [1.0, -1.0], 1.0)
    with pytest.raises(InputError, match="kd: expected shape"):
        PD(robot, 1.0, [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="kd: must be finite"):
        ComputedTorque.nominal(robot, 1.0, np.nan)
    law = PD(robot, 1.0, 1.0)
    with pytest.raises(InputError, match="v_ref: expected shape"):
        law.torque([0, 0], [0, 0], [0, 0], [0], [0, 0])
    with pytest.raises(InputError, match="q: must be finite"):
        control_command(law, np.empty(0), [0, np.nan], [0, 0], [0, 0], [0, 0], [0, 0])
    other = layout_of(zoo_robot("one_link"))
    with pytest.raises(InputError, match="layout: it names links"):
        ComputedTorque(robot, other, other.complete_nominal(), 1.0, 1.0)


def bare(kind: JointKind) -> Robot:
    joint = Joint("j", kind, -1, Pose.identity(), np.array([0.0, 0.0, 1.0]))
    return Robot("bare", Link("base"), (joint,), (Link("tip"),))


def test_a_floating_base_and_a_link_without_inertial_are_refused() -> None:
    with pytest.raises(InputError, match="is floating; only arms"):
        PD(bare(JointKind.FLOATING), 1.0, 1.0)
    with pytest.raises(DescriptionError, match="no inertial is stated for tip"):
        ComputedTorque.nominal(bare(JointKind.REVOLUTE), 1.0, 1.0)
