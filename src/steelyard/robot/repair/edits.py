"""Edits of a description's text: each one listed, and said in a comment beside the element it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from steelyard.robot.repair.source import Node, attribute_spans

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
        text, done = [], 0
        for start, end, piece in sorted([*self._pieces, *notes], key=lambda item: item[:2]):
            text += [self._text[done:start], piece]
            done = end
        return b"".join([*text, self._text[done:]])

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
