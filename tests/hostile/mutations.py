"""What a fuzzer does to a text: each operator takes a generator and a text, and gives a damaged text."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

Mutation = Callable[[np.random.Generator, bytes], bytes]

NUMBER = rb"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])"
POISON = (
    b"nan", b"-inf", b"1e400", b"1e-400", b"9" * 5000, b"", b"0x1F", b"1_0", b"--1", b"1,5", b"${x}", b"None",
    "١٢".encode(), "−1".encode(), b"1e308 1e308", b"1 2 3 4 5 6 7 8 9", b"true", b"\x0b1", b"1e30", b"-1e30",
)  # fmt: skip


def _replaced(rng: np.random.Generator, text: bytes, pattern: bytes, new: bytes) -> bytes:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    chosen = found[rng.integers(len(found))]
    return text[: chosen.start()] + new + text[chosen.end() :]


def _picked(rng: np.random.Generator, text: bytes, pattern: bytes) -> bytes:
    found = list(re.finditer(pattern, text))
    return found[rng.integers(len(found))].group() if found else b""


def truncate(rng: np.random.Generator, text: bytes) -> bytes:
    """Cut where it hurts: inside a tag, a value, a number or a line."""
    places = [match.start() + 1 for match in re.finditer(rb'[<>"=/,\n]', text)]
    return text[: places[rng.integers(len(places))]]


def flip_bytes(rng: np.random.Generator, text: bytes) -> bytes:
    content = bytearray(text)
    for at in rng.integers(0, len(content), rng.integers(1, 9)):
        content[at] = rng.integers(256)
    return bytes(content)


def delete_attribute(rng: np.random.Generator, text: bytes) -> bytes:
    return _replaced(rng, text, rb'\s[\w:]+="[^"]*"', b"")


def repeat_attribute(rng: np.random.Generator, text: bytes) -> bytes:
    attribute = _picked(rng, text, rb'\s[\w:]+="[^"]*"')
    return text.replace(attribute, attribute * 2, 1)


def poison_number(rng: np.random.Generator, text: bytes) -> bytes:
    return _replaced(rng, text, NUMBER, POISON[rng.integers(len(POISON))])


def poison_value(rng: np.random.Generator, text: bytes) -> bytes:
    return _replaced(rng, text, rb'"[^"<]*"', b'"' + POISON[rng.integers(len(POISON))] + b'"')


def delete_element(rng: np.random.Generator, text: bytes) -> bytes:
    return _replaced(rng, text, rb"<[\w:]+ [^<>]*/>", b"")


def delete_tag(rng: np.random.Generator, text: bytes) -> bytes:
    return _replaced(rng, text, rb"</?[\w:]+[^<>]*>", b"")


def repeat_element(rng: np.random.Generator, text: bytes) -> bytes:
    element = _picked(
        rng, text, rb"(?s)<(link|joint|body|default|xacro:\w+)\b[^>]*>.*?</\1>|<[\w:]+ [^<>]*/>"
    )
    at = int(rng.integers(text.count(b">")))
    places = [match.end() for match in re.finditer(b">", text)]
    return text[: places[at]] + element + text[places[at] :]


def exchange_names(rng: np.random.Generator, text: bytes) -> bytes:
    return _replaced(rng, text, rb'"[a-z_]+"', _picked(rng, text, rb'"[a-z_]+"'))


def rename_tag(rng: np.random.Generator, text: bytes) -> bytes:
    tag = _picked(rng, text, rb"(?<=<)[\w:]+")
    other = _picked(rng, text, rb"(?<=<)[\w:]+")
    return re.sub(rb"(</?)" + tag + rb"\b", rb"\1" + other, text)


def change_case(rng: np.random.Generator, text: bytes) -> bytes:
    word = _picked(rng, text, rb"(?<=[<\s])[a-z]+(?=[ =>])")
    return re.sub(rb"\b" + word + rb"\b", word.upper(), text)


def swap_halves(rng: np.random.Generator, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    at = int(rng.integers(1, len(lines)))
    return b"".join(lines[at:] + lines[:at])


def drop_cell(rng: np.random.Generator, text: bytes) -> bytes:
    return _replaced(rng, text, rb",[^,\n]*", b"")


def repeat_line(rng: np.random.Generator, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    at = int(rng.integers(len(lines)))
    return b"".join([*lines[: at + 1], lines[at], *lines[at + 1 :]])


def other_separator(rng: np.random.Generator, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    at = int(rng.integers(len(lines)))
    separator = (b";", b"\t", b"|", b" ", b",,", b"\0")[rng.integers(6)]
    return b"".join([*lines[:at], *(line.replace(b",", separator) for line in lines[at:])])


def open_quote(rng: np.random.Generator, text: bytes) -> bytes:
    return _replaced(rng, text, b",", b',"')


XML: dict[str, Mutation] = {
    mutation.__name__: mutation
    for mutation in (
        truncate, flip_bytes, delete_attribute, repeat_attribute, poison_number, poison_value, delete_element,
        delete_tag, repeat_element, exchange_names, rename_tag, change_case, swap_halves,
    )
}  # fmt: skip
TABLE: dict[str, Mutation] = {
    mutation.__name__: mutation
    for mutation in (
        truncate, flip_bytes, poison_number, drop_cell, repeat_line, other_separator, open_quote, swap_halves
    )
}  # fmt: skip
