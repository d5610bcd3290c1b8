"""XML read defensively: every element knows its line; entities, DTDs and deep nesting are refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from steelyard.errors import DescriptionError, UnknownNameError

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 200
MAX_ELEMENTS = 50_000
"""Elements of one description: the largest public ones have a few thousand, and a body takes 0.3 ms."""
LARGEST = 1e30
"""Numbers beyond this size, in SI units, are no measure of any robot; products of them would overflow."""


@dataclass
class Element:
    """One element of a file, with the line it starts on."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[Element] = field(default_factory=list)

    @property
    def place(self) -> str:
        """Where it stands, as `file:line`."""
        return f"{self.file}:{self.line}"

    def all(self, tag: str) -> Iterator[Element]:
        """Its direct children of one tag."""
        return (child for child in self.children if child.tag == tag)

    def descendants(self) -> Iterator[Element]:
        """Itself and everything below it, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)

    @property
    def uses_xacro(self) -> bool:
        """Whether it holds instructions of xacro."""
        return any(element.tag.startswith("xacro:") for element in self.descendants())

    def first(self, tag: str) -> Element | None:
        """Its first direct child of one tag, if any."""
        return next(self.all(tag), None)

    def need(self, tag: str) -> Element:
        """Its first direct child of one tag, which must exist."""
        child = self.first(tag)
        if child is None:
            raise DescriptionError(f"<{self.tag}> lacks a <{tag}> element.", place=self.place)
        return child

    def text(self, attribute: str) -> str:
        """An attribute that must exist and not be empty."""
        value = self.attributes.get(attribute, "").strip()
        if not value:
            raise DescriptionError(f"<{self.tag}> lacks the attribute '{attribute}'.", place=self.place)
        return value

    def number(self, attribute: str, default: float | None = None, *, largest: float = LARGEST) -> float:
        """An attribute that is one number of at most the given size; required when there is no default."""
        if attribute not in self.attributes and default is not None:
            return default
        return self._numbers(attribute, 1, 1, largest)[0]

    def vector(self, attribute: str, default: tuple[float, float, float]) -> tuple[float, float, float]:
        """An attribute that is three finite numbers."""
        if attribute not in self.attributes:
            return default
        x, y, z = self._numbers(attribute, 3, 3, LARGEST)
        return x, y, z

    def numbers(self, attribute: str, least: int, most: int | None = None) -> list[float]:
        """An attribute that must exist and is a number of finite numbers, `least` to `most`."""
        return self._numbers(attribute, least, least if most is None else most, LARGEST)

    def choice(self, attribute: str, choices: Iterable[str], default: str) -> str:
        """An attribute that is one of a few words."""
        word = self.attributes.get(attribute, default).strip()
        if word not in choices:
            raise UnknownNameError(attribute, word, choices, place=self.place)
        return word

    def words(self, attribute: str, default: str) -> list[str]:
        """The words of an attribute as the file writes them."""
        return self.attributes.get(attribute, default).split()

    def _numbers(self, attribute: str, least: int, most: int, largest: float) -> list[float]:
        text = self.text(attribute)
        shown = text if len(text) <= 40 else text[:40] + "…"
        try:
            # Python would also take 1_0 and digits of other scripts.
            plain = text.isascii() and "_" not in text
            values = [float(word) for word in text.split()] if plain else []
        except ValueError:
            values = []
        if not least <= len(values) <= most or not all(math.isfinite(value) for value in values):
            count = f"{least}" if least == most else f"{least} to {most}"
            wanted = "a finite number" if most == 1 else f"{count} finite numbers"
            raise DescriptionError(
                f"<{self.tag}> needs {wanted} in '{attribute}', got '{shown}'.", place=self.place
            )
        if max(abs(value) for value in values) > largest:
            raise DescriptionError(
                f"<{self.tag}> has '{shown}' in '{attribute}', more than {largest:g}.", place=self.place
            )
        return values


def read_xml(path: Path) -> Element:
    """Read a file into its root element.

    Args:
        path: an XML file of at most 64 MiB.

    Returns:
        The root element.

    Raises:
        DescriptionError: not readable, not XML, or using a document type or entities.
    """
    return parse_xml(read_description(path), path.name)


def read_description(path: Path) -> bytes:
    """Read a regular file of bounded size; a pipe or a device, which may never end, is not opened.

    Args:
        path: a file of at most 64 MiB.

    Returns:
        Its bytes.

    Raises:
        DescriptionError: it is no regular file, cannot be read, or is too large.
    """
    try:
        if path.is_dir():
            raise DescriptionError("is a folder, not a file.", place=str(path))
        if path.exists() and not path.is_file():
            raise DescriptionError("is not a regular file.", place=str(path))
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DescriptionError(f"cannot be read: {error.strerror}.", place=str(path)) from error
    if len(content) > MAX_BYTES:
        raise DescriptionError(f"is larger than {MAX_BYTES >> 20} MiB.", place=str(path))
    return content


def parse_xml(content: bytes | str, file: str, *, encoding: str | None = None) -> Element:
    """Parse XML text into its root element.

    Args:
        content: the text.
        file: the name to use in messages.
        encoding: of the bytes, whatever they declare; None for what they declare.

    Returns:
        The root element.

    Raises:
        DescriptionError: not XML, or using a document type or entities; names the line.
    """
    parser = expat.ParserCreate(encoding)
    roots: list[Element] = []
    open_elements: list[Element] = []
    count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        element = Element(tag, attributes, file, parser.CurrentLineNumber)
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)
        if len(open_elements) > MAX_DEPTH:
            raise DescriptionError(f"elements are nested deeper than {MAX_DEPTH}.", place=element.place)
        if count > MAX_ELEMENTS:
            raise DescriptionError(f"holds more than {MAX_ELEMENTS} elements.", place=element.place)

    def end(_tag: str) -> None:
        open_elements.pop()

    def refuse(*_args: object) -> None:
        raise DescriptionError(
            "declares a document type or an entity, which robot descriptions do not need.",
            place=f"{file}:{parser.CurrentLineNumber}",
            remedy="Remove the <!DOCTYPE …> block.",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise DescriptionError(
            f"is not well-formed XML: {expat.ErrorString(error.code)}.", place=f"{file}:{error.lineno}"
        ) from error
    except DescriptionError:
        raise
    except (ValueError, LookupError) as error:
        # Unknown or broken text encodings surface as these two.
        raise DescriptionError(f"cannot be decoded: {error}.", place=file) from error
    return roots[0]
