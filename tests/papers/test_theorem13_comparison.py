"""Theorem 13 beside the bounds of a run: wider in its linear form, and it holds the load."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from paper_000.theorem13 import Minimiser, theorem13_of
from paper_000.theorem13_comparison import compared, equations_of, main
from steelyard.errors import InputError
from steelyard.inertia import Body
from steelyard.workflows.safe_learning import SafeLearning

LOAD = Body(1.5, np.array([0.0, 0.01, 0.02]), np.diag([0.0024, 0.0034, 0.0038]))


@cache
def learned() -> SafeLearning:
    # Time enough for a first plan on any machine.
    return sy.online("kinova_gen3_2f85", payload=LOAD, plans=1, budget=2.0, seed=4, tool="none")


def test_the_linear_form_holds_the_load_and_is_nowhere_narrower_than_the_bounds_of_the_run() -> None:
    ours, linear = learned().box, theorem13_of(equations_of(learned().run)).linear
    assert (linear.lower <= ours.lower).all()
    assert (ours.upper <= linear.upper).all()
    assert linear.upper[0] - linear.lower[0] > ours.upper[0] - ours.lower[0]
    assert (linear.lower <= learned().truth).all()
    assert (learned().truth <= linear.upper).all()


def test_the_published_form_says_whether_it_has_its_minimiser_and_why_not() -> None:
    published = theorem13_of(equations_of(learned().run)).log_cholesky
    assert bool(published.reason) is (published.minimiser is not Minimiser.EVERYWHERE)


def test_what_is_printed_of_a_run_that_was_kept_is_what_the_run_itself_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learned().save(tmp_path / "learned")
    assert main(["--run", str(tmp_path / "learned")]) == 0
    rows = equations_of(learned().run)
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{rows.count} equations of ")
    assert lines == list(compared(learned().box, theorem13_of(rows)))
    mass = next(line for line in lines if line.split()[0] == "m")
    assert f"{learned().box.lower[0]:.4g} to {learned().box.upper[0]:.4g}" in mass


def test_a_load_that_is_named_is_driven_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    load = Path(__file__).resolve().parents[2] / "examples" / "load.json"
    words = ["--payload", str(load), "--robot", "one_link", "--plans", "1", "--budget", "3"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "Theorem 13 of Zhang et al. (2025) in its linear form" in out
    assert "log-Cholesky form has" in out


def test_a_run_without_equations_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = learned().run
    empty = replace(run.record.knowledge[-1], rows=0)
    none = replace(run, record=replace(run.record, knowledge=(*run.record.knowledge[:-1], empty)))
    with pytest.raises(InputError, match="has no equations"):
        equations_of(none)
    assert main(["--run", str(tmp_path)]) == 2
    assert capsys.readouterr().err
