"""Spelling and names: words in the wrong case, names used twice, a robot without a name."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.errors import DescriptionError
from steelyard.robot.repair.edits import Edits
from steelyard.robot.repair.source import Node
from steelyard.robot.urdf.wording import WORDING, repeated_elements

_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def repair_spelling(root: Node, edits: Edits) -> None:
    """Write tags, attributes and joint types of URDF in lower case, where they differ by their case alone.

    Args:
        root: the description.
        edits: where the changes go.
    """
    for node in _urdf_elements(root):
        tag = node.tag.lower()
        if node.tag != tag:
            edits.retag(node, tag, f"the tag <{node.tag}>", "URDF tags are lower case")
        for name in node.attributes:
            lower = name.lower()
            if name != lower and lower in WORDING[tag].attributes and lower not in node.attributes:
                what = f"the attribute '{name}' of <{tag}>"
                edits.respell(node, name, lower, what, "URDF attributes are lower case")
        kind = node.attributes.get("type", "")
        if tag == "joint" and kind not in _TYPES and kind.lower() in _TYPES:
            what = f"the type of joint '{node.attributes.get('name', '')}'"
            edits.set(node, {"type": kind.lower()}, what, "URDF joint types are lower case")


def _urdf_elements(root: Node) -> Iterator[Node]:
    """The robot, its links and joints and all in them; blocks of other tools have words of their own."""
    yield root
    for child in root.children:
        if isinstance(child, Node) and child.tag.lower() in ("link", "joint", "material"):
            yield from (node for node in child.descendants() if node.tag.lower() in WORDING)


def repair_repeated(root: Node, edits: Edits) -> None:
    """Take out what stands a second time where one may stand; the first is what readers read.

    Args:
        root: the description.
        edits: where the changes go.
    """
    waiting = [root]
    while waiting:
        node = waiting.pop()
        copies = [copy for copy in repeated_elements(node) if isinstance(copy, Node)]
        for copy in copies:
            said = " ".join(f"{name}={value}" for name, value in copy.attributes.items())
            reason = f"it stands twice in <{node.tag}>, and the first is read"
            edits.remove(copy, f"a second <{copy.tag}>", said, reason)
        waiting += [
            child
            for child in node.children
            if isinstance(child, Node) and child.tag in WORDING and not any(child is copy for copy in copies)
        ]


def repair_names(root: Node, edits: Edits, stem: str) -> None:
    """Make every name unique, and give the robot one.

    A repeated joint is renamed. A repeated link is renamed where its copies are alike and each has a joint of
    its own, and left out where only one can be meant; which of two different links is meant is not guessed.

    Args:
        root: the description.
        edits: where the changes go.
        stem: what to call a robot without a name.

    Raises:
        DescriptionError: a link name is used twice and it cannot be known which link is meant where.
    """
    if not root.attributes.get("name", "").strip():
        edits.set(root, {"name": stem}, "the name of the robot", "a URDF needs one")
    joints = _unique_joints(root, edits)
    for name, links in _grouped(root, "link"):
        if len(links) > 1:
            _separate(name, links, joints, _taken(root, "link"), edits)


def _unique_joints(root: Node, edits: Edits) -> list[Node]:
    """The joints that stay, the repeated ones renamed."""
    kept = list(root.nodes("joint"))
    taken = _taken(root, "joint")
    for name, joints in _grouped(root, "joint"):
        for k, copy in enumerate(joints[1:]):
            if _content(copy) in [_content(other) for other in joints[: k + 1]]:
                edits.remove(copy, f"joint '{name}'", name, "the same joint stands above already")
                kept = [joint for joint in kept if joint is not copy]
            else:
                reason = "its name is used twice"
                edits.set(copy, {"name": _free(name, taken)}, f"the name of joint '{name}'", reason)
    return kept


def _separate(name: str, links: list[Node], joints: list[Node], taken: set[str], edits: Edits) -> None:
    children = [end for joint in joints for end in joint.nodes("child") if end.attributes.get("link") == name]
    parents = [end for joint in joints for end in joint.nodes("parent") if end.attributes.get("link") == name]
    alike = all(_content(copy) == _content(links[0]) for copy in links[1:])
    if alike and len(children) <= 1:
        for copy in links[1:]:
            edits.remove(copy, f"link '{name}'", name, "the same link stands above already")
    elif alike and len(children) == len(links) and not parents:
        for copy, end in zip(links[1:], children[1:], strict=True):
            new = _free(name, taken)
            edits.set(copy, {"name": new}, f"the name of link '{name}'", "its name is used twice")
            edits.set(end, {"link": new}, "the child of a joint", f"link '{name}' was renamed")
    else:
        raise DescriptionError(
            f"the link name '{name}' is used twice, first at {links[0].place}, and it cannot be known which "
            "of the two is meant where.",
            place=links[1].place,
            remedy="Rename one, and the joints that carry it.",
        )


def _grouped(root: Node, tag: str) -> list[tuple[str, list[Node]]]:
    groups: dict[str, list[Node]] = {}
    for node in root.nodes(tag):
        if name := node.attributes.get("name", ""):
            groups.setdefault(name, []).append(node)
    return list(groups.items())


def _taken(root: Node, tag: str) -> set[str]:
    return {node.attributes.get("name", "") for node in root.nodes(tag)}


def _free(name: str, taken: set[str]) -> str:
    k = 2
    while f"{name}_{k}" in taken:
        k += 1
    taken.add(f"{name}_{k}")
    return f"{name}_{k}"


def _content(node: Node) -> list[tuple[int, str, tuple[tuple[str, str], ...]]]:
    """Everything an element says, whatever its layout: depth, tag and attributes of all in it."""
    said = []
    waiting = [(0, node)]
    while waiting:
        depth, item = waiting.pop()
        said.append((depth, item.tag, tuple(sorted(item.attributes.items()))))
        waiting += [(depth + 1, child) for child in reversed(item.children) if isinstance(child, Node)]
    return said
