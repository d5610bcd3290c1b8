"""`CampaignContent`: everything the page of a campaign says, as plain data; whoever ran it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from steelyard.audit import ParameterChange, ParameterCloud, Verdict
from steelyard.errors import InputError, UnknownNameError
from steelyard.report.campaign_parts import (
    AcceptedParameter,
    CampaignRun,
    CommandCurves,
    HeldOutMotion,
    StageJudgement,
)
from steelyard.report.content import TorqueTrace


@dataclass(frozen=True, eq=False)
class CampaignContent:
    """What the page says.

    Attributes:
        name: of the campaign.
        robot: name of the robot.
        digest: SHA-256 of its description.
        setting: name of the protocol, such as `shared starts`.
        setting_words: what that protocol does, in a sentence or two.
        simulated: whether the logs come from a simulated plant.
        runs: every motion at every sampling interval.
        verdict: the checks and their outcome.
        wall_seconds: from start to end, s.
        cpu_seconds: of all cores together, s; NaN where that is not known.
        cores: that worked.
        cloud: the answers after every stage, its labels those of the runs; None where there is none.
        compared: motions that are set beside each other, as AP01 and AG02 are in the paper.
        representative: label of the run whose answer was chosen; empty for none.
        candidates: labels it was chosen from; empty for all.
        stages: what is known of the chosen answer, stage by stage.
        changes: parameters that the last stage changed most.
        changed_from: name of the stage before the last, with which the changes are compared.
        parameters: of the accepted model.
        held_out: errors of prediction on motions not used.
        joints: names of those whose torque is shown.
        units: units of their torque.
        traces: their torque along motions, measured and predicted by the accepted model.
        commands: reference commands of motions.
        beside_paper: whether the robot and the motions are those of paper 004, so that its figures stand by.
        assumptions: what the results rest on, in sentences.
        digests: SHA-256 by what was read.
        versions: of the software, by name.
        spec: the description of the campaign, as it was read.
        untested: what was not tested, in sentences.
        made: when and by whom the page was made; empty to leave it out.
        schema: number of this layout.
    """

    name: str
    robot: str
    digest: str
    setting: str
    setting_words: str
    simulated: bool
    runs: tuple[CampaignRun, ...]
    verdict: Verdict
    wall_seconds: float
    cpu_seconds: float
    cores: int
    cloud: ParameterCloud | None = None
    compared: tuple[str, ...] = ()
    representative: str = ""
    candidates: tuple[str, ...] = ()
    stages: tuple[StageJudgement, ...] = ()
    changes: tuple[ParameterChange, ...] = ()
    changed_from: str = ""
    parameters: tuple[AcceptedParameter, ...] = ()
    held_out: tuple[HeldOutMotion, ...] = ()
    joints: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    traces: tuple[TorqueTrace, ...] = ()
    commands: tuple[CommandCurves, ...] = ()
    beside_paper: bool = False
    assumptions: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    spec: str = ""
    untested: tuple[str, ...] = ()
    made: str = ""
    schema: int = 1

    def __post_init__(self) -> None:
        labels = [run.label for run in self.runs]
        if len(set(labels)) != len(labels):
            raise InputError("must hold every motion at every interval once.", place="runs")
        if self.cloud is not None and not set(self.cloud.labels) <= set(labels):
            other = next(label for label in self.cloud.labels if label not in labels)
            raise UnknownNameError("run", other, labels, place="cloud")
        for label in (*self.candidates, *([self.representative] if self.representative else ())):
            if label not in labels:
                raise UnknownNameError("run", label, labels, place="representative, candidates")
        for motion in self.compared:
            if motion not in self.motions:
                raise UnknownNameError("motion", motion, self.motions, place="compared")
        for name in ("digests", "versions"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def motions(self) -> tuple[str, ...]:
        """Names of the motions, in their order."""
        return tuple(dict.fromkeys(run.motion for run in self.runs))

    @property
    def intervals(self) -> tuple[float, ...]:
        """Sampling intervals, increasing, s."""
        return tuple(sorted({run.interval for run in self.runs}))

    @property
    def failures(self) -> tuple[CampaignRun, ...]:
        """Runs without a result."""
        return tuple(run for run in self.runs if run.failed)

    @property
    def proven(self) -> int:
        """Number of runs whose result is proven positive definite at every pose."""
        return sum(run.proven is True and not run.failed for run in self.runs)

    @property
    def median_seconds(self) -> float:
        """Median time of a run, s of one core; NaN where no time is known."""
        known = [run.seconds for run in self.runs if np.isfinite(run.seconds)]
        return float(np.median(known)) if known else float("nan")

    def run(self, motion: str, interval: float) -> CampaignRun | None:
        """The run of a motion at an interval (s), or None."""
        return next((run for run in self.runs if (run.motion, run.interval) == (motion, interval)), None)
