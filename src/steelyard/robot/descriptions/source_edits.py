"""A description as text: where each element stands, and edits that leave every other byte as it was."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from steelyard.errors import DescriptionError
from steelyard.robot.descriptions.xml import Element, parse_xml, read_description

# A description as text whose elements know where they stand, so that an edit leaves the rest as it was.

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
        path: the file it stands in; None for a text of no file.
    """

    start: int = 0
    inside: int = 0
    end: int = 0
    path: Path | None = None

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


def parse_nodes(text: bytes, file: str, *, path: Path | None = None) -> Node:
    """Parse XML text into its root element.

    Args:
        text: the text in UTF-8, whatever its declaration says.
        file: the name to use in messages.
        path: the file it was read from.

    Returns:
        The root element.

    Raises:
        DescriptionError: not XML, or using a document type or entities; names the line.
    """
    parse_xml(text, file, encoding="utf-8")  # refuses whatever is not plain XML
    parser = expat.ParserCreate("utf-8")
    roots: list[Node] = []
    open_nodes: list[Node] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        at = parser.CurrentByteIndex
        node = Node(
            tag, attributes, file, parser.CurrentLineNumber, start=at, inside=tag_end(text, at), path=path
        )
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


# The files of a description with their places, in whatever encoding they are.


class SourceTexts:
    """The files of one description as they are read: what each holds, and where its elements stand.

    Attributes:
        contents: the bytes of each file that was read, by its path without symbolic links.
        texts: the same in UTF-8, which the places of elements count in; the declaration stays as it was.
        roots: the root element of each.
    """

    def __init__(self, replaced: Mapping[Path, bytes] | None = None) -> None:
        """Start with nothing read.

        Args:
            replaced: what to take for the content of files, by their paths, in place of what the disk holds.
        """
        self._replaced = dict(replaced or {})
        self.contents: dict[Path, bytes] = {}
        self.texts: dict[Path, bytes] = {}
        self.roots: dict[Path, Node] = {}

    def read(self, path: Path) -> Node:
        """Read a file into its root element.

        Args:
            path: an XML file of bounded size.

        Returns:
            The root element, called by the file's name.

        Raises:
            DescriptionError: it cannot be read or is no plain XML.
        """
        return self.parse(path, read_description(path), path.name)

    def parse(self, path: Path, content: bytes, name: str) -> Node:
        """Parse what a file holds, or what is to be taken for it.

        Args:
            path: the file.
            content: its bytes.
            name: what to call it in messages.

        Returns:
            The root element.

        Raises:
            DescriptionError: it is no plain XML, or not in the encoding it declares.
        """
        path = path.resolve()
        content = self._replaced.get(path, content)
        parse_xml(content, name)  # what the declared encoding makes of it
        text = _reencoded(content, name)
        self.contents[path], self.texts[path] = content, text
        self.roots[path] = parse_nodes(text, name, path=path)
        return self.roots[path]

    def edited(self, edits: Mapping[Path, TextEdits]) -> dict[Path, bytes]:
        """The files after their texts were edited, each in the encoding it was in.

        Args:
            edits: the edits of each file by its path; files without any stay as they are.

        Returns:
            The bytes of every file that was read.
        """
        return {
            path: _encoded_like(content, edits[path].result()) if path in edits else content
            for path, content in self.contents.items()
        }


def _reencoded(content: bytes, file: str) -> bytes:
    encoding = declared_encoding(content)
    if encoding in ("utf-8", "us-ascii", "ascii"):
        return content
    try:
        return content.decode(encoding).encode()
    except (UnicodeError, LookupError) as error:
        raise DescriptionError(f"cannot be decoded as {encoding}.", place=file) from error


def _encoded_like(content: bytes, text: bytes) -> bytes:
    """A text in UTF-8 in the encoding of a file."""
    encoding = declared_encoding(content)
    if encoding in ("utf-8", "us-ascii", "ascii"):
        return text
    if encoding == "utf-16":
        little = content.startswith(codecs.BOM_UTF16_LE)
        mark = codecs.BOM_UTF16_LE if little else codecs.BOM_UTF16_BE
        return mark + text.decode().encode("utf-16-le" if little else "utf-16-be")
    return text.decode().encode(encoding)


# Edits that leave every other byte as it was: quotes, order, blanks and line ends stay.


def numbers_text(values: Iterable[float]) -> str:
    """Numbers with the shortest text that reads back to the same bits; minus zero is zero.

    Args:
        values: the numbers, in any unit.

    Returns:
        The numbers, separated by blanks.
    """
    return " ".join(repr(float(x) + 0.0) for x in values)


class TextEdits:
    """Pieces of a text to put in place of others, collected and then made at once."""

    def __init__(self, text: bytes) -> None:
        """Start from a text.

        Args:
            text: the description in UTF-8.
        """
        self._text = text
        self._pieces: list[tuple[int, int, bytes]] = []

    def assign(
        self, node: Node, values: Mapping[str, str], *, renamed: Mapping[str, str] | None = None
    ) -> None:
        """Give attributes their values between the quotes they have; those that are missing are added last.

        Args:
            node: the element.
            values: text of each attribute by name, free of quotes and markup.
            renamed: attributes that take the place of others, old names by new ones.
        """
        olds = dict(renamed or {})
        found = {m.group(1).decode(): m for m in _ATTRIBUTE.finditer(self._text, node.start + 1, node.inside)}
        last = max((m.end() for m in found.values()), default=node.start + 1 + len(node.tag.encode()))
        for name, value in values.items():
            stated = found.get(olds.get(name, name))
            if stated is None:
                self._pieces.append((last, last, f' {name}="{value}"'.encode()))
                continue
            if name in olds:
                self._pieces.append((*stated.span(1), name.encode()))
            start, end = stated.span(2)
            self._pieces.append((start + 1, end - 1, value.encode()))

    def insert(self, node: Node, child: str, *, own_line: bool = False) -> None:
        """Put a child into an element, before the others.

        Args:
            node: the element.
            child: the element to put in.
            own_line: whether it gets a line of its own where the first child has one, as far in as that.
        """
        first = next((x for x in node.children if isinstance(x, Node)), None)
        if (
            own_line
            and first is not None
            and first.path == node.path
            and node.inside <= first.start < node.end
        ):
            before = self._text[node.inside : first.start]
            blank = before[len(before.rstrip()) :]
            self._pieces.append((first.start, first.start, child.encode() + blank))
        elif node.end > node.inside:
            self._pieces.append((node.inside, node.inside, child.encode()))
        else:
            closing = f">{child}</{node.tag}>".encode()
            self._pieces.append((node.inside - 2, node.inside, closing))

    def result(self) -> bytes:
        """The text with all changes made."""
        return _pieced(self._text, self._pieces)


def _pieced(whole: bytes, pieces: Iterable[tuple[int, int, bytes]]) -> bytes:
    text, done = [], 0
    for start, end, piece in sorted(pieces, key=lambda item: item[:2]):
        text += [whole[done:start], piece]
        done = end
    return b"".join([*text, whole[done:]])


# Edits of a description's text: each one listed, and said in a comment beside the element it changes.

_SHOWN = 80


@dataclass(frozen=True)
class Change:
    """One thing that was changed in a description.

    Attributes:
        place: file and line, the same before and after.
        what: what it is, such as `the axis of joint 'elbow'`.
        before: as it stood, cut where it is long; empty where there was nothing.
        after: as it stands; empty where it was taken out.
        reason: why.
    """

    place: str
    what: str
    before: str
    after: str
    reason: str


class Edits:
    """Changes to one text, collected and then made at once; no edit moves a line."""

    def __init__(self, text: bytes) -> None:
        """Start from a text.

        Args:
            text: the description in UTF-8.
        """
        self._text = text
        self._pieces: list[tuple[int, int, bytes]] = []
        self._comments: dict[int, list[str]] = {}
        self.changes: list[Change] = []

    def set(self, node: Node, values: Mapping[str, str], what: str, reason: str) -> None:
        """Give attributes their values, adding those that are missing."""
        spans = attribute_spans(self._text, node)
        for attribute, value in values.items():
            stated = f"{attribute}={quoteattr(value)}".encode()
            after_tag = node.start + 1 + len(node.tag.encode())
            added = attribute not in spans
            span = (after_tag, after_tag) if added else spans[attribute]
            self._pieces.append((*span, b" " + stated if added else stated))
        replaced = {key: node.attributes[key] for key in values if key in node.attributes}
        was = f"was {_stated(replaced)}" if replaced else f"{', '.join(values)} added"
        self._note(node, was, reason)
        self._list(node, what, _stated(replaced), _stated(values), reason)

    def respell(self, node: Node, old: str, new: str, what: str, reason: str) -> None:
        """Give an attribute another name."""
        start, _ = attribute_spans(self._text, node)[old]
        self._pieces.append((start, start + len(old.encode()), new.encode()))
        self._note(node, f"{new} was {old}", reason)
        self._list(node, what, old, new, reason)

    def retag(self, node: Node, tag: str, what: str, reason: str) -> None:
        """Give an element another tag."""
        old = node.tag.encode()
        self._pieces.append((node.start + 1, node.start + 1 + len(old), tag.encode()))
        if node.end > node.inside:
            at = self._text.rindex(b"</", node.inside, node.end) + 2
            self._pieces.append((at, at + len(old), tag.encode()))
        self._note(node, f"<{tag}> was <{node.tag}>", reason)
        self._list(node, what, node.tag, tag, reason)

    def add(self, node: Node, child: str, what: str, reason: str) -> None:
        """Put a child into an element, before the others."""
        comment = _comment(f"added: {reason}")
        if node.end > node.inside:
            self._pieces.append((node.inside, node.inside, comment + child.encode()))
        else:
            closing = f"</{node.tag}>".encode()
            self._pieces.append((node.end - 2, node.end, b">" + comment + child.encode() + closing))
        self._list(node, what, "", child, reason)

    def remove(self, node: Node, what: str, before: str, reason: str) -> None:
        """Take an element out; it stays readable as a comment."""
        content = self._text[node.start : node.end].decode()
        self._pieces.append((node.start, node.end, _comment(f"removed, {reason}: {content}")))
        self._list(node, what, before, "", reason)

    def result(self) -> bytes:
        """The text with all changes made."""
        notes = [(at, at, _comment("; ".join(texts))) for at, texts in self._comments.items()]
        return _pieced(self._text, [*self._pieces, *notes])

    def _note(self, node: Node, what: str, reason: str) -> None:
        self._comments.setdefault(node.inside, []).append(f"{what}: {reason}")

    def _list(self, node: Node, what: str, before: str, after: str, reason: str) -> None:
        self.changes.append(Change(node.place, what, _cut(before), _cut(after), reason))


def _stated(values: Mapping[str, str]) -> str:
    """Attributes as a person would name them: the value alone where there is one."""
    return " ".join(values.values() if len(values) == 1 else (f"{k}={v}" for k, v in values.items()))


def _comment(text: str) -> bytes:
    # Two hyphens in a row would end an XML comment.
    while "--" in text:
        text = text.replace("--", "- -")
    return f"<!-- repaired: {text} -->".encode()


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"


# An expanded xacro file as text, one element to a line, so that it can be repaired like a URDF.


def element_text(root: Element) -> bytes:
    """Write an element and all in it; text and comments between elements are not kept.

    Returns:
        XML in UTF-8.
    """
    lines = ['<?xml version="1.0"?>']
    # Each task: an element still to write, or the end tag of one whose children are written.
    tasks: list[tuple[int, Element | str]] = [(0, root)]
    while tasks:
        depth, item = tasks.pop()
        indent = "  " * depth
        if isinstance(item, str):
            lines.append(f"{indent}</{item}>")
            continue
        stated = "".join(f" {name}={quoteattr(value)}" for name, value in item.attributes.items())
        if not item.children:
            lines.append(f"{indent}<{item.tag}{stated}/>")
            continue
        lines.append(f"{indent}<{item.tag}{stated}>")
        tasks.append((depth, item.tag))
        tasks += [(depth + 1, child) for child in reversed(item.children)]
    return ("\n".join(lines) + "\n").encode()
