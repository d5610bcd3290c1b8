"""A robot as a complete MJCF model: bodies, joints, drives, actuators, simple shapes, ties between joints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from steelyard.drive import Servo
from steelyard.errors import DescriptionError
from steelyard.finding import Finding, Severity
from steelyard.formats.xml_text import ModelText, attributes, quaternion_words, words
from steelyard.inertia import MUJOCO_LEAST, MujocoPrincipal
from steelyard.pose import Pose
from steelyard.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Joint,
    JointKind,
    Link,
    MeshFile,
    Robot,
    Sphere,
)

# What stands inside a body of a MJCF model: its inertial, its shapes, the frames bolted to it.


def body_inertial(link: Link, findings: list[Finding]) -> str:
    """The `<inertial>` of a link and everything bolted to it, about principal axes.

    MuJoCo judges the triangle inequality of the moments to the last bit and refuses masses and moments next
    to zero, both of which an estimate on the border of the possible has; see `MujocoPrincipal.loadable`. What
    is raised is said.

    Args:
        link: the link.
        findings: where to say what was raised.

    Returns:
        The element.

    Raises:
        DescriptionError: the link states no inertial.
    """
    body = link.body
    place = f"link '{link.name}'"
    if body is None:
        raise DescriptionError("states no inertial.", place=place, remedy="Every moving body needs one.")
    principal = MujocoPrincipal.from_body(body)
    taken = principal.loadable
    if taken.mass > body.mass or (principal.diaginertia < MUJOCO_LEAST).any():
        low = f"below {MUJOCO_LEAST:g} SI"
        message = f"its mass or a principal moment is {low}, which MuJoCo refuses; raised to it."
        findings.append(Finding(Severity.INFO, "raised-for-mujoco", message, place))
    stated = {
        "pos": words(body.com),
        "quat": words(principal.iquat),
        "mass": words(taken.mass),
        "diaginertia": words(taken.diaginertia),
    }
    return f"<inertial{attributes(stated)}/>"


def body_parts(link: Link, findings: list[Finding]) -> Iterator[str]:
    """The collision shapes of a link, and the links bolted to it as sites.

    Args:
        link: the link.
        findings: where to say which meshes were left out.

    Returns:
        The elements.
    """
    for item in link.collision:
        if isinstance(item.shape, MeshFile):
            message = f"the collision mesh '{item.shape.file}' is left out."
            findings.append(Finding(Severity.INFO, "mesh-left-out", message, f"link '{link.name}'"))
        else:
            yield f"<geom{attributes(_geom(item))}/>"
    for part in link.fixed:
        at = {"pos": words(part.placement.translation), "quat": words(quaternion_words(part.placement))}
        yield f"<site{attributes({'name': part.name, **at})}/>"


def _geom(item: Geometry) -> dict[str, str]:
    match item.shape:
        case Sphere(radius):
            kind, size = "sphere", [radius]
        case Box(x, y, z):
            kind, size = "box", [x / 2, y / 2, z / 2]
        case Cylinder(radius, length):
            kind, size = "cylinder", [radius, length / 2]
        case Capsule(radius, length):
            kind, size = "capsule", [radius, length / 2]
        case MeshFile():
            raise DescriptionError("a mesh is no simple shape.", place="geometry")
    return {
        "type": kind,
        "size": words(size),
        "pos": words(item.pose.translation),
        "quat": words(quaternion_words(item.pose)),
    }


_TYPES = {
    JointKind.REVOLUTE: "hinge",
    JointKind.CONTINUOUS: "hinge",
    JointKind.PRISMATIC: "slide",
    JointKind.SPHERICAL: "ball",
    JointKind.FLOATING: "free",
}
_UNBOUNDED = 1e10  # MuJoCo limits both sides or none


def mjcf_text(robot: Robot, servos: Mapping[str, Servo] | None = None) -> ModelText:
    """Write a robot as MJCF.

    A body is a moving link with everything bolted to it, whose frames become sites. The joints of virtual
    links stand one after the other in the body they lead to. Viscous friction is `damping`, Coulomb friction
    `frictionloss`, the rotor `armature`; each joint that moves by itself has a motor with its effort limit,
    or the position servo that is named for it, with gains, limit and delay. A joint that mimics another is
    tied to it by an equality. Meshes are left out, and so is the inertia of a base that does not move;
    offset, Stribeck, asymmetric and load friction have no word in MJCF.

    Args:
        robot: the robot; every moving link must state a possible inertial.
        servos: position servos by joint, whose friction and armature the drives of the robot already state;
            None for motors everywhere.

    Returns:
        The model, with what was noticed.

    Raises:
        DescriptionError: a joint is helical, or floats anywhere but on the base, or a link has no inertial.
    """
    for joint in robot.joints:
        _refuse(joint)
    writer = _Bodies(robot)
    lines = [
        f"<mujoco{attributes({'model': robot.name})}>",
        '  <compiler angle="radian" autolimits="false" inertiafromgeom="false"/>',
        f'  <option gravity="{words(robot.gravity)}" integrator="implicitfast"/>',
        "  <worldbody>",
        *(f"    {line}" for line in body_parts(robot.base, writer.findings)),
        *writer.below(-1, "    "),
        "  </worldbody>",
        *_contacts(robot, writer),
        *_equalities(robot),
        *_actuators(robot, servos or {}),
        "</mujoco>",
    ]
    return ModelText(("\n".join(lines) + "\n").encode(), tuple(writer.findings))


def _refuse(joint: Joint) -> None:
    place = f"joint '{joint.name}'"
    if joint.kind not in _TYPES:
        raise DescriptionError(f"it is {joint.kind.value}, a joint MuJoCo does not have.", place=place)
    if joint.kind is JointKind.FLOATING and joint.parent >= 0:
        raise DescriptionError("it floats on a moving link; in MuJoCo only the base floats.", place=place)


class _Bodies:
    """Writes the tree, and remembers which bodies hang on the world and what was noticed."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._children: dict[int, list[int]] = {i: [] for i in range(-1, len(robot.joints))}
        for i, joint in enumerate(robot.joints):
            self._children[joint.parent].append(i)
        self.roots: list[str] = []
        self.findings: list[Finding] = []

    def below(self, parent: int, indent: str) -> Iterator[str]:
        """The bodies that a link carries; without recursion, so that no chain is too long."""
        tasks: list[int | str] = list(reversed(self._children[parent]))
        depth = 0
        while tasks:
            task = tasks.pop()
            if isinstance(task, str):
                depth -= 1
                yield f"{indent}{'  ' * depth}{task}"
                continue
            chain = self._chain(task)
            for line in self._body(chain):
                yield f"{indent}{'  ' * depth}{line}"
            depth += 1
            tasks += ["</body>", *reversed(self._children[chain[-1]])]

    def _chain(self, first: int) -> list[int]:
        """A joint and those that follow it through virtual links, up to one that moves a real link."""
        chain = [first]
        while self._robot.links[chain[-1]].virtual and len(self._children[chain[-1]]) == 1:
            chain += self._children[chain[-1]]
        return chain

    def _body(self, chain: list[int]) -> Iterator[str]:
        robot = self._robot
        link = robot.links[chain[-1]]
        X_PB = Pose.identity()
        for i in chain:
            X_PB = X_PB @ robot.joints[i].placement
        if robot.joints[chain[0]].parent < 0:
            self.roots.append(link.name)
        place = {"name": link.name, "pos": words(X_PB.translation), "quat": words(quaternion_words(X_PB))}
        yield f"<body{attributes(place)}>"
        yield f"  {body_inertial(link, self.findings)}"
        X_BJ = Pose.identity()
        joints = []
        for i in reversed(chain):
            joints.append(self._joint(robot.joints[i], X_BJ))
            X_BJ = X_BJ @ robot.joints[i].placement.inverse()
        yield from (f"  {line}" for line in reversed(joints))
        yield from (f"  {line}" for line in body_parts(link, self.findings))

    def _joint(self, joint: Joint, X_BJ: Pose) -> str:
        """A joint whose frame at rest is X_BJ in the body it stands in."""
        if joint.kind is JointKind.FLOATING:
            return f"<freejoint{attributes({'name': joint.name})}/>"
        stated = {
            "name": joint.name,
            "type": _TYPES[joint.kind],
            "pos": words(X_BJ.translation),
            "axis": words(X_BJ.rotation @ joint.axis),
        }
        lower, upper = joint.limits.lower, joint.limits.upper
        if lower == upper:
            message = f"may not move, which MuJoCo cannot state; its limits of {lower:g} are left out."
            self.findings.append(
                Finding(Severity.WARNING, "empty-range-dropped", message, f"joint '{joint.name}'")
            )
        elif joint.kind.nv == 1 and (math.isfinite(lower) or math.isfinite(upper)):
            stated["range"] = words((max(lower, -_UNBOUNDED), min(upper, _UNBOUNDED)))
            stated["limited"] = "true"
        drive = joint.drive
        numbers = {"damping": drive.viscous, "frictionloss": drive.coulomb, "armature": drive.rotor}
        stated |= {name: words(value) for name, value in numbers.items() if value}
        return f"<joint{attributes(stated)}/>"


def _contacts(robot: Robot, writer: _Bodies) -> Iterator[str]:
    """The links on the base do not collide with it; MuJoCo excludes neighbours only among moving bodies."""
    if robot.base.collision:
        yield "  <contact>"
        yield from (f"    <exclude{attributes({'body1': 'world', 'body2': name})}/>" for name in writer.roots)
        yield "  </contact>"


def _equalities(robot: Robot) -> Iterator[str]:
    if robot.ties is None:
        return
    yield "  <equality>"
    for joint in robot.joints:
        if joint.mimic is not None:
            polynomial = words((joint.mimic.offset, joint.mimic.multiplier, 0.0, 0.0, 0.0))
            tie = {"joint1": joint.name, "joint2": joint.mimic.joint, "polycoef": polynomial}
            yield f"    <joint{attributes(tie)}/>"
    yield "  </equality>"


TIMESTEP = 0.002
"""MuJoCo's own time step, s, in which the room of a delay is counted."""


def position_actuator(joint: str, servo: Servo) -> str:
    """A servo as an actuator of MJCF, whose control is the commanded position.

    MuJoCo keeps commands that are under way in a buffer of as many samples as a delay has time steps; two
    more serve steps that are a little shorter.

    Args:
        joint: its joint.
        servo: its numbers.

    Returns:
        The element: `<position>`, or `<general>` where the servo's zero lies elsewhere.
    """
    kp, kd = servo.stiffness, servo.damping
    stated = {"name": joint, "joint": joint}
    if servo.offset:
        stated |= {"gaintype": "fixed", "gainprm": words((kp,)), "biastype": "affine"}
        stated |= {"biasprm": words((kp * servo.offset, -kp, -kd))}
    else:
        stated |= {"kp": words((kp,)), "kv": words((kd,))}
    if math.isfinite(servo.limit):
        stated |= {"forcelimited": "true", "forcerange": words((-servo.limit, servo.limit))}
    if servo.delay > 0.0:
        room = math.ceil(servo.delay / TIMESTEP) + 2
        stated |= {"delay": words((servo.delay,)), "nsample": str(room), "interp": "zoh"}
    return f"<{'general' if servo.offset else 'position'}{attributes(stated)}/>"


def _actuators(robot: Robot, servos: Mapping[str, Servo]) -> Iterator[str]:
    yield "  <actuator>"
    for joint in robot.joints:
        if joint.nv != 1:
            continue
        if joint.name in servos:
            yield f"    {position_actuator(joint.name, servos[joint.name])}"
            continue
        motor = {"name": joint.name, "joint": joint.name}
        effort = joint.limits.effort
        if 0.0 < effort < math.inf:
            bound = words((-effort, effort))
            motor |= {"ctrllimited": "true", "ctrlrange": bound, "forcelimited": "true", "forcerange": bound}
        yield f"    <motor{attributes(motor)}/>"
    yield "  </actuator>"
