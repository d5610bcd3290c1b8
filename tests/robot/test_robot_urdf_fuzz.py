"""Whatever happens to a URDF, the reader refuses it with an InputError or reads it; nothing else escapes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from oracles.random_robots import random_robot, urdf_text
from steelyard.errors import InputError
from steelyard.robot import parse_urdf

GOOD = urdf_text(random_robot(np.random.default_rng(4), bodies=4)).encode()
NUMBER = rb"-?\d+\.\d+(e-?\d+)?"
EXTREMES = (b"1e308", b"-1e308", b"1e-320", b"1e999", b"nan", b"-0", b"0x10", b"", b"9" * 400, b"1e155")


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


def _shuffle_lines(rng: np.random.Generator, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    lines.insert(int(rng.integers(len(lines))), lines[rng.integers(len(lines))])
    return b"".join(lines)


def _extreme_number(rng: np.random.Generator, text: bytes) -> bytes:
    found = list(re.finditer(NUMBER, text))
    chosen = found[rng.integers(len(found))]
    return text[: chosen.start()] + EXTREMES[rng.integers(len(EXTREMES))] + text[chosen.end() :]


def _swap_words(rng: np.random.Generator, text: bytes) -> bytes:
    found = list(re.finditer(rb'"[a-z_0-9]+"', text))
    one, other = (found[rng.integers(len(found))] for _ in range(2))
    return text[: one.start()] + other.group() + text[one.end() :]


MUTATIONS = {
    "flipped bytes": _flip_bytes,
    "truncated": _truncate,
    "element deleted": _without(rb"<[a-z]+ [^<>]*/>"),
    "tag deleted": _without(rb"</?[a-z]+[^<>]*>"),
    "attribute deleted": _without(rb' [a-z]+="[^"]*"'),
    "line repeated elsewhere": _shuffle_lines,
    "extreme number": _extreme_number,
    "name exchanged": _swap_words,
}


def _outcome(text: bytes) -> str:
    """Read, or the reason for the refusal; any other exception, a warning of overflow included, escapes."""
    try:
        robot = parse_urdf(text)
    except InputError as error:
        return str(error)
    assert np.isfinite(robot.mass)
    return "read"


@pytest.mark.parametrize("kind", MUTATIONS)
def test_a_mutated_description_is_read_or_refused_as_input(kind: str) -> None:
    rng = np.random.default_rng(sorted(MUTATIONS).index(kind))
    outcomes = []
    for _ in range(60):
        text = MUTATIONS[kind](rng, GOOD)
        if text and rng.random() < 0.3:
            text = MUTATIONS[kind](rng, text)
        outcomes.append(_outcome(text))
    assert all(outcomes), "a refusal gives no reason"
    assert set(outcomes) != {"read"}, "the mutations are too gentle to show anything"


@pytest.mark.parametrize("number", EXTREMES, ids=repr)
def test_an_extreme_number_anywhere_is_read_or_refused_as_input(number: bytes) -> None:
    for found in re.finditer(NUMBER, GOOD):
        assert _outcome(GOOD[: found.start()] + number + GOOD[found.end() :])
