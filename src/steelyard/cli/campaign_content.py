"""What the page of an identification campaign says, gathered from the results of its tasks."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard import __version__
from steelyard.audit import (
    Check,
    ParameterChange,
    Status,
    Verdict,
    check_cloud,
    check_prediction_kept,
    parameter_cloud,
)
from steelyard.campaign import subject_of
from steelyard.cli.campaign_line import Carried
from steelyard.cli.campaign_parts import (
    commands_of,
    held_out_of,
    parameters_of,
    run_of,
    stage_of,
    total_seconds,
    traces_of,
)
from steelyard.report import (
    CampaignContent,
    CampaignRun,
    HeldOutMotion,
)

_SETTINGS = {
    "shared": "The sampling intervals of a motion share the start of the refinement and its Jacobian.",
    "independent": "Every motion at every sampling interval is refined from its own start.",
}
_STARTS = {
    "possible": "It starts at the links that can exist and fit the log best.",
    "projected": "It starts at least squares, changed as little as makes the mass matrix definite.",
}
_STEPS = {"possible": "Every step keeps the links possible.", "free": "Steps are not constrained."}


def content_of(done: Carried, answer: Mapping[str, Any]) -> CampaignContent:
    """Gather the page's content."""
    settings, cloud, final = answer["settings"], answer["cloud"], answer["final"]
    about = subject_of(done.outcome.result("subject"))
    runs = tuple(run_of(row, done) for row in cloud["runs"])
    labels = [run.label for run in runs]
    found = parameter_cloud(
        {stage: np.asarray(values) for stage, values in cloud["stages"].items()},
        labels,
        cloud["names"],
        cloud["units"],
    )
    by_name = dict(zip([row["run"] for row in cloud["runs"]], labels, strict=True))
    held_out = tuple(held_out_of(part) for part in answer["validated"].values() if "failed" not in part)
    joints = [k - 1 for k in settings["traced"]] or list(range(about.robot.nv))
    published = settings["published"]
    return CampaignContent(
        name=done.spec.name,
        robot=about.robot.name,
        digest=about.robot.digest,
        setting="shared starts" if settings["sharing"] == "shared" else "runs on their own",
        setting_words=" ".join(
            (_SETTINGS[settings["sharing"]], _STARTS[settings["start"]], _STEPS[settings["steps"]])
        ),
        simulated=True,
        runs=runs,
        verdict=_verdict(runs, found, final, held_out),
        wall_seconds=done.outcome.seconds,
        cpu_seconds=total_seconds(done),
        cores=os.cpu_count() or 1,
        cloud=found,
        compared=tuple(name for name in settings["compared"] if any(run.motion == name for run in runs)),
        representative=by_name[final["run"]],
        candidates=tuple(run.label for run in runs if run.interval == settings["representative"]),
        stages=tuple(stage_of(name, final["judged"][name]) for name in final["judged"]),
        changes=tuple(ParameterChange(*change) for change in final["changes"]) if final["rescued"] else (),
        changed_from="CLIE",
        parameters=parameters_of(cloud, final["final"], published),
        held_out=held_out,
        joints=tuple(about.robot.joint_names[j] for j in joints),
        units=tuple(about.robot.joints[j].effort_unit for j in joints),
        traces=traces_of(answer["validated"], joints),
        commands=commands_of(done, settings, joints),
        beside_paper=bool(published),
        assumptions=_assumptions(settings),
        digests={"robot": about.robot.digest},
        versions={"steelyard": __version__, "python": platform.python_version(), "numpy": np.__version__},
        spec=done.spec.path.read_text(encoding="utf-8"),
    )


def _verdict(
    runs: Sequence[CampaignRun], cloud: Any, final: Any, held_out: Sequence[HeldOutMotion]
) -> Verdict:
    failed = sum(run.failed for run in runs)
    proven = sum(run.proven is True and not run.failed for run in runs)
    accepted = final["judged"]["final"]
    definite = accepted["audit"]["proven"]
    return Verdict(
        (
            Check(
                "runs",
                Status.FAIL if failed else Status.PASS,
                f"{len(runs) - failed} of {len(runs)} runs were refined; {proven} are proven definite.",
            ),
            check_cloud(cloud),
            Check(
                "accepted model, every pose",
                Status.PASS if definite else Status.FAIL,
                f"proven: its mass matrix has no eigenvalue below {accepted['audit']['bound']:.3g} anywhere."
                if definite
                else "not proven positive definite at every pose.",
            ),
            Check(
                "accepted model, links",
                Status.PASS if accepted["possible"] else Status.WARN,
                "links that can exist have its torques."
                if accepted["possible"]
                else "no links that can exist have its torques.",
            ),
            check_prediction_kept(
                {item.motion: item.refined for item in held_out},
                {item.motion: item.final for item in held_out},
            ),
        )
    )


def _assumptions(settings: Mapping[str, Any]) -> tuple[str, ...]:
    said = [
        f"The robot is simulated: MuJoCo with the sensors of preset '{settings['sensor']}'.",
        "Measured and simulated torques are compared as means over blocks of one sampling interval.",
        "Proofs for every pose take the kinematics of the description as exact.",
    ]
    if settings["reduce"] == "products":
        said.append(f"Products of inertia are zero in the frames '{settings['frames']}' of the links.")
    if settings["lumped"]:
        said.append(f"These links count as part of the one before: {', '.join(settings['lumped'])}.")
    return tuple(said)
