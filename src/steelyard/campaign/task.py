"""A task: a named call of a function whose result is worth keeping."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

from steelyard import __version__
from steelyard.archive import digest
from steelyard.errors import InputError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+@,-]{0,119}")
"""What a task may be called: its failures are kept in a file of that name."""
_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")

Inputs = Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True)
class Task:
    """A call `function(**parameters, **inputs)` whose result is kept under the digest of all it depends on.

    An input is the result of another task, or, for a tuple of names, a dict from those names to their
    results. A task that accepts failed inputs is handed a `Failure` in place of each result that is missing;
    any other task is skipped when one of its inputs failed.

    Attributes:
        name: unique in its graph; letters, digits and `._=+@,-`.
        function: `package.module:function`, which workers import; it returns a mapping of JSON values and
            arrays, possibly nested, and depends on nothing but its arguments.
        parameters: JSON values by argument.
        inputs: names of other tasks by argument.
        kind: the stage it belongs to, under which it is counted.
        version: of the function; to be changed with what the function computes.
        accepts_failed: whether it runs when inputs failed, as aggregations do.
    """

    name: str
    function: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    inputs: Inputs = field(default_factory=dict)
    kind: str = "task"
    version: str = "1"
    accepts_failed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise InputError(
                f"'{str(self.name)[:80]}' cannot name a task.",
                place="task",
                remedy="Use up to 120 letters, digits and ._=+@,- and begin with a letter or digit.",
            )
        place = f"task '{self.name}'"
        if not _REFERENCE.fullmatch(self.function):
            raise InputError(
                f"'{self.function[:80]}' is not of the form package.module:function.", place=place
            )
        arguments = [*self.parameters, *self.inputs]
        for argument in arguments:
            if not isinstance(argument, str) or not argument.isidentifier():
                raise InputError(f"'{str(argument)[:80]}' cannot name an argument.", place=place)
            if arguments.count(argument) > 1:
                raise InputError(f"'{argument}' is both a parameter and an input.", place=place)
        try:
            parameters = json.loads(json.dumps(dict(self.parameters), allow_nan=False))
        except (TypeError, ValueError) as error:
            raise InputError(f"its parameters are not JSON values: {error}.", place=place) from error
        inputs = {a: n if isinstance(n, str) else tuple(n) for a, n in self.inputs.items()}
        object.__setattr__(self, "parameters", MappingProxyType(parameters))
        object.__setattr__(self, "inputs", MappingProxyType(inputs))

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the tasks whose results it takes, each once, in the order of its inputs."""
        names: dict[str, None] = {}
        for given in self.inputs.values():
            names.update(dict.fromkeys((given,) if isinstance(given, str) else given))
        return tuple(names)

    def key(self, keys: Mapping[str, str]) -> str:
        """The digest of all that the result depends on.

        The name of a single input is no part of it, because the function never learns it; those of a group
        are, because it does.

        Args:
            keys: key of each task it needs.

        Returns:
            64 hexadecimal digits.
        """
        inputs = {
            argument: keys[given] if isinstance(given, str) else [[name, keys[name]] for name in given]
            for argument, given in self.inputs.items()
        }
        return digest(
            {
                "function": self.function,
                "version": self.version,
                "parameters": dict(self.parameters),
                "inputs": inputs,
                "library": __version__,
            }
        )


def function_of(reference: str) -> Callable[..., Any]:
    """Import the function a task refers to.

    Args:
        reference: `package.module:function`.

    Returns:
        The function.

    Raises:
        InputError: there is no such module or function.
    """
    module, name = reference.split(":")
    try:
        function = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"cannot be imported: {error}.", place=reference) from error
    if not callable(function):
        raise InputError("is not a function.", place=reference)
    return function  # type: ignore[no-any-return]
