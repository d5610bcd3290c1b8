"""Kinds of campaigns: who turns a description into tasks."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.campaign.graph import Graph
from steelyard.campaign.spec import Spec
from steelyard.campaign.task import function_of
from steelyard.errors import InputError, UnknownNameError

_kinds: dict[str, str] = {
    "identification": "steelyard.campaign.identification.plan:identification",
    "monte-carlo": "steelyard.campaign.monte_carlo:monte_carlo",
}


@dataclass(frozen=True, eq=False)
class Plan:
    """A campaign ready to run.

    Attributes:
        graph: its tasks.
        finish: the task whose result is the answer of the whole.
    """

    graph: Graph
    finish: str

    def __post_init__(self) -> None:
        if self.finish not in self.graph.tasks:
            raise UnknownNameError("task", self.finish, self.graph.tasks, place="finish")


def register_kind(name: str, builder: str) -> None:
    """Name a kind of campaign.

    Args:
        name: as it stands in `[campaign] kind = "…"`.
        builder: `package.module:function`, imported when asked for; it turns a `Spec` into a `Plan`.

    Raises:
        InputError: the name stands for another builder already.
    """
    if _kinds.setdefault(name, builder) != builder:
        raise InputError(f"'{name}' is {_kinds[name]} already.", place="kind")


def plan(spec: Spec) -> Plan:
    """Turn a description into tasks.

    Args:
        spec: the description.

    Returns:
        The tasks and the one that answers.

    Raises:
        InputError: the kind is unknown, or the description does not suit it.
    """
    if spec.kind not in _kinds:
        place = spec.content.section("campaign").place("kind")
        raise UnknownNameError("kind of campaign", spec.kind, sorted(_kinds), place=place)
    made = function_of(_kinds[spec.kind])(spec)
    if not isinstance(made, Plan):
        raise TypeError(f"{_kinds[spec.kind]} returned a {type(made).__name__}, not a Plan")
    spec.content.refuse_others()
    return made
