"""Payload files: read to the last bit, or refused with the file's name and the reason."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.inertia.body import random_body
from steelyard.robot import read_payload

GOOD = {"mass": 1.5, "com": [0.01, -0.02, 0.1], "inertia": [0.003, 0.0001, 0.004, 0.0002, 0.0003, 0.005]}


def test_a_payload_is_the_body_its_file_states(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(GOOD))
    body = read_payload(tmp_path / "p.json")
    assert body.mass == 1.5
    assert body.com.tolist() == [0.01, -0.02, 0.1]
    assert body.inertia.tolist() == [[0.003, 1e-4, 2e-4], [1e-4, 0.004, 3e-4], [2e-4, 3e-4, 0.005]]


@pytest.mark.parametrize("shape", ["solid", "planar", "rod", "point"])
def test_every_possible_body_is_taken(shape: str, tmp_path: Path) -> None:
    for seed in range(20):
        body = random_body(np.random.default_rng(seed), shape=shape)  # type: ignore[arg-type]
        six = body.inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        document = {"mass": body.mass, "com": body.com.tolist(), "inertia": six.tolist()}
        (tmp_path / "p.json").write_text(json.dumps(document))
        np.testing.assert_array_equal(read_payload(tmp_path / "p.json").parameters, body.parameters)


def _without(key: str) -> str:
    return json.dumps({name: value for name, value in GOOD.items() if name != key})


BAD = {
    "no mass": (_without("mass"), r"p\.json: lacks the fields \['mass'\]"),
    "no com": (_without("com"), r"lacks the fields \['com'\]"),
    "no inertia": (_without("inertia"), r"lacks the fields \['inertia'\]"),
    "a strange key": (json.dumps({**GOOD, "masss": 1}), r"unknown fields \['masss'\]; known: \['com', "),
    "two coordinates": (json.dumps({**GOOD, "com": [1, 2]}), r"p\.json: com: expected shape \(3,\)"),
    "nine numbers": (json.dumps({**GOOD, "inertia": [0.1] * 9}), r"p\.json: inertia: expected shape \(6,\)"),
    "a matrix": (json.dumps({**GOOD, "inertia": np.eye(3).tolist()}), r"inertia: expected shape \(6,\)"),
    "rows that differ": (json.dumps({**GOOD, "com": [[1], [1, 2]]}), r"p\.json\.com: is not an array"),
    "text": (json.dumps({**GOOD, "mass": "heavy"}), r"p\.json\.mass: expected a number, got 'heavy'"),
    "truth": (json.dumps({**GOOD, "mass": True}), "expected a number, got true or false"),
    "nothing": (json.dumps({**GOOD, "com": None}), "expected a number, got nothing"),
    "not a number": (json.dumps({**GOOD, "mass": float("nan")}), r"p\.json: holds NaN"),
    "infinity": (
        '{"mass": 1e999, "com": [0, 0, 0], "inertia": [1, 0, 1, 0, 0, 1]}',
        r"p\.json: mass: holds a number beyond",
    ),
    "a large integer": (f'{{"mass": 1{"0" * 400}}}', "lacks the fields"),
    "a huge integer": (f'{{"mass": 1{"0" * 5000}}}', "integer too large"),
    "negative mass": (json.dumps({**GOOD, "mass": -1}), r"p\.json: is physically impossible: The mass is -1"),
    "a long triangle": (json.dumps({**GOOD, "inertia": [1, 0, 1, 0, 0, 3]}), "triangle inequality"),
    "a list": ("[]", r"p\.json: expected a table, got a list"),
    "half a file": ('{"mass": 1,\n "com": [', r"p\.json:2: is not JSON"),
    "empty": ("", r"p\.json:1: is not JSON"),
    "a deep hole": ("[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_payload_is_refused_with_the_file_and_the_reason(case: str, tmp_path: Path) -> None:
    text, message = BAD[case]
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_payload(tmp_path / "p.json")
    assert "p.json" in str(error.value)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: cannot be read: No such file"):
        read_payload(tmp_path / "none.json")
    with pytest.raises(InputError, match="is a directory"):
        read_payload(tmp_path)
    (tmp_path / "p.json").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match="is not text in UTF-8"):
        read_payload(tmp_path / "p.json")
