"""A MJCF description repaired into URDF is the same machine, as MuJoCo sees both."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

from shared_material import ROBOTS, needs_shared, robot_files
from steelyard.robot import repair_file

MJCF = """<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper" pos="0 0 0.4" quat="0.8 0.6 0 0">
      <joint name="shoulder" type="hinge" axis="0 0.6 0.8" range="-2 1.5" damping="0.3" frictionloss="0.2"/>
      <inertial pos="0.1 0.02 0" quat="0.6 0 0.8 0" mass="2" diaginertia="0.02 0.03 0.04"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/>
      <body name="plate" pos="0 0.1 0" euler="0 1.5707963267948966 0.2">
        <inertial pos="0 0 0.1" mass="0.5" diaginertia="0.002 0.003 0.004"/>
      </body>
      <body name="lower" pos="0.3 0 0" euler="0.3 -1.5707963267948966 0.4">
        <joint name="elbow" type="slide" axis="1 0 0" range="0 0.2"/>
        <inertial pos="0 0 0.05" mass="1" fullinertia="0.01 0.02 0.025 0.001 0.002 -0.003"/>
        <body name="wrist" pos="0.2 0 0">
          <joint name="spin" type="hinge" axis="0 0 1" armature="0.05"/>
          <inertial pos="0.01 0 0.05" mass="0.3" diaginertia="0.001 0.001 0.0015"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def _dynamics(model: mujoco.MjModel, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix without armature, and the bias torque, at a state."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    # Unit accelerations through the inverse dynamics give the columns of the mass matrix.
    for k in range(model.nv):
        data.qacc[:] = np.eye(model.nv)[k]
        result = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 1, result)
        M[:, k] = result - data.qfrc_bias
    return M, data.qfrc_bias.copy()


def test_the_repaired_urdf_has_the_dynamics_of_the_mjcf(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(MJCF)
    repair = repair_file(tmp_path / "arm.xml", tmp_path / "arm.urdf")
    one = mujoco.MjModel.from_xml_string(MJCF)
    other = mujoco.MjModel.from_xml_string(repair.text.decode())
    assert [other.joint(k).name for k in range(other.njnt)] == ["shoulder", "elbow", "spin"]
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, v = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
        for mine, judge in zip(_dynamics(other, q, v), _dynamics(one, q, v), strict=True):
            np.testing.assert_allclose(mine, judge, atol=1e-12)
    np.testing.assert_allclose(other.jnt_range[:2], one.jnt_range[:2], atol=1e-15)
    np.testing.assert_allclose(other.dof_damping, one.dof_damping)
    np.testing.assert_allclose(other.dof_frictionloss, one.dof_frictionloss)


def test_what_urdf_cannot_say_is_listed(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(MJCF)
    repair = repair_file(tmp_path / "arm.xml", tmp_path / "arm.urdf")
    said = [(change.what, change.before) for change in repair.changes if not change.after]
    assert ("the rotor of joint 'spin'", "0.05") in said
    assert (repair.changes[0].before, repair.changes[0].after) == ("MJCF", "URDF")


FILES = robot_files(".xml")


@needs_shared
@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROBOTS)) for path in FILES])
def test_a_public_mjcf_becomes_a_urdf_that_both_simulators_load(path: Path, tmp_path: Path) -> None:
    repair = repair_file(path, tmp_path / "out.urdf", fill_mass=1.0)
    text = repair.text.decode()
    assert not any(finding.severity == "error" for finding in repair.left)
    assert pinocchio.buildModelFromXML(text).nv == mujoco.MjModel.from_xml_string(text).nv == repair.robot.nv
