"""What stands around a robot: named shapes at fixed places, the floor, and scene files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.document import read_table
from steelyard.errors import InputError, UnknownNameError
from steelyard.files import FilePath
from steelyard.limits.shapes import Hull, Solid, Zonotope
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Robot, Sphere

# The scene


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A shape that does not move.

    Attributes:
        name: what to call it.
        shape: what it is.
        pose: X_BO, the shape's frame in the base frame of the robot.
    """

    name: str
    shape: Solid
    pose: Pose

    @property
    def title(self) -> str:
        """Its kind and name, such as `box 'table'`."""
        return f"{type(self.shape).__name__.lower()} '{self.name}'"


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything a robot must stay clear of.

    Attributes:
        obstacles: each with a name of its own.
    """

    obstacles: tuple[Obstacle, ...] = ()
    schema: int = 1

    def __post_init__(self) -> None:
        names = [obstacle.name for obstacle in self.obstacles]
        for k, name in enumerate(names):
            if not name.strip() or not name.isprintable():
                raise InputError(f"obstacle {k + 1} needs a name that can be printed.", place="scene")
            if name in names[:k]:
                raise InputError(
                    f"the name '{name}' is used twice.", place="scene", remedy="Rename one obstacle."
                )

    @classmethod
    def read(cls, path: FilePath) -> Scene:
        """Read a scene file, TOML or, where its name ends in `.json`, JSON.

        It holds a list `obstacle` of tables with `name`, `shape` and the keys of that shape, in m:

        - `sphere`: `radius`. `capsule`, `cylinder`: `radius`, `length` along z, a capsule's without its caps.
        - `box`: `size`, its edges along x, y, z.
        - `hull`: `points`, a list of x, y, z. `zonotope`: `centre` and `generators`, lists of x, y, z.

        `position` states where the shape's frame sits in the robot's base frame, and one of `rpy` (rad),
        `quaternion` (x, y, z, w) or `rotation` (three rows) how it is turned; both may be left out.

        Raises:
            InputError: the file cannot be read, or a key is missing, unknown or of the wrong kind; the
                message names the obstacle and the key.
        """
        path = Path(path)
        document = read_table(path, most=MOST_BYTES)
        for key in document:
            if key not in ("obstacle", "schema"):
                raise UnknownNameError("key", key, ("obstacle", "schema"), place=str(path))
        if document.get("schema", 1) != 1:
            raise InputError(f"is of schema {document['schema']!r}; known: 1.", place=str(path))
        tables = document.get("obstacle", [])
        if not isinstance(tables, list) or len(tables) > MOST_OBSTACLES:
            raise InputError(
                f"'obstacle' must be a list of at most {MOST_OBSTACLES} tables.",
                place=str(path),
                remedy="In TOML, start each one with [[obstacle]].",
            )
        obstacles = tuple(
            _obstacle(table, f"{path}: obstacle {k}") for k, table in enumerate(tables, start=1)
        )
        try:
            return cls(obstacles)
        except InputError as error:
            raise InputError(error.message, place=str(path), remedy=error.remedy) from error


# Scene files: TOML or JSON with one table per obstacle; every bit survives.

MOST_BYTES = 4 * 2**20
MOST_OBSTACLES = 1000
LARGEST = 1e6
"""Largest number a scene file may state, m: beyond it squares lose the millimetres."""

_KINDS: Mapping[str, tuple[tuple[str, ...], Callable[..., Solid]]] = {
    "sphere": (("radius",), Sphere),
    "capsule": (("radius", "length"), Capsule),
    "cylinder": (("radius", "length"), Cylinder),
    "box": (("size",), lambda size: Box(*size.tolist())),
    "hull": (("points",), Hull),
    "zonotope": (("centre", "generators"), Zonotope),
}
"""The keys of each shape, and what makes it of them."""
_SIZES: Mapping[str, tuple[int | str, ...]] = {
    "radius": (),
    "length": (),
    "size": (3,),
    "points": ("n", 3),
    "centre": (3,),
    "generators": ("m", 3),
    "position": (3,),
    "rpy": (3,),
    "quaternion": (4,),
    "rotation": (3, 3),
}
_TURNS = ("rpy", "quaternion", "rotation")


def _obstacle(table: object, place: str) -> Obstacle:
    if not isinstance(table, dict):
        raise InputError("is not a table.", place=place)
    name, kind = table.get("name"), table.get("shape")
    if not isinstance(name, str) or not name.strip():
        raise InputError("lacks a name.", place=place)
    place = f"{place} '{' '.join(name.split())[:60]}'"
    if not isinstance(kind, str) or kind not in _KINDS:
        raise UnknownNameError("shape", str(kind)[:60], _KINDS, place=place)
    needed, build = _KINDS[kind]
    keys = ("name", "shape", *needed, "position", *_TURNS)
    for key in table:
        if key not in keys:
            raise UnknownNameError("key", key[:60], keys, place=place)
    if missing := [key for key in needed if key not in table]:
        raise InputError(f"lacks {', '.join(missing)}.", place=place)
    try:
        values = {key: _value(key, item) for key, item in table.items() if key not in ("name", "shape")}
        return Obstacle(name, build(*(values[key] for key in needed)), _pose(values))
    except InputError as error:
        raise InputError(error.message, place=f"{place}: {error.place}", remedy=error.remedy) from error


def _pose(values: Mapping[str, Any]) -> Pose:
    stated = [key for key in _TURNS if key in values]
    if len(stated) > 1:
        raise InputError("only one of these may be stated.", place=", ".join(stated))
    position = values.get("position", np.zeros(3))
    if "rpy" in values:
        return Pose.from_rpy(values["rpy"], position)
    if "quaternion" in values:
        return Pose.from_quaternion(values["quaternion"], position)
    return Pose(values.get("rotation", np.eye(3)), position)


def _value(key: str, value: object) -> float | Array:
    """One number, or lists of them, as the key demands."""
    _numbers_only(key, value)
    try:
        array = checked(key, np.array(value, dtype=np.float64), _SIZES[key], finite=False)
    except (ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("must be a number or rows of numbers of equal length.", place=key) from error
    if not (np.abs(array) <= LARGEST).all():
        raise InputError(f"holds a number that is not finite or beyond {LARGEST:g}.", place=key)
    return array if array.ndim else float(array)


def _numbers_only(key: str, value: object) -> None:
    if isinstance(value, list):
        for item in value:
            _numbers_only(key, item)
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"expected numbers, got {str(value)[:60]!r}.", place=key)


# The floor a robot stands on, which hardly any description states.

FLOOR = "floor"
"""Its name among the obstacles."""
_WIDE, _THICK = 100.0, 1.0
"""Edges of the box that stands for it, m: no arm reaches its sides."""
_UPRIGHT = np.cos(np.radians(2.0))


def stands_upright(robot: Robot) -> bool:
    """Whether gravity pulls along the negative z axis of the base, to two degrees.

    Only then is the floor likely to be where the base frame is: an arm that hangs from a ceiling or a wall
    has it somewhere else.

    Returns:
        The answer; False without gravity.
    """
    g = float(np.linalg.norm(robot.gravity))
    return g > 0.0 and float(-robot.gravity[2]) >= _UPRIGHT * g


@dataclass(frozen=True, eq=False)
class Floor:
    """What a robot stands on.

    Attributes:
        obstacle: the floor, as a box that reaches farther than any arm.
        assumed: whether nobody said where it is: then a robot that starts in it shows that it is elsewhere.
    """

    obstacle: Obstacle
    assumed: bool = False

    @classmethod
    def of(cls, robot: Robot, height: float = 0.0, *, assumed: bool = False) -> Floor:
        """A level floor below a robot.

        Args:
            robot: the robot, whose gravity says what is level.
            height: of the floor above the origin of the base frame, m; negative where the robot stands on
                something.
            assumed: whether nobody said so.

        Raises:
            InputError: the height is not finite, or there is no gravity.
        """
        g = float(np.linalg.norm(robot.gravity))
        if not np.isfinite(height):
            raise InputError(f"must be finite, got {height:g} m.", place=FLOOR)
        if g == 0.0:
            raise InputError(
                "without gravity nothing says where down is.", place=FLOOR, remedy="Leave it out."
            )
        up = -robot.gravity / g
        centre = (height - 0.5 * _THICK) * up
        return cls(Obstacle(FLOOR, Box(_WIDE, _WIDE, _THICK), Pose(_level(up), centre)), assumed)


def _level(up: Array) -> Array:
    """A rotation whose third column is a unit vector, shape (3, 3)."""
    aside = np.eye(3)[int(np.argmin(np.abs(up)))]
    x = np.cross(aside, up)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(up, x), up])
