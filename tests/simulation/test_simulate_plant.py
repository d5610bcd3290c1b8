"""The plant is the robot it was built from, judged by Pinocchio, by MuJoCo's inverse and by its energy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_robot, random_states
from shared_material import ROBOTS, needs_shared
from steelyard.drive import Drive
from steelyard.errors import DescriptionError, NoSolutionError
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot, load_robot
from steelyard.simulation import Plant
from steelyard.zoo import ZOO, zoo_robot

TURN = np.array([0.0, 0.0, 1.0])


def sturdy(robot: Robot) -> Robot:
    """The same robot with a little rotor inertia everywhere, so that no mass matrix is singular."""
    joints = [replace(j, drive=replace(j.drive, rotor=0.05 + (j.drive.rotor or 0.0))) for j in robot.joints]
    return replace(robot, joints=tuple(joints))


def one_joint(body: Body | None, kind: JointKind = JointKind.REVOLUTE, **drive: float) -> Robot:
    joint = Joint("hinge", kind, -1, Pose.identity(), TURN, drive=Drive(**drive))
    return Robot("one", Link("base"), (joint,), (Link("arm", body),))


def robots() -> list[Robot]:
    trees = [sturdy(random_robot(np.random.default_rng(seed))) for seed in range(15)]
    return [*(zoo_robot(name) for name in ZOO), *trees]


def judged(robot: Robot, seed: int = 0) -> None:
    bodies = link_parameters(robot)
    bodies[:, 0] = np.maximum(bodies[:, 0], 1e-300)  # Pinocchio divides by the mass, even if there is none
    plant, judge = Plant(robot), PinocchioRobot.of(robot, bodies)
    terms = ("viscous", "coulomb", "offset", "rotor")
    Fv, Fc, Fo, Ia = (np.array([j.drive.value(t) or 0.0 for j in robot.joints]) for t in terms)
    data = mujoco.MjData(plant.model)
    dof = [int(plant.model.joint(f"joint{i}").dofadr[0]) for i in range(robot.nv)]
    for q, v, a in zip(*random_states(np.random.default_rng(seed), robot, 10), strict=True):
        plant.place(q, v)
        assert_agree(plant.mass_matrix(), judge.mass_matrix(q) + np.diag(Ia))
        rigid = judge.torques(q, v, a) + Ia * a
        data.qpos[dof], data.qvel[dof], data.qacc[dof] = q, v, a
        mujoco.mj_inverse(plant.model, data)
        assert_agree(data.qfrc_inverse[dof], rigid)
        tau = rigid + Fv * v + Fc * np.sign(v) + Fo
        # The mass matrix amplifies round-off in the torque; what comes back must explain the torque.
        back = plant.acceleration(tau)
        assert_agree(judge.torques(q, v, back) + Ia * back, rigid, scale=float(np.abs(tau).max()))
        np.testing.assert_array_equal(plant.q, q)
        np.testing.assert_array_equal(plant.v, v)


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: f"{robot.name}{robot.nv}")
def test_mass_matrix_and_both_dynamics_agree_with_pinocchio(robot: Robot) -> None:
    judged(robot)


@needs_shared
@pytest.mark.parametrize("name", ["lbr_stack/med7", "panda_erd/panda", "kinova_gen3/gen3_2f85"])
def test_public_arms_agree_with_pinocchio(name: str) -> None:
    judged(load_robot(ROBOTS / f"{name}.urdf").untied)


def test_point_planar_and_massless_bodies_are_simulated_as_they_are() -> None:
    axes = ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    bodies = (
        Body(0.0, np.zeros(3), np.zeros((3, 3))),
        Body(2.0, np.array([0.3, 0.0, 0.1]), np.zeros((3, 3))),
        Body(1.0, np.array([0.1, 0.2, 0.0]), np.diag([0.01, 0.02, 0.03])),
    )
    place = Pose.from_rpy([0.3, -0.4, 0.5], [0.2, 0.1, -0.1])
    joints = [
        Joint(f"j{i}", JointKind.REVOLUTE, i - 1, place, np.array(u), drive=Drive(rotor=0.01))
        for i, u in enumerate(axes)
    ]
    links = [Link(f"l{i}", body) for i, body in enumerate(bodies)]
    judged(Robot("ugly", Link("base"), tuple(joints), tuple(links)))


@pytest.mark.parametrize("name", ["two_link", "panda"])
def test_without_friction_the_free_arm_keeps_its_energy(name: str) -> None:
    robot = zoo_robot(name)
    rotors = [Drive(rotor=joint.drive.rotor) for joint in robot.joints]
    robot = replace(
        robot, joints=tuple(replace(j, drive=d) for j, d in zip(robot.joints, rotors, strict=True))
    )
    plant, judge = Plant(robot), PinocchioRobot.of(robot, link_parameters(robot))
    Ia = np.diag([drive.rotor or 0.0 for drive in rotors])
    plant.place(np.full(robot.nv, 0.4), np.linspace(-1.0, 1.0, robot.nv))

    def energies() -> tuple[float, float]:
        kinetic = 0.5 * plant.v @ (judge.mass_matrix(plant.q) + Ia) @ plant.v
        return float(kinetic), judge.potential_energy(plant.q)

    before = energies()
    exchanged = 0.0
    for _ in range(100):
        plant.advance(np.zeros(robot.nv), 0.01)
        kinetic, potential = energies()
        exchanged = max(exchanged, abs(potential - before[1]))
        assert abs(kinetic + potential - sum(before)) < 1e-8 * max(exchanged, 1.0)
    assert exchanged > 0.1


def test_an_unknown_inertia_is_refused_by_name() -> None:
    with pytest.raises(DescriptionError, match="link 'arm': no inertial is stated"):
        Plant(one_joint(None))


def test_an_impossible_inertia_is_refused_with_its_reason() -> None:
    with pytest.raises(DescriptionError, match=r"link 'arm': .*triangle inequality: 1 \+ 1 falls short of 3"):
        Plant(one_joint(Body(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0]))))
    with pytest.raises(DescriptionError, match=r"link 'arm': .*mass is -1 kg"):
        Plant(one_joint(Body(-1.0, np.zeros(3), np.eye(3))))


def test_a_joint_that_nothing_resists_is_refused_unless_it_has_a_rotor() -> None:
    point = Body(1.0, np.array([0.0, 0.0, 0.5]), np.zeros((3, 3)))
    with pytest.raises(DescriptionError, match="joint 'hinge': nothing that it moves has inertia"):
        Plant(one_joint(point))
    plant = Plant(one_joint(point, rotor=0.1))
    plant.place([0.0], [0.0])
    assert plant.acceleration([0.5])[0] == pytest.approx(5.0)


def test_a_floating_base_is_refused() -> None:
    with pytest.raises(DescriptionError, match="is floating; only arms"):
        Plant(one_joint(Body(1.0, np.zeros(3), np.eye(3)), JointKind.FLOATING))


@pytest.mark.parametrize("torque", [1e6, 1e300, np.nan, np.inf])
def test_divergence_says_joint_and_time_and_writes_no_file(
    torque: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plant = Plant(one_joint(Body(1.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))))
    plant.place([0.0], [0.0])
    plant.advance([0.1], 0.25)
    with pytest.raises(NoSolutionError, match=r"diverged at 0\.25\d\d s: joint 'hinge' would reach"):
        plant.advance([torque], 1.0)
    assert not list(tmp_path.iterdir())
