"""How noise, filters and motions change what a payload weighs (Lambert 2023, sections 5.2 and 5.4).

Torques of the loaded and of the empty run come from inverse dynamics along the exact motion: no plant, no
controller and no friction are in between, so that everything that goes wrong is the noise's doing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, IntArray, checked, keep_checked, read_only
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.errors import InputError, RecordingError, SteelyardError, UnknownNameError
from steelyard.inertia import Body
from steelyard.layout import Layout, layout_of
from steelyard.motion import Motion, MotionSample
from steelyard.payloads.arm_model import Mount, massless, mounted_at
from steelyard.payloads.methods import weigh_with_model
from steelyard.payloads.weighing import RecursivePayload
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import Butterworth, prepared

# What a sensitivity study found: errors by motion, noise and filter, as frozen tables.

SCHEMA = 1


@dataclass(frozen=True)
class Noise:
    """Standard deviations of white Gaussian noise, the same at every joint.

    Attributes:
        position: of q, rad or m.
        velocity: of v, rad/s or m/s.
        torque: of tau, in the loaded run and in the empty one, N·m or N.
    """

    position: float = 0.0
    velocity: float = 0.0
    torque: float = 0.0

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "torque"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"must be zero or more, got {value}.", place=f"noise of {name}")

    @property
    def name(self) -> str:
        """What is not zero, as the command writes it."""
        parts = (("q", self.position), ("v", self.velocity), ("tau", self.torque))
        return ",".join(f"{symbol}={value:g}" for symbol, value in parts if value) or "none"


@dataclass(frozen=True, eq=False)
class ErrorCell:
    """One motion weighed again and again under one noise and one filter.

    Attributes:
        motion: kind of the motion.
        noise: what was added to the logs.
        filter: how the logs were filtered.
        errors: estimate less truth of the trials that gave an answer, shape (n, 10), SI.
        refused: number of trials that gave none.
        reason: why the first of them did not; empty where all answered.
    """

    motion: str
    noise: Noise
    filter: str
    errors: Array
    refused: int = 0
    reason: str = ""

    def __post_init__(self) -> None:
        keep_checked(self, ("n", 10), "errors")

    @property
    def answered(self) -> int:
        """Number of trials that gave an answer."""
        return len(self.errors)

    @property
    def squared(self) -> Array:
        """Mean squared error of the ten numbers, shape (10,), SI squared; NaN where no trial answered."""
        return np.mean(self.errors**2, axis=0) if self.answered else np.full(10, np.nan)

    @property
    def rms(self) -> Array:
        """Root of the mean squared error, shape (10,), SI."""
        return np.sqrt(self.squared)

    @property
    def mean(self) -> Array:
        """Mean error, what more trials do not average out, shape (10,), SI."""
        return np.mean(self.errors, axis=0) if self.answered else np.full(10, np.nan)

    @property
    def deviation(self) -> Array:
        """Standard deviation of the error among the trials, shape (10,), SI; NaN below two trials."""
        return np.std(self.errors, axis=0, ddof=1) if self.answered > 1 else np.full(10, np.nan)


@dataclass(frozen=True, eq=False)
class RunningMass:
    """The mass after so many samples, without any filter.

    Attributes:
        motion: kind of the motion.
        noise: what was added to the logs.
        samples: numbers of samples, increasing, shape (k,), dimensionless.
        mass: least squares of all samples so far, shape (trials, k), kg.
    """

    motion: str
    noise: Noise
    samples: IntArray
    mass: Array

    def __post_init__(self) -> None:
        mass = checked("mass", self.mass, ("trials", len(self.samples)))
        object.__setattr__(self, "samples", read_only(np.asarray(self.samples, dtype=np.int64)))
        object.__setattr__(self, "mass", read_only(mass))


@dataclass(frozen=True, eq=False)
class MotionSpread:
    """Several motions of one kind, each weighed once without any filter.

    Attributes:
        motion: the kind.
        noise: what was added to the logs.
        durations: of the motions, shape (n,), s.
        conditions: condition numbers of the data matrices without noise, in SI units, shape (n,),
            dimensionless.
        errors: estimate less truth, shape (n, 10), SI.
    """

    motion: str
    noise: Noise
    durations: Array
    conditions: Array
    errors: Array

    def __post_init__(self) -> None:
        n = len(checked("durations", self.durations, ("n",)))
        keep_checked(self, (n,), "durations")
        keep_checked(self, (n,), "conditions", finite=False)
        keep_checked(self, (n, 10), "errors")

    @property
    def rms(self) -> Array:
        """Root of the mean squared error of the ten numbers, shape (10,), SI."""
        return np.asarray(np.sqrt(np.mean(self.errors**2, axis=0)))


@dataclass(frozen=True, eq=False)
class SensitivityTable:
    """Everything a study found out.

    Attributes:
        frame: name of the frame that the ten numbers are stated in.
        truth: the ten numbers of the payload, shape (10,), SI.
        rate: samples per second, Hz.
        trials: noise was drawn so often for each cell.
        cells: errors by motion, noise and filter.
        running: the mass against the number of samples, by motion and noise.
        spreads: many motions of each kind beside each other.
        schema: number of this layout.
    """

    frame: str
    truth: Array
    rate: float
    trials: int
    cells: tuple[ErrorCell, ...]
    running: tuple[RunningMass, ...]
    spreads: tuple[MotionSpread, ...]
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        keep_checked(self, (10,), "truth")

    @property
    def motions(self) -> tuple[str, ...]:
        """Kinds of motions, in their order."""
        return tuple(spread.motion for spread in self.spreads)

    @property
    def noises(self) -> tuple[Noise, ...]:
        """Noises, in their order."""
        return tuple(dict.fromkeys(cell.noise for cell in self.cells))

    @property
    def filters(self) -> tuple[str, ...]:
        """Filters, in their order."""
        return tuple(dict.fromkeys(cell.filter for cell in self.cells))

    def cell(self, motion: str, noise: Noise, name: str) -> ErrorCell:
        """One cell.

        Args:
            motion: kind of the motion.
            noise: what was added.
            name: of the filter.

        Raises:
            UnknownNameError: there is no such cell.
        """
        by_name = {(cell.motion, cell.noise, cell.filter): cell for cell in self.cells}
        if (motion, noise, name) not in by_name:
            choices = (f"{cell.motion} {cell.noise.name} {cell.filter}" for cell in self.cells)
            raise UnknownNameError("cell", f"{motion} {noise.name} {name}", choices)
        return by_name[motion, noise, name]


# From noisy logs to the ten numbers, with one filter or another.
#
# Both runs follow the motion exactly, as in the simulation of Lambert (2023), so torques are subtracted
# sample by sample and no alignment comes in between. The first four filters differ only in how q, v, a and
# the residual torque are made of the logs, and are followed by plain least squares; the last two also weigh
# the joints.

PAPERS_FILTER = Butterworth(10.0, order=2)
"""Of torques and accelerations in Lambert (2023), section 4.4.3; here it runs forwards and backwards."""


@dataclass(frozen=True, eq=False)
class LoadEquations:
    r"""The equations $\Delta\tau = A(q, v, a)\,\varphi$ of a robot and the frame of its tool.

    Attributes:
        robot: the robot, for its kinematics.
    """

    robot: Robot

    @cached_property
    def held(self) -> Mount:
        """Where the payload is held."""
        return mounted_at(self.robot)

    @cached_property
    def layout(self) -> Layout:
        """The columns of the robot's regressor."""
        return layout_of(self.robot)

    def matrix(self, q: Array, v: Array, a: Array) -> Array:
        """The data matrix A, equations of all samples below each other.

        Args:
            q: joint positions, shape (N, nv), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².

        Returns:
            A, shape (N * nv, 10), SI.
        """
        Y = torque_regressor(self.robot, self.layout, q, v, a)
        return (Y[..., self.layout.of_link(self.held.link)] @ self.held.to_link).reshape(-1, 10)

    def least_squares(self, q: Array, v: Array, a: Array, residual: Array) -> Array:
        """Plain least squares, every torque with the same weight (Lambert 2023, eq. (4.18)).

        Args:
            q: joint positions, shape (N, nv), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².
            residual: torques with less those without the payload, shape (N, nv), N·m or N.

        Returns:
            The ten numbers, of least length where the motion hides some, shape (10,), SI.
        """
        return np.asarray(np.linalg.lstsq(self.matrix(q, v, a), residual.ravel(), rcond=None)[0])


@dataclass(frozen=True, eq=False)
class NoisyRun:
    """A loaded run with noise, the noisy torque of the empty run taken off.

    Attributes:
        interval: between samples, s.
        q: joint positions, shape (N, nv), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        residual: torques, shape (N, nv), N·m or N.
        true_velocity: v before the noise was added, shape (N, nv), rad/s or m/s.
    """

    interval: float
    q: Array
    v: Array
    residual: Array
    true_velocity: Array

    @property
    def differences(self) -> Array:
        """Accelerations by central differences of the noisy velocities, shape (N, nv), rad/s² or m/s²."""
        return np.asarray(np.gradient(self.v, self.interval, axis=0))

    def log(self, joints: tuple[str, ...]) -> Recording:
        """The run as a recording without accelerations.

        Args:
            joints: their names.
        """
        time = self.interval * np.arange(len(self.q), dtype=np.float64)
        return Recording(joints, time, self.q, self.v, None, self.residual)


def _unfiltered(arm: LoadEquations, run: NoisyRun) -> Array:
    return arm.least_squares(run.q, run.v, run.differences, run.residual)


def _true_accelerations(arm: LoadEquations, run: NoisyRun) -> Array:
    a = np.gradient(run.true_velocity, run.interval, axis=0)
    return arm.least_squares(run.q, run.v, np.asarray(a), run.residual)


def _paper(arm: LoadEquations, run: NoisyRun) -> Array:
    h = run.interval
    ends = PAPERS_FILTER.margin(h, 0)
    if len(run.q) <= 2 * ends:
        raise RecordingError(f"{ends} samples are cut at each end of {len(run.q)}.", place="butterworth")
    inside = slice(ends, len(run.q) - ends)
    a, residual = (PAPERS_FILTER.filtered(x, h, 0, 0)[inside] for x in (run.differences, run.residual))
    return arm.least_squares(run.q[inside], run.v[inside], a, residual)


def _prepared(arm: LoadEquations, run: NoisyRun) -> Array:
    log = prepared(run.log(arm.robot.joint_names)).recording.channels
    return arm.least_squares(log["q"], log["v"], log["a"], log["tau"])


def _weighted(arm: LoadEquations, run: NoisyRun) -> Array:
    log = prepared(run.log(arm.robot.joint_names)).recording
    return weigh_with_model(massless(arm.robot), arm.held, [log], changes=()).values


def _momentum(arm: LoadEquations, run: NoisyRun) -> Array:
    log = run.log(arm.robot.joint_names)
    return weigh_with_model(massless(arm.robot), arm.held, [log], changes=(), method="momentum").values


FILTERS: Mapping[str, Callable[[LoadEquations, NoisyRun], Array]] = {
    "none": _unfiltered,
    "clean": _true_accelerations,
    "butterworth": _paper,
    "prepared": _prepared,
    "weighted": _weighted,
    "momentum": _momentum,
}
"""What weighs a noisy run, by name."""
FILTER_MEANINGS: Mapping[str, str] = {
    "none": "nothing is filtered; accelerations are central differences of the noisy velocities",
    "clean": "as none, but accelerations are differences of the velocities before the noise was added",
    "butterworth": "as none, then torques and accelerations pass a low-pass of order 2, 10 Hz (Lambert 2023)",
    "prepared": "positions pass a low-pass chosen by the log and are differentiated twice, or measured "
    "velocities once where these are quieter",
    "weighted": "as prepared, but joints are weighted by their noise, as the payload command does by default",
    "momentum": "changes of momentum over windows of five samples, without accelerations or a filter; joints "
    "are weighted by their noise",
}
"""What each filter does, for people."""


PAPERS_OBJECT = Body(0.37, np.zeros(3), np.diag([3.17e-4, 4.20e-4, 5.33e-4]))
"""The object of Lambert (2023), Table 5.4."""
NOISES = (
    Noise(0.01, 0.01),
    Noise(torque=0.01),
    Noise(torque=0.1),
    Noise(1e-5, 1e-5, 0.1),
)
"""Noise of states and of torques in Lambert (2023, Figs. 5-3 and 5-5), and that of real encoders."""
AMONG_MOTIONS = Noise(torque=0.01)
"""Noise under which motions are compared; Lambert (2023) does not state that of Fig. 5-8."""
RUNNING_TRIALS = 10
"""Most trials of which the running mass is kept, as many as in Lambert (2023)."""
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
