"""The page of a motion in a browser: it draws, plays, scrubs, and shows the arm at the cursor's time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from report.chromium import Browser, open_quietly, scrub
from report.motion.test_motion_page import hostile
from steelyard.motion import FourierMotion
from steelyard.report.motion import motion_page
from steelyard.report.motion.content import MotionContent
from steelyard.robot import Robot


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, content: MotionContent) -> Path:
    file = tmp_path_factory.mktemp("motion") / "motion.html"
    file.write_text(motion_page(content), encoding="utf-8")
    return file


def moment(browser: Browser) -> float:
    return float(browser.value("document.getElementById('moment').value"))


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (768, True), (390, False)])
def test_the_page_draws_itself_without_complaint_request_or_overflow(
    browser: Browser, page: Path, content: MotionContent, width: int, dark: bool
) -> None:
    open_quietly(browser, page, width=width, dark=dark)
    curves = browser.value("[...document.querySelectorAll('.curve')].map(c => c.getBBox().width)")
    assert len(curves) == 4 * len(content.joints) + 2
    assert min(curves) > 200
    assert browser.value("document.querySelectorAll('#motion-view .joint').length") == len(content.joints)
    assert content.skeleton is not None
    outlines = browser.value("document.querySelectorAll('#motion-view .outline').length")
    assert outlines == len(content.skeleton.outlines)


def test_hostile_and_endless_names_neither_run_nor_widen_the_page(
    browser: Browser, tmp_path: Path, content: MotionContent
) -> None:
    file = tmp_path / "hostile.html"
    file.write_text(motion_page(hostile(content)), encoding="utf-8")
    for width in (1280, 390):
        browser.open(file, width=width)
        assert browser.complaints == []
        assert browser.requests == [file.as_uri()]
        assert browser.value("document.documentElement.scrollWidth") <= width


def test_the_arm_on_the_screen_is_the_arm_at_the_cursors_time(
    browser: Browser, page: Path, content: MotionContent, robot: Robot, motion: FourierMotion
) -> None:
    browser.open(page, width=1280)
    judge = PinocchioRobot.of(robot)
    turn, tilt = -0.9, 0.42
    right = np.array([np.cos(turn), -np.sin(turn), 0.0])
    up = np.array([np.sin(tilt) * np.sin(turn), np.sin(tilt) * np.cos(turn), np.cos(tilt)])
    assert content.clearance is not None
    for time in (0.7133, 2.5, 4.9817):
        scrub(browser, time)
        seen = browser.value(
            "Object.fromEntries([...document.querySelectorAll('#motion-view .joint')].map(j => "
            "[j.querySelector('title').textContent, [+j.getAttribute('cx'), +j.getAttribute('cy')]]))"
        )
        pin.forwardKinematics(judge.model, judge.data, judge.q(motion.sample([time]).q[0]))
        points = np.array(
            [judge.data.oMi[judge.model.getJointId(joint)].translation for joint in robot.joint_names]
        )
        drawn = np.array([seen[name] for name in robot.link_names])
        # One scale and one shift explain all of them: pixels per metre, and the middle of the picture.
        flat = np.column_stack([points @ right, -points @ up])
        ones, zeros = np.ones(len(flat)), np.zeros(len(flat))
        A = np.vstack(
            [np.column_stack([flat[:, 0], ones, zeros]), np.column_stack([flat[:, 1], zeros, ones])]
        )
        x, *_ = np.linalg.lstsq(A, np.concatenate([drawn[:, 0], drawn[:, 1]]), rcond=None)
        assert x[0] > 50
        # A tenth of a pixel is written; between pictures frames lie on straight lines.
        assert np.abs(A @ x - np.concatenate([drawn[:, 0], drawn[:, 1]])).max() < 0.5
        n = int(np.abs(content.time - time).argmin())
        words = browser.value("document.getElementById('nearest').textContent")
        assert f"{1e3 * content.clearance.smallest[n]:.1f} mm" in words
        pair = content.clearance.pairs[int(content.clearance.nearest[n])]
        assert words.endswith(pair)
        near = "[...document.querySelectorAll('.outline.near title')].map(t => t.textContent).sort()"
        assert browser.value(near) == sorted(pair.split(" – "))
    assert browser.complaints == []


def test_one_mark_stands_at_the_same_time_on_every_plot_beside_the_values_then(
    browser: Browser, page: Path, content: MotionContent, motion: FourierMotion
) -> None:
    browser.open(page, width=1280)
    scrub(browser, 1.5)
    shares = (
        "[...document.querySelectorAll('#clearance-plot svg, #joint-plots svg')].map(s => "
        "(s.querySelector('.moment').getBBox().x - 58) / (s.viewBox.baseVal.width - 68))"
    )
    assert browser.value(shares) == pytest.approx([0.25] * (1 + len(content.joints)), abs=0.002)
    readings = browser.value(
        "[...document.querySelectorAll('#joint-plots figure')].map(f => "
        "[...f.querySelectorAll('.reading')].slice(0, 3).map(r => r.textContent.replace('−', '-')))"
    )
    at = motion.sample([1.5])
    read = np.array([[float(text.split()[0]) for text in own] for own in readings])
    assert read == pytest.approx(np.column_stack([at.q[0], at.v[0], at.a[0]]), abs=6e-4)
    left, wide, y = browser.value(
        "(() => {const p = document.querySelector('#joint-plots .plot'); p.scrollIntoView({block: 'center'});"
        "const b = p.getBoundingClientRect(); return [b.left + 58, b.width - 68, b.top + 60]})()"
    )
    point = (left + 0.75 * wide, y)
    browser.drag(point, point)
    assert moment(browser) == pytest.approx(4.5, abs=0.03)
    browser.drag((left, y), (left + 0.5 * wide, y))
    shown = browser.value("document.getElementById('plot-range').textContent")
    low, high = (float(word) for word in shown.removesuffix(" s").split(" … "))
    assert (low, high) == pytest.approx((0.0, 3.0), abs=0.03)
    browser.press("Home")
    assert browser.value("document.getElementById('plot-range').textContent") == "0.00 … 6.00 s"
    assert browser.complaints == []


def test_limits_and_required_distance_stand_where_their_numbers_say(
    browser: Browser, page: Path, robot: Robot
) -> None:
    browser.open(page, width=1280)
    bands = browser.value(
        "[...document.querySelectorAll('#joint-plots figure')].map(f => [...f.querySelectorAll('.allowed')]"
        ".map(r => [r.getBBox().y, r.getBBox().height]))"
    )
    assert [len(own) for own in bands] == [4] * 7
    # The range is 6 % wider than the limits on either side, so the band takes 1/1.12 of the height.
    heights = np.array(bands)[:, :, 1]
    assert heights == pytest.approx(np.full((7, 4), 74 / 1.12), abs=0.2)
    browser.value("document.getElementById('fit-curves').click()")
    drawn = browser.value(
        "[...document.querySelectorAll('#joint-plots .course')].map(c => c.getBBox().height)"
    )
    assert min(drawn) > 20
    assert browser.complaints == []


def test_play_runs_at_the_chosen_speed_pauses_and_stops_at_the_end(browser: Browser, page: Path) -> None:
    browser.open(page, width=1280)
    wait = "new Promise(done => setTimeout(done, {}))"
    assert moment(browser) == 0.0
    browser.value(wait.format(300))
    assert moment(browser) == 0.0, "nothing moves before it is asked to"
    browser.value("document.getElementById('speed').value = '0.5'; document.getElementById('play').click()")
    began = browser.value("performance.now()")
    browser.value(wait.format(800))
    browser.value("document.getElementById('play').click()")
    passed = (browser.value("performance.now()") - began) / 1000
    assert 0.05 < moment(browser) <= 0.5 * passed + 0.05
    stopped = moment(browser)
    browser.value(wait.format(300))
    assert moment(browser) == stopped
    scrub(browser, 5.9)
    browser.value("document.getElementById('motion-view').focus()")
    browser.press(" ")
    browser.value(wait.format(900))
    assert moment(browser) == pytest.approx(6.0)
    assert browser.value("document.getElementById('play').textContent") == "Play"
    assert browser.complaints == []


def test_who_wants_little_motion_sees_still_pictures(browser: Browser, page: Path) -> None:
    browser.open(page, width=1280)
    reduce = {"name": "prefers-reduced-motion", "value": "reduce"}
    browser.send("Emulation.setEmulatedMedia", features=[reduce])
    browser.value(
        "window.pictures = 0; new MutationObserver(() => window.pictures += 1).observe("
        "document.querySelector('#motion-view svg'), {childList: true});"
        "document.getElementById('play').click()"
    )
    browser.value("new Promise(done => setTimeout(done, 1400))")
    pictures = browser.value("window.pictures")
    assert 1 <= pictures <= 3
    assert moment(browser) > 0.0
    browser.send("Emulation.setEmulatedMedia", features=[])
