"""Scopes: which properties, blocks and macros are known at a place of the file."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from dataclasses import dataclass, field

from steelyard.robot.xacro.budget import Fault, shown
from steelyard.robot.xacro.macro import Macro
from steelyard.robot.xml import Element


@dataclass
class Lazy:
    """A property whose text is evaluated when it is first asked for, in the scope that holds it.

    Attributes:
        text: as the file states it.
        place: file and line that state it.
        busy: whether it is being evaluated at the moment.
    """

    text: str
    place: str
    busy: bool = False


@dataclass
class Scope:
    """What is known inside a file or a macro; what is not found here is looked for in the one around it.

    A macro's scope lies inside its caller's, so that its body sees what the caller sees.

    Attributes:
        parent: the scope around it.
        namespace: whether it holds the contents of a file included under a name of its own.
        values: properties and namespaces by name.
        blocks: elements by name, which starts with `*` for one and `**` for the children of one.
        macros: macros by name.
    """

    parent: Scope | None = None
    namespace: bool = False
    values: dict[str, object] = field(default_factory=dict)
    blocks: dict[str, Element] = field(default_factory=dict)
    macros: dict[str, Macro] = field(default_factory=dict)

    def outward(self) -> Iterator[Scope]:
        """This scope and those around it, the nearest first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def holder(self, name: str) -> Scope | None:
        """The nearest scope that holds a property."""
        return next((scope for scope in self.outward() if name in scope.values), None)

    def block(self, name: str) -> Element | None:
        """The nearest block of a name."""
        return next((scope.blocks[name] for scope in self.outward() if name in scope.blocks), None)

    def macro(self, name: str) -> tuple[Macro, Scope]:
        """A macro, and the scope its body is expanded in: the caller's, or that of its namespace."""
        for scope in self.outward():
            if name in scope.macros:
                return scope.macros[name], self
        space, dot, rest = name.partition(".")
        holder = self.holder(space) if dot else None
        inner = holder.values[space] if holder is not None else None
        if isinstance(inner, Scope):
            return inner.macro(rest)
        known = sorted({known for scope in self.outward() for known in scope.macros})
        listed = ", ".join(shown(known_name) for known_name in known[:20]) or "none"
        raise Fault(
            f"<xacro:{shown(name)}> is neither an instruction of xacro nor a macro.",
            f"Macros known here: {listed}.",
        )

    def of_property(self, stated: str) -> Scope:
        """The scope that a property's `scope` attribute names."""
        *_, outermost = self.outward()
        if stated == "global":
            return outermost
        if self.parent is None:
            raise Fault(
                "there is no parent scope outside of every macro.", "Leave the attribute 'scope' out."
            )
        around = self.parent
        # A macro called through a namespace sits in it; its parent is whoever called.
        while around.namespace and not self.namespace and around.parent is not None:
            around = around.parent
        return around

    def remove(self, name: str) -> None:
        """Forget a property, here and in every scope around."""
        for scope in self.outward():
            scope.values.pop(name, None)


def checked_name(name: str) -> str:
    """A name that expressions can use.

    Args:
        name: of a property.

    Returns:
        The name.

    Raises:
        Fault: an expression could not name it.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
        raise Fault(f"'{shown(name)}' cannot name a property.", "Use letters, digits and underscores.")
    return name


def literal(value: object) -> object:
    """What a property's text means by itself: a number, a truth, or the text without its single quotes.

    Args:
        value: a text, or a value already.

    Returns:
        The value.
    """
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    # Python takes 1_0 for a number, where it is a name with a digit in a description.
    if "_" in value:
        return value
    for read in (int, float):
        try:
            return read(value)
        except ValueError:
            pass
    return {"true": True, "True": True, "false": False, "False": False}.get(value, value)
