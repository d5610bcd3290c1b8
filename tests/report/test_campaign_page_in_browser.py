"""The page of a campaign in a real browser: silent, drawn, within its width at every size and on paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from report.chromium import Browser, open_quietly
from report.test_campaign_page import HOSTILE, campaign, hostile
from steelyard.report.campaign.content import CampaignContent
from steelyard.report.campaign.page import campaign_page


@pytest.fixture(scope="module")
def content() -> CampaignContent:
    return campaign()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, content: CampaignContent) -> Path:
    file = tmp_path_factory.mktemp("campaign") / "report.html"
    file.write_text(campaign_page(content), encoding="utf-8")
    return file


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (768, False), (420, False), (1400, True)])
def test_the_page_draws_itself_without_complaint_request_or_overflow(
    browser: Browser, page: Path, content: CampaignContent, width: int, dark: bool
) -> None:
    open_quietly(browser, page, width=width, dark=dark)
    curves = browser.value("[...document.querySelectorAll('#plots .curve')].map(c => c.getBBox().width)")
    assert len(curves) == 3 * len(content.joints)
    assert min(curves) > 0.6 * min(width - 100, 900)
    panels = browser.value(
        "[...document.querySelectorAll('#clouds figure svg, #commands svg')].map("
        "v => v.getBoundingClientRect().width)"
    )
    assert len(panels) == 4 + 4
    assert min(panels) > 230


def test_words_in_pictures_stay_readable_and_inside(browser: Browser, page: Path) -> None:
    for width in (1400, 420):
        browser.open(page, width=width)
        sizes = browser.value(
            "[...document.querySelectorAll('#clouds figure text, #commands text')].map(t => "
            "t.getScreenCTM().a * parseFloat(getComputedStyle(t).fontSize))"
        )
        assert len(sizes) > 40
        assert min(sizes) > 8.5
        outside = browser.value(
            "[...document.querySelectorAll('#clouds figure text, #commands text')].filter(t => {"
            "const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();"
            "return a.left < b.left - 1 || a.right > b.right + 1 || "
            "a.top < b.top - 1 || a.bottom > b.bottom + 1"
            "}).map(t => t.textContent)"
        )
        assert outside == []


def test_runs_are_sorted_by_their_heads_and_filtered_by_words(browser: Browser, page: Path) -> None:
    browser.open(page, width=1400)
    seconds = "[...document.querySelectorAll('#runs tbody tr')].map(r => Number(r.lastChild.dataset.key))"
    listed = browser.value(seconds)
    browser.value("document.querySelector('#runs thead th:last-child button').click()")
    assert browser.value(seconds) == sorted(listed)
    browser.value("document.querySelector('#runs thead th:last-child button').click()")
    assert browser.value(seconds) == sorted(listed, reverse=True)
    browser.value(
        "(() => {const f = document.getElementById('parameter-filter'); f.value = 'ag02';"
        "f.dispatchEvent(new Event('input'))})()"
    )
    shown = browser.value("[...document.querySelectorAll('#runs tbody tr')].filter(r => !r.hidden).length")
    assert shown == 4
    assert browser.value("document.getElementById('parameter-count').textContent") == "4 of 160"


def test_hostile_names_neither_run_nor_widen_the_page(
    browser: Browser, tmp_path: Path, content: CampaignContent
) -> None:
    file = tmp_path / "hostile.html"
    file.write_text(campaign_page(hostile(content)), encoding="utf-8")
    for width in (1400, 420):
        browser.open(file, width=width)
        assert browser.complaints == []
        assert browser.requests == [file.as_uri()]
        assert browser.value("document.documentElement.scrollWidth") <= width
    name = browser.value("document.querySelector('#verdict h1 bdi').textContent")
    assert name == HOSTILE.replace("\x1b", "\\x1b")


def test_on_paper_all_but_the_record_of_runs_fits(browser: Browser, page: Path) -> None:
    browser.open(page, width=718)  # A4 within Chromium's own margins
    browser.send("Emulation.setEmulatedMedia", media="print")
    browser.value("dispatchEvent(new Event('beforeprint'))")
    # One line of the record has a dozen columns; browsers make a page smaller to hold it.
    assert browser.value("document.documentElement.scrollWidth") <= 900
    widths = browser.value(
        "[...document.querySelectorAll('table:not(#parameter-table), svg, p, dl')].map(t => "
        "t.getBoundingClientRect().right)"
    )
    assert max(widths) <= 718
    browser.send("Emulation.setEmulatedMedia", media="")
