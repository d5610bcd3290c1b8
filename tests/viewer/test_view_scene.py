"""What is shown is where Pinocchio puts it, weighs what MuJoCo says, and takes the torques of both."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from steelyard.errors import InputError
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.limits import Hull, Zonotope, clearance_of
from steelyard.model import Model
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, MeshFile, Sphere, parse_urdf, urdf_text
from steelyard.viewer import ViewScene, playback_of, view_bodies
from steelyard.viewer.bodies import ViewMass
from steelyard.viewer.surfaces import surface_of
from steelyard.zoo import zoo_robot


@pytest.fixture(scope="module")
def panda():
    return zoo_robot("panda")


@pytest.fixture(scope="module")
def judge(panda):
    model = pin.buildModelFromXML(urdf_text(panda))
    return model, model.createData()


def _motion(robot):
    return random_fourier(robot, np.random.default_rng(3))


def test_frames_are_where_pinocchio_puts_them(panda, judge) -> None:
    model, data = judge
    scene = ViewScene("panda", panda, view_bodies(panda, None, []), panda.rest_pose)
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (3, panda.nq))
    frames = scene.frames(q)
    for k in range(len(q)):
        pin.framesForwardKinematics(model, data, q[k])
        for body in scene.bodies:
            X = data.oMf[model.getFrameId(body.name)].homogeneous
            assert np.allclose(frames[k, body.frame], X, atol=1e-12), body.name


def test_torques_are_those_of_pinocchio_and_shares_those_of_the_limits(panda, judge) -> None:
    model, data = judge
    motion = _motion(panda)
    shown = playback_of(panda, Model.of_robot(panda), motion)
    at = motion.sample(shown.time)
    names = ("viscous", "coulomb", "rotor", "offset")
    drive = np.array([[j.drive.value(x) or 0.0 for x in names] for j in panda.joints])
    for k in range(1, len(shown.time), 97):
        v, a = at.v[k], at.a[k]
        rigid = pin.rnea(model, data, at.q[k], v, a)
        tau = rigid + (drive * np.column_stack((v, np.sign(v), a, np.ones_like(v)))).sum(axis=1)
        assert np.allclose(shown.torque[k], tau, atol=1e-9)
        effort, speed = model.effortLimit, model.velocityLimit
        assert np.allclose(shown.shares["torque"][k], np.abs(tau) / effort)
        assert np.allclose(shown.shares["velocity"][k], np.abs(v) / speed)
        lower, upper = model.lowerPositionLimit, model.upperPositionLimit
        near = np.minimum(at.q[k] - lower, upper - at.q[k])
        assert np.allclose((1.0 - shown.shares["position"][k]) * 0.5 * (upper - lower), near)


def test_an_ellipsoid_weighs_and_turns_as_its_link(panda) -> None:
    for body in view_bodies(panda, None, [])[1:]:
        shown, stated = body.mass("described"), panda.links[body.frame - 1].body
        a, b, c = shown.ellipsoid.semi_axes
        moments = shown.mass / 5.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        R = shown.ellipsoid.pose.rotation
        assert np.allclose(R @ np.diag(moments) @ R.T, stated.inertia, rtol=1e-9, atol=1e-12)


def test_mujoco_finds_the_inertia_of_the_ellipsoid_that_is_drawn() -> None:
    body = random_body(np.random.default_rng(1))
    e = body.equivalent_ellipsoid()
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(e.pose.rotation).ravel())
    words = [" ".join(f"{x:.17g}" for x in v) for v in (e.semi_axes, e.pose.translation, quat)]
    text = (
        "<mujoco><worldbody><body><freejoint/>"
        f'<geom type="ellipsoid" mass="{body.mass:.17g}" size="{words[0]}"'
        f' pos="{words[1]}" quat="{words[2]}"/>'
        "</body></worldbody></mujoco>"
    )
    found = mujoco.MjModel.from_xml_string(text)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, found.body_iquat[1])
    R = R.reshape(3, 3)
    assert np.allclose(R @ np.diag(found.body_inertia[1]) @ R.T, body.inertia, rtol=1e-6)
    assert np.allclose(found.body_ipos[1], body.com)


@pytest.mark.parametrize(
    ("shape", "volume", "short"),
    [
        (Sphere(0.2), 4 / 3 * np.pi * 0.2**3, 0.03),
        (Box(0.1, 0.2, 0.3), 0.006, 1e-9),
        (Cylinder(0.1, 0.4), np.pi * 0.01 * 0.4, 0.01),
        (Capsule(0.1, 0.4), np.pi * 0.01 * 0.4 + 4 / 3 * np.pi * 1e-3, 0.03),
        (Hull(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])), 1 / 6, 1e-9),
        (Zonotope(np.ones(3), np.diag([0.1, 0.2, 0.3])), 0.048, 1e-9),
    ],
)
def test_a_surface_is_closed_seen_from_outside_and_holds_the_volume(shape, volume, short) -> None:
    found = surface_of(shape).properties(density=1.0)
    assert not found.turned
    assert volume * (1 - short) <= found.volume <= volume * (1 + 1e-9)


def test_a_flat_hull_has_a_surface() -> None:
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    assert 0.0 < surface_of(Hull(square)).properties(density=1.0).volume < 0.02


def test_a_body_that_cannot_exist_is_shown_by_its_centre_and_says_why() -> None:
    shown = ViewMass.of("estimated", Body(1.0, np.ones(3), np.diag([1.0, 1.0, 5.0])))
    assert shown.ellipsoid is None
    assert "impossible" in shown.reason


def test_an_estimate_stands_beside_the_description(panda) -> None:
    model = Model.of_robot(panda)
    heavier = model.parameters.copy()
    heavier[0] += 0.5
    moved = replace(model, parameters=heavier, nominal=model.parameters)
    first = view_bodies(panda, moved, [])[1]
    assert first.mass("estimated").mass == pytest.approx(panda.links[0].body.mass + 0.5)
    assert first.mass("described").mass == pytest.approx(panda.links[0].body.mass)


def test_what_a_link_looks_like_is_kept_apart_from_what_collides() -> None:
    text = """<robot name="r"><link name="base"/><link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><sphere radius="0.1"/></geometry></visual>
    <visual><geometry><mesh filename="package://nowhere/a.stl"/></geometry></visual>
    <visual><geometry><box size="a b"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision></link>
    <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    robot = parse_urdf(text)
    arm = robot.links[0]
    assert [type(x.shape) for x in arm.visual] == [Sphere, MeshFile]
    assert arm.visual[0].pose.translation[2] == 1.0
    findings = []
    surfaces = view_bodies(robot, None, findings)[1].surfaces
    assert [x.role for x in surfaces] == ["visual", "collision"]
    assert surfaces[0].mesh.vertices[:, 2].min() == pytest.approx(0.9)
    assert [x.code for x in findings] == ["unseen-mesh"]
    # Nothing that identifies a robot depends on its looks.
    bare = replace(robot, links=(replace(arm, visual=()),))
    assert bare.digest == robot.digest
    # What is bolted on is seen where it is bolted.
    held = arm.with_bolted(arm, Pose(np.eye(3), np.array([0.0, 0.0, 2.0])))
    assert held.visual[2].pose.translation[2] == 3.0


def test_a_motion_of_another_robot_is_refused(panda) -> None:
    with pytest.raises(InputError, match="it is for the joints"):
        playback_of(zoo_robot("two_link"), None, _motion(panda))


def test_the_least_distance_is_that_of_the_clearance(panda) -> None:
    clearance = clearance_of(panda)
    shown = playback_of(panda, None, _motion(panda), clearance)
    k = int(shown.clearance.argmin())
    distances = dict(zip(clearance.names, clearance.distances(shown.q[k : k + 1])[0], strict=True))
    assert shown.clearance[k] == min(distances.values()) == distances[shown.nearest[k]]
    assert shown.torque is None


def test_the_pose_that_is_shown_is_the_nearest_in_time(panda) -> None:
    shown = playback_of(panda, None, _motion(panda))
    for t in (-1.0, 0.0, 0.033, 1.234, 1e9):
        assert shown.sample(t) == int(np.abs(shown.time - t).argmin())
