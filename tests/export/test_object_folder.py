"""An asset folder is there whole or not at all, and says what is known of the object."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from export.object_material import dumbbell_body, dumbbell_mesh, write_obj
from steelyard.audit import Check, Status
from steelyard.errors import InputError
from steelyard.export import payload_asset
from steelyard.export.object_mesh import object_mesh
from steelyard.export.payload_asset import OBJECT_NAMES, write_object
from steelyard.formats.read_back import ReadBackError
from steelyard.inertia import PARAMETER_NAMES, Body
from steelyard.robot import read_payload

MODELS = {"object.urdf", "object.xml", "object.sdf", "parameters.json"}
BODY = dumbbell_body()
MASS = 0.5
FLAT = {
    "plate": Body(MASS, np.array([0.1, 0.0, 0.0]), 1e-3 * np.diag([1.0, 2.0, 3.0])),
    "rod": Body(MASS, np.zeros(3), 1e-3 * np.diag([0.0, 1.0, 1.0])),
    "point": Body(MASS, np.array([0.0, 0.2, 0.1]), np.zeros((3, 3))),
}


def _document(folder: Path) -> dict[str, object]:
    return json.loads((folder / "parameters.json").read_text())


def test_it_holds_every_file_and_nothing_else_appears(tmp_path: Path) -> None:
    mesh = object_mesh(write_obj(tmp_path / "it.obj", dumbbell_mesh()))
    out = tmp_path / "deep" / "out"
    written = write_object(out, BODY, mesh=mesh, extra={"report.html": b"<html/>"})
    parts = {f"collision_{k}.obj" for k in range(1, len(mesh.parts) + 1)}
    expected = {*MODELS, "visual.obj", *parts, "report.html"}
    assert set(written.files) == {path.name for path in out.iterdir()} == expected
    assert {finding.code for finding in written.findings} == {"convex-parts"}
    assert {path.name for path in tmp_path.iterdir()} == {"deep", "it.obj"}
    assert set(write_object(tmp_path / "plain", BODY).files) == MODELS


def test_the_same_object_is_written_to_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_object(tmp_path / name, BODY, intervals={"m": (0.9, 0.91)})
    for file in MODELS:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


@pytest.mark.parametrize(
    ("writer", "wrong", "message"),
    [
        ("object_urdf", (b'ixx="', b'ixx="1'), "Pinocchio finds another inertia"),
        (
            "object_urdf",
            (b'<origin xyz="', b'<origin xyz="0.5 0 0" was="'),
            "Pinocchio finds another centre of mass",
        ),
        ("object_urdf", (b"</robot>", b""), "Pinocchio refuses it"),
        ("object_sdf", (b"<mass>", b"<mass>1"), "an XML reader finds another mass"),
        ("object_sdf", (b" 0 0 0</pose>", b" 0 0 1</pose>"), "turns the axes"),
        ("object_sdf", (b"<izz>", b"<izz>wrong"), "object.sdf: cannot be read"),
        ("object_sdf", (b"inertial>", b"inert>"), "has no inertial"),
    ],
)
def test_a_file_that_says_something_else_is_caught_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str, wrong: tuple[bytes, bytes], message: str
) -> None:
    honest = getattr(payload_asset, writer)
    monkeypatch.setattr(payload_asset, writer, lambda description: honest(description).replace(*wrong))
    with pytest.raises(ReadBackError, match=message):
        write_object(tmp_path / "out", BODY)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("stated", "wrong", "message"),
    [
        (b'mass="', b'mass="1', "MuJoCo finds another mass"),
        (b'quat="', b'quat="1', "MuJoCo finds another inertia"),
        (b"<inertial", b"<inert", "MuJoCo refuses it"),
    ],
)
def test_a_wrong_mjcf_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: bytes, wrong: bytes, message: str
) -> None:
    honest = payload_asset.object_mjcf

    def dishonest(description: object) -> object:
        text = honest(description)
        return type(text)(text.content.replace(stated, wrong), text.findings)

    monkeypatch.setattr(payload_asset, "object_mjcf", dishonest)
    with pytest.raises(ReadBackError, match=message):
        write_object(tmp_path / "out", BODY)
    assert list(tmp_path.iterdir()) == []


def test_it_says_which_programs_judged_with_and_without_pinocchio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert write_object(tmp_path / "both", BODY).judges["object.urdf"] == ("MuJoCo", "Pinocchio")
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    judges = write_object(tmp_path / "one", BODY).judges
    assert judges == {"object.urdf": ("MuJoCo",), "object.xml": ("MuJoCo",), "object.sdf": ("an XML reader",)}


@pytest.mark.parametrize("name", FLAT)
def test_flat_thin_and_point_like_objects_are_written_and_what_was_decided_is_said(
    tmp_path: Path, name: str
) -> None:
    written = write_object(tmp_path / "it", FLAT[name])
    codes = {finding.code for finding in written.findings}
    assert "box-thickened" in codes
    assert {finding["code"] for finding in _document(tmp_path / "it")["findings"]} == codes
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "it" / "object.xml"))
    assert model.body_mass[1] == MASS
    assert 2 * model.geom("object_shape").size.min() == pytest.approx(1e-3)
    try:
        mujoco.MjModel.from_xml_path(str(tmp_path / "it" / "object.urdf"))
    except ValueError:
        assert "mujoco-refuses-urdf" in codes


def test_objects_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="body: is physically impossible"):
        write_object(tmp_path / "it", Body(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])))
    with pytest.raises(InputError, match="body: is physically impossible"):
        write_object(tmp_path / "it", Body(-1.0, np.zeros(3), np.eye(3)))
    with pytest.raises(InputError, match="body: has no mass"):
        write_object(tmp_path / "it", Body(0.0, np.zeros(3), np.eye(3)))
    for name in ("", "a b", "../up", "a\x00b", 'a"b'):
        with pytest.raises(InputError, match=r"name: .* is no name"):
            write_object(tmp_path / "it", BODY, name=name)
    assert not (tmp_path / "it").exists()


def test_a_folder_that_holds_something_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        write_object(tmp_path, BODY)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_the_numbers_are_those_of_the_object_and_read_as_a_payload(tmp_path: Path) -> None:
    write_object(tmp_path / "it", BODY, frame="grasp")
    document = _document(tmp_path / "it")
    assert document["frame"] == "grasp"
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps({key: document[key] for key in ("mass", "com", "inertia")}))
    np.testing.assert_allclose(read_payload(payload).parameters, BODY.parameters, rtol=0, atol=1e-18)
    values = {name: number["value"] for name, number in document["numbers"].items()}
    assert list(values) == list(OBJECT_NAMES)
    assert [values[name] for name in PARAMETER_NAMES] == BODY.parameters.tolist()
    assert document["inertia_about_frame"] == BODY.parameters[4:].tolist()
    assert [values[name] for name in "xyz"] == BODY.com.tolist()
    tensor = BODY.inertia
    for i, a in enumerate("xyz"):
        for j, b in enumerate("xyz"):
            if j >= i:
                assert values[f"I{a}{b}_com"] == tensor[i, j]


def test_what_is_known_of_each_number_stands_beside_it(tmp_path: Path) -> None:
    covariance = np.diag([1.0] * 9 + [np.inf])
    write_object(
        tmp_path / "it",
        BODY,
        intervals={"m": (0.9, 0.91), "Izz": (-np.inf, np.inf), "x": (0.0, 0.001)},
        bounds={"m": (0.8, 1.0)},
        decided_by={"m": "data", "Izz": "prior"},
        covariance=covariance,
        checks=[Check("uniform density", Status.WARN, "it is not.", {"chance": 0.01})],
    )
    document = _document(tmp_path / "it")
    m, Izz, x, y = (document["numbers"][name] for name in ("m", "Izz", "x", "y"))
    assert (m["interval95"], m["bounds"], m["decided_by"]) == ([0.9, 0.91], [0.8, 1.0], "data")
    assert (Izz["interval95"], Izz["bounds"], Izz["decided_by"]) == (["-inf", "inf"], None, "prior")
    assert (x["interval95"], x["unit"], y["interval95"]) == ([0.0, 0.001], "m", None)
    assert document["covariance"][9][9] == "inf"
    assert document["checks"] == [
        {"name": "uniform density", "status": "warn", "message": "it is not.", "evidence": {"chance": 0.01}}
    ]


def test_unknown_names_and_ends_out_of_order_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"bounds: unknown number 'mass'.*Valid: m, mx"):
        write_object(tmp_path / "it", BODY, bounds={"mass": (0.0, 1.0)})
    with pytest.raises(InputError, match="intervals: ends of m are not in order"):
        write_object(tmp_path / "it", BODY, intervals={"m": (1.0, 0.0)})
    with pytest.raises(InputError, match="ends of m are not in order"):
        write_object(tmp_path / "it", BODY, intervals={"m": (np.nan, 0.0)})
    assert not (tmp_path / "it").exists()
