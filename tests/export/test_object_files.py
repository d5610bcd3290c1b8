"""URDF, MJCF and SDF of an object say the same inertia and shapes, judged by the programs that read them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from export.object_material import dumbbell_body, dumbbell_mesh, write_obj, write_stl
from steelyard.export.object_mesh import convex_hull, heights, object_mesh
from steelyard.export.payload_asset import write_object
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.pose import Pose

POSE = Pose.from_rpy((0.3, -1.0, 2.0), (0.03, -0.02, 0.1))
UPRIGHT = Pose.from_rpy((0.7, np.pi / 2, 0.0), (0.0, 0.01, 0.0))  # roll and yaw about the same axis
BODIES = {
    "light": random_body(np.random.default_rng(1)),
    "other": random_body(np.random.default_rng(2)),
    "dumbbell": dumbbell_body(),
    "placed dumbbell": dumbbell_body().moved(POSE),
    "bead": Body(1e-3, np.array([0.5, 0.0, -0.1]), 1e-9 * np.diag([1.0, 1.1, 1.2])),
    "boulder": Body(
        2e3, np.array([-3.0, 4.0, 1.0]), 1e3 * np.array([[3, 0.5, 0.1], [0.5, 2.5, -0.2], [0.1, -0.2, 2]])
    ),
}


def _assert_same(found: tuple[float, np.ndarray, np.ndarray], body: Body) -> None:
    mass, com, inertia = found
    size = np.abs(body.inertia).max()
    assert mass == pytest.approx(body.mass, rel=1e-12)
    np.testing.assert_allclose(
        com, body.com, rtol=0, atol=1e-12 * (np.linalg.norm(body.com) + np.sqrt(size / body.mass))
    )
    np.testing.assert_allclose(inertia, body.inertia, rtol=0, atol=1e-12 * size)


def _by_pinocchio(path: Path) -> tuple[float, np.ndarray, np.ndarray]:
    model = pin.buildModelFromUrdf(str(path))
    inertia = model.inertias[1]
    return inertia.mass, inertia.lever, inertia.inertia


def _by_mujoco(path: Path) -> tuple[float, np.ndarray, np.ndarray]:
    model = mujoco.MjModel.from_xml_path(str(path))
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[1])
    R = R.reshape(3, 3)
    return model.body_mass[1], model.body_ipos[1], R @ np.diag(model.body_inertia[1]) @ R.T


def _by_drake(path: Path) -> tuple[float, np.ndarray, np.ndarray]:
    plant_module = pytest.importorskip("pydrake.multibody.plant", reason="Drake is not installed")
    from pydrake.multibody.parsing import Parser

    plant = plant_module.MultibodyPlant(0.0)
    (instance,) = Parser(plant).AddModels(str(path))
    plant.Finalize()
    (index,) = plant.GetBodyIndices(instance)
    M = plant.get_body(index).default_spatial_inertia()
    com = M.get_com()
    return M.get_mass(), com, M.Shift(com).CalcRotationalInertia().CopyToFullMatrix3()


@pytest.mark.parametrize("name", BODIES)
def test_every_reader_finds_the_same_inertia(tmp_path: Path, name: str) -> None:
    body = BODIES[name]
    write_object(tmp_path / "it", body, name="thing-1")
    _assert_same(_by_pinocchio(tmp_path / "it" / "object.urdf"), body)
    for file in ("object.urdf", "object.xml"):
        _assert_same(_by_mujoco(tmp_path / "it" / file), body)


@pytest.mark.parametrize("file", ["object.urdf", "object.xml"])
def test_mujoco_lets_it_fall(tmp_path: Path, file: str) -> None:
    write_object(tmp_path / "it", BODIES["other"])
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "it" / file))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.qacc[:3], [0.0, 0.0, -9.81], atol=1e-9)


def test_pinocchio_lets_it_fall(tmp_path: Path) -> None:
    write_object(tmp_path / "it", BODIES["other"])
    model = pin.buildModelFromUrdf(str(tmp_path / "it" / "object.urdf"))
    data = model.createData()
    a = pin.aba(model, data, pin.neutral(model), np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(a[:3], [0.0, 0.0, -9.81], atol=1e-9)


@pytest.mark.parametrize("file", ["object.sdf", "object.urdf"])
@pytest.mark.parametrize("name", ["other", "placed dumbbell"])
def test_drake_finds_the_same_inertia(tmp_path: Path, file: str, name: str) -> None:
    mesh = object_mesh(write_obj(tmp_path / "it.obj", dumbbell_mesh()), pose=POSE)
    write_object(tmp_path / "it", BODIES[name], mesh=mesh)
    _assert_same(_by_drake(tmp_path / "it" / file), BODIES[name])


def test_the_sdf_states_each_entry_of_the_tensor_by_its_name(tmp_path: Path) -> None:
    body = BODIES["boulder"]
    write_object(tmp_path / "it", body)
    link = ElementTree.parse(tmp_path / "it" / "object.sdf").find("model/link")
    for i, a in enumerate("xyz"):
        for j, b in enumerate("xyz"):
            if j >= i:
                assert float(link.findtext(f"inertial/inertia/i{a}{b}")) == body.inertia[i, j]
    assert float(link.findtext("inertial/mass")) == body.mass
    assert [float(x) for x in link.findtext("inertial/pose").split()] == [*body.com, 0, 0, 0]


def _mujoco_corners(model: mujoco.MjModel, part: str) -> np.ndarray:
    """Corners of mesh geoms whose names begin so, in the world, as MuJoCo placed them, in some order."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found = []
    for item in (model.geom(k) for k in range(model.ngeom)):
        if item.name.startswith(part):
            k = int(item.dataid[0])
            first, count = model.mesh_vertadr[k], model.mesh_vertnum[k]
            R = data.geom_xmat[item.id].reshape(3, 3)
            found.append(model.mesh_vert[first : first + count] @ R.T + data.geom_xpos[item.id])
    return np.vstack(found)


def _assert_same_hull(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """No point lies outside the hull of the expected ones, and each of its corners is there."""
    hull = convex_hull(expected)
    assert heights(hull, found).max() < tolerance
    gaps = np.linalg.norm(found[:, None] - hull.vertices[None], axis=2)
    assert gaps.min(axis=0).max() < tolerance


def _assert_same_points(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Each point of one set has one of the other next to it, and back."""
    gaps = np.linalg.norm(found[:, None] - expected[None], axis=2)
    assert gaps.min(axis=1).max() < tolerance
    assert gaps.min(axis=0).max() < tolerance


@pytest.mark.parametrize("pose", [POSE, UPRIGHT], ids=["tilted", "upright"])
def test_mujoco_sees_and_touches_the_mesh_where_it_is(tmp_path: Path, pose: Pose) -> None:
    own = dumbbell_mesh(16)
    path = write_stl(tmp_path / "it.stl", type(own)(1000 * own.vertices, own.faces), binary=True)
    write_object(
        tmp_path / "it",
        dumbbell_body().moved(pose),
        mesh=object_mesh(path, scale=1e-3, pose=pose),
        name="bell",
    )
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "it" / "object.xml"))
    expected = pose.apply(own.vertices)
    _assert_same_points(
        _mujoco_corners(model, "bell_visual"), expected, 1e-7
    )  # MuJoCo keeps meshes in float32
    _assert_same_hull(_mujoco_corners(model, "bell_collision"), expected, 1e-7)
    assert model.geom("bell_visual").contype[0] == model.geom("bell_visual").conaffinity[0] == 0
    assert model.ngeom > 2, "a dumbbell is no convex body"
    assert all(model.geom(f"bell_collision_{k}").contype[0] == 1 for k in range(1, model.ngeom))


@pytest.mark.parametrize("pose", [POSE, UPRIGHT], ids=["tilted", "upright"])
def test_pinocchio_sees_and_touches_the_mesh_where_it_is(tmp_path: Path, pose: Pose) -> None:
    own = dumbbell_mesh(16)
    mesh = object_mesh(write_obj(tmp_path / "it.obj", own), pose=pose)
    folder = tmp_path / "it"
    write_object(folder, dumbbell_body().moved(pose), mesh=mesh)
    model = pin.buildModelFromUrdf(str(folder / "object.urdf"))
    expected = pose.apply(own.vertices)
    for kind in (pin.GeometryType.VISUAL, pin.GeometryType.COLLISION):
        items = pin.buildGeomFromUrdf(
            model, str(folder / "object.urdf"), kind, package_dirs=[str(folder)]
        ).geometryObjects
        placed = np.vstack(
            [
                item.geometry.vertices() * item.meshScale @ item.placement.rotation.T
                + item.placement.translation
                for item in items
            ]
        )
        if kind == pin.GeometryType.VISUAL:
            _assert_same_points(placed, expected, 1e-7)
        else:
            assert len(items) > 1
            _assert_same_hull(placed, expected, 1e-7)


def test_the_sdf_places_its_meshes_as_the_urdf_does(tmp_path: Path) -> None:
    mesh = object_mesh(write_obj(tmp_path / "it.obj", dumbbell_mesh()), scale=0.5, pose=POSE)
    write_object(tmp_path / "it", dumbbell_body(), mesh=mesh)
    sdf = ElementTree.parse(tmp_path / "it" / "object.sdf").find("model/link")
    urdf = ElementTree.parse(tmp_path / "it" / "object.urdf").find("link[inertial]")
    for part in ("visual", "collision"):
        theirs, ours = sdf.findall(part), urdf.findall(part)
        assert len(theirs) == len(ours) == (1 if part == "visual" else len(mesh.parts))
        for one, other in zip(theirs, ours, strict=True):
            stated, origin = other.find("geometry/mesh"), other.find("origin")
            assert one.findtext("geometry/mesh/uri") == stated.get("filename")
            assert (tmp_path / "it" / stated.get("filename")).is_file()
            assert one.findtext("geometry/mesh/scale") == stated.get("scale")
            assert one.findtext("pose") == f"{origin.get('xyz')} {origin.get('rpy')}"
        assert len({one.get("name") for one in theirs}) == len(theirs)


def test_without_a_mesh_all_formats_carry_the_box_that_moves_like_the_object(tmp_path: Path) -> None:
    body = BODIES["other"]
    write_object(tmp_path / "it", body, name="box")
    geom = mujoco.MjModel.from_xml_path(str(tmp_path / "it" / "object.xml")).geom("box_shape")
    judge = pin.Inertia.FromBox(body.mass, *(2 * geom.size))
    R = pin.Quaternion(geom.quat[0], *geom.quat[1:]).matrix()
    _assert_same((judge.mass, geom.pos, R @ judge.inertia @ R.T), body)
    sdf = ElementTree.parse(tmp_path / "it" / "object.sdf").find("model/link")
    urdf = ElementTree.parse(tmp_path / "it" / "object.urdf").find("link[inertial]")
    for part in ("visual", "collision"):
        sides = [float(x) for x in sdf.findtext(f"{part}/geometry/box/size").split()]
        np.testing.assert_allclose(sides, 2 * geom.size, rtol=1e-12)
        assert urdf.find(f"{part}/geometry/box").get("size").split() == [repr(x) for x in sides]
        *place, roll, pitch, yaw = (float(x) for x in sdf.findtext(f"{part}/pose").split())
        origin = urdf.find(f"{part}/origin")
        assert [float(x) for x in origin.get("rpy").split()] == [roll, pitch, yaw]
        np.testing.assert_allclose(place, geom.pos, rtol=0, atol=1e-15)
        np.testing.assert_allclose(pin.rpy.rpyToMatrix(roll, pitch, yaw), R, atol=1e-12)
