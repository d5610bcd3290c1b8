"""The tasks of an identification campaign: record, fit, start, refine; the cloud, and the model chosen."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from steelyard.campaigns.identification.record import make_motions
from steelyard.campaigns.identification.reference import CampaignReference, campaign_reference
from steelyard.campaigns.identification.robot_case import (
    RobotCase,
    Settings,
    read_settings,
    robot_case_document,
    robot_case_of,
)
from steelyard.campaigns.spec import CampaignPlan, Spec, described_robot
from steelyard.campaigns.task import Task, TaskGraph, task_seed
from steelyard.errors import MOST_CHOICES, InputError, UnknownNameError
from steelyard.simulation import sensor_preset, torque_per_ampere

_ROOM = "steelyard.campaigns.identification"
"""Where the stages are."""
VERSION = "1"
"""Of the stages: raised when what one of them computes changes."""


def identification(spec: Spec) -> CampaignPlan:
    """Turn the file of an identification campaign into tasks.

    Args:
        spec: the file.

    Returns:
        The tasks, and the one that answers.

    Raises:
        InputError: the file asks for what does not exist.
    """
    settings, robot, reference = read_settings(spec), described_robot(spec), campaign_reference(spec)
    spec.content.refuse_others()
    subject = robot_case_document(settings, robot)
    _require_runnable(robot_case_of(subject))
    motions = make_motions(subject)
    if reference is not None:
        _require_comparable(reference, robot_case_of(subject), motions)
    fitted_on, held_out = _names(settings, motions)
    build = _Builder(settings)
    build.add("subject", "plan:given", "description", {"value": subject})
    build.add("motions", "plan:given", "description", {"value": motions})
    for motion in held_out:
        build.record(motion, motion)
    labels = []
    for motion in fitted_on:
        for trial in range(1, settings.trials + 1):
            run = motion if settings.trials == 1 else f"{motion}.{trial}"
            build.record(run, motion)
            labels.append((run, motion))
            build.stages(run, motion)
    build.gather(labels, held_out)
    return CampaignPlan(TaskGraph(build.tasks), "answer")


def _require_runnable(about: RobotCase) -> None:
    """Refuse, before anything runs, a controller, a sensor or a model that the robot cannot have."""
    preset = sensor_preset(about.settings.sensor)
    torque_per_ampere(preset, about.robot)
    cycle = about.loop.cycle
    if abs(cycle * preset.rate - 1.0) > 1e-9:
        raise InputError(
            f"is {cycle:g} s, but sensor preset '{preset.name}' is read every {1.0 / preset.rate:g} s.",
            place="controller.cycle",
        )
    for interval in about.settings.intervals:
        if abs(interval / cycle - round(interval / cycle)) > 1e-6:
            raise InputError(
                f"{1e3 * interval:g} ms is no multiple of the control cycle.", place="sampling.intervals_ms"
            )
    # Building the model refuses links and terms that the robot does not have.
    _ = about.model


def _require_comparable(reference: CampaignReference, about: RobotCase, motions: dict[str, Any]) -> None:
    """Refuse figures of motions that the arm does not have, or of another number of parameters.

    Nothing else of the reference is used here: what no task is given is in no key, and whoever changes it
    has the page written again and nothing computed.
    """
    for motion, table in reference.motions.items():
        if motion not in motions["motions"]:
            raise UnknownNameError("motion", motion, motions["motions"], place=f"reference.{table}")
    stated, names = len(reference.parameters), about.model.names
    if stated not in (0, len(names)):
        raise InputError(
            f"states {stated} values; the model has {len(names)}: {', '.join(names[:MOST_CHOICES])}.",
            place="reference.parameters",
            remedy="State one for each, in this order, or none.",
        )


def given(value: Any) -> Any:
    """A value that others depend on."""
    return value


def _names(settings: Settings, motions: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The motions to identify on and those to hold out."""
    everything, validation = list(motions["motions"]), motions["held_out"]
    for name in (*settings.identify, *settings.validate):
        if name not in everything:
            raise UnknownNameError("motion", name, everything, place="motions")
    fitted_on = list(settings.identify) or [name for name in everything if name not in validation]
    held_out = list(settings.validate) or [name for name in validation if name not in fitted_on]
    return fitted_on, held_out


class _Builder:
    """Tasks in the making."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.tasks: list[Task] = []

    def add(
        self,
        name: str,
        function: str,
        kind: str,
        parameters: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        *,
        accepts_failed: bool = False,
    ) -> None:
        reference = f"{_ROOM}.{function}"
        self.tasks.append(
            Task(name, reference, parameters or {}, inputs or {}, kind, VERSION, accepts_failed)
        )

    def record(self, run: str, motion: str) -> None:
        seed = task_seed(self.settings.seed, f"record.{run}")
        inputs = {"subject": "subject", "motions": "motions"}
        self.add(f"record.{run}", "record:record", "record", {"motion": motion, "seed": seed}, inputs)

    def stages(self, run: str, motion: str) -> None:
        logs = {"subject": "subject", "motions": "motions", "recorded": f"record.{run}"}
        starts = []
        for interval in self.settings.intervals:
            at = f"{run}@{_ms(interval)}"
            of = {"motion": motion, "interval": interval}
            run_alone = {"subject": "subject", "recorded": f"record.{run}"}
            self.add(f"ols.{at}", "fit:least_squares", "ols", {"interval": interval}, run_alone)
            self.add(f"start.{at}", "fit:start", "start", {}, {"subject": "subject", "fitted": f"ols.{at}"})
            starts.append(f"start.{at}")
            if self.settings.sharing == "independent":
                self.add(f"refine.{at}", "fit:refine_alone", "refine", of, logs | {"start": f"start.{at}"})
        if self.settings.sharing == "shared":
            inputs = logs | {"starts": tuple(starts)}
            self.add(f"refine.{run}", "fit:refine_together", "refine", {"motion": motion}, inputs)

    def gather(self, labels: list[tuple[str, str]], held_out: list[str]) -> None:
        runs = [(run, interval) for run, _ in labels for interval in self.settings.intervals]
        at = [f"{run}@{_ms(interval)}" for run, interval in runs]
        shared = self.settings.sharing == "shared"
        refined = [f"refine.{run}" for run, _ in labels] if shared else [f"refine.{x}" for x in at]
        inputs = {
            "subject": "subject",
            "fitted": tuple(f"ols.{x}" for x in at),
            "starts": tuple(f"start.{x}" for x in at),
            "refined": tuple(refined),
        }
        parameters = {
            "labels": at,
            "motions": [motion for _, motion in labels for _ in self.settings.intervals],
        }
        self.add("cloud", "gather:cloud", "cloud", parameters, inputs, accepts_failed=True)
        self.add("final", "gather:final", "final", {}, {"subject": "subject", "cloud": "cloud"})
        for motion in held_out:
            self.add(
                f"validate.{motion}",
                "gather:validate_model",
                "validate",
                {"motion": motion},
                {
                    "subject": "subject",
                    "motions": "motions",
                    "recorded": f"record.{motion}",
                    "final": "final",
                },
            )
        self.add(
            "answer",
            "gather:campaign_answer",
            "answer",
            {"settings": asdict(self.settings)},
            {
                "cloud": "cloud",
                "final": "final",
                "validated": tuple(f"validate.{motion}" for motion in held_out),
            },
            accepts_failed=True,
        )


def _ms(interval: float) -> str:
    return f"{1e3 * interval:g}"
