"""What `steelyard identify` was asked, and carrying it out: the same request gives the same files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import Array
from steelyard.cli.output import say
from steelyard.cli.recorded_request import RecordedRequest
from steelyard.cli.robot_argument import given_robot
from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError, UnknownNameError
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot

if TYPE_CHECKING:
    from steelyard.cli.identify_line import Identification

DRIVE = "viscous,coulomb,offset,rotor"
"""The linear drive: what is asked about where left-out blocks do not decide."""
CLOSED_LOOP = "clie"
"""The method that simulates the controller with the robot, beside those of a problem alone."""


@dataclass(frozen=True)
class Request(RecordedRequest):
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
    strength: float | None = None
    prior_error: float | None = None
    total_mass: float | None = None
    mass: tuple[str, ...] = ()
    rotor: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()

    command = "identify"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        options = (self.holdout, self.columns, self.prior, self.motion, self.controller)
        return (self.robot, *self.logs, *options)


def carry_out(request: Request, out: Path, *, force: bool = False) -> tuple[Identification, dict[str, str]]:
    """Identify, judge and write.

    Args:
        request: what was asked.
        out: folder for the result.
        force: whether an earlier result may be replaced.

    Returns:
        What was found out, and the files by name.

    Raises:
        InputError: something asked for is not usable; nothing is written.
        NoSolutionError: the data does not determine what was asked for.
    """
    from steelyard.cli.identify_line import identify_from
    from steelyard.cli.identify_logs import question
    from steelyard.cli.identify_result import write_identification
    from steelyard.estimation import METHODS
    from steelyard.export import require_free

    require_free(out, force=force)
    refuse_knowledge(request)
    if request.method not in (*METHODS, CLOSED_LOOP):
        raise UnknownNameError("method", request.method, (*METHODS, CLOSED_LOOP), place="--method")
    if request.static and request.method in ("momentum", "iv", CLOSED_LOOP):
        raise InputError(f"'{request.method}' needs a motion, not held poses.", place="--static")
    robot = given_robot(request.robot, request.gravity, request.lock, arguments=request.arguments, snap=True)
    layout = layout_of(robot, _terms(DRIVE if request.drive is None else request.drive, request.method))
    prior = _prior(request, robot, layout)
    constants = torque_constants(request.torque_constant, robot.nv)
    say(f"1  read {len(request.logs)} log{'s' if len(request.logs) > 1 else ''} of {robot.name}")
    asked = question(request, robot, layout, prior, constants)
    done = identify_from(asked, request.method)
    files = write_identification(
        done,
        out,
        request.robot,
        request=request.document(),
        draws=request.draws,
        seed=request.seed,
        force=force,
    )
    return done, files


def _terms(text: str, method: str) -> list[str]:
    terms = [word.strip() for word in text.split(",") if word.strip()]
    known = [term.name for term in ALL_TERMS]
    for term in terms:
        if term not in known:
            raise UnknownNameError("drive term", term, known, place="--drive")
    if method == CLOSED_LOOP:
        from steelyard.cli.identify_closed_loop import refuse_drive

        refuse_drive(terms)
    return terms


def _prior(request: Request, robot: Robot, layout: Layout) -> Array | None:
    """What is believed beforehand: the description's numbers, those of another one, or nothing."""
    if request.prior == "none":
        return None
    if request.prior is None:
        return layout.nominal if all(link.body is not None for link in robot.links) else None
    other = given_robot(request.prior, request.gravity, request.lock, arguments=request.arguments, snap=True)
    believed = layout_of(other, layout.drive)
    if believed.names != layout.names:
        raise InputError(
            "has other links or joints than the robot.",
            place=f"--prior {request.prior}",
            remedy="Give a description of the same robot with other numbers, or none.",
        )
    return believed.nominal


def refuse_knowledge(request: Request) -> None:
    """Refuse numbers known beforehand that cannot be, or that no part of the fit would use."""
    for place, value in (("--strength", request.strength), ("--prior-error", request.prior_error)):
        if value is not None and not (np.isfinite(value) and value > 0.0):
            raise InputError(f"must be a positive number, got {value:g}.", place=place)
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


def knowledge(request: Request) -> dict[str, Any]:
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
        return float(text)
    except ValueError:
        raise InputError(f"expected a number, got '{text}'.", place=place) from None


def torque_constants(text: str | None, count: int) -> Array | None:
    """The constants an option states, one for each degree of freedom; None where it is not given."""
    if text is None:
        return None
    try:
        values = np.array([float(word) for word in text.split(",")])
    except ValueError:
        values = np.zeros(0)
    if values.size != count or not np.isfinite(values).all():
        raise InputError(f"expected {count} numbers between commas, got '{text}'.", place="--torque-constant")
    return values
