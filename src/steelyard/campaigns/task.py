"""A task: a named call of a function whose result is worth keeping; and the graph of a campaign's tasks."""

from __future__ import annotations

import hashlib
import heapq
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from steelyard import __version__
from steelyard.archive import digest
from steelyard.errors import InputError, UnknownNameError

# Why a task gave no result.


@dataclass(frozen=True)
class Failure:
    """Why a task gave no result; what a task that accepts failed inputs is handed in place of one.

    Attributes:
        task: its name.
        reason: in one line, the same on every machine.
        lasting: whether the inputs are to blame, so that trying again would fail again; otherwise the next
            start tries again.
        detail: traceback, evidence and log, for people; empty when handed to a task.
    """

    task: str
    reason: str
    lasting: bool = True
    detail: str = ""

    @property
    def key(self) -> str:
        """What stands in the keys of dependants for the key of the missing result."""
        return f"failed:{self.task}:{self.reason}"


# Random numbers of a task's own.


def task_seed(seed: int, name: str) -> int:
    """The seed of a task, independent of those of all others.

    It depends on the campaign's seed and the task's name alone: adding a trial or a method changes no other.

    Args:
        seed: of the campaign, not negative.
        name: of the task.

    Returns:
        128 bits, for `numpy.random.default_rng`.

    Raises:
        InputError: the seed is negative.
    """
    if seed < 0:
        raise InputError(f"must not be negative, got {seed}.", place="seed")
    words = np.frombuffer(hashlib.sha256(name.encode()).digest(), dtype="<u4")
    child = np.random.SeedSequence(seed, spawn_key=tuple(int(word) for word in words))
    return int.from_bytes(child.generate_state(4, np.uint32).astype("<u4").tobytes(), "little")


# One task

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


# The graph of a campaign: tasks, and which takes whose result.


class TaskGraph:
    """Tasks with unique names, every input among them, and no cycle.

    Attributes:
        tasks: by name, each after those it needs, otherwise in the order they were given.
        dependants: names of the tasks that take a task's result, by its name.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        """Check and sort the tasks.

        Args:
            tasks: in any order.

        Raises:
            InputError: there is none, two share a name, an input is missing, or they form a cycle.
        """
        given: dict[str, Task] = {}
        for task in tasks:
            if task.name in given:
                raise InputError(f"two tasks are called '{task.name}'.", place="graph")
            given[task.name] = task
        if not given:
            raise InputError("has no task.", place="graph")
        self.dependants: dict[str, list[str]] = {name: [] for name in given}
        for task in given.values():
            for needed in task.needs:
                if needed not in given:
                    raise UnknownNameError("task", needed, given, place=f"inputs of task '{task.name}'")
                self.dependants[needed].append(task.name)
        order = Schedule(given, self.dependants)
        self.tasks: dict[str, Task] = {}
        while task_or_none := order.next():
            self.tasks[task_or_none.name] = task_or_none
            order.end(task_or_none.name)
        if order.left:
            raise InputError(f"its tasks wait for each other: {_circle(given)}.", place="graph")

    def schedule(self) -> Schedule:
        """The tasks, to be taken as they may begin."""
        return Schedule(self.tasks, self.dependants)

    def keys(self) -> dict[str, str]:
        """The key of every task, should none fail; by name."""
        keys: dict[str, str] = {}
        for name, task in self.tasks.items():
            keys[name] = task.key(keys)
        return keys

    def __len__(self) -> int:
        return len(self.tasks)


class Schedule:
    """Which tasks may begin: those whose inputs have all ended, the first of them first."""

    def __init__(self, tasks: Mapping[str, Task], dependants: Mapping[str, Sequence[str]]) -> None:
        self._tasks = tuple(tasks.values())
        self._dependants = dependants
        self._place = {name: place for place, name in enumerate(tasks)}
        self._open = {task.name: len(task.needs) for task in self._tasks}
        self._ready = [self._place[name] for name, needs in self._open.items() if not needs]
        self.left = len(self._tasks)
        """Tasks that have not ended."""

    def next(self) -> Task | None:
        """Take a task that may begin; None when there is none at present."""
        return self._tasks[heapq.heappop(self._ready)] if self._ready else None

    def end(self, name: str) -> None:
        """Note that a task has ended, with or without a result.

        Args:
            name: of the task.
        """
        self.left -= 1
        for other in self._dependants[name]:
            self._open[other] -= 1
            if not self._open[other]:
                heapq.heappush(self._ready, self._place[other])


def _circle(tasks: Mapping[str, Task]) -> str:
    try:
        TopologicalSorter({task.name: task.needs for task in tasks.values()}).prepare()
    except CycleError as error:
        return " → ".join(error.args[1])
    raise AssertionError("a cycle was seen")
