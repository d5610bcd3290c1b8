r"""What can be known when not every torque is measured: some joints, or the wrench at the base.

No recursion is known for the rows of a few joints, so their regressor is stacked over random states, enough
of them for every combination to show, and its row space is put into the same reduced echelon form, with the
same preference among parameters, as that of all torques.

Two laws to read the answer by. On a floating base the wrench alone tells all that the torques could add
(Ayusawa, Venture and Nakamura 2014; Wensing et al. 2024, Theorem 3), but nothing about drives, which act
between neighbouring links (its Note 1). In free flight that wrench is zero, so it tells the parameters up to
a common factor only: the total mass stays hidden (its Remark 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import base_wrench_regressor, torque_regressor
from steelyard.errors import InputError, UnknownNameError
from steelyard.identifiable.base_parameters import BaseParameters, echelon_form, row_space
from steelyard.identifiable.random_states import in_free_flight, random_states
from steelyard.identifiable.restricted import order_of_preference, restricted
from steelyard.identifiable.structure import Identifiability, structural_identifiability, tie_break
from steelyard.layout import Class, Layout
from steelyard.robot import Robot

BASE = "base"
"""The word for the wrench at the base."""


@dataclass(frozen=True, eq=False)
class PartialIdentifiability:
    """What some measurements can say about a robot's parameters.

    Attributes:
        structure: what all torques could say if no parameter were known.
        measured: names of the joints measured, `base` for the wrench at the base.
        ballistic: whether only free flight was considered.
        names: the parameters asked about: those that the layout leaves free, in its order.
        possible: number of combinations of them that all torques determine.
        classes: class of each of them.
        base: the combinations beta = K phi that the measurements determine.
        kept: smallest singular value that counts, relative to the largest, dimensionless.
        dropped: largest that does not, dimensionless.
    """

    structure: Identifiability
    measured: tuple[str, ...]
    ballistic: bool
    names: tuple[str, ...]
    possible: int
    classes: tuple[Class, ...]
    base: BaseParameters
    kept: float
    dropped: float

    @property
    def count(self) -> int:
        """Number of combinations determined."""
        return self.base.count

    def __str__(self) -> str:
        """One line: what is measured, and how much of what all torques could say it says."""
        flight = " in free flight" if self.ballistic else ""
        return f"{', '.join(self.measured)}{flight}: {self.count} combinations; all torques: {self.possible}"


def partial_identifiability(
    robot: Robot,
    layout: Layout,
    measured: Sequence[str],
    *,
    rng: np.random.Generator,
    static: bool = False,
    ballistic: bool = False,
) -> PartialIdentifiability:
    """Find what the torques of some joints, or the wrench at the base, could say about the parameters.

    Args:
        robot: the robot.
        layout: the parameters asked about; those it fixes are known and are not.
        measured: joints whose torques are measured, by name, each once; the word `base`, alone or among them,
            always stands for the wrench that carries the robot, whether its base floats or not.
        rng: source of the random states.
        static: whether the robot is only ever measured at rest.
        ballistic: whether the robot flies, so that no wrench acts on its base; its inertias must be stated.

    Returns:
        The answer.

    Raises:
        UnknownNameError: no such joint; lists those that exist.
        InputError: nothing is measured, a joint is named twice or follows another, a robot at rest or on a
            fixed base is to fly.
        NoSolutionError: a singular value is neither clearly there nor clearly round-off.
    """
    structure = structural_identifiability(robot, layout, static=static)
    names = (measured,) if isinstance(measured, str) else tuple(measured)
    joints = _joints(robot, names)
    if static and ballistic:
        raise InputError("a robot at rest does not fly.", place="ballistic")
    rows = (6 if BASE in names else 0) + sum(robot.joints[i].nv for i in joints)
    q, v, a = random_states(robot, 4 * layout.size // rows + 20, rng)
    if static:
        v, a = np.zeros_like(v), np.zeros_like(a)
    if ballistic:
        a = in_free_flight(robot, layout, q, v, a)
    free, order, possible = _asked(structure)
    W = _measured_rows(robot, layout, BASE in names, joints, (q, v, a))[:, free]
    parameters = tuple(layout.names[k] for k in free)
    found = row_space(W, order)
    base = echelon_form(found.rows, found.scales, found.pivots, parameters)
    return PartialIdentifiability(
        structure, names, ballistic, parameters, possible, found.classes, base, found.kept, found.dropped
    )


def _asked(structure: Identifiability) -> tuple[IntArray, list[int], int]:
    """The free parameters' indices in phi, their places in the order of preference, and what all torques say.

    The order is that of the answer for all torques, so that the same parameters lead.
    """
    layout = structure.layout
    free = np.flatnonzero(layout.free).astype(np.int64)
    if layout.free.all():
        ordered = [k for block in structure.conditions for k in tie_break(layout, block.columns)]
        return free, ordered, structure.count
    found = restricted(structure)
    return free, order_of_preference(structure, found.names), found.count


def _joints(robot: Robot, names: Sequence[str]) -> list[int]:
    """Indices of the joints named, `base` left out."""
    if not names or len(set(names)) != len(names):
        raise InputError(
            f"names at least one joint, and each once; got {list(names)}.",
            place="measured",
            remedy=f"Valid: {', '.join((BASE, *robot.joint_names))}.",
        )
    joints = []
    for name in names:
        if name == BASE:
            continue
        if name not in robot.joint_names:
            raise UnknownNameError("joint", name, (BASE, *robot.joint_names), place="measured")
        joint = robot.joints[robot.joint_names.index(name)]
        if joint.mimic is not None:
            raise InputError(
                f"'{name}' follows '{joint.mimic.joint}' and has no torque of its own.",
                place="measured",
                remedy=f"Name '{joint.mimic.joint}'.",
            )
        joints.append(robot.joint_names.index(name))
    return joints


def _measured_rows(
    robot: Robot, layout: Layout, base: bool, joints: Sequence[int], motion: tuple[Array, Array, Array]
) -> Array:
    """The regressor of what is measured, shape (M, p), SI."""
    first = np.cumsum([0, *(joint.nv for joint in robot.joints)])
    dofs = [int(k) for i in joints for k in range(first[i], first[i + 1])]
    parts = [base_wrench_regressor(robot, layout, *motion)] if base else []
    if dofs:
        parts.append(torque_regressor(robot, layout, *motion)[:, dofs])
    return np.concatenate([part.reshape(-1, layout.size) for part in parts])
