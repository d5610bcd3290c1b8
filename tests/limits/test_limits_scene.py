"""Scene files: what is written is read back to the bit; what is no scene is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from oracles.coal_shapes import KINDS, random_place, random_shape
from steelyard.archive import to_document
from steelyard.errors import InputError
from steelyard.limits import Scene
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.robot import Box, Cylinder, Sphere

TABLE = """
[[obstacle]]
name = "table"
shape = "box"
size = [1, 0.8, 0.05]
position = [0.5, 0.0, -0.03]
rpy = [0, 0, 0.3]
"""


KEYS = {
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "cylinder": ("radius", "length"),
    "hull": ("points",),
    "zonotope": ("centre", "generators"),
}


def stated(obstacle: Obstacle) -> dict[str, object]:
    """An obstacle in the words of a scene file."""
    shape, pose = obstacle.shape, obstacle.pose
    table: dict[str, object] = {"name": obstacle.name, "shape": type(shape).__name__.lower()}
    if isinstance(shape, Box):
        table["size"] = [shape.x, shape.y, shape.z]
    else:
        table |= {key: np.asarray(getattr(shape, key)).tolist() for key in KEYS[str(table["shape"])]}
    return table | {"position": pose.translation.tolist(), "rotation": pose.rotation.tolist()}


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_a_scene_is_read_to_the_bit(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(0)
    shapes = [random_shape(rng, kind) for kind in KINDS] + [Cylinder(0.1, 0.2)]
    names = ["a", "über 'b'", 'say "c"', "d\\e", "🌍", "="]
    scene = Scene(tuple(Obstacle(n, s, random_place(rng)) for n, s in zip(names, shapes, strict=True)))
    path = tmp_path / f"scene{suffix}"
    tables = [stated(obstacle) for obstacle in scene.obstacles]
    if suffix == ".json":
        path.write_text(json.dumps({"schema": 1, "obstacle": tables}))
    else:
        # JSON's printable texts, finite numbers and lists are TOML's too.
        lines = [[f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in table.items()] for table in tables]
        text = "\n".join(line for part in lines for line in ("[[obstacle]]", *part))
        path.write_text(text, encoding="utf-8")
    assert to_document(Scene.read(path)) == to_document(scene)
    path.write_text("{}" if suffix == ".json" else "")
    assert Scene.read(path).obstacles == ()


def test_a_scene_written_by_hand_is_read(tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(TABLE + '[[obstacle]]\nname = "ball"\nshape = "sphere"\nradius = 1\n')
    table, ball = Scene.read(path).obstacles
    assert (table.name, table.shape, table.title) == ("table", Box(1.0, 0.8, 0.05), "box 'table'")
    np.testing.assert_array_equal(table.pose.matrix, Pose.from_rpy([0, 0, 0.3], [0.5, 0.0, -0.03]).matrix)
    assert ball.shape == Sphere(1.0)
    np.testing.assert_array_equal(ball.pose.matrix, np.eye(4))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[obstacle", "is not TOML"),
        ("obstacle = 3", "must be a list of at most 1000 tables"),
        ("obstacles = []", "Did you mean 'obstacle'"),
        ("schema = 2", "is of schema 2"),
        ("obstacle = [1]", "obstacle 1: is not a table"),
        (TABLE.replace('name = "table"', ""), "obstacle 1: lacks a name"),
        (TABLE.replace('"box"', '"bx"'), "obstacle 1 'table': unknown shape 'bx'.*Did you mean 'box'"),
        (TABLE.replace("size", "sise"), "unknown key 'sise'"),
        (TABLE.replace("size = [1, 0.8, 0.05]", ""), "lacks size"),
        (TABLE.replace("0.05]", "0.05, 1]"), r"obstacle 1 'table': size: expected shape \(3,\), got \(4,\)"),
        (TABLE.replace("0.05", "-0.05"), "the z of a box must be positive"),
        (TABLE.replace("0.05", "nan"), "size: holds a number that is not finite"),
        (TABLE.replace("0.05", "1e300"), "size: holds a number that is not finite or beyond"),
        (TABLE.replace("0.05", "true"), "size: expected numbers, got 'True'"),
        (TABLE.replace("0.05", "[1]"), "rows of numbers of equal length"),
        (TABLE + "quaternion = [0, 0, 0, 1]", "only one of these may be stated"),
        (TABLE.replace("rpy = [0, 0, 0.3]", "quaternion = [0, 0, 0, 0]"), "must not be all zeros"),
        (TABLE.replace("rpy = [0, 0, 0.3]", "rotation = [[1,0,0],[0,1,0],[0,0,2]]"), "is not a rotation"),
        (TABLE + TABLE, "the name 'table' is used twice"),
        (TABLE.replace('"table"', '"\\u0007"'), "needs a name that can be printed"),
        ("a = " + "[" * 100_000, "is nested too deeply|is not TOML"),
        ("[[obstacle]]\n" * 1001, "at most 1000"),
    ],
)
def test_what_is_no_scene_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        Scene.read(path)
    assert caught.value.place.startswith(str(path))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is not JSON: .*column 2"),
        (b"[]", "holds a list, expected a table"),
        (b"\xff", "is not text in UTF-8"),
        (b'{"obstacle": ' + b"[" * 100_000, "nested too deeply|is not JSON"),
        (b'{"schema": ' + b"1" * 5000 + b"}", "integer too large"),
        (b'{"obstacle": [{"name": "a", "shape": "sphere", "radius": NaN}]}', "holds NaN"),
        (
            b'{"obstacle": [{"name": "a", "shape": "sphere", "radius": 1' + b"0" * 400 + b"}]}",
            "radius: must be",
        ),
        (b'{"obstacle": [{"name": "a", "shape": "sphere", "radius": [1]}]}', r"radius: expected shape \(\)"),
        (b" " * (5 * 2**20), "larger than 4 MiB"),
    ],
)
def test_json_that_is_no_scene_is_refused_too(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "scene.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        Scene.read(path)


def test_a_file_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read|is a directory"):
        Scene.read(tmp_path / "none.toml")
    with pytest.raises(InputError, match=r"cannot be read|is a directory"):
        Scene.read(tmp_path)
