"""The commands answer what they answered when `bench/frozen.py keep --tests` was run last.

These are yesterday's numbers on purpose: they hold the house still while its walls are moved. Whoever changes
an answer knowingly writes the reference anew, and its difference is read with the change.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import frozen
from frozen_cases import CASES, COMMANDS, TESTS

RELATIVE, ABSOLUTE = 1e-5, 1e-9
"""Machines differ in the last bits, and conditioning makes more of them."""
SHORT = [case for case in CASES if case.quick == TESTS]
REFERENCE: dict[str, Any] = {
    name: kept
    for file in sorted(frozen.REFERENCE.glob("*.json"))
    for name, kept in json.loads(file.read_text(encoding="utf-8")).items()
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> frozen.Bench:
    """One folder and one process for all cases; each runs once, when it is asked for."""
    return frozen.Bench(tmp_path_factory.mktemp("frozen"))


@pytest.mark.parametrize("case", SHORT, ids=[case.name for case in SHORT])
def test_a_command_answers_as_before(case: frozen.Case, bench: frozen.Bench) -> None:
    found = frozen.answer(case, bench.outcome(case))
    changed = list(frozen.differences(REFERENCE[case.name], found, RELATIVE, ABSOLUTE))
    assert not changed, "\n".join(map(str, changed[: frozen.SHOWN]))


def test_the_reference_holds_the_short_cases_and_no_others() -> None:
    assert set(REFERENCE) == {case.name for case in SHORT}


def test_every_command_is_among_all_cases() -> None:
    assert set(COMMANDS) <= {case.command for case in CASES}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": 1.0}, {"a": 1.0001}),
        ({"a": 1.0}, {"b": 1.0}),
        ({"a": 1.0}, {"a": 1.0, "b": None}),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}),
        ({"a": True}, {"a": 1}),
        ({"a": None}, {"a": 0.0}),
        ({"a": "2.5 kg of 3"}, {"a": "2.6 kg of 3"}),
        ({"a": "2.5 kg"}, {"a": "2.5 g"}),
        ({"a": "one\ntwo"}, {"a": "one"}),
    ],
)
def test_what_differs_is_found_with_its_place(old: Any, new: Any) -> None:
    found = list(frozen.differences(old, new, RELATIVE, ABSOLUTE))
    assert found
    assert found[0].path[:2] in (".a", ".b")


def test_last_bits_are_a_difference_only_where_it_is_exact() -> None:
    old, new = {"a": 1.0, "b": "at 0.3 m"}, {"a": 1.0 + 2e-16, "b": "at 0.30000000000000004 m"}
    assert len(list(frozen.differences(old, new))) == 2
    assert not list(frozen.differences(old, new, RELATIVE, ABSOLUTE))
