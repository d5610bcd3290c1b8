"""The files of `steelyard excite`: motion, samples, ROS trajectory, rehearsal, proof and page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from steelyard.cli.destination import make_folder
from steelyard.cli.excite_proof import Designed
from steelyard.cli.excite_wish import not_applicable
from steelyard.files import FilePath, write_text, write_together
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


def files_beside(out: Path) -> dict[str, Path]:
    """All that is written with a motion file, by what it is."""
    endings = {
        "motion": out.suffix,
        "samples": ".csv",
        "trajectory": ".trajectory.yaml",
        "rehearsal": ".rehearsal.json",
        "page": ".html",
        "certificate": ".certificate.json",
    }
    return {name: out.with_suffix(ending) for name, ending in endings.items()}


def write_files(done: Designed, out: Path, *, rate: float, slower: float) -> dict[str, str]:
    """Write everything beside the motion file, each under its stem; returns the paths by what they are."""
    motion = done.motion
    assert isinstance(motion, FourierMotion | SplineMotion)
    rehearsal = slowed(motion, slower)
    page = motion_page(
        motion_content_of(
            done.robot,
            motion,
            limits=done.limits,
            proof=done.proof,
            uncovered=done.uncovered,
            looked="" if done.look is None else str(done.look),
            search=_search(done),
        )
    )
    writers: dict[str, Callable[[FilePath], None]] = {
        "motion": lambda path: write_motion(motion, path),
        "samples": lambda path: write_samples(motion, path, rate=rate),
        "trajectory": lambda path: write_joint_trajectory(motion, path, rate=rate),
        "rehearsal": lambda path: write_motion(rehearsal, path),
        "page": lambda path: write_text(path, page),
    }
    if isinstance(done.proof, Certificate):
        proof = done.proof
        writers["certificate"] = lambda path: write_certificate(proof, path)
    return written(writers, out)


def written(writers: Mapping[str, Callable[[FilePath], None]], out: Path) -> dict[str, str]:
    """Write some of what stands beside a motion file; what an earlier motion left of the rest goes."""
    make_folder(out.parent)
    beside = files_beside(out)
    # The motion leads and its certificate comes last: no certificate ever stands beside another motion.
    write_together(
        out.parent,
        {path.name: writers[name] for name, path in beside.items() if name in writers},
        gone=[path.name for name, path in beside.items() if name not in writers],
    )
    return {name: str(path) for name, path in beside.items() if name in writers}


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
    facts["largest jerk"] = str(done.jerk)
    if done.jerk.slower > 1.0:
        facts["slowed by"] = f"{done.jerk.slower:.4g}"
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
