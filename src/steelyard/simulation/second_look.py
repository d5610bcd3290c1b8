r"""A second look at a certified motion, by other code than the certifier's and nothing of its cleverness.

The certifier encloses every instant; this looks at some hundreds of them. Velocities and accelerations are
differences of the positions that would be sent to the robot; torques are Newton's and Euler's laws applied
body by body in the base frame, with the friction and rotors that the description states; distances are
MuJoCo's between the shapes of the description. Of all that only the reading of the description, the motion's
positions and the choice of pairs are shared. A margin seen to be smaller than the one proven shows a mistake
in one of the two, and then neither is to be believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import mujoco
import numpy as np

from steelyard.arrays import Array
from steelyard.errors import SolverError
from steelyard.limits import Certificate, Hull, MotionLimits, Part, Zonotope
from steelyard.motion import Motion
from steelyard.robot import Box, Capsule, Cylinder, Joint, JointKind, Robot, Sphere
from steelyard.simulation.mujoco_model import quaternion

DISTANCES = 60_000
"""Distances of pairs that are measured in all, about; fewer instants are looked at where pairs are many."""
FEWEST, MOST = 200, 2000
"""Instants that are looked at."""
_STEP = 1e-5
"""Of the differences that make velocities and accelerations, as a share of the motion's duration."""
_ROUNDING = {"position": 1e-9, "velocity": 1e-8, "acceleration": 1e-5, "torque": 1e-4}
"""What rounding and the differences may add, as a share of the largest value that a joint reaches."""
_NEARLY = 2e-5
"""What MuJoCo's distances may miss, m."""
_FAR = 10.0
"""Distance from which on MuJoCo need not say how far it is, m."""
_MOST_GENERATORS = 12
"""Of a zonotope whose corners are all listed."""


@dataclass(frozen=True)
class SeenMargin:
    """What is left of a limit at the worst instant that was looked at.

    Attributes:
        kind: one of `limits.KINDS`.
        name: of the joint or pair.
        proven: what the certificate says is left at every instant, in `unit`.
        seen: what was left at least, in `unit`.
        instant: when, s.
        unit: of both.
    """

    kind: str
    name: str
    proven: float
    seen: float
    instant: float
    unit: str


@dataclass(frozen=True)
class SecondLook:
    """What was seen of a certified motion.

    Attributes:
        instants: how many were looked at.
        margins: every margin that the certificate names and that could be looked at.
        unseen: pairs that MuJoCo cannot measure, such as those of a mesh that is flat.
    """

    instants: int
    margins: tuple[SeenMargin, ...]
    unseen: tuple[str, ...] = ()

    def smallest(self, kind: str) -> SeenMargin | None:
        """The limit of a kind of which least was left.

        Args:
            kind: one of `limits.KINDS`.

        Returns:
            Its margin; None where none of that kind was looked at.
        """
        return min((x for x in self.margins if x.kind == kind), key=lambda x: x.seen, default=None)

    def __str__(self) -> str:
        words = (
            f"Looked at again at {self.instants} instants by other code: none of {len(self.margins)} margins "
            "is smaller than proven."
        )
        return f"{words} Not looked at again: {'; '.join(self.unseen)}." if self.unseen else words


def second_look(limits: MotionLimits, motion: Motion, proof: Certificate) -> SecondLook:
    """Look at a certified motion at many instants, and compare every margin with the one that is proven.

    Args:
        limits: what the certificate is about.
        motion: the motion.
        proof: its certificate.

    Returns:
        What was seen.

    Raises:
        SolverError: a margin is smaller than the certificate says.
    """
    pairs = () if limits.clearance is None else limits.clearance.pairs
    count = int(np.clip(DISTANCES // max(len(pairs), 1), FEWEST, MOST))
    step = _STEP * motion.duration
    t = np.linspace(step, motion.duration - step, count)
    states = _states(limits.robot, motion, t, step)
    seen = _joint_margins(limits, states)
    distances, unseen = _distances(limits, states.links)
    seen |= {("clearance", name): d - limits.distance for name, d in distances.items()}
    found = []
    for margin in proof.margins:
        series = seen.get((margin.kind, margin.name))
        if series is None:
            continue
        k = int(np.argmin(series))
        worst, instant = float(series[k]), float(t[k])
        found.append(SeenMargin(margin.kind, margin.name, margin.margin, worst, instant, margin.unit))
    looked = SecondLook(count, tuple(found), tuple(unseen))
    _compare(looked, states, limits)
    return looked


def _compare(looked: SecondLook, states: _States, limits: MotionLimits) -> None:
    reached = {
        "position": states.q,
        "velocity": states.v,
        "acceleration": states.a,
        "torque": states.torque,
    }
    every = limits.robot.untied.joint_names
    for margin in looked.margins:
        missed = _NEARLY
        if margin.kind != "clearance":
            names = limits.robot.joint_names if margin.kind == "torque" else every
            size = float(np.abs(reached[margin.kind][:, names.index(margin.name)]).max())
            missed = _ROUNDING[margin.kind] * max(size, 1.0)
        # Written so that NaN is a disagreement too.
        if not margin.seen >= margin.proven - missed:
            raise SolverError(
                f"proof and second look disagree: at {margin.instant:.4g} s {margin.seen:.4g} {margin.unit} "
                f"are left of the {margin.kind} limit of {margin.name}, proven are {margin.proven:.4g}.",
                place="certificate",
                remedy="Do not run this motion, and report it: one of the two is wrong.",
                evidence={"kind": margin.kind, "name": margin.name, "instant": margin.instant},
            )


@dataclass(frozen=True, eq=False)
class _States:
    """The robot at each instant; q, v and a of every joint (N, J), torques of the driven ones (N, nv)."""

    q: Array
    v: Array
    a: Array
    torque: Array
    links: list[tuple[Array, Array]]
    """Rotation (N, 3, 3) and origin (N, 3) of every moving link in the base frame."""


def _states(robot: Robot, motion: Motion, t: Array, h: float) -> _States:
    """A central difference is a mean of the derivative nearby, also across a break: never more than it."""
    before, q, after = (motion.sample(t + k * h).q for k in (-1, 0, 1))
    v, a = (after - before) / (2.0 * h), (after - 2.0 * q + before) / (h * h)
    tied = np.eye(robot.nv)
    if robot.ties is not None:
        q, tied = q @ robot.ties.positions.T + robot.ties.offset, robot.ties.rates
        v, a = v @ tied.T, a @ tied.T
    joints = robot.untied.joints
    links, wrenches = _falling_bodies(robot, joints, q, v, a)
    return _States(q, v, a, wrenches @ tied, links)


def _falling_bodies(
    robot: Robot, joints: tuple[Joint, ...], q: Array, v: Array, a: Array
) -> tuple[list[tuple[Array, Array]], Array]:
    r"""Newton's and Euler's laws of each body in the base frame, and the efforts at all joints, (N, J).

    $$f_i = m_i(\ddot c_i - g), \qquad n_i = I_i\dot\omega_i + \omega_i \times I_i\omega_i$$

    A joint feels the sum over all that it moves, about its own axis: no recursion is needed for that.
    """
    N = len(q)
    zero, eye = np.zeros((N, 3)), np.tile(np.eye(3), (N, 1, 1))
    still = (eye, zero, zero, zero, zero)
    moving: list[tuple[Array, ...]] = []
    axes: list[Array] = []
    for i, joint in enumerate(joints):
        R, p, w, dw, ddp = moving[joint.parent] if joint.parent >= 0 else still
        R, arm = R @ joint.placement.rotation, R @ joint.placement.translation
        axis = R @ joint.axis
        turn = joint.kind is not JointKind.PRISMATIC
        slide = 1.0 if joint.kind is JointKind.PRISMATIC else joint.pitch
        angle, rate, rise = (x[:, i, None] if turn else 0.0 * x[:, i, None] for x in (q, v, a))
        along, speed, gain = (slide * x[:, i, None] * axis for x in (q, v, a))
        arm = arm + along
        p = p + arm
        ddp = ddp + np.cross(dw, arm) + np.cross(w, np.cross(w, arm)) + 2.0 * np.cross(w, speed) + gain
        dw = dw + np.cross(w, rate * axis) + rise * axis
        w = w + rate * axis
        moving.append((R @ _turned(joint.axis, angle[:, 0]), p, w, dw, ddp))
        axes.append(axis)
    links = [(R, p) for R, p, *_ in moving]
    effort = np.zeros_like(q)
    for i, link in enumerate(robot.links):
        if link.body is None:
            return links, np.full_like(q, np.nan)
        R, p, w, dw, ddp = moving[i]
        c = R @ link.body.com
        f = link.body.mass * (ddp + np.cross(dw, c) + np.cross(w, np.cross(w, c)) - robot.gravity)
        inertia = R @ link.body.inertia @ R.transpose(0, 2, 1)
        n = _times(inertia, dw) + np.cross(w, _times(inertia, w))
        k = i
        while k >= 0:
            joint, at = joints[k], moving[k][1]
            moment = n + np.cross(p + c - at, f)
            turn = joint.kind is not JointKind.PRISMATIC
            slide = 1.0 if joint.kind is JointKind.PRISMATIC else joint.pitch
            effort[:, k] += np.einsum("ij,ij->i", axes[k], turn * moment + slide * f)
            k = joint.parent
    for k, joint in enumerate(joints):
        drive = joint.drive
        effort[:, k] += (drive.rotor or 0.0) * a[:, k] + (drive.viscous or 0.0) * v[:, k]
        effort[:, k] += (drive.asymmetric or 0.0) * np.abs(v[:, k])
        effort[:, k] += (drive.coulomb or 0.0) * np.sign(v[:, k]) + (drive.offset or 0.0)
    return links, effort


def _turned(axis: Array, angle: Array) -> Array:
    """Rodrigues' formula, shape (N, 3, 3)."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, rest = np.sin(angle)[:, None, None], 1.0 - np.cos(angle)[:, None, None]
    return np.asarray(np.eye(3) + sine * K + rest * (K @ K))


def _times(matrices: Array, vectors: Array) -> Array:
    return np.asarray(np.einsum("nij,nj->ni", matrices, vectors))


def _joint_margins(limits: MotionLimits, states: _States) -> dict[tuple[str, str], Array]:
    """What is left of every joint's limits at each instant."""
    seen: dict[tuple[str, str], Array] = {}
    for k, joint in enumerate(limits.robot.untied.joints):
        q, v, a = states.q[:, k], states.v[:, k], states.a[:, k]
        seen["position", joint.name] = np.minimum(q - joint.limits.lower, joint.limits.upper - q)
        seen["velocity", joint.name] = joint.limits.velocity - np.abs(v)
        seen["acceleration", joint.name] = joint.limits.acceleration - np.abs(a)
    driven = [joint for joint in limits.robot.joints if joint.mimic is None]
    for k, joint in enumerate(driven):
        seen["torque", joint.name] = joint.limits.effort - np.abs(states.torque[:, k])
    return seen


def _distances(limits: MotionLimits, links: list[tuple[Array, Array]]) -> tuple[dict[str, Array], list[str]]:
    """Distances of all pairs at each instant, m, by name, and the pairs that MuJoCo does not take."""
    if limits.clearance is None or not limits.clearance.pairs:
        return {}, []
    pairs = limits.clearance.pairs
    parts = dict.fromkeys(part for pair in pairs for part in (pair.first, pair.second))
    geoms = {part: f"part{k}" for k, part in enumerate(x for x in parts if _measurable(x))}
    model = _shapes(geoms, len(links))
    data = mujoco.MjData(model)
    taken = [pair for pair in pairs if pair.first in geoms and pair.second in geoms]
    index = [tuple(model.geom(geoms[x]).id for x in (pair.first, pair.second)) for pair in taken]
    found = np.empty((len(links[0][1]), len(taken)))
    points = np.zeros(6)
    for n, row in enumerate(found):
        for i, (R, p) in enumerate(links):
            data.mocap_pos[i] = p[n]
            mujoco.mju_mat2Quat(data.mocap_quat[i], R[n].ravel())
        mujoco.mj_kinematics(model, data)
        row[:] = [mujoco.mj_geomDistance(model, data, *both, _FAR, points) for both in index]
    unseen = [pair.name for pair in pairs if pair.first not in geoms or pair.second not in geoms]
    return {pair.name: found[:, k] for k, pair in enumerate(taken)}, unseen


def _measurable(part: Part) -> bool:
    """Whether MuJoCo makes a shape of it: of points in a plane, for one, it makes no hull."""
    corners = _corners(part)
    if corners is None:
        return isinstance(part.shape, Sphere | Box | Cylinder | Capsule)
    try:
        _shapes({part: "alone"}, part.link + 1)
    except ValueError:
        return False
    return True


def _corners(part: Part) -> Array | None:
    """Points whose hull the shape is, shape (n, 3), m; None where it is round or has too many."""
    shape = part.shape
    if isinstance(shape, np.ndarray):
        return shape
    if isinstance(shape, Hull):
        return shape.points
    if isinstance(shape, Zonotope) and len(shape.generators) <= _MOST_GENERATORS:
        signs = np.array(list(product((-1.0, 1.0), repeat=len(shape.generators))))
        return np.asarray(shape.centre + signs @ shape.generators)
    return None


def _shapes(geoms: Mapping[Part, str], links: int) -> Any:
    """A model of shapes alone: bodies that are put where the links are, and those that stand still."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.ccd_tolerance = 1e-9
    spec.option.ccd_iterations = 500
    bodies = [spec.worldbody.add_body(name=f"link{i}", mocap=True) for i in range(links)]
    for part, name in geoms.items():
        _add(spec, bodies[part.link] if part.link >= 0 else spec.worldbody, part, name)
    return spec.compile()


def _add(spec: Any, body: Any, part: Part, name: str) -> None:
    kinds, shape = mujoco.mjtGeom, part.shape
    place = {"name": name, "pos": part.pose.translation, "quat": quaternion(part.pose.rotation)}
    if isinstance(shape, Sphere):
        body.add_geom(type=kinds.mjGEOM_SPHERE, size=[shape.radius, 0.0, 0.0], **place)
    elif isinstance(shape, Box):
        body.add_geom(type=kinds.mjGEOM_BOX, size=[0.5 * shape.x, 0.5 * shape.y, 0.5 * shape.z], **place)
    elif isinstance(shape, Cylinder):
        body.add_geom(type=kinds.mjGEOM_CYLINDER, size=[shape.radius, 0.5 * shape.length, 0.0], **place)
    elif isinstance(shape, Capsule):
        body.add_geom(type=kinds.mjGEOM_CAPSULE, size=[shape.radius, 0.5 * shape.length, 0.0], **place)
    else:
        mesh = spec.add_mesh(name=name, uservert=np.asarray(_corners(part)).ravel())
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        body.add_geom(type=kinds.mjGEOM_MESH, meshname=name, **place)
