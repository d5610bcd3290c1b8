"""The linearisation of the dynamics at several states at once."""

from __future__ import annotations

from typing import Any

from steelyard.dynamics.straight_line import StraightLineCode
from steelyard.dynamics.straight_line.machine_code import lane_call
from steelyard.dynamics.straight_line.program import Instruction, Program


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
