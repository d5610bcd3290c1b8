"""Graphs: what cannot run is refused by name, the order is fixed, keys follow what results depend on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from campaigns.sample_tasks import HERE, lattice
from steelyard import campaigns
from steelyard.campaigns import TaskGraph, run_campaign
from steelyard.campaigns.task import Task
from steelyard.errors import InputError


def task(name: str, *needs: str, **changes: Any) -> Task:
    return Task(name, f"{HERE}:add", inputs={"parts": needs}, **changes)


def test_tasks_that_wait_for_each_other_are_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"wait for each other: (a → b → c → a|.*→.*→.*)\.") as caught:
        TaskGraph([task("a", "c"), task("b", "a"), task("c", "b"), task("free")])
    assert all(name in str(caught.value) for name in "abc")
    with pytest.raises(InputError, match="a → a"):
        TaskGraph([task("a", "a")])


def test_a_missing_input_is_named_with_the_nearest_that_exists() -> None:
    with pytest.raises(InputError, match=r"inputs of task 'b': unknown task 'drow'.*Did you mean 'draw'"):
        TaskGraph([task("draw"), task("b", "drow")])


def test_two_tasks_of_one_name_and_no_task_at_all_are_refused() -> None:
    with pytest.raises(InputError, match="two tasks are called 'a'"):
        TaskGraph([task("a"), task("a")])
    with pytest.raises(InputError, match="has no task"):
        TaskGraph([])


@pytest.mark.parametrize(
    "name", ["../up", "/etc/passwd", "a/b", "", ".", "..", ".hidden", "a b", "a\nb", "ä", "x" * 121, "a\0"]
)
def test_a_name_cannot_lead_out_of_the_folder(name: str) -> None:
    with pytest.raises(InputError, match="cannot name a task"):
        task(name)


@pytest.mark.parametrize("function", ["os.system", "a:b:c", "a b:c", ":f", "m:", "m:f()", "../m:f"])
def test_a_function_is_a_reference_and_nothing_else(function: str) -> None:
    with pytest.raises(InputError, match="not of the form"):
        Task("a", function)


@pytest.mark.parametrize("function", ["no.such.module:f", f"{HERE}:nothing", f"{HERE}:HERE"])
def test_a_function_that_cannot_be_called_is_refused_before_anything_runs(
    function: str, tmp_path: Any
) -> None:
    with pytest.raises(InputError, match=r"cannot be imported|is not a function"):
        run_campaign(TaskGraph([Task("a", function)]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_parameters_are_json_and_cannot_collide_with_inputs() -> None:
    for bad in ({"x": object()}, {"x": float("nan")}, {"x": np.zeros(2)}):
        with pytest.raises(InputError, match="not JSON values"):
            Task("a", f"{HERE}:add", bad)
    with pytest.raises(InputError, match="both a parameter and an input"):
        Task("a", f"{HERE}:add", {"parts": 1}, {"parts": "b"})
    with pytest.raises(InputError, match="cannot name an argument"):
        Task("a", f"{HERE}:add", {"two words": 1})


def test_parameters_cannot_be_changed_afterwards() -> None:
    given = {"x": [1, 2]}
    made = Task("a", f"{HERE}:trivial", given)
    before = made.key({})
    given["x"].append(3)
    assert made.key({}) == before
    with pytest.raises(TypeError):
        made.parameters["x"] = 1  # type: ignore[index]


def test_the_order_puts_every_task_after_its_inputs_and_is_fixed() -> None:
    graph = lattice(9)
    place = {name: k for k, name in enumerate(graph.tasks)}
    assert all(place[n] < place[t.name] for t in graph.tasks.values() for n in t.needs)
    assert list(graph.tasks) == list(lattice(9).tasks)


def test_a_deep_chain_needs_no_deep_stack() -> None:
    links = [task("t0"), *(task(f"t{k}", f"t{k - 1}") for k in range(1, 5000))]
    assert list(TaskGraph(reversed(links)).tasks)[-1] == "t4999"


@pytest.mark.parametrize(
    "change",
    [{"function": f"{HERE}:trivial"}, {"version": "2"}, {"parameters": {"factor": 2, "pause": 0.0}}],
)
def test_one_change_alters_the_keys_of_the_task_and_its_descendants_alone(change: Any) -> None:
    before = lattice(5)
    after = TaskGraph(replace(t, **change) if t.name == "product-2" else t for t in before.tasks.values())
    old, new = before.keys(), after.keys()
    assert {name for name in old if old[name] != new[name]} == {"product-2", "sum"}


def test_the_name_kind_and_place_of_a_single_input_are_no_part_of_a_key() -> None:
    tasks = lattice(3).tasks
    renamed = [
        replace(tasks["draw-0"], name="other", kind="x"),
        tasks["draw-1"],
        replace(tasks["product-0"], name="p", inputs={"left": "other", "right": "draw-1"}),
    ]
    assert TaskGraph(renamed).keys()["p"] == lattice(3).keys()["product-0"]


def test_numbers_that_differ_in_the_last_bit_or_in_type_differ_in_key() -> None:
    numbers = (0.3, 0.1 + 0.2, 1, 1.0, True, "1", None)
    assert len({Task("a", f"{HERE}:trivial", {"number": n}).key({}) for n in numbers}) == len(numbers)


def test_another_library_version_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = lattice(2).keys()
    monkeypatch.setattr(campaigns.task, "__version__", "9.9.9")
    after = lattice(2).keys()
    assert all(before[name] != after[name] for name in before)
