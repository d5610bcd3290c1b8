"""`steelyard inspect --repair` as a user runs it: what is written, what is said, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import run

INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="{}"/>'
URDF = (
    '<robot name="r">\n<link name="a"/>\n<link name="b">\n<inertial><mass value="2"/>'
    + INERTIA.format(3)
    + '</inertial>\n</link>\n<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>\n'
    + "</robot>\n"
)
BARE = URDF.replace('<inertial><mass value="2"/>' + INERTIA.format(3) + "</inertial>", "")


def test_the_repaired_file_is_written_and_every_change_is_listed(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(URDF)
    result = run("inspect", "r.urdf", "--repair", "fixed.urdf", "--json", cwd=tmp_path)
    assert result.code == 0, result.err
    document = result.document
    assert document["files"] == {"repaired": "fixed.urdf"}
    assert [(change["place"], change["what"]) for change in document["changes"]] == [
        ("r.urdf:4", "the inertia of link 'b'"),
        ("r.urdf:6", "the type of joint 'j'"),
    ]
    assert all(change["reason"] for change in document["changes"])
    assert document["left"] == document["problems"] == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fixed.urdf", "r.urdf"]
    assert (tmp_path / "r.urdf").read_text() == URDF
    again = run("inspect", "fixed.urdf", "--json", cwd=tmp_path).document
    assert again["problems"] == []
    assert again["digest"] == document["digest"]


def test_a_table_says_the_changes_to_people(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(URDF)
    text = run("inspect", "r.urdf", "--repair", "fixed.urdf", cwd=tmp_path).out
    for word in ("r.urdf:6", "revolute", "continuous", "fixed.urdf: written with 2 changes"):
        assert word in text


def test_what_nobody_stated_is_left_with_its_remedy_and_ends_with_one(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(BARE)
    result = run("inspect", "r.urdf", "--repair", "fixed.urdf", "--json", cwd=tmp_path)
    assert result.code == 1
    (left,) = result.document["left"]
    assert (left["code"], left["severity"], left["place"]) == ("missing-inertial", "error", "r.urdf:3")
    assert "State its <inertial>" in left["remedy"]
    assert (tmp_path / "fixed.urdf").exists()
    filled = run("inspect", "r.urdf", "--repair", "full.urdf", "--fill-mass", "2", "--json", cwd=tmp_path)
    assert filled.code == 0
    assert filled.document["mass"] == 2.0


def test_an_existing_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(URDF)
    (tmp_path / "out.urdf").write_text("precious")
    result = run("inspect", "r.urdf", "--repair", "out.urdf", cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert "exists already" in result.err
    assert (tmp_path / "out.urdf").read_text() == "precious"
    assert run("inspect", "r.urdf", "--repair", "out.urdf", "--force", cwd=tmp_path).code == 0
    assert "<robot" in (tmp_path / "out.urdf").read_text()


def test_a_xacro_file_is_expanded_and_repaired(tmp_path: Path) -> None:
    xacro = URDF.replace('name="r"', 'name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"').replace(
        'value="2"', 'value="${1 + 1}"'
    )
    (tmp_path / "r.urdf.xacro").write_text(
        xacro.replace("<link", '<xacro:property name="x" value="1"/><link', 1)
    )
    result = run("inspect", "r.urdf.xacro", "--repair", "fixed.urdf", "--json", cwd=tmp_path)
    assert result.code == 0, result.err
    document = result.document
    assert document["mass"] == 2.0
    lines = (tmp_path / "fixed.urdf").read_text().splitlines()
    for change in document["changes"]:
        file, _, line = change["place"].partition(":")
        assert file == "fixed.urdf"
        assert "<!-- repaired: " in lines[int(line) - 1]
    assert not any("xacro:" in line.replace("xmlns:xacro", "") for line in lines)


BALL = (
    '<mujoco><worldbody><body name="l"><joint name="b" type="ball"/><geom type="sphere" size="1"/></body>'
    "</worldbody></mujoco>"
)
BAD = [
    (("panda", "--repair", "out.urdf"), "robot of the zoo"),
    (("gone.urdf", "--repair", "out.urdf"), "gone.urdf"),
    (("broken.urdf", "--repair", "out.urdf"), "broken.urdf:1"),
    (("page.xml", "--repair", "out.urdf"), "which starts no robot description"),
    (("ball.xml", "--repair", "out.urdf"), "ball.xml: joint 'b' is spherical, which URDF cannot state"),
    (("r.urdf", "--repair", "r.urdf/out.urdf"), "is no folder"),
    (("r.urdf", "--repair", "."), "is a folder"),
    (("r.urdf", "--repair", "out.urdf", "--gravity", "none"), "--gravity"),
    (("r.urdf", "--repair", "out.urdf", "--fill-mass", "-1"), "positive mass"),
    (("r.urdf", "--fill-mass", "1"), "only goes with --repair"),
    (("r.urdf", "--force"), "only goes with --repair"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_ends_with_two_one_message_and_nothing_written(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    (tmp_path / "r.urdf").write_text(URDF)
    (tmp_path / "broken.urdf").write_text("<robot")
    (tmp_path / "page.xml").write_text("<html/>")
    (tmp_path / "ball.xml").write_text(BALL)
    before = sorted(tmp_path.iterdir())
    result = run("inspect", *arguments, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert message in result.complaint
    assert "Traceback" not in result.err
    assert sorted(tmp_path.iterdir()) == before
