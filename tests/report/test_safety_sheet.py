"""The safety sheet: one page of A4, never surer than the bounds, safe with hostile names."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from report.chromium import PROGRAM, Browser
from report.test_report_page import HOSTILE
from steelyard.audit import Check, Status, Verdict
from steelyard.export import ControllerLoad, LoadBounds
from steelyard.inertia import Body
from steelyard.report.payload import safety_sheet
from steelyard.report.payload.sheet import IS_NOT

LONG = (
    "Positions are measured to within 4.712e-07, 5.011e-08, 2.977e-07, 7.609e-07, 2.629e-07, 1.369e-07, "
    "3.704e-07 rad (m), joint by joint."
)
ASSUMED = tuple(f"{letter}: {LONG}" for letter in "ABCDEFGHI")
UNTESTED = tuple(f"{letter}: {LONG}" for letter in "JKLMNOPQR")
BOUNDS = LoadBounds(
    np.array([1.4321, 1.7654321]),
    np.array([[-0.0123456, 0.02, 0.05], [0.0111111, 0.03, 0.0777777]]),
    0.0912345,
    (*ASSUMED, *UNTESTED),
    UNTESTED,
    needed=0.51,
)
LOAD = ControllerLoad(
    "panda",
    Body(1.5, [0.001, 0.025, 0.06], 0.01 * np.eye(3)),
    "tool0",
    "It was named.",
    (1.45, 1.55),
    BOUNDS,
    "warn",
    version="1.2.3",
)
VERDICT = Verdict(
    (
        Check("mass", Status.PASS, "1.5 kg, 95 % between 1.45 and 1.55 kg. And more."),
        Check("guaranteed bounds", Status.WARN, "1.4 to 1.8 kg if all of 18 assumptions hold. More."),
    )
)
INPUTS = {f"run_{k}_with_a_rather_long_name.mcap": f"{k:064x}" for k in range(12)}


def sheet(load: ControllerLoad = LOAD, verdict: Verdict = VERDICT, **more: Any) -> str:
    return safety_sheet(load, verdict, way="residual torques", inputs=INPUTS, **more)


def words(page: str) -> str:
    """What a reader sees, in one line."""
    body = re.sub(r"<(style|script).*?</\1>", "", page[page.index("<main>") :], flags=re.S)
    return " ".join(re.sub(r"<[^>]*>", " ", body).replace("\u202f", " ").replace("\u2212", "-").split())


def test_it_says_mass_centre_assumptions_checks_and_what_it_is_not() -> None:
    seen = words(sheet(caution="No empty run is given."))
    assert "Mass at most 1.766 kg" in seen
    assert "at least 1.432 kg" in seen
    assert "x -12.4 to 11.2 mm y 20.0 to 30.0 mm z 50.0 to 77.8 mm" in seen
    assert "Within 91.3 mm of the origin" in seen
    assert "Frame: the link tool0" in seen
    before, after = seen.split("The data was held against these")
    assert all(sentence in before for sentence in UNTESTED)
    assert all(sentence in after for sentence in ASSUMED)
    assert not any(sentence in before for sentence in ASSUMED)
    assert "nothing is guaranteed. No empty run is given." in seen
    assert "mass , pass: 1.5 kg, 95 % between 1.45 and 1.55 kg." in seen
    assert "guaranteed bounds , warn: the data needs 51 % of the stated errors." in seen
    assert all(sentence in seen for sentence in IS_NOT)
    assert "ISO 10218" in seen
    assert all(f"{name} {digest[:12]}" in seen for name, digest in INPUTS.items())
    assert "Steelyard 1.2.3." in seen


def test_without_bounds_nothing_is_guaranteed_and_a_contradiction_is_said() -> None:
    seen = words(sheet(replace(LOAD, bounds=None)))
    assert "Nothing is guaranteed" in seen
    assert "at most" not in seen
    assert "none was asked for" in seen
    failed = Verdict((Check("guaranteed bounds", Status.FAIL, "Torques contradict each other. More."),))
    seen = words(sheet(replace(LOAD, bounds=None), failed))
    assert "the data contradicts what was stated" in seen
    assert "Do not rely on these numbers" in seen
    assert "Torques contradict each other." in seen


def test_an_end_that_is_not_the_datas_is_said_and_an_open_centre_has_none() -> None:
    open_box = np.array([[-np.inf] * 3, [np.inf] * 3])
    seen = words(sheet(replace(LOAD, bounds=replace(BOUNDS, com=open_box, reach=np.inf, heaviest=True))))
    assert "this is the heaviest that was thought possible" in seen
    assert "Centre of mass No bound." in seen
    assert "of the origin" not in seen


def test_the_same_facts_give_the_same_page_and_hostile_names_do_nothing() -> None:
    hostile = replace(LOAD, robot=HOSTILE, frame=HOSTILE, why=HOSTILE)
    verdict = Verdict((Check(HOSTILE, Status.WARN, HOSTILE),))
    page = safety_sheet(hostile, verdict, way=HOSTILE, caution=HOSTILE, inputs={HOSTILE: HOSTILE})
    assert page == safety_sheet(hostile, verdict, way=HOSTILE, caution=HOSTILE, inputs={HOSTILE: HOSTILE})
    assert HOSTILE not in page
    assert page.count("<script") == sheet().count("<script")
    assert page.count("<img") == 0


@pytest.mark.skipif(PROGRAM is None, reason="no browser")
def test_it_prints_on_one_page_of_a4_and_fits_narrow_screens(tmp_path: Path) -> None:
    file = tmp_path / "safety.html"
    file.write_text(sheet(caution=LONG), encoding="utf-8")
    with Browser() as browser:
        browser.open(file, width=360)
        assert browser.value("document.documentElement.scrollWidth") <= 360
        pdf = base64.b64decode(browser.send("Page.printToPDF", preferCSSPageSize=True)["data"])
        assert not browser.complaints
    assert pdf.count(b"/Type /Page\n") == 1
    (left, bottom, right, top) = map(float, re.search(rb"/MediaBox \[(.*?)\]", pdf)[1].split())
    assert (right - left, top - bottom) == pytest.approx((595, 842), abs=1.5)
