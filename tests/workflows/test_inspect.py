"""`steelyard.inspect` and `repair` from Python: the same as the command; nothing is written unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import run
from steelyard.archive import to_document
from steelyard.errors import InputError
from steelyard.workflows.inspect import inspect, repair
from steelyard.zoo import zoo_robot

BROKEN = """<robot name="broken">
  <link name="base"/>
  <link name="arm"><inertial><mass value="2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="3"/></inertial></link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/></joint>
</robot>
"""


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.urdf").write_text(BROKEN)
    return tmp_path


def test_names_paths_and_robots_give_what_the_command_gives(broken: Path) -> None:
    options = {"lock": {"panda_joint7": 0.5}, "gravity": "none", "velocity": 2.0}
    words = ("--lock", "panda_joint7=0.5", "--gravity", "none", "--velocity", "2.0", "--json")
    document = run("inspect", "panda", *words).document
    for robot in ("panda", zoo_robot("panda")):
        assert to_document(inspect(robot, **options).document) == document
    described = run("inspect", "broken.urdf", "--json")
    for path in ("broken.urdf", broken / "broken.urdf"):
        found = inspect(path)
        assert to_document(found.document) == described.document
        assert (0 if found.ok else 1) == described.code


def test_what_was_found_speaks_for_itself() -> None:
    found = inspect("panda")
    robot = zoo_robot("panda")
    assert [joint.name for joint in found.joints] == list(robot.joint_names)
    assert len(found.links) == len(robot.links) + 1
    assert found.mass == robot.mass
    assert (found.problems, found.files, found.repaired) == (robot.findings, {}, None)
    assert "\n" not in repr(found)
    assert all(name in str(found) for name in robot.joint_names)


def test_a_repair_is_that_of_the_command_and_writes_only_where_it_is_told(broken: Path) -> None:
    done = repair("broken.urdf")
    assert done.files == {}
    assert [path.name for path in broken.iterdir()] == ["broken.urdf"]
    assert done.changes
    assert "\n" not in repr(done)
    assert all(change.what in str(done) for change in done.changes)
    assert done.save(broken / "by_hand" / "arm.urdf") == {"repaired": str(broken / "by_hand" / "arm.urdf")}
    document = run("inspect", "broken.urdf", "--repair", "by_command.urdf", "--json").document
    assert document["changes"] == to_document(done.document["changes"])
    assert (broken / "by_hand" / "arm.urdf").read_bytes() == (broken / "by_command.urdf").read_bytes()
    again = inspect("broken.urdf", repair="by_command.urdf", force=True)
    assert to_document(again.document) == document
    assert repair("broken.urdf", "new.urdf").files == {"repaired": "new.urdf"}
    with pytest.raises(InputError, match="exists already"):
        done.save("new.urdf")


def test_a_robot_that_is_read_already_has_no_file_to_repair(broken: Path) -> None:
    with pytest.raises(InputError, match="--repair: needs the file"):
        inspect(zoo_robot("panda"), repair="out.urdf")
