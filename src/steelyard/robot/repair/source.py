"""A description as text whose elements know where they stand, so that an edit leaves the rest as it was."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.parsers import expat

from steelyard.errors import DescriptionError
from steelyard.robot.xml import Element, parse_xml

_ENCODING = re.compile(rb"""^<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_ATTRIBUTE = re.compile(rb"""([^\s=/<>"']+)\s*=\s*("[^"]*"|'[^']*')""")
_TAG = re.compile(rb"""<(?:[^<>"']++|"[^"]*"|'[^']*')*+>""")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass
class Node(Element):
    """An element with its place in the text.

    Attributes:
        start: first byte of its start tag.
        inside: first byte after its start tag.
        end: first byte after its end tag; equal to `inside` for an element without one.
    """

    start: int = 0
    inside: int = 0
    end: int = 0

    def nodes(self, tag: str) -> Iterator[Node]:
        """Its direct children of one tag."""
        return (child for child in self.children if isinstance(child, Node) and child.tag == tag)

    def node(self, tag: str) -> Node | None:
        """Its first direct child of one tag, if any."""
        return next(self.nodes(tag), None)

    def descendants(self) -> Iterator[Node]:
        """It and everything in it, in the order of the text."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [child for child in reversed(node.children) if isinstance(child, Node)]


def declared_encoding(content: bytes) -> str:
    """The encoding an XML file says it has, or shows by its byte-order mark.

    Args:
        content: the bytes of the file.

    Returns:
        Its name in lower case; `utf-8` where nothing is said.
    """
    if content.startswith(_UTF16):
        return "utf-16"
    declared = _ENCODING.match(content.removeprefix(codecs.BOM_UTF8))
    return declared.group(1).decode().lower() if declared else "utf-8"


def as_utf8(content: bytes, file: str) -> bytes:
    """The same text in UTF-8; a file that is UTF-8 comes back byte for byte.

    Args:
        content: the bytes of a well-formed XML file.
        file: the name to use in messages.

    Returns:
        The text, whose declaration names UTF-8 where it names anything.

    Raises:
        DescriptionError: the bytes are not what the declaration says.
    """
    encoding = declared_encoding(content)
    if encoding in ("utf-8", "us-ascii", "ascii"):
        return content
    try:
        text = content.decode(encoding).encode()
    except (UnicodeError, LookupError) as error:
        raise DescriptionError(f"cannot be decoded as {encoding}.", place=file) from error
    declared = _ENCODING.match(text)
    return text if declared is None else text[: declared.start(1)] + b"utf-8" + text[declared.end(1) :]


def parse_nodes(text: bytes, file: str) -> Node:
    """Parse XML text into its root element.

    Args:
        text: the text in UTF-8.
        file: the name to use in messages.

    Returns:
        The root element.

    Raises:
        DescriptionError: not XML, or using a document type or entities; names the line.
    """
    parse_xml(text, file)  # refuses whatever is not plain XML
    parser = expat.ParserCreate("utf-8")
    roots: list[Node] = []
    open_nodes: list[Node] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        at = parser.CurrentByteIndex
        node = Node(tag, attributes, file, parser.CurrentLineNumber, start=at, inside=tag_end(text, at))
        (open_nodes[-1].children if open_nodes else roots).append(node)
        open_nodes.append(node)

    def end(_tag: str) -> None:
        node = open_nodes.pop()
        empty = text[node.inside - 2 : node.inside] == b"/>"
        node.end = node.inside if empty else tag_end(text, parser.CurrentByteIndex)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(text, True)
    return roots[0]


def tag_end(text: bytes, start: int) -> int:
    """The first byte after the tag that starts at a byte of well-formed XML."""
    tag = _TAG.match(text, start)
    if tag is None:
        raise DescriptionError("a tag has no end.", place=f"byte {start}")
    return tag.end()


def attribute_spans(text: bytes, node: Node) -> dict[str, tuple[int, int]]:
    """Where the attributes of a node stand in the text, quotes included.

    Args:
        text: the text the node was read from.
        node: the node.

    Returns:
        First byte of the name and first byte after the closing quote, by attribute.
    """
    found = _ATTRIBUTE.finditer(text, node.start + 1, node.inside)
    return {match.group(1).decode(): match.span() for match in found}
