"""`steelyard inspect` and `identify` say when nobody could have built what is described."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.running import run
from steelyard.inertia import Body
from steelyard.motion import random_fourier
from steelyard.recording import write
from steelyard.robot import Robot
from steelyard.robot.descriptions.urdf import urdf_text
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot


def with_masses(robot: Robot, factor: float) -> Robot:
    """The same robot without shapes, every link heavier by a factor; its torques at rest by the same."""
    links = [
        replace(link, own=Body.from_parameters(factor * link.body.parameters), fixed=(), collision=())
        for link in robot.links
        if link.body is not None
    ]
    return replace(robot, links=tuple(links), tool=None)


@pytest.mark.parametrize(("factor", "code"), [(1.0, 0), (150.0, 1)])
def test_an_arm_of_two_tonnes_is_not_called_sound(tmp_path: Path, factor: float, code: int) -> None:
    file = tmp_path / "panda.urdf"
    file.write_bytes(urdf_text(with_masses(zoo_robot("panda"), factor)))
    done = run("inspect", file, "--json")
    assert done.code == code
    (check,) = done.document["checks"]
    assert check["name"] == "plausible"
    assert check["status"] == ("fail" if code else "pass")
    assert check["evidence"]["links"]["panda_link1"]["mass"] == pytest.approx(4.970684 * factor)
    done = run("inspect", file)
    assert done.code == code
    assert ("Nothing wrong was found." in done.out) is not bool(code)
    assert ("nobody has built such a robot" in done.out) is bool(code)


def test_inspect_reads_the_meshes_beside_a_description(tmp_path: Path) -> None:
    corners = np.array([[x, y, z] for x in (0.0, 0.1) for y in (0.0, 0.1) for z in (0.0, 0.1)])
    triangles = [(1, 3, 2), (2, 3, 4), (5, 6, 7), (6, 8, 7), (1, 2, 5), (2, 6, 5), (3, 7, 4), (4, 7, 8)]
    triangles += [(1, 5, 3), (3, 5, 7), (2, 4, 6), (4, 8, 6)]
    lines = ["v " + " ".join(map(str, corner)) for corner in corners]
    (tmp_path / "cube.obj").write_text("\n".join(lines + [f"f {a} {b} {c}" for a, b, c in triangles]))
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0.05 0.05 0.05"/>'
        '<mass value="{m}"/><inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial>'
        '<collision><geometry><mesh filename="cube.obj"/></geometry></collision></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    for mass, status in ((1.0, "pass"), (50.0, "fail")):
        file = tmp_path / "r.urdf"
        file.write_text(urdf.format(m=mass, i=mass / 600.0))
        (check,) = run("inspect", file, "--json").document["checks"]
        assert check["status"] == status
        assert check["evidence"]["links"]["b"]["shapes_volume"] == pytest.approx(1e-3)


def test_identify_fails_on_links_far_from_what_is_known_of_them(tmp_path: Path) -> None:
    robot = zoo_robot("two_link")
    motion = random_fourier(robot, np.random.default_rng(1))
    write(
        simulate_motion(robot, motion, sensor="industrial", rng=np.random.default_rng(1)),
        tmp_path / "log.parquet",
    )
    # Somebody's description of the same arm, with a twentieth of its mass: the log says otherwise.
    (tmp_path / "light.urdf").write_bytes(urdf_text(with_masses(robot, 0.05)))
    words = ("identify", "two_link", tmp_path / "log.parquet", "--json", "--method", "wls", "--out")
    right = run(*words, tmp_path / "right")
    assert {check["name"]: check["status"] for check in right.document["checks"]}["plausible"] != "fail"
    wrong = run(*words, tmp_path / "wrong", "--prior", tmp_path / "light.urdf")
    assert wrong.code == 1
    (check,) = [check for check in wrong.document["checks"] if check["name"] == "plausible"]
    assert check["status"] == "fail"
    assert "link2 weighs" in check["message"]
