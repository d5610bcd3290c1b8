"""Documents: exact round trips, digests that know every bit, refusals that name the path."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np
import pytest

from oracles.random_robots import random_robot
from steelyard.archive import digest, from_document, to_document
from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import InputError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.pose import Pose
from steelyard.robot import Capsule, Geometry, Limits, MeshFile, Robot, Sphere


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, eq=False)
class Everything:
    """One field of every kind a document can carry."""

    number: float
    count: int
    flag: bool
    text: str
    colour: Colour
    maybe: float | None
    array: Array
    pair: tuple[float, str]
    many: tuple[Finding, ...]
    shape: Sphere | Capsule
    table: dict[str, float]
    anything: Any = None
    made: float = field(init=False, default=0.0)


def _everything() -> Everything:
    return Everything(
        number=math.inf,
        count=3,
        flag=True,
        text='ü " \\ \n',
        colour=Colour.BLUE,
        maybe=None,
        array=np.array([[0.1, -0.0, math.nan], [5e-324, -math.inf, 1.7976931348623157e308]]),
        pair=(1 / 3, "x"),
        many=(Finding(Severity.INFO, "code", "all is well."),),
        shape=Capsule(0.1, 0.2),
        table={"b": 2.0, "a": math.nan},
    )


def _through_json(value: object) -> Any:
    return json.loads(json.dumps(to_document(value), allow_nan=False))


def _back(value: Any) -> Any:
    return from_document(type(value), _through_json(value))


def _bits(array: np.ndarray) -> bytes:
    return np.ascontiguousarray(array, dtype=np.float64).tobytes()


@pytest.mark.parametrize(
    "value",
    [
        _everything(),
        Finding(Severity.WARNING, "code", "odd.", "here"),
        Drive(viscous=0.1, offset=-1e-300),
        Limits(lower=-1.0, velocity=0.3),
        Pose.from_rpy((0.1, 0.2, 0.3), (1, 2, 3)),
        random_body(np.random.default_rng(0)),
        Geometry(Sphere(0.3), Pose.identity()),
        Geometry(MeshFile("a.stl", (1.0, 2.0, 3.0)), Pose.identity()),
        *(random_robot(np.random.default_rng(seed)) for seed in range(5)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_object_survives_a_json_file_to_the_last_bit(value: Any) -> None:
    back = _back(value)
    assert type(back) is type(value)
    assert json.dumps(to_document(back)) == json.dumps(to_document(value))
    assert digest(back) == digest(value)


def test_arrays_keep_every_bit_and_their_shape() -> None:
    value = _everything()
    back = _back(value)
    assert back.array.shape == (2, 3)
    assert _bits(back.array) == _bits(value.array)
    assert (back.number, back.colour, back.pair, back.shape) == (
        math.inf,
        Colour.BLUE,
        value.pair,
        value.shape,
    )
    assert back.many == value.many
    assert math.isnan(back.table["a"])
    body = random_body(np.random.default_rng(1))
    assert _bits(_back(body).parameters) == _bits(body.parameters)


def test_a_robot_read_back_is_checked_and_frozen_again() -> None:
    robot = random_robot(np.random.default_rng(3), bodies=4)
    back = _back(robot)
    assert isinstance(back, Robot)
    assert back.digest == robot.digest
    with pytest.raises(ValueError, match="read-only"):
        back.gravity[0] = 1.0
    document = _through_json(robot)
    document["joints"][1]["parent"] = 3
    with pytest.raises(InputError, match="parents must come before children"):
        from_document(Robot, document)


def test_whole_numbers_given_for_floats_do_not_change_the_digest() -> None:
    assert digest(_back(Limits(lower=-1, upper=2))) == digest(Limits(lower=-1, upper=2))
    assert digest(Limits(lower=-1, upper=2)) == digest(Limits(lower=-1.0, upper=2.0))


def test_digests_are_64_hexadecimal_digits_and_do_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert len(digest({})) == 64
    int(digest({}), 16)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("number", 1.0),
        ("count", 4),
        ("flag", False),
        ("text", "other"),
        ("colour", Colour.RED),
        ("maybe", 0.0),
        ("array", np.array([[0.1, 0.0, math.nan], [5e-324, -math.inf, 1.7976931348623157e308]])),
        ("array", np.zeros((3, 2))),
        ("pair", (math.nextafter(1 / 3, 1), "x")),
        ("many", ()),
        ("shape", Sphere(0.1)),
        ("table", {"b": 2.0}),
        ("anything", [1]),
    ],
)
def test_any_change_of_a_field_changes_the_digest(name: str, value: object) -> None:
    # The first changed array differs from the original in the sign of one zero.
    original = _everything()
    assert digest(replace(original, **{name: value})) != digest(original)


def test_what_has_no_place_in_a_document_is_refused() -> None:
    with pytest.raises(TypeError, match="a set has no place in a document"):
        to_document({"x": {1, 2}})


def _set(*path: str | int, to: object) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = to

    return change


def _delete(*path: str | int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        del document[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_delete("count"), r"^file: lacks the fields \['count'\]"),
        (_set("size", to=1), r"^file: has unknown fields \['size'\]; known: "),
        (_set("is", to="Robot"), "^file: holds a Robot, expected a Everything"),
        (_set("number", to="12"), "^file.number: expected a number, got '12'"),
        (_set("number", to=True), "^file.number: expected a number, got true or false"),
        (_set("number", to=None), "^file.number: expected a number, got nothing"),
        (_set("number", to=10**400), "^file.number: "),
        (_set("count", to=1.5), "^file.count: expected a whole number, got a number"),
        (_set("count", to=True), "^file.count: expected a whole number, got true or false"),
        (_set("flag", to=1), "^file.flag: expected true or false, got a number"),
        (_set("text", to=3), "^file.text: expected a text, got a number"),
        (_set("colour", to="green"), "^file.colour: 'green' is not one of red, blue"),
        (_set("colour", to=["red"]), "^file.colour: .* is not one of red, blue"),
        (_set("maybe", to="much"), "^file.maybe: expected a number, got 'much'"),
        (_set("array", to=[[1.0, "x"]]), "^file.array: expected a number, got 'x'"),
        (_set("array", to=[[1.0, 2.0], [3.0]]), "^file.array: "),
        (_set("array", to={"0": 1.0}), "^file.array: expected a number"),
        (_set("pair", to=[1.0]), "^file.pair: expected 2 entries, got 1"),
        (_set("pair", 1, to=7), r"^file.pair\[1\]: expected a text, got a number"),
        (_set("many", to={}), "^file.many: expected a list, got a table"),
        (_set("many", 0, "code", to=None), r"^file.many\[0\].code: expected a text, got nothing"),
        (_delete("many", 0, "message"), r"^file.many\[0\]: lacks the fields \['message'\]"),
        (_set("shape", "is", to="Cube"), "^file.shape: expected one of Sphere, Capsule"),
        (_set("shape", to=3), "^file.shape: expected one of Sphere, Capsule"),
        (_delete("shape", "radius"), r"^file.shape: lacks the fields \['radius'\]"),
        (_set("table", to=[]), "^file.table: expected a table, got a list"),
        (_set("table", "b", to="x"), "^file.table.b: expected a number, got 'x'"),
    ],
)
def test_a_malformed_document_is_refused_at_its_path(change: Callable[[Any], None], message: str) -> None:
    document = deepcopy(_through_json(_everything()))
    change(document)
    with pytest.raises(InputError, match=message):
        from_document(Everything, document, place="file")


@pytest.mark.parametrize("document", [None, [], "robot", 3, {"is": "Robot"}])
def test_what_is_not_a_document_of_the_class_is_refused(document: object) -> None:
    with pytest.raises(InputError, match=r"^document"):
        from_document(Body, document)


def test_an_impossible_value_in_a_document_is_an_input_error() -> None:
    document = _through_json(Drive(viscous=1.0))
    document["viscous"] = -1.0
    with pytest.raises(InputError, match="viscous: cannot be negative"):
        from_document(Drive, document)
