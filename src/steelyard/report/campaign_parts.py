"""What the page of a campaign is made of: a run, a stage of the chosen model, a parameter, a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from steelyard.arrays import Array, checked, read_only
from steelyard.audit import PredictionError
from steelyard.errors import InputError


@dataclass(frozen=True, eq=False)
class CampaignRun:
    """One motion at one sampling interval, through all stages.

    Attributes:
        motion: its name.
        interval: between samples, s.
        condition: of the regressor, dimensionless; None where there was none.
        passed: whether least squares gave a positive definite inertia matrix; None where it gave nothing.
        route: the stages it went through, such as `O-S-C`.
        margin: smallest eigenvalue the projection asked for, kg·m²; None where nothing was projected.
        rms: of the torque left after each stage, by its name, N·m.
        iterations: of the refinement; None where there was none.
        outcome: how it ended, in a word or two, such as `converged`.
        proven: whether the result is proven positive definite at every pose; None where that was not asked.
        seconds: it took, s of one core; NaN where that is not known.
        reason: why it failed, in a sentence; empty where it did not.
    """

    motion: str
    interval: float
    condition: float | None
    passed: bool | None
    route: str
    margin: float | None
    rms: Mapping[str, float]
    iterations: int | None
    outcome: str
    proven: bool | None
    seconds: float
    reason: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rms", MappingProxyType(dict(self.rms)))

    @property
    def label(self) -> str:
        """Motion and interval, such as `AG02 @ 40 ms`; as in the labels of the cloud."""
        return f"{self.motion} @ {1e3 * self.interval:g} ms"

    @property
    def family(self) -> str:
        """The letters its motion's name begins with, such as `AG`."""
        return self.motion.rstrip("0123456789") or self.motion

    @property
    def failed(self) -> bool:
        """Whether it ended without a result."""
        return bool(self.reason)


@dataclass(frozen=True)
class StageJudgement:
    """What is known of the chosen model after one stage.

    Attributes:
        stage: its name.
        sampled: smallest eigenvalue of the inertia matrix over sampled poses, kg·m²; None where not asked.
        poses: number of those poses.
        minimised: the smallest that local minimisation found, kg·m²; None where not asked.
        proven: whether it is proven positive at every pose; None where not asked.
        bound: the proven lower bound of the smallest eigenvalue, kg·m²; None without one.
        possible: whether links of real mass can have these parameters; None where not asked.
        margin: what this stage asked of the smallest eigenvalue, kg·m²; None where it asked nothing.
        remark: what the stage is, in a few words.
    """

    stage: str
    sampled: float | None = None
    poses: int = 0
    minimised: float | None = None
    proven: bool | None = None
    bound: float | None = None
    possible: bool | None = None
    margin: float | None = None
    remark: str = ""


@dataclass(frozen=True)
class AcceptedParameter:
    """One parameter of the accepted model.

    Attributes:
        name: of the parameter.
        unit: its unit.
        value: accepted, in its unit.
        published_name: what paper 004 calls the one that corresponds; empty where none does.
        published: what the paper states for its own arm, in the same unit; None where it states nothing.
    """

    name: str
    unit: str
    value: float
    published_name: str = ""
    published: float | None = None


@dataclass(frozen=True)
class HeldOutMotion:
    """How well two models predict a motion that neither has seen.

    Attributes:
        motion: its name.
        refined: errors of the refined model.
        final: errors of the accepted model.
    """

    motion: str
    refined: PredictionError
    final: PredictionError


@dataclass(frozen=True, eq=False)
class CommandCurves:
    """What the joints were told to do along a motion; arrays are read-only.

    Attributes:
        motion: its name.
        told: what the motion is for, in a few words.
        joints: names of those shown.
        units: their units.
        time: increasing, shape (N,), s.
        values: commanded positions, shape (N, n), rad or m.
    """

    motion: str
    told: str
    joints: tuple[str, ...]
    units: tuple[str, ...]
    time: Array
    values: Array

    def __post_init__(self) -> None:
        time = checked("time", self.time, ("N",))
        values = checked("values", self.values, (len(time), len(self.joints)))
        if len(self.units) != len(self.joints):
            raise InputError(f"{len(self.units)} units for {len(self.joints)} joints.", place="units")
        if len(time) < 2 or not (time[1:] > time[:-1]).all():
            raise InputError("must increase, over two samples at least.", place=f"commands '{self.motion}'")
        object.__setattr__(self, "time", read_only(time))
        object.__setattr__(self, "values", read_only(values))
