"""Our MJCF reader against MuJoCo's compiler: every public file, and random files of all spellings."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import mujoco
import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.mujoco_file import CompiledFile, state_of, without_meshes
from oracles.random_mjcf import RandomMjcf
from oracles.random_robots import random_states
from robot.mjcf_files import robot_of_mjcf
from shared_material import needs_shared, robot_files
from steelyard.dynamics import forward_kinematics, inverse_dynamics, mass_matrix
from steelyard.layout import layout_of
from steelyard.robot import Box, Capsule, Cylinder, Robot, Sphere
from steelyard.robot.descriptions.mjcf.reader import load_mjcf

PUBLIC = [file for file in robot_files(".xml") if "menagerie" in file.parts]
KINDS = {
    mujoco.mjtGeom.mjGEOM_SPHERE: Sphere,
    mujoco.mjtGeom.mjGEOM_CAPSULE: Capsule,
    mujoco.mjtGeom.mjGEOM_CYLINDER: Cylinder,
    mujoco.mjtGeom.mjGEOM_BOX: Box,
}


def _frame_name(robot: Robot, body: str) -> str:
    """The frame of a body: its link's own, or the origin remembered beside it."""
    names = [frame.name for frame in robot.frames]
    return f"{body}/origin" if f"{body}/origin" in names else body


def _assert_same_motion(robot: Robot, judge: CompiledFile, rng: np.random.Generator) -> None:
    assert robot.joint_names == judge.joint_names
    layout = layout_of(robot, ["viscous", "rotor"])
    phi = layout.nominal.copy()
    drives = slice(10 * len(robot.links), None)
    phi[drives] = np.nan_to_num(phi[drives])
    assert np.isfinite(phi).all()
    q, v, a = random_states(rng, robot, 4)
    v[0], a[0] = 0.0, 0.0
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    H = mass_matrix(robot, layout, phi, q)
    frames = [_frame_name(robot, body) for body in judge.body_names]
    X = forward_kinematics(robot, q, frames)
    for n in range(len(q)):
        state = state_of(robot, q[n], v[n], a[n])
        assert_agree(H[n], judge.mass_matrix(state), relative=1e-9)
        assert_agree(tau[n], judge.torques(state), relative=1e-9, scale=1.0)
        for k, body in enumerate(judge.body_names):
            assert_agree(X[n, k], judge.pose(body), relative=1e-9)


def _assert_same_bodies(robot: Robot, judge: CompiledFile) -> None:
    for body in judge.body_names:
        frame = robot.frame(_frame_name(robot, body))
        link = robot.base if frame.link < 0 else robot.links[frame.link]
        own = link.own if link.name == body else next(p.body for p in link.fixed if p.name == body)
        assert own is not None
        if link.name == body:
            own = own.moved(frame.placement.inverse())
        assert_agree(own.parameters, judge.body(body).parameters, relative=1e-9)


def _assert_same_shapes(robot: Robot, judge: CompiledFile, rng: np.random.Generator) -> None:
    """Every collision shape of ours is where a geom is, and no geom is left but the ellipsoids."""
    q, v, a = (values[0] for values in random_states(rng, robot, 1))
    judge.torques(state_of(robot, q, v, a))
    model, data = judge.model, judge.data
    geoms = [i for i in range(model.ngeom) if model.geom_type[i] != mujoco.mjtGeom.mjGEOM_ELLIPSOID]
    X = forward_kinematics(robot, q)[0]
    ours = [(item.shape, item.pose.matrix) for item in robot.base.collision]
    ours += [(s.shape, X[i] @ s.pose.matrix) for i, link in enumerate(robot.links) for s in link.collision]
    assert len(ours) == len(geoms)
    for i in geoms:
        shape, pose = min(ours, key=lambda item: np.linalg.norm(item[1][:3, 3] - data.geom_xpos[i]))
        assert_agree(pose[:3, 3], data.geom_xpos[i], relative=1e-9)
        assert_agree(pose[:3, :3], data.geom_xmat[i].reshape(3, 3), relative=1e-9)
        assert type(shape) is KINDS[mujoco.mjtGeom(model.geom_type[i])]
        sizes = np.array([getattr(shape, field.name) for field in fields(shape)])
        # Radii are radii; all other sizes of ours are full lengths.
        halves = np.array([1.0 if field.name == "radius" else 0.5 for field in fields(shape)])
        assert_agree(sizes * halves, model.geom_size[i, : len(sizes)], relative=1e-9)


@needs_shared
def test_there_are_public_files() -> None:
    assert len(PUBLIC) >= 7


@pytest.mark.parametrize("file", PUBLIC, ids=lambda file: file.stem)
def test_a_public_robot_moves_as_in_mujoco(file: Path) -> None:
    judge = CompiledFile(without_meshes(file.read_text()))
    robot = load_mjcf(file)
    _assert_same_motion(robot, judge, np.random.default_rng(1))
    np.testing.assert_array_equal(robot.gravity, judge.model.opt.gravity)


@pytest.mark.parametrize("file", PUBLIC, ids=lambda file: file.stem)
def test_a_public_robot_has_mujocos_limits(file: Path) -> None:
    model = CompiledFile(without_meshes(file.read_text())).model
    robot = load_mjcf(file)
    for i, joint in enumerate(robot.joints):
        ends = model.jnt_range[i] if model.jnt_limited[i] else (-np.inf, np.inf)
        assert (joint.limits.lower, joint.limits.upper) == tuple(ends)
        (k,) = np.flatnonzero(model.actuator_trnid[:, 0] == i)
        limited = model.actuator_forcelimited[k]
        assert joint.limits.effort == (model.actuator_forcerange[k, 1] if limited else np.inf)
        assert (joint.drive.coulomb or 0.0) == model.dof_frictionloss[i]


@pytest.mark.parametrize("seed", range(40))
def test_a_random_file_is_the_mechanism_mujoco_compiles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = RandomMjcf(rng, free=seed % 4 == 0).text()
    robot, judge = robot_of_mjcf(text), CompiledFile(text)
    _assert_same_bodies(robot, judge)
    _assert_same_shapes(robot, judge, rng)
    _assert_same_motion(robot, judge, rng)
