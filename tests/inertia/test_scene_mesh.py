"""Meshes of scene formats agree with what other programs read of them, and lose nothing without a word."""

from __future__ import annotations

import sys
from pathlib import Path

import coal
import numpy as np
import pytest
import trimesh

from steelyard.errors import InputError, MissingExtraError
from steelyard.inertia import Mesh

DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2026-01-01</created><modified>2026-01-01</modified>{unit}{up}</asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array><technique_common>
<accessor source="#a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
{faces}</mesh></geometry></library_geometries>
<library_nodes>{nodes}</library_nodes>
<library_visual_scenes><visual_scene id="s"><node id="n"><translate>0 0 10</translate>
<rotate>0 0 1 90</rotate><scale>2 1 1</scale>
<node id="m"><translate>1 0 0</translate><instance_geometry url="#g">{material}</instance_geometry></node>
{more}</node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
TRIANGLES = (
    '<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>'
    "<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>"
)
POLYLIST = (
    '<polylist count="4"><input semantic="VERTEX" source="#v" offset="0"/>'
    "<vcount>3 3 3 3</vcount><p>0 2 1 0 1 3 0 3 2 1 2 3</p></polylist>"
)
UNIT, UP = '<unit name="cm" meter="0.01"/>', "<up_axis>Z_UP</up_axis>"


def _dae(folder: Path, **words: str) -> Path:
    text = {"unit": UNIT, "up": UP, "faces": TRIANGLES, "nodes": "", "material": "", "more": ""} | words
    (folder / "a.dae").write_text(DAE.format(**text))
    return folder / "a.dae"


def _used(mesh: Mesh) -> np.ndarray:
    return np.unique(np.round(mesh.vertices[np.unique(mesh.faces)], 6) + 0.0, axis=0)


@pytest.mark.parametrize("faces", [TRIANGLES, POLYLIST])
def test_a_collada_scene_has_its_nodes_transforms_and_unit(tmp_path: Path, faces: str) -> None:
    corners = np.array([[1.0, 0, 0], [2, 0, 0], [1, 2, 0], [1, 0, 3]])
    # By hand: scaled along x by 2, turned by 90 degrees about z, lifted by 10, in centimetres.
    scaled = corners * [2.0, 1.0, 1.0]
    expected = 0.01 * np.column_stack([-scaled[:, 1], scaled[:, 0], scaled[:, 2] + 10.0])
    path = _dae(tmp_path, faces=faces)
    mesh = Mesh.read(path)
    assert mesh.doubt == ""
    np.testing.assert_allclose(_used(mesh), np.unique(np.round(expected, 6) + 0.0, axis=0), atol=1e-7)
    # Coal takes the numbers of a file for metres, whatever unit it states.
    theirs = 0.01 * np.asarray(coal.MeshLoader().load(str(path), np.ones(3)).vertices())
    np.testing.assert_allclose(theirs.min(axis=0), mesh.vertices.min(axis=0), atol=1e-6)
    np.testing.assert_allclose(theirs.max(axis=0), mesh.vertices.max(axis=0), atol=1e-6)


def test_a_material_that_is_missing_takes_no_shape_along(tmp_path: Path) -> None:
    broken = (
        '<bind_material><technique_common><instance_material symbol="x" target="#nowhere"/>'
        "</technique_common></bind_material>"
    )
    assert len(Mesh.read(_dae(tmp_path, material=broken)).faces) == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"faces": TRIANGLES + TRIANGLES.replace("#v", "#gone")}, "cannot be read"),
        ({"more": '<node id="k"><instance_geometry url="#gone"/></node>'}, "cannot be read"),
        ({"more": '<node id="k"><instance_controller url="#c"/></node>'}, "cannot be read"),
        ({"unit": '<unit meter="0"/>'}, "unit of 0 m"),
        ({"up": "<!DOCTYPE x>"}, "document type"),
        ({"faces": ""}, "cannot be read|no faces"),
    ],
)
def test_faces_that_would_be_lost_are_refused(tmp_path: Path, words: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Mesh.read(_dae(tmp_path, **words))


def test_nodes_that_show_each_other_billions_of_times_are_refused_soon(tmp_path: Path) -> None:
    names = [f"l{k}" for k in range(30)]
    ordered = [f'<node id="{a}">' for a in names]
    nodes = '<node id="end"/>' + "".join(
        f'{head}<instance_node url="#{b}"/><instance_node url="#{b}"/></node>'
        for head, b in reversed(list(zip(ordered, [*names[1:], "end"], strict=True)))
    )
    with pytest.raises(InputError, match="shows more than"):
        Mesh.read(_dae(tmp_path, nodes=nodes, more='<instance_node url="#l0"/>'))


@pytest.mark.parametrize("up", ["<up_axis>Y_UP</up_axis>", ""])
def test_a_file_with_another_axis_up_is_read_as_coal_reads_it_and_doubted(tmp_path: Path, up: str) -> None:
    path = _dae(tmp_path, up=up, unit="")
    mesh = Mesh.read(path)
    assert "Y points up" in mesh.doubt
    theirs = np.asarray(coal.MeshLoader().load(str(path), np.ones(3)).vertices())
    np.testing.assert_allclose(theirs.max(axis=0), mesh.vertices.max(axis=0), atol=1e-6)


@pytest.mark.parametrize("kind", ["ply", "glb"])
def test_ply_and_glb_are_read_back_as_trimesh_wrote_them(tmp_path: Path, kind: str) -> None:
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    pose = trimesh.transformations.rotation_matrix(0.3, [1, 2, 3], [0.1, 0, 0])
    scene = trimesh.Scene()
    scene.add_geometry(box, transform=pose)
    (box.copy().apply_transform(pose) if kind == "ply" else scene).export(tmp_path / f"a.{kind}")
    mesh = Mesh.read(tmp_path / f"a.{kind}")
    expected = trimesh.transform_points(box.vertices, pose)
    np.testing.assert_allclose(_used(mesh).min(axis=0), expected.min(axis=0), atol=1e-6)
    np.testing.assert_allclose(_used(mesh).max(axis=0), expected.max(axis=0), atol=1e-6)
    assert bool(mesh.doubt) == (kind == "glb")
    whole = (tmp_path / f"a.{kind}").read_bytes()
    for cut in (10, len(whole) // 2, len(whole) - 3):
        (tmp_path / f"b.{kind}").write_bytes(whole[:cut])
        with pytest.raises(InputError):
            Mesh.read(tmp_path / f"b.{kind}")


@pytest.mark.parametrize(("kind", "module"), [("dae", "collada"), ("ply", "trimesh")])
def test_without_the_library_its_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # type: ignore[arg-type]
    (tmp_path / f"a.{kind}").write_text("x")
    with pytest.raises(MissingExtraError, match=r"steelyard\[meshes\]"):
        Mesh.read(tmp_path / f"a.{kind}")
