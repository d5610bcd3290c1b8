"""Parameter clouds against textbook principal components, medians and plain counting."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

from steelyard.arrays import Array
from steelyard.audit.cloud import (
    APART,
    FLOOR,
    ParameterCloud,
    Trend,
    parameter_cloud,
    pooled_scales,
    robust_deviation,
)
from steelyard.errors import InputError, NoSolutionError, ShapeError, UnknownNameError

NAMES = ("ZZ1", "XX2", "MX2", "MY2", "FV1")
UNITS = ("kg m^2", "kg m^2", "kg m", "kg m", "N m s/rad")
SIZES = np.array([1e-3, 2e-3, 0.05, 0.04, 0.3])
TRUTH = np.array([0.01, 0.02, 0.1, -0.2, 0.3])
RUNS = 40
LABELS = tuple(f"P{k:02d} @ 40 ms" for k in range(RUNS))


def answers(spread: float, seed: int, n: int = RUNS) -> Array:
    rng = np.random.default_rng(seed)
    mixing = np.eye(5) + 0.4 * np.random.default_rng(99).standard_normal((5, 5))
    return TRUTH + spread * (rng.standard_normal((n, 5)) @ mixing) * SIZES


def three_stages() -> dict[str, Array]:
    return {"OLS": answers(4.0, 1), "SDP": answers(1.5, 2), "CLIE": answers(1.0, 3)}


def cloud_of(stages: dict[str, Array], **options: object) -> ParameterCloud:
    return parameter_cloud(stages, LABELS, NAMES, UNITS, **options)  # type: ignore[arg-type]


def test_the_basis_is_that_of_the_eigenvectors_of_the_pooled_covariance() -> None:
    stages = three_stages()
    cloud = cloud_of(stages, scales=SIZES, trimmed=False)
    pooled = np.concatenate(list(stages.values())) / SIZES
    variances, vectors = scipy.linalg.eigh(np.cov(pooled.T))
    np.testing.assert_allclose(cloud.explained, variances[::-1] / variances.sum(), atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(cloud.basis.T * vectors[:, ::-1], axis=0)), 1.0, atol=1e-9)
    np.testing.assert_allclose(cloud.centre, pooled.mean(axis=0) * SIZES)
    assert (cloud.basis.max(axis=1) >= -cloud.basis.min(axis=1)).all()


def test_scores_of_all_stages_carry_every_answer_back() -> None:
    stages = three_stages()
    cloud = cloud_of(stages)
    for stage in cloud.stages:
        back = cloud.centre + (stage.scores @ cloud.basis) * cloud.scales
        np.testing.assert_allclose(back, stages[stage.name], atol=1e-12)


def test_fewer_answers_than_parameters_still_span_a_whole_basis() -> None:
    rows = answers(1.0, 1, n=3)
    cloud = parameter_cloud({"OLS": rows}, LABELS[:3], NAMES, UNITS, scales=SIZES)
    np.testing.assert_allclose(cloud.basis @ cloud.basis.T, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(cloud.explained[2:], 0.0, atol=1e-12)
    np.testing.assert_allclose(cloud.centre + (cloud.stages[0].scores @ cloud.basis) * SIZES, rows)


def test_units_do_not_choose_the_axes_but_plain_numbers_do_when_asked() -> None:
    stages = three_stages()
    metres = cloud_of(stages)
    factors = np.array([1e3, 1e3, 1e2, 1e2, 7.0])  # the same answers in other units
    others = cloud_of({name: rows * factors for name, rows in stages.items()})
    for one, other in zip(metres.stages, others.stages, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-8)
        assert one.dispersion == pytest.approx(other.dispersion)
    plain = cloud_of(stages, scales=np.ones(5))
    assert plain.leading(0, 1)[0][0] == "FV1"
    assert plain.explained[0] > 0.9 > metres.explained[0]


def test_distances_are_the_same_in_parameters_and_in_scores() -> None:
    cloud = cloud_of(three_stages())
    for stage in cloud.stages:
        centre = ((stage.centre - cloud.centre) / cloud.scales) @ cloud.basis.T
        np.testing.assert_allclose(stage.distances, np.linalg.norm(stage.scores - centre, axis=1))
        np.testing.assert_array_equal(stage.centre, np.median(stage.values, axis=0))


def test_a_wild_run_is_named_and_has_no_say_in_the_basis() -> None:
    stages = three_stages()
    tame = cloud_of(stages, scales=SIZES, trimmed=False)
    stages["OLS"][7] += 1e4 * SIZES * np.array([0, 0, 1, 0, 0])
    trimmed = cloud_of(stages, scales=SIZES)
    whole = cloud_of(stages, scales=SIZES, trimmed=False)
    assert ("OLS", LABELS[7]) in trimmed.left_out
    assert trimmed.stage("OLS").apart[7]
    assert whole.leading(0, 1)[0][0] == "MX2"
    assert whole.explained[0] > 0.999
    assert abs(trimmed.basis[0] @ tame.basis[0]) > 0.97
    assert np.isfinite(trimmed.stage("OLS").scores[7]).all()
    assert trimmed.stage("OLS").robust_dispersion < 10.0 < trimmed.stage("OLS").dispersion


def test_apart_are_those_whose_distance_stands_out_by_the_stated_rule() -> None:
    stages = three_stages()
    stages["CLIE"][3] += 12.0 * SIZES
    stage = cloud_of(stages).stage("CLIE")
    d = stage.distances
    rule = np.median(d) + APART * scipy.stats.median_abs_deviation(d, scale="normal")
    assert stage.threshold == pytest.approx(rule, rel=1e-9)
    np.testing.assert_array_equal(stage.apart, d > rule)
    assert stage.apart[3]


def test_dispersion_is_that_of_numpy_and_robust_dispersion_that_of_scipy() -> None:
    stages = three_stages()
    cloud = cloud_of(stages)
    for stage in cloud.stages:
        rows = stages[stage.name]
        sigma, robust = (
            np.sqrt(np.diag(np.cov(rows.T))),
            scipy.stats.median_abs_deviation(rows, scale="normal"),
        )
        np.testing.assert_allclose(stage.deviations, sigma)
        np.testing.assert_allclose(stage.robust_deviations, robust, rtol=1e-9)
        assert stage.mean_deviation == pytest.approx(sigma.mean())
        assert stage.robust_mean_deviation == pytest.approx(robust.mean())
        # In scores all components together scatter as the scaled parameters do.
        total = np.trace(np.cov(stage.scores.T))
        assert stage.dispersion == pytest.approx(np.sqrt(total / 5))
        assert stage.robust_dispersion == pytest.approx(np.sqrt(np.mean((robust / cloud.scales) ** 2)))


def test_runs_without_an_answer_are_left_out_and_stages_compared_over_shared_runs() -> None:
    stages = three_stages()
    wide = np.arange(RUNS) % 2 == 0
    stages["SDP"] = stages["OLS"].copy()
    stages["SDP"][wide] = np.nan
    cloud = cloud_of(stages)
    sdp = cloud.stage("SDP")
    assert sdp.answered.sum() == (~wide).sum()
    assert np.isnan(sdp.scores[wide]).all()
    assert np.isnan(sdp.distances[wide]).all()
    first = cloud.contractions[0]
    assert first.runs == (~wide).sum()
    assert first.ratio == pytest.approx(1.0)
    assert first.trend is Trend.STAYS
    np.testing.assert_allclose(sdp.deviations, stages["OLS"][~wide].std(axis=0, ddof=1))


def test_a_stage_with_fewer_than_two_answers_has_no_spread() -> None:
    stages = {"OLS": answers(1.0, 1), "CLIE": np.full((RUNS, 5), np.nan)}
    stages["CLIE"][3] = TRUTH
    cloud = cloud_of(stages)
    assert np.isnan(cloud.stage("CLIE").dispersion)
    assert np.isnan(cloud.stage("CLIE").robust_mean_deviation)
    assert cloud.contractions[0].trend is Trend.UNKNOWN
    assert not cloud.stage("CLIE").apart.any()
    assert cloud.representative() == LABELS[3]


def test_shrinking_and_growing_are_told_apart_and_wild_runs_make_it_mixed() -> None:
    shrinking = cloud_of(three_stages())
    assert [step.trend for step in shrinking.contractions] == [Trend.SHRINKS, Trend.SHRINKS]
    assert shrinking.contractions[0].mean_ratio == pytest.approx(
        shrinking.stages[1].mean_deviation / shrinking.stages[0].mean_deviation
    )
    growing = cloud_of({"a": answers(1.0, 1), "b": answers(2.0, 1)})
    assert growing.contractions[0].trend is Trend.GROWS
    assert growing.contractions[0].ratio == pytest.approx(2.0)
    wild = {"a": answers(2.0, 1), "b": answers(1.0, 1)}
    wild["b"][0] += 1e3 * SIZES
    assert cloud_of(wild).contractions[0].trend is Trend.MIXED
    still = cloud_of({"a": np.tile(TRUTH, (RUNS, 1)), "b": answers(1.0, 1)})
    assert still.contractions[0].trend is Trend.UNKNOWN


def test_the_representative_is_the_most_central_candidate_and_labels_break_ties() -> None:
    stages = three_stages()
    cloud = cloud_of(stages)
    last = (stages["CLIE"] - np.median(stages["CLIE"], axis=0)) / cloud.scales
    order = np.argsort((last**2).sum(axis=1))
    assert cloud.representative() == LABELS[order[0]]
    some = [LABELS[k] for k in order[10:20]]
    assert cloud.representative(reversed(some)) == some[0]
    assert [label for label, _ in cloud.ranking(some)] == some
    stages["CLIE"][order[0]] = np.nan
    assert cloud_of(stages).representative([LABELS[order[0]], LABELS[5]]) == LABELS[5]
    twins = {"CLIE": np.tile(TRUTH, (RUNS, 1))}
    assert cloud_of(twins).representative([LABELS[9], LABELS[4], LABELS[6]]) == LABELS[4]


def test_scales_are_robust_deviations_within_stages_with_a_floor_in_each_unit() -> None:
    rng = np.random.default_rng(5)
    narrow = TRUTH + rng.standard_normal((4001, 5)) * SIZES
    stages = {"a": narrow, "b": narrow + 100.0}  # a shift between stages is no spread
    units = UNITS
    np.testing.assert_allclose(pooled_scales(stages, units), SIZES, rtol=0.05)
    held = narrow.copy()
    held[:3000, 0] = 3e-4  # most runs hold this parameter at a bound
    scales = pooled_scales({"a": held}, units)
    half = np.median([0.0, robust_deviation(held[:, [1]])[0]])
    assert scales[0] == pytest.approx(FLOOR * half)
    frozen = narrow.copy()
    frozen[:, 4] = 0.3
    assert pooled_scales({"a": frozen}, units)[4] == 1.0
    frozen[:10, 4] = 0.4
    assert pooled_scales({"a": frozen}, units)[4] == pytest.approx(frozen[:, 4].std(ddof=1))


def test_a_minority_of_wild_rows_cannot_carry_the_robust_deviation_away() -> None:
    rows = answers(1.0, 8, n=101)
    wild = rows.copy()
    wild[:45] = 1e9
    assert (robust_deviation(wild) < 20.0 * SIZES).all()


def test_leading_parameters_are_the_largest_weights_in_order() -> None:
    cloud = cloud_of(three_stages())
    weights = dict(zip(NAMES, cloud.basis[1], strict=True))
    led = cloud.leading(1, 3)
    assert [abs(value) for _, value in led] == sorted((abs(w) for w in weights.values()), reverse=True)[:3]
    assert all(weights[name] == value for name, value in led)


def test_arrays_are_read_only() -> None:
    cloud = cloud_of(three_stages())
    for array in (cloud.basis, cloud.scales, cloud.stages[0].values, cloud.stages[0].scores):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_what_is_no_cloud_is_refused_with_its_place() -> None:
    stages = three_stages()
    with pytest.raises(ShapeError, match="OLS"):
        parameter_cloud(stages, LABELS[:-1], NAMES, UNITS)
    with pytest.raises(InputError, match="every run once"):
        parameter_cloud(stages, (LABELS[1], *LABELS[1:]), NAMES, UNITS)
    with pytest.raises(InputError, match="4 units for 5"):
        parameter_cloud(stages, LABELS, NAMES, UNITS[1:])
    with pytest.raises(InputError, match="must be positive"):
        cloud_of(stages, scales=np.array([1.0, 1.0, 0.0, 1.0, 1.0]))
    partly = {"OLS": stages["OLS"].copy()}
    partly["OLS"][4, 2] = np.nan
    with pytest.raises(InputError, match=r"P04 @ 40 ms' has 4 of 5"):
        cloud_of(partly)
    with pytest.raises(InputError, match="fewer than two answers"):
        cloud_of({"OLS": np.full((RUNS, 5), np.nan)})
    with pytest.raises(InputError, match="no stage"):
        cloud_of({})
    with pytest.raises(UnknownNameError, match="SDP"):
        cloud_of(stages).stage("SPD")
    with pytest.raises(UnknownNameError, match="unknown run"):
        cloud_of(stages).representative(["nobody"])
    silent = {"OLS": stages["OLS"], "CLIE": np.full((RUNS, 5), np.nan)}
    with pytest.raises(NoSolutionError, match="no candidate"):
        cloud_of(silent).representative()
