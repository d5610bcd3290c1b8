"""A leg identified on a bench and used on a running robot (Wensing et al. 2024, sections 9.3 and 9.4).

No contact is simulated: the motion is prescribed, and Newton and Euler say which forces it takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from oracles.newton_euler import newton_euler
from oracles.paper_mechanisms import geared_joints
from steelyard.dynamics import torque_regressor
from steelyard.inertia import box
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.robot import Link, Robot, Rotor
from steelyard.zoo import zoo_robot

STRIDE = 0.4
"""Seconds from one bound to the next."""
LEG = ("abad", "hip", "knee")
TORSO_MASS = 26.6
CROUCHED = np.array([0.0, 0.5, -1.2])
"""The leg's mean position, rad."""


def leg_with_rotors(*, floating: bool) -> Robot:
    """The leg of the Cheetah 3 on a bench, or under a torso that is free to move; each joint has a rotor."""
    leg = zoo_robot("cheetah3_leg")
    if floating:
        leg = replace(leg, base=Link("torso", box((0.2, 0.256, 0.6), mass=TORSO_MASS))).floating()
    ratios = {"abad": 23 / 3, "hip": 23 / 3, "knee": 8.846}
    return leg.with_rotors({name: Rotor(ratio) for name, ratio in ratios.items()})


def layout_with_spin(robot: Robot) -> Layout:
    """All numbers of the links, and of each rotor its inertia about its axis."""
    return layout_of(robot).fixing(Rotor.spin_only(geared_joints(robot)))


def truth(robot: Robot) -> np.ndarray:
    """The zoo's numbers, and rotors of 5e-4 kg·m², shape (p,), SI."""
    phi = layout_with_spin(robot).nominal
    return np.where(np.isnan(phi), 5e-4, phi)


def gallop(times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions (N, 10), velocities and accelerations (N, 9) of torso and leg: it bounds, pitches and sways.

    The torso's twist is in its own frame; its derivative comes from a small imaginary step in time, which is
    exact to round-off because the twist is analytic.
    """
    roll, pitch, yaw = _ANGLES.at(times).T
    turns = [Pose.from_rpy(angles).quaternion for angles in zip(roll, pitch, yaw, strict=True)]
    step = 1e-30
    q = np.hstack([_PLACE.at(times), np.array(turns), _LEG.at(times) + CROUCHED])
    v = np.hstack([_twist(times), _LEG.at(times, 1)])
    a = np.hstack([_twist(times + 1j * step).imag / step, _LEG.at(times, 2)])
    return q, v, a


@dataclass(frozen=True)
class _Waves:
    """Sums of sines about the stride's frequency; the overtones are off it, so that no two strides are alike.

    Attributes:
        amplitudes: one row per coordinate, one entry per overtone.
        phases: of each coordinate, rad.
    """

    amplitudes: tuple[tuple[float, ...], ...]
    phases: tuple[float, ...]

    def at(self, times: np.ndarray, order: int = 0) -> np.ndarray:
        """The coordinates or their derivatives, (N, n)."""
        columns = []
        for amplitudes, phase in zip(self.amplitudes, self.phases, strict=True):
            total = np.zeros_like(times)
            for k, b in enumerate(amplitudes, start=1):
                w = 2 * np.pi / STRIDE * (k + 0.03 * k * k)
                total = total + b * w**order * np.sin(w * times + phase * k + order * np.pi / 2)
            columns.append(total)
        return np.column_stack(columns)


_PLACE = _Waves(((0.05, 0.02), (0.02, 0.01), (0.06, 0.02)), (0.3, 1.1, 2.0))
_ANGLES = _Waves(((0.08, 0.03), (0.25, 0.06), (0.10, 0.04)), (0.7, 1.9, 2.6))
_LEG = _Waves(((0.3, 0.1, 0.04), (0.7, 0.2, 0.05), (0.8, 0.3, 0.06)), (0.2, 1.4, 2.3))


def _twist(times: np.ndarray) -> np.ndarray:
    """Linear and angular velocity of the torso in its own frame, (N, 6)."""
    (x, y, z), (dx, dy, dz), speed = _ANGLES.at(times).T, _ANGLES.at(times, 1).T, _PLACE.at(times, 1)
    sx, cx, sy, cy, sz, cz = np.sin(x), np.cos(x), np.sin(y), np.cos(y), np.sin(z), np.cos(z)
    axes = (
        (cy * cz, cy * sz, -sy),
        (sx * sy * cz - cx * sz, sx * sy * sz + cx * cz, sx * cy),
        (cx * sy * cz + sx * sz, cx * sy * sz - sx * cz, cx * cy),
    )
    linear = [sum(axis[k] * speed[:, k] for k in range(3)) for axis in axes]
    return np.column_stack([*linear, dx - dz * sy, dy * cx + dz * cy * sx, dz * cy * cx - dy * sx])


@dataclass(frozen=True)
class Data:
    """Motion of a robot, its regressor over the free parameters, and the forces it takes.

    Attributes:
        W: shape (N, nv, free), SI.
        tau: shape (N, nv), N·m or N.
    """

    W: np.ndarray
    tau: np.ndarray


def record(robot: Robot, times: np.ndarray) -> Data:
    """Move the leg, and the torso where it is free, and write down the forces of Newton and Euler."""
    layout, phi = layout_with_spin(robot), truth(robot)
    q, v, a = gallop(times)
    if robot.nv == 3:
        q, v, a = q[:, 7:], v[:, 6:], a[:, 6:]
    ties = [joint.mimic for joint in robot.joints if joint.mimic]
    leg = {name: robot.nv - 3 + k for k, name in enumerate(LEG)}
    tau = np.empty((len(times), robot.nv))
    for n in range(len(times)):
        spun = [
            np.append(x[n], [tie.multiplier * x[n, len(x[n]) - robot.nv + leg[tie.joint]] for tie in ties])
            for x in (q, v, a)
        ]
        forces = newton_euler(robot.untied, phi.reshape(-1, 10), *spun)
        tau[n] = forces[: robot.nv]
        for tie, force in zip(ties, forces[robot.nv :], strict=True):
            tau[n, leg[tie.joint]] += tie.multiplier * force
    return Data(torque_regressor(robot, layout, q, v, a)[..., layout.free], tau)


def estimate(data: Data) -> np.ndarray:
    """The shortest of the parameter vectors that explain the data best, as in (64) of the paper."""
    W = data.W.reshape(-1, data.W.shape[-1])
    return np.linalg.lstsq(W, data.tau.ravel(), rcond=1e-10)[0]


def rms_errors(data: Data, theta: np.ndarray) -> np.ndarray:
    """By degree of freedom, N·m or N."""
    return np.sqrt(np.mean((data.W @ theta - data.tau) ** 2, axis=0))


@dataclass(frozen=True)
class Lesson:
    """RMS errors of the two identifications in the two validations (Table 6).

    Attributes:
        errors: by the torso's state in identification and in validation; on the floating robot the torso's
            force and torque come first, then ab/ad, hip and knee, N and N·m.
    """

    errors: dict[tuple[str, str], np.ndarray]


@cache
def table_6() -> Lesson:
    """Identify on four seconds of running, validate on the next two."""
    first, then = np.linspace(0.0, 4.0, 400, endpoint=False), np.linspace(4.0, 6.0, 200)
    errors = {}
    fixed, free = leg_with_rotors(floating=False), leg_with_rotors(floating=True)
    torso = truth(free)[:10]
    from_bench, from_running = estimate(record(fixed, first)), estimate(record(free, first))
    on_bench, running = record(fixed, then), record(free, then)
    errors["floating", "fixed"] = rms_errors(on_bench, from_running[10:])
    errors["fixed", "fixed"] = rms_errors(on_bench, from_bench)
    errors["floating", "floating"] = rms_errors(running, from_running)
    # The leg of the bench under a torso that is known.
    errors["fixed", "floating"] = rms_errors(running, np.concatenate([torso, from_bench]))
    return Lesson(errors)
