"""Meshes and shapes: what cannot be reached is reported and never opened; what does not fit is doubted."""

from __future__ import annotations

import math
import os
import socket
from pathlib import Path

import pytest

from steelyard.finding import Finding, Severity
from steelyard.robot import Robot, parse_urdf
from steelyard.robot.descriptions import meshes
from steelyard.robot.descriptions.urdf import load_urdf

CUBE_FACES = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"
WATER = 1000.0


def _text(shapes: str, *, mass: float = 1.0, com: str = "0 0 0", tag: str = "collision") -> str:
    parts = "".join(f"<{tag}>{shape}</{tag}>" for shape in shapes.split("|"))
    return (
        '<robot name="r"><link name="base"/><link name="arm">\n'
        f'<inertial><origin xyz="{com}"/><mass value="{mass!r}"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>\n'
        f'{parts}</link>\n<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>'
        "</robot>"
    )


def _mesh(name: str, scale: str = "1 1 1") -> str:
    return f'<geometry><mesh filename="{name}" scale="{scale}"/></geometry>'


def _in(folder: Path, text: str) -> Robot:
    (folder / "r.urdf").write_text(text)
    return load_urdf(folder / "r.urdf")


def _only(robot: Robot) -> Finding:
    assert len(robot.findings) == 1, robot.findings
    return robot.findings[0]


def _cube(path: Path, side: float = 0.1) -> None:
    corners = [f"v {x} {y} {z}" for z in (0, side) for y in (0, side) for x in (0, side)]
    path.write_text("\n".join(corners) + "\n" + CUBE_FACES)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every mesh file the reader opens."""
    paths: list[Path] = []
    read = meshes.Mesh.read

    def watched(path: Path) -> object:
        paths.append(path)
        return read(path)

    monkeypatch.setattr(meshes.Mesh, "read", watched)
    return paths


@pytest.mark.parametrize("tag", ["collision", "visual"])
def test_a_mesh_that_is_not_there_is_reported_once(tmp_path: Path, tag: str) -> None:
    shapes = "|\n".join([_mesh("meshes/a.stl")] * 3)
    finding = _only(_in(tmp_path, _text(shapes, tag=tag)))
    assert (finding.severity, finding.code, finding.place) == (Severity.WARNING, "mesh-missing", "r.urdf:3")
    assert finding.message == "there is no mesh file 'meshes/a.stl'."


def test_a_text_without_a_folder_has_no_meshes_to_look_for() -> None:
    assert parse_urdf(_text(_mesh("nowhere.stl"))).findings == ()


def test_packages_are_named_once_each_as_information(tmp_path: Path) -> None:
    names = ("package://one/a.stl", "package://one/b.stl", "package://two/a.stl", "model://three/a.stl")
    found = _in(tmp_path, _text("|".join(_mesh(name) for name in names))).findings
    assert {(finding.severity, finding.code) for finding in found} == {(Severity.INFO, "mesh-unresolved")}
    shown = [finding.message.split("'")[1] for finding in found]
    assert shown == ["package://one", "package://two", "model://three"]


@pytest.mark.parametrize("where", ["above", "beside", "ros", "ament"])
def test_a_package_at_hand_is_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[Path], where: str
) -> None:
    package = tmp_path / ("ws/share/arm" if where == "ament" else "ws/arm")
    (package / "meshes").mkdir(parents=True)
    _cube(package / "meshes" / "a.obj")
    folder = {"above": package / "urdf", "beside": tmp_path / "ws" / "other" / "urdf"}.get(
        where, tmp_path / "far"
    )
    folder.mkdir(parents=True)
    if where == "beside":
        (package / "package.xml").write_text("<package/>")
    if where == "ros":
        monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'ws'}")
    if where == "ament":
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ws"))
    found = _in(folder, _text(_mesh("package://arm/meshes/a.obj"))).findings
    assert [finding.code for finding in found if finding.code.startswith("mesh")] == []
    assert opened == [package / "meshes" / "a.obj"]


def test_a_package_is_not_left_and_a_folder_beside_is_none(tmp_path: Path, opened: list[Path]) -> None:
    (tmp_path / "arm" / "urdf").mkdir(parents=True)
    (tmp_path / "plain").mkdir()
    _cube(tmp_path / "secret.obj")
    _cube(tmp_path / "plain" / "a.obj")
    names = (
        "package://arm/../secret.obj",
        "package://arm/missing.obj",
        "package://plain/a.obj",
        "package://../a.obj",
    )
    found = _in(tmp_path / "arm" / "urdf", _text("|".join(_mesh(name) for name in names))).findings
    codes = [finding.code for finding in found]
    assert codes == ["mesh-outside", "mesh-missing", "mesh-unresolved", "mesh-unresolved"]
    assert opened == []


def _secret(tmp_path: Path) -> Path:
    """A description's folder beside a readable mesh it has no business with."""
    folder = tmp_path / "robot"
    (folder / "meshes").mkdir(parents=True)
    _cube(tmp_path / "secret.obj")
    (folder / "link.obj").symlink_to(tmp_path / "secret.obj")
    (folder / "up").symlink_to(tmp_path)
    return folder


@pytest.mark.parametrize(
    "name",
    [
        "../../../../../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "../secret.obj",
        "meshes/../../secret.obj",
        "{outside}/secret.obj",
        "file://{outside}/secret.obj",
        "link.obj",
        "up/secret.obj",
        "../robot_of_another/a.obj",
    ],
)
def test_nothing_outside_the_folder_is_opened(tmp_path: Path, opened: list[Path], name: str) -> None:
    name = name.replace("{outside}", str(tmp_path))
    finding = _only(_in(_secret(tmp_path), _text(_mesh(name), com="9 9 9")))
    assert (finding.severity, finding.code, finding.place) == (Severity.WARNING, "mesh-outside", "r.urdf:3")
    assert "lies outside the description's folder and was not opened" in finding.message
    assert opened == []


def test_a_mesh_inside_the_folder_is_opened_however_it_is_named(tmp_path: Path, opened: list[Path]) -> None:
    folder = _secret(tmp_path)
    _cube(folder / "meshes" / "a.obj")
    for name in ("meshes/a.obj", "meshes/../meshes/a.obj", f"file://{folder}/meshes/a.obj"):
        assert _in(folder, _text(_mesh(name))).findings == ()
    assert opened == [(folder / "meshes" / "a.obj").resolve()] * 3


@pytest.mark.parametrize("name", ["http://example.org/a.stl", "https://example.org/a.stl", "ftp://e/a.obj"])
def test_a_remote_mesh_is_reported_and_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refuse(*_args: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    finding = _only(_in(tmp_path, _text(_mesh(name))))
    assert (finding.code, finding.message) == (
        "mesh-outside",
        f"mesh '{name}' is a remote address; not fetched.",
    )


@pytest.mark.parametrize("name", ["a" * 5000 + ".stl", "a/" * 3000 + "b.stl", "loop/b.stl", "pipe.stl", "."])
def test_a_name_no_file_can_have_is_a_missing_mesh(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe.stl")  # opening it would wait for ever
    finding = _only(_in(tmp_path, _text(_mesh(name))))
    assert finding.code == "mesh-missing"
    assert len(finding.message) < 120


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "neither ASCII nor binary STL"), (b"solid a", "holds no faces"), (b"\xff" * 134, "neither")],
)
def test_a_mesh_that_cannot_be_read_is_reported(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "a.stl").write_bytes(content)
    finding = _only(_in(tmp_path, _text(_mesh("a.stl"))))
    assert (finding.severity, finding.code, finding.place) == (Severity.WARNING, "bad-mesh", "r.urdf:3")
    assert "mesh 'a.stl': " in finding.message
    assert reason in finding.message


def test_a_mesh_that_is_too_large_to_check_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[Path]
) -> None:
    monkeypatch.setattr(meshes, "MAX_MESH_BYTES", 10)
    _cube(tmp_path / "a.obj")
    finding = _only(_in(tmp_path, _text(_mesh("a.obj"))))
    assert (finding.severity, finding.code, opened) == (Severity.INFO, "mesh-not-read", [])


# Each holds one litre, and fits into the box from -h to h.
RADIUS = 0.1 * (3 / (4 * math.pi)) ** (1 / 3)
LITRES = {
    "sphere": (f'<sphere radius="{RADIUS!r}"/>', (RADIUS,) * 3),
    "box": ('<box size="0.2 0.1 0.05"/>', (0.1, 0.05, 0.025)),
    "cylinder": (f'<cylinder radius="0.05" length="{0.4 / math.pi!r}"/>', (0.05, 0.05, 0.2 / math.pi)),
    "capsule": (
        f'<capsule radius="0.05" length="{0.4 / math.pi - 0.2 / 3!r}"/>',
        (0.05, 0.05, 0.2 / math.pi + 0.05 / 3),
    ),
}


@pytest.mark.parametrize("kind", LITRES)
@pytest.mark.parametrize(("mass", "odd"), [(99.9, False), (100.1, True), (0.01001, False), (0.00999, True)])
def test_a_mass_a_hundred_times_off_its_volume_of_water_is_doubted(kind: str, mass: float, odd: bool) -> None:
    found = parse_urdf(_text(f"<geometry>{LITRES[kind][0]}</geometry>", mass=mass), "r.urdf").findings
    assert [finding.code for finding in found] == ["mass-implausible"] * odd
    if odd:
        assert (found[0].severity, found[0].place) == (Severity.WARNING, "r.urdf:2")
        assert found[0].message.startswith(f"link 'arm' is said to weigh {mass:.3g} kg, but its ")
        assert found[0].message.endswith("filled with water would weigh 1 kg.")


@pytest.mark.parametrize("kind", LITRES)
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("turned", [False, True])
def test_a_centre_of_mass_farther_off_than_the_shape_is_long_is_doubted(
    kind: str, axis: int, turned: bool
) -> None:
    shape, half = LITRES[kind]
    # Turned by a quarter about y, the shape's z lies along x; it stands at 5 on every axis.
    rpy = f"0 {math.pi / 2!r} 0" if turned else "0 0 0"
    reach = half[::-1] if turned else half
    diagonal = 2 * math.hypot(*half)
    for factor, odd in ((0.999, False), (1.001, True)):
        com = [5.0, 5.0, 5.0]
        com[axis] -= reach[axis] + factor * diagonal
        placed = f'<origin xyz="5 5 5" rpy="{rpy}"/><geometry>{shape}</geometry>'
        found = parse_urdf(_text(placed, com=" ".join(map(repr, com))), "r.urdf").findings
        assert [finding.code for finding in found] == ["com-outside"] * odd
        if odd:
            assert (found[0].severity, found[0].place) == (Severity.WARNING, "r.urdf:2")
            said = f"of link 'arm' lies {factor * diagonal:.3g} m outside its collision shapes, which measure"
            assert said in found[0].message


def test_shapes_of_one_link_count_together() -> None:
    shape = f"<geometry>{LITRES['sphere'][0]}</geometry>"
    spread = f'<origin xyz="-1 0 0"/>{shape}|<origin xyz="1 0 0"/>{shape}'
    assert parse_urdf(_text(spread, com="2.9 0 0", mass=199.0)).findings == ()
    found = parse_urdf(_text(spread, com="4 0 0", mass=201.0)).findings
    assert [finding.code for finding in found] == ["com-outside", "mass-implausible"]


def test_nothing_is_doubted_where_a_shape_is_unknown() -> None:
    shapes = f"<geometry>{LITRES['sphere'][0]}</geometry>|{_mesh('package://a/b.stl')}"
    assert parse_urdf(_text(shapes, com="9 9 9", mass=1e6)).findings == ()


def test_a_mesh_is_measured_in_the_scale_the_description_states(tmp_path: Path) -> None:
    _cube(tmp_path / "mm.obj", side=100.0)
    assert _in(tmp_path, _text(_mesh("mm.obj", "1e-3 1e-3 1e-3"), mass=1.0)).findings == ()
    assert _in(tmp_path, _text(_mesh("mm.obj", "-1e-3 1e-3 1e-3"), mass=1.0)).findings == ()
    finding = _only(_in(tmp_path, _text(_mesh("mm.obj"), mass=1.0)))
    assert (finding.code, "would weigh 1e+09 kg" in finding.message) == ("mass-implausible", True)
    away = _only(_in(tmp_path, _text(_mesh("mm.obj", "1e-3 1e-3 1e-3"), com="0 0 -0.2")))
    assert (away.code, "lies 0.2 m outside" in away.message) == ("com-outside", True)


def test_an_open_mesh_has_a_place_but_no_volume(tmp_path: Path) -> None:
    _cube(tmp_path / "a.obj")
    content = (tmp_path / "a.obj").read_text()
    (tmp_path / "a.obj").write_text(content[: content.rindex("f ")])
    assert _in(tmp_path, _text(_mesh("a.obj"), mass=1e5)).findings == ()
    assert _only(_in(tmp_path, _text(_mesh("a.obj"), mass=1e5, com="9 0 0"))).code == "com-outside"


def test_absurd_coordinates_neither_overflow_nor_escape(tmp_path: Path) -> None:
    for side in (1e200, 1e307, 1e-200):
        _cube(tmp_path / "a.obj", side=side)
        for scale in ("1 1 1", "1e30 1e30 1e30", "0 0 0"):
            robot = _in(tmp_path, _text(_mesh("a.obj", scale)))
            assert all(finding.severity is not Severity.ERROR for finding in robot.findings)
