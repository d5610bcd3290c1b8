"""Mass properties of meshes: exact for polyhedra, converging for round solids, judged by MuJoCo on links."""

import struct
from pathlib import Path

import mujoco
import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.inertia import Body, Mesh, MujocoPrincipal, box, cylinder, sphere
from steelyard.pose import Pose

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
LINKS = SHARED / "robots" / "lbr_stack" / "meshes" / "med7" / "collision"
DENSITY = 500.0

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
FACES = np.array([[a, b, c] for a, b, c, _ in QUADS] + [[a, c, d] for a, _, c, d in QUADS])


def box_mesh(sides=(0.2, 0.4, 0.6)):
    return Mesh(CORNERS * np.array(sides) / 2, FACES)


def lathe(profile, n):
    """A closed surface of revolution about z; the profile of (radius, z) rises and touches the axis."""
    angles = 2 * np.pi * np.arange(n) / n
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    inner = profile[1:-1]
    rings = [np.column_stack([r * ring, np.full(n, z)]) for r, z in inner]
    vertices = np.concatenate([*rings, [[0, 0, profile[0][1]], [0, 0, profile[-1][1]]]])
    bottom, top = len(inner) * n, len(inner) * n + 1
    faces = []
    for i in range(n):
        j = (i + 1) % n
        faces += [(bottom, j, i), (top, top - 1 - n + i, top - 1 - n + j)]
        for k in range(len(inner) - 1):
            a, b, c, d = k * n + i, k * n + j, (k + 1) * n + j, (k + 1) * n + i
            faces += [(a, b, c), (a, c, d)]
    return Mesh(vertices, np.array(faces))


def textbook_cone(radius, height):
    """Its base in the plane z = 0, its tip on the z-axis."""
    mass = DENSITY * np.pi * radius**2 * height / 3.0
    across = mass * (3.0 / 20.0 * radius**2 + 3.0 / 80.0 * height**2)
    return Body(mass, [0, 0, height / 4.0], np.diag([across, across, 0.3 * mass * radius**2]))


def round_solids(n):
    polar = np.linspace(-np.pi / 2, np.pi / 2, n)
    return {
        "sphere": (
            lathe([(0.3 * np.cos(t), 0.3 * np.sin(t)) for t in polar], n),
            sphere(0.3, density=DENSITY),
        ),
        "cylinder": (
            lathe([(0, -0.2), (0.1, -0.2), (0.1, 0.2), (0, 0.2)], n),
            cylinder(0.1, 0.4, density=DENSITY),
        ),
        "cone": (lathe([(0, 0), (0.1, 0), (0, 0.3)], n), textbook_cone(0.1, 0.3)),
    }


def relative_error(mesh, solid):
    found = mesh.properties(density=DENSITY).body.parameters
    return np.abs(found - solid.parameters).max() / np.abs(solid.parameters).max()


def write_stl(path, mesh, *, binary):
    triangles = mesh.vertices[mesh.faces]
    if binary:
        blocks = [struct.pack("<12fH", 0, 0, 0, *t.ravel(), 0) for t in triangles]
        path.write_bytes(b"solid but binary".ljust(80) + struct.pack("<I", len(blocks)) + b"".join(blocks))
        return
    lines = ["solid it"]
    for t in triangles:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {a!r} {b!r} {c!r}" for a, b, c in t.tolist()]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid it", ""]))


def test_a_box_is_exact():
    found = box_mesh().properties(density=DENSITY)
    assert not found.turned
    assert found.volume == pytest.approx(0.2 * 0.4 * 0.6, rel=1e-14)
    np.testing.assert_allclose(
        found.body.parameters, box((0.2, 0.4, 0.6), density=DENSITY).parameters, atol=1e-14
    )


def test_mass_instead_of_density():
    found = box_mesh().properties(mass=3.0).body
    np.testing.assert_allclose(found.parameters, box((0.2, 0.4, 0.6), mass=3.0).parameters, atol=1e-14)


@pytest.mark.parametrize("name", ["sphere", "cylinder", "cone"])
def test_finer_meshes_of_round_solids_converge_with_the_square_of_the_step(name):
    coarse, fine = (relative_error(*round_solids(n)[name]) for n in (24, 48))
    assert fine < 0.01
    assert 3.5 < coarse / fine < 4.6


def test_moving_the_vertices_moves_the_body():
    mesh, _ = round_solids(12)["cone"]
    X = Pose.from_rpy((0.3, -1.0, 2.0), (3.0, -2.0, 1.0))
    moved = Mesh(X.apply(mesh.vertices), mesh.faces).properties(density=DENSITY).body
    expected = mesh.properties(density=DENSITY).body.moved(X)
    assert moved.mass == pytest.approx(expected.mass, rel=1e-12)
    np.testing.assert_allclose(moved.com, expected.com, atol=1e-12)
    np.testing.assert_allclose(moved.inertia, expected.inertia, atol=1e-12)


def test_faces_that_point_inwards_are_turned_and_it_is_said():
    mesh = box_mesh()
    found = Mesh(mesh.vertices, mesh.faces[:, ::-1]).properties(density=DENSITY)
    assert found.turned
    expected = mesh.properties(density=DENSITY)
    np.testing.assert_allclose(found.body.parameters, expected.body.parameters, atol=1e-15)


def test_a_hollow_is_subtracted():
    outer, inner = box_mesh(), box_mesh((0.1, 0.2, 0.3))
    both = Mesh(
        np.concatenate([outer.vertices, inner.vertices]),
        np.concatenate([outer.faces, inner.faces[:, ::-1] + len(outer.vertices)]),
    )
    found = both.properties(density=DENSITY).body
    expected = box((0.2, 0.4, 0.6), density=DENSITY) - box((0.1, 0.2, 0.3), density=DENSITY)
    np.testing.assert_allclose(found.parameters, expected.parameters, atol=1e-14)


def test_an_open_mesh_is_refused_with_the_number_of_open_edges():
    mesh = box_mesh()
    holed = Mesh(mesh.vertices, mesh.faces[1:])
    assert holed.edge_defects().open == 3
    with pytest.raises(InputError, match="3 edges are open"):
        holed.properties(mass=1.0)


def test_a_face_turned_against_its_neighbours_is_refused():
    mesh = box_mesh()
    faces = mesh.faces.copy()
    faces[0] = faces[0, ::-1]
    with pytest.raises(InputError, match="0 edges are open and 3 join faces that disagree"):
        Mesh(mesh.vertices, faces).properties(mass=1.0)


def test_a_flat_mesh_encloses_nothing():
    vertices = np.array([[0.0, 0, 0.1], [1, 0, 0.1], [0, 1, 0.1], [1, 1, 0.1]])
    faces = np.array([[0, 1, 2], [1, 3, 2], [0, 2, 1], [1, 2, 3]])
    assert Mesh(vertices, faces).edge_defects().open == 0
    with pytest.raises(InputError, match="encloses no volume"):
        Mesh(vertices, faces).properties(mass=1.0)


def test_indices_that_point_nowhere_are_refused():
    with pytest.raises(InputError, match="indices from 0 to 7; 1 are not, the first in face 2"):
        Mesh(CORNERS, [[0, 1, 2], [1, 2, 3], [0, 1, 8]])
    with pytest.raises(InputError, match="no faces"):
        Mesh(CORNERS, np.zeros((0, 3)))


@pytest.mark.parametrize("binary", [True, False])
def test_stl_files_are_read_and_their_corners_merged(tmp_path, binary):
    path = tmp_path / "box.STL"
    write_stl(path, box_mesh((0.25, 0.5, 0.75)), binary=binary)
    mesh = Mesh.read(path)
    assert mesh.vertices.shape == (8, 3)
    body = mesh.properties(mass=1.0).body
    np.testing.assert_allclose(body.parameters, box((0.25, 0.5, 0.75), mass=1.0).parameters, atol=1e-15)


def test_obj_files_are_read_with_polygons_textures_and_counting_from_the_end(tmp_path):
    path = tmp_path / "box.obj"
    lines = [
        "# a box",
        *(f"v {words} # corner" for words in (" ".join(map(str, c)) for c in CORNERS.tolist())),
    ]
    lines += ["f " + " ".join(f"{i + 1}/1/1" for i in quad) for quad in QUADS[:3]]
    lines += ["f " + " ".join(f"{i - 8}//2" for i in quad) for quad in QUADS[3:]]
    path.write_text("\n".join(lines))
    found = Mesh.read(path, scale=0.5).properties(mass=2.0).body
    np.testing.assert_allclose(found.parameters, box((1, 1, 1), mass=2.0).parameters, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.fbx", "fbx", r"cannot read a mesh from a '\.fbx' file.*Valid: \.stl, \.obj"),
        ("a.stl", "nonsense", "neither ASCII nor binary STL"),
        ("a.stl", "solid\nvertex 0 0 zero\n", "line 2: expected 3 coordinates, got '0 0 zero'"),
        ("a.stl", "solid\nvertex 0 0 0\nendfacet", "line 3: a facet does not have three vertices"),
        ("a.stl", "solid\nvertex 0 0 0\n", "ends within a facet"),
        ("a.stl", "solid nothing\nendsolid", "holds no faces"),
        ("a.obj", "v 0 0 0\nf 1 2 3", "line 2: vertex 2 does not exist; 1 are known"),
        ("a.obj", "v 0 0 0\nf 1 1", "line 2: a face needs three corners"),
        ("a.obj", "v 0 0 0\nf a b c", "line 2: 'a' is not a corner"),
        ("a.obj", "v nan 0 0\nf 1 1 1", "not finite"),
    ],
)
def test_malformed_files_are_refused_with_the_line(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        Mesh.read(path)


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(InputError, match=r"none\.stl: cannot be read: No such file"):
        Mesh.read(tmp_path / "none.stl")


@pytest.mark.skipif(not LINKS.is_dir(), reason="the public robot descriptions in ../shared are absent")
@pytest.mark.parametrize("link", range(8))
def test_mujoco_weighs_the_links_of_a_real_robot_the_same(link):
    path = LINKS / f"link_{link}.stl"
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="m" file="{path}" inertia="exact"/></asset><worldbody><body><freejoint/>
        <geom type="mesh" mesh="m" density="{DENSITY}"/></body></worldbody></mujoco>"""
    )
    judge = MujocoPrincipal(
        model.body_mass[1], model.body_ipos[1], model.body_iquat[1], model.body_inertia[1]
    ).to_body()
    body = Mesh.read(path).properties(density=DENSITY).body
    assert body.consistency.strict
    assert body.mass == pytest.approx(judge.mass, rel=1e-5)
    np.testing.assert_allclose(body.com, judge.com, atol=1e-6)
    np.testing.assert_allclose(body.inertia, judge.inertia, atol=1e-5 * np.abs(judge.inertia).max())
