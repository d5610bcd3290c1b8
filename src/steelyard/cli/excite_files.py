"""The files of `steelyard excite`: motion, samples, ROS trajectory, rehearsal, proof and page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from steelyard.cli.excite_proof import Designed
from steelyard.cli.excite_wish import not_applicable
from steelyard.files import write_text
from steelyard.limits import Certificate, write_certificate
from steelyard.motion import (
    FourierMotion,
    SplineMotion,
    slowed,
    write_joint_trajectory,
    write_motion,
    write_samples,
)
from steelyard.report import Measure, SearchRecord, motion_content_of, motion_page


def write_files(done: Designed, out: Path, *, rate: float, slower: float) -> dict[str, str]:
    """Write everything beside the motion file, each under its stem; returns the paths by what they are."""
    motion = done.motion
    assert isinstance(motion, FourierMotion | SplineMotion)
    rehearsal = slowed(motion, slower)
    page = motion_page(
        motion_content_of(done.robot, motion, limits=done.limits, proof=done.proof, search=_search(done))
    )
    beside = {
        "motion": out,
        "samples": out.with_suffix(".csv"),
        "trajectory": out.with_suffix(".trajectory.yaml"),
        "rehearsal": out.with_suffix(".rehearsal.json"),
        "page": out.with_suffix(".html"),
    }
    writers: dict[str, Callable[[Path], None]] = {
        "motion": lambda path: write_motion(motion, path),
        "samples": lambda path: write_samples(motion, path, rate=rate),
        "trajectory": lambda path: write_joint_trajectory(motion, path, rate=rate),
        "rehearsal": lambda path: write_motion(rehearsal, path),
        "page": lambda path: write_text(path, page),
    }
    if isinstance(done.proof, Certificate):
        proof = done.proof
        beside["certificate"] = out.with_suffix(".certificate.json")
        writers["certificate"] = lambda path: write_certificate(proof, path)
    for name, path in beside.items():
        writers[name](path)
    return {name: str(path) for name, path in beside.items()}


def _search(done: Designed) -> SearchRecord:
    found = done.design
    unused = not_applicable(done.wish.family)
    facts: dict[str, object] = {
        name: str(value)
        for name, value in asdict(done.wish).items()
        if value not in (None, (), "") and name not in unused
    }
    if done.compared:
        facts |= {"motion": done.name, "motions compared": len(done.compared)}
    else:
        facts["rounds"] = found.rounds
    return SearchRecord(
        criterion=found.criterion.value,
        seconds=np.array([state.seconds for state in found.history]),
        best=np.array([state.best for state in found.history]),
        measures=(
            Measure("condition number", found.cond),
            Measure("condition number, columns of unit length", found.cond_normalised),
            Measure("rms deviation of the base parameters per unit of torque noise", found.rms_deviation),
        ),
        columns=found.columns,
        facts=facts,
    )
