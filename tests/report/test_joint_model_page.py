"""The page of joint models: complete, self-contained, the same every time, safe with hostile names."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oracles.page_reader import PageReader
from report.chromium import PROGRAM, Browser
from steelyard.control import JointModel
from steelyard.report.joints import (
    JointModelContent,
    JointModelEntry,
    Quantity,
    bode_figure,
    joint_model_page,
    response_figure,
)

HOSTILE = "</script><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)>\"'"
MODEL = JointModel(25.0, 0.15, 0.0015)


def entry(name: str, place: str = "rad", force: str = "N·m") -> JointModelEntry:
    t = np.arange(200) * 0.005
    f = np.geomspace(0.2, 98.0, 60)
    w = 2.0 * math.pi * f
    return JointModelEntry(
        name,
        (
            Quantity("gain K", 25.0, 0.3, f"{place}/s per {force}"),
            Quantity("dead time T_d", 1.5, 0.1, "ms"),
            Quantity("Coulomb friction", None, math.inf, force),
        ),
        (Quantity("K_P", 400.0, math.inf, "1/s²"), Quantity("phase margin", 61.0, math.inf, "°")),
        "the first of 3 experiments",
        t,
        np.sign(np.sin(9.0 * t) + 1e-9),
        3.0 * np.sin(9.0 * t),
        2.9 * np.sin(9.0 * t),
        f"{place}/s",
        force,
        f,
        {"first order": MODEL.sampled_response(w, 1e-3), "ARX of order four": MODEL.frequency_response(w)},
        ("1 of 3 experiments ended early, out of room.",),
    )


@pytest.fixture
def content() -> JointModelContent:
    delay = Quantity("delay", 1.47, 0.12, "ms")
    entries = (entry("shoulder"), entry("lift", "m", "N"))
    return JointModelContent("crane", "Experiments on the simulated robot.", delay, 1e-3, 45.0, entries)


def test_the_page_is_well_formed_and_says_everything(content: JointModelContent) -> None:
    reader = PageReader(joint_model_page(content, version="1.2"))
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {(a["href"] or "")[1:] for tag, a in reader.tags if tag == "a"} <= set(ids)
    text = " ".join(" ".join(reader.text).split())
    for word in ("crane", "1.47 ± 0.12", "shoulder", "lift", "25.00 ± 0.30", "61", "ended early", "poles"):
        assert word in text
    # Joints of two kinds: units that differ stand beside the numbers, others once in the head.
    assert "m/s per N" in text
    assert text.count("1/s²") == 1
    pictures = [attrs for tag, attrs in reader.tags if tag == "svg"]
    assert len(pictures) == 4
    assert all(attrs.get("aria-label") for attrs in pictures)


def test_the_page_fetches_nothing_and_names_do_nothing(content: JointModelContent) -> None:
    hostile = replace(content.entries[0], joint=HOSTILE, experiment=HOSTILE, remarks=(HOSTILE,))
    page = joint_model_page(replace(content, robot=HOSTILE, source=HOSTILE, entries=(hostile,)))
    reader = PageReader(page)
    assert not [tag for tag, _ in reader.tags if tag in ("img", "link", "iframe")]
    assert sum(tag == "script" for tag, _ in reader.tags) == 2
    assert not [n for _, attrs in reader.tags for n in attrs if n.startswith("on") or n == "style"]
    assert "default-src 'none'" in page


def test_the_opening_states_the_least_phase_margin_of_all_joints(content: JointModelContent) -> None:
    tighter = replace(content.entries[1], controller=(Quantity("phase margin", 52.5, math.inf, "°"),))
    page = joint_model_page(replace(content, entries=(content.entries[0], tighter)))
    assert "<dt>least phase margin</dt><dd>52.5°</dd>" in page


def test_the_same_models_give_the_same_page(content: JointModelContent) -> None:
    assert joint_model_page(content) == joint_model_page(content)
    assert joint_model_page(content) != joint_model_page(replace(content, robot="other"))


def test_a_joint_called_like_a_section_or_like_another_joint_takes_nobodys_place(
    content: JointModelContent,
) -> None:
    named = replace(content, entries=(entry("Models"), entry("a  b"), entry("a b")))
    reader = PageReader(joint_model_page(named))
    ids = [attrs["id"] for tag, attrs in reader.tags if tag == "section"]
    assert ids == ["verdict", "models", "controller", "joint-1", "joint-2", "joint-3", "method"]


def curves(picture: str) -> list[np.ndarray]:
    found = re.findall(r'points="([^"]+)"', picture)
    return [np.array([[float(x) for x in point.split(",")] for point in line.split()]) for line in found]


def test_a_lag_falls_by_a_decade_for_each_decade_of_frequency() -> None:
    w = 2.0 * math.pi * np.geomspace(0.2, 98.0, 60)
    one = replace(entry("shoulder"), responses={"lag": JointModel(25.0, 1e3).frequency_response(w)})
    picture = bode_figure(one)
    _, gain, phase = curves(picture)  # after the legend
    grid = sorted({float(y) for y in re.findall(r'class="grid" d="M72 (\S+)H', picture)})
    decade_down = grid[1] - grid[0]
    marks = [float(x) for x in re.findall(r'class="grid" d="M(\S+) 40V', picture)]
    decade_across = marks[1] - marks[0]
    slope = (gain[-1] - gain[0]) / (gain[-1] - gain[0])[0]
    assert slope[1] * decade_across == pytest.approx(decade_down, rel=0.01)
    assert np.ptp(phase[:, 1]) < 1.0


def test_measured_and_predicted_share_one_axis() -> None:
    command, measured, predicted = curves(response_figure(entry("shoulder")))
    middle = 0.5 * (measured[:, 1].max() + measured[:, 1].min())
    assert np.ptp(predicted[:, 1]) / np.ptp(measured[:, 1]) == pytest.approx(2.9 / 3.0, rel=0.01)
    assert middle == pytest.approx(230.0, abs=1.0)
    assert command[:, 1].max() < measured[:, 1].min()


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here")
def test_a_browser_shows_it_without_complaint(content: JointModelContent, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(joint_model_page(content), encoding="utf-8")
    with Browser() as browser:
        for width, dark in ((1200, False), (420, True)):
            browser.open(file, width=width, dark=dark)
            assert not browser.complaints
            assert browser.requests == [file.as_uri()]
            assert browser.value("document.documentElement.scrollWidth") <= width
            assert browser.value("document.querySelectorAll('svg polyline').length") >= 10
