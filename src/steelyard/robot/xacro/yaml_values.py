"""YAML into plain data, of a bounded size even where its aliases multiply it."""

from __future__ import annotations

import math
from collections.abc import Callable

import yaml

from steelyard.errors import InputError
from steelyard.robot.xacro.budget import MAX_SIZE, Fault, shown

MAX_YAML_BYTES = 128 * 2**10
_MAX_NESTED = 30
# The same reader in C is eight times as fast, where it is installed.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNITS = {
    "!radians": 1.0,
    "!degrees": math.pi / 180.0,
    "!meters": 1.0,
    "!millimeters": 1e-3,
    "!foot": 0.3048,
    "!inches": 0.0254,
}
"""What a number with one of these tags is multiplied by, to be in rad or m."""


def parse_yaml(content: bytes, name: str, number: Callable[[str], object]) -> object:
    """Read YAML.

    Args:
        content: the text.
        name: of the file, for messages.
        number: the value of an expression, which may stand where a unit is stated: `!degrees 90/2`.

    Returns:
        Numbers, texts, truths, nothing, lists and dictionaries.

    Raises:
        Fault: no YAML, too large, or with a tag that is not plain data.
    """
    try:
        text = content.decode()
        _check_depth(text, name)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}:" if mark is not None else ""
        raise Fault(f"'{name}'{line} is no YAML: {shown(str(getattr(error, 'problem', error)))}.") from None
    except UnicodeDecodeError:
        raise Fault(f"'{name}' is not UTF-8 text.") from None
    return None if node is None else _Values(name, number).value(node)


def read_yaml(content: bytes, place: str) -> object:
    """Read a YAML file that stands by itself: units are multiplied, and nothing is computed.

    Args:
        content: the text.
        place: the file, for messages.

    Returns:
        As `parse_yaml` gives it.

    Raises:
        InputError: no YAML, too large, or with a tag that is not plain data.
    """
    try:
        return parse_yaml(content, place, _plain_number)
    except Fault as fault:
        raise InputError(fault.message, place=place, remedy=fault.remedy) from fault


def _plain_number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _check_depth(text: str, name: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_NESTED:
            raise Fault(f"'{name}' is nested deeper than {_MAX_NESTED}.")


class _Values:
    """Builds the values of one file, counting what aliases repeat as often as they repeat it."""

    def __init__(self, name: str, number: Callable[[str], object]) -> None:
        self._name = name
        self._number = number
        self._scalars = yaml.SafeLoader("")
        self._left = MAX_SIZE
        self._depth = 0

    def value(self, node: yaml.Node) -> object:
        self._left -= 1 + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)
        self._depth += 1
        if self._left < 0 or self._depth > _MAX_NESTED:
            raise Fault(f"'{self._name}' holds more than {MAX_SIZE} entries and characters.")
        value: object
        if isinstance(node, yaml.ScalarNode):
            value = self._scalar(node)
        elif node.tag == "tag:yaml.org,2002:seq":
            value = [self.value(item) for item in node.value]
        elif node.tag == "tag:yaml.org,2002:map":
            value = self._mapping(node)
        else:
            raise Fault(f"{self._line(node)}: '{shown(node.tag)}' is no plain data.")
        self._depth -= 1
        return value

    def _scalar(self, node: yaml.ScalarNode) -> object:
        if node.tag in _UNITS:
            measure = self._number(node.value)
            if not isinstance(measure, int | float):
                raise Fault(f"{self._line(node)}: '{shown(node.value)}' is no number.")
            return float(measure) * _UNITS[node.tag]
        try:
            value: object = self._scalars.construct_object(node)
        except (yaml.YAMLError, ValueError, ArithmeticError):
            raise Fault(f"{self._line(node)}: '{shown(node.value)}' is no {shown(node.tag)}.") from None
        # Dates and bytes are no measures of a robot; they stay what they are in the file.
        return value if value is None or isinstance(value, bool | int | float | str) else node.value

    def _mapping(self, node: yaml.MappingNode) -> dict[object, object]:
        merged: dict[object, object] = {}
        own: dict[object, object] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                value = self.value(value_node)
                for part in reversed(value if isinstance(value, list) else [value]):
                    if not isinstance(part, dict):
                        raise Fault(f"{self._line(key_node)}: only a mapping can be merged.")
                    merged |= part
            elif not isinstance(key_node, yaml.ScalarNode):
                raise Fault(f"{self._line(key_node)}: a key is no plain word.")
            else:
                own[self.value(key_node)] = self.value(value_node)
        return merged | own

    def _line(self, node: yaml.Node) -> str:
        return f"'{self._name}' line {node.start_mark.line + 1}"
