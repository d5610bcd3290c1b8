"""Monte Carlo studies: every combination of named axes, tried several times, as tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from steelyard.campaign.seeds import task_seed
from steelyard.campaign.task import Inputs, Task
from steelyard.errors import InputError

Axes = Mapping[str, Mapping[str, Any]]
"""By axis, such as `noise` or `method`: labels, each with the JSON value it stands for."""


@dataclass(frozen=True)
class Condition:
    """One combination of the axes.

    Attributes:
        labels: by axis.
        values: JSON values by axis.
    """

    labels: Mapping[str, str]
    values: Mapping[str, Any]


def conditions(axes: Axes) -> Iterator[Condition]:
    """Every combination, the last axis fastest.

    Args:
        axes: labels with values, by axis.

    Yields:
        The combinations.

    Raises:
        InputError: an axis has no value.
    """
    if empty := [axis for axis, choices in axes.items() if not choices]:
        raise InputError(f"the axis '{empty[0]}' has no value.", place="axes")
    for chosen in product(*(choices.items() for choices in axes.values())):
        labels = {axis: label for axis, (label, _) in zip(axes, chosen, strict=True)}
        values = {axis: value for axis, (_, value) in zip(axes, chosen, strict=True)}
        yield Condition(labels, values)


def trials(
    stage: str,
    function: str,
    axes: Axes,
    *,
    count: int,
    seed: int,
    version: str = "1",
    parameters: Mapping[str, Any] | None = None,
    inputs: Callable[[Condition], Inputs] | None = None,
) -> tuple[Task, ...]:
    """The tasks of a study: every combination of the axes, `count` times.

    A task is named `stage.label.….trial`, and called with the value of each axis, the number of its `trial`
    and its own `seed`. More trials, labels or axes' values leave the other tasks, and their keys, as they
    are.

    Args:
        stage: kind of the tasks, and the beginning of their names.
        function: `package.module:function`.
        axes: labels with values, by axis, which is an argument of the function.
        count: trials of each combination.
        seed: of the campaign.
        version: of the function.
        parameters: further arguments, the same for all.
        inputs: gives the tasks whose results a combination takes; None for none.

    Returns:
        The tasks.

    Raises:
        InputError: there are no trials, an axis has no value, or a label cannot be part of a name.
    """
    if count < 1:
        raise InputError(f"must be at least 1, got {count}.", place="trials")
    tasks = []
    for condition in conditions(axes):
        for trial in range(count):
            name = ".".join([stage, *condition.labels.values(), str(trial)])
            arguments = {**(parameters or {}), **condition.values}
            tasks.append(
                Task(
                    name=name,
                    function=function,
                    parameters={**arguments, "trial": trial, "seed": task_seed(seed, name)},
                    inputs={} if inputs is None else inputs(condition),
                    kind=stage,
                    version=version,
                )
            )
    return tuple(tasks)
