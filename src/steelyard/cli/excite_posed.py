"""The question of `steelyard excite`: what to show, within which limits, clear of what, after which data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.arrays import Array
from steelyard.cli.excite_wish import LIFTED, Wish
from steelyard.cli.output import say
from steelyard.dynamics import torque_gram
from steelyard.errors import InputError
from steelyard.excitation import home, payload_columns, robot_columns, unmodelled_friction
from steelyard.finding import Finding, Severity
from steelyard.identifiability import BaseParameters
from steelyard.layout import Layout
from steelyard.limits import TOOL, Clearance, MotionLimits, Scene, clearance_of, read_scene
from steelyard.recording import read
from steelyard.robot import Robot, read_payload
from steelyard.signals import prepared
from steelyard.workflows.surroundings import (
    floor_findings,
    require_readable_tool,
    stated_floor,
    tool_mesh,
    tool_shapes,
)


@dataclass(frozen=True, eq=False)
class Posed:
    """A motion is asked for; nothing is made yet.

    Attributes:
        layout: the parameters.
        base: the columns the motion is judged by.
        limits: what it must respect; the robot there lacks the limits that are not to be kept.
        start: where it starts, shape (nv,), rad or m; None for anywhere.
        recorded: Gram matrix of the data that is there already, shape (p, p), SI; None for none.
        findings: limits that nobody states, and what torques lack.
    """

    layout: Layout
    base: BaseParameters
    limits: MotionLimits
    start: Array | None
    recorded: Array | None
    findings: tuple[Finding, ...] = ()


def posed(robot: Robot, wish: Wish) -> Posed:
    """What is asked of a motion of this robot."""
    lifted = _loaded(_lifted(robot, wish.without), wish)
    layout, base = _columns(wish, lifted)
    limits = _limits(wish, lifted, layout)
    pairs = 0 if limits.clearance is None else len(limits.clearance.pairs)
    say(f"1  {base.count} columns to show; {pairs} pairs to keep apart")
    findings = beyond_limits(robot, wish)
    for finding in findings:
        say(f"   {finding}")
    return Posed(layout, base, limits, _start(wish, lifted), _recorded(wish, lifted, layout), findings)


def beyond_limits(robot: Robot, wish: Wish) -> tuple[Finding, ...]:
    """What no limit of the wish speaks of: limits nobody states, what torques do not count, a floor."""
    return (
        *_unlimited(robot, wish.without),
        *_uncounted(robot, wish),
        *_around(robot, wish),
        *_unshaped(wish),
    )


def _around(robot: Robot, wish: Wish) -> tuple[Finding, ...]:
    return () if "clearance" in wish.without else floor_findings(wish.floor, robot, _scene(wish))


def _unshaped(wish: Wish) -> tuple[Finding, ...]:
    """What is mounted or held beyond the description, and has no shape that could be kept clear."""
    if wish.tool is not None or "clearance" in wish.without:
        return ()
    if wish.payload is not None or wish.whom == "payload":
        message = "what it will hold has no shape here; state it with --tool, or say --tool none."
        return (Finding(Severity.WARNING, "unknown-shape-held", message, TOOL),)
    message = "nothing is mounted beyond the description, cables neither; --tool states a shape."
    return (Finding(Severity.INFO, "assumed-bare", message, TOOL),)


def _unlimited(robot: Robot, without: tuple[str, ...]) -> tuple[Finding, ...]:
    """Kinds of limits that a motion does not keep because nobody states them, though nobody lifted them."""
    findings = []
    for word, name in {"velocity": "velocity", **LIFTED}.items():
        free = [joint.name for joint in robot.joints if joint.nv and np.isinf(getattr(joint.limits, name))]
        if free and word not in without:
            message = f"no {word} limit is stated, so none is kept; state it with --{word} or --limits."
            # An acceleration strikes nothing and overloads nothing but by its torque, which has a limit.
            severity = Severity.INFO if word == "acceleration" else Severity.WARNING
            findings.append(Finding(severity, "unstated-limit", message, ", ".join(free)))
    return tuple(findings)


def _uncounted(robot: Robot, wish: Wish) -> tuple[Finding, ...]:
    """What the robot's torques will come from, beyond the model whose torques are bounded."""
    if "torque" in wish.without:
        return ()
    findings = []
    if wish.whom == "payload" and wish.payload is None:
        message = "the torques are those of the empty robot; state what it will hold with --payload."
        findings.append(Finding(Severity.WARNING, "unknown-load", message, "payload"))
    if joints := unmodelled_friction(robot):
        message = "states friction that grows with the load or falls with speed; torques do not count it."
        findings.append(Finding(Severity.WARNING, "uncounted-friction", message, ", ".join(joints)))
    return tuple(findings)


def _loaded(robot: Robot, wish: Wish) -> Robot:
    """The robot with what it will hold."""
    return robot if wish.payload is None else robot.with_body("payload", read_payload(wish.payload))


def planned_limits(robot: Robot, wish: Wish) -> MotionLimits:
    """What a motion of this robot must respect by the wish."""
    lifted = _loaded(_lifted(robot, wish.without), wish)
    return _limits(wish, lifted, _columns(wish, lifted)[0])


def _limits(wish: Wish, robot: Robot, layout: Layout) -> MotionLimits:
    """Torques count where every link states its inertia."""
    clearance = _clearance(wish, robot)
    if "torque" in wish.without or any(link.body is None for link in robot.links):
        return MotionLimits(robot, clearance, distance=wish.distance)
    return MotionLimits(robot, clearance, layout, layout.complete_nominal(), wish.distance)


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
    mesh = tool_mesh(wish.tool)
    scene = _scene(wish)
    found = clearance_of(
        robot,
        scene,
        tool=tool_shapes(mesh, wish.tool_scale),
        meshes=described.parent if described.is_file() else None,
        tool_meshes=None if mesh is None else mesh.parent,
        ignore=wish.ignored_pairs,
        rest=_start(wish, robot),
        distance=wish.distance,
        floor=stated_floor(wish.floor, robot, scene),
    )
    require_readable_tool(found, mesh)
    for finding in found.findings:
        say(f"   {finding}")
    return found


def _scene(wish: Wish) -> Scene:
    return Scene() if wish.scene is None else read_scene(wish.scene)


def _recorded(wish: Wish, robot: Robot, layout: Layout) -> Array | None:
    """The Gram matrix of the logs that are already there."""
    if not wish.after:
        return None
    blocks = []
    for path in wish.after:
        joints = list(robot.joint_names)
        reading = read(path, joints=joints, columns=wish.columns, topic=wish.topic, lenient=True)
        log = prepared(reading.recording).recording.channels
        blocks.append((log["q"], log["v"], log["a"], log["tau"]))
    return torque_gram(robot, layout, blocks)[:-1, :-1]
