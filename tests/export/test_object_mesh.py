"""The mesh of an object: where it sits, its convex hull, and whether the inertia can belong to it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull, Delaunay

from export.object_material import (
    DUMBBELL_MASS,
    box_mesh,
    dumbbell_body,
    dumbbell_mesh,
    lathe,
    write_obj,
    write_stl,
)
from steelyard.errors import InputError
from steelyard.export.object_mesh import (
    MOST_CORNERS,
    convex_hull,
    fit_findings,
    heights,
    obj_content,
    object_mesh,
    thinned_hull,
)
from steelyard.inertia import Body, Mesh, box
from steelyard.pose import Pose

POSE = Pose.from_rpy((0.3, -1.0, 2.0), (0.03, -0.02, 0.1))
GRID = np.array([p for p in product(np.linspace(-1, 1, 7), repeat=3) if np.abs(p).max() == 1])
ROUND = [(0.05 * np.cos(t), 0.05 * np.sin(t)) for t in np.linspace(-np.pi / 2, np.pi / 2, 13)]
SURFACES = {
    "box": box_mesh((0.1, 0.2, 0.3)),
    "dumbbell": dumbbell_mesh(),
    "ball": lathe(ROUND, 17),
    # Points along edges and on faces that rounding moves a little in and out.
    "grid": Mesh(POSE.apply(GRID * (0.1, 0.2, 0.05)).astype(np.float32), [[0, 1, 2]]),
    "far away": Mesh(dumbbell_mesh().vertices + 10.0, dumbbell_mesh().faces),
}


def _codes(findings: tuple[object, ...]) -> set[str]:
    return {finding.code for finding in findings}


@pytest.mark.parametrize("name", SURFACES)
def test_the_hull_is_closed_faces_outwards_and_has_the_volume_qhull_finds(name: str) -> None:
    points = SURFACES[name].vertices
    hull = convex_hull(points)
    assert hull.edge_defects() == box_mesh((1, 1, 1)).edge_defects()
    weighed = hull.properties(mass=1.0)
    assert not weighed.turned
    assert weighed.volume == pytest.approx(ConvexHull(points - points.mean(axis=0)).volume, rel=1e-9)


@pytest.mark.parametrize("name", SURFACES)
def test_the_hull_holds_every_point_and_its_corners_are_points(name: str) -> None:
    points = SURFACES[name].vertices
    hull = convex_hull(points)
    assert {tuple(v) for v in hull.vertices} <= {tuple(v) for v in points}
    centre = points.mean(axis=0)
    shrunk = centre + (1 - 1e-6) * (points - centre)
    assert (Delaunay(hull.vertices - centre).find_simplex(shrunk - centre) >= 0).all()


def test_the_hull_of_a_box_with_points_inside_is_its_eight_corners() -> None:
    corners = box_mesh((0.1, 0.2, 0.3)).vertices
    inside = np.random.default_rng(0).uniform(-0.04, 0.04, (200, 3))
    hull = convex_hull(np.concatenate((inside, corners)))
    assert len(hull.vertices) == 8
    assert len(hull.faces) == 12


@pytest.mark.parametrize("stretch", [(1.0, 1.0, 1.0), (1.0, 0.1, 0.02)])
def test_a_hull_of_many_corners_is_thinned_from_within_and_loses_little(stretch: tuple[float, ...]) -> None:
    polar = np.linspace(-np.pi / 2, np.pi / 2, 41)
    ball = lathe([(0.05 * np.cos(t), 0.05 * np.sin(t)) for t in polar], 40)
    whole = convex_hull(POSE.apply(ball.vertices * stretch))
    assert len(whole.vertices) > 4 * MOST_CORNERS
    thin = thinned_hull(whole)
    assert len(thin.vertices) <= MOST_CORNERS
    assert {tuple(v) for v in thin.vertices} <= {tuple(v) for v in whole.vertices}
    volumes = [hull.properties(mass=1.0).volume for hull in (whole, thin)]
    assert 0.95 * volumes[0] < volumes[1] < volumes[0]
    assert 0.0 < heights(thin, whole.vertices).max() < 0.02 * 0.05
    assert thinned_hull(thin) is thin


def test_heights_are_those_above_the_faces_of_a_box() -> None:
    hull = convex_hull(box_mesh((0.2, 0.4, 0.6)).vertices)
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (5000, 3))
    expected = (np.abs(points) - (0.1, 0.2, 0.3)).max(axis=1)
    np.testing.assert_allclose(heights(hull, points), expected, atol=1e-14)


def test_a_thinned_hull_is_said_and_its_gap_is_no_reason_to_doubt_a_centre_of_mass(tmp_path: Path) -> None:
    polar = np.linspace(-np.pi / 2, np.pi / 2, 41)
    ball = lathe([(0.05 * np.cos(t), 0.05 * np.sin(t)) for t in polar], 40)
    mesh = object_mesh(write_obj(tmp_path / "it.obj", ball))
    assert _codes(mesh.findings) == {"hull-thinned"}
    assert mesh.gap == pytest.approx(heights(mesh.hull, ball.vertices).max())
    left_out = ball.vertices[heights(mesh.hull, ball.vertices).argmax()]
    edge = Body(0.5, 0.9999 * left_out, 1e-9 * np.eye(3))
    assert fit_findings(edge, mesh) == ()


@pytest.mark.parametrize("suffix", ["binary.stl", "text.stl", "mesh.OBJ"])
def test_a_mesh_is_scaled_and_placed_whatever_file_it_comes_from(tmp_path: Path, suffix: str) -> None:
    own = Mesh(
        np.round(1000 * dumbbell_mesh(12).vertices * 64) / 64, dumbbell_mesh(12).faces
    )  # mm, in float32
    path = tmp_path / suffix
    if suffix.endswith("stl"):
        write_stl(path, own, binary=suffix.startswith("binary"))
    else:
        write_obj(path, own)
    mesh = object_mesh(path, scale=1e-3, pose=POSE)
    expected = own.properties(mass=1e-3).body  # lengths in mm
    found = mesh.surface.properties(mass=1e-3).body
    np.testing.assert_allclose(found.com, POSE.apply(1e-3 * expected.com), atol=1e-15)
    turned = POSE.rotation @ (1e-6 * expected.inertia) @ POSE.rotation.T
    np.testing.assert_allclose(found.inertia, turned, atol=1e-12 * np.abs(turned).max())
    (tmp_path / "again.obj").write_bytes(mesh.seen[0].content)
    again = Mesh.read(tmp_path / "again.obj")
    assert again.properties(mass=1.0).body.inertia == pytest.approx(
        own.properties(mass=1.0).body.inertia, rel=1e-12, abs=1e-9
    )
    assert _codes(mesh.findings) == {"convex-parts"}


def test_an_obj_file_is_kept_to_the_byte_but_for_materials_that_are_missing(tmp_path: Path) -> None:
    path = write_obj(tmp_path / "it.obj", box_mesh((1, 1, 1)))
    whole = path.read_bytes()
    assert object_mesh(path).seen[0].content == whole
    path.write_bytes(b"mtllib it.mtl\n" + whole + b"  usemtl gone\n")
    mesh = object_mesh(path)
    assert mesh.seen[0].content == whole
    assert _codes(mesh.findings) == {"materials-left-out"}


def test_what_is_written_as_obj_reads_back_to_the_same_bits(tmp_path: Path) -> None:
    mesh = Mesh(POSE.apply(dumbbell_mesh(9).vertices), dumbbell_mesh(9).faces)
    (tmp_path / "it.obj").write_bytes(obj_content(mesh))
    again = Mesh.read(tmp_path / "it.obj")
    assert np.array_equal(again.vertices[again.faces], mesh.vertices[mesh.faces])


def test_an_open_mesh_is_kept_with_a_finding_and_still_has_a_hull(tmp_path: Path) -> None:
    whole = box_mesh((0.1, 0.2, 0.3))
    mesh = object_mesh(write_obj(tmp_path / "it.obj", Mesh(whole.vertices, whole.faces[1:])))
    assert _codes(mesh.findings) == {"mesh-not-watertight"}
    assert "3 edges are open" in mesh.findings[0].message
    assert mesh.hull.properties(mass=1.0).volume == pytest.approx(0.006)


def test_a_flat_mesh_and_a_scale_of_nothing_are_refused(tmp_path: Path) -> None:
    flat = Mesh([[0.0, 0, 0.1], [1, 0, 0.1], [0, 1, 0.1], [1, 1, 0.1]], [[0, 1, 2], [1, 3, 2]])
    path = write_obj(tmp_path / "flat.obj", flat)
    with pytest.raises(InputError, match=r"flat\.obj: lies in a plane"):
        object_mesh(path)
    with pytest.raises(InputError, match="scale: must be positive"):
        object_mesh(path, scale=0.0)
    with pytest.raises(InputError, match="No such file"):
        object_mesh(tmp_path / "none.stl")


def test_an_inertia_that_belongs_to_its_mesh_raises_nothing(tmp_path: Path) -> None:
    mesh = object_mesh(write_obj(tmp_path / "it.obj", dumbbell_mesh()), pose=POSE)
    assert fit_findings(dumbbell_body().moved(POSE), mesh) == ()


def test_a_mesh_of_the_wrong_scale_or_place_is_noticed(tmp_path: Path) -> None:
    path = write_obj(tmp_path / "it.obj", dumbbell_mesh())
    body = dumbbell_body()
    assert _codes(fit_findings(body, object_mesh(path, scale=1000.0))) == {"implausible-density"}
    small = _codes(fit_findings(body, object_mesh(path, scale=1e-3)))
    assert small == {"implausible-density", "inertia-exceeds-mesh"}
    aside = Pose(np.eye(3), [0.0, WIDE + 0.012, 0.0])
    (finding,) = fit_findings(body, object_mesh(path, pose=aside))
    assert finding.code == "com-outside-mesh"
    assert "12 mm outside" in finding.message


WIDE = 0.029
"""Half the width of the dumbbell's hull."""


def test_the_spread_of_mass_is_held_against_the_farthest_corner(tmp_path: Path) -> None:
    mesh = object_mesh(write_obj(tmp_path / "it.obj", box_mesh((0.2, 0.2, 0.2))))
    reach = np.sqrt(3) * 0.1
    for spread, expected in ((0.999 * reach, set()), (1.001 * reach, {"inertia-exceeds-mesh"})):
        # Two point masses on a line: mass at the distance `spread` from the centre.
        rod = Body(DUMBBELL_MASS, np.zeros(3), DUMBBELL_MASS * spread**2 * np.diag([0.0, 1.0, 1.0]))
        assert _codes(fit_findings(rod, mesh)) == expected
    assert fit_findings(box((0.2, 0.2, 0.2), mass=1.0), mesh) == ()
