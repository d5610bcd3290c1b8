"""What `excite` makes: a motion, what it shows, what is proven of it, and the files a robot runs it from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.errors import InputError
from steelyard.excitation import AddedMotion, Design, SmallestMargins
from steelyard.files import FilePath, write_text, write_together
from steelyard.finding import Finding, Severity
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.limits import Certificate, MotionLimits, NotCertifiedError
from steelyard.motion import (
    AnyMotion,
    FourierMotion,
    MotionDeviation,
    SplineMotion,
    TrajectoryGoal,
    slowed,
    trajectory_goal,
    write_joint_trajectory,
    write_motion,
    write_samples,
)
from steelyard.report.motion import Measure, SearchRecord, motion_content_of, motion_page
from steelyard.robot import Robot
from steelyard.simulation import SecondLook
from steelyard.workflows.destination import make_folder, require_files
from steelyard.workflows.excite import ACTION, RATE, SLOWER
from steelyard.workflows.motion_proof import KeptJerk
from steelyard.workflows.surroundings import SHAPELESS, UNSHAPED_LOAD

KINDS = SmallestMargins._fields
"""Kinds of limits, in the order in which they are told."""
_ENDINGS = {
    "motion": ".json",
    "samples": ".csv",
    "trajectory": ".trajectory.yaml",
    "goal": ".goal.yaml",
    "rehearsal": ".rehearsal.json",
    "page": ".html",
    "certificate": ".certificate.json",
}
"""All that is written with a motion, the certificate last."""
_ACCEPTED = "by whoever asked for the motion (--allow-no-clearance)"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Excitation(ABC):
    """A motion that shows parameters, and what is proven of it.

    Attributes:
        robot: as it was described, with all of its limits.
        limits: those that the motion was to keep.
        proof: that it does, or why there is none.
        look: what other code saw of a motion that is proven; None without a proof.
        uncovered: what could hit or overload and is not part of the proof, though nobody lifted it.
        findings: what was assumed, and what had to give way to the limits.
        allow_no_clearance: whether whoever asked accepts that shapes are missing.
        rate: of the sampled files, Hz.
        slower: how many times slower the rehearsal is, dimensionless.
        action: of ROS 2, that takes the goal.
        seconds: what it took.
        files: what was written, by kind.
    """

    robot: Robot
    limits: MotionLimits
    proof: Certificate | NotCertifiedError
    look: SecondLook | None = None
    uncovered: tuple[Finding, ...] = ()
    findings: tuple[Finding, ...] = ()
    allow_no_clearance: bool = False
    rate: float = RATE
    slower: float = SLOWER
    action: str = ACTION
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    @abstractmethod
    def motion(self) -> AnyMotion:
        """The motion; `motion.sample(t)` gives positions, velocities and accelerations."""

    @property
    @abstractmethod
    def cond(self) -> float:
        """Condition number of what the motion shows, dimensionless."""

    @property
    @abstractmethod
    def margins(self) -> dict[str, float]:
        """The smallest margin of each kind of limit, SI; infinite where nothing is limited or looked at."""

    @property
    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""

    @property
    def certificate(self) -> Certificate | None:
        """The proof that the motion keeps every limit that was looked at; None where there is none."""
        return self.proof if isinstance(self.proof, Certificate) else None

    @property
    def certified(self) -> bool:
        """Whether every limit is proven, and nothing that could hit or overload is left out of the proof."""
        return self.certificate is not None and not self.uncovered

    @property
    def accepted(self) -> tuple[Finding, ...]:
        """What is not part of the proof by the word of whoever asked: shapes that are missing."""
        if not self.allow_no_clearance:
            return ()
        return tuple(x for x in self.uncovered if x.code in (*SHAPELESS, UNSHAPED_LOAD))

    @property
    def settled(self) -> bool:
        """Whether it is certified, or all that its proof lacks is accepted; a script may go on."""
        return self.certificate is not None and len(self.accepted) == len(self.uncovered)

    @property
    def reason(self) -> str:
        """Why the motion is not certified, or not wholly; empty where it is."""
        if not isinstance(self.proof, Certificate):
            return str(self.proof)
        if not self.uncovered:
            return ""
        words = f"{len(self.uncovered)} things are not part of the proof"
        return f"{words}, {len(self.accepted)} of them accepted" if self.accepted else words

    @cached_property
    def goal(self) -> TrajectoryGoal:
        """The motion as a controller of ROS 2 takes it, with points as near as the proven margins ask for."""
        if self.certificate is None:
            return trajectory_goal(self.motion, None)
        margins = {(x.kind, x.name): x.margin for x in self.certificate.margins}
        room = [
            np.array([margins.get((kind, joint), np.inf) for joint in self.motion.joints])
            for kind in ("position", "velocity", "acceleration")
        ]
        return trajectory_goal(self.motion, MotionDeviation(*room))

    @property
    def to_robot(self) -> tuple[str, ...]:
        """How ROS 2 runs the motion: to its start, the motion itself, and what a controller makes of it."""
        path = self.files.get("goal", "motion.goal.yaml")
        return (self.goal.approach(self.action), self.goal.send(self.action, path), str(self.goal))

    @property
    def proven(self) -> dict[str, dict[str, Any]]:
        """By kind of limit: the least margin at any instant, its unit, and the joint or pair it is of."""
        if self.certificate is None:
            return {}
        least = {kind: self.certificate.smallest(kind) for kind in KINDS}
        return {
            kind: {"margin": x.margin, "unit": x.unit, "at": x.name}
            for kind, x in least.items()
            if x is not None
        }

    def save(
        self, out: FilePath, *, rate: float | None = None, slower: float | None = None, force: bool = False
    ) -> dict[str, str]:
        """Write the motion and, beside it, samples, ROS trajectory and goal, rehearsal, proof and page.

        Args:
            out: the motion file, `.json`; the others get its stem.
            rate: of the sampled files, Hz; None for `rate`.
            slower: how many times slower the rehearsal is, dimensionless; None for `slower`.
            force: whether earlier files may be replaced.

        Returns:
            What was written, by kind. No certificate where the motion is not proven; what an earlier motion
            left of the rest is removed.

        Raises:
            InputError: a file exists already or cannot be written; nothing is written.
        """
        beside = files_beside(out)
        require_files(beside.values(), force=force)
        motion, hertz = self.motion, self.rate if rate is None else rate
        rehearsal = slowed(motion, self.slower if slower is None else slower)
        writers: dict[str, Callable[[FilePath], None]] = {
            "motion": lambda path: write_motion(motion, path),
            "samples": lambda path: write_samples(motion, path, rate=hertz),
            "trajectory": lambda path: write_joint_trajectory(motion, path, rate=hertz),
            "goal": lambda path: write_text(path, self.goal.yaml(self.action)),
            "rehearsal": lambda path: write_motion(rehearsal, path),
        }
        if (page := self._page()) is not None:
            writers["page"] = lambda path: write_text(path, page)
        if (certificate := self._stated_certificate()) is not None:
            writers["certificate"] = lambda path: certificate.write(path)
        folder = beside["motion"].parent
        make_folder(folder)
        # The motion leads and its certificate comes last: no certificate ever stands beside another motion.
        write_together(
            folder,
            {path.name: writers[name] for name, path in beside.items() if name in writers},
            gone=[path.name for name, path in beside.items() if name not in writers],
        )
        return {name: str(path) for name, path in beside.items() if name in writers}

    def _page(self) -> str | None:
        """The page of the motion; None where there is none."""
        return None

    def _stated_certificate(self) -> Certificate | None:
        """The certificate as it is written: with all that it does not cover, and what of that is accepted."""
        if self.certificate is None:
            return None
        given = self.certificate.assumptions
        beyond = [x for x in self.uncovered if x not in given.findings]
        if self.accepted:
            places = ", ".join(dict.fromkeys(x.place for x in self.accepted))
            message = f"that nothing is known of their clearance was accepted {_ACCEPTED}."
            beyond.append(Finding(Severity.INFO, "accepted-no-clearance", message, places))
        findings = (*given.findings, *beyond)
        return replace(self.certificate, assumptions=replace(given, findings=findings))

    @property
    def verdict(self) -> str:
        """What is proven, in a line."""
        kinds = ", ".join(self.proven)
        if self.certified:
            return f"certified: {kinds}"
        if self.certificate is not None:
            return f"certified in part: {kinds}; {self.reason}"
        return f"not certified: {self.reason}"

    def __repr__(self) -> str:
        word = "certified" if self.certified else "certified in part" if self.certificate else "not certified"
        return (
            f"<{type(self).__name__} of {self.robot.name}: {self.motion.duration:.4g} s, "
            f"cond {self.cond:.4g}, {word}>"
        )

    def __str__(self) -> str:
        rows = [("limit", "least margin", "at"), *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
        ]
        left_out = [f"  {finding}" for finding in self.uncovered]
        lines = [
            self.verdict,
            *left_out,
            *self._told(),
            *([line.rstrip() for line in table] if rows[1:] else []),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self._rows()
        )
        head = "<tr><th>limit</th><th>least margin</th><th>at</th></tr>"
        left_out = "".join(f"<li>{escape(str(finding))}</li>" for finding in self.uncovered)
        return (
            f"<p><strong>{escape(self.verdict)}</strong></p>"
            + (f"<ul>{left_out}</ul>" if left_out else "")
            + "".join(f"<p>{escape(line)}</p>" for line in self._told())
            + (f"<table>{head}{rows}</table>" if rows else "")
        )

    def _rows(self) -> list[tuple[str, str, str]]:
        return [(kind, f"{x['margin']:.4g} {x['unit']}", x["at"]) for kind, x in self.proven.items()]

    @abstractmethod
    def _told(self) -> list[str]:
        """What the motion is worth, in lines."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DesignedMotion(Excitation):
    """A motion that was searched for, or chosen among structured ones.

    Attributes:
        design: what the motion is worth, and how it was found.
        jerk: the motion, under the digest of the robot, and how its jerk keeps its limits.
        name: of a structured motion; empty for others.
        compared: value of the criterion of every structured motion it was chosen from, by name.
        facts: what was asked for, by name, for the page.
    """

    design: Design
    jerk: KeptJerk
    name: str = ""
    compared: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def motion(self) -> FourierMotion | SplineMotion:
        """The motion, under the digest of the robot."""
        return self.jerk.motion

    @property
    def cond(self) -> float:
        """Condition number of the base regressor, in SI units."""
        return self.design.cond

    @property
    def margins(self) -> dict[str, float]:
        """The smallest margin of each kind that the search saw, SI; torque and clearance at samples."""
        return {kind: getattr(self.design.margins, kind) for kind in KINDS}

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        found, proven = self.design, self.proven
        return {
            "criterion": found.criterion.value,
            "value": found.value,
            "cond": found.cond,
            "cond_normalised": found.cond_normalised,
            "rms_deviation": found.rms_deviation,
            "columns": list(found.columns),
            "margins": self.margins,
            "jerk": self.jerk.document,
            "slowed": self.jerk.slower,
            "proven": proven,
            "clearance": proven.get("clearance", {}).get("margin"),
            "distance": self.limits.distance,
            "certified": self.certified,
            "covers": list(proven),
            "uncovered": [str(finding) for finding in self.uncovered],
            "accepted": [str(finding) for finding in self.accepted],
            "second_look": _look_document(self.look),
            "reason": self.reason,
            "rounds": found.rounds,
            "interrupted": found.interrupted,
            "name": self.name,
            "compared": dict(self.compared),
            "findings": [str(finding) for finding in self.findings],
            "goal": {**self.goal.document, "approach": self.to_robot[0], "send": self.to_robot[1]},
            "seconds": self.seconds,
            "files": dict(self.files),
        }

    @property
    def effort(self) -> str:
        """What it took to find it, in words."""
        return (
            f"{len(self.compared)} motions compared" if self.name else f"{self.design.rounds} local searches"
        )

    def _page(self) -> str:
        return motion_page(
            motion_content_of(
                self.robot,
                self.motion,
                limits=self.limits,
                proof=self.proof,
                uncovered=self.uncovered,
                accepted=self.accepted,
                looked="" if self.look is None else str(self.look),
                search=self._search(),
            )
        )

    def _search(self) -> SearchRecord:
        found = self.design
        facts: dict[str, object] = dict(self.facts)
        if self.compared:
            facts |= {"motion": self.name, "motions compared": len(self.compared)}
        else:
            facts["rounds"] = found.rounds
        facts["largest jerk"] = str(self.jerk)
        if self.jerk.slower > 1.0:
            facts["slowed by"] = f"{self.jerk.slower:.4g}"
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

    def _told(self) -> list[str]:
        title = f"The motion {self.name}" if self.name else "A motion"
        return [
            f"{title} of {self.motion.duration:.4g} s for {self.robot.name}: cond {self.cond:.4g}, with "
            f"columns of unit length {self.design.cond_normalised:.4g}; {len(self.design.columns)} columns; "
            f"{self.effort}.",
            f"{self.jerk}.",
        ]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SupplementedMotion(Excitation):
    """A motion that was planned anyway, with the least that makes it show a payload.

    Attributes:
        added: what the planned motion shows, what is added, and what all of it shows.
    """

    added: AddedMotion

    @property
    def motion(self) -> AnyMotion:
        """All of the motion, with the addition."""
        return self.added.motion

    @property
    def cond(self) -> float:
        """Condition number of the payload's columns along all of the motion, dimensionless."""
        return self.added.after.cond

    @property
    def margins(self) -> dict[str, float]:
        """The smallest margin of each kind, as proven, SI; infinite where nothing is limited."""
        return {kind: self.proven.get(kind, {}).get("margin", np.inf) for kind in KINDS}

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        found = self.added
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
            "certified": self.certified,
            "uncovered": [str(finding) for finding in self.uncovered],
            "accepted": [str(finding) for finding in self.accepted],
            "second_look": _look_document(self.look),
            "goal": {**self.goal.document, "approach": self.to_robot[0], "send": self.to_robot[1]},
            "seconds": self.seconds,
            "files": dict(self.files),
        }

    @property
    def shown(self) -> list[tuple[str, str, str, str, str]]:
        """By number of the payload: name, deviation planned and with the addition, unit, and the verdict."""
        found = self.added
        numbers = zip(
            PARAMETER_NAMES, found.before.deviations, found.after.deviations, PARAMETER_UNITS, strict=True
        )
        return [
            (name, f"± {before:.2g}", f"± {after:.2g}", unit, str(found.before.verdicts[name]))
            for name, before, after, unit in numbers
        ]

    def _told(self) -> list[str]:
        return [str(self.added)]


def files_beside(out: FilePath) -> dict[str, Path]:
    """All that is written with a motion file, by what it is.

    Args:
        out: the motion file.

    Returns:
        The paths; the motion's first, the certificate's last.

    Raises:
        InputError: it does not end in `.json`.
    """
    path = Path(out)
    if path.suffix.lower() != ".json":
        raise InputError("a motion file ends in .json.", place="--out")
    return {name: path.with_suffix(ending) for name, ending in {**_ENDINGS, "motion": path.suffix}.items()}


def _look_document(look: SecondLook | None) -> dict[str, Any] | None:
    """What other code saw: the least margin of each kind beside the one proven of it."""
    if look is None:
        return None
    least = [x for x in map(look.smallest, KINDS) if x is not None]
    return {
        "instants": look.instants,
        "margins": {
            x.kind: {"seen": x.seen, "proven": x.proven, "unit": x.unit, "at": x.name} for x in least
        },
        "unseen": list(look.unseen),
    }
