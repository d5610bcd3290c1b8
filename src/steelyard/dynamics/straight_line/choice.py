"""When straight-line code pays, and the code of a robot."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from steelyard.arrays import Array
from steelyard.dynamics.batch import belongs
from steelyard.dynamics.straight_line.carried import Carried, carried_parameters
from steelyard.dynamics.straight_line.code import StraightLineCode
from steelyard.dynamics.tree import tree_of
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot

LARGEST = 16
"""Most joints for which straight-line code is made: its length grows with their square, compiling with it."""

_known: WeakKeyDictionary[Robot, dict[Carried, StraightLineCode]] = WeakKeyDictionary()


def straight_line_pays(robot: Robot) -> bool:
    """Whether the generated code of a robot is faster than the generic kernels and quick to compile.

    The answer depends on the robot alone, so that the same call gives the same bits on every day.

    Args:
        robot: the robot.

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

    Returns:
        The code.

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
