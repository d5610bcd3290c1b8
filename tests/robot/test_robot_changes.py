"""Changes to a robot: locked joints, a turned base, a body bolted on, another tool frame."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import newton_euler, world_poses
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_pose, random_robot, random_robot_on, random_states
from shared_material import ROBOTS, needs_shared
from steelyard.archive import from_document, to_document
from steelyard.dynamics import inverse_dynamics, mass_matrix, torque_regressor
from steelyard.errors import InputError, ShapeError, UnknownNameError
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Geometry, JointKind, Limits, Robot, Sphere, load_robot
from steelyard.zoo import zoo_robot

SEEDS = range(12)
BASES = ("fixed", "floating", "floating in mid-tree", "screws and balls")


def frame_matrices(robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """Homogeneous matrices (4, 4) of every frame in the base frame, by name."""
    carriers = [Pose(*pose) for pose in world_poses(robot, q)] + [Pose.identity()]  # index -1 is the base
    return {frame.name: (carriers[frame.link] @ frame.placement).matrix for frame in robot.frames}


def shape_matrices(robot: Robot, q: np.ndarray) -> list[tuple[str, list[list[float]]]]:
    """Every collision shape with where it is in the base frame, in an order of its own."""
    carriers = [Pose(*pose) for pose in world_poses(robot, q)] + [Pose.identity()]
    return sorted(
        (repr(item.shape), np.round((carriers[i] @ item.pose).matrix, 9).tolist())
        for i, link in enumerate((robot.base, *robot.links), start=-1)
        for item in link.collision
    )


def spread(robot: Robot, values: np.ndarray, counts: list[int]) -> dict[str, np.ndarray]:
    """Coordinates or velocities by joint."""
    return dict(zip(robot.joint_names, np.split(values, np.cumsum(counts)[:-1]), strict=True))


def random_lock(rng: np.random.Generator, robot: Robot, q: np.ndarray) -> tuple[Robot, dict[str, np.ndarray]]:
    """Lock some joints, at least one and not all, where `q` has them; limits stand aside."""
    free = replace(robot, joints=tuple(replace(joint, limits=Limits()) for joint in robot.joints))
    count = int(rng.integers(1, len(robot.joints)))
    names = rng.choice(robot.joint_names, count, replace=False)
    blocks = spread(robot, q, [joint.kind.nq for joint in robot.joints])
    positions = {str(name): blocks[str(name)] for name in names}
    return free.locked({name: p[0] if len(p) == 1 else p for name, p in positions.items()}), positions


def random_case(seed: int, base: str) -> tuple[np.random.Generator, Robot, np.ndarray]:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(base, rng)
    while len(robot.joints) < 2:
        robot = random_robot_on(base, rng)
    return rng, robot, random_states(rng, robot, 1)[0][0]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_locked_robot_needs_the_torques_of_the_whole_one_at_rest_in_those_joints(
    seed: int, base: str
) -> None:
    rng, robot, q = random_case(seed, base)
    locked, positions = random_lock(rng, robot, q)
    widths = [joint.kind.nv for joint in robot.joints]
    v, a = (spread(robot, x, widths) for x in (rng.uniform(-2, 2, robot.nv), rng.uniform(-6, 6, robot.nv)))
    for name in positions:
        v[name] *= 0.0
        a[name] *= 0.0
    tau = newton_euler(robot, link_parameters(robot), q, *(np.concatenate(list(x.values())) for x in (v, a)))
    expected = spread(robot, tau, widths)
    blocks = spread(robot, q, [joint.kind.nq for joint in robot.joints])
    state = [np.concatenate([x[name] for name in locked.joint_names])[None] for x in (blocks, v, a)]
    layout = layout_of(locked)
    answer = inverse_dynamics(locked, layout, layout.complete_nominal(), *state)[0]
    wanted = np.concatenate([expected[name] for name in locked.joint_names])
    assert_agree(answer, wanted, scale=float(np.abs(tau).max()))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("seed", SEEDS)
def test_locking_moves_no_frame_no_shape_no_mass_and_not_the_tool(seed: int, base: str) -> None:
    rng, robot, q = random_case(seed, base)
    locked, positions = random_lock(rng, robot, q)
    blocks = spread(robot, q, [joint.kind.nq for joint in robot.joints])
    q_free = np.concatenate([blocks[name] for name in locked.joint_names])
    before, after = frame_matrices(robot, q), frame_matrices(locked, q_free)
    assert before.keys() == after.keys()
    for name in before:
        assert_agree(after[name], before[name], scale=1.0)
    for one, two in zip(shape_matrices(robot, q), shape_matrices(locked, q_free), strict=True):
        assert one[0] == two[0]
        np.testing.assert_allclose(one[1], two[1], atol=1e-8)
    assert locked.mass == pytest.approx(robot.mass, rel=1e-14)
    assert locked.tool_frame.name == robot.tool_frame.name
    assert [name for name in robot.joint_names if name not in positions] == list(locked.joint_names)
    assert {held.name: held.position.tolist() for held in locked.locks} == {
        name: p.tolist() for name, p in positions.items()
    }


PUBLIC = {
    "panda_erd/panda.urdf": {"panda_finger_joint1": 0.03, "panda_finger_joint2": 0.03},
    "kinova_gen3/gen3_2f85.urdf": {
        "gen3_robotiq_85_left_knuckle_joint": 0.3,
        "gen3_robotiq_85_right_knuckle_joint": -0.3,
        "gen3_robotiq_85_left_inner_knuckle_joint": 0.3,
        "gen3_robotiq_85_right_inner_knuckle_joint": -0.3,
        "gen3_robotiq_85_left_finger_tip_joint": -0.3,
        "gen3_robotiq_85_right_finger_tip_joint": 0.3,
    },
    "crane_x7/crane_x7.urdf": {"crane_x7_upper_arm_revolute_part_twist_joint": 0.7},
}


@needs_shared
@pytest.mark.parametrize("file", PUBLIC)
def test_a_public_arm_with_locked_joints_is_pinocchios_reduced_model(file: str) -> None:
    path = ROBOTS / file
    locked = load_robot(path).untied.locked(PUBLIC[file])
    judge = PinocchioRobot(locked, _reduced(path, PUBLIC[file]))
    layout = layout_of(locked)
    phi = layout.complete_nominal()
    q, v, a = np.random.default_rng(0).uniform(-3, 3, (3, 5, locked.nv))
    tau, M = inverse_dynamics(locked, layout, phi, q, v, a), mass_matrix(locked, layout, phi, q)
    for n in range(len(q)):
        assert_agree(tau[n], judge.torques(q[n], v[n], a[n]))
        assert_agree(M[n], judge.mass_matrix(q[n]))
        for name, matrix in frame_matrices(locked, q[n]).items():
            assert_agree(matrix, judge.frame(name, q[n]), scale=1.0)


def _reduced(path: Path, positions: dict[str, float]) -> pin.Model:
    whole = pin.buildModelFromUrdf(str(path))
    q = pin.neutral(whole)
    for name, position in positions.items():
        joint = whole.joints[whole.getJointId(name)]
        turned = [np.cos(position), np.sin(position)] if joint.nq == 2 else [position]
        q[joint.idx_q : joint.idx_q + joint.nq] = turned
    return pin.buildReducedModel(whole, [whole.getJointId(name) for name in positions], q)


def test_locking_one_by_one_is_locking_at_once() -> None:
    robot = zoo_robot("panda")
    at_once = robot.locked({"panda_joint2": 0.3, "panda_joint3": -1.0})
    for first, second in (("panda_joint2", "panda_joint3"), ("panda_joint3", "panda_joint2")):
        positions = {"panda_joint2": 0.3, "panda_joint3": -1.0}
        by_one = robot.locked({first: positions[first]}).locked({second: positions[second]})
        assert [held.name for held in by_one.locks] == [first, second]
        assert_agree(link_parameters(by_one), link_parameters(at_once))
        for name, matrix in frame_matrices(at_once, np.ones(5)).items():
            assert_agree(frame_matrices(by_one, np.ones(5))[name], matrix, scale=1.0)
    assert robot.locked({}).digest == robot.digest


def test_what_cannot_be_locked_is_refused_with_the_reason() -> None:
    robot = zoo_robot("panda")
    with pytest.raises(UnknownNameError, match=r"unknown joint 'panda_joint8'\. Did you mean 'panda_joint"):
        robot.locked({"panda_joint8": 0.0})
    with pytest.raises(
        InputError, match=r"'panda_joint1': 3 rad is outside its limits \[-2\.8973, 2\.8973\]"
    ):
        robot.locked({"panda_joint1": 3.0})
    for wrong in (math.nan, math.inf, [0.1, 0.2]):
        with pytest.raises(ShapeError, match="position of joint 'panda_joint1'"):
            robot.locked({"panda_joint1": wrong})
    with pytest.raises(InputError, match="robot 'two_link': locking every joint leaves nothing that moves"):
        zoo_robot("two_link").locked({"joint1": 0.0, "joint2": 0.0})
    floating = robot.floating()
    with pytest.raises(ShapeError, match=r"'floating_base': expected shape \(7,\), got \(\)"):
        floating.locked({"floating_base": 0.0})
    with pytest.raises(InputError, match="quaternion: must not be all zeros"):
        floating.locked({"floating_base": np.zeros(7)})


def test_a_joint_may_be_locked_at_its_limits() -> None:
    robot = zoo_robot("panda")
    limits = robot.joints[0].limits
    for position in (limits.lower, limits.upper):
        assert robot.locked({"panda_joint1": position}).locks[0].position == position


def test_a_floating_robot_that_is_held_is_a_mounted_one() -> None:
    robot = random_robot(np.random.default_rng(5), bodies=4)
    pose = Pose.from_rpy((0.3, -1.0, 2.0), (1.0, 2.0, 3.0))
    held = robot.floating().locked({"floating_base": [*pose.translation, *pose.quaternion]})
    mounted = robot.mounted(pose)
    q, v, a = random_states(np.random.default_rng(6), robot, 3)
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    expected = inverse_dynamics(mounted, layout, phi, q, v, a)
    assert_agree(inverse_dynamics(held, layout_of(held), phi, q, v, a), expected)


@pytest.mark.parametrize("seed", range(4))
def test_a_mounted_robot_feels_the_gravity_of_a_fixed_turn_below_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, shapes=("solid",))
    pose = random_pose(rng)
    # Pinocchio turns the tree itself: every joint on the base is placed in the world.
    turned = tuple(
        replace(joint, placement=pose @ joint.placement) if joint.parent < 0 else joint
        for joint in robot.joints
    )
    judge = PinocchioRobot.of(replace(robot, joints=turned), link_parameters(robot))
    mounted = robot.mounted(pose)
    layout = layout_of(mounted)
    q, v, a = random_states(rng, robot, 3)
    tau = inverse_dynamics(mounted, layout, layout.complete_nominal(), q, v, a)
    for n in range(3):
        assert_agree(tau[n], judge.torques(q[n], v[n], a[n]))
    again = random_pose(rng)
    np.testing.assert_allclose(
        mounted.mounted(again).gravity, robot.mounted(pose @ again).gravity, atol=1e-13
    )


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("seed", range(6))
def test_a_bolted_body_adds_its_own_columns_of_the_regressor(seed: int, base: str) -> None:
    rng, robot, _ = random_case(seed, base)
    frame = robot.frames[rng.integers(len(robot.frames))]
    body = random_body(rng)
    loaded = robot.with_body("extra", body, frame=frame.name)
    q, v, a = random_states(rng, robot, 4)
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    extra = np.zeros(layout.size)
    if frame.link >= 0:
        # Pinocchio moves the body into the frame of the link that carries it.
        X = pin.SE3(frame.placement.rotation.copy(), frame.placement.translation.copy())
        own = pin.Inertia(body.mass, body.com.copy(), body.inertia.copy())
        extra[layout.of_link(robot.links[frame.link].name)] = X.act(own).toDynamicParameters()
    expected = inverse_dynamics(robot, layout, phi, q, v, a)
    expected += torque_regressor(robot, layout, q, v, a) @ extra
    layout = layout_of(loaded)
    assert_agree(inverse_dynamics(loaded, layout, layout.complete_nominal(), q, v, a), expected)
    assert loaded.mass == pytest.approx(robot.mass + body.mass, rel=1e-14)


def test_a_bolted_body_sits_at_the_tool_frame_with_its_shapes_unless_told() -> None:
    robot = zoo_robot("panda")
    body = Body(1.0, np.array([0.0, 0.0, 0.1]), np.eye(3))
    shape = Geometry(Sphere(0.05), Pose.from_rpy((0, 0, 0), (0, 0, 0.1)))
    loaded = robot.with_body("tool", body, collision=[shape])
    place, tool = loaded.frame("tool"), robot.tool_frame
    assert place.link == tool.link
    np.testing.assert_array_equal(place.placement.matrix, tool.placement.matrix)
    pose = loaded.links[-1].collision[-1].pose
    np.testing.assert_allclose(pose.matrix, (tool.placement @ shape.pose).matrix, atol=1e-15)
    assert loaded.tool_frame.name == tool.name
    on_base = robot.with_body("box", body, frame="panda_link0")
    assert [part.name for part in on_base.base.fixed] == ["box"]
    with pytest.raises(InputError, match="'panda' already has a link 'panda_link3'"):
        robot.with_body("panda_link3", body)
    with pytest.raises(UnknownNameError, match="unknown link 'panda_link9'"):
        robot.with_body("tool", body, frame="panda_link9")


def test_the_chosen_tool_frame_survives_every_other_change_and_is_no_dynamics() -> None:
    robot = zoo_robot("panda").with_tool_frame("panda_link5")
    assert robot.digest == zoo_robot("panda").digest
    assert robot.tool_frame.link == 4
    body = Body(1.0, np.zeros(3), np.eye(3))
    for changed in (
        robot.locked({"panda_joint5": 0.5}),
        robot.with_body("tool", body),
        robot.floating(),
        robot.mounted(Pose.from_rpy((1, 0, 0))),
        robot.with_gravity((0, 0, 1)),
    ):
        assert changed.tool_frame.name == "panda_link5"
    assert robot.with_body("tool", body).frame("tool").link == 4
    with pytest.raises(UnknownNameError, match="unknown link 'nowhere'"):
        robot.with_tool_frame("nowhere")


def test_a_changed_robot_survives_its_document() -> None:
    robot = zoo_robot("panda").locked({"panda_joint5": 0.5}).with_tool_frame("panda_link5")
    back = from_document(Robot, to_document(robot))
    assert to_document(back) == to_document(robot)
    assert back.locks[0].kind is JointKind.REVOLUTE
