"""The whole line on a simulated arm: what `steelyard demo` does, writes and prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from steelyard.arrays import Array
from steelyard.cli.excite_line import Wish, designed_for
from steelyard.cli.identify_line import Identification, identify_from
from steelyard.cli.identify_logs import Question
from steelyard.cli.identify_result import write_identification
from steelyard.cli.output import say, stdout
from steelyard.drive import DRIVE_TERMS
from steelyard.errors import NoSolutionError
from steelyard.files import write_text
from steelyard.layout import layout_of
from steelyard.limits import Certificate
from steelyard.motion import FourierMotion, SplineMotion, random_fourier, write_motion
from steelyard.recording import Recording, write
from steelyard.report import torque_figure
from steelyard.robot import Robot
from steelyard.simulate import simulate

PROMISE = 0.1
"""Held-out relative torque error the demo must stay below, percent."""
KEPT_EVERY = 5
"""One in so many of the plant's samples, a millisecond apart, is identified from: neighbours are alike."""
DESIGN = Wish(
    robot="",
    family="fourier",
    harmonics=5,
    pieces=12,
    period=10.0,
    criterion="a",
    whom="robot",
    start="free",
    drive=",".join(term.name for term in DRIVE_TERMS),
    tool=None,
    tool_scale=1.0,
    scene=None,
    distance=0.01,
    after=(),
    without=(),
    parameter_range=0.0,
    budget=60.0,
    rounds=4,
    seed=0,
    gravity=None,
    lock=(),
    tool_frame=None,
    arguments=(),
)
"""How the training motion is designed: by a number of searches, not a time, so that seeds repeat it."""
RESULT = "result"
"""Folder of the identified model beneath the demo's."""


@dataclass(frozen=True, eq=False)
class Run:
    """Everything the demo found out."""

    motions: dict[str, FourierMotion | SplineMotion]
    recordings: dict[str, Recording]
    done: Identification
    predicted: Array
    parameter_error: float
    certified: bool


def run_line(robot: Robot, seed: int) -> Run:
    """Describe, move, record, fit, predict and judge."""
    say(f"{robot.name}: {len(robot.joints)} joints, {robot.mass:.4g} kg stated")
    layout = layout_of(robot, [term.name for term in DRIVE_TERMS])
    say("Design a motion")
    training, certified = _training(robot, seed)
    motions = {"train": training, "holdout": random_fourier(robot, np.random.default_rng(seed))}
    say("Run it, and another to judge by")
    recordings = {}
    for name, motion in motions.items():
        say(f"   the {name} motion, {motion.duration:g} s, on the simulated robot (MuJoCo)")
        recordings[name] = simulate(robot, motion, sensor="ideal")
    say("Identify")
    # The plant gives exact accelerations and torques, so nothing is to be filtered.
    every = slice(None, None, KEPT_EVERY)
    train, holdout = (recordings[name].rows(every) for name in ("train", "holdout"))
    question = Question(robot, layout, None, (train,), holdout, "holdout", ())
    done = identify_from(question, "ols")
    predicted = done.estimate.torque(robot, recordings["holdout"])
    say("   predicted the torques of the held-out motion")
    beta = done.problem.base.matrix @ layout.complete_nominal()
    off = np.abs(done.estimate.values - beta) / np.maximum(np.abs(beta), 1e-3 * np.abs(beta).max())
    return Run(motions, recordings, done, predicted, float(off.max()), certified)


def _training(robot: Robot, seed: int) -> tuple[FourierMotion | SplineMotion, bool]:
    """A designed motion, and whether every limit is proven along it; where there is none, a random one."""
    wish = replace(DESIGN, seed=seed)
    try:
        found = designed_for(robot, wish)
    except NoSolutionError as refusal:
        say(f"   no motion could be designed ({refusal}); a random one is run")
        return random_fourier(robot, np.random.default_rng([seed, 1])), False
    if found.design.interrupted:
        # `excite` keeps the best motion so far; here whoever interrupts wants the whole line to end.
        raise KeyboardInterrupt
    return found.motion, isinstance(found.proof, Certificate)


def write_files(run: Run, out: Path, described: str) -> dict[str, str]:
    """Write motions, logs, the picture, and the model with its report; returns their paths by name."""
    held_out, robot = run.recordings["holdout"], run.done.robot
    figure = torque_figure(
        held_out.time,
        held_out.channels["tau"],
        run.predicted,
        joints=robot.joint_names,
        units=[joint.effort_unit for joint in robot.joints],
        errors=run.done.holdout.joints,
        title=f"{robot.name}: torque of a motion it was not identified on",
    )
    writers: dict[str, Callable[[Path], None]] = {
        "train.motion.json": lambda path: write_motion(run.motions["train"], path),
        "holdout.motion.json": lambda path: write_motion(run.motions["holdout"], path),
        "train.npz": lambda path: write(run.recordings["train"], path),
        "holdout.npz": lambda path: write(run.recordings["holdout"], path),
        "torque.svg": lambda path: write_text(path, figure),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, writer in writers.items():
        writer(out / name)
    model = write_identification(run.done, out / RESULT, described, force=True)
    return {name: str(out / name) for name in writers} | model


def document(run: Run, files: dict[str, str], seconds: float, passed: bool) -> dict[str, Any]:
    """The run as a JSON document."""
    return {
        "verdict": "pass" if passed else "fail",
        "robot": run.done.robot.name,
        "parameters": run.done.layout.size,
        "identifiable": run.done.problem.base.count,
        "cond": run.done.estimate.condition,
        "certified": run.certified,
        "samples": run.done.estimate.samples,
        "holdout": {
            "overall": run.done.holdout.overall,
            "joints": dict(zip(run.done.robot.joint_names, run.done.holdout.joints, strict=True)),
        },
        "parameter_error": run.parameter_error,
        "seconds": seconds,
        "files": files,
    }


def print_run(run: Run, files: dict[str, str], seconds: float, passed: bool) -> None:
    """Print the run for people."""
    measured = run.recordings["holdout"].channels["tau"]
    table = Table(title="A motion the model has not seen", title_justify="left")
    table.add_column("joint")
    table.add_column("torque rms", justify="right")
    table.add_column("prediction error rms", justify="right")
    table.add_column("relative error", justify="right")
    for j, joint in enumerate(run.done.robot.joints):
        size = float(np.sqrt((measured[:, j] ** 2).mean()))
        error = float(np.sqrt(((measured - run.predicted)[:, j] ** 2).mean()))
        table.add_row(
            escape(joint.name),
            f"{size:.3f} {joint.effort_unit}",
            f"{error:.1e} {joint.effort_unit}",
            f"{run.done.holdout.joints[j]:.1e} %",
        )
    table.add_section()
    table.add_row("overall", "", "", f"{run.done.holdout.overall:.1e} %", style="bold")
    stdout.print(table)
    stdout.print(
        f"{run.done.problem.base.count} base parameters from {run.done.estimate.samples} samples, "
        f"condition number {run.done.estimate.condition:.3g}; "
        f"the worst is off by {run.parameter_error:.1e} of its value.",
        highlight=False,
        soft_wrap=True,
    )
    word = "[bold green]pass[/]" if passed else "[bold red]fail[/]"
    stdout.print(
        f"Verdict: {word}. Held-out error {run.done.holdout.overall:.1e} %, promised below {PROMISE:g} %. "
        f"Took {seconds:.1f} s.",
        highlight=False,
        soft_wrap=True,
    )
    report = files["report.html"]
    stdout.print(f"Report: {report}", highlight=False, markup=False, soft_wrap=True)
    stdout.print("Files: " + ", ".join(files.values()), highlight=False, markup=False, soft_wrap=True)
