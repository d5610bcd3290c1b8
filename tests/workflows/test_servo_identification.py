"""Servos identified by one command from a log without torque: a simulated SO-101, MuJoCo being the robot."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import mujoco
import numpy as np
import pytest

import steelyard as sy
from oracles.servo_plant import mujoco_log
from recording.written_datasets import write_dataset
from steelyard.drive import Servo
from steelyard.errors import InputError
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

RATE, DELAY = 50.0, 0.03
COUNT = 2.0 * np.pi / 4096
"""A step of the encoder."""


def arm() -> Robot:
    return zoo_robot("so101").locked({"gripper": 0.0})


def true_servos(robot: Robot) -> list[Servo]:
    k = np.arange(robot.nv)
    return [
        Servo(stiffness, 0.0, armature, viscous, coulomb, 3.35, DELAY)
        for stiffness, armature, viscous, coulomb in zip(
            [18.0, 17.8, 18.5, 16.0, 17.0], 0.028 + 0.003 * k, 0.6 - 0.05 * k, 0.052 + 0.01 * k, strict=True
        )
    ]


def logged(robot: Robot, seconds: float, seed: int) -> dict[str, np.ndarray]:
    """Sines and steps through the servos, as LeRobot logs them: commands and 12-bit positions at 50 Hz."""
    rng, t = np.random.default_rng(seed), np.arange(0.0, seconds, 1.0 / RATE)
    command = np.zeros((len(t), robot.nv))
    for k, joint in enumerate(robot.joints):
        sines = np.sin(2 * np.pi * rng.uniform(0.15, 1.2, 5) * t[:, None] + rng.uniform(0, 2 * np.pi, 5))
        way = sines.sum(axis=1) - sines[0].sum()
        command[:, k] = 0.25 * min(-joint.limits.lower, joint.limits.upper) * way / np.abs(way).max()
        for begin in rng.choice(len(t) - 100, 3, replace=False):
            command[begin : begin + 30, k] += 0.2 * rng.choice([-1.0, 1.0])
    q, _ = mujoco_log(robot, true_servos(robot), t, command, command[0])
    return {"time": t, "q": COUNT * np.round(q / COUNT), "qref": command}


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> sy.ServoIdentification:
    robot = arm()
    out = tmp_path_factory.mktemp("servos") / "out"
    found = sy.identify(robot, logged(robot, 16.0, 1), holdout=logged(robot, 8.0, 2), out=out)
    assert isinstance(found, sy.ServoIdentification)
    return found


def test_the_servos_are_those_of_the_robot_and_the_scale_of_gravity_is_enough(
    fit: sy.ServoIdentification,
) -> None:
    truth = dict(zip(fit.servos, true_servos(arm()), strict=True))
    rows = [row for row in fit.numbers if row["name"] != "delay" and row["value"] is not None]
    inside = []
    for row in rows:
        joint, _, term = row["name"].rpartition(".")
        true = getattr(truth[joint], term)
        low, high = row["interval95"]
        inside.append(low <= true <= high)
        if joint in ("shoulder_lift", "elbow_flex") and term != "limit":
            # Gravity acts on these two with all that follows.
            assert row["value"] == pytest.approx(true, rel=0.03)
    assert len(inside) >= 20
    assert np.mean(inside) > 0.8
    (delay,) = (row["value"] for row in fit.numbers if row["name"] == "delay")
    assert delay == pytest.approx(DELAY, abs=1e-3)


def test_commands_held_out_are_followed_in_mujoco_as_the_robot_followed_them(
    fit: sy.ServoIdentification,
) -> None:
    assert fit.rollout.overall < 0.05
    assert (fit.rollout.lag > 10.0 * fit.rollout.error).all()
    assert fit.verdict.status in ("pass", "warn")
    assert "scale-from-description" in {finding.code for finding in fit.findings}


def test_the_model_has_the_servos_as_actuators_late_by_their_delay(fit: sy.ServoIdentification) -> None:
    model = mujoco.MjModel.from_xml_path(fit.files["model.xml"])
    for joint, servo in fit.servos.items():
        at, dof = model.actuator(joint).id, int(model.joint(joint).dofadr[0])
        assert model.actuator_gainprm[at, 0] == pytest.approx(servo.stiffness)
        assert model.actuator_biasprm[at, 1] == pytest.approx(-servo.stiffness)
        assert model.actuator_delay[at] == pytest.approx(servo.delay)
        assert model.dof_armature[dof] == pytest.approx(servo.armature)
        assert model.dof_frictionloss[dof] == pytest.approx(servo.coulomb)
        assert model.dof_damping[dof] == pytest.approx(servo.viscous)
    # A step of a command is felt after the delay and not before.
    data = mujoco.MjData(model)
    mujoco.mj_resetData(model, data)
    data.ctrl[:] = 0.3
    felt = []
    for _ in range(30):
        mujoco.mj_step(model, data)
        felt.append(bool(np.abs(data.actuator_force).max() > 3.0))
    assert felt.index(True) * model.opt.timestep == pytest.approx(DELAY, abs=2 * model.opt.timestep)


def test_cards_are_python_that_says_the_same(
    fit: sy.ServoIdentification, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Taken(dict[str, object]):
        def __init__(self, **given: object) -> None:
            super().__init__(given)

    for package, names in (
        ("isaaclab.actuators", ["DelayedPDActuatorCfg"]),
        ("mjlab.actuator", ["BuiltinPositionActuatorCfg", "DelayedActuatorCfg"]),
    ):
        top = package.partition(".")[0]
        module = ModuleType(package)
        for name in names:
            setattr(module, name, Taken)
        monkeypatch.setitem(sys.modules, top, ModuleType(top))
        monkeypatch.setitem(sys.modules, package, module)

    def said(name: str) -> dict[str, object]:
        place: dict[str, object] = {}
        exec(Path(fit.files[f"actuators/{name}.py"]).read_text(), place)
        return place

    isaac, mjlab, genesis = said("isaaclab"), said("mjlab"), said("genesis")
    for joint, servo in fit.servos.items():
        one = isaac["ACTUATORS"][joint]  # type: ignore[index]
        assert one["joint_names_expr"] == [f"^{joint}$"]
        assert one["stiffness"] == pytest.approx(servo.stiffness, rel=1e-5)
        assert one["viscous_friction"] == pytest.approx(servo.viscous, rel=1e-5)
        assert one["min_delay"] == round(servo.delay / 0.005)
        two = mjlab["ACTUATORS"][joint]["base_cfg"]  # type: ignore[index]
        assert two["damping"] == pytest.approx(servo.damping + servo.viscous, rel=1e-5)
        assert two["frictionloss"] == pytest.approx(servo.coulomb, rel=1e-5)
    calls: dict[str, list[float]] = {}

    class Joint:
        dofs_idx_local = (0,)

    class Entity:
        def get_joint(self, name: str) -> Joint:
            assert name in fit.servos
            return Joint()

        def __getattr__(self, name: str) -> object:
            return lambda *given: calls.update({name: given[0]})

    genesis["set_servos"](Entity())  # type: ignore[operator]
    assert calls["set_dofs_armature"] == pytest.approx(
        [servo.armature for servo in fit.servos.values()], rel=1e-5
    )
    assert {"set_dofs_kp", "set_dofs_kv", "set_dofs_frictionloss", "set_dofs_force_range"} <= set(calls)


def test_the_answer_and_the_folder_say_the_same_of_every_number(fit: sy.ServoIdentification) -> None:
    record = json.loads(Path(fit.files["record.json"]).read_text())
    assert record["estimate"]["detail"]["servos"] == json.loads(json.dumps(fit.numbers))
    joint = fit.model.joints["elbow_flex"]
    assert joint.armature == fit.servos["elbow_flex"].armature
    low, high = joint.interval95["coulomb"]
    assert low < fit.servos["elbow_flex"].coulomb < high
    assert "elbow_flex" in str(fit)
    assert "±" in str(fit)


def test_a_dataset_without_torques_is_identified_by_one_command(tmp_path: Path) -> None:
    robot, log = arm(), logged(arm(), 12.0, 3)
    names = [f"{joint}.pos" for joint in robot.joint_names]
    state, action = np.degrees(log["q"]), np.degrees(log["qref"])
    folder = write_dataset(tmp_path / "pick", "v3.0", [(state, action)], names, fps=RATE)
    terms = "viscous,coulomb,limit"
    fit = sy.identify("so101", folder, units="degrees", lock={"gripper": 0.0}, drive=terms)
    assert isinstance(fit, sy.ServoIdentification)
    assert fit.rollout.overall < 0.1
    assert fit.servos["elbow_flex"].stiffness == pytest.approx(18.5, rel=0.1)


def test_options_of_torques_are_refused_and_logs_without_commands_too() -> None:
    robot, log = arm(), logged(arm(), 4.0, 1)
    with pytest.raises(InputError, match=r"--total-mass: serves logs of torques"):
        sy.identify(robot, log, total_mass=1.0)
    with pytest.raises(InputError, match=r"neither torques nor commanded positions"):
        sy.identify(robot, {"time": log["time"], "q": log["q"]})
    with pytest.raises(InputError, match=r"has no torques"):
        sy.identify(robot, log, signals="torque")
    with pytest.raises(InputError, match=r"--signals"):
        sy.identify(robot, log, signals="voltage")
