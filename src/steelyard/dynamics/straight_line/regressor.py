"""The torque regressor of one robot and its adjoint as straight-line programs, eight samples at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from weakref import WeakKeyDictionary

import numpy as np

from steelyard.archive import digest
from steelyard.arrays import Array, IntArray, read_only
from steelyard.dynamics.straight_line import adjoint_kernel, regressor_kernel
from steelyard.dynamics.straight_line.code import StraightLineCode, straight_line_code
from steelyard.dynamics.straight_line.expression import Program, program, weighted_gradient
from steelyard.dynamics.straight_line.machine_code import LANES, lane_call
from steelyard.dynamics.straight_line.model import SymbolicRobot, motions, regressor_entries
from steelyard.dynamics.straight_line.specialise import call, specialise
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

# The torque regressor


@dataclass(frozen=True, eq=False)
class StraightLineRegressor:
    """The entries of Y that are not zero for every motion, as one program.

    Attributes:
        code: the tree, the carried parameters, and which entries a joint can feel.
        layout: the order of the columns of Y.
    """

    code: StraightLineCode
    layout: Layout

    @cached_property
    def entries(self) -> list[tuple[int, int]]:
        """Place of each entry in the flattened (nv, p) matrix, increasing, and its index in `code.felt`."""
        columns = [
            10 * i + term if kind == "links" else int(self.layout.drive_columns[i, term])
            for kind, i, term in self.code.carried.columns
        ]
        felt = enumerate(self.code.felt)
        return sorted((row * self.layout.size + columns[column], index) for index, (row, column) in felt)

    @cached_property
    def places(self) -> IntArray:
        """Place of each output in the flattened (nv, p) matrix, shape (e,), dimensionless."""
        return read_only(np.array([place for place, _ in self.entries], dtype=np.int64))

    @cached_property
    def blocks(self) -> tuple[IntArray, IntArray]:
        """Outputs whose next `LANES` places follow on, and outputs in no such block, each shape (n,)."""
        starts: list[int] = []
        singles: list[int] = []
        ends = np.flatnonzero(np.diff(self.places) != 1) + 1
        for run in np.split(np.arange(len(self.places)), ends):
            if len(run) < LANES:
                singles += run.tolist()
            else:
                # The last block begins early enough to end with the run; what both hold is written twice.
                starts += run[: 1 - LANES : LANES].tolist()
                starts += [int(run[-LANES])] if len(run) % LANES else []
        return read_only(np.array(starts, dtype=np.int64)), read_only(np.array(singles, dtype=np.int64))

    @cached_property
    def program(self) -> Program:
        """From cos q, sin q, q, v, sign v and a of every joint to the entries."""
        model = SymbolicRobot(self.code.tree, self.code.carried)
        # The model's torques stand for the accelerations here: the sixth group of its symbols.
        a = model.tau
        Y = regressor_entries(model, motions(model, a), a, self.code.carried.columns)
        outputs = [Y[self.code.felt[index]] for _, index in self.entries]
        return program(model.symbols[: 6 * self.code.nv], outputs)

    @cached_property
    def kernel(self) -> ModuleType:
        """The compiled batch function."""
        run = lane_call(lambda: self.program, 0, (6 * self.code.nv, 0, 0, 0))
        key = digest(["regressor", self.code.key, self.places])
        return specialise(regressor_kernel, key, run_entries=run, OUTPUTS=len(self.code.felt))

    @cached_property
    def adjoint(self) -> StraightLineAdjoint:
        """Its gradients in the motion."""
        return StraightLineAdjoint(self)

    def write(self, q: Array, v: Array, a: Array, Y: Array) -> None:
        """Write Y of many samples.

        Args:
            q: joint positions, shape (N, nv), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².
            Y: out, zeros on entry, shape (N, nv, p), SI.
        """
        arguments = (self.places, *self.blocks, q, v, a, Y.reshape(len(q), -1))
        # An empty piece compiles and seals the code before threads share it.
        call(self.kernel, "write_regressor", 0, 0, *arguments)
        share(len(q), self.kernel.write_regressor, *arguments)


_known_regressors: WeakKeyDictionary[Robot, dict[Layout, StraightLineRegressor]] = WeakKeyDictionary()


def straight_line_regressor(robot: Robot, layout: Layout) -> StraightLineRegressor:
    """The regressor code of a robot; made once per robot and layout.

    Args:
        robot: the robot.
        layout: the order of the columns.

    Returns:
        The code.

    Raises:
        InputError: the robot floats or has too many joints.
    """
    known = _known_regressors.setdefault(robot, {})
    # Friction beyond the linear drive is written by others, so its shape leaves no trace in the code.
    layout = replace(layout, stribeck=())
    if layout not in known:
        known[layout] = StraightLineRegressor(straight_line_code(robot, layout), layout)
    return known[layout]


# Its adjoint


@dataclass(frozen=True, eq=False)
class StraightLineAdjoint:
    r"""Gradients of $\langle G, Y\rangle$ in q, v and a, by automatic differentiation of the regressor.

    Attributes:
        regressor: the entries of Y and their places.
    """

    regressor: StraightLineRegressor

    @cached_property
    def program(self) -> Program:
        """From the regressor's inputs and the weights of its entries to the gradients in q, v and a."""
        code = self.regressor.code
        model, nv = SymbolicRobot(code.tree, code.carried), code.nv
        cos, sin, q, v, _, a = (model.symbols[k * nv : (k + 1) * nv] for k in range(6))
        entries = regressor_entries(model, motions(model, model.tau), model.tau, code.carried.columns)
        Y = [entries[code.felt[index]] for _, index in self.regressor.entries]
        G = model.graph.symbols(len(Y))
        # The sign of v counts as a constant. Angles enter through their cosine and sine.
        slope = weighted_gradient(Y, G, [*cos, *sin, *q, *v, *a])
        by_cos, by_sin, by_q = (slope[k * nv : (k + 1) * nv] for k in range(3))
        by_angle = [by_q[k] + by_sin[k] * cos[k] - by_cos[k] * sin[k] for k in range(nv)]
        return program([*model.symbols[: 6 * nv], *G], [*by_angle, *slope[3 * nv :]])

    @cached_property
    def kernel(self) -> ModuleType:
        """The compiled batch function."""
        nv, entries = self.regressor.code.nv, len(self.regressor.places)
        run = lane_call(lambda: self.program, 0, (6 * nv, entries, 0, 0))
        key = digest(["adjoint", self.regressor.code.key, self.regressor.places])
        return specialise(adjoint_kernel, key, run_gradient=run)

    def write(self, G: Array, q: Array, v: Array, a: Array, q_bar: Array, v_bar: Array, a_bar: Array) -> None:
        """Write the gradients of many samples.

        Args:
            G: weights of Y, shape (N, nv, p), unit of the function over SI.
            q: joint positions, shape (N, nv), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².
            q_bar: out, gradient in q, shape (N, nv), unit of the function over rad or m.
            v_bar: out, gradient in v, shape (N, nv), unit of the function over rad/s or m/s.
            a_bar: out, gradient in a, shape (N, nv), unit of the function over rad/s² or m/s².
        """
        arguments = (self.regressor.places, G.reshape(len(q), -1), q, v, a, q_bar, v_bar, a_bar)
        # An empty piece compiles and seals the code before threads share it.
        call(self.kernel, "write_gradient", 0, 0, *arguments)
        share(len(q), self.kernel.write_gradient, *arguments)


def straight_line_adjoint(robot: Robot, layout: Layout) -> StraightLineAdjoint:
    """The adjoint's code of a robot; made once per robot and layout.

    Args:
        robot: the robot.
        layout: the order of the columns.

    Returns:
        The code.

    Raises:
        InputError: the robot floats or has too many joints.
    """
    return straight_line_regressor(robot, layout).adjoint
