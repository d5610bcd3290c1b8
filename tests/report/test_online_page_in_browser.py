"""The page of a learning robot in a real browser: silent, drawn, one instant everywhere, fit for paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from report.chromium import Browser, open_quietly, scrub
from report.test_online_page import EFFORT, RADIUS, hostile, run
from steelyard.report.online.content import OnlineContent, tool_tube
from steelyard.report.online.page import online_page


@pytest.fixture(scope="module")
def content() -> OnlineContent:
    return run()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, content: OnlineContent) -> Path:
    file = tmp_path_factory.mktemp("online") / "run.html"
    file.write_text(online_page(content), encoding="utf-8")
    return file


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (768, True), (390, False)])
def test_the_page_draws_itself_without_complaint_request_or_overflow(
    browser: Browser, page: Path, content: OnlineContent, width: int, dark: bool
) -> None:
    open_quietly(browser, page, width=width, dark=dark)
    curves = browser.value("[...document.querySelectorAll('.curve')].map(c => c.getBBox().width)")
    # Five of each joint, ten true numbers, the tracking error and the smallest distance.
    assert len(curves) == 5 * len(content.head.robot.joints) + 10 + 2
    assert min(curves) > 150
    bands = browser.value(
        "[...document.querySelectorAll('#bounds-plots .proven')].map(b => b.getBBox().height)"
    )
    assert len(bands) == 10
    assert min(bands) > 50
    assert browser.value("document.querySelectorAll('#motion-view .joint').length") == 7
    assert browser.value("document.querySelectorAll('#motion-view .outline.scene').length") == 4


def test_bars_bounds_lens_and_words_show_the_same_instant(
    browser: Browser, page: Path, content: OnlineContent
) -> None:
    browser.open(page, width=1280)
    for time in (0.64, 3.2):
        scrub(browser, time)
        n = round(500 * time)
        shares = np.array([content.r_norm[n] / RADIUS, *np.abs(content.tau[n]) / EFFORT])
        bars = browser.value(
            "[...document.querySelectorAll('.gauge .part')].map(b => +b.getAttribute('width'))"
        )
        assert bars == pytest.approx(100.0 * shares, abs=0.5)
        peaks = browser.value("[...document.querySelectorAll('.gauge .peak')].map(p => p.getBBox().x)")
        most = [content.r_norm.max() / RADIUS, *(np.abs(content.tau) / EFFORT).max(axis=0)]
        assert peaks == pytest.approx(100.0 * np.array(most), abs=0.01)
        known = max((k for k in content.knowledge if k.time <= time), key=lambda k: k.time)
        read = browser.value(
            "[...document.querySelectorAll('#bounds-plots .reading')]"
            ".map(r => r.textContent.replaceAll('−', '-'))"
        )
        for k, text in enumerate(read):
            low, _, high, _ = text.split(" ")
            width = known.box.upper[k] - known.box.lower[k]
            assert 0.0 <= known.box.lower[k] - float(low) < 0.11 * width
            assert 0.0 <= float(high) - known.box.upper[k] < 0.11 * width
        assert f"plan {1 + int(time // 1.5)}," in browser.value(
            "document.getElementById('doing').textContent"
        )
        # The lens looks along the view: two directions of the screen, turned by 0.9 and tilted by 0.42 rad.
        tube = tool_tube(content.head.robot, content.q[n][None], content.q_ref[n][None], 3.2e-3)
        right = np.array([np.cos(-0.9), -np.sin(-0.9), 0.0])
        up = np.array([np.sin(0.42) * np.sin(-0.9), np.sin(0.42) * np.cos(-0.9), np.cos(0.42)])
        seen = browser.value(
            "(() => {const [e, t] = ['edge', 'tip'].map(c => document.querySelector(`.lens .${c}`));"
            "const a = (n, x) => +n.getAttribute(x);"
            "return [a(t, 'cx') - a(e, 'cx'), a(t, 'cy') - a(e, 'cy'), a(e, 'r')]})()"
        )
        offset = tube.offset[0] / tube.radius[0]
        assert [seen[0] / seen[2], -seen[1] / seen[2]] == pytest.approx(
            [offset @ right, offset @ up], abs=0.01
        )
    assert browser.complaints == []


def test_space_plays_and_a_click_on_a_bound_chooses_its_time(browser: Browser, page: Path) -> None:
    browser.open(page, width=1280)
    browser.value("document.getElementById('motion-view').focus()")
    browser.press(" ")
    browser.value("new Promise(done => setTimeout(done, 400))")
    browser.press(" ")
    assert float(browser.value("document.getElementById('moment').value")) > 0.02
    left, wide, y = browser.value(
        "(() => {const p = document.querySelector('#bounds-plots .plot');"
        "p.scrollIntoView({block: 'center'});"
        "const b = p.getBoundingClientRect(); return [b.left + 58, b.width - 68, b.top + 60]})()"
    )
    point = (left + 0.5 * wide, y)
    browser.drag(point, point)
    assert float(browser.value("document.getElementById('moment').value")) == pytest.approx(3.0, abs=0.05)
    assert browser.complaints == []


def test_numbers_of_which_nobody_knows_the_truth_have_bounds_and_no_curve(
    browser: Browser, tmp_path: Path, content: OnlineContent
) -> None:
    blind = replace(content, head=replace(content.head, truth=None, clearance=None))
    file = tmp_path / "blind.html"
    file.write_text(online_page(blind), encoding="utf-8")
    browser.open(file, width=1280)
    assert browser.complaints == []
    assert browser.value("document.querySelectorAll('#bounds-plots .curve').length") == 0
    starts = browser.value(
        "[...document.querySelectorAll('#bounds-plots svg')].map(s => "
        "(s.querySelector('.proven').getBBox().x - 58) / (s.viewBox.baseVal.width - 68))"
    )
    assert starts == pytest.approx([0.0] * 10, abs=0.005)


def test_hostile_names_neither_run_nor_widen_the_page(
    browser: Browser, tmp_path: Path, content: OnlineContent
) -> None:
    file = tmp_path / "hostile.html"
    file.write_text(online_page(hostile(content)), encoding="utf-8")
    for width in (1280, 390):
        browser.open(file, width=width)
        assert browser.complaints == []
        assert browser.requests == [file.as_uri()]
        assert browser.value("document.documentElement.scrollWidth") <= width


def test_on_paper_it_fits(browser: Browser, page: Path) -> None:
    browser.open(page, width=718)  # A4 within Chromium's own margins
    browser.send("Emulation.setEmulatedMedia", media="print")
    browser.value("dispatchEvent(new Event('beforeprint'))")
    assert browser.value("document.documentElement.scrollWidth") <= 718
    assert browser.value("getComputedStyle(document.getElementById('player')).display") == "none"
    browser.send("Emulation.setEmulatedMedia", media="")
