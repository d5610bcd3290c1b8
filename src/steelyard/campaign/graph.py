"""The graph of a campaign: tasks, and which takes whose result."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from steelyard.campaign.task import Task
from steelyard.errors import InputError, UnknownNameError


class Graph:
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
