"""Structural identifiability in rational arithmetic: the count is a proof, not a matter of tolerance."""

from __future__ import annotations

from fractions import Fraction

from steelyard.identifiability.exact.analysis import knowledge
from steelyard.identifiability.exact.geometry import rational_mechanism
from steelyard.identifiability.exact.result import ExactIdentifiability
from steelyard.identifiability.exact.vectors import Number
from steelyard.identifiability.question import check_question
from steelyard.layout import Layout
from steelyard.robot import Robot


def exact_identifiability(robot: Robot, layout: Layout, *, static: bool = False) -> ExactIdentifiability:
    """Prove what the torques of any motion, or of any pose at rest, could say about the parameters.

    Offsets, axes and gravity are taken as the decimal numbers that the description states. The zero of an
    angle may lie anywhere about its axis; every other placement must be made of quarter turns.

    Args:
        robot: the robot; joints that mimic others must hang on the same link as their leader.
        layout: the parameters asked about; those it fixes are asked about too.
        static: whether the robot is only ever measured at rest.

    Returns:
        The answer, with fractions in SI.

    Raises:
        InputError: the layout is another robot's or has friction that grows with the load, a placement is no
            quarter turn, an axis has no rational length, or a joint follows one on another link.
    """
    check_question(robot, layout)
    rational = rational_mechanism(robot)
    bodies, groupings = knowledge(rational, rational.over(_to_flint), layout, static, _from_flint)
    return ExactIdentifiability(robot.name, layout, static, bodies, groupings)


def _to_flint(value: Fraction) -> Number:
    # Every command loads this room, few ask for a proof.
    from flint import fmpq

    return fmpq(value.numerator, value.denominator)


def _from_flint(value: Number) -> Fraction:
    return Fraction(int(value.numerator), int(value.denominator))
