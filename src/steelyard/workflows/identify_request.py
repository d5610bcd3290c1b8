"""What `steelyard identify` was asked: the texts that a record holds, and what they say.

The same request gives the same files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError, UnknownNameError
from steelyard.estimation import METHODS, KnownMoment
from steelyard.identification import CLOSED_LOOP, WINDOWS, LogOptions
from steelyard.recording import Units
from steelyard.robot import StatedLimits
from steelyard.workflows.identify import DRIVE
from steelyard.workflows.logs import torque_signs
from steelyard.workflows.record import RecordedRequest, require_seed

AUTO, TORQUE, POSITION = SIGNALS = ("auto", "torque", "position")
"""What logs are learnt from; `auto` takes commands and positions where there is no torque and no current."""

MOMENT_ERROR = 0.02
"""Relative deviation of a known moment of which nothing is said: a hand scale, and a lever by a tape."""

LARGEST = 1e9
"""Largest number known beforehand, and one over the smallest: kg, kg·m², and shares."""
MOST_DRAWS = 10_000
"""Most models that are drawn and written."""


@dataclass(frozen=True)
class IdentifyRequest(RecordedRequest, StatedLimits):
    """The arguments and options of the command, as they were given."""

    robot: str
    logs: tuple[str, ...]
    holdout: str | None = None
    method: str = "auto"
    drive: str | None = None
    torque_constant: str | None = None
    columns: str | None = None
    cutoff: float | None = None
    prior: str | None = None
    motion: str | None = None
    controller: str | None = None
    static: bool = False
    draws: int = 0
    seed: int = 0
    gravity: str | None = None
    lock: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    package_path: tuple[str, ...] = ()
    strength: float | None = None
    prior_error: float | None = None
    total_mass: float | None = None
    mass: tuple[str, ...] = ()
    rotor: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()
    torque_constant_error: str | None = None
    window: float | None = None
    torque_sign: str | None = None
    shapes: bool = True
    topic: str | None = None
    known_moment: tuple[str, ...] = ()
    units: str | None = None
    calibration: str | None = None
    signals: str = "auto"

    command = "identify"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        options = (self.holdout, self.columns, self.prior, self.motion, self.controller, self.limits)
        return (self.robot, *self.logs, *options, self.calibration)


def require_sound(request: IdentifyRequest) -> None:
    """Refuse options that do not go together, before anything is read.

    Args:
        request: what was asked.

    Raises:
        InputError: an option cannot be, or no part of the fit would use it.
    """
    refuse_knowledge(request)
    if request.signals not in SIGNALS:
        raise UnknownNameError("signals", request.signals, SIGNALS, place="--signals")
    if request.method not in (*METHODS, CLOSED_LOOP):
        raise UnknownNameError("method", request.method, (*METHODS, CLOSED_LOOP), place="--method")
    if request.window is not None and request.method != WINDOWS:
        raise InputError(
            f"'{request.method}' has no windows.",
            place="--window",
            remedy=f"Leave it out, or use --method {WINDOWS}.",
        )
    if not 0 <= request.draws <= MOST_DRAWS:
        raise InputError(
            f"must be 0 to {MOST_DRAWS}, got {request.draws}: each is a model in two files.", place="--draws"
        )
    require_seed(request.seed)
    if request.static and request.method in (WINDOWS, "iv", CLOSED_LOOP):
        raise InputError(f"'{request.method}' needs a motion, not held poses.", place="--static")


def drive_terms(request: IdentifyRequest) -> list[str]:
    """The drive terms that are asked about: those stated, or the linear ones.

    Args:
        request: what was asked.

    Returns:
        Their names.

    Raises:
        InputError: there is no such term, or the method has no derivatives of one.
    """
    text = DRIVE if request.drive is None else request.drive
    terms = [word.strip() for word in text.split(",") if word.strip()]
    known = [term.name for term in ALL_TERMS]
    for term in terms:
        if term not in known:
            raise UnknownNameError("drive term", term, known, place="--drive")
    if request.method == CLOSED_LOOP:
        from steelyard.estimation.closed_loop import SIMULATED_TERMS

        if beyond := [term for term in terms if term not in SIMULATED_TERMS]:
            raise InputError(
                f"clie refines linear drives, not {', '.join(beyond)}.",
                place="--drive",
                remedy=f"Use terms of {','.join(SIMULATED_TERMS)}, or another method.",
            )
    return terms


def log_options(
    request: IdentifyRequest, joints: Sequence[str], constants: Array | None, units: Units | None
) -> LogOptions:
    """How the logs are read and made ready.

    Args:
        request: what was asked.
        joints: names of the joints that move, in order.
        constants: torque per current, shape (nv,), N·m/A or N/A; None for logged torques.
        units: in which units the logs are.

    Raises:
        InputError: the signs are not those of these joints.
    """
    signs = torque_signs(request.torque_sign, joints)
    return LogOptions(constants, request.columns, request.topic, request.cutoff, signs, request.static, units)


def refuse_knowledge(request: IdentifyRequest) -> None:
    """Refuse numbers known beforehand that cannot be, or that no part of the fit would use."""
    for place, value in (
        ("--strength", request.strength),
        ("--prior-error", request.prior_error),
        ("--total-mass", request.total_mass),
    ):
        if value is not None and not 1.0 / LARGEST <= value <= LARGEST:
            raise InputError(
                f"must be a positive number, from {1.0 / LARGEST:g} to {LARGEST:g}, got {value:g}.",
                place=place,
            )
    given = {
        "--strength": request.strength is not None,
        "--total-mass": request.total_mass is not None,
        "--mass": bool(request.mass),
        "--rotor": bool(request.rotor),
        "--equal": bool(request.equal),
    }
    used = request.method in ("auto", "entropic") and request.prior != "none"
    if (unused := [name for name, is_given in given.items() if is_given]) and not used:
        raise InputError(
            f"needs a fit that is drawn to a prior, not --method {request.method}"
            f"{' --prior none' if request.prior == 'none' else ''}.",
            place=unused[0],
            remedy="Leave --method and --prior away.",
        )


def knowledge(request: IdentifyRequest) -> dict[str, Any]:
    """What is known beforehand beside the links of a description, as `consistency.prior_of` takes it."""
    pairs = [_pair(text, "--equal") for text in request.equal]
    return {
        "total_mass": request.total_mass,
        "masses": {name: _number(value, f"--mass {name}") for name, value in _pairs(request.mass, "--mass")},
        "rotors": {
            name: _number(value, f"--rotor {name}") for name, value in _pairs(request.rotor, "--rotor")
        },
        "equal": pairs,
    }


def _pairs(texts: tuple[str, ...], place: str) -> list[tuple[str, str]]:
    pairs = [_pair(text, place) for text in texts]
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"'{twice[0]}' is given twice.", place=place)
    return pairs


def _pair(text: str, place: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not (name and equals and value):
        raise InputError(f"expected NAME=VALUE, got '{text}'.", place=place)
    return name.strip(), value.strip()


def _number(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"expected a number, got '{text}'.", place=place) from None
    if np.isfinite(value) and abs(value) > LARGEST:
        raise InputError(f"must be at most {LARGEST:g}, got {value:g}.", place=place)
    return value


def known_moments(texts: Sequence[str], joints: Sequence[str]) -> tuple[KnownMoment, ...]:
    """The moments of gravity that options state as JOINT=NM[~SD]@Q,…, in N·m and rad (N and m)."""
    found = []
    for text in texts:
        stated, _, pose = text.partition("@")
        joint, value = _pair(stated, "--known-moment")
        if joint not in joints:
            raise UnknownNameError("joint", joint, joints, place="--known-moment")
        torque, _, deviation = value.partition("~")
        words = [word for word in pose.split(",") if word.strip()]
        if len(words) != len(joints):
            raise InputError(
                f"expected {len(joints)} joint positions between commas after @, got '{pose}'.",
                place=f"--known-moment {joint}",
                remedy=f"State the whole pose, in rad or m, in the order {', '.join(joints)}.",
            )
        place = f"--known-moment {joint}"
        moment = _number(torque, place)
        off = _number(deviation, place) if deviation else MOMENT_ERROR * abs(moment)
        q = np.array([_number(word, place) for word in words])
        if not np.isfinite(q).all():
            raise InputError(f"expected finite joint positions, got '{pose}'.", place=place)
        if not np.isfinite(moment) or moment == 0.0:
            raise InputError(
                f"{moment:g} N·m says nothing of a torque constant.",
                place=place,
                remedy="State a pose in which gravity turns the joint.",
            )
        if not (np.isfinite(off) and off > 0.0):
            raise InputError(f"the deviation must be positive, got {off:g} N·m.", place=place)
        found.append(KnownMoment(joints.index(joint), q, moment, off))
    return tuple(found)
