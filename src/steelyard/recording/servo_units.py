"""In which units servos write a log: degrees, shares of a calibrated range, or counts of an encoder.

What is known of the servos, by their makers (ROBOTIS e-Manual, X series; Feetech, memory table of the STS
series) and by LeRobot's tables of motors:

- an encoder has 4096 counts in a turn, and a servo whose zero nobody moved stands in the middle at 2048;
- a count of velocity of the X series is 0.229 rpm; one of Feetech's is 1 or 50 counts a second, which a
  register decides that no log holds, so it is never read as a velocity;
- a count of current is 2.69 mA (XM430, XM540), 1 mA (XL330) or 6.5 mA (STS3215); XL430 and XC430 have none;
- the X series writes negative numbers as the complement of two, Feetech with bit 15 for the sign.

LeRobot normalises by a calibrated range from `range_min` to `range_max`, in counts of the register, in which
`homing_offset` is contained already: -100 to 100, 0 to 100 for a gripper, or degrees from the middle.
`drive_mode` turns counts of Feetech servos round; Dynamixels turn round their registers themselves,
normalised values are turned round already, and degrees never are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.document import kind_of, read_table
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.recording.columns import Assignment
from steelyard.recording.table import Column, Table

# The servos, and what their counts are

TURN = 4096
"""Counts of an encoder in a turn, of every servo below."""
_RPM = 2.0 * math.pi / 60.0
FASTEST = 456.0 * _RPM
"""No servo below turns faster, rad/s: an XL330-M077 at 6 V without load."""


@dataclass(frozen=True)
class ServoRegisters:
    """What the registers of a servo count.

    Attributes:
        velocity: a count of velocity, rad/s; None where the log cannot say.
        current: a count of current, A; None where the servo measures none.
        sign_bit: the bit that says that a number is negative; None for the complement of two.
        turns_itself: whether a register is turned round already where `drive_mode` says so.
    """

    velocity: float | None
    current: float | None
    sign_bit: int | None = None
    turns_itself: bool = True


_X = 0.229 * _RPM
SERVOS = {
    "sts3215": ServoRegisters(None, 6.5e-3, sign_bit=15, turns_itself=False),
    "sts3250": ServoRegisters(None, 6.5e-3, sign_bit=15, turns_itself=False),
    "xl330-m077": ServoRegisters(_X, 1.0e-3),
    "xl330-m288": ServoRegisters(_X, 1.0e-3),
    "xl430-w250": ServoRegisters(_X, None),
    "xc430-w150": ServoRegisters(_X, None),
    "xm430-w350": ServoRegisters(_X, 2.69e-3),
    "xm540-w270": ServoRegisters(_X, 2.69e-3),
}

# What a user says of the units

RADIANS, DEGREES, NORMALISED, COUNTS = UNITS = ("rad", "degrees", "normalised", "counts")
_SPELLINGS = {"deg": DEGREES, "normalized": NORMALISED, "si": RADIANS, "radians": RADIANS}
FORM = "UNIT[,JOINT=UNIT…] with UNIT one of rad, degrees, normalised or counts:SERVO"
LIMITS = "limits"
"""What stands for a calibration file where the robot's limits are the calibrated range."""
_MOST_BYTES = 1 << 20
_FARTHEST = 1 << 31
"""No register counts so far."""


class Unit(NamedTuple):
    """The unit of a joint.

    Attributes:
        word: one of `UNITS`.
        servo: the servo that counts; None where it is not said.
    """

    word: str
    servo: str | None = None

    def __str__(self) -> str:
        return self.word if self.servo is None else f"{self.word}:{self.servo}"


@dataclass(frozen=True)
class Motor:
    """A motor as LeRobot's calibration has it, with two entries of ours.

    Attributes:
        range_min: least position, counts.
        range_max: largest position, counts.
        drive_mode: whether it turns the other way than its joint.
        zero: where the middle of the range is in the robot's description, rad; None where nothing is said.
        direction: 1, or -1 where the description's joint turns the other way than the log, dimensionless.
    """

    range_min: float
    range_max: float
    drive_mode: bool = False
    zero: float | None = None
    direction: float = 1.0


@dataclass(frozen=True)
class Units:
    """In which units the positions of a log are written, and what brings them to rad or m.

    Attributes:
        usual: the unit of joints of which nothing else is said; None where nothing is said at all.
        by_joint: the unit of others.
        motors: the calibrated motors, by joint.
        limits: least and largest position that -100 and 100 (a gripper's 0 and 100) stand for, rad or m, by
            joint; None where the robot's limits are not its calibrated range.
        source: the calibration file.
    """

    usual: Unit | None = None
    by_joint: Mapping[str, Unit] = field(default_factory=dict)
    motors: Mapping[str, Motor] = field(default_factory=dict)
    limits: Mapping[str, tuple[float, float]] | None = None
    source: str = ""

    def of(self, joint: str) -> Unit:
        """The unit of a joint."""
        return self.by_joint.get(joint, self.usual or Unit(RADIANS))

    def counts_current(self, joint: str) -> bool:
        """Whether it is known what a count of current is at a joint."""
        unit = self.of(joint)
        return unit.servo is not None and SERVOS[unit.servo].current is not None


def units_of(
    units: Units | str | None,
    calibration: FilePath | Mapping[str, tuple[float, float]] | None = None,
) -> Units | None:
    """What is said of the units of a log.

    Args:
        units: text of the form `FORM`, such as `degrees,gripper=normalised` or `counts:sts3215`.
        calibration: a file as LeRobot writes it, in JSON, which may also state `zero` (rad) and `direction`
            of a motor; or least and largest position by joint, rad or m, that a normalised range stands for.

    Returns:
        The units; None where nothing is said.

    Raises:
        InputError: it cannot be understood.
    """
    if isinstance(units, Units):
        return units
    if units is None and calibration is None:
        return None
    said = Units() if units is None else _said(units)
    if calibration is None:
        return said
    if isinstance(calibration, Mapping):
        return replace(said, limits=_checked_limits(calibration))
    return replace(said, motors=read_calibration(calibration), source=Path(calibration).name)


def _said(text: str) -> Units:
    if not isinstance(text, str):
        raise InputError(
            f"must be text, got {type(text).__name__}.", place="--units", remedy=f"Write {FORM}."
        )
    usual: Unit | None = None
    by_joint: dict[str, Unit] = {}
    for part in text.split(","):
        joint, equals, word = (piece.strip() for piece in part.rpartition("="))
        if (equals and not joint) or joint in by_joint or (not equals and usual is not None):
            raise InputError(
                f"'{part.strip()[:60]}' does not say, once, the unit of a joint.",
                place="--units",
                remedy=f"Write {FORM}.",
            )
        if equals:
            by_joint[joint] = _unit(word)
        else:
            usual = _unit(word)
    return Units(usual, by_joint)


def _unit(text: str) -> Unit:
    word, colon, servo = (piece.strip().lower() for piece in text.partition(":"))
    word = _SPELLINGS.get(word, word)
    if word not in UNITS:
        raise UnknownNameError("unit", text, UNITS, place="--units")
    if colon and (word != COUNTS or servo not in SERVOS):
        raise UnknownNameError("servo", text.partition(":")[2].strip(), SERVOS, place="--units")
    if word == COUNTS and not servo:
        raise InputError(
            "counts of which servo?",
            place="--units",
            remedy=f"Write counts:SERVO with SERVO one of {', '.join(SERVOS)}.",
        )
    return Unit(word, servo or None)


def _checked_limits(given: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    limits = {}
    for joint, (lower, upper) in given.items():
        if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
            raise InputError(
                f"joint '{joint}' has no range: {lower:g} to {upper:g}.",
                place="--calibration limits",
                remedy="State its limits in the description or by --limits, or give a calibration file.",
            )
        limits[str(joint)] = (float(lower), float(upper))
    return limits


def read_calibration(path: FilePath) -> dict[str, Motor]:
    """Read a calibration as LeRobot writes it: for each motor `range_min`, `range_max` and `drive_mode`.

    `id` and `homing_offset` are read past: registers contain the offset. An entry `zero` (rad) says where the
    middle of the range is in the robot's description, `direction` (1 or -1) which way its joint turns.

    Args:
        path: the file, JSON or TOML.

    Returns:
        The motors by name.

    Raises:
        RecordingError: it has another form.
    """
    try:
        table = read_table(path, most=_MOST_BYTES)
    except InputError as error:
        raise RecordingError(error.message, place=error.place, remedy=error.remedy) from error
    motors = {name: _motor(entry, f"{path}: {name[:60]}") for name, entry in table.items()}
    if not motors:
        raise RecordingError("holds no motor.", place=str(path), remedy=_CALIBRATION)
    return motors


_CALIBRATION = (
    'Write {"shoulder_pan": {"id": 1, "drive_mode": 0, "homing_offset": 0, "range_min": 700, "range_max": '
    "3400}, …}, as LeRobot does."
)


def _motor(entry: object, place: str) -> Motor:
    if not isinstance(entry, Mapping):
        raise RecordingError(f"holds {kind_of(entry)}, expected a table.", place=place, remedy=_CALIBRATION)

    def number(name: str, usual: float | None = None) -> float:
        value = entry.get(name, usual)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _FARTHEST:
            raise RecordingError(
                f"'{name}' is {kind_of(value)}, expected a number of counts.",
                place=place,
                remedy=_CALIBRATION,
            )
        return float(value)

    lower, upper = number("range_min"), number("range_max")
    if not lower < upper:
        raise RecordingError(
            f"range_min {lower:g} is not less than range_max {upper:g}.",
            place=place,
            remedy="Calibrate the motor over its whole range.",
        )
    drive_mode, direction = number("drive_mode", 0.0), number("direction", 1.0)
    for name, value, valid in (("drive_mode", drive_mode, (0.0, 1.0)), ("direction", direction, (-1.0, 1.0))):
        if value not in valid:
            raise RecordingError(
                f"'{name}' is {value:g}.", place=place, remedy=f"Write {valid[0]:g} or {valid[1]:g}."
            )
    zero = None if entry.get("zero") is None else number("zero")
    return Motor(lower, upper, drive_mode == 1.0, zero, direction)


# From the columns of a log to rad, rad/s and A

SHARE = 100.0
"""The end of a calibrated range."""
SLACK = 1e-3
"""How far beyond it rounding may bring a value."""
_POSITIONS = ("q", "q_ref")
_RATES = ("v", "a", "v_ref", "a_ref")
TELLS_DEGREES = 1080.0
"""Three turns: positions beyond it are no degrees of an arm."""


class Converted(NamedTuple):
    """Columns in SI.

    Attributes:
        table: the columns.
        assignment: what they are; channels of unknown units are not among them.
        findings: what was taken for granted.
        detail: the units, for the history.
        ignored: names of columns that are not used, with the reason.
    """

    table: Table
    assignment: Assignment
    findings: tuple[Finding, ...]
    detail: dict[str, object]
    ignored: dict[str, str]


def is_gripper(joint: str) -> bool:
    """Whether LeRobot normalises a joint from 0 to 100, as it does for grippers."""
    return re.fullmatch(r"(.*[_.])?gripper", joint) is not None


def converted(
    table: Table,
    assignment: Assignment,
    units: Units | None,
    stated: Mapping[int, float],
    others: Sequence[str],
) -> Converted:
    """Bring the columns of a log to SI.

    Args:
        table: the columns.
        assignment: what they are.
        units: what was said of their units; None for nothing.
        stated: factors to SI of columns whose own names state a unit, which are left as they are.
        others: joints of the file that are not in the recording, which may be named all the same.

    Returns:
        The columns in SI.

    Raises:
        RecordingError: it is not said, or cannot be, what the values mean.
    """
    exempt = frozenset(stated)
    if table.unit_unknown and (units is None or units.usual is None):
        units = _inferred(table, assignment, units or Units(), exempt)
    if units is None:
        return Converted(table, assignment, (), {}, {})
    for joint in units.by_joint:
        if joint not in assignment.joints and joint not in others:
            raise UnknownNameError("joint", joint, (*assignment.joints, *others), place="--units")
    if table.unit_unknown:
        _require_gripper(assignment, units, exempt)
    return _Conversion(table, assignment, units, exempt, stated.get(assignment.time, 1.0)).done()


def _inferred(table: Table, assignment: Assignment, units: Units, exempt: frozenset[int]) -> Units:
    """Degrees, where the values can be nothing else; otherwise an error that says how to say it."""
    open_joints = {
        joint: table.columns[index].values
        for joint, index in zip(assignment.joints, assignment.channels["q"], strict=True)
        if index not in exempt and joint not in units.by_joint
    }
    if not open_joints:
        return replace(units, usual=Unit(RADIANS))
    values = np.concatenate([x for joint, x in open_joints.items() if not is_gripper(joint)] or [np.zeros(0)])
    values = values[np.isfinite(values)]
    largest = float(np.abs(values).max()) if values.size else 0.0
    whole = bool((values == np.round(values)).all())
    if SHARE + SLACK < largest <= TELLS_DEGREES and not whole:
        return replace(units, usual=Unit(DEGREES))
    least, most = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    raise RecordingError(
        f"does not say in which unit its positions are, and from {least:.4g} to {most:.4g} they can be more "
        "than one.",
        place="units",
        remedy="Say it: --units rad; --units degrees (LeRobot's use_degrees); --units normalised with "
        "--calibration FILE, or --calibration limits where the range that was calibrated is that of the "
        "robot's limits; or --units counts:SERVO.",
        evidence={"least": least, "most": most, "joints": tuple(open_joints)},
    )


def _require_gripper(assignment: Assignment, units: Units, exempt: frozenset[int]) -> None:
    """LeRobot keeps a gripper from 0 to 100 where other joints are in degrees: its degrees must be said."""
    if units.usual is None or units.usual.word != DEGREES:
        return
    for joint, index in zip(assignment.joints, assignment.channels["q"], strict=True):
        if is_gripper(joint) and joint not in units.by_joint and index not in exempt:
            raise RecordingError(
                f"LeRobot writes '{joint}' from 0 to 100 also where other joints are in degrees.",
                place="units",
                remedy=f"Say what it is: --units degrees,{joint}=normalised with --calibration limits or "
                f"FILE, or --units degrees,{joint}=degrees; or hold it still with --lock {joint}=Q.",
            )


class _Line(NamedTuple):
    """What makes SI of a value: `offset + factor * value`."""

    factor: float
    offset: float = 0.0


class _Conversion:
    """The conversion of one log; collects what is noticed."""

    def __init__(
        self, table: Table, assignment: Assignment, units: Units, exempt: frozenset[int], second: float
    ) -> None:
        self.table, self.assignment, self.units, self.exempt = table, assignment, units, exempt
        self.second = second
        self.columns = list(table.columns)
        self.findings: list[Finding] = []
        self.zeros: list[str] = []
        self.ignored: dict[str, str] = {}
        self.wrapped: dict[str, Array] = {}

    def done(self) -> Converted:
        channels = {}
        for channel, group in self.assignment.channels.items():
            if (why := self._unknown(channel, group)) is None:
                channels[channel] = group
                for joint, index in zip(self.assignment.joints, group, strict=True):
                    if index not in self.exempt:
                        self._convert(channel, joint, index)
            else:
                self.ignored |= {self.columns[index].name: why for index in group}
                self.findings.append(
                    Finding(Severity.INFO, "unit-unknown", f"left out: {why}", self.columns[group[0]].name)
                )
        if self.zeros:
            self.findings.append(
                Finding(
                    Severity.WARNING,
                    "zero-assumed",
                    f"{', '.join(self.zeros)}: positions count from the middle of the range, which is taken "
                    "for the description's zero; state another one as 'zero' in the calibration file.",
                )
            )
        written = {joint: str(self.units.of(joint)) for joint in self.assignment.joints}
        detail: dict[str, object] = {"written_in": written}
        if self.units.source:
            detail["calibration"] = self.units.source
        return Converted(
            replace(self.table, columns=tuple(self.columns)),
            replace(self.assignment, channels=channels),
            tuple(self.findings),
            detail,
            self.ignored,
        )

    def _unknown(self, channel: str, group: Sequence[int]) -> str | None:
        """Why a channel cannot be used; None where it can."""
        for joint, index in zip(self.assignment.joints, group, strict=True):
            unit = self.units.of(joint)
            if index in self.exempt or unit.word in (RADIANS, DEGREES):
                continue
            servo = SERVOS[unit.servo] if unit.servo is not None else None
            if channel in _RATES and (servo is None or servo.velocity is None or channel in ("a", "a_ref")):
                return f"nothing says in which unit {channel} of '{joint}' is beside positions in {unit}."
            if channel == "current" and servo is not None and servo.current is None:
                return f"{unit.servo} measures no current."
        return None

    def _convert(self, channel: str, joint: str, index: int) -> None:
        unit, motor = self.units.of(joint), self.units.motors.get(joint)
        direction = 1.0 if motor is None else motor.direction
        column = self.columns[index]
        values = column.values
        if unit.word == COUNTS:
            assert unit.servo is not None
            servo = SERVOS[unit.servo]
            if channel != "tau":
                values = _signed(values, servo, long=channel in _POSITIONS)
            if motor is not None and motor.drive_mode and not servo.turns_itself:
                direction = -direction
        if channel in _POSITIONS:
            if unit.word == COUNTS:
                values = self._unwrapped(channel, joint, column, values)
            line = self._position(joint, unit, motor, column)
            values = line.offset + direction * line.factor * values
        else:
            values = direction * self._rate(channel, unit) * values
        self.columns[index] = replace(column, values=values)

    def _rate(self, channel: str, unit: Unit) -> float:
        """SI in a unit of velocity, acceleration or current."""
        if channel in _RATES and unit.word == DEGREES:
            return math.pi / 180.0
        if unit.servo is not None:
            servo = SERVOS[unit.servo]
            known = servo.current if channel == "current" else servo.velocity if channel in _RATES else 1.0
            assert known is not None
            return known
        return 1.0

    def _position(self, joint: str, unit: Unit, motor: Motor | None, column: Column) -> _Line:
        zero = 0.0 if motor is None or motor.zero is None else motor.zero
        if unit.word == RADIANS:
            return _Line(1.0, zero)
        if unit.word == DEGREES:
            self._note_drive_mode(joint, motor)
            return _Line(math.pi / 180.0, zero)
        if unit.word == NORMALISED:
            return self._normalised(joint, motor, column)
        middle = TURN / 2 if motor is None else 0.5 * (motor.range_min + motor.range_max)
        self._assume_zero(joint, motor)
        turn = 2.0 * math.pi / TURN
        direction = 1.0 if motor is None else motor.direction
        if motor is not None and motor.drive_mode and not SERVOS[unit.servo or ""].turns_itself:
            direction = -direction
        return _Line(turn, zero - direction * turn * middle)

    def _normalised(self, joint: str, motor: Motor | None, column: Column) -> _Line:
        finite = column.values[np.isfinite(column.values)]
        least, most = (0.0, SHARE) if is_gripper(joint) else (-SHARE, SHARE)
        if finite.size and (finite.min() < least - SLACK or finite.max() > most + SLACK):
            beyond = finite.min() if finite.min() < least - SLACK else finite.max()
            raise RecordingError(
                f"holds {beyond:.6g}, and normalised values of '{joint}' go from {least:g} to {most:g}.",
                place=f"column '{column.name}'",
                remedy="Say its unit with --units, as in --units degrees.",
            )
        if self.units.limits is not None:
            if joint not in self.units.limits:
                raise UnknownNameError("joint", joint, self.units.limits, place="--calibration limits")
            lower, upper = self.units.limits[joint]
            share = (upper - lower) / (most - least)
            return _Line(share, lower - share * least)
        if motor is None:
            raise RecordingError(
                f"'{joint}' is normalised, and nothing says over which range"
                + (f": the calibration has {', '.join(self.units.motors)}." if self.units.motors else "."),
                place="units",
                remedy="Give LeRobot's calibration file of the arm with --calibration FILE, or say "
                "--calibration limits where the range that was calibrated is that of the robot's limits.",
            )
        if is_gripper(joint) and motor.zero is None:
            raise RecordingError(
                f"'{joint}' is written from 0 to 100, whose middle is hardly the description's zero.",
                place="--calibration",
                remedy=f"State 'zero' (rad, the middle of the range) of '{joint}' in the calibration file, "
                f"use --calibration limits, or hold it still with --lock {joint}=Q.",
            )
        self._assume_zero(joint, motor)
        share = (motor.range_max - motor.range_min) / (most - least) * 2.0 * math.pi / TURN
        middle = 0.5 * (least + most)
        return _Line(share, (motor.zero or 0.0) - motor.direction * share * middle)

    def _assume_zero(self, joint: str, motor: Motor | None) -> None:
        if (motor is None or motor.zero is None) and joint not in self.zeros:
            self.zeros.append(joint)

    def _note_drive_mode(self, joint: str, motor: Motor | None) -> None:
        note = Finding(
            Severity.WARNING,
            "drive-mode-not-applied",
            f"drive_mode of '{joint}' does not turn degrees round, in which LeRobot does not apply it; "
            "'direction' in the calibration file does.",
        )
        if motor is not None and motor.drive_mode and note not in self.findings:
            self.findings.append(note)

    def _unwrapped(self, channel: str, joint: str, column: Column, counts: Array) -> Array:
        """Counts without jumps where the encoder begins anew; a reference then near the position it is of."""
        if channel != "q":
            position = self.wrapped.get(joint)
            if position is None or len(position) != len(counts):
                return counts
            turns = np.round((position - counts) / TURN)
            near: Array = counts + TURN * np.where(np.isfinite(turns), turns, 0.0)
            return near
        finite = np.flatnonzero(np.isfinite(counts))
        inside = counts[finite]
        jumps = np.diff(inside)
        far = np.flatnonzero(np.abs(jumps) > TURN / 2)
        if not far.size:
            return counts
        row = int(finite[far[0] + 1])
        if inside.min() < 0.0 or inside.max() >= TURN:
            raise RecordingError(
                f"jumps by {abs(jumps[far[0]]):.0f} counts at {self.table.place(row)}, and as it leaves 0 to "
                f"{TURN - 1} it does not begin anew after a turn.",
                place=f"column '{column.name}'",
                remedy="Repair or remove these rows.",
            )
        steady = inside + TURN * np.concatenate(([0.0], np.cumsum(-np.round(jumps / TURN))))
        self._require_possible(column, finite, far, steady)
        self.findings.append(
            Finding(
                Severity.WARNING,
                "counts-wrapped",
                f"passes the end of its encoder {far.size} times, first at {self.table.place(row)}; "
                "counted on.",
                f"column '{column.name.strip()}'",
            )
        )
        whole = counts.copy()
        whole[finite] = steady
        self.wrapped[joint] = whole
        return whole

    def _require_possible(self, column: Column, rows: IntArray, far: IntArray, steady: Array) -> None:
        """Refuse jumps that no servo makes, or between samples so rare that they may be longer ones."""
        time = self.table.columns[self.assignment.time].values * self.second
        if len(time) != len(column.values):
            return
        dt = np.diff(time[rows])[far]
        travelled = np.abs(np.diff(steady))[far] * 2.0 * math.pi / TURN
        for which, why in (
            (travelled > FASTEST * dt, "faster than a servo turns"),
            (FASTEST * dt > math.pi, "between samples that are too rare to tell which way"),
        ):
            if which.any():
                row = int(rows[far[np.argmax(which)] + 1])
                raise RecordingError(
                    f"passes the end of its encoder {why}, at {self.table.place(row)}.",
                    place=f"column '{column.name}'",
                    remedy="Repair or remove these rows, or log positions that count on.",
                )


def _signed(values: Array, servo: ServoRegisters, *, long: bool) -> Array:
    """Numbers of registers, whose signs were logged as bits."""
    with np.errstate(invalid="ignore"):
        if servo.sign_bit is not None:
            bit = float(1 << servo.sign_bit)
            return np.where((values >= bit) & (values < 2.0 * bit), bit - values, values)
        if long:
            return np.where((values >= 2.0**31) & (values < 2.0**32), values - 2.0**32, values)
        words = np.where((values >= 2.0**31) & (values < 2.0**32), values - 2.0**32, values)
        return np.where((words >= 2.0**15) & (words < 2.0**16), words - 2.0**16, words)
