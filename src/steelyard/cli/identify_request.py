"""What `steelyard identify` was asked, and carrying it out: the same request gives the same files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.cli.output import say
from steelyard.cli.robot_argument import given_robot
from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError, UnknownNameError
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot, StatedLimits
from steelyard.workflows.logs import absent_joints, torque_constant_errors, torque_constants, torque_signs
from steelyard.workflows.record import RecordedRequest, require_seed

MOMENT_ERROR = 0.02
"""Relative deviation of a known moment of which nothing is said: a hand scale, and a lever by a tape."""

if TYPE_CHECKING:
    from steelyard.cli.identify_line import Identification
    from steelyard.consistency import GeometricPrior
    from steelyard.estimation import KnownMoment

LARGEST = 1e9
"""Largest number known beforehand, and one over the smallest: kg, kg·m², and shares."""
MOST_DRAWS = 10_000
"""Most models that are drawn and written."""
DRIVE = "viscous,coulomb,offset,rotor"
"""The linear drive: what is asked about where left-out blocks do not decide."""
CLOSED_LOOP = "clie"
"""The method that simulates the controller with the robot, beside those of a problem alone."""
WINDOWS = "momentum"
"""The method that integrates over windows of the log at its own rate."""


@dataclass(frozen=True)
class Request(RecordedRequest, StatedLimits):
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
    torque_constant_error: str | None = None
    window: float | None = None
    torque_sign: str | None = None
    shapes: bool = True
    topic: str | None = None
    known_moment: tuple[str, ...] = ()

    command = "identify"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        options = (self.holdout, self.columns, self.prior, self.motion, self.controller, self.limits)
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
    from steelyard.consistency import link_shapes
    from steelyard.estimation import METHODS
    from steelyard.export import require_free
    from steelyard.recording import require_readable_logs

    require_free(out, force=force)
    refuse_knowledge(request)
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
    recorded = request.document()
    robot = given_robot(
        request.robot, request.gravity, request.lock, arguments=request.arguments, snap=True, stated=request
    )
    require_readable_logs([*request.logs, *([] if request.holdout is None else [request.holdout])])
    absent = absent_joints(robot, request.logs, request.columns, request.topic)
    robot, request = absent.held(robot), replace(request, lock=(*request.lock, *absent.locks))
    layout = layout_of(robot, _terms(DRIVE if request.drive is None else request.drive, request.method))
    prior = _prior(request, robot, layout)
    constants = torque_constants(request.torque_constant, robot.nv)
    torque_signs(request.torque_sign, [joint.name for joint in robot.joints if joint.nv])
    known_moments(request.known_moment, [joint.name for joint in robot.joints if joint.nv])
    if request.known_moment and request.method == CLOSED_LOOP:
        raise InputError(
            f"calibrates torques that are learnt from, which '{CLOSED_LOOP}' simulates.",
            place="--known-moment",
            remedy="Use another --method, then give its constants by --torque-constant.",
        )
    say(f"1  read {len(request.logs)} log{'s' if len(request.logs) > 1 else ''} of {robot.name}")
    asked = question(request, robot, layout, None if prior is None else prior.parameters, constants)
    if prior is not None:
        shapes = link_shapes(robot, mesh_folder(request.robot)) if request.shapes else {}
        known = {**asked.knowledge, "guessed": prior.replaced, "shapes": shapes}
        asked = replace(asked, knowledge=known, findings=(*prior.findings, *asked.findings))
    errors = torque_constant_errors(
        request.torque_constant_error, robot.nv, from_current=constants is not None
    )
    moments = known_moments(request.known_moment, [joint.name for joint in robot.joints if joint.nv])
    asked = replace(
        asked,
        constant_errors=errors,
        constants=constants,
        moments=moments,
        findings=(*absent.findings, *asked.findings),
    )
    done = identify_from(asked, request.method)
    files = write_identification(
        done,
        out,
        request.robot,
        request=recorded,
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


def _prior(request: Request, robot: Robot, layout: Layout) -> GeometricPrior | None:
    """What is believed beforehand: the description's numbers, those of another one, or nothing.

    Links that nobody stated, or that cannot be believed, get bodies from their shapes.
    """
    from steelyard.consistency import sane_prior

    if request.prior == "none":
        return None
    given = None
    if request.prior is not None:
        other = given_robot(
            request.prior, request.gravity, request.lock, arguments=request.arguments, snap=True
        )
        believed = layout_of(other, layout.drive)
        if believed.names != layout.names:
            raise InputError(
                "has other links or joints than the robot.",
                place=f"--prior {request.prior}",
                remedy="Give a description of the same robot with other numbers, or none.",
            )
        given = believed.nominal
    return sane_prior(robot, layout, given, meshes=mesh_folder(request.robot))


def mesh_folder(robot: str) -> Path | None:
    """Where the meshes of a description lie; None for a robot of the zoo."""
    path = Path(robot)
    return path.parent if path.is_file() else None


def refuse_knowledge(request: Request) -> None:
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
        value = float(text)
    except ValueError:
        raise InputError(f"expected a number, got '{text}'.", place=place) from None
    if np.isfinite(value) and abs(value) > LARGEST:
        raise InputError(f"must be at most {LARGEST:g}, got {value:g}.", place=place)
    return value


def known_moments(texts: Sequence[str], joints: Sequence[str]) -> tuple[KnownMoment, ...]:
    """The moments of gravity that options state as JOINT=NM[~SD]@Q,…, in N·m and rad (N and m)."""
    from steelyard.estimation import KnownMoment

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
