"""No payload explains the data: which rows contradict each other, and by how much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize

from steelyard.cones import LinearSeries
from steelyard.errors import NoSolutionError, SolverError
from steelyard.uncertainty.guaranteed import (
    ContradictionError,
    contradiction_of,
    error_growth,
    guaranteed_bounds,
)
from steelyard.uncertainty.payload_polytope import BoundedRows, PayloadBox, Place

from .payload_logs import run_of, with_errors
from .test_guaranteed import random_rows

PRIOR = PayloadBox.in_ball(4.0, 0.3)


def growth_by_linprog(rows: BoundedRows, prior: PayloadBox) -> float:
    """The smallest factor of all errors."""
    W, b = np.hstack([rows.load, rows.robot]), rows.error[:, None]
    G = np.hstack([prior.conditions, np.zeros((len(prior.limits), rows.robot.shape[1] + 1))])
    box = [*zip(prior.lower, prior.upper, strict=True), *zip(-rows.spread, rows.spread, strict=True)]
    found = scipy.optimize.linprog(
        np.eye(W.shape[1] + 1)[-1],
        np.vstack([np.hstack([W, -b]), np.hstack([-W, -b]), G]),
        np.concatenate([rows.target, -rows.target, prior.limits]),
        bounds=[*box, (0.0, None)],
        method="highs-ipm",
    )
    return float(found.fun)


def spoiled(seed: int, row: int, by: float) -> BoundedRows:
    rows, _ = random_rows(seed)
    target = rows.target.copy()
    target[row] += by
    return replace(rows, target=target)


def test_a_spoiled_row_is_among_those_named_strongest_first() -> None:
    rows = spoiled(0, 17, 5.0)
    with pytest.raises(ContradictionError) as caught:
        guaranteed_bounds(rows, PRIOR)
    error = caught.value
    assert 17 in error.rows
    assert error.places == tuple(rows.places[int(k)] for k in error.rows)
    assert str(error.places[0]) in str(error)
    assert error.shares.sum() == pytest.approx(1.0, abs=1e-5)
    assert (np.diff(error.shares) <= 0.0).all()
    assert isinstance(error, NoSolutionError)


@pytest.mark.parametrize("possible", [False, True])
@pytest.mark.parametrize("by", [0.5, 5.0])
def test_the_growth_is_the_smallest_that_helps(by: float, possible: bool) -> None:
    rows = spoiled(1, 30, by)
    growth = error_growth(rows, PRIOR, possible=possible)
    assert growth.proven <= growth.factor * (1.0 + 1e-6)
    assert growth.proven > 1.0
    if not possible:
        assert growth.factor == pytest.approx(growth_by_linprog(rows, PRIOR), rel=1e-6)
    enough = replace(rows, error=growth.factor * (1.0 + 1e-5) * rows.error)
    assert guaranteed_bounds(enough, PRIOR, possible=possible).rows == rows.count
    with pytest.raises(ContradictionError) as caught:
        guaranteed_bounds(replace(rows, error=growth.proven / 1.01 * rows.error), PRIOR, possible=possible)
    assert caught.value.growth == pytest.approx(1.01, rel=1e-4)


def test_good_data_needs_less_than_its_stated_errors() -> None:
    rows, _ = random_rows(2)
    growth = error_growth(rows, PRIOR)
    assert growth.factor < 1.0
    assert growth.factor == pytest.approx(growth_by_linprog(rows, PRIOR), abs=1e-7)
    # Where the set is not empty there is no contradiction to state.
    assert isinstance(contradiction_of(rows, PRIOR), SolverError)


def test_the_rows_that_are_named_contradict_each_other_alone() -> None:
    rows = spoiled(3, 8, 3.0)
    with pytest.raises(ContradictionError) as caught:
        guaranteed_bounds(rows, PRIOR)
    named = rows.chosen(caught.value.rows)
    assert growth_by_linprog(named, PRIOR) == pytest.approx(caught.value.growth, rel=1e-4)


def test_a_body_that_cannot_exist_is_an_alarm_only_among_those_that_can() -> None:
    """Ixx larger than Iyy + Izz: fine for a polytope, impossible for a body."""
    ten = np.array([1.0, 0.0, 0.0, 0.0, 0.03, 0.0, 0.01, 0.0, 0.0, 0.01])
    places = tuple(Place("j", float(k), k + 1.0) for k in range(10))
    scale = np.array([1.0, *3 * [0.1], *6 * [0.01]])
    rows = BoundedRows(
        np.diag(1.0 / scale), np.zeros((10, 1)), ten / scale, np.full(10, 0.1), np.ones(1), places
    )
    assert guaranteed_bounds(rows, PRIOR).contains(ten)
    with pytest.raises(ContradictionError) as caught:
        guaranteed_bounds(rows, PRIOR, possible=True)
    # s errors of 0.1 on each of the three moments close a gap of 1: s = 1 / 0.3.
    assert caught.value.growth == pytest.approx(1.0 / 0.3, rel=1e-4)
    assert {int(k) for k in caught.value.rows[:3]} == {4, 6, 9}


def test_exact_rows_that_disagree_cannot_be_mended_by_growth() -> None:
    rows, _ = random_rows(4)
    error = rows.error.copy()
    error[[3, 4]] = 0.0
    both = replace(rows, error=error, load=rows.load.copy(), target=rows.target.copy())
    load, robot, target = both.load.copy(), both.robot.copy(), both.target.copy()
    load[4], robot[4], target[4] = load[3], robot[3], target[3] + 1.0
    with pytest.raises(ContradictionError, match="more than 10000") as caught:
        guaranteed_bounds(replace(both, load=load, robot=robot, target=target), PRIOR)
    assert {3, 4} <= {int(k) for k in caught.value.rows}


def test_a_solver_that_gives_up_hides_no_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS was seen to stop undecided at an empty set; the growth of the errors decides then."""
    plain, failures = LinearSeries.minimise, iter([True, False])

    def once(self: LinearSeries, objective: object) -> object:
        if next(failures, False):
            raise SolverError("gave up")
        return plain(self, objective)  # type: ignore[arg-type]

    good, bad = random_rows(0)[0], spoiled(0, 17, 5.0)
    monkeypatch.setattr(LinearSeries, "minimise", once)
    assert guaranteed_bounds(good, PRIOR).rows == good.count

    def never(self: LinearSeries, objective: np.ndarray) -> object:
        if self.program.variables < 20 and not objective[-1]:
            raise SolverError("gave up")
        return plain(self, objective)

    monkeypatch.setattr(LinearSeries, "minimise", never)
    with pytest.raises(ContradictionError):
        guaranteed_bounds(bad, PRIOR)
    with pytest.raises(SolverError, match="yet no contradiction could be shown"):
        guaranteed_bounds(good, PRIOR)


@pytest.mark.parametrize("name", ["kinova_gen3", "panda"])
def test_a_torque_sensor_that_jumps_is_caught_where_it_jumps(name: str) -> None:
    run = run_of(name, 2)
    log = with_errors(run, "uniform", np.random.default_rng(0))
    guaranteed_bounds(run.rows(log), run.prior)
    tau = log.channels["tau"].copy()
    tau[600:700, 1] += 40.0
    with pytest.raises(ContradictionError) as caught:
        guaranteed_bounds(run.rows(log.with_channels(tau=tau)), run.prior)
    joint = run.robot.joint_names[1]
    assert any(
        place.joint == joint and place.begin < 0.7 and place.end > 0.6 for place in caught.value.places[:3]
    )
