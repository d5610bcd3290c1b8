"""Whatever happens to an MJCF file, the reader refuses it as input or reads it; nothing else escapes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from oracles.random_mjcf import RandomMjcf
from robot.mjcf_files import robot_of_mjcf
from steelyard.errors import InputError

MORE = (
    '<asset><mesh name="part" file="part.stl" scale="1.0 2.0 0.5" refpos="0.1 0.0 0.0"/></asset>'
    '<equality><joint joint1="FIRST" joint2="LAST" polycoef="0.1 2.0"/></equality>'
    '<tendon><fixed name="t"><joint joint="FIRST" coef="1.0"/></fixed></tendon>'
    '<actuator><motor joint="FIRST" gear="3.0" forcerange="-2.0 2.0"/><general joint="LAST" gainprm="4.5"'
    ' ctrlrange="-1.5 1.5" armature="0.25" damping="0.5"/></actuator></mujoco>'
)


def _good(seed: int) -> bytes:
    text = RandomMjcf(np.random.default_rng(seed)).text().replace("</mujoco>", MORE).replace("><", ">\n<")
    names = re.findall(r'<joint name="(\w+)" type="(?:hinge|slide)"', text)
    return text.replace("FIRST", names[0]).replace("LAST", names[-1]).encode()


GOOD = next(text for text in map(_good, range(10, 60)) if 3000 < len(text) < 5000)
NUMBER = rb"-?\d+\.\d+(e-?\d+)?"
EXTREMES = (
    b"1e308",
    b"-1e308",
    b"1e-320",
    b"1e999",
    b"nan",
    b"-0",
    b"0x10",
    b"",
    b"9" * 400,
    b"1e29",
    b"1e-29",
)


def _flip_bytes(rng: np.random.Generator, text: bytes) -> bytes:
    content = bytearray(text)
    for at in rng.integers(0, len(content), rng.integers(1, 6)):
        content[at] = rng.integers(256)
    return bytes(content)


def _truncate(rng: np.random.Generator, text: bytes) -> bytes:
    return text[: rng.integers(len(text))]


def _without(pattern: bytes) -> Callable[[np.random.Generator, bytes], bytes]:
    def remove(rng: np.random.Generator, text: bytes) -> bytes:
        found = list(re.finditer(pattern, text))
        chosen = found[rng.integers(len(found))]
        return text[: chosen.start()] + text[chosen.end() :]

    return remove


def _repeat_line(rng: np.random.Generator, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    lines.insert(int(rng.integers(len(lines))), lines[rng.integers(len(lines))])
    return b"".join(lines)


def _extreme_number(rng: np.random.Generator, text: bytes) -> bytes:
    found = list(re.finditer(NUMBER, text))
    chosen = found[rng.integers(len(found))]
    return text[: chosen.start()] + EXTREMES[rng.integers(len(EXTREMES))] + text[chosen.end() :]


def _exchange(pattern: bytes) -> Callable[[np.random.Generator, bytes], bytes]:
    def exchange(rng: np.random.Generator, text: bytes) -> bytes:
        found = list(re.finditer(pattern, text))
        one, other = (found[rng.integers(len(found))] for _ in range(2))
        return text[: one.start()] + other.group() + text[one.end() :]

    return exchange


MUTATIONS = {
    "flipped bytes": _flip_bytes,
    "truncated": _truncate,
    "element deleted": _without(rb"<[a-z]+ [^<>]*/>"),
    "tag deleted": _without(rb"</?[a-z]+[^<>]*>"),
    "attribute deleted": _without(rb' [a-z]+="[^"]*"'),
    "line repeated elsewhere": _repeat_line,
    "extreme number": _extreme_number,
    "name exchanged": _exchange(rb'"[a-z_0-9]+"'),
    "attribute exchanged": _exchange(rb'[a-z]+="[^"]*"'),
}


def _outcome(text: bytes) -> str:
    """Read, or the reason for the refusal; any other exception, a warning of overflow included, escapes."""
    try:
        robot = robot_of_mjcf(text)
    except InputError as error:
        return str(error)
    assert np.isfinite(robot.mass)
    return "read"


def test_the_file_to_be_mutated_is_read() -> None:
    assert _outcome(GOOD) == "read"


@pytest.mark.parametrize("kind", MUTATIONS)
def test_a_mutated_description_is_read_or_refused_as_input(kind: str) -> None:
    rng = np.random.default_rng(sorted(MUTATIONS).index(kind))
    outcomes = []
    for _ in range(40):
        text = MUTATIONS[kind](rng, GOOD)
        if text and rng.random() < 0.3:
            text = MUTATIONS[kind](rng, text)
        outcomes.append(_outcome(text))
    assert all(outcomes), "a refusal gives no reason"
    assert set(outcomes) != {"read"} or kind == "element deleted", "the mutations are too gentle"


@pytest.mark.parametrize("number", EXTREMES, ids=repr)
def test_an_extreme_number_anywhere_is_read_or_refused_as_input(number: bytes) -> None:
    for found in list(re.finditer(NUMBER, GOOD))[::4]:
        assert _outcome(GOOD[: found.start()] + number + GOOD[found.end() :])
