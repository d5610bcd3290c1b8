"""Macros: a name, parameters with their defaults, and a body."""

from __future__ import annotations

import re
from dataclasses import dataclass

from steelyard.robot.xacro.budget import Fault, shown
from steelyard.robot.xml import Element

# Every repetition is possessive: no text makes the search go back over what it has read.
_PARAMETER = re.compile(
    r"""\s*+ (?P<name> [^\s:=]++ )
        (?: \s*+ :?= \s*+ (?P<outer> \^\|? )?+
            (?P<default> (?: \$\{[^}]*+\} | \$\([^)]*+\) | '[^']*+' | "[^"]*+" | [^\s'"] )*+ ) )?+
        (?: \s++ | $ )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a macro.

    Attributes:
        name: starts with `*` where it takes an element, with `**` where it takes an element's children.
        inherits: whether it takes the value that the caller's property of this name has.
        default: text of the value where none is given, evaluated in the caller's scope.
    """

    name: str
    inherits: bool = False
    default: str | None = None

    @property
    def is_block(self) -> bool:
        """Whether it takes elements."""
        return self.name.startswith("*")


@dataclass(frozen=True)
class Macro:
    """A macro.

    Attributes:
        name: as it is called.
        parameters: in the order they are stated.
        body: the `<xacro:macro>` itself.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: Element


def read_macro(element: Element) -> Macro:
    """Read the definition of a macro.

    Args:
        element: the `<xacro:macro>`.

    Returns:
        The macro.

    Raises:
        Fault: the name is taken, or the parameters cannot be understood.
    """
    name = element.text("name").removeprefix("xacro:")
    if name == "call" or "." in name:
        raise Fault(f"a macro cannot be named '{shown(name)}'.", "Use neither 'call' nor a dot.")
    return Macro(name, _parameters(element.attributes.get("params", "")), element)


def _parameters(text: str) -> tuple[Parameter, ...]:
    parameters: dict[str, Parameter] = {}
    at = len(text) - len(text.lstrip())
    while at < len(text):
        match = _PARAMETER.match(text, at)
        if match is None:
            raise Fault(f"the parameters cannot be understood from '{shown(text[at:])}' on.")
        name, outer, default = match["name"], match["outer"], match["default"]
        parameters[name] = Parameter(name, outer is not None, default or None)
        at = match.end()
    return tuple(parameters.values())
