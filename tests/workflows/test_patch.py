"""`sy.patch`: a user's own file changes in the identified numbers, and in no other byte."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import steelyard as sy
from export.material import bodies_of, full_layout, nominal_estimate, random_estimate, write_result
from oracles.agreement import assert_agree
from oracles.mujoco_file import CompiledFile, state_of
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_mjcf import RandomMjcf
from oracles.random_robots import random_states
from robot.patch_material import FOLLOWING, IDENTIFIED, ODD_URDF, UNWEIGHED, differing_arrays, with_meshes
from shared_material import needs_shared, robot_files
from steelyard.errors import DescriptionError, InputError
from steelyard.formats.urdf import new_urdf
from steelyard.inertia import Body
from steelyard.layout import Layout, layout_of
from steelyard.model import Model
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.robot import Robot, load_robot
from steelyard.simulation import simulate_motion
from steelyard.workflows.identification import Identification
from steelyard.workflows.identify import identify
from steelyard.workflows.patch import patch
from steelyard.zoo import zoo_robot

URDFS, MJCFS = robot_files(".urdf"), robot_files(".xml")
URDF_NUMBERS = re.compile(rb"(?:<inertial.*?</inertial>|<inertial[^>]*/>|<dynamics[^>]*>)\s*", re.DOTALL)


def _named(paths: list[Path]) -> list[str]:
    return [f"{path.parent.name}/{path.name}" for path in paths]


def _model(
    robot: Robot, seed: int = 1, drive: tuple[str, ...] = ("viscous", "coulomb", "offset", "rotor")
) -> Model:
    """A possible estimate: nominal links some percent heavier, or random ones where nothing is stated."""
    layout = full_layout(robot, drive)
    drawn = random_estimate if any(link.body is None for link in robot.links) else nominal_estimate
    return Model(robot, layout, drawn(np.random.default_rng(seed), robot, layout))


# Every public file


@needs_shared
@pytest.mark.parametrize("path", URDFS + MJCFS, ids=_named(URDFS + MJCFS))
def test_a_file_patched_with_its_own_numbers_stays_byte_for_byte(path: Path) -> None:
    if path.name in UNWEIGHED:
        pytest.skip("its links state no inertia")
    for snap in (False, True):
        done = patch(path, Model.of_robot(load_robot(path, snap=snap)))
        assert done.text == path.read_bytes()
        assert done.difference == ""
        assert done.changed == ()


@needs_shared
@pytest.mark.parametrize("path", MJCFS, ids=_named(MJCFS))
def test_mujoco_finds_the_identified_fields_changed_and_no_other(path: Path, tmp_path: Path) -> None:
    file = with_meshes(path, tmp_path)
    robot = load_robot(file)
    model = _model(robot)
    before = mujoco.MjModel.from_xml_path(str(file))
    done = patch(file, model, out=file, force=True)
    after = mujoco.MjModel.from_xml_path(str(file))
    assert done.judges == ("MuJoCo",)
    # A servo with a damping ratio gets its damping from the mass it moves, and that is said.
    derived = {"actuator_biasprm"} if b"dampratio=" in path.read_bytes() else set()
    assert [finding.code for finding in done.findings] == ["derived-by-mujoco"] * len(derived)
    changed = differing_arrays(before, after)
    assert changed <= IDENTIFIED | FOLLOWING | derived
    assert {"body_mass", "body_inertia", "dof_frictionloss"} <= changed
    fixed = [i for i in range(before.nbody) if before.body_weldid[i] == 0]
    for name in IDENTIFIED - {"dof_damping", "dof_frictionloss", "dof_armature"}:
        assert np.array_equal(getattr(before, name)[fixed], getattr(after, name)[fixed]), name
    judge = CompiledFile.__new__(CompiledFile)
    judge.model, judge.data = after, mujoco.MjData(after)
    after.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    _assert_torques(judge, robot, model)
    # Nothing outside of inertials and joints was touched.
    numbers = re.compile(rb"<inertial[^>]*>|<joint[^>]*>")
    assert numbers.sub(b"", done.text) == numbers.sub(b"", path.read_bytes())


def _assert_torques(judge: CompiledFile, robot: Robot, model: Model) -> None:
    """MuJoCo asks for the torques that Pinocchio computes from the model's ten numbers a link."""
    built, phi, layout = (
        PinocchioRobot.of(robot, bodies_of(robot, model.parameters)),
        model.parameters,
        model.layout,
    )
    terms = {
        name: np.array([phi[layout.index(f"{joint}.{name}")] for joint in layout.joints])
        for name in ("viscous", "rotor", "coulomb")
    }
    assert np.array_equal(judge.model.dof_frictionloss, terms["coulomb"])
    for q, v, a in zip(*random_states(np.random.default_rng(3), robot, 3), strict=True):
        wanted = built.torques(q, v, a) + terms["viscous"] * v + terms["rotor"] * a
        assert_agree(judge.torques(state_of(robot, q, v, a)), wanted, relative=1e-9, scale=1.0)


@needs_shared
@pytest.mark.parametrize("path", URDFS, ids=_named(URDFS))
def test_pinocchio_finds_the_identified_numbers_in_a_patched_urdf(path: Path) -> None:
    robot = load_robot(path)
    model = _model(robot)
    done = patch(path, model)
    before, after = (pin.buildModelFromXML(text.decode()) for text in (path.read_bytes(), done.text))
    for k, name in enumerate(after.names):
        assert before.jointPlacements[k] == after.jointPlacements[k]
        if k:
            link = robot.links[robot.joint_names.index(name)].name
            wanted = model.parameters[model.layout.of_link(link)]
            assert_agree(after.inertias[k].toDynamicParameters(), wanted, relative=1e-9, scale=1e-6)
    for limits in ("lowerPositionLimit", "upperPositionLimit", "velocityLimit", "effortLimit"):
        assert np.array_equal(getattr(before, limits), getattr(after, limits))
    for joint, numbers in model.joints.items():
        dof = after.joints[after.getJointId(joint)].idx_v
        assert (after.damping[dof], after.upperDryFrictionLimit[dof]) == (numbers.viscous, numbers.coulomb)
    assert URDF_NUMBERS.sub(b"", done.text) == URDF_NUMBERS.sub(b"", path.read_bytes())
    assert {number.field for number in done.not_carried} == {"offset", "rotor"}
    assert {"Pinocchio"} <= set(done.judges)


@pytest.mark.parametrize("seed", range(8))
def test_random_files_of_all_spellings_are_patched_or_refused_by_their_settings(
    seed: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    file = tmp_path / "arm.xml"
    file.write_text(RandomMjcf(rng, free=seed % 4 == 0).text())
    robot = load_robot(file)
    assert patch(file, Model.of_robot(robot)).text == file.read_bytes()
    model = _model(robot, seed)
    before = mujoco.MjModel.from_xml_path(str(file))
    refused = ""
    try:
        done = patch(file, model)
    except DescriptionError as error:
        refused = error.message
    if refused:
        settings = ("inertiafromgeom", "settotalmass", "boundmass", "boundinertia")
        named = [setting for setting in settings if setting in refused]
        assert len(named) == 1, refused
        assert named[0] in file.read_text()
        return
    after = mujoco.MjModel.from_xml_string(done.text.decode())
    assert differing_arrays(before, after) <= IDENTIFIED | FOLLOWING
    done.save(tmp_path / "patched.xml")
    again = patch(tmp_path / "patched.xml", model)
    assert again.difference == ""


# A result folder of `identify`


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A URDF as people write them."""
    file = tmp_path_factory.mktemp("odd") / "two_link.urdf"
    file.write_bytes(ODD_URDF)
    return file


@pytest.fixture(scope="module")
def fit(odd: Path, tmp_path_factory: pytest.TempPathFactory) -> Identification:
    """What `identify` makes of a short simulated log of an arm whose links are heavier than described."""
    described = load_robot(odd, snap=True)
    truth = _model(described, drive=("viscous", "coulomb"))
    real = load_robot(_written(described, truth, tmp_path_factory.mktemp("real")))
    motion = random_fourier(real, np.random.default_rng(1), period=4.0)
    log = simulate_motion(real, motion, sensor="industrial", rng=np.random.default_rng(1))
    log = Recording(log.joints, log.time, q=log.q, v=log.v, tau=log.tau)
    out = tmp_path_factory.mktemp("result") / "fit"
    return identify(odd, [log], drive="viscous,coulomb", method="wls", cutoff=20.0, out=out)


def _written(robot: Robot, model: Model, folder: Path) -> Path:
    model.save(folder / "real.urdf")
    return folder / "real.urdf"


def test_a_result_folder_changes_the_users_file_and_nothing_else_in_it(
    odd: Path, fit: Identification
) -> None:
    folder = Path(fit.files["record.json"]).parent
    done = sy.patch(odd, folder)
    kept = done.text
    assert kept.count(b"\r\n") == ODD_URDF.count(b"\r\n") + 1, "one line is new, the friction of joint2"
    assert kept.count(b"\n") == kept.count(b"\r\n")
    for piece in (
        b"<!-- from the CAD model -->",
        b"<!-- shoulder -->",
        b"package://two/a.dae",
        b"<!-- the end -->",
    ):
        assert piece in kept
    assert b"<dynamics  friction='" in kept, "order, blanks and quotes stay"
    assert b"\r\n    <dynamics damping=" in kept, "what is put in stands as far in as its neighbours"
    read = Model.of_robot(load_robot(odd.parent / "two_link.urdf"))
    assert read.robot.mass == pytest.approx(load_robot(odd).mass), "nothing is written without --out"
    found = {(number.kind, number.name, number.field) for number in done.changed}
    fields = {"mass", "com", "inertia"}
    assert {(k, n) for k, n, f in found if f in fields} == {("link", "link1"), ("link", "link2")}
    assert {(n, f) for k, n, f in found if k == "joint"} == {
        (joint, term) for joint in ("joint1", "joint2") for term in ("viscous", "coulomb")
    }
    # The line named is the one where the number stood.
    lines = ODD_URDF.split(b"\r\n")
    mass = next(x for x in done.changed if (x.name, x.field) == ("link1", "mass"))
    assert b"<mass" in lines[mass.line - 1]
    assert mass.before == 2.0


def test_what_is_bolted_keeps_its_numbers_and_the_sum_is_the_estimate(odd: Path, fit: Identification) -> None:
    done = fit.patch(odd)
    after = pin.buildModelFromXML(done.text.decode())
    wanted = fit.model.links["link2"]
    total = after.inertias[2].toDynamicParameters()
    # The tool is turned by 1.5708 in the file; the sum is right for whoever reads it so.
    assert_agree(total, wanted.body.parameters, relative=1e-9, scale=1e-3)
    tool = re.compile(rb'<link name="tool">.*?</link>', re.DOTALL)
    assert tool.search(done.text).group() == tool.search(ODD_URDF).group()
    assert [(x.name, x.value) for x in done.untouched] == [("tool", 0.3)]


def test_the_object_and_the_folder_give_the_same_file(odd: Path, fit: Identification, tmp_path: Path) -> None:
    folder = Path(fit.files["record.json"]).parent
    one, other = fit.patch(odd), sy.patch(odd, folder, out=tmp_path / "out.urdf")
    assert one.text == other.text == (tmp_path / "out.urdf").read_bytes()
    assert sy.patch(tmp_path / "out.urdf", folder).difference == "", "patched twice is patched once"
    assert (
        repr(one)
        == f"<PatchedDescription of two_link.urdf: {len(one.changed)} numbers change, 0 not carried>"
    )
    assert one.read_back < 1e-12


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the difference")
def test_the_difference_is_one_that_other_programs_apply(
    odd: Path, fit: Identification, tmp_path: Path
) -> None:
    (tmp_path / "two_link.urdf").write_bytes(ODD_URDF)
    (tmp_path / "change.diff").write_bytes(fit.patch(odd).difference.encode())
    subprocess.run(["git", "apply", "change.diff"], cwd=tmp_path, check=True)
    assert (tmp_path / "two_link.urdf").read_bytes() == fit.patch(odd).text


# Locked joints and free bases


def test_a_locked_joint_stays_a_joint_and_its_link_keeps_its_numbers(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_bytes(ODD_URDF)
    locked = load_robot(file).locked({"joint2": 0.7})
    model = _model(locked)
    write_result(tmp_path / "result", locked, model.layout, model.parameters)
    for result in (model, tmp_path / "result"):
        done = patch(file, result)
        assert {number.name for number in done.changed} == {"link1", "joint1"}
        assert b'<joint name="joint2" type="revolute">' in done.text
        after = load_robot(_file(tmp_path / "after.urdf", done.text)).locked({"joint2": 0.7})
        assert_agree(after.links[0].body.parameters, model.parameters[:10], relative=1e-12, scale=1e-6)


def test_a_free_base_gets_its_numbers_too(tmp_path: Path) -> None:
    file = _file(tmp_path / "free.urdf", new_urdf(replace(zoo_robot("two_link"), base=_weighty("base"))))
    robot = load_robot(file, floating=True)
    done = patch(file, _model(robot))
    assert {number.name for number in done.changed if number.kind == "link"} == {
        link.name for link in robot.links
    }


def _weighty(name: str) -> object:
    return replace(zoo_robot("two_link").base, name=name, own=Body(3.0, [0.0, 0.0, 0.1], 0.1 * np.eye(3)))


def _file(path: Path, text: bytes) -> Path:
    path.write_bytes(text)
    return path


# Refusals: nothing is written


def _shifted(robot: Robot) -> Robot:
    joint = robot.joints[1]
    far = Pose(joint.placement.rotation, joint.placement.translation + np.array([0.0, 0.0, 1e-3]))
    return replace(robot, joints=(robot.joints[0], replace(joint, placement=far)))


def _renamed(robot: Robot) -> Robot:
    return replace(robot, links=(robot.links[0], replace(robot.links[1], name="forearm")))


def _turned(robot: Robot) -> Robot:
    return replace(robot, joints=(replace(robot.joints[0], axis=np.array([0.0, 0.0, 1.0])), robot.joints[1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_renamed, "only the result has 'forearm'; only the description has 'link2'"),
        (_shifted, "its kinematics are not those of the result: joint 'joint2' by 0.001"),
        (_turned, "its kinematics are not those of the result: joint 'joint1' by 1"),
        (
            lambda robot: robot.with_body("load", Body(1.0, [0.0, 0.0, 0.1], np.eye(3))),
            "only the result has 'load'",
        ),
    ],
)
def test_another_robot_is_refused_by_what_differs(change: object, message: str, odd: Path) -> None:
    other = change(load_robot(odd))
    with pytest.raises(InputError, match=re.escape(message)):
        patch(odd, Model.of_robot(other))


def test_an_impossible_link_is_refused(odd: Path) -> None:
    model = _model(load_robot(odd))
    phi = model.parameters.copy()
    phi[0] = -1.0
    with pytest.raises(InputError, match="physically impossible"):
        patch(odd, replace(model, parameters=phi))


def test_what_is_no_result_is_refused(odd: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        patch(odd, tmp_path)
    with pytest.raises(InputError, match="is no folder"):
        patch(odd, odd)
    with pytest.raises(InputError, match="has no file to patch"):
        patch("panda", _model(load_robot(odd)))


def test_files_that_exist_are_kept_unless_told_and_read_only_ones_always(odd: Path, tmp_path: Path) -> None:
    file = _file(tmp_path / "arm.urdf", ODD_URDF)
    model = _model(load_robot(odd))
    with pytest.raises(InputError, match="exists already"):
        patch(file, model, out=file)
    assert file.read_bytes() == ODD_URDF
    file.chmod(0o444)
    with pytest.raises(InputError, match="is read-only"):
        patch(file, model, out=file, force=True)
    assert file.read_bytes() == ODD_URDF
    with pytest.raises(InputError, match="cannot be written to"):
        patch(file, model, out=file / "below.urdf")
    file.chmod(0o644)
    patch(file, model, out=file, force=True)
    assert file.read_bytes() == patch(odd, model).text
    assert sorted(x.name for x in tmp_path.iterdir()) == ["arm.urdf"], "nothing is left beside it"


def test_friction_that_was_not_identified_stays_and_is_named(odd: Path) -> None:
    robot = load_robot(odd)
    layout: Layout = layout_of(robot)
    done = patch(odd, Model(robot, layout, nominal_estimate(np.random.default_rng(2), robot, layout)))
    assert b"<dynamics  friction='0.1'   damping='0.2' />" in done.text
    stays = {(number.name, number.field): number.value for number in done.untouched if number.kind == "joint"}
    assert stays == {("joint1", "viscous"): 0.2, ("joint1", "coulomb"): 0.1}
