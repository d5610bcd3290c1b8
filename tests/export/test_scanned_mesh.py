"""What a scanner writes keeps its look in the asset, and is cut into parts that touch where the mesh is."""

from __future__ import annotations

import io
import json
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
import trimesh
from PIL import Image
from scipy.spatial import ConvexHull
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial, SimpleMaterial

from export.object_material import box_mesh, dumbbell_body, dumbbell_mesh
from steelyard.errors import InputError
from steelyard.export import object_mesh
from steelyard.export.payload_asset import write_object
from steelyard.formats.read_back import ReadBackError
from steelyard.inertia import painted
from steelyard.pose import Pose

BODY = dumbbell_body()
RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (8, 16, 3)).astype(np.uint8)
PICTURE = Image.fromarray(PIXELS)


def _solid(visual: object = None) -> trimesh.Trimesh:
    mesh = dumbbell_mesh(12)
    return trimesh.Trimesh(mesh.vertices, mesh.faces, process=False, visual=visual)


UV = RNG.random((len(_solid().vertices), 2))


def _encoded(kind: str, picture: Image.Image = PICTURE) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, kind)
    return stream.getvalue()


def _glb(path: Path, picture: Image.Image | None = PICTURE, kind: str = "PNG", **material: object) -> Path:
    look = PBRMaterial(baseColorTexture=picture, **material)
    if picture is not None:
        look.baseColorTexture = picture.copy()
        look.baseColorTexture.format = kind
    path.write_bytes(_solid(TextureVisuals(uv=UV, material=look)).export(file_type="glb"))
    return path


def _textured_obj(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    look = SimpleMaterial(image=PICTURE, diffuse=[255, 255, 255, 255])
    _solid(TextureVisuals(uv=UV, material=look)).export(folder / "it.obj")
    return folder / "it.obj"


def _model(folder: Path) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(folder / "object.xml"))


def _codes(findings: object) -> set[str]:
    return {finding.code for finding in findings}


@pytest.mark.parametrize("kind", ["glb", "obj", "ply"])
def test_the_texture_of_a_scan_is_in_mujocos_model_where_it_was(tmp_path: Path, kind: str) -> None:
    if kind == "glb":
        path = _glb(tmp_path / "it.glb")
    elif kind == "obj":
        path = _textured_obj(tmp_path / "scan")
    else:
        path = tmp_path / "it.ply"
        mesh = _solid()
        mesh.vertex_attributes["s"], mesh.vertex_attributes["t"] = UV.astype("f4").T
        content = trimesh.exchange.ply.export_ply(mesh, encoding="ascii", include_attributes=True)
        path.write_bytes(content.replace(b"\nelement", b"\ncomment TextureFile it.png\nelement", 1))
        (tmp_path / "it.png").write_bytes(_encoded("PNG"))
    write_object(tmp_path / "out", BODY, mesh=object_mesh(path))
    model = _model(tmp_path / "out")
    assert model.ntex == 1
    assert np.array_equal(model.tex_data.reshape(PIXELS.shape), PIXELS)
    visual = model.geom("object_visual")
    assert model.mat_texid[visual.matid[0]].max() == 0
    k = int(visual.dataid[0])
    assert model.mesh_texcoordnum[k] == len(UV)
    # Each face corner shows the pixel that its place, from the lower left corner, names.
    faces = model.mesh_facetexcoord[model.mesh_faceadr[k] :][: model.mesh_facenum[k]]
    found = model.mesh_texcoord[faces.ravel()]
    expected = np.column_stack([UV[:, 0], 1.0 - UV[:, 1]])[_solid().faces.ravel()]
    # MuJoCo moves the vertices of a mesh but keeps the order of its faces.
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_urdf_and_sdf_name_a_mesh_whose_material_and_picture_are_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_object(out, BODY, mesh=object_mesh(_glb(tmp_path / "it.glb")))
    for model, path in (("object.urdf", ".//visual/geometry/mesh"), ("object.sdf", ".//visual//uri")):
        item = ElementTree.parse(out / model).find(path)
        name = item.get("filename") or item.text
        (library,) = [x.split()[1] for x in (out / name).read_text().splitlines() if x.startswith("mtllib")]
        (picture,) = [x.split()[1] for x in (out / library).read_text().splitlines() if "map_Kd" in x]
        assert np.array_equal(np.asarray(Image.open(out / picture)), PIXELS)
    # As another program reads it.
    seen = trimesh.load(out / "visual.obj", process=False)
    assert np.array_equal(np.asarray(seen.visual.material.image), PIXELS)
    triangles = seen.vertices[seen.faces].reshape(-1, 3)
    np.testing.assert_allclose(triangles, _solid().vertices[_solid().faces].reshape(-1, 3), atol=1e-7)
    np.testing.assert_allclose(seen.visual.uv[seen.faces], UV[_solid().faces], atol=1e-6)


def test_a_jpeg_is_kept_and_mujoco_gets_it_as_png(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _glb(tmp_path / "it.glb", kind="JPEG")
    assert b"image/jpeg" in path.read_bytes()
    mesh = object_mesh(path)
    write_object(tmp_path / "out", BODY, mesh=mesh)
    kept = (tmp_path / "out" / "texture_1.jpg").read_bytes()
    assert kept in path.read_bytes()
    assert "map_Kd texture_1.jpg" in (tmp_path / "out" / "visual.mtl").read_text()
    shown = _model(tmp_path / "out").tex_data.reshape(PIXELS.shape)
    assert np.array_equal(shown, np.asarray(Image.open(io.BytesIO(kept)).convert("RGB")))
    monkeypatch.setattr(painted, "decoded_picture", lambda content: None)
    without = object_mesh(path)
    assert "texture-not-in-mjcf" in _codes(without.findings) - _codes(mesh.findings)
    write_object(tmp_path / "plain", BODY, mesh=without)
    assert _model(tmp_path / "plain").ntex == 0
    assert (tmp_path / "plain" / "texture_1.jpg").read_bytes() == kept


@pytest.mark.parametrize("kind", ["ply", "glb"])
def test_colours_of_corners_are_kept_and_their_mean_is_said(tmp_path: Path, kind: str) -> None:
    solid = _solid()
    # The left half red, the right half blue: by area alike, as the body is.
    left = solid.vertices[:, 0] < 0
    solid.visual.vertex_colors = np.where(left[:, None], [255, 0, 0, 255], [0, 0, 255, 255])
    solid.export(tmp_path / f"it.{kind}")
    mesh = object_mesh(tmp_path / f"it.{kind}")
    assert "colours-averaged" in _codes(mesh.findings)
    write_object(tmp_path / "out", BODY, mesh=mesh)
    rgba = _model(tmp_path / "out").geom("object_visual").rgba
    # Not exactly a half: the area between has both colours.
    assert rgba[[0, 2]] == pytest.approx([0.5, 0.5], abs=0.02)
    assert rgba[[1, 3]] == pytest.approx([0.0, 1.0])
    urdf = ElementTree.parse(tmp_path / "out" / "object.urdf").find(".//visual/material/color")
    sdf = ElementTree.parse(tmp_path / "out" / "object.sdf").findtext(".//visual/material/diffuse")
    for words in (urdf.get("rgba"), sdf):
        np.testing.assert_allclose([float(x) for x in words.split()], rgba, atol=1e-6)
    lines = (tmp_path / "out" / "visual.obj").read_text().splitlines()
    corners = np.array([x.split()[1:] for x in lines if x.startswith("v ")], dtype=float)
    assert np.array_equal(corners[:, 3:], np.where(corners[:, :1] < 0, [1, 0, 0], [0, 0, 1]))


def test_each_material_of_a_scene_is_a_part_of_its_own(tmp_path: Path) -> None:
    scene = trimesh.Scene()
    for k, color in enumerate(([1.0, 0, 0, 1], [0, 1.0, 0, 0.5])):
        ball = trimesh.creation.icosphere(subdivisions=1, radius=0.03)
        visual = TextureVisuals(material=PBRMaterial(baseColorFactor=color, name=str(k)))
        part = trimesh.Trimesh(ball.vertices, ball.faces, visual=visual, process=False)
        scene.add_geometry(part, transform=trimesh.transformations.translation_matrix([0.1 * k, 0, 0]))
    (tmp_path / "it.glb").write_bytes(scene.export(file_type="glb"))
    write_object(tmp_path / "out", BODY, mesh=object_mesh(tmp_path / "it.glb"))
    model = _model(tmp_path / "out")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(model.geom("object_visual_1").rgba, [1, 0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(model.geom("object_visual_2").rgba, [0, 1, 0, 0.5], atol=0.01)
    apart = data.geom("object_visual_2").xpos - data.geom("object_visual_1").xpos
    np.testing.assert_allclose(apart, [0.1, 0.0, 0.0], atol=1e-6)


def test_a_plain_scan_is_written_as_a_plain_mesh(tmp_path: Path) -> None:
    _solid().export(tmp_path / "it.ply")
    mesh = object_mesh(tmp_path / "it.ply")
    assert _codes(mesh.findings) == {"convex-parts"}
    written = write_object(tmp_path / "out", BODY, mesh=mesh)
    assert not [name for name in written.files if name.endswith((".mtl", ".png"))]


# What is hostile


def _with_json(path: Path, change: object) -> Path:
    """A GLB file whose tree was changed, its lengths right."""
    data = path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    tree = json.loads(data[20 : 20 + length])
    change(tree)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    head = struct.pack("<III", 2, 20 + len(text) + len(rest), len(text))
    path.write_bytes(b"glTF" + head + b"JSON" + text + rest)
    return path


def _huge_png() -> bytes:
    content = bytearray(_encoded("PNG"))
    content[16:24] = struct.pack(">II", 60_000, 60_000)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    return bytes(content)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("../outside.mtl", "", "outside of the mesh's folder"),
        ("/etc/passwd", "", "outside of the mesh's folder"),
        ("..\\outside.mtl", "", "outside of the mesh's folder"),
        ("link.mtl", "", "outside of the mesh's folder"),
        ("it.mtl", "newmtl a\nmap_Kd ../../secret.png\n", "outside of the mesh's folder"),
        ("it.mtl", "newmtl a\nmap_Kd C:\\secret.png\n", "outside of the mesh's folder"),
        ("it.mtl", "newmtl a\nmap_Kd -bm 1 link.png\n", "outside of the mesh's folder"),
        ("it.mtl", "newmtl a\nmap_Kd huge.png\n", "60000 by 60000 pixels"),
        ("it.mtl", "newmtl a\nmap_Kd cut.png\n", "damaged or cut off"),
        ("it.mtl", "newmtl a\nmap_Kd bomb.png\n", "damaged or cut off"),
        ("it.mtl", "newmtl a\nmap_Kd huge.jpg\n", "65535 by 65535 pixels"),
    ],
)
def test_files_outside_and_pictures_that_are_none_are_refused(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    folder = tmp_path / "scan"
    folder.mkdir()
    (tmp_path / "outside.mtl").write_text("newmtl a\nKd 1 0 0\n")
    (tmp_path / "secret.png").write_bytes(_encoded("PNG"))
    (folder / "link.mtl").symlink_to(tmp_path / "outside.mtl")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "huge.png").write_bytes(_huge_png())
    (folder / "cut.png").write_bytes(_encoded("PNG")[:-20])
    bomb = bytearray(_encoded("PNG"))
    rows = zlib.compress(bytes(2**24))
    chunk = b"IDAT" + rows
    start = bomb.index(b"IDAT") - 4
    bomb[start:] = struct.pack(">I", len(rows)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    (folder / "bomb.png").write_bytes(bytes(bomb) + b"\0\0\0\0IEND" + struct.pack(">I", zlib.crc32(b"IEND")))
    jpeg = bytearray(_encoded("JPEG"))
    jpeg[jpeg.index(b"\xff\xc0") + 5 :][:4] = b""
    at = jpeg.index(b"\xff\xc0") + 5
    jpeg[at : at + 4] = b"\xff\xff\xff\xff"
    (folder / "huge.jpg").write_bytes(bytes(jpeg))
    if content:
        (folder / name).write_text(content)
    plain = _solid().export(file_type="obj")
    (folder / "it.obj").write_text(f"mtllib {name}\nusemtl a\nvt 0 0\n{plain}".replace("//", "/1/"))
    if "map_Kd" in content:
        text = (folder / "it.obj").read_text().splitlines()
        faces = [
            " ".join(["f", *(f"{w.split('/')[0]}/1" for w in x.split()[1:])]) if x[:2] == "f " else x
            for x in text
        ]
        (folder / "it.obj").write_text("\n".join(faces))
    with pytest.raises(InputError, match=message):
        object_mesh(folder / "it.obj")
    # Nothing outside is an input of a record either.
    assert all(Path(x).resolve().is_relative_to(folder) for x in painted.companions(folder / "it.obj"))


def test_what_is_missing_or_of_another_kind_is_left_out_and_said(tmp_path: Path) -> None:
    path = _textured_obj(tmp_path / "scan")
    (picture,) = (tmp_path / "scan").glob("*.png")
    (materials,) = (tmp_path / "scan").glob("*.mtl")
    assert painted.companions(path) == (str(materials), str(picture))
    picture.write_bytes(b"RIFF....WEBP")
    assert "texture-left-out" in _codes(object_mesh(path).findings)
    picture.unlink()
    assert "texture-left-out" in _codes(object_mesh(path).findings)
    glb = _glb(tmp_path / "it.glb")

    def outside(tree: dict) -> None:
        tree["images"] = [{"uri": "../../etc/passwd"}]

    mesh = object_mesh(_with_json(glb, outside))
    assert "texture-left-out" in _codes(mesh.findings)
    assert not mesh.files


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.99])
def test_a_truncated_scan_is_refused(tmp_path: Path, share: float) -> None:
    whole = _glb(tmp_path / "it.glb").read_bytes()
    (tmp_path / "it.glb").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(InputError, match=r"it\.glb"):
        object_mesh(tmp_path / "it.glb")


@pytest.mark.parametrize(
    ("writer", "wrong", "message"),
    [
        ("object_mjcf", (b' material="', b' name2="'), "MuJoCo refuses it"),
        ("object_mjcf", (b'contype="0" conaffinity="0"', b'contype="1"'), "shapes that touch"),
    ],
)
def test_an_asset_that_lost_its_look_or_touches_otherwise_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str, wrong: tuple[bytes, bytes], message: str
) -> None:
    from steelyard.export import payload_asset

    honest = getattr(payload_asset, writer)

    def dishonest(description: object) -> object:
        text = honest(description)
        return type(text)(text.content.replace(*wrong), text.findings)

    monkeypatch.setattr(payload_asset, writer, dishonest)
    mesh = object_mesh(_glb(tmp_path / "it.glb"))
    with pytest.raises(ReadBackError, match=message):
        write_object(tmp_path / "out", BODY, mesh=mesh)
    assert [path.name for path in tmp_path.iterdir()] == ["it.glb"]


# Convex parts


def test_the_parts_that_touch_hold_all_of_the_surface_and_far_less_room_than_its_hull(tmp_path: Path) -> None:
    solid = _solid()
    solid.export(tmp_path / "it.ply")
    pose = Pose.from_rpy((0.3, -1.0, 2.0), (0.03, -0.02, 0.1))
    write_object(tmp_path / "out", BODY.moved(pose), mesh=object_mesh(tmp_path / "it.ply", pose=pose))
    model = _model(tmp_path / "out")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    hulls = []
    for k in range(model.ngeom):
        if model.geom_contype[k]:
            mesh = model.geom_dataid[k]
            first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            own = model.mesh_vert[first : first + count]
            hulls.append(ConvexHull(own @ data.geom_xmat[k].reshape(3, 3).T + data.geom_xpos[k]))
    assert len(hulls) > 1
    points = pose.apply(np.vstack([solid.sample(2000, seed=1), solid.vertices]))
    reach = [(points @ h.equations[:, :3].T + h.equations[:, 3]).max(axis=1) for h in hulls]
    assert np.min(reach, axis=0).max() < 1e-6  # MuJoCo keeps meshes in float32
    assert sum(h.volume for h in hulls) < 0.6 * ConvexHull(solid.vertices).volume


def test_how_far_corners_that_were_left_out_stand_out_of_the_parts_is_said(tmp_path: Path) -> None:
    balls = [trimesh.creation.icosphere(subdivisions=4, radius=0.04) for _ in range(2)]
    balls[1].apply_translation([0.2, 0.0, 0.0])
    trimesh.util.concatenate(balls).export(tmp_path / "it.ply")
    mesh = object_mesh(tmp_path / "it.ply")
    assert len(mesh.parts) == 2
    hulls = [ConvexHull(part.vertices).equations for part in mesh.parts]
    points = mesh.surface.vertices
    reach = np.min([(points @ h[:, :3].T + h[:, 3]).max(axis=1) for h in hulls], axis=0).max()
    (said,) = [x.message for x in mesh.findings if x.code == "convex-parts"]
    assert f"up to {1e3 * reach:.2g} mm in front of them" in said


def test_an_open_scan_and_a_convex_one_touch_as_one_hull(tmp_path: Path) -> None:
    solid = _solid()
    trimesh.Trimesh(solid.vertices, solid.faces[1:], process=False).export(tmp_path / "open.ply")
    mesh = object_mesh(tmp_path / "open.ply")
    assert len(mesh.parts) == 1
    (said,) = [x.message for x in mesh.findings if x.code == "mesh-not-watertight"]
    assert "what touches is one convex hull" in said
    box = box_mesh((0.1, 0.2, 0.3))
    trimesh.Trimesh(box.vertices, box.faces).export(tmp_path / "box.ply")
    assert len(object_mesh(tmp_path / "box.ply").parts) == 1
    written = write_object(tmp_path / "out", BODY, mesh=mesh)
    assert "collision.obj" in written.files
