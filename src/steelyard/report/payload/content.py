"""`PayloadContent`: everything the page of a weighed payload says, as plain data."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from importlib.metadata import version
from types import MappingProxyType

import numpy as np

from steelyard.arrays import Array, keep_checked
from steelyard.audit import Check, Verdict
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, RecordingError
from steelyard.finding import Finding
from steelyard.inertia import (
    PARAMETER_NAMES,
    PARAMETER_UNITS,
    Body,
    Mesh,
)
from steelyard.layout import layout_of
from steelyard.payloads import (
    QUANTITIES,
    UNITS,
    ArmModel,
    DecidedBy,
    Mount,
    PayloadEstimate,
    PayloadPrior,
    WristSensor,
    massless,
    residual_torque,
)
from steelyard.recording import AXES, Recording
from steelyard.report.arm import ArmDrawing, LinkDrawing, MassDrawing, draw_arm
from steelyard.report.content import History, TorqueTrace, check_traces
from steelyard.report.html import MINUS, Typeset, aligned_numerals, numeral, unit_words
from steelyard.robot import Robot
from steelyard.signals import in_band, without_turning
from steelyard.uncertainty import GuaranteedBounds

# What a payload's page is made of: a number with its interval, another answer, a trial beside another.


@dataclass(frozen=True)
class PayloadNumber:
    """One number of a payload.

    Attributes:
        name: one of `payload.QUANTITIES` or `inertia.PARAMETER_NAMES`.
        unit: its unit.
        value: the estimate, in its unit.
        lower: lower end of the 95 % interval, in its unit.
        upper: upper end, in its unit.
        decided: what decided it; None where that was not asked.
    """

    name: str
    unit: str
    value: float
    lower: float
    upper: float
    decided: DecidedBy | None = None

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InputError(f"ends at {self.upper} before it begins.", place=f"interval of {self.name}")

    @property
    def half_width(self) -> float:
        """Half the width of the interval, in the same unit."""
        return (self.upper - self.lower) / 2.0


@dataclass(frozen=True, eq=False)
class GainAnswer:
    """The payload as other drive gains give it.

    Attributes:
        name: whose gains they are.
        mass: kg.
        com: centre of mass in the payload's frame, shape (3,), m.
    """

    name: str
    mass: float
    com: Array

    def __post_init__(self) -> None:
        keep_checked(self, (3,), "com")


@dataclass(frozen=True)
class TrialOutcome:
    """How far the asset moved from another object in the same trial.

    Attributes:
        trial: what was done, such as `drop`.
        other: what it was compared with, such as `the true object`.
        seconds: how long both were watched, s.
        distance: largest distance of their frames' origins, m.
        angle: largest angle between their frames, rad.
        periods: time of a swing of the asset and of the other, s; None where nothing swings.
    """

    trial: str
    other: str
    seconds: float
    distance: float
    angle: float
    periods: tuple[float, float] | None = None


# How the numbers of a payload are called, in which unit they are read, and how bounds are rounded.

MILLIMETRES = 1e3
"""Of a metre: places of mass are read in mm."""
EXACT = Context(prec=2000)
"""Decimals enough for every digit of a float."""
_AXES = {f"com_{axis}": axis for axis in "xyz"}
_MOMENTS = {"moment_1": "smallest", "moment_2": "middle", "moment_3": "largest"}


def label(name: str) -> tuple[str, str]:
    """What a number is called on the page.

    Args:
        name: one of `payload.QUANTITIES` or `inertia.PARAMETER_NAMES`.

    Returns:
        Words or a letter, and the letter's subscript, which may be empty.
    """
    if name in _AXES:
        return f"centre of mass, {_AXES[name]}", ""
    if name in _MOMENTS:
        return f"{_MOMENTS[name]} principal moment", ""
    if name in ("m", "mass"):
        return "mass", ""
    head, tail = name.replace("_", "")[0], name.replace("_", "")[1:]
    return (head, tail) if head == "I" else (name, "")


def headed(number: PayloadNumber) -> dict[str, str]:
    """What a number is called at the head of its row, with the unit it is read in.

    Returns:
        The cell, as `cell` of `payload_parts.html` writes it.
    """
    words, subscript = label(number.name)
    return {"number": words, "subscript": subscript, "unit": read_unit(number.unit)}


def scale_of(unit: str) -> float:
    """What a number in a unit is multiplied by before it is read.

    Args:
        unit: its SI unit.

    Returns:
        The factor.
    """
    return MILLIMETRES if unit == "m" else 1.0


def read_unit(unit: str) -> str:
    """The unit it is then read in.

    Args:
        unit: its SI unit.

    Returns:
        Such as `mm`.
    """
    return "mm" if unit == "m" else unit_words(unit)


def interval_numerals(number: PayloadNumber) -> tuple[str, str, str]:
    """A number and the ends of its interval, with the digits the interval leaves.

    Returns:
        Value, lower and upper end as text, in the unit it is read in.
    """
    scale = scale_of(number.unit)
    half = scale * number.half_width
    value, lower, upper = (numeral(scale * x, half) for x in (number.value, number.lower, number.upper))
    return value, lower, upper


def told_numbers(numbers: Sequence[PayloadNumber]) -> list[tuple[Typeset, Typeset]]:
    """Numbers that stand below each other, with their intervals.

    Returns:
        Of each the value, and the interval, as text in the unit it is read in.
    """
    told = [interval_numerals(number) for number in numbers]
    values, lower, upper = ([texts[k] for texts in told] for k in range(3))
    return list(zip(aligned_numerals(values), told_ends(lower, upper), strict=True))


def told_ends(lower: Sequence[str], upper: Sequence[str]) -> list[Typeset]:
    """Intervals that stand below each other.

    Args:
        lower: lower ends as text.
        upper: upper ends as text.

    Returns:
        The intervals as text.
    """
    ends = zip(aligned_numerals(lower), aligned_numerals(upper), strict=True)
    return [Typeset(f"{low} … {high}") for low, high in ends]


def outward(lower: float, upper: float, *, power: int = 0) -> tuple[str, str]:
    """Bounds as text that are never tighter than the bounds: rounded down and up, to two digits of the width.

    Args:
        lower: lower end, any unit.
        upper: upper end, the same unit.
        power: power of ten that both are multiplied by, such as 3 for metres read in mm.

    Returns:
        Both ends as text with true minus signs.
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return numeral(lower), numeral(upper)
    finest = (upper - lower) / 2.0 or 1e-2 * max(abs(lower), abs(upper))
    if finest == 0.0:
        return "0", "0"
    digit = Decimal(1).scaleb(math.floor(math.log10(finest)) - 1 + power)
    return _rounded(lower, power, digit, ROUND_FLOOR), _rounded(upper, power, digit, ROUND_CEILING)


def _rounded(end: float, power: int, digit: Decimal, how: str) -> str:
    # In decimals, because a float times a power of ten may itself be rounded inwards.
    number = Decimal(end).scaleb(power, EXACT).quantize(digit, how, EXACT)
    return f"{number if number else abs(number):f}".replace("-", MINUS)


@dataclass(frozen=True, eq=False)
class PayloadContent:
    """What the page says.

    Attributes:
        robot: name of the robot.
        digest: SHA-256 of its description.
        frame: what the payload's frame is called.
        link: name of the link that carries it.
        way: how it was weighed.
        why: why that way was taken, in a clause.
        prior: what a payload could be beforehand, in a sentence.
        body: the payload in its frame; it has mass.
        numbers: what people ask for, by `payload.QUANTITIES`.
        ten: the ten numbers about the frame, by `inertia.PARAMETER_NAMES`.
        verdict: the checks and their outcome.
        joints: a name per degree of freedom; per axis of the wrench where a sensor weighed.
        units: unit of the torque or force of each.
        traces: torque that the arm itself does not need, measured and explained by the payload.
        bounds: bounds of the ten numbers with what they assume; None where none were asked for.
        gains: whose drive gains the answer rests on; empty where that is no question.
        others: the answers under other drive gains.
        mesh: the payload's surface in its frame; None for none.
        uniform: the solid of one density that fills the mesh, with the measured mass; None for none.
        density: whether the payload can be that solid; None where it was not asked.
        trials: how the asset moves beside another object.
        arm: the robot with the payload in its hand; None to draw none.
        findings: what was noticed on the way.
        histories: how the runs came about.
        inputs: SHA-256 of each file that was read, by its name.
        files: names of the files beside the page.
        facts: settings and diagnostics by name, as values JSON can hold.
        versions: versions of the software by name.
        read_back: for each model, the programs that read it back and agree, by name.
        untested: what was not tested, in sentences, besides the checks that were not run.
        made: when and by whom the page was made; empty to leave it out.
        wrench: whether a sensor at the wrist weighed, and traces are of its wrench.
        schema: number of this layout.
    """

    robot: str
    digest: str
    frame: str
    link: str
    way: str
    why: str
    prior: str
    body: Body
    numbers: tuple[PayloadNumber, ...]
    ten: tuple[PayloadNumber, ...]
    verdict: Verdict
    joints: tuple[str, ...]
    units: tuple[str, ...]
    traces: tuple[TorqueTrace, ...] = ()
    bounds: GuaranteedBounds | None = None
    gains: str = ""
    others: tuple[GainAnswer, ...] = ()
    mesh: Mesh | None = None
    uniform: Body | None = None
    density: Check | None = None
    trials: tuple[TrialOutcome, ...] = ()
    arm: ArmDrawing | None = None
    findings: tuple[Finding, ...] = ()
    histories: tuple[History, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    read_back: Mapping[str, Sequence[str]] = field(default_factory=dict)
    untested: tuple[str, ...] = ()
    made: str = ""
    wrench: bool = False
    schema: int = 1

    def __post_init__(self) -> None:
        if not self.body.mass > 0.0:
            raise InputError("has no mass.", place="body", remedy="A page is about something that is held.")
        for name, valid in (("numbers", QUANTITIES), ("ten", PARAMETER_NAMES)):
            if tuple(number.name for number in getattr(self, name)) != valid:
                raise InputError(f"must be, in this order: {', '.join(valid)}.", place=name)
        if self.bounds is not None and not self.bounds.assumptions:
            raise InputError("do not say what they assume.", place="bounds", remedy="Leave them out.")
        check_traces(self.joints, self.units, self.traces)
        for name in ("inputs", "facts", "versions", "read_back"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def number(self, name: str) -> PayloadNumber:
        """One of `numbers`.

        Args:
            name: one of `payload.QUANTITIES`.
        """
        return self.numbers[QUANTITIES.index(name)]


# The torque a payload adds to a run: measured, and explained by the payload that was found.


def payload_trace(
    robot: Robot,
    estimate: PayloadEstimate,
    name: str,
    loaded: Recording,
    *,
    empty: Recording | None = None,
    model: ArmModel | None = None,
    gripper: Array | None = None,
    held_out: bool = False,
) -> TorqueTrace:
    r"""What is measured beyond the arm itself, and what the payload explains of it.

    Measured is $\tau - \tau_{arm}$, by the empty run of the same motion where there is one, otherwise by
    the model. Explained is $W_p\varphi$ and, since drives differ from run to run, what fits best joint by
    joint of a constant, $\dot q$ and $\mathrm{sign}\,\dot q$. Samples at which a joint turns are left out, as
    in the weighing.

    Args:
        robot: the robot.
        estimate: what it holds.
        name: what the run is called.
        loaded: the run, with q, v, a and tau.
        empty: the same motion without the payload; None for none.
        model: the arm without payload; beside an empty run it predicts what the arm needs where they differ.
        gripper: what the carrying link itself gained between the runs, in its own frame, shape (10,), SI;
            None for nothing.
        held_out: whether the estimate has not seen the run.

    Raises:
        InputError: neither an empty run nor a model is given.
        RecordingError: a channel is missing, or the runs are of different motions.
    """
    if empty is None and model is None:
        raise InputError("needs an empty run or a model of the arm.", place=f"trace '{name}'")
    run = loaded if empty is None else residual_torque(loaded, empty, model)
    if run.v is None or run.a is None or run.tau is None:
        raise RecordingError("needs q, v, a and tau.", place=f"recording '{name}'")
    run = without_turning(run)
    at = run.channels
    own = massless(robot) if empty is not None or model is None else model
    if gripper is not None and empty is not None:
        own = own.with_link(estimate.weighing.held.link, gripper)
    tau = at["tau"] - inverse_dynamics(robot, own.layout, own.parameters, at["q"], at["v"], at["a"])
    held = estimate.weighing.held
    body = massless(robot).with_link(held.link, held.to_link @ estimate.ten)
    payload = inverse_dynamics(robot, body.layout, body.parameters, at["q"], at["v"], at["a"])
    measured, payload = in_band(run, tau), in_band(run, payload)
    return TorqueTrace(name, held_out, run.time, measured, payload + _changes(measured - payload, at["v"]))


def wrench_trace(sensor: WristSensor, estimate: PayloadEstimate, name: str, loaded: Recording) -> TorqueTrace:
    r"""What a sensor at the wrist measures of a payload, and what the payload explains of it.

    Measured is the wrench less that of what holds the payload by the description; explained is
    $Y\varphi$ and, since a sensor's zero and a gripper that an empty run told are not kept, what fits best
    axis by axis of a constant.

    Args:
        sensor: the sensor.
        estimate: what it weighed.
        name: what the run is called.
        loaded: the run, with q, v, a and the wrench.

    Returns:
        The trace; its columns are three forces, then three moments.
    """
    Y, held = sensor.regressor(loaded), estimate.weighing.held
    payload = Y[:, :, sensor.layout.of_link(held.link)] @ (held.to_link @ estimate.ten)
    measured = in_band(loaded, sensor.measured(loaded) - Y @ sensor.gripper)
    payload = in_band(loaded, payload)
    return TorqueTrace(name, False, loaded.time, measured, payload + (measured - payload).mean(axis=0))


def _changes(rest: Array, v: Array) -> Array:
    """What offsets and friction explain of torques, joint by joint, shape (N, nv), N·m or N."""
    fitted = np.empty_like(rest)
    for j, tau in enumerate(rest.T):
        A = np.column_stack([np.ones(len(v)), v[:, j], np.sign(v[:, j])])
        fitted[:, j] = A @ np.linalg.lstsq(A, tau, rcond=None)[0]
    return fitted


# A payload's page from the objects of the line: robot, estimate, verdict, runs, and what else was asked.

POSES = 60
"""Poses of a run the arm is drawn in."""


def payload_content_of(
    robot: Robot,
    estimate: PayloadEstimate,
    verdict: Verdict,
    runs: Mapping[str, Recording],
    *,
    why: str,
    traces: Sequence[TorqueTrace] = (),
    wrench: bool = False,
    bounds: GuaranteedBounds | None = None,
    gains: str = "",
    others: Sequence[GainAnswer] = (),
    mesh: Mesh | None = None,
    density: Check | None = None,
    trials: Sequence[TrialOutcome] = (),
    findings: Sequence[Finding] = (),
    inputs: Mapping[str, str] | None = None,
    files: Sequence[str] = (),
    read_back: Mapping[str, Sequence[str]] | None = None,
    seed: int | None = None,
    untested: Sequence[str] = (),
    made: str = "",
) -> PayloadContent:
    """Gather what the page says.

    Args:
        robot: the robot.
        estimate: what it holds.
        verdict: what is to be thought of that.
        runs: the runs by name, the loaded ones first; the arm is drawn along the first.
        why: why the way of weighing was taken, in a clause.
        traces: torques of the runs, see `payload_trace`.
        wrench: whether they are wrenches of a sensor at the wrist, see `wrench_trace`.
        bounds: guaranteed bounds; None where none were asked for.
        gains: whose drive gains the answer rests on.
        others: the answers under other drive gains.
        mesh: the payload's surface in its frame.
        density: whether one density explains the estimate.
        trials: how the asset moves beside another object.
        findings: everything that was noticed, those of the estimate included.
        inputs: SHA-256 of each file that was read, by its name.
        files: names of the files beside the page.
        read_back: for each model, the programs that read it back and agree, by name.
        seed: of the draws behind the intervals; None to say nothing of it.
        untested: what was not tested, in sentences, besides the checks that were not run.
        made: when and by whom the page is made.
    """
    weighing, held = estimate.weighing, estimate.weighing.held
    joints = [(joint.name, joint.effort_unit) for joint in robot.joints for _ in range(joint.nv)]
    if wrench:
        joints = [(axis, "N" if axis.startswith("f") else "N·m") for axis in AXES]
    settings = {} if seed is None else {"seed": seed}
    uniform = None
    if mesh is not None:
        try:
            uniform = mesh.properties(mass=estimate.body.mass).body
        except InputError:  # a surface that encloses nothing is drawn, and its check says that it is open
            uniform = None
    return PayloadContent(
        robot=robot.name,
        digest=robot.digest,
        frame=held.frame,
        link=held.link,
        way=weighing.way,
        why=why,
        prior=_prior_words(estimate.prior),
        body=estimate.body,
        numbers=_numbers(estimate),
        ten=_ten(estimate),
        verdict=verdict,
        joints=tuple(name for name, _ in joints),
        units=tuple(unit for _, unit in joints),
        wrench=wrench,
        traces=tuple(traces),
        bounds=bounds,
        gains=gains,
        others=tuple(others),
        mesh=mesh,
        uniform=uniform,
        density=density,
        trials=tuple(trials),
        arm=_arm(robot, estimate, held, runs),
        findings=tuple(findings),
        histories=tuple(History(name, run.digest, run.provenance) for name, run in runs.items()),
        inputs=inputs or {},
        files=tuple(files),
        read_back=read_back or {},
        facts={"samples": weighing.samples, "condition number": weighing.condition, **settings},
        versions={
            "steelyard": version("steelyard"),
            "numpy": version("numpy"),
            "scipy": version("scipy"),
            "python": platform.python_version(),
        },
        untested=tuple(untested),
        made=made,
    )


def _prior_words(prior: PayloadPrior) -> str:
    place = ", ".join(f"{x:g}" for x in prior.centre.tolist())
    return (
        f"The prior: a body that can exist, of at most {prior.heaviest:g} kg, within {prior.extent:g} m of "
        f"({place}) m of its frame."
    )


def _numbers(estimate: PayloadEstimate) -> tuple[PayloadNumber, ...]:
    columns = (estimate.values.tolist(), estimate.lower.tolist(), estimate.upper.tolist())
    rows = zip(QUANTITIES, UNITS, *columns, strict=True)
    return tuple(PayloadNumber(*row, decided=estimate.decided[row[0]]) for row in rows)


def _ten(estimate: PayloadEstimate) -> tuple[PayloadNumber, ...]:
    ends: Array = np.quantile(estimate.draws, (0.025, 0.975), axis=0)
    rows = zip(PARAMETER_NAMES, PARAMETER_UNITS, estimate.ten.tolist(), *ends.tolist(), strict=True)
    return tuple(PayloadNumber(*row) for row in rows)


def _arm(
    robot: Robot, estimate: PayloadEstimate, held: Mount, runs: Mapping[str, Recording]
) -> ArmDrawing | None:
    """The arm along the first run, with the payload as a further link."""
    if not runs:
        return None
    name, run = next(iter(runs.items()))
    shown = np.unique(np.linspace(0, run.n - 1, POSES).astype(int))
    bare = draw_arm(robot, layout_of(robot), run.q[shown], time=run.time[shown], motion=name)
    carrier = robot.link_names.index(held.link) + 1
    drawn = MassDrawing(estimate.body.mass, estimate.body.equivalent_ellipsoid())
    payload = LinkDrawing("payload", carrier, estimated=drawn)
    frames = np.concatenate([bare.frames, bare.frames[:, carrier, None] @ held.placement.matrix], axis=1)
    return ArmDrawing((*bare.links, payload), frames, bare.time, bare.motion)
