"""How noise, filters and motions change what a payload weighs (paper 001, 5.2 and 5.4).

Torques of the loaded and of the empty run come from inverse dynamics along the exact motion: no plant, no
controller and no friction are in between, so that everything that goes wrong is the noise's doing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, SteelyardError, UnknownNameError
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.motion import Motion, MotionSample
from steelyard.payload.recursive import RecursivePayload
from steelyard.payload.sensitivity_filters import FILTERS, LoadEquations, NoisyRun
from steelyard.payload.sensitivity_table import ErrorCell, MotionSpread, Noise, RunningMass, SensitivityTable
from steelyard.robot import Robot

PAPERS_OBJECT = Body(0.37, np.zeros(3), np.diag([3.17e-4, 4.20e-4, 5.33e-4]))
"""The object of paper 001, Table 5.4."""
NOISES = (
    Noise(0.01, 0.01),
    Noise(torque=0.01),
    Noise(torque=0.1),
    Noise(1e-5, 1e-5, 0.1),
)
"""Paper 001's noise of states and of torques (Figs. 5-3 and 5-5), and that of real encoders."""
AMONG_MOTIONS = Noise(torque=0.01)
"""Noise under which motions are compared; paper 001 does not state that of Fig. 5-8."""
RUNNING_TRIALS = 10
"""Most trials of which the running mass is kept, as many as in paper 001."""
FEWEST = 10
"""Samples of a motion, and those after which the running mass starts."""
_COUNTS = 60


@dataclass(frozen=True, eq=False)
class SensitivityPlan:
    """What is to be studied.

    Attributes:
        robot: an arm without payload, every link of which states its inertia.
        motions: several of each kind. The first of a kind is weighed under every noise and filter, all of
            them are compared without a filter.
        body: the payload, in the tool frame.
        noises: what is added to the logs.
        filters: names, of `FILTERS`.
        trials: how often noise is drawn.
        rate: samples per second, Hz.
    """

    robot: Robot
    motions: Mapping[str, Sequence[Motion]]
    body: Body = field(default=PAPERS_OBJECT)
    noises: tuple[Noise, ...] = NOISES
    filters: tuple[str, ...] = tuple(FILTERS)
    trials: int = 18
    rate: float = 200.0

    def __post_init__(self) -> None:
        for name in self.filters:
            if name not in FILTERS:
                raise UnknownNameError("filter", name, FILTERS)
        for name, given in (("motions", self.motions), ("noises", self.noises), ("filters", self.filters)):
            if not given or (name == "motions" and not all(self.motions.values())):
                raise InputError("must not be empty.", place=name)
        if self.trials < 1:
            raise InputError(f"must be 1 or more, got {self.trials}.", place="trials")
        if not (np.isfinite(self.rate) and self.rate > 0.0):
            raise InputError(f"must be positive, got {self.rate} Hz.", place="rate")


def study_sensitivity(
    plan: SensitivityPlan, rng: np.random.Generator, progress: Callable[[float], None] | None = None
) -> SensitivityTable:
    """Weigh the payload again and again.

    All filters see the same noise, so that they are compared on the same logs.

    Args:
        plan: what is to be studied.
        rng: source of all noise.
        progress: called with the share that is done.

    Returns:
        The tables.

    Raises:
        DescriptionError: a link of the robot states no inertia.
        InputError: a motion has too few samples.
    """
    arm = LoadEquations(plan.robot)
    cells: list[ErrorCell] = []
    running: list[RunningMass] = []
    spreads: list[MotionSpread] = []
    for k, (kind, motions) in enumerate(plan.motions.items()):
        runs = [_ExactRun.along(plan, motion) for motion in motions]
        for j, noise in enumerate(plan.noises):
            noisy = [runs[0].noisy(noise, rng) for _ in range(plan.trials)]
            cells += [_cell(arm, kind, noise, name, noisy, plan.body) for name in plan.filters]
            if noise.torque:
                running.append(_running(arm, kind, noise, noisy[:RUNNING_TRIALS]))
            if progress is not None:
                progress((k + (j + 1) / len(plan.noises)) / len(plan.motions))
        spreads.append(_spread(arm, kind, runs, plan.body, rng))
    return SensitivityTable(
        arm.held.frame,
        plan.body.parameters,
        plan.rate,
        plan.trials,
        tuple(cells),
        tuple(running),
        tuple(spreads),
    )


@dataclass(frozen=True, eq=False)
class _ExactRun:
    """A motion, and its torques with and without the payload."""

    at: MotionSample
    loaded: Array
    empty: Array
    interval: float

    @classmethod
    def along(cls, plan: SensitivityPlan, motion: Motion) -> _ExactRun:
        at = motion.sample(np.arange(0.0, motion.duration, 1.0 / plan.rate))
        if len(at.q) < FEWEST:
            raise InputError(
                f"{plan.rate:g} Hz gives {len(at.q)} samples of a motion of {motion.duration:.3g} s; "
                f"{FEWEST} are needed.",
                place="rate",
            )
        torques = []
        for robot in (plan.robot.with_body("payload", plan.body), plan.robot):
            layout = layout_of(robot)
            torques.append(inverse_dynamics(robot, layout, layout.complete_nominal(), at.q, at.v, at.a))
        return cls(at, torques[0], torques[1], 1.0 / plan.rate)

    def noisy(self, noise: Noise, rng: np.random.Generator) -> NoisyRun:
        e = rng.standard_normal((4, *self.at.q.shape))
        return NoisyRun(
            self.interval,
            self.at.q + noise.position * e[0],
            self.at.v + noise.velocity * e[1],
            (self.loaded + noise.torque * e[2]) - (self.empty + noise.torque * e[3]),
            self.at.v,
        )


def _cell(
    arm: LoadEquations, kind: str, noise: Noise, name: str, noisy: Sequence[NoisyRun], body: Body
) -> ErrorCell:
    errors, reasons = [], []
    for run in noisy:
        try:
            errors.append(FILTERS[name](arm, run) - body.parameters)
        except SteelyardError as refusal:
            reasons.append(str(refusal))
    found = np.array(errors).reshape(-1, 10)
    return ErrorCell(kind, noise, name, found, len(reasons), reasons[0] if reasons else "")


def _running(arm: LoadEquations, kind: str, noise: Noise, noisy: Sequence[NoisyRun]) -> RunningMass:
    N = len(noisy[0].q)
    counts = np.unique(np.geomspace(FEWEST, N, _COUNTS).astype(np.int64))
    masses = []
    for run in noisy:
        known = RecursivePayload.starting(arm.robot, arm.held, np.ones(arm.robot.nv), changes=())
        a, mass = run.differences, []
        for first, last in zip((0, *counts[:-1]), counts, strict=True):
            rows = slice(int(first), int(last))
            known = known.absorb(run.q[rows], run.v[rows], a[rows], run.residual[rows])
            mass.append(known.values[0])
        masses.append(mass)
    return RunningMass(kind, noise, counts, np.array(masses))


def _spread(
    arm: LoadEquations, kind: str, runs: Sequence[_ExactRun], body: Body, rng: np.random.Generator
) -> MotionSpread:
    noisy = [run.noisy(AMONG_MOTIONS, rng) for run in runs]
    return MotionSpread(
        kind,
        AMONG_MOTIONS,
        np.array([len(run.at.q) * run.interval for run in runs]),
        np.array([np.linalg.cond(arm.matrix(run.at.q, run.at.v, run.at.a)) for run in runs]),
        np.array([FILTERS["none"](arm, run) - body.parameters for run in noisy]),
    )
