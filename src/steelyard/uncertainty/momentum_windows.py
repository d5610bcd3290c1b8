r"""The momentum balance over windows of time as equations with bounded errors (paper 000, Corollary 10).

$$\Big[ W_m \big|_{t_0}^{t_1} - \int_{t_0}^{t_1} W_c\,dt \Big]\,\phi = \int_{t_0}^{t_1} \tau\,dt$$

needs no accelerations. Integrals are taken by the trapezoidal rule, but for what positions and times give
exactly: $\int v\,dt = \Delta q$ beside viscous friction, and the sign of a velocity that cannot have changed
it beside Coulomb friction. All that the rule and the measurements can be off by goes into the rows' errors.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, RecordingError
from steelyard.inertia import change_of_frame
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.uncertainty.arm_norms import arm_norms
from steelyard.uncertainty.bounded_rows import TEN, BoundedRows, Place
from steelyard.uncertainty.error_bounds import ErrorBounds
from steelyard.uncertainty.loaded_arm import STEP, LoadedArm
from steelyard.uncertainty.logged_torque import delay_columns, impulses, torque_errors, torque_jumps
from steelyard.uncertainty.payload_box import PayloadBox
from steelyard.uncertainty.time_nodes import TimeNodes
from steelyard.uncertainty.time_windows import TimeWindows
from steelyard.uncertainty.window_errors import (
    certain_signs,
    end_errors,
    friction_errors,
    motion_errors,
    rounding_errors,
)

WINDOW = 0.1
"""Length of a window where none is asked for, s."""
NODES = 4e-3
"""Time between the samples at which slopes are taken, s."""
TERMS = ("viscous", "coulomb", "offset", "rotor")
"""Drive terms whose integral can be bounded, in the order of `Layout.drive_columns`."""


class Grip(Protocol):
    """Where a payload is held."""

    @property
    def link(self) -> str:
        """Name of the moving link that carries it."""
        ...

    @property
    def placement(self) -> Pose:
        """X_LP, the payload's frame in the link's."""
        ...


def bounded_rows(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    recording: Recording,
    held: Grip,
    errors: ErrorBounds,
    prior: PayloadBox,
    *,
    window: float = WINDOW,
) -> BoundedRows:
    """The momentum equations of a recording for the payload, every error in them bounded.

    Args:
        robot: the robot without the payload, an arm of turning and sliding joints.
        layout: the order of its parameters, with any of the drive terms `TERMS`.
        parameters: phi of the robot without the payload, shape (p,), SI.
        recording: positions, velocities and torques with the payload.
        held: where the payload is held; its ten numbers are in the frame of this placement.
        errors: how far measurements and model can be off.
        prior: what the payload can be; it limits how velocity errors and the rule act on the payload.
        window: length of a window, s; windows do not overlap, and leave the first and the last `delay` of the
            recording free.

    Returns:
        One row for each window and joint, window by window.

    Raises:
        InputError: the window is too short or too long, the recording or the bounds are of other joints, the
            layout has another drive term, or a joint is helical.
        RecordingError: velocities or torques were not recorded.
    """
    _check(robot, layout, recording, errors)
    phi, nv, links = checked("parameters", parameters, (layout.size,)), robot.nv, 10 * robot.nv
    windows = TimeWindows.regular(recording.time, window, margin=errors.delay)
    q, v, tau = (recording.channels[name] for name in ("q", "v", "tau"))
    most = np.abs(phi) + errors.parameters
    viscous, coulomb, _, rotor = _of_drives(layout, most)
    norms = arm_norms(
        robot,
        most[:links].reshape(nv, TEN),
        prior.largest,
        held.link,
        held.placement,
        np.abs(q).max(axis=0) + errors.position + errors.acceleration * windows.intervals.max() ** 2 + STEP,
    )
    arm = LoadedArm(
        robot,
        layout_of(robot),
        phi[:links],
        errors.parameters[:links],
        layout.of_link(held.link),
        change_of_frame(held.placement),
        prior,
    )
    signs = certain_signs(windows, v, errors)
    Y = np.zeros((windows.count, nv, layout.size))
    Y[:, :, :links] = arm.integrated(windows, q, v)
    _write_drives(layout, windows, q, v, signs, Y)
    A = Y[:, :, arm.carrier] @ arm.to_link
    impulse = impulses(windows, tau, errors)
    edges = windows.edges
    ends = q[edges], v[edges]
    nodes = TimeNodes.spaced(windows.time, NODES)
    at = nodes.samples
    jumps = torque_jumps(windows, signs, coulomb, errors)
    error = (
        torque_errors(windows, tau, jumps, errors)
        + motion_errors(windows, nodes, arm.velocity_slopes(q[at], v[at]), v, errors, norms)
        + end_errors(
            arm.inertia(ends[0]) + np.diag(rotor), arm.position_slopes(*ends), ends[1], errors, norms
        )
        + friction_errors(windows, signs, coulomb, viscous, errors)
        + rounding_errors(windows, v, norms, np.abs(Y[:, :, links:]) @ most[links:], impulse)
    )
    untested = (
        f"A drive adds {', '.join(layout.drive) or 'no friction'} to the arm's torques, and no more.",
        f"The payload is rigid and bolted to {held.link}.",
        prior.meaning,
    )
    unknown = Y
    if errors.delay > 0.0 and errors.delay_steady:
        late = delay_columns(windows, tau, jumps, errors)
        unknown = np.concatenate([Y, late[:, :, None] * np.eye(nv)], axis=2)
    m = windows.count * nv
    return BoundedRows(
        A.reshape(m, TEN),
        unknown.reshape(m, -1),
        (impulse - Y @ phi).reshape(m),
        error.reshape(m),
        errors.unknown,
        tuple(
            Place(joint, float(begin), float(end))
            for begin, end in zip(windows.time[edges[:-1]], windows.time[edges[1:]], strict=True)
            for joint in robot.joint_names
        ),
        (*errors.assumptions, *untested),
        (*errors.untested, *untested),
    )


def _write_drives(layout: Layout, windows: TimeWindows, q: Array, v: Array, signs: Array, Y: Array) -> None:
    """Write the impulses of unit drive terms into their columns."""
    q, v = q[windows.edges], v[windows.edges]
    impulses = (
        np.diff(q, axis=0),
        windows.total(windows.intervals * signs),
        np.broadcast_to(windows.lengths, (windows.count, v.shape[1])),
        np.diff(v, axis=0),
    )
    for columns, impulse in zip(layout.drive_columns.T, impulses, strict=True):
        dofs = np.flatnonzero(columns >= 0)
        Y[:, dofs, columns[dofs]] = impulse[:, dofs]


def _of_drives(layout: Layout, values: Array) -> Array:
    """Values of the drive terms `TERMS` by joint, zero where a term is absent, shape (4, nv)."""
    columns = layout.drive_columns.T
    return np.where(columns >= 0, values[columns], 0.0)


def _check(robot: Robot, layout: Layout, recording: Recording, errors: ErrorBounds) -> None:
    robot.require_arm()
    for name, joints in (("recording", recording.joints), ("errors", errors.joints)):
        if joints != robot.joint_names:
            raise InputError(
                f"of joints {list(joints)}, but the robot has {list(robot.joint_names)}.", place=name
            )
    if other := [term for term in layout.drive if term not in TERMS]:
        raise InputError(
            f"has {', '.join(other)}, whose integral over a window has no bound here.",
            place="layout",
            remedy=f"Use {', '.join(TERMS)}, with spreads that cover the rest.",
        )
    checked("errors.parameters", errors.parameters, (layout.size,))
    if missing := [name for name in ("v", "tau") if name not in recording.channels]:
        raise RecordingError(
            f"has no {', '.join(missing)}.",
            place="recording",
            remedy="Momentum needs velocities, and its change torques.",
        )
