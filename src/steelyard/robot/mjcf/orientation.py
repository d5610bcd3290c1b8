r"""The five spellings of an orientation in MJCF.

Euler angles follow the compiler's sequence: a small letter turns about the moving axis
($R \leftarrow R\,R_i$), a capital about the fixed one ($R \leftarrow R_i\,R$).

MuJoCo scales quaternions, so `0.7071 0.7071 0 0` is a quarter turn to the last bit. A quaternion is taken for
a rounded one only where it says so itself: `-3.67e-06 1 -3.67e-06` carries the `1.5708` it was made from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import DescriptionError
from steelyard.pose import Pose
from steelyard.robot.mjcf.defaults import ORIENTATIONS
from steelyard.robot.mjcf.settings import Compiler
from steelyard.robot.rounding import ROUND_OFF, Rounding, meant_axis, quarter_turns
from steelyard.robot.xml import Element

ROUNDED_TURN = 2e-5
"""Largest error of a rotation taken for quarter turns, rad; `1.5708` and `3.1416` together leave 1.1e-5."""
SHORTEST = 1e-10
"""Length below which a direction is none, dimensionless."""


def unit(element: Element, vector: Sequence[float], what: str) -> Array:
    """A direction of length one.

    Args:
        element: where it is stated.
        vector: three numbers, dimensionless.
        what: what to call it in the message.

    Returns:
        The unit vector, shape (3,), dimensionless.

    Raises:
        DescriptionError: the numbers are next to zero.
    """
    v = np.array(vector)
    length = float(np.linalg.norm(v))
    if length < SHORTEST:
        raise DescriptionError(f"the {what} of <{element.tag}> has no direction.", place=element.place)
    return np.asarray(v / length)


def turn_from_z(direction: Array) -> Array:
    r"""The smallest rotation that takes z to a direction.

    Args:
        direction: unit vector, shape (3,), dimensionless.

    Returns:
        The rotation, shape (3, 3), dimensionless; half a turn about x where the direction is -z.
    """
    x, y, z = direction
    across = math.hypot(x, y)
    if across < SHORTEST:
        return np.diag([1.0, 1.0, 1.0] if z > 0 else [1.0, -1.0, -1.0])
    return _about(np.array([-y, x, 0.0]) / across, z, across)


def _about(axis: Array, cosine: float, sine: float) -> Array:
    r"""Rodrigues: $R = \cos\theta\,1 + \sin\theta\,[a]_\times + (1 - \cos\theta)\,a a^T$."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(cosine * np.eye(3) + sine * cross + (1.0 - cosine) * np.outer(axis, axis))


def read_rotation(element: Element, compiler: Compiler) -> tuple[Array, Array, list[Rounding]]:
    """The orientation of an element.

    Args:
        element: with at most one of the five spellings.
        compiler: how angles are stated.

    Returns:
        The rotation as stated and as meant, both of shape (3, 3), dimensionless, and the numbers in which
        the two differ.

    Raises:
        DescriptionError: it is stated twice, or is none.
    """
    stated = [key for key in ORIENTATIONS if key in element.attributes]
    if len(stated) > 1:
        raise DescriptionError(
            f"<{element.tag}> states its orientation {len(stated)} times: {', '.join(stated)}.",
            place=element.place,
            remedy="Keep one.",
        )
    match stated:
        case ["quat"]:
            w, x, y, z = element.numbers("quat", 4)
            if not any((w, x, y, z)):
                raise DescriptionError("a quaternion of zeros is no orientation.", place=element.place)
            return _nearly_quarter_turns(Pose.from_quaternion((x, y, z, w)).rotation, element, "quat")
        case ["xyaxes"]:
            numbers = element.numbers("xyaxes", 6)
            x_axis = unit(element, numbers[:3], "x axis")
            y_axis = unit(element, numbers[3:], "y axis")
            for _ in range(2):
                # Once is not enough where the two are nearly parallel.
                y_axis = unit(element, (y_axis - (x_axis @ y_axis) * x_axis).tolist(), "y axis")
            R = np.column_stack((x_axis, y_axis, np.cross(x_axis, y_axis)))
            return _nearly_quarter_turns(R, element, "xyaxes")
        case ["zaxis"]:
            z_axis = unit(element, element.numbers("zaxis", 3), "z axis")
            return _nearly_quarter_turns(turn_from_z(z_axis), element, "zaxis")
        case ["axisangle"]:
            *vector, _ = element.numbers("axisangle", 4)
            axis = unit(element, vector, "rotation axis")
            *literals, angle = element.words("axisangle", "")
            meant, roundings = meant_axis(axis, " ".join(literals), element.place)
            (c, s), (c_meant, s_meant) = _turn(angle, "angle", element, compiler, roundings)
            return _about(axis, c, s), _about(meant, c_meant, s_meant), roundings
        case ["euler"]:
            element.numbers("euler", 3)
            return _euler(element, compiler)
    return np.eye(3), np.eye(3), []


def _euler(element: Element, compiler: Compiler) -> tuple[Array, Array, list[Rounding]]:
    R = R_meant = np.eye(3)
    roundings: list[Rounding] = []
    for letter, literal in zip(compiler.euler_sequence, element.words("euler", ""), strict=True):
        axis = np.eye(3)["xyz".index(letter.lower())]
        turns = [_about(axis, *cs) for cs in _turn(literal, f"{letter} angle", element, compiler, roundings)]
        if letter.islower():
            R, R_meant = R @ turns[0], R_meant @ turns[1]
        else:
            R, R_meant = turns[0] @ R, turns[1] @ R_meant
    return R, R_meant, roundings


def _turn(
    literal: str, part: str, element: Element, compiler: Compiler, roundings: list[Rounding]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Cosine and sine of an angle as stated, and as meant: exactly 0 and ±1 for quarter turns."""
    angle = compiler.angle(float(literal))
    stated = (math.cos(angle), math.sin(angle))
    if compiler.radian:
        k = quarter_turns(literal)
    else:
        nearest = round(float(literal) / 90.0)
        k = nearest if abs(angle - nearest * math.pi / 2) <= ROUNDED_TURN else None
    if k is None:
        return stated, stated
    error = abs(angle - k * math.pi / 2)
    if error > ROUND_OFF:
        meaning = f"{k} quarter turn(s)"
        roundings.append(Rounding("rounded-angle", part, literal, meaning, error, "rad", element.place))
    exact = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[k % 4]
    # Whole quarters of a degree-valued angle are exact as stated, too.
    return (exact if error <= ROUND_OFF else stated), exact


def _nearly_quarter_turns(R: Array, element: Element, part: str) -> tuple[Array, Array, list[Rounding]]:
    exact = np.round(R) + 0.0
    # A rotation by a small angle e away differs by sqrt(2) e in the Frobenius norm.
    error = float(np.linalg.norm(R - exact)) / math.sqrt(2.0)
    if error > ROUNDED_TURN:
        return R, R, []
    if error <= 1e2 * ROUND_OFF:
        return R, exact, []
    literal = " ".join(element.words(part, ""))
    rounding = Rounding("rounded-angle", part, literal, "quarter turns", error, "rad", element.place)
    return R, exact, [rounding]
