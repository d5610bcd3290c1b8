"""Forward dynamics of one sample and its linearisation by straight-line programs (compiled).

A template: `specialise` makes a copy for each tree, with its programs in place of the placeholders.
"""

from __future__ import annotations

from typing import Any

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.straight_line.inputs import input_scratch, stuck_joint, write_state
from steelyard.dynamics.tree import Tree

run_forward: Any = None
run_linear: Any = None
run_columns: Any = None
OUTPUTS = 0


@kernel
def work_arrays(tree: Tree, numbers: Numbers) -> tuple[Array, Array]:
    """Memory for one thread: the programs' inputs, with the parameters in place, and their outputs."""
    return input_scratch(tree, numbers, OUTPUTS)


@kernel
def acceleration(
    tree: Tree, numbers: Numbers, q: Array, v: Array, tau: Array, work: tuple[Array, Array], a: Array
) -> int:
    """Write the accelerations of one sample; -1, or a joint that feels no positive inertia."""
    x, y = work
    write_state(x, q, v, tau)
    run_forward(x, y)
    return stuck_joint(y, a)


@kernel
def linearisation(
    tree: Tree, numbers: Numbers, q: Array, v: Array, tau: Array, work: tuple[Array, Array], a: Array
) -> int:
    """As `acceleration`, and leave the linearisation in the outputs of the scratch."""
    x, y = work
    write_state(x, q, v, tau)
    run_linear(x, y)
    return stuck_joint(y, a)


@kernel
def columns(y: Array, dq: Array, dv: Array, dtau: Array, dtorque: Array, da: Array) -> None:
    """Changes of the accelerations from a linearisation, all arrays of shape (tiles, nv, LANES)."""
    for tile in range(dq.shape[0]):
        run_columns(y, dq, dv, dtau, dtorque, da, tile)
