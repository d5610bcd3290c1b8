"""The page of a sensitivity study: complete, self-contained, the same every time, safe with hostile names."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from oracles.page_reader import PageReader
from steelyard.inertia import PARAMETER_NAMES
from steelyard.payloads import ErrorCell, MotionSpread, Noise, SensitivityTable
from steelyard.payloads.sensitivity import RunningMass
from steelyard.report.sensitivity import condition_figure, error_figure, mass_figure, sensitivity_page

HOSTILE = "</script><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)>\"'"
LOUD, QUIET = Noise(0.01, 0.02, 0.3), Noise(torque=0.1)


@pytest.fixture
def table() -> SensitivityTable:
    rng = np.random.default_rng(0)
    cells = tuple(
        ErrorCell(kind, noise, name, 1e-3 * rng.standard_normal((5, 10)))
        for kind in ("sinusoid", "pick-and-place")
        for noise in (LOUD, QUIET)
        for name in ("none", "prepared")
    )
    cells = (replace(cells[0], errors=np.empty((0, 10)), refused=5, reason="nothing moves <b>."), *cells[1:])
    running = RunningMass("sinusoid", QUIET, np.array([10, 100, 400]), np.array([[0.1, 0.5, 0.36]]))
    spreads = tuple(
        MotionSpread(kind, QUIET, np.full(3, 4.0), conditions, 1e-4 * rng.standard_normal((3, 10)))
        for kind, conditions in (
            ("sinusoid", np.array([8.0, 9.0, 11.5])),
            ("pick-and-place", np.array([90.0, 2e3, np.inf])),
        )
    )
    truth = np.array([0.37, 0, 0, 0, 3.17e-4, 0, 4.2e-4, 0, 0, 5.33e-4])
    return SensitivityTable("tool0", truth, 200.0, 5, cells, (running,), spreads)


def heights(picture: str, element: str) -> list[float]:
    return [float(y) for y in re.findall(rf"<{element} transform=\"translate\(\S+ (\S+)\)\"", picture)]


def test_the_page_is_well_formed_and_says_everything(table: SensitivityTable) -> None:
    reader = PageReader(sensitivity_page(table, robot="panda", seed=7, version="1.2"))
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {(a["href"] or "")[1:] for tag, a in reader.tags if tag == "a"} <= set(ids)
    text = " ".join(" ".join(reader.text).split())
    for word in ("panda", "tool0", "Seed 7", "σ(τ) = 0.3", "σ(v) = 0.02", "5 of 5 trials", "nothing moves"):
        assert word in text
    for word in ("How it is done", "inverse dynamics", "off by 0.010", "do not show all ten numbers"):
        assert word in text
    pictures = [attrs for tag, attrs in reader.tags if tag == "svg"]
    assert len(pictures) == 4 + 1 + 2
    assert all(attrs.get("aria-label") for attrs in pictures)


def test_the_page_fetches_nothing_and_names_do_nothing(table: SensitivityTable) -> None:
    hostile = replace(table, frame=HOSTILE, cells=(replace(table.cells[0], reason=HOSTILE), *table.cells[1:]))
    page = sensitivity_page(hostile, robot=HOSTILE, seed=0)
    reader = PageReader(page)
    assert not [tag for tag, _ in reader.tags if tag in ("img", "link", "iframe")]
    assert sum(tag == "script" for tag, _ in reader.tags) == 2
    assert not [
        name for _, attrs in reader.tags for name in attrs if name.startswith("on") or name == "style"
    ]
    assert "default-src 'none'" in page


def test_the_same_study_gives_the_same_page(table: SensitivityTable) -> None:
    assert sensitivity_page(table, robot="a", seed=0) == sensitivity_page(table, robot="a", seed=0)
    assert sensitivity_page(table, robot="a", seed=0) != sensitivity_page(table, robot="b", seed=0)


def test_a_decade_is_as_high_everywhere_and_what_has_no_logarithm_is_left_out() -> None:
    values = np.array([1e-5, 1e-4, 1e-2, np.nan, 0.0, *(5 * [1e-3])])
    y = heights(error_figure({"none": values}, PARAMETER_NAMES, "title", "SI"), "path")[
        1:
    ]  # after the legend
    assert len(y) == 8
    assert y[0] - y[1] == pytest.approx((y[1] - y[2]) / 2.0, abs=0.2)
    assert y[2] < y[3] < y[1]


def test_masses_far_off_stay_in_the_picture_and_the_truth_in_its_middle() -> None:
    picture = mass_figure(np.array([10, 100, 1000]), np.array([[-5.0, 1.0, 9.0]]), 1.0, "title")
    points = re.findall(r'points="([^"]+)"', picture)[0].split()
    (_, low), (x, middle), (_, high) = (tuple(map(float, point.split(","))) for point in points)
    assert middle == pytest.approx(0.5 * (low + high), abs=0.1)
    assert 0.0 < high < low < 220.0
    first, last = (float(points[k].split(",")[0]) for k in (0, 2))
    assert x == pytest.approx(0.5 * (first + last), abs=0.2)


def test_an_infinite_condition_number_stands_at_the_edge() -> None:
    picture = condition_figure({"one": np.array([10.0, 1000.0, np.inf])}, "title")
    x = [float(x) for x in re.findall(r"translate\((\S+) ", picture)]
    assert x[0] < x[1] <= x[2]
    assert x[2] == max(float(a) for a in re.findall(r'class="grid" d="M(\S+) ', picture))
