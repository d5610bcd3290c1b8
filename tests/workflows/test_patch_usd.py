"""`sy.patch` on a USD stage: OpenUSD finds the identified numbers at the links' prims, and no others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export.material import full_layout, nominal_estimate
from oracles.agreement import assert_agree
from robot.patch_material import ODD_URDF
from steelyard.errors import DescriptionError, InputError, MissingExtraError
from steelyard.inertia import Body
from steelyard.model import Model
from steelyard.pose import Pose
from steelyard.robot import Robot, parse_urdf
from steelyard.workflows.patch import patch

pxr = pytest.importorskip("pxr", reason="OpenUSD is not installed", exc_type=ImportError)

from pxr import Gf, Usd, UsdGeom, UsdPhysics  # noqa: E402

ROBOT = parse_urdf(ODD_URDF)


def _stage(path: Path, *, metre: float = 1.0, kilogram: float = 1.0, shift: float = 0.0) -> Path:
    """The robot as an importer writes it: a prim a link, a joint prim a joint, bolted links by themselves."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, metre)
    UsdPhysics.SetStageKilogramsPerUnit(stage, kilogram)
    stage.GetRootLayer().comment = "mine"
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/arm").GetPrim())
    for frame in ROBOT.frames:
        body = ROBOT.own_bodies[frame.name]
        prim = UsdGeom.Xform.Define(stage, f"/arm/{frame.name}").GetPrim()
        UsdPhysics.RigidBodyAPI.Apply(prim)
        if body is not None:
            api, moments, axes = UsdPhysics.MassAPI.Apply(prim), *np.linalg.eigh(body.inertia)
            axes = axes if np.linalg.det(axes) > 0 else axes * [1.0, 1.0, -1.0]
            x, y, z, w = Pose(axes, np.zeros(3)).quaternion
            api.CreateMassAttr(body.mass / kilogram)
            api.CreateCenterOfMassAttr(Gf.Vec3f(*(body.com / metre).tolist()))
            api.CreateDiagonalInertiaAttr(Gf.Vec3f(*(moments / kilogram / metre**2).tolist()))
            api.CreatePrincipalAxesAttr(Gf.Quatf(w, x, y, z))
    for joint, link in zip(ROBOT.joints, ROBOT.links, strict=True):
        made = UsdPhysics.RevoluteJoint.Define(stage, f"/arm/joints/{joint.name}")
        parent = "base" if joint.parent < 0 else ROBOT.links[joint.parent].name
        made.CreateBody0Rel().SetTargets([f"/arm/{parent}"])
        made.CreateBody1Rel().SetTargets([f"/arm/{link.name}"])
        x, y, z, w = joint.placement.quaternion
        place = joint.placement.translation + np.array([shift, 0.0, 0.0])
        made.CreateLocalPos0Attr(Gf.Vec3f(*(place / metre).tolist()))
        made.CreateLocalRot0Attr(Gf.Quatf(w, x, y, z))
        made.CreateAxisAttr("Y")
    stage.GetRootLayer().Save()
    return path


def _read(path: Path, name: str) -> Body:
    """What a stage says of a link, by the schema's own words."""
    stage = Usd.Stage.Open(str(path))
    m, kg = UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage)
    api = UsdPhysics.MassAPI(stage.GetPrimAtPath(f"/arm/{name}"))
    R = np.array(Gf.Matrix3d(api.GetPrincipalAxesAttr().Get())).T
    I = np.diag(np.array(api.GetDiagonalInertiaAttr().Get(), float)) * kg * m**2  # noqa: E741
    com = np.array(api.GetCenterOfMassAttr().Get(), float) * m
    T = R @ I @ R.T
    return Body(api.GetMassAttr().Get() * kg, com, 0.5 * (T + T.T))


def _model(robot: Robot = ROBOT) -> Model:
    layout = full_layout(robot, ("viscous", "coulomb"))
    return Model(robot, layout, nominal_estimate(np.random.default_rng(4), robot, layout))


@pytest.mark.parametrize(
    ("ending", "units"), [(".usda", {}), (".usdc", {"metre": 0.01, "kilogram": 0.001}), (".usd", {})]
)
def test_openusd_finds_what_was_identified(ending: str, units: dict[str, Any], tmp_path: Path) -> None:
    path = _stage(tmp_path / f"arm{ending}", **units)
    before, tool = path.read_bytes(), _read(path, "tool")
    model = _model()
    done = patch(path, model, out=tmp_path / f"out{ending}")
    assert path.read_bytes() == before
    assert done.judges == ("OpenUSD",)
    assert done.read_back < 1e-6
    assert done.findings == ()
    out = tmp_path / f"out{ending}"
    assert out.read_bytes()[:8] == before[:8], "text stays text"
    part = ROBOT.links[1].fixed[0]
    assert np.array_equal(_read(out, "tool").parameters, tool.parameters)
    sums = (_read(out, "link1"), _read(out, "link2") + tool.moved(part.placement))
    for k, whole in enumerate(sums):
        assert_agree(whole.parameters, model.parameters[10 * k : 10 * k + 10], relative=2e-6)
    assert {(x.name, x.field) for x in done.changed} >= {("link1", "mass"), ("link2", "inertia")}
    assert {x.field for x in done.not_carried} == {"viscous", "coulomb"}
    lines = [x for x in done.difference.splitlines() if re.match(r"[-+][^-+]", x)]
    assert lines
    assert all("physics:" in line for line in lines)
    assert patch(out, model).changed == ()
    assert patch(out, model).text == out.read_bytes()


def test_a_scene_that_refers_to_the_robot_states_the_numbers_itself(tmp_path: Path) -> None:
    robot = _stage(tmp_path / "arm.usda")
    before = robot.read_bytes()
    scene = tmp_path / "scene.usda"
    stage = Usd.Stage.CreateNew(str(scene))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.Xform.Define(stage, "/arm").GetPrim().GetReferences().AddReference("./arm.usda")
    stage.GetRootLayer().Save()
    del stage  # whoever holds a stage keeps its layers as they were read
    model = _model()
    patch(scene, model, out=scene, force=True)
    assert robot.read_bytes() == before
    assert_agree(_read(scene, "link1").parameters, model.parameters[:10], relative=2e-6)


def test_another_stage_is_refused_by_what_differs(tmp_path: Path) -> None:
    model = _model()
    with pytest.raises(
        InputError, match=r"its kinematics are not those of the result: joint 'joint1' by 0\.01"
    ):
        patch(_stage(tmp_path / "far.usda", shift=0.01), model)
    text = _stage(tmp_path / "arm.usda").read_text()
    (tmp_path / "other.usda").write_text(text.replace('"link2"', '"forearm"'))
    with pytest.raises(InputError, match="has no prim for the result's links 'link2'"):
        patch(tmp_path / "other.usda", model)
    (tmp_path / "broken.usda").write_text("#usda 1.0\ndef Xform {")
    with pytest.raises(DescriptionError, match="is no USD stage that OpenUSD opens"):
        patch(tmp_path / "broken.usda", model)
    with pytest.raises(DescriptionError, match="there is no such file"):
        patch(tmp_path / "missing.usd", model)


def test_without_openusd_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _stage(tmp_path / "arm.usda")
    monkeypatch.setitem(__import__("sys").modules, "pxr", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'steelyard\[usd\]'"):
        patch(path, _model())
