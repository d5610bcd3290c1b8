"""An expanded xacro file as text, one element to a line, so that it can be repaired like a URDF."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from steelyard.robot.xml import Element


def element_text(root: Element) -> bytes:
    """Write an element and all in it; text and comments between elements are not kept.

    Args:
        root: the element.

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
