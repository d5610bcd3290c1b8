"""The straight-line code of one tree: its programs, and where each number stands in their outputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from steelyard.archive import digest
from steelyard.arrays import Array
from steelyard.compiled import sources_digest
from steelyard.dynamics.batch import belongs
from steelyard.dynamics.straight_line import kernels
from steelyard.dynamics.straight_line.expression import Program, is_zero, program
from steelyard.dynamics.straight_line.machine_code import lane_call, scalar_call
from steelyard.dynamics.straight_line.model import (
    CarriedParameters,
    Linearisation,
    SymbolicRobot,
    carried_parameters,
    derivatives,
    factorise,
    linearise,
    motions,
    regressor_entries,
    symbolic_accelerations,
    symbolic_bias,
    symbolic_mass_matrix,
)
from steelyard.dynamics.straight_line.specialise import specialise
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class StraightLineCode:
    """Forward dynamics and its linearisation for one tree, as programs and as compiled kernels.

    The linearisation's output is one array: accelerations and pivots of H (nv each), the factor of H, I_q and
    I_v on the pairs of joints that feel each other, and Y where a joint carries the parameter's link.

    Attributes:
        tree: the robot; every joint has one degree of freedom.
        carried: the parameters that are inputs; the others are zero.
    """

    tree: Tree
    carried: CarriedParameters

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return int(self.tree.parent.size)

    @cached_property
    def above(self) -> list[Pair]:
        """Each joint with each of its ancestors: the entries of L."""
        start, support = self.tree.support_start, self.tree.support
        return [(k, int(j)) for k in range(self.nv) for j in support[start[k] : start[k + 1] - 1]]

    @cached_property
    def related(self) -> list[Pair]:
        """Joints that feel each other: the entries of I_q and I_v."""
        return [*((k, k) for k in range(self.nv)), *self.above, *((j, k) for k, j in self.above)]

    @cached_property
    def felt(self) -> list[Pair]:
        """Rows and columns of Y where a joint can feel the parameter."""
        carriers = [[k, *(j for i, j in self.above if i == k)] for k in range(self.nv)]
        return [
            (k, column)
            for column, (kind, row, _) in enumerate(self.carried.columns)
            for k in (carriers[row] if kind == "links" else [row])
        ]

    @property
    def regressor_start(self) -> int:
        """Where Y starts in the linearisation's output; the order is that of `felt`."""
        return 3 * self.nv + len(self.above) + 2 * len(self.related)

    @property
    def size(self) -> int:
        """Length of the linearisation's output."""
        return self.regressor_start + len(self.felt)

    @cached_property
    def key(self) -> str:
        """What the code depends on, as 64 hexadecimal digits: equal keys, equal code."""
        versions = [version(name) for name in ("numba", "llvmlite", "numpy")]
        content = [*self.tree, self.carried, versions, sources_digest(__file__)]
        return digest(content)

    @cached_property
    def calls(self) -> dict[str, Any]:
        """The programs as functions that kernels can call: `run_forward`, `run_linear`, `run_columns`."""
        return {
            "run_forward": scalar_call(lambda: self.forward),
            "run_linear": scalar_call(lambda: self.linear),
            "run_columns": lane_call(lambda: self.columns, self.regressor_start, (self.nv,) * 4),
        }

    @cached_property
    def kernels(self) -> ModuleType:
        """The compiled functions of `kernels`, for this tree."""
        return specialise(kernels, self.key, OUTPUTS=self.size, **self.calls)

    @cached_property
    def forward(self) -> Program:
        """Accelerations and pivots."""
        model = SymbolicRobot(self.tree, self.carried)
        factor = factorise(model, symbolic_mass_matrix(model))
        return program(model.symbols, [*symbolic_accelerations(model, factor), *factor.pivot])

    @cached_property
    def linear(self) -> Program:
        """Accelerations, pivots, factor, I_q, I_v, Y."""
        model, made = self._linearisation
        outputs = [*made.a, *made.factor.pivot]
        outputs += [made.factor.lower[pair] for pair in self.above]
        outputs += made.factor.inverse
        outputs += [made.position[pair] for pair in self.related]
        outputs += [made.velocity[pair] for pair in self.related]
        outputs += [made.regressor[pair] for pair in self.felt]
        return program(model.symbols, outputs)

    @cached_property
    def columns(self) -> Program:
        r"""$da = H^{-1}(d\tau - I_q\,dq - I_v\,dv - Y\,d\phi)$ from a linearisation and dq, dv, dτ, Y dφ."""
        model, made = self._linearisation
        given = model.graph.symbols(self.regressor_start)
        dq, dv, dtau, dtorque = (model.graph.symbols(self.nv) for _ in range(4))
        at = 2 * self.nv
        made.factor.lower.update(zip(self.above, given[at:], strict=False))
        at += len(self.above)
        made.factor.inverse[:] = given[at : at + self.nv]
        at += self.nv
        right = [dtau[k] - dtorque[k] for k in range(self.nv)]
        for entries, change in ((made.position, dq), (made.velocity, dv)):
            for place, (row, column) in enumerate(self.related):
                if not is_zero(entries[row, column]):
                    right[row] -= given[at + place] * change[column]
            at += len(self.related)
        return program([*given, *dq, *dv, *dtau, *dtorque], made.factor.solve(model, right))

    @cached_property
    def motion(self) -> Program:
        """H on its diagonal and on `above`, then c + g, from the inputs of `inputs.write_state`."""
        model = SymbolicRobot(self.tree, self.carried)
        H = symbolic_mass_matrix(model)
        outputs = [*(H[k, k] for k in range(self.nv)), *(H[pair] for pair in self.above)]
        return program(model.symbols, [*outputs, *symbolic_bias(model)])

    @cached_property
    def slopes(self) -> Program:
        """H as `motion` gives it, I_q and I_v on `related`, Y on `felt`: of inverse dynamics.

        The inputs are the link and the drive numbers, then cos q, sin q, q, v, sign v and a of every joint.
        """
        model, nv = SymbolicRobot(self.tree, self.carried), self.nv
        a = list(model.graph.symbols(nv))
        H = symbolic_mass_matrix(model)
        moving = motions(model, a)
        by_q, by_v = derivatives(model, moving)
        Y = regressor_entries(model, moving, a, self.carried.columns)
        outputs = [*(H[k, k] for k in range(nv)), *(H[pair] for pair in self.above)]
        outputs += [by_q[pair] for pair in self.related]
        outputs += [by_v[pair] for pair in self.related]
        outputs += [Y[pair] for pair in self.felt]
        return program([*model.symbols[6 * nv :], *model.symbols[: 5 * nv], *a], outputs)

    @property
    def _linearisation(self) -> tuple[SymbolicRobot, Linearisation]:
        model = SymbolicRobot(self.tree, self.carried)
        return model, linearise(model, self.carried.columns)


# When straight-line code pays, and the code of a robot.

LARGEST = 16
"""Most joints for which straight-line code is made: its length grows with their square, compiling with it."""

_known: WeakKeyDictionary[Robot, dict[CarriedParameters, StraightLineCode]] = WeakKeyDictionary()


def straight_line_pays(robot: Robot) -> bool:
    """Whether the generated code of a robot is faster than the generic kernels and quick to compile.

    The answer depends on the robot alone, so that the same call gives the same bits on every day.

    Returns:
        True for arms of up to `LARGEST` joints on a fixed base.
    """
    return not _objection(robot)


def straight_line_code(robot: Robot, layout: Layout, basis: Array | None = None) -> StraightLineCode:
    r"""The code of a robot whose parameters are $\phi = B\theta$; made once per robot and set of parameters.

    Args:
        robot: the robot; every joint with one degree of freedom.
        layout: the order of phi.
        basis: B, shape (p, b), SI; parameters with a zero row vanish from the code. None carries them all.

    Raises:
        InputError: the robot floats or has too many joints, or the layout is another robot's.
    """
    belongs(robot, layout)
    if objection := _objection(robot):
        raise InputError(objection, place=f"robot '{robot.name}'", remedy="Use the generic kernels.")
    carried = carried_parameters(layout, basis)
    known = _known.setdefault(robot, {})
    if carried not in known:
        known[carried] = StraightLineCode(tree_of(robot), carried)
    return known[carried]


def _objection(robot: Robot) -> str:
    for joint in robot.joints:
        if joint.kind.nv != 1:
            return f"joint '{joint.name}' has {joint.kind.nv} degrees of freedom; straight-line code has one."
        if joint.mimic is not None:
            return f"joint '{joint.name}' mimics another; straight-line code has independent joints."
    if robot.nv > LARGEST:
        return f"has {robot.nv} joints; straight-line code is made for at most {LARGEST}."
    return ""
