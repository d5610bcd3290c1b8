"""Pieces of a mesh hold all of it, and are used where its hull is too fat."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull

import steelyard as sy
from oracles.pinocchio_meshes import NEAR, MeshJudge
from shared_material import ROBOTS, needs_shared
from steelyard.finding import Finding, Severity
from steelyard.inertia import Mesh
from steelyard.limits import Scene, clearance_of
from steelyard.limits.decomposition import _outer, convex_pieces
from steelyard.limits.parts import MANY, covering_core, gather
from steelyard.workflows.excitation import DesignedMotion


def _dumb_bell(turn: np.ndarray | None = None) -> Mesh:
    """Two plates on a rod, as one closed surface: the profile turned about an axis, and moved."""
    profile = [[0, -0.2], [0.08, -0.2], [0.08, -0.16], [0.02, -0.16], [0.02, 0.16], [0.08, 0.16], [0.08, 0.2]]
    solid = trimesh.creation.revolve(np.array([*profile, [0, 0.2]]), sections=64)
    if turn is not None:
        solid.apply_transform(turn)
    return Mesh(solid.vertices, solid.faces)


def _points_of(mesh: Mesh, turn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Vertices, points of faces, and points inside."""
    corners = mesh.vertices[mesh.faces]
    on = np.einsum("kc,kcd->kd", rng.dirichlet(np.ones(3), len(corners)), corners)
    z = rng.uniform(-0.2, 0.2, 500)
    r = 0.99 * np.where(np.abs(z) > 0.16, 0.08, 0.02) * np.sqrt(rng.random(500))
    way = rng.uniform(0.0, 2.0 * np.pi, 500)
    inside = np.column_stack([r * np.cos(way), r * np.sin(way), z])
    return np.vstack([mesh.vertices, on, trimesh.transform_points(inside, turn)])


def _outside(points: np.ndarray, pieces: list[np.ndarray]) -> float:
    """How far the point that is worst held lies beyond the nearest piece's hull."""
    planes = [ConvexHull(piece).equations for piece in pieces]
    return float(np.min([(points @ e[:, :3].T + e[:, 3]).max(axis=1) for e in planes], axis=0).max())


@pytest.mark.parametrize("seed", range(2))
def test_every_point_of_surface_and_inside_lies_in_a_piece_and_its_core(seed: int) -> None:
    rng = np.random.default_rng(seed)
    turn = trimesh.transformations.random_rotation_matrix(rng.random(3))
    mesh = _dumb_bell(turn)
    pieces = convex_pieces(mesh)
    points = _points_of(mesh, turn, rng)
    assert len(pieces) > 1
    assert _outside(points, pieces) < 1e-12
    cores = [covering_core(piece) for piece in pieces]
    reach = [_outside_one(points, ConvexHull(core.points).equations) - core.radius for core in cores]
    assert np.min(reach, axis=0).max() < 1e-9
    assert sum(ConvexHull(piece).volume for piece in pieces) < 0.75 * ConvexHull(mesh.vertices).volume


def _outside_one(points: np.ndarray, planes: np.ndarray) -> np.ndarray:
    return np.asarray((points @ planes[:, :3].T + planes[:, 3]).max(axis=1))


def test_a_convex_mesh_and_one_with_a_hole_are_not_cut() -> None:
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    assert len(convex_pieces(Mesh(box.vertices, box.faces))) == 1
    whole = _dumb_bell()
    assert len(convex_pieces(Mesh(whole.vertices, whole.faces[1:]))) == 1


def test_pieces_and_cores_are_the_same_to_the_bit_with_and_without_what_is_kept_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = _dumb_bell()
    ball = trimesh.creation.icosphere(subdivisions=4).vertices
    assert len(ball) > MANY
    answers = []
    for folder in ("one", "one", "other"):
        monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / folder))
        core = covering_core(ball)
        answers.append([*convex_pieces(mesh), core.points, core.normals, core.edges, np.array(core.radius)])
    for again in answers[1:]:
        assert [x.tobytes() for x in again] == [x.tobytes() for x in answers[0]]
    kept = sorted(file.name.partition("-")[0] for file in (tmp_path / "one" / "arrays").iterdir())
    assert kept == ["core", "pieces"]


def test_points_that_lie_inside_are_left_out_and_none_of_the_hull() -> None:
    rng = np.random.default_rng(1)
    points = np.vstack([rng.uniform(-1.0, 1.0, (3000, 3)), trimesh.creation.box((2.0, 2.0, 2.0)).vertices])
    outer = _outer(points @ np.diag([0.1, 1.0, 3.0]))
    assert len(outer) < len(points) / 2
    assert ConvexHull(outer).volume == pytest.approx(8.0 * 0.3, rel=1e-12)


LINK = """<link name="{name}"><inertial><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
<collision><geometry><mesh filename="bell.stl"/></geometry></collision></link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="base"/><child link="{child}"/>
<origin xyz="{at}"/><axis xyz="1 0 0"/><limit lower="{low}" upper="{high}" velocity="2" effort="50"/>
</joint>"""


@pytest.fixture
def bells(tmp_path: Path) -> Path:
    """Two dumb-bells beside each other: the plates of one reach between those of the other."""
    mesh = _dumb_bell()
    trimesh.Trimesh(mesh.vertices, mesh.faces).export(tmp_path / "bell.stl")
    joints = [
        JOINT.format(name="a", kind="revolute", child="one", at="0 0 0", low=-0.4, high=0.4),
        JOINT.format(name="b", kind="prismatic", child="two", at="0.14 0 0.2", low=-0.02, high=0.2),
    ]
    links = [LINK.format(name=name) for name in ("one", "two")]
    text = "\n".join(['<robot name="bells"><link name="base"/>', *links, *joints, "</robot>"])
    (tmp_path / "bells.urdf").write_text(text)
    return tmp_path / "bells.urdf"


def test_pieces_stand_in_for_hulls_that_meet_where_the_meshes_do_not(bells: Path) -> None:
    robot = sy.load(bells)
    clearance = clearance_of(robot)
    assert all(" piece " in name for name in clearance.names)
    judge = MeshJudge(bells, [bells.parent], robot, clearance.pairs, clearance.excluded)
    rng = np.random.default_rng(0)
    q = rng.uniform([-0.4, -0.02], [0.4, 0.2], (30, 2))
    ours = clearance.distances(q).min(axis=1)
    meshes = np.array([judge.distances(x).min() for x in q])
    hulls = np.array([judge.hull_distances(x).min() for x in q])
    # Never farther apart than the meshes, and free at positions at which their hulls meet.
    near = hulls < NEAR
    assert (ours <= meshes + 1e-9)[near].all()
    assert ((ours > 0.0) & (hulls <= 0.0)).any()


def test_a_motion_designed_with_meshes_stays_clear_as_pinocchio_reads_them(bells: Path) -> None:
    found = sy.excite(bells, rounds=1, period=4.0, floor="none", tool="none")
    assert isinstance(found, DesignedMotion)
    assert found.certified, found.reason
    clearance = found.limits.clearance
    assert clearance is not None
    judge = MeshJudge(bells, [bells.parent], found.robot, clearance.pairs, clearance.excluded)
    proven = found.limits.distance + found.proven["clearance"]["margin"]
    q = found.motion.sample(np.linspace(0.0, 4.0, 2001)).q
    assert min(judge.distances(x).min() for x in q) >= proven - 1e-9
    assert min(judge.hull_distances(x).min() for x in q) < 0.0


@needs_shared
def test_meshes_of_a_public_arm_are_counted_or_named_as_missing() -> None:
    file = ROBOTS / "lbr_stack" / "med7.urdf"
    findings: list[Finding] = []
    robot = sy.load(file, package_path=f"lbr_description={file.parent}")
    parts, _, _ = gather(robot, Scene(), (), None, findings)
    assert len({part.owner for part in parts}) == 8
    assert not [x for x in findings if x.severity is not Severity.INFO]
    missing = [x for x in clearance_of(sy.load(file)).findings if x.code == "unchecked-shape"]
    assert len(missing) == 8
    assert all("package 'lbr_description' was not found" in x.message for x in missing)
