"""Monte Carlo studies: sensors × noise × motions × methods, each tried several times on a simulated robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.audit import error_along
from steelyard.campaign.failure import Failure
from steelyard.campaign.graph import Graph
from steelyard.campaign.kinds import Plan
from steelyard.campaign.robot_document import robot_document, robot_of
from steelyard.campaign.spec import Spec
from steelyard.campaign.task import Task
from steelyard.campaign.trials import trials
from steelyard.errors import UnknownNameError
from steelyard.estimation import METHODS, fit_by_name
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import problem_of
from steelyard.signals import prepared
from steelyard.simulate import SENSORS, SensorPreset, simulate

VERSION = "1"
"""Of `trial`: raised when what it computes changes."""
_NOISY = (
    "encoder",
    "torque_noise",
    "torque_bias",
    "torque_quantum",
    "current_quantum",
    "gain_error",
    "jitter",
)
"""What the axis `noise` multiplies."""
_FIGURES = ("error", "held_out", "cond")


def monte_carlo(spec: Spec) -> Plan:
    """Turn the file of a Monte Carlo study into tasks.

    Args:
        spec: the file: `[robot] name`; `[study]` with `trials`, `sensors`, `noise` (factors), `motions`
            (seeds of random motions), `methods`, `drive` and `duration` (s).

    Returns:
        The tasks, and the one that answers.

    Raises:
        InputError: something is missing or unknown; the message says the line.
    """
    study = spec.content.section("study")
    robot = robot_document(spec.content.section("robot").text("name"))
    axes = {
        "sensor": study.texts("sensors", ("industrial",)),
        "noise": study.numbers("noise", (1.0,)),
        "motion": tuple(int(x) for x in study.numbers("motions", (1,))),
        "method": study.texts("methods", ("ols", "wls")),
    }
    for axis, known in (("sensor", tuple(SENSORS)), ("method", METHODS)):
        for name in axes[axis]:
            if name not in known:
                raise UnknownNameError(axis, str(name), known, place=study.place(f"{axis}s"))
    parameters = {
        "robot": robot,
        "drive": list(study.texts("drive", ("viscous", "coulomb", "rotor"))),
        "duration": study.number("duration", 10.0, least=0.1),
    }
    count = study.integer("trials", 3, least=1)
    spec.content.refuse_others()
    made = trials(
        "trial",
        "steelyard.campaign.monte_carlo:trial",
        {
            axis: {f"{value:g}" if axis in ("noise", "motion") else str(value): value for value in values}
            for axis, values in axes.items()
        },
        count=count,
        seed=spec.seed,
        version=VERSION,
        parameters=parameters,
    )
    table = Task(
        "answer",
        "steelyard.campaign.monte_carlo:table",
        {"axes": {axis: list(values) for axis, values in axes.items()}},
        {"tried": tuple(task.name for task in made)},
        "answer",
        VERSION,
        accepts_failed=True,
    )
    return Plan(Graph([*made, table]), "answer")


def trial(
    robot: Mapping[str, Any],
    sensor: str,
    noise: float,
    motion: int,
    method: str,
    drive: Sequence[str],
    duration: float,
    trial: int,
    seed: int,
) -> dict[str, Any]:
    """Run a random motion on a simulated robot, identify it, and compare with the truth.

    Args:
        robot: document of the robot.
        sensor: name of the preset.
        noise: factor on its imperfections.
        motion: seed of the motion; another of the same kind is held out.
        method: name of the estimator.
        drive: drive terms of the model.
        duration: of each motion, s.
        trial: number of the trial.
        seed: of this trial's noise.

    Returns:
        `error`, off the truth in units of the torque it makes on the data, percent; `held_out`, percent;
        `cond`, dimensionless.
    """
    arm, rng = robot_of(robot), np.random.default_rng(seed)
    preset = _scaled(sensor, noise)
    logs = [
        simulate(
            arm,
            random_fourier(arm, np.random.default_rng([motion, k]), period=duration),
            sensor=preset,
            rng=rng,
        )
        for k in range(2)
    ]
    train, held_out = (log if preset.truth else prepared(log).recording for log in logs)
    layout = layout_of(arm, list(drive))
    problem = problem_of(arm, layout, [train])
    estimate = fit_by_name(problem, method)
    truth = problem.base.matrix @ layout.complete_nominal()
    W = problem.base_factor()[:-1, :-1]
    off = 100.0 * np.linalg.norm(W @ (estimate.values - truth)) / np.linalg.norm(W @ truth)
    predicted = estimate.torque(arm, held_out)
    return {
        "sensor": sensor,
        "noise": noise,
        "motion": motion,
        "method": method,
        "trial": trial,
        "error": float(off),
        "held_out": float(error_along([held_out], [predicted]).overall),
        "cond": float(estimate.condition),
    }


def table(tried: Mapping[str, Mapping[str, Any] | Failure], axes: Mapping[str, Any]) -> dict[str, Any]:
    """Medians and spreads of every combination.

    Args:
        tried: all trials.
        axes: values by axis.

    Returns:
        `rows`, one for each combination: its values, how many trials gave a result, and of each figure the
        median with the quartiles; `trials`, all that gave a result; `failed`, reasons by task.
    """
    done = [dict(result) for result in tried.values() if not isinstance(result, Failure)]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for result in done:
        groups.setdefault(tuple(result[axis] for axis in axes), []).append(result)
    rows = []
    for values, results in groups.items():
        row: dict[str, Any] = dict(zip(axes, values, strict=True)) | {"trials": len(results)}
        for figure in _FIGURES:
            low, middle, high = np.percentile([result[figure] for result in results], [25, 50, 75])
            row[figure] = [float(low), float(middle), float(high)]
        rows.append(row)
    failed = {name: result.reason for name, result in tried.items() if isinstance(result, Failure)}
    return {"rows": rows, "trials": done, "failed": failed}


def _scaled(sensor: str, noise: float) -> SensorPreset:
    preset = SENSORS[sensor]
    changed = {name: noise * getattr(preset, name) for name in _NOISY}
    changed["jitter"] = min(changed["jitter"], preset.delay, 0.49 / preset.rate)
    return replace(preset, name=f"{sensor} × {noise:g}", **changed)
