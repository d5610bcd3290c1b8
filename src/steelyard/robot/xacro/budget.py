"""What one expansion may cost: a description is input from anywhere, and must not hang or fill the memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

MAX_ELEMENTS = 50_000
MAX_WORK = 1_000_000
MAX_DEPTH = 200
MAX_SIZE = 100_000
MAX_INTEGER_BITS = 2048


class Fault(ValueError):  # noqa: N818, it is a part of a message and never leaves this folder
    """What is wrong with a piece of text; whoever knows its line turns it into a `DescriptionError`."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class Exhausted(Fault):
    """The file as a whole costs too much, whichever piece of it happens to be read."""


@dataclass
class Budget:
    """Counts what an expansion has used, and refuses to go on where no robot would.

    A robot of a hundred links takes some thousands of elements and tens of thousands of units of work.

    Attributes:
        elements: elements made so far.
        work: steps of expressions made so far, tens of elements read, tenths of characters written.
        depth: how deep elements, macros, files and properties are nested at the moment.
    """

    elements: int = 0
    work: int = 0
    depth: int = 0

    def make_element(self) -> None:
        """Count one more element."""
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            raise Exhausted(f"the file expands to more than {MAX_ELEMENTS} elements.", _CHECK_LOOPS)

    def spend(self, work: int) -> None:
        """Count some more work."""
        self.work += work
        if self.work > MAX_WORK:
            raise Exhausted(f"the file takes more than {MAX_WORK} steps to expand.", _CHECK_LOOPS)

    @contextmanager
    def level(self) -> Iterator[None]:
        """Go one level deeper for a while."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                raise Exhausted(
                    f"macros, files or properties are nested deeper than {MAX_DEPTH}.", _CHECK_LOOPS
                )
            yield
        finally:
            self.depth -= 1


_CHECK_LOOPS = "Check for a macro, a file or a property that calls itself."


def bounded(value: object) -> int:
    """Check that a value is plain data of a bounded size.

    Args:
        value: a number, a text, a truth, nothing, or lists, tuples and dictionaries of these.

    Returns:
        How many numbers, characters and entries it holds, written out in full.

    Raises:
        Fault: it is too large, or something else than data.
    """
    size = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        size += 1
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, list | tuple):
            size += len(item)
            waiting += item
        elif isinstance(item, dict):
            size += 2 * len(item)
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, int):
            if item.bit_length() > MAX_INTEGER_BITS:
                raise Fault(f"makes an integer of more than {MAX_INTEGER_BITS} bits.")
        elif item is not None and not isinstance(item, float):
            raise Fault(f"makes {kind_of(item)}, which is no number, text, list or dictionary.")
        if size > MAX_SIZE:
            raise Fault(f"makes a value of more than {MAX_SIZE} entries and characters.")
    return size


def kind_of(value: object) -> str:
    """What a value is, in a word a message may use."""
    names: dict[type, str] = {
        str: "a text",
        int: "an integer",
        float: "a number",
        bool: "a truth",
        list: "a list",
        tuple: "a tuple",
        dict: "a dictionary",
        complex: "a complex number",
        type(None): "nothing",
    }
    return names.get(type(value), "a function" if callable(value) else "a namespace")


def shown(text: str, most: int = 60) -> str:
    """A text as a message may show it: on one line and not too long."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text[: 2 * most].split()))
    return line if len(line) <= most else line[:most] + "…"
