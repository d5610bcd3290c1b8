"""A motion simulated in closed loop."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array, checked, keep_views, read_only, read_only_view
from steelyard.compiled import kernel_digest
from steelyard.control import Controller
from steelyard.dynamics.batch import Numbers, belongs, numbers, states
from steelyard.dynamics.friction import refuse_load
from steelyard.dynamics.straight_line import (
    call,
    specialise,
    straight_line_code,
    straight_line_pays,
)
from steelyard.dynamics.tree import tree_of
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.rollout import loop as loop_template
from steelyard.rollout.closed_loop import ClosedLoop

CODES = ("auto", "straight-line", "generic")
"""Ways to compute forward dynamics: chosen by the robot, generated for it, or the kernels for any tree."""


@dataclass(frozen=True, eq=False)
class Rollout:
    """What the closed loop does, at the start of every control cycle.

    Attributes:
        time: shape (N,), s.
        q: joint positions, shape (N, nv), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        tau: commanded torques, shape (N, nv), N·m or N.
    """

    time: Array
    q: Array
    v: Array
    tau: Array

    def __post_init__(self) -> None:
        keep_views(self, "time", "q", "v", "tau")


def rollout(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    q_ref: ArrayLike,
    v_ref: ArrayLike,
    a_ref: ArrayLike,
    loop: ClosedLoop,
    *,
    basis: ArrayLike | None = None,
    q_start: ArrayLike | None = None,
    v_start: ArrayLike | None = None,
    code: str = "auto",
) -> Rollout:
    r"""Simulate a robot that follows a reference.

    Args:
        robot: the robot, on a fixed base.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI; with a basis theta, shape (b,), SI.
        q_ref: reference positions at the control cycles, shape (N, nv), rad or m.
        v_ref: reference velocities, shape (N, nv), rad/s or m/s.
        a_ref: reference accelerations, shape (N, nv), rad/s² or m/s².
        loop: controller, clock and integration scheme.
        basis: B of $\phi = B\theta$, shape (p, b), SI; parameters with a zero row vanish from the generated
            code, which makes it shorter. None for $\phi = \theta$.
        q_start: positions at the start, shape (nv,), rad or m; None for the reference's.
        v_start: velocities at the start, shape (nv,), rad/s or m/s; None for the reference's.
        code: `auto`, `straight-line` or `generic`; the answers agree to round-off. Friction beyond the linear
            drive is known to the generic code alone.

    Returns:
        Time, positions, velocities and commanded torques of every cycle.

    Raises:
        InputError: an argument does not fit; names it.
        NoSolutionError: the simulation diverged, or the mass matrix is not positive definite; says when.
    """
    run = prepare_rollout(robot, layout, parameters, q_ref, v_ref, a_ref, loop, basis, q_start, v_start)
    functions = _functions(robot, layout, run.basis, loop.controller, code)
    controller = loop.controller
    q, v, tau = np.zeros((3, len(run.q_ref), robot.nv))
    stop, joint = call(
        functions,
        "simulate_loop",
        tree_of(robot),
        run.numbers,
        (controller.tree, controller.numbers, read_only_view(controller.gains)),
        np.array(controller.memory),
        run.q_ref,
        run.v_ref,
        run.a_ref,
        loop.coefficients,
        loop.timing,
        run.q_start.copy(),
        run.v_start.copy(),
        q,
        v,
        tau,
    )
    if stop >= 0:
        raise stopped(robot, loop, stop, joint)
    return Rollout(loop.cycle * np.arange(len(q), dtype=np.float64), q, v, tau)


@dataclass(frozen=True)
class PreparedRollout:
    """Checked arguments of a run, see `rollout`."""

    numbers: Numbers
    basis: Array | None
    q_ref: Array
    v_ref: Array
    a_ref: Array
    q_start: Array
    v_start: Array


def prepare_rollout(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    q_ref: ArrayLike,
    v_ref: ArrayLike,
    a_ref: ArrayLike,
    loop: ClosedLoop,
    basis: ArrayLike | None,
    q_start: ArrayLike | None,
    v_start: ArrayLike | None,
) -> PreparedRollout:
    """Check the arguments of `rollout`.

    Args:
        robot: as there.
        layout: as there.
        parameters: as there, shape (p,) or (b,), SI.
        q_ref: as there, shape (N, nv), rad or m.
        v_ref: as there, shape (N, nv), rad/s or m/s.
        a_ref: as there, shape (N, nv), rad/s² or m/s².
        loop: as there.
        basis: as there, shape (p, b), SI.
        q_start: as there, shape (nv,), rad or m.
        v_start: as there, shape (nv,), rad/s or m/s.

    Returns:
        The arguments in the form kernels read.
    """
    loop.commands(robot)
    belongs(robot, layout)
    refuse_load(layout, "the torque is not linear in the acceleration")
    B = None if basis is None else checked("basis", basis, (layout.size, "b"))
    theta = checked("parameters", parameters, (layout.size if B is None else B.shape[1],))
    given = numbers(robot, layout, theta if B is None else B @ theta)
    q_ref, v_ref, a_ref = states(robot, q_ref=q_ref, v_ref=v_ref, a_ref=a_ref)
    q = q_ref[0] if q_start is None else checked("q_start", q_start, (robot.nv,))
    v = v_ref[0] if v_start is None else checked("v_start", v_start, (robot.nv,))
    return PreparedRollout(given, B, q_ref, v_ref, a_ref, read_only(q), read_only(v))


def stopped(robot: Robot, loop: ClosedLoop, cycle: int, joint: int) -> NoSolutionError:
    """The error of a run that did not reach its end.

    Args:
        robot: the robot.
        loop: how it ran.
        cycle: index of the cycle it stopped in.
        joint: the joint without inertia, or -1 where the state was not finite.
    """
    time = cycle * loop.cycle
    if joint < 0:
        return NoSolutionError(
            f"the simulation of '{robot.name}' diverged at {time:g} s: its state is not finite.",
            place="rollout",
            remedy="Check gains and delay, or take more steps in a cycle.",
            evidence={"time": time, "cycle": cycle},
        )
    return NoSolutionError(
        f"the mass matrix of '{robot.name}' is not positive definite at {time:g} s: with all joints beyond "
        f"it free, joint '{robot.joint_names[joint]}' feels no positive inertia.",
        place="parameters",
        remedy="Use physically consistent parameters, or give the joint a rotor inertia.",
        evidence={"time": time, "cycle": cycle, "joint": robot.joint_names[joint]},
    )


def refuse_friction(layout: Layout, what: str, remedy: str) -> None:
    """Refuse a layout with friction beyond the linear drive.

    Args:
        layout: the layout.
        what: who does not know it.
        remedy: what to do about it.

    Raises:
        InputError: it has such a term.
    """
    if layout.friction:
        terms = " and ".join(layout.friction)
        raise InputError(f"it has {terms} friction, which {what} lacks.", place="layout", remedy=remedy)


def law_key(controller: Controller) -> list[str]:
    """What identifies the compiled step of a controller across processes."""
    return [kernel_digest(controller.step)]


def _functions(
    robot: Robot, layout: Layout, basis: Array | None, controller: Controller, code: str
) -> ModuleType:
    if code not in CODES:
        raise UnknownNameError("code", code, CODES)
    law = law_key(controller)
    if code == "generic" or (code == "auto" and (layout.friction or not straight_line_pays(robot))):
        return specialise(loop_template, digest(["generic", law]), control_step=controller.step)
    refuse_friction(layout, "straight-line forward dynamics", "Use the generic code.")
    generated = straight_line_code(robot, layout, basis)
    return specialise(
        loop_template,
        digest([generated.key, law]),
        control_step=controller.step,
        scratch=generated.kernels.work_arrays,
        acceleration=generated.kernels.acceleration,
    )
