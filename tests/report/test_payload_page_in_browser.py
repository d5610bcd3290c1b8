"""The page of a payload in a real browser: silent, drawn, within its width at every size and on paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from report.chromium import Browser, open_quietly
from report.test_payload_page import hostile, weighed
from report.test_report_page import HOSTILE
from steelyard.report.payload.content import PayloadContent
from steelyard.report.payload.page import payload_page


@pytest.fixture(scope="module")
def content() -> PayloadContent:
    return weighed()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, content: PayloadContent) -> Path:
    file = tmp_path_factory.mktemp("payload") / "report.html"
    file.write_text(payload_page(content), encoding="utf-8")
    return file


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (768, False), (390, False), (1280, True)])
def test_the_page_draws_itself_without_complaint_request_or_overflow(
    browser: Browser, page: Path, content: PayloadContent, width: int, dark: bool
) -> None:
    open_quietly(browser, page, width=width, dark=dark)
    curves = browser.value("[...document.querySelectorAll('#plots .curve')].map(c => c.getBBox().width)")
    assert len(curves) == 3 * len(content.joints)
    assert min(curves) > 0.6 * min(width - 100, 900)
    views = browser.value(
        "[...document.querySelectorAll('#payload svg')].map(v => [v.getBoundingClientRect().width, "
        "v.querySelector('.ellipsoid.estimated .body').getBoundingClientRect().width])"
    )
    assert len(views) == 3
    assert all(across > 250 and solid > 0.2 * across for across, solid in views)
    assert browser.value("document.querySelectorAll('#arm-view .ellipsoid.estimated').length") == 1


def test_numbers_stay_in_one_piece_on_a_telephone(browser: Browser, page: Path) -> None:
    browser.open(page, width=390)
    heights = browser.value(
        "[...document.querySelectorAll('#payload td span, #guaranteed td span, #gains td span')]"
        ".map(cell => cell.getBoundingClientRect().height)"
    )
    assert len(heights) > 80
    assert max(heights) < 1.5 * min(heights)


def test_hostile_names_neither_run_nor_widen_the_page(
    browser: Browser, tmp_path: Path, content: PayloadContent
) -> None:
    file = tmp_path / "hostile.html"
    file.write_text(payload_page(hostile(content)), encoding="utf-8")
    for width in (1280, 390):
        browser.open(file, width=width)
        assert browser.complaints == []
        assert browser.requests == [file.as_uri()]
        assert browser.value("document.documentElement.scrollWidth") <= width
    name = browser.value("document.querySelector('#verdict .eyebrow bdi').textContent")
    assert name == HOSTILE.replace("\x1b", "\\x1b")


def test_on_paper_it_fits(browser: Browser, page: Path) -> None:
    browser.open(page, width=718)  # A4 within Chromium's own margins
    browser.send("Emulation.setEmulatedMedia", media="print")
    browser.value("dispatchEvent(new Event('beforeprint'))")
    assert browser.value("document.documentElement.scrollWidth") <= 718
    browser.send("Emulation.setEmulatedMedia", media="")
