"""Derivatives of a closed-loop simulation in the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array, keep_views, read_only_view
from steelyard.dynamics.straight_line import StraightLineCode, call, specialise, straight_line_code
from steelyard.dynamics.straight_line.expression import Instruction, Program
from steelyard.dynamics.straight_line.machine_code import lane_call
from steelyard.dynamics.tree import tree_of
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.rollout import variation as variation_template
from steelyard.rollout.closed_loop import ClosedLoop
from steelyard.rollout.simulation import law_key, prepare_rollout, refuse_friction, stopped
from steelyard.rollout.tiles import room_for, scatter_map

# The linearisation of the dynamics at several states at once.


def linear_lanes(code: StraightLineCode) -> Any:
    """The linearisation of a robot at `LANES` states, for use in kernels.

    Args:
        code: the programs of the robot.

    Returns:
        A function as `lane_call` makes it: its scalars are the link and the drive numbers, its one tile has
        the rows of `inputs.write_lanes`: cos q, sin q, q, v, sign v and a of every joint.
    """
    nv = code.nv
    return lane_call(lambda: with_known_accelerations(code.linear, nv), 14 * nv, (6 * nv, 0, 0, 0))


def with_known_accelerations(linear: Program, nv: int) -> Program:
    """A linearisation that is given the accelerations instead of the torques, the parameters first.

    What served to find the accelerations alone falls away.

    Args:
        linear: from the state, the torques and the parameters to the accelerations and more.
        nv: number of degrees of freedom.

    Returns:
        The program; its outputs are those of the given one.
    """
    # The numbers of the state lie before those of the parameters, and the torques are the last of them.
    state, parameters = 6 * nv, 14 * nv
    accelerations = {value: parameters + state - nv + k for k, value in enumerate(linear.outputs[:nv])}
    steps = list(linear.instructions)
    for value, step in enumerate(steps):
        if value in accelerations:
            steps[value] = Instruction("input", (accelerations[value],))
        elif step.kind == "input":
            (place,) = step.arguments
            steps[value] = Instruction("input", (place + parameters if place < state else place - state,))
    return _without_unused(steps, linear.outputs)


def _without_unused(steps: list[Instruction], outputs: tuple[int, ...]) -> Program:
    used = set(outputs)
    for value in reversed(range(len(steps))):
        if value in used and steps[value].kind != "input":
            used.update(steps[value].arguments)
    kept = sorted(used)
    index = {value: place for place, value in enumerate(kept)}
    return Program(tuple(_moved(steps[value], index) for value in kept), tuple(index[v] for v in outputs))


def _moved(step: Instruction, index: dict[int, int]) -> Instruction:
    if step.kind == "input":
        return step
    return Instruction(step.kind, tuple(index[argument] for argument in step.arguments), step.constant)


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Means of a run and of its derivatives over blocks of control cycles.

    Attributes:
        time: mean time of the cycles of each block, shape (M,), s.
        q: positions, shape (M, nv), rad or m.
        v: velocities, shape (M, nv), rad/s or m/s.
        tau: commanded torques, shape (M, nv), N·m or N.
        dq: derivatives of the positions in the parameters, shape (M, nv, b), SI.
        dv: derivatives of the velocities, shape (M, nv, b), SI.
        dtau: derivatives of the commanded torques, shape (M, nv, b), SI.
    """

    time: Array
    q: Array
    v: Array
    tau: Array
    dq: Array
    dv: Array
    dtau: Array

    def __post_init__(self) -> None:
        keep_views(self, "time", "q", "v", "tau", "dq", "dv", "dtau")


def sensitivities(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    q_ref: ArrayLike,
    v_ref: ArrayLike,
    a_ref: ArrayLike,
    loop: ClosedLoop,
    *,
    basis: ArrayLike | None = None,
    average: int = 1,
    q_start: ArrayLike | None = None,
    v_start: ArrayLike | None = None,
) -> Sensitivities:
    r"""Simulate a robot that follows a reference, with exact derivatives in its parameters.

    The variational equation

    $$H\,\delta a = \delta\tau - \frac{\partial\,ID}{\partial q}\,\delta q
      - \frac{\partial\,ID}{\partial v}\,\delta v - Y\,\delta\phi$$

    is integrated with the scheme, the delay and the hold of the run itself, so the results are the
    derivatives of what `rollout` computes, not of an idealised loop. The start state and the law do not
    depend on the parameters. Coulomb friction is constant but for its jump at v = 0, which has no derivative:
    each crossing is passed as if the sign had changed at that instant for all parameters.

    The law is differentiated by fourth-order differences, whose relative error is near 1e-12; once for all
    cycles where its attribute `linear` says that torque and memory depend on state and memory by constant
    slopes from the second cycle on, as in PD and PID laws.

    Args:
        robot: the robot, on a fixed base.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI; with a basis theta, shape (b,), SI.
        q_ref: reference positions at the control cycles, shape (N, nv), rad or m.
        v_ref: reference velocities, shape (N, nv), rad/s or m/s.
        a_ref: reference accelerations, shape (N, nv), rad/s² or m/s².
        loop: controller, clock and integration scheme.
        basis: B of $\phi = B\theta$, shape (p, b), SI; the derivatives are in theta. None for the identity.
        average: cycles in a block, M = N // average; cycles after the last full block are not simulated.
        q_start: positions at the start, shape (nv,), rad or m; None for the reference's.
        v_start: velocities at the start, shape (nv,), rad/s or m/s; None for the reference's.

    Returns:
        Means of the run and of its derivatives over the blocks.

    Raises:
        InputError: an argument does not fit, names it; or the layout has friction beyond the linear drive.
        NoSolutionError: the simulation diverged, or the mass matrix is not positive definite; says when.
    """
    refuse_friction(layout, "the variational equation", "Leave the term out.")
    run = prepare_rollout(robot, layout, parameters, q_ref, v_ref, a_ref, loop, basis, q_start, v_start)
    blocks = _blocks(len(run.q_ref), average)
    generated = straight_line_code(robot, layout, run.basis)
    controller = loop.controller
    functions = specialise(
        variation_template,
        digest([generated.key, law_key(controller)]),
        run_forward=generated.calls["run_forward"],
        run_linear=linear_lanes(generated),
        run_columns=generated.calls["run_columns"],
        control_step=controller.step,
    )
    columns = layout.size if run.basis is None else run.basis.shape[1]
    kept = room_for(blocks, robot.nv, columns)
    stop, joint = call(
        functions,
        "vary",
        tree_of(robot),
        run.numbers,
        (controller.tree, controller.numbers, read_only_view(controller.gains)),
        controller.linear,
        np.array(controller.memory),
        run.q_ref,
        run.v_ref,
        run.a_ref,
        loop.coefficients,
        loop.timing,
        scatter_map(generated, layout, run.basis),
        average,
        run.q_start.copy(),
        run.v_start.copy(),
        kept,
    )
    if stop >= 0:
        raise stopped(robot, loop, stop, joint)
    time = loop.cycle * (np.arange(blocks, dtype=np.float64) * average + 0.5 * (average - 1))
    return Sensitivities(time, *kept)


def _blocks(cycles: int, average: int) -> int:
    if isinstance(average, bool) or not isinstance(average, int) or not 1 <= average <= cycles:
        raise InputError(
            f"must be a whole number between 1 and the {cycles} cycles of the reference, got {average!r}.",
            place="average",
        )
    return cycles // average
