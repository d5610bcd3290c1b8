"""A scan is placed by the centre of mass, and a place or a turn that the identified numbers deny is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

from export.object_material import box_mesh, dumbbell_body, dumbbell_mesh
from steelyard.export import object_mesh, placement_findings
from steelyard.inertia import Body
from steelyard.payloads import QUANTITIES
from steelyard.payloads.answer import quantities
from steelyard.pose import Pose

ANGLES = (0.4, -0.7, 1.1)
TRUTH = Pose.from_rpy(ANGLES, (0.03, -0.02, 0.1))
"""How the mesh's frame lies in the object's."""
SHIFT = np.array([0.4, -0.3, 0.2])
"""Where the scanner's frame has the object."""


def _scan(folder: Path, *, cut: int = 0) -> Path:
    own = dumbbell_mesh(24)
    solid = trimesh.Trimesh(own.vertices + SHIFT, own.faces[cut:], process=False)
    solid.export(folder / "scan.ply")
    return folder / "scan.ply"


def _object() -> Body:
    """The dumbbell as the arm has it: turned and moved as the scan's frame says."""
    return dumbbell_body().moved(Pose(np.eye(3), SHIFT)).moved(TRUTH)


def _ends(body: Body, share: float = 0.02, centre: float = 2e-3) -> dict[str, tuple[float, float]]:
    """Intervals about a body: of the centre, m, and of inertias, over the largest of them."""
    values = quantities(body.parameters)
    size = float(np.abs(values[4:]).max())
    half = np.array([0.0, *3 * [centre], *9 * [share * size]])
    low, high = values - half, values + half
    return dict(zip(QUANTITIES, zip(low.tolist(), high.tolist(), strict=True), strict=True))


def _found(findings: object) -> dict[str, object]:
    return {finding.code: finding for finding in findings}


def test_a_scan_of_known_turn_comes_to_lie_where_it_is(tmp_path: Path) -> None:
    body = _object()
    error = np.array([0.6e-3, -0.4e-3, 0.2e-3])
    mesh = object_mesh(_scan(tmp_path), pose=Pose.from_rpy(ANGLES), centre=body.com + error)
    # As the identified centre is off, so is the place; a scan holds 32 bits, and the inscribed polygon is no
    # circle, but about the same middle.
    np.testing.assert_allclose(mesh.pose.translation, TRUTH.translation + error, atol=1e-6)
    np.testing.assert_allclose(mesh.pose.rotation, TRUTH.rotation, atol=1e-12)
    judge = trimesh.Trimesh(mesh.surface.vertices, mesh.surface.faces)
    np.testing.assert_allclose(judge.center_mass, body.com + error, atol=1e-9)
    identified = Body(body.mass, body.com + error, body.inertia)
    found = _found(placement_findings(identified, mesh, _ends(identified), placed=True))
    assert set(found) == {"mesh-placed"}
    assert "uniform density is assumed" in found["mesh-placed"].message
    assert "± x 2, y 2, z 2 mm" in found["mesh-placed"].message
    origin = ", ".join(f"{1e3 * x:.1f}" for x in TRUTH.translation + error)
    assert f"its origin is at {origin} mm" in found["mesh-placed"].message


def test_an_open_scan_is_placed_by_its_hull_and_that_is_said(tmp_path: Path) -> None:
    body = _object()
    mesh = object_mesh(_scan(tmp_path, cut=1), pose=Pose.from_rpy(ANGLES), centre=body.com)
    assert not mesh.solid
    judge = trimesh.Trimesh(mesh.surface.vertices, mesh.surface.faces).convex_hull
    np.testing.assert_allclose(judge.center_mass, body.com, atol=1e-9)
    found = _found(placement_findings(body, mesh, _ends(body), placed=True))
    assert "of its convex hull (it is not closed)" in found["mesh-placed"].message


def test_a_centre_that_is_hardly_known_makes_the_place_a_warning(tmp_path: Path) -> None:
    body = _object()
    mesh = object_mesh(_scan(tmp_path), pose=Pose.from_rpy(ANGLES), centre=body.com)
    for centre, severity in ((0.009, "info"), (0.011, "warning")):
        found = _found(placement_findings(body, mesh, _ends(body, centre=centre), placed=True))
        assert found["mesh-placed"].severity.value == severity


@pytest.mark.parametrize(("off", "severity"), [(1.5e-3, "info"), (2.5e-3, "warning")])
def test_a_stated_place_is_compared_with_the_identified_centre(
    tmp_path: Path, off: float, severity: str
) -> None:
    body = _object()
    aside = Pose(TRUTH.rotation, TRUTH.translation - off * np.eye(3)[1])
    mesh = object_mesh(_scan(tmp_path), pose=aside)
    found = _found(placement_findings(body, mesh, _ends(body), placed=False))
    assert set(found) == {"mesh-centroid"}
    assert found["mesh-centroid"].severity.value == severity
    assert f"lies {1e3 * off:.1f} mm from" in found["mesh-centroid"].message
    assert f"y {-1e3 * off:+.2f}" in found["mesh-centroid"].message


@pytest.mark.parametrize("angle", [10.0, 40.0, 90.0])
def test_a_wrong_turn_is_noticed_where_the_inertia_is_known(tmp_path: Path, angle: float) -> None:
    sides = (0.05, 0.1, 0.2)
    own = box_mesh(sides)
    trimesh.Trimesh(own.vertices, own.faces).export(tmp_path / "it.ply")
    axis = np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5])
    wrong = Rotation.from_rotvec(np.radians(angle) * axis).as_matrix()
    body = own.properties(mass=1.0).body.moved(TRUTH)
    for turn, codes in ((np.eye(3), set()), (wrong, {"axis-misfit"})):
        pose = Pose(turn @ TRUTH.rotation, np.zeros(3))
        mesh = object_mesh(tmp_path / "it.ply", pose=pose, centre=body.com)
        found = _found(placement_findings(body, mesh, _ends(body), placed=True))
        assert set(found) == {"mesh-placed", *codes}
        if codes:
            # A box looks the same after half a turn about each of its axes.
            same = [np.diag(s) for s in ([1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1])]
            R = TRUTH.rotation
            ways = [Rotation.from_matrix(wrong @ R @ s @ R.T).magnitude() for s in same]
            assert f"A turn of {np.degrees(min(ways)):.0f} degrees" in found["axis-misfit"].message
    # Where the inertia is hardly known nothing can be said of the turn, and where the moments disagree it is
    # not the turn that is wrong.
    assert set(_found(placement_findings(body, mesh, _ends(body, 2.0), placed=True))) == {"mesh-placed"}
    heavier = Body(1.0, body.com, 2.0 * body.inertia)
    assert set(_found(placement_findings(heavier, mesh, _ends(heavier), placed=True))) == {"mesh-placed"}
