"""The whole line on a simulated arm: what `steelyard demo` does, writes and prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.audit import TorqueError, torque_error
from steelyard.cli.output import say, stdout
from steelyard.drive import DRIVE_TERMS
from steelyard.errors import InputError
from steelyard.estimation import fit_least_squares
from steelyard.files import write_text
from steelyard.identifiability import BaseParameters, structural_identifiability
from steelyard.layout import Layout, layout_of
from steelyard.motion import FourierMotion, random_fourier, write_motion
from steelyard.problem import Estimate, problem_of
from steelyard.recording import Recording, write
from steelyard.report import torque_figure
from steelyard.robot import Robot
from steelyard.simulate import simulate

PROMISE = 0.1
"""Held-out relative torque error the demo must stay below, percent."""


@dataclass(frozen=True)
class Run:
    """Everything the demo found out."""

    robot: Robot
    layout: Layout
    base: BaseParameters
    motions: dict[str, FourierMotion]
    recordings: dict[str, Recording]
    estimate: Estimate
    predicted: Array
    holdout: TorqueError
    parameter_error: float


def run_line(robot: Robot, seed: int) -> Run:
    """Describe, move, record, fit and predict."""
    say(f"1  {robot.name}: {len(robot.joints)} joints, {robot.mass:.4g} kg stated")
    layout = layout_of(robot, [term.name for term in DRIVE_TERMS])
    truth = layout.complete_nominal()
    rng = np.random.default_rng(seed)
    base = structural_identifiability(robot, layout).base
    say(f"2  torques can determine {base.count} combinations of its {layout.size} parameters")
    motions = {"train": random_fourier(robot, rng), "holdout": random_fourier(robot, rng)}
    recordings = {}
    for name, motion in motions.items():
        say(f"3  run the {name} motion, {motion.duration:g} s, on the simulated robot (MuJoCo)")
        recordings[name] = simulate(robot, motion, sensor="ideal")
    say("4  fit the base parameters to the training log by least squares")
    estimate = fit_least_squares(problem_of(robot, layout, [recordings["train"]]))
    held_out = recordings["holdout"]
    predicted = estimate.torque(robot, held_out)
    tau = held_out.tau
    if tau is None:
        raise InputError("the simulated log carries no torque.", place="holdout")
    say("5  predict the torques of the held-out motion")
    beta = base.matrix @ truth
    off = np.abs(estimate.values - beta) / np.maximum(np.abs(beta), 1e-3 * np.abs(beta).max())
    return Run(
        robot,
        layout,
        base,
        motions,
        recordings,
        estimate,
        predicted,
        torque_error(tau, predicted),
        parameter_error=float(off.max()),
    )


def write_files(run: Run, out: Path) -> dict[str, str]:
    """Write motions, logs, parameters and the picture; returns their paths by name."""
    held_out = run.recordings["holdout"]
    figure = torque_figure(
        held_out.time,
        held_out.channels["tau"],
        run.predicted,
        joints=run.robot.joint_names,
        units=[joint.effort_unit for joint in run.robot.joints],
        errors=run.holdout.joints,
        title=f"{run.robot.name}: torque of a motion it was not identified on",
    )
    parameters = {
        "robot": run.robot.digest,
        "method": run.estimate.method,
        "base": [
            {
                "name": name,
                "value": value,
                "combines": {run.layout.names[c]: row[c] for c in np.flatnonzero(row)},
            }
            for name, value, row in zip(run.base.names, run.estimate.values, run.base.matrix, strict=True)
        ],
    }
    text = json.dumps(to_document(parameters), indent=1, ensure_ascii=False)
    writers: dict[str, Callable[[Path], None]] = {
        "train.motion.json": lambda path: write_motion(run.motions["train"], path),
        "holdout.motion.json": lambda path: write_motion(run.motions["holdout"], path),
        "train.parquet": lambda path: write(run.recordings["train"], path),
        "holdout.parquet": lambda path: write(run.recordings["holdout"], path),
        "parameters.json": lambda path: write_text(path, text + "\n"),
        "torque.svg": lambda path: write_text(path, figure),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, writer in writers.items():
        writer(out / name)
    return {name: str(out / name) for name in writers}


def document(run: Run, files: dict[str, str], seconds: float, passed: bool) -> dict[str, Any]:
    """The run as a JSON document."""
    return {
        "verdict": "pass" if passed else "fail",
        "robot": run.robot.name,
        "parameters": run.layout.size,
        "identifiable": run.base.count,
        "cond": run.estimate.condition,
        "samples": run.recordings["train"].n,
        "holdout": {
            "overall": run.holdout.overall,
            "joints": dict(zip(run.robot.joint_names, run.holdout.joints, strict=True)),
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
    for j, joint in enumerate(run.robot.joints):
        size = float(np.sqrt((measured[:, j] ** 2).mean()))
        error = float(np.sqrt(((measured - run.predicted)[:, j] ** 2).mean()))
        table.add_row(
            escape(joint.name),
            f"{size:.3f} {joint.effort_unit}",
            f"{error:.1e} {joint.effort_unit}",
            f"{run.holdout.joints[j]:.1e} %",
        )
    table.add_section()
    table.add_row("overall", "", "", f"{run.holdout.overall:.1e} %", style="bold")
    stdout.print(table)
    stdout.print(
        f"{run.base.count} base parameters from {run.recordings['train'].n} samples, condition number "
        f"{run.estimate.condition:.3g}; the worst is off by {run.parameter_error:.1e} of its value.",
        highlight=False,
        soft_wrap=True,
    )
    word = "[bold green]pass[/]" if passed else "[bold red]fail[/]"
    stdout.print(
        f"Verdict: {word}. Held-out error {run.holdout.overall:.1e} %, promised below {PROMISE:g} %. "
        f"Took {seconds:.1f} s.",
        highlight=False,
        soft_wrap=True,
    )
    stdout.print("Files: " + ", ".join(files.values()), highlight=False, markup=False, soft_wrap=True)
