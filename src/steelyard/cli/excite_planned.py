"""`steelyard excite --for payload --planned`: what a planned motion lacks, and the least that adds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from steelyard.cli.excite_answer import look_document
from steelyard.cli.excite_files import written
from steelyard.cli.excite_posed import beyond_limits, planned_limits
from steelyard.cli.excite_proof import looked_again, uncovered_by
from steelyard.cli.excite_wish import Wish
from steelyard.cli.output import say, stdout
from steelyard.cli.robot_argument import given_robot
from steelyard.errors import InputError
from steelyard.excitation import AddedMotion, TorqueMeter, added_motion
from steelyard.files import FilePath
from steelyard.finding import Finding
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.limits import write_certificate
from steelyard.motion import read_motion, slowed, write_joint_trajectory, write_motion, write_samples
from steelyard.simulate import SecondLook

NOISE = 3e-3
"""Torque noise by which it is judged, as a share of each joint's limit: that of `industrial` sensors."""
RATE = 1000.0
"""Samples in a second by which it is judged, Hz."""
UNKNOWN = ("offset", "viscous", "coulomb")
"""Drive terms that may differ with the payload in the hand."""


def added_for(wish: Wish, planned: Path) -> tuple[AddedMotion, tuple[Finding, ...], SecondLook | None]:
    """Judge the planned motion and add what it lacks; what could overload beyond the proof; what was seen."""
    robot = given_robot(
        wish.robot, wish.gravity, wish.lock, wish.tool_frame, arguments=wish.arguments, stated=wish
    )
    if np.isfinite(wish.largest_jerk(robot)).any():
        raise InputError(
            "keeps no jerk limit: what is planned is not slowed.",
            place="--planned",
            remedy="Leave out --jerk, and jerk in the file of limits.",
        )
    motion = read_motion(planned)
    if motion.joints != robot.joint_names:
        raise InputError(
            f"moves {list(motion.joints)}, the robot has {list(robot.joint_names)}.", place=str(planned)
        )
    effort = robot.limit_array("effort")
    if not np.isfinite(effort).all():
        raise InputError(
            "states no torque limit at some joint, by which its noise would be judged.",
            place=wish.robot,
            remedy="State it with --torque or --limits, or in the description.",
        )
    limits = planned_limits(robot, wish)
    meter = TorqueMeter(NOISE * effort, RATE, UNKNOWN)
    found = added_motion(limits, motion, meter, np.random.default_rng(wish.seed))
    say(f"   {found.before}")
    uncovered = uncovered_by(found.certificate, beyond_limits(robot, wish), wish)
    return found, uncovered, looked_again(limits, found.motion, found.certificate)


def write_added(found: AddedMotion, out: Path, *, rate: float, slower: float) -> dict[str, str]:
    """Write motion, samples, trajectory, rehearsal and proof; returns the paths by what they are."""
    rehearsal = slowed(found.motion, slower)
    writers: dict[str, Callable[[FilePath], None]] = {
        "motion": lambda path: write_motion(found.motion, path),
        "samples": lambda path: write_samples(found.motion, path, rate=rate),
        "trajectory": lambda path: write_joint_trajectory(found.motion, path, rate=rate),
        "rehearsal": lambda path: write_motion(rehearsal, path),
        "certificate": lambda path: write_certificate(found.certificate, path),
    }
    return written(writers, out)


def added_answer(
    found: AddedMotion,
    uncovered: Sequence[Finding],
    look: SecondLook | None,
    files: dict[str, str],
    seconds: float,
) -> dict[str, Any]:
    """Everything a script may ask for."""
    before, after = (
        dict(zip(PARAMETER_NAMES, shown.deviations.tolist(), strict=True))
        for shown in (found.before, found.after)
    )
    return {
        "frame": found.before.frame,
        "deviations": {"planned": before, "with_addition": after, "required": found.required.tolist()},
        "verdicts": dict(found.before.verdicts),
        "cond": {"planned": found.before.cond, "with_addition": found.after.cond},
        "not_shown": [str(direction) for direction in found.before.not_shown],
        "addition": str(found),
        "added_seconds": 0.0 if found.addition is None else found.addition.duration,
        "joints": list(found.moving),
        "certified": not uncovered,
        "uncovered": [str(finding) for finding in uncovered],
        "second_look": look_document(look),
        "seconds": seconds,
        "files": files,
    }


def print_added(found: AddedMotion, document: dict[str, Any]) -> None:
    """What is shown before and after, and what to add."""
    table = Table(title=f"What the motion shows of a payload, in {escape(found.before.frame)}")
    for heading in ("", "planned", "with the addition", "unit", "planned motion"):
        table.add_column(heading, justify="right" if heading in ("planned", "with the addition") else "left")
    rows = zip(
        PARAMETER_NAMES,
        found.before.deviations,
        found.after.deviations,
        PARAMETER_UNITS,
        strict=True,
    )
    for name, before, after, unit in rows:
        verdict = str(found.before.verdicts[name])
        table.add_row(name, f"± {before:.2g}", f"± {after:.2g}", unit, verdict)
    stdout.print(table)
    stdout.print(str(found), highlight=False, markup=False, soft_wrap=True)
    for words in document["uncovered"]:
        stdout.print(f"Not part of the proof: {words}", highlight=False, markup=False, soft_wrap=True)
    stdout.print(f"Written to {document['files']['motion']}", highlight=False, markup=False, soft_wrap=True)
