"""The tasks of a Monte Carlo study: every log once, every method on every log, and one table."""

from __future__ import annotations

from typing import Any

from steelyard.campaign.graph import Graph
from steelyard.campaign.kinds import Plan
from steelyard.campaign.monte_carlo.study import read_study
from steelyard.campaign.robot_document import described_robot
from steelyard.campaign.spec import Spec
from steelyard.campaign.task import Task
from steelyard.campaign.trials import trials

VERSION = "3"
"""Of the tasks: raised when what one of them computes changes."""
_ROOM = "steelyard.campaign.monte_carlo"
"""Where the stages are."""


def monte_carlo(spec: Spec) -> Plan:
    """Turn the file of a Monte Carlo study into tasks.

    All methods are tried on the same logs, so that what they differ by is not chance; logs of different
    sensors, noise, motions and trials are independent.

    Args:
        spec: the file, see `Study`.

    Returns:
        The tasks, and the one that answers.

    Raises:
        InputError: something is missing, unknown or cannot run; the message says the line.
    """
    study, robot = read_study(spec), described_robot(spec)
    runs: dict[str, dict[str, Any]] = {
        "sensor": {name: name for name in study.sensors},
        "noise": {f"{factor:g}": factor for factor in study.noise},
        "motion": {str(seed): seed for seed in study.motions},
    }
    common = {"robot": robot, "duration": study.duration, "prior_error": study.prior_error}
    logs = trials(
        "record",
        f"{_ROOM}.trial:record",
        runs,
        count=study.trials,
        seed=spec.seed,
        version=VERSION,
        parameters=common,
    )
    fits = [_fit(log, method, study.drive) for method in study.methods for log in logs]
    axes = {axis: list(values.values()) for axis, values in runs.items()} | {"method": list(study.methods)}
    answer = Task(
        "answer",
        f"{_ROOM}.table:table",
        {"axes": axes},
        {"tried": tuple(task.name for task in fits)},
        "answer",
        VERSION,
        accepts_failed=True,
    )
    return Plan(Graph([*logs, *fits, answer]), "answer")


def _fit(log: Task, method: str, drive: tuple[str, ...]) -> Task:
    """One method on one log, named `fit.sensor.noise.motion.method.trial`."""
    condition, _, trial = log.name.removeprefix("record.").rpartition(".")
    names = ("robot", "sensor", "noise", "motion", "duration", "trial")
    parameters = {name: log.parameters[name] for name in names} | {"method": method, "drive": list(drive)}
    name = f"fit.{condition}.{method}.{trial}"
    return Task(name, f"{_ROOM}.trial:fit", parameters, {"recorded": log.name}, "fit", VERSION)
