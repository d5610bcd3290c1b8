"""Parts of a report: numbers, thinned curves, text from hostile files, classes of parameters."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.audit import torque_error
from steelyard.errors import InputError, ShapeError, UnknownNameError
from steelyard.identifiable import Class, structural_identifiability
from steelyard.problem import Estimate
from steelyard.recording import Recording
from steelyard.report import ReportContent, TorqueTrace, draw_arm, identification_content_of, report_page
from steelyard.report.content import combinations, parameter_lines
from steelyard.report.html import aligned_numerals, as_script_data, marked_up, numeral, percent, visible_text
from steelyard.report.page import thinned
from steelyard.robot import Robot


@given(st.integers(0, 2**31), st.integers(2, 3000), st.integers(14, 400))
def test_thinning_keeps_the_extremes_of_every_line_the_ends_and_the_budget(
    seed: int, n: int, most: int
) -> None:
    signals = np.random.default_rng(seed).normal(size=(n, 3))
    kept = thinned(signals, most)
    assert len(kept) <= most
    assert (np.diff(kept) > 0).all()
    assert kept[0] == 0
    assert kept[-1] == n - 1
    assert signals[kept].min(axis=0) == pytest.approx(signals.min(axis=0), abs=0)
    assert signals[kept].max(axis=0) == pytest.approx(signals.max(axis=0), abs=0)


def test_thinning_keeps_a_spike_of_one_sample_wherever_it_stands() -> None:
    for place in range(0, 10_000, 487):
        signals = np.zeros((10_000, 2))
        signals[place, 1] = -1.0
        assert place in thinned(signals, 100)


def test_a_budget_too_small_for_the_extremes_is_refused() -> None:
    with pytest.raises(InputError, match="cannot hold the extremes"):
        thinned(np.zeros((100, 3)), 13)


@given(st.floats(-1e9, 1e9), st.floats(1e-12, 1e6))
def test_a_number_is_rounded_by_less_than_a_tenth_of_its_half_width(value: float, half: float) -> None:
    text = numeral(value, half)
    assert "-" not in text
    if "e" not in text:
        assert abs(float(text.replace("−", "-")) - value) <= 0.05 * half * (1 + 1e-6) + 0.5 * (half >= 10)


def test_numbers_say_what_is_missing_and_what_is_unbounded() -> None:
    assert numeral(None) == numeral(math.nan) == "–"
    assert numeral(math.inf) == "∞"
    assert numeral(-math.inf) == "−∞"
    assert numeral(-1e-9, 0.01) == "0.000"
    assert percent(math.inf) == "∞"


def test_decimal_points_stand_below_each_other() -> None:
    texts = aligned_numerals(["1.5", "−12", "0.0125", "∞", "3.2e−9"])
    plain = [text for text in texts if "e" not in text and "∞" not in text]
    tails = {
        len(text) - (text.find(".") if "." in text else len(text.rstrip("\u2007\u2008"))) for text in plain
    }
    assert len(tails) == 1


@given(st.text())
def test_no_text_can_end_a_script_open_an_element_or_steer_a_terminal(text: str) -> None:
    document = as_script_data({"name": visible_text(text)})
    assert not set("<>&\u2028\u2029") & set(document)
    assert json.loads(document)["name"] == visible_text(text)
    assert not set('<>"') & set(marked_up(text))
    assert not re.search("[\x00-\x1f\x7f-\x9f]", visible_text(text))
    assert visible_text(text).encode().decode() == visible_text(text)


def test_turned_text_and_escape_sequences_are_spelled_out() -> None:
    assert visible_text("a\u202eb\x1b[31m\nc\ud800") == "a\\u202eb\\x1b[31m c\\ud800"
    assert visible_text("Achse Übergröße 肩") == "Achse Übergröße 肩"


def test_classes_are_those_of_structural_identifiability(robot: Robot, estimate: Estimate) -> None:
    expected = structural_identifiability(robot, estimate.layout).classes
    assert tuple(line.kind for line in parameter_lines(estimate)) == expected


def test_a_fixed_parameter_has_its_value_and_no_class(estimate: Estimate) -> None:
    layout = estimate.layout.fixing({"panda_link7.m": 0.7})
    line = parameter_lines(replace(estimate, layout=layout))[layout.index("panda_link7.m")]
    assert line.kind is None
    assert line.value == 0.7


def test_only_what_torques_tell_alone_has_a_finite_interval(estimate: Estimate) -> None:
    b = estimate.base.count
    variances = np.arange(1.0, b + 1)
    sure = replace(estimate, covariance=np.diag(variances))
    for line in parameter_lines(sure):
        assert math.isfinite(line.half_width) == (line.kind is Class.ALONE)
        assert (line.value is not None) == (line.kind is Class.ALONE)
    halves = [line.half_width for line in combinations(sure)]
    # 95 % of a normal distribution lies within 1.96 deviations: erf(1.96/√2) = 0.95.
    assert [math.erf(h / math.sqrt(2 * v)) for h, v in zip(halves, variances, strict=True)] == pytest.approx(
        [0.95] * b, abs=1e-12
    )


def test_a_formula_summed_up_is_the_base_parameter(estimate: Estimate) -> None:
    phi = np.random.default_rng(0).normal(size=estimate.layout.size)
    by_name = dict(zip(estimate.layout.names, phi, strict=True))
    summed = [sum(k * by_name[name] for name, k in line.terms) for line in combinations(estimate)]
    assert summed == pytest.approx(list(estimate.base.matrix @ phi), rel=1e-12)


def test_an_impossible_link_is_drawn_without_ellipsoid_and_says_why(robot: Robot, estimate: Estimate) -> None:
    phi = estimate.layout.complete_nominal()
    phi[estimate.layout.index("panda_link3.Izz")] = -1.0
    arm = draw_arm(robot, estimate.layout, np.zeros((1, 7)), parameters=phi)
    drawn = {link.name: link.estimated for link in arm.links}["panda_link3"]
    assert drawn is not None
    assert drawn.ellipsoid is None
    assert "impossible" in drawn.reason
    others = [link.estimated for link in arm.links if link.name not in ("panda_link0", "panda_link3")]
    assert all(other is not None and other.ellipsoid is not None for other in others)


def test_held_out_motions_come_first_and_unknown_names_are_refused(
    robot: Robot, estimate: Estimate, recordings: dict[str, Recording], content: ReportContent
) -> None:
    assert [(trace.name, trace.held_out) for trace in content.traces] == [("holdout", True), ("train", False)]
    with pytest.raises(UnknownNameError, match="holdout"):
        identification_content_of(robot, estimate, content.verdict, recordings, held_out=["hold-out"])


def test_wrong_shapes_and_counts_are_named(content: ReportContent) -> None:
    with pytest.raises(ShapeError, match="predicted"):
        TorqueTrace("log", True, np.arange(3.0), np.zeros((3, 2)), np.zeros((3, 1)))
    with pytest.raises(InputError, match="must increase"):
        TorqueTrace("log", True, np.zeros(3), np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(InputError, match="units"):
        replace(content, units=("N·m",))


def test_the_opening_says_what_links_cost_on_the_motion_held_out(
    robot: Robot, estimate: Estimate, recordings: dict[str, Recording], content: ReportContent
) -> None:
    assert "no links need to have" not in report_page(content)  # the estimate has no links
    heavier = 1.2 * estimate.layout.complete_nominal()
    linked = replace(estimate, parameters=heavier)
    shown = identification_content_of(robot, linked, content.verdict, recordings, held_out=["holdout"])
    trace = next(trace for trace in shown.traces if trace.held_out)
    # The combinations are fitted; links a fifth too heavy are not.
    assert trace.without_links is not None
    assert trace.without_links.overall < 0.2 * torque_error(trace.measured, trace.predicted).overall
    page = " ".join(report_page(shown).split())
    assert page.count("of it by combinations that no links need to have, <bdi>holdout</bdi>") == 1
