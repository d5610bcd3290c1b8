"""The torque a payload adds to a run: measured, and explained by the payload that was found."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, RecordingError
from steelyard.payload import ArmModel, PayloadEstimate, massless, residual_torque
from steelyard.recording import Recording
from steelyard.report.content import TorqueTrace
from steelyard.robot import Robot
from steelyard.signals import in_band, without_turning


def payload_trace(
    robot: Robot,
    estimate: PayloadEstimate,
    name: str,
    loaded: Recording,
    *,
    empty: Recording | None = None,
    model: ArmModel | None = None,
    gripper: Array | None = None,
    held_out: bool = False,
) -> TorqueTrace:
    r"""What is measured beyond the arm itself, and what the payload explains of it.

    Measured is $\tau - \tau_{arm}$, by the empty run of the same motion where there is one, otherwise by
    the model. Explained is $W_p\varphi$ and, since drives differ from run to run, what fits best joint by
    joint of a constant, $\dot q$ and $\mathrm{sign}\,\dot q$. Samples at which a joint turns are left out, as
    in the weighing.

    Args:
        robot: the robot.
        estimate: what it holds.
        name: what the run is called.
        loaded: the run, with q, v, a and tau.
        empty: the same motion without the payload; None for none.
        model: the arm without payload; beside an empty run it predicts what the arm needs where they differ.
        gripper: what the carrying link itself gained between the runs, in its own frame, shape (10,), SI;
            None for nothing.
        held_out: whether the estimate has not seen the run.

    Returns:
        The torques.

    Raises:
        InputError: neither an empty run nor a model is given.
        RecordingError: a channel is missing, or the runs are of different motions.
    """
    if empty is None and model is None:
        raise InputError("needs an empty run or a model of the arm.", place=f"trace '{name}'")
    run = loaded if empty is None else residual_torque(loaded, empty, model)
    if run.v is None or run.a is None or run.tau is None:
        raise RecordingError("needs q, v, a and tau.", place=f"recording '{name}'")
    run = without_turning(run)
    at = run.channels
    own = massless(robot) if empty is not None or model is None else model
    if gripper is not None and empty is not None:
        own = own.with_link(estimate.weighing.held.link, gripper)
    tau = at["tau"] - inverse_dynamics(robot, own.layout, own.parameters, at["q"], at["v"], at["a"])
    held = estimate.weighing.held
    body = massless(robot).with_link(held.link, held.to_link @ estimate.ten)
    payload = inverse_dynamics(robot, body.layout, body.parameters, at["q"], at["v"], at["a"])
    measured, payload = in_band(run, tau), in_band(run, payload)
    return TorqueTrace(name, held_out, run.time, measured, payload + _changes(measured - payload, at["v"]))


def _changes(rest: Array, v: Array) -> Array:
    """What offsets and friction explain of torques, joint by joint, shape (N, nv), N·m or N."""
    fitted = np.empty_like(rest)
    for j, tau in enumerate(rest.T):
        A = np.column_stack([np.ones(len(v)), v[:, j], np.sign(v[:, j])])
        fitted[:, j] = A @ np.linalg.lstsq(A, tau, rcond=None)[0]
    return fitted
