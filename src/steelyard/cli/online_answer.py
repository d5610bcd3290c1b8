"""What `steelyard online` says and leaves: one document, a text for people, and a folder."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np

from steelyard import __version__
from steelyard.cli.online_line import Learned
from steelyard.cli.online_watch import head_of
from steelyard.cli.output import say, stdout
from steelyard.errors import InputError
from steelyard.export import versions
from steelyard.files import require_writable
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.online import BROKEN, CHECK, DONE, DrivenMove, Known, write_run
from steelyard.report import (
    Knowledge,
    LeastMargin,
    MoveKind,
    OnlineContent,
    OnlineEvent,
    OnlineMove,
    Outcome,
    StepTime,
    online_page,
)
from steelyard.workflows.theorem13 import theorem13_document, theorem13_line, theorem13_on_page

PAGE = "report.html"


def refuse_existing(out: Path, *, force: bool) -> None:
    """Refuse a folder that holds something, unless it may be replaced, or that cannot be written to.

    Args:
        out: the folder.
        force: whether it may.

    Raises:
        InputError: it exists and is not empty, or nothing can be written there.
    """
    if out.exists() and not out.is_dir():
        raise InputError("is not a folder.", place="--out")
    if not force and out.is_dir() and any(out.iterdir()):
        raise InputError(f"'{out}' is not empty.", place="--out", remedy="Name another, or say --force.")
    require_writable(out)


def sentence_of(learned: Learned) -> str:
    """How the run ended, in a sentence.

    Args:
        learned: the run.

    Returns:
        The sentence.
    """
    record = learned.run.record
    if record.alarm is not None and record.alarm.kind == CHECK:
        return f"At {record.alarm.time:.3f} s: {record.alarm.sentence}"
    if record.alarm is not None:
        return (
            f"At {record.alarm.time:.3f} s something assumed was found not to be so: {record.alarm.sentence}"
        )
    if record.outcome == DONE:
        return "Every plan was driven as it was proven, and the robot is at rest."
    return record.events[-1].sentence if record.events else "The robot stopped."


def answer(learned: Learned, files: dict[str, str]) -> dict[str, Any]:
    """What is known now, as one document.

    Args:
        learned: the run.
        files: what was written, by name.

    Returns:
        The document.
    """
    record, box = learned.run.record, learned.run.record.box
    known = [k for k in record.knowledge if k.rows > 0]
    inside = bool(((box.lower <= learned.task.truth) & (learned.task.truth <= box.upper)).all())
    plans, checked = record.proofs
    broken = bool(learned.violations) or record.outcome == BROKEN or not inside or checked < plans
    # The last answer is of a robot at rest, and takes its time.
    cycles = [_whole(k) for k in record.knowledge[1:-1]]
    return {
        "verdict": "fail" if broken else "warn" if learned.task.uncovered else "pass",
        "outcome": record.outcome,
        "sentence": sentence_of(learned),
        "assumed": list(learned.task.assumed),
        "uncovered": list(learned.task.uncovered),
        "segments": [_segment(learned, driven) for driven in record.moves],
        "certified": all(x.move.certificate is not None for x in record.moves) and not learned.task.uncovered,
        "plans": plans,
        "plans_checked": checked,
        "violations": list(learned.violations),
        "bounds": {
            name: {"lower": low, "upper": high, "unit": unit}
            for name, low, high, unit in zip(
                PARAMETER_NAMES, box.lower.tolist(), box.upper.tolist(), PARAMETER_UNITS, strict=True
            )
        },
        "theorem13": theorem13_document(learned.theorem13),
        "frame": learned.task.setting.arm.held.frame,
        "contains_truth": inside,
        "rows": known[-1].rows if known else 0,
        "events": [f"{event.time:.3f} s: {event.sentence}" for event in record.events],
        "seconds": {
            "preparation": learned.preparation,
            "run": learned.seconds,
            "robot": len(learned.run.cycles.commands) * learned.task.setting.cycle,
            "slowest_answer": max(cycles, default=0.0),
            "slowest_check": max((k.check_seconds for k in record.knowledge), default=0.0),
        },
        "files": files,
    }


def _whole(known: Known) -> float:
    return known.bounds_seconds + known.plan_seconds + known.check_seconds


def _segment(learned: Learned, driven: DrivenMove) -> dict[str, Any]:
    cycle = learned.task.setting.cycle
    return {
        "start": driven.first * cycle,
        "seconds": driven.cycles * cycle,
        "kind": _kind(driven).value,
        "cond": driven.move.condition,
        "refused": len(driven.move.refused),
    }


def _kind(driven: DrivenMove) -> MoveKind:
    return MoveKind.BRAKE if driven.stopped else MoveKind.PLAN


def content_of(learned: Learned) -> OnlineContent:
    """What the page of a run says.

    Args:
        learned: the run.

    Returns:
        Its content.
    """
    record, log, cycle = learned.run.record, learned.run.cycles, learned.task.setting.cycle
    rows = slice(len(log.commands))
    answers = record.knowledge[1:-1]  # the last one is of a robot at rest
    times = [
        StepTime(name, float(np.median(x)), float(np.max(x)))
        for name, x in (
            ("bounds", [k.bounds_seconds for k in answers]),
            ("plan and certify", [k.plan_seconds for k in answers]),
            ("check of the proof", [k.check_seconds for k in answers]),
            ("whole answer", [_whole(k) for k in answers]),
        )
        if x
    ]
    return OnlineContent(
        head=head_of(learned.task),
        time=log.time[rows] - log.time[0],
        q=log.q[rows],
        v=log.v[rows],
        q_ref=log.q_ref,
        v_ref=log.v_ref,
        tau=log.commands,
        r_norm=learned.run.errors[0],
        knowledge=tuple(
            Knowledge(k.time, k.box.lower, k.box.upper, k.bounds_seconds, k.rows) for k in record.knowledge
        ),
        outcome=Outcome(record.outcome),
        sentence=sentence_of(learned),
        moves=tuple(_move(driven, cycle, record.knowledge) for driven in record.moves),
        proofs=record.proofs,
        events=tuple(OnlineEvent(e.time, e.severity, e.sentence) for e in record.events),
        published=theorem13_on_page(learned.theorem13),
        violations=learned.violations,
        uncovered=learned.task.uncovered,
        times=tuple(times),
        versions=versions(),
        made=f"steelyard {__version__}, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
    )


def _move(driven: DrivenMove, cycle: float, knowledge: tuple[Known, ...]) -> OnlineMove:
    proof = driven.move.certificate
    least = {}
    for margin in sorted(proof.motion.margins, key=lambda margin: -margin.margin):
        least[margin.kind] = LeastMargin(margin.kind, margin.name, margin.margin, margin.unit)
    torque = proof.torque_margins
    joint = int(torque.argmin())
    least["torque"] = LeastMargin("torque", proof.joints[joint], float(torque[joint]), "N·m")
    start = driven.first * cycle
    # A plan is taken up at the instant at which its answer is.
    took = [known.plan_seconds for known in knowledge if abs(known.time - start) < 0.5 * cycle]
    return OnlineMove(
        start,
        start + driven.cycles * cycle,
        _kind(driven),
        condition=driven.move.condition,
        seconds=took[-1] if took and driven.offset == 0 else 0.0,
        refused=len(driven.move.refused),
        margins=tuple(least.values()),
    )


def page_of(learned: Learned) -> str:
    """The page of a run.

    Args:
        learned: the run.

    Returns:
        A self-contained document.
    """
    return online_page(content_of(learned))


def write_result(learned: Learned, text: str, out: Path) -> dict[str, str]:
    """Write log and page.

    Args:
        learned: the run.
        text: its page.
        out: the folder; made where it does not exist.

    Returns:
        What was written, by name.
    """
    record, cycles = write_run(learned.run, out, page=(PAGE, text))
    return {"record": str(record), "cycles": str(cycles), "report": str(out / PAGE)}


def print_answer(learned: Learned, document: dict[str, Any]) -> None:
    """Say it to people.

    Args:
        learned: the run.
        document: the answer.
    """
    lines = [document["sentence"]]
    truth = learned.task.truth
    for k, (name, ends) in enumerate(document["bounds"].items()):
        lines.append(
            f"  {name:>4} in [{ends['lower']:.4g}, {ends['upper']:.4g}] {ends['unit']}, true {truth[k]:.4g}"
        )
    if learned.theorem13 is not None:
        lines.append(theorem13_line(learned.theorem13))
    seconds = document["seconds"]
    lines.append(
        f"{document['plans']} plans, {len(document['segments'])} segments over {seconds['robot']:.2f} s, all "
        f"proven; the proofs of {document['plans_checked']} were checked by other means; "
        f"slowest answer {seconds['slowest_answer']:.2f} s; {len(document['violations'])} violations."
    )
    lines += [f"Not part of the proofs: {words}" for words in document["uncovered"]]
    for line in lines:
        stdout.print(line, highlight=False, markup=False, soft_wrap=True)
    for line in (*document["events"], *document["violations"]):
        say(line)
