"""From a wish to a motion with its certificate: what `steelyard excite` does, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.arrays import Array
from steelyard.cli.excite_progress import search_progress
from steelyard.cli.output import say
from steelyard.cli.robot_argument import given_robot
from steelyard.drive import ALL_TERMS
from steelyard.dynamics import torque_gram
from steelyard.errors import InputError, UnknownNameError
from steelyard.excitation import (
    Budget,
    Design,
    DesignProblem,
    design,
    fourier_family,
    home,
    payload_columns,
    robot_columns,
    spline_family,
)
from steelyard.identifiability import BaseParameters, Criterion
from steelyard.layout import Layout
from steelyard.limits import (
    Certificate,
    Clearance,
    MotionLimits,
    NotCertifiedError,
    Scene,
    certify,
    clearance_of,
    read_scene,
)
from steelyard.motion import FourierMotion, LinearMotion, SplineMotion
from steelyard.pose import Pose
from steelyard.recording import read
from steelyard.robot import Geometry, MeshFile, Robot
from steelyard.signals import prepared

FAMILIES = ("fourier", "spline")
FOR = ("robot", "payload")
ROOM, LEAST_ROOM = 1.3, 1e-3
"""How far apart the search keeps things, by the distance asked for, and beyond that, m."""
LIFTED = {"acceleration": "acceleration", "torque": "effort"}
"""Limits that may be left out, and what a joint calls them."""


@dataclass(frozen=True)
class Wish:
    """The arguments and options of the command, as they were given."""

    robot: str
    family: str
    harmonics: int
    pieces: int
    period: float
    criterion: str
    whom: str
    start: str
    drive: str
    tool: Path | None
    tool_scale: float
    scene: Path | None
    distance: float
    after: tuple[str, ...]
    without: tuple[str, ...]
    parameter_range: float
    budget: float
    rounds: int | None
    seed: int
    gravity: str | None
    lock: tuple[str, ...]
    tool_frame: str | None
    arguments: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Designed:
    """A motion, what it is worth, and what is proven of it."""

    wish: Wish
    robot: Robot
    problem: DesignProblem
    design: Design
    motion: FourierMotion | SplineMotion
    limits: MotionLimits
    proof: Certificate | NotCertifiedError


def designed(wish: Wish) -> Designed:
    """Pose the problem, search, and prove."""
    _require_known(wish)
    robot = given_robot(wish.robot, wish.gravity, wish.lock, wish.tool_frame, arguments=wish.arguments)
    return designed_for(robot, wish)


def designed_for(robot: Robot, wish: Wish) -> Designed:
    """The same for a robot that is there already."""
    lifted = _lifted(robot, wish.without)
    layout, base = _columns(wish, lifted)
    clearance = _clearance(wish, lifted)
    start = _start(wish, lifted)
    parameters = None
    if "torque" not in wish.without and all(link.body is not None for link in lifted.links):
        parameters = layout.complete_nominal()
    problem = DesignProblem(
        robot=lifted,
        family=_family(wish, lifted),
        layout=layout,
        base=base,
        start=start,
        criterion=Criterion(wish.criterion),
        recorded=_recorded(wish, lifted, layout),
        clearance=clearance,
        distance=_sought_distance(wish, clearance, start),
        acceleration="acceleration" not in wish.without,
        parameters=parameters,
    )
    say(f"1  {base.count} columns to show; {len(clearance.pairs) if clearance else 0} pairs to keep apart")
    with search_progress(wish.criterion, wish.budget) as tell:
        budget = Budget(None if wish.rounds is not None else wish.budget, wish.rounds)
        found = design(problem, budget, np.random.default_rng(wish.seed), progress=tell)
    say(f"2  {found.rounds} local searches; {wish.criterion} {found.value:.4g}, cond {found.cond:.4g}")
    limits = MotionLimits(
        lifted, clearance, layout if parameters is not None else None, parameters, wish.distance
    )
    motion = _of_robot(found.motion, robot)
    return Designed(wish, robot, problem, found, motion, limits, _proof(limits, motion, wish))


def planned_limits(robot: Robot, wish: Wish) -> MotionLimits:
    """What a motion of this robot must respect by the wish."""
    lifted = _lifted(robot, wish.without)
    clearance = _clearance(wish, lifted)
    if "torque" in wish.without or any(link.body is None for link in lifted.links):
        return MotionLimits(lifted, clearance, distance=wish.distance)
    layout, _ = _columns(wish, lifted)
    return MotionLimits(lifted, clearance, layout, layout.complete_nominal(), wish.distance)


def _of_robot(motion: LinearMotion, robot: Robot) -> FourierMotion | SplineMotion:
    """The motion, under the digest of the robot as it was described, with all of its limits."""
    if not isinstance(motion, FourierMotion | SplineMotion):
        raise InputError("is of no family that can be written.", place="motion")
    return replace(motion, robot=robot.digest)


def _sought_distance(wish: Wish, clearance: Clearance | None, start: Array | None) -> float:
    """A little more than is asked for, so that the proof has room between the samples of the search."""
    more = ROOM * wish.distance + LEAST_ROOM
    if clearance is None or start is None or not clearance.pairs:
        return more
    at_start = float(clearance.distances(start[None]).min())
    return max(wish.distance, min(more, 0.95 * at_start))


def _proof(limits: MotionLimits, motion: LinearMotion, wish: Wish) -> Certificate | NotCertifiedError:
    spread = None
    if limits.parameters is not None and wish.parameter_range > 0.0:
        spread = wish.parameter_range * np.abs(limits.parameters)
    try:
        proof = certify(limits, motion, uncertainty=spread)
    except NotCertifiedError as refused:
        say(f"3  not certified: {refused}")
        return refused
    say(f"3  certified at every instant, on {proof.stretches} stretches of time")
    return proof


def _require_known(wish: Wish) -> None:
    choices = (
        ("family", wish.family, FAMILIES, "--family"),
        ("criterion", wish.criterion, tuple(Criterion), "--criterion"),
        ("choice", wish.whom, FOR, "--for"),
        *(("limit", word, (*LIFTED, "clearance"), "--without") for word in wish.without),
        *(
            ("drive term", word.strip(), tuple(term.name for term in ALL_TERMS), "--drive")
            for word in wish.drive.split(",")
            if word.strip()
        ),
    )
    for kind, given, valid, place in choices:
        if given not in valid:
            raise UnknownNameError(kind, given, valid, place=place)


def _lifted(robot: Robot, without: tuple[str, ...]) -> Robot:
    """The robot without the limits that are not to be kept."""
    names = {LIFTED[word]: np.inf for word in without if word in LIFTED}
    if not names:
        return robot
    joints = tuple(replace(joint, limits=replace(joint.limits, **names)) for joint in robot.joints)
    return replace(robot, joints=joints)


def _columns(wish: Wish, robot: Robot) -> tuple[Layout, BaseParameters]:
    if wish.whom == "payload":
        return payload_columns(robot)
    return robot_columns(robot, tuple(word.strip() for word in wish.drive.split(",") if word.strip()))


def _family(wish: Wish, robot: Robot) -> LinearMotion:
    if wish.family == "fourier":
        return fourier_family(robot, wish.harmonics, wish.period)
    return spline_family(robot, wish.pieces, wish.period)


def _start(wish: Wish, robot: Robot) -> Array | None:
    if wish.start == "free":
        return None
    if wish.start == "home":
        return home(robot)
    try:
        pose = np.array([float(word) for word in wish.start.split(",")])
    except ValueError:
        pose = np.zeros(0)
    if pose.size != robot.nv or not np.isfinite(pose).all():
        raise InputError(
            f"expected home, free or {robot.nv} positions between commas, got '{wish.start}'.",
            place="--start",
        )
    return pose


def _clearance(wish: Wish, robot: Robot) -> Clearance | None:
    if "clearance" in wish.without:
        return None
    described = Path(wish.robot)
    tool: tuple[Geometry, ...] = ()
    if wish.tool is not None:
        if not wish.tool.is_file():
            raise InputError("there is no such file.", place=f"--tool {wish.tool}")
        tool = (Geometry(MeshFile(wish.tool.name, (wish.tool_scale,) * 3), Pose.identity()),)
    found = clearance_of(
        robot,
        Scene() if wish.scene is None else read_scene(wish.scene),
        tool=tool,
        meshes=described.parent if described.is_file() else None,
        tool_meshes=None if wish.tool is None else wish.tool.parent,
        rest=_start(wish, robot),
    )
    for finding in found.findings:
        say(f"   {finding}")
    return found


def _recorded(wish: Wish, robot: Robot, layout: Layout) -> Array | None:
    """The Gram matrix of the logs that are already there."""
    if not wish.after:
        return None
    blocks = []
    for path in wish.after:
        reading = read(path, joints=list(robot.joint_names), lenient=True)
        log = prepared(reading.recording).recording.channels
        blocks.append((log["q"], log["v"], log["a"], log["tau"]))
    return torque_gram(robot, layout, blocks)[:-1, :-1]
