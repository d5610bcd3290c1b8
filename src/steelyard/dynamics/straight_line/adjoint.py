"""The adjoint of the torque regressor of one robot as a straight-line program, eight samples at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from weakref import WeakKeyDictionary

from steelyard.archive import digest
from steelyard.arrays import Array
from steelyard.dynamics.straight_line import adjoint_kernel
from steelyard.dynamics.straight_line.derivatives import motions
from steelyard.dynamics.straight_line.expression import weighted_gradient
from steelyard.dynamics.straight_line.linear import regressor_entries
from steelyard.dynamics.straight_line.machine_code import lane_call
from steelyard.dynamics.straight_line.model import Model
from steelyard.dynamics.straight_line.program import Program, program
from steelyard.dynamics.straight_line.regressor import StraightLineRegressor, straight_line_regressor
from steelyard.dynamics.straight_line.store import call, specialise
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share


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
        model, nv = Model(code.tree, code.carried), code.nv
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


_known: WeakKeyDictionary[Robot, dict[Layout, StraightLineAdjoint]] = WeakKeyDictionary()


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
    known = _known.setdefault(robot, {})
    # Friction beyond the linear drive is written by others, so its shape leaves no trace in the code.
    layout = replace(layout, stribeck=())
    if layout not in known:
        known[layout] = StraightLineAdjoint(straight_line_regressor(robot, layout))
    return known[layout]
