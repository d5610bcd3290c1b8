"""Descriptions patched in place: which bytes and which MuJoCo arrays change, and what `MjSpec` writes."""

from __future__ import annotations

import sys
import tempfile
import warnings
from difflib import SequenceMatcher
from pathlib import Path

import mujoco
import numpy as np

from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from export.material import full_layout, nominal_estimate, random_estimate
from oracles.random_mjcf import RandomMjcf
from robot.patch_material import FOLLOWING, IDENTIFIED, UNWEIGHED, differing_arrays, with_meshes
from shared_material import robot_files
from steelyard.errors import DescriptionError
from steelyard.model import Model
from steelyard.robot import Robot, load_robot
from steelyard.workflows.patch import patch

RANDOM = 400
"""Random MJCF files of all spellings."""


def run() -> Study:
    """Patch every public file and many random ones, with their own numbers and with others."""
    rows, touched, others = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for path in robot_files(".xml"):
            copy = with_meshes(path, _made(Path(folder) / path.parent.name))
            own, patched = _tried(copy)
            touched += own
            before = mujoco.MjModel.from_xml_path(str(copy))
            copy.write_bytes(patched)
            derived = {"actuator_biasprm"} if b"dampratio" in patched else set()
            others += len(
                differing_arrays(before, mujoco.MjModel.from_xml_path(str(copy))) - _known() - derived
            )
            rows.append(_row(path, patched))
        for path in robot_files(".urdf"):
            own, _ = _tried(path)
            touched += own
        refused, astray, random_touched, random_others = _random_files(Path(folder))
    figures = (
        Bound("public files that change when patched with their own numbers", touched, 0),
        Bound("MuJoCo arrays of public files that differ and hold nothing identified", others, 0),
        Bound("random files that change when patched with their own numbers", random_touched, 0),
        Bound("MuJoCo arrays of random files that differ and hold nothing identified", random_others, 0),
        Bound("random files refused for another reason than their settings", astray, 0),
    )
    table = (
        "| file | lines | of these the patch changes | `MjSpec.to_xml()` changes, nothing patched "
        "| comments it drops |\n| --- | --- | --- | --- | --- |\n" + "\n".join(rows)
    )
    return Study(
        "Descriptions patched in place",
        f"{len(rows) + len(robot_files('.urdf'))} public files (small bodies stand in for meshes) "
        f"and {RANDOM} random MJCF files, patched with their own numbers, and with heavier links and other "
        f"drives. {refused} random files are refused because a setting of theirs would change the numbers.",
        figures,
        table=table,
    )


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _known() -> set[str]:
    return IDENTIFIED | FOLLOWING


def _estimate(robot: Robot, seed: int) -> Model:
    layout = full_layout(robot)
    drawn = random_estimate if any(link.body is None for link in robot.links) else nominal_estimate
    return Model(robot, layout, drawn(np.random.default_rng(seed), robot, layout))


def _tried(path: Path) -> tuple[int, bytes]:
    """Whether its own numbers change it, and the file with others."""
    robot = load_robot(path)
    own = 0
    if path.name not in UNWEIGHED:
        own = int(patch(path, Model.of_robot(robot)).text != path.read_bytes())
    return own, patch(path, _estimate(robot, 1)).text


def _row(path: Path, patched: bytes) -> str:
    text = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        written = mujoco.MjSpec.from_file(str(with_meshes(path, Path(folder)))).to_xml()
    lines = text.splitlines()
    counts = [_changed(lines, other.splitlines()) for other in (patched.decode(), written)]
    dropped = text.count("<!--") - written.count("<!--")
    return f"| {path.name} | {len(lines)} | {counts[0]} | {counts[1]} | {dropped} |"


def _changed(old: list[str], new: list[str]) -> int:
    """Lines of the old text that are not in the new one."""
    same = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return len(old) - sum(block.size for block in same)


def _random_files(folder: Path) -> tuple[int, int, int, int]:
    refused = astray = touched = others = 0
    for seed in range(RANDOM):
        rng = np.random.default_rng(1000 + seed)
        path = folder / "random.xml"
        path.write_text(RandomMjcf(rng, free=seed % 5 == 0).text())
        robot = load_robot(path)
        touched += int(patch(path, Model.of_robot(robot)).text != path.read_bytes())
        try:
            done = patch(path, _estimate(robot, seed))
        except DescriptionError as error:
            words = ("inertiafromgeom", "settotalmass", "boundmass", "boundinertia")
            refused += 1
            astray += not any(word in error.message for word in words)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models = [mujoco.MjModel.from_xml_string(x.decode()) for x in (path.read_bytes(), done.text)]
        others += len(differing_arrays(*models) - _known())
    return refused, astray, touched, others
