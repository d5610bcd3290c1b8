"""Tables and figures beside a parameter cloud, against the paper's own tables and textbook formulas."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.audit import Status
from steelyard.audit.cloud import (
    PredictionError,
    check_cloud,
    check_prediction_kept,
    largest_changes,
    parameter_cloud,
    prediction_error,
    routing_table,
)
from steelyard.errors import InputError, ShapeError

# Oaki et al. (2026), Table VI: parameter, refined, rescued; kg·m².
TABLE_VI = (
    ("ZZR6", -0.00014, -0.00003),
    ("XXR4", 0.00980, 0.00991),
    ("XXR7", 0.00003, 0.00014),
    ("ZZR3", 0.00163, 0.00172),
    ("ZZR1", 0.01180, 0.01184),
)


def test_the_largest_changes_are_those_of_the_papers_table() -> None:
    names = [name for name, _, _ in TABLE_VI] + ["MX2", "FV1"]
    before = np.array([value for _, value, _ in TABLE_VI] + [0.1, 0.3])
    after = np.array([value for _, _, value in TABLE_VI] + [0.1 + 1e-5, 0.3 - 2e-5])
    shuffled = np.random.default_rng(0).permutation(len(names))
    units = ["kg m^2"] * len(names)
    found = largest_changes(before[shuffled], after[shuffled], [names[k] for k in shuffled], units)
    assert {change.name for change in found} == {name for name, _, _ in TABLE_VI}
    assert [change.name for change in found][3:] == ["ZZR3", "ZZR1"]
    assert found[3].change == pytest.approx(0.00009)
    assert (found[3].before, found[3].after) == (0.00163, 0.00172)


def test_changes_can_be_measured_by_scales() -> None:
    before, after = np.zeros(3), np.array([1.0, -0.5, 0.1])
    names, units = ("a", "b", "c"), ("kg", "kg m", "kg m^2")
    assert [c.name for c in largest_changes(before, after, names, units, 2)] == ["a", "b"]
    scaled = largest_changes(before, after, names, units, 2, scales=np.array([100.0, 1.0, 1e-3]))
    assert [(c.name, c.unit) for c in scaled] == [("c", "kg m^2"), ("b", "kg m")]
    with pytest.raises(InputError, match="2 units for 3"):
        largest_changes(before, after, names, units[1:])
    with pytest.raises(InputError, match="positive"):
        largest_changes(before, after, names, units, scales=np.zeros(3))


def test_routing_counts_every_run_once() -> None:
    rng = np.random.default_rng(2)
    intervals = rng.choice([0.08, 0.01, 0.04], 200).tolist()
    passed = [None if u < 0.1 else bool(u < 0.5) for u in rng.random(200)]
    rows = routing_table(intervals, passed)
    assert [row.interval for row in rows] == [0.01, 0.04, 0.08]
    assert sum(row.total for row in rows) == 200
    for row in rows:
        own = [p for t, p in zip(intervals, passed, strict=True) if t == row.interval]
        assert (row.passed, row.projected, row.unanswered) == tuple(
            sum(p is v for p in own) for v in (True, False, None)
        )
    with pytest.raises(InputError, match="1 outcomes for 2"):
        routing_table([0.01, 0.02], [True])


def test_rmse_and_mne_are_the_formulas_of_the_docstring() -> None:
    rng = np.random.default_rng(4)
    tau, tau_hat = rng.standard_normal((2, 300, 3)) * np.array([5.0, 1.0, 0.1])
    found = prediction_error(tau, tau_hat)
    assert found.rmse == pytest.approx(np.sqrt(np.mean((tau - tau_hat) ** 2)))
    shares = [abs(tau[:, j] - tau_hat[:, j]).mean() / abs(tau[:, j]).max() for j in range(3)]
    assert found.mne == pytest.approx(sum(shares) / 3)
    scaled = prediction_error(10.0 * tau, 10.0 * tau_hat)
    assert scaled.mne == pytest.approx(found.mne)
    assert scaled.rmse == pytest.approx(10.0 * found.rmse)


def test_a_joint_without_torque_is_no_division_by_zero() -> None:
    tau = np.zeros((4, 2))
    tau[:, 0] = [1.0, -1.0, 1.0, -1.0]
    assert prediction_error(tau, tau).mne == 0.0
    assert prediction_error(tau, tau + 0.1).mne == np.inf
    with pytest.raises(ShapeError, match="predicted"):
        prediction_error(tau, tau[:, :1])


def errors(rmse: float) -> dict[str, PredictionError]:
    return {name: PredictionError(np.array([rmse]), np.array([0.1])) for name in ("V01", "V02")}


def test_the_accepted_model_may_lose_one_percent_and_no_more() -> None:
    for final, status in ((0.1, Status.PASS), (0.1009, Status.PASS), (0.1011, Status.FAIL)):
        check = check_prediction_kept(errors(0.1), errors(final))
        assert check.status is status
        assert "N·m" in check.message
    assert check_prediction_kept({}, {}).status is Status.NOT_RUN
    assert check_prediction_kept(errors(0.0), errors(0.0)).status is Status.PASS
    with pytest.raises(InputError, match="motions differ"):
        check_prediction_kept(errors(0.1), {})


def test_a_cloud_passes_where_it_shrinks_and_does_not_grow_after() -> None:
    rng = np.random.default_rng(6)
    shape = rng.standard_normal((50, 3))

    def outcome(*spreads: float, wild: float = 0.0) -> Status:
        stages = {f"s{k}": spread * shape for k, spread in enumerate(spreads)}
        if wild:
            last = f"s{len(spreads) - 1}"
            stages[last] = stages[last].copy()
            stages[last][0] = wild
        labels = [f"r{k}" for k in range(50)]
        return check_cloud(parameter_cloud(stages, labels, ("a", "b", "c"), ("kg",) * 3)).status

    assert outcome(3.0, 1.0, 1.0) is Status.PASS
    assert outcome(3.0, 1.0, 1.01) is Status.PASS
    assert outcome(3.0, 1.0, 1.1) is Status.FAIL
    assert outcome(1.0, 1.0) is Status.FAIL
    assert outcome(3.0, 1.0, wild=1e4) is Status.WARN
    assert outcome(1.0) is Status.NOT_RUN
