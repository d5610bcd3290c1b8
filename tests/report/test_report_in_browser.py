"""The page in a real browser: silent, drawn, within its width, and steered by mouse and keyboard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from report.chromium import Browser, open_quietly
from steelyard.pose import Pose
from steelyard.problem import Estimate
from steelyard.report import ReportContent, draw_arm, report_page
from steelyard.report.arm import ArmDrawing, LinkDrawing
from steelyard.robot import Box, Capsule, Cylinder, Geometry, Robot, Sphere

LONG = "ein_sehr_langer_gelenkname_mit_übergröße_" * 3


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, content: ReportContent) -> Path:
    file = tmp_path_factory.mktemp("report") / "page.html"
    file.write_text(report_page(content), encoding="utf-8")
    return file


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (768, False), (390, False), (1280, True)])
def test_the_page_draws_itself_without_complaint_request_or_overflow(
    browser: Browser, page: Path, content: ReportContent, width: int, dark: bool
) -> None:
    open_quietly(browser, page, width=width, dark=dark)
    curves = browser.value("[...document.querySelectorAll('#plots .curve')].map(c => c.getBBox().width)")
    assert len(curves) == 3 * len(content.joints)
    assert min(curves) > 0.6 * min(width - 100, 900)
    assert content.arm is not None
    drawn = sum(link.nominal is not None for link in content.arm.links)
    assert browser.value("document.querySelectorAll('#arm-view .ellipsoid.nominal').length") == drawn
    light = browser.value("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]")
    assert (light < 100) == dark


def test_hostile_and_endless_names_neither_run_nor_widen_the_page(
    browser: Browser, tmp_path: Path, content: ReportContent
) -> None:
    bad = "</script><script>window.robbed = 1</script><img src=x onerror='window.robbed = 1'>"
    joints = (bad, LONG, *content.joints[2:])
    rows = tuple(replace(line, name=f"{LONG}.{k}") for k, line in enumerate(content.parameters))
    traces = tuple(replace(trace, name=bad + LONG) for trace in content.traces)
    file = tmp_path / "hostile.html"
    text = report_page(replace(content, robot=bad, joints=joints, parameters=rows, traces=traces))
    file.write_text(text, encoding="utf-8")
    for width in (1280, 390):
        browser.open(file, width=width)
        assert browser.complaints == []
        assert browser.requests == [file.as_uri()]
        assert browser.value("window.robbed") is None
        assert browser.value("document.documentElement.scrollWidth") <= width
        assert browser.value("document.querySelector('#plots figcaption strong').textContent") == bad


def test_script_injected_past_the_escaping_is_stopped_by_the_policy(
    browser: Browser, tmp_path: Path, page: Path
) -> None:
    file = tmp_path / "injected.html"
    text = page.read_text(encoding="utf-8")
    file.write_text(text.replace("<main>", "<main><script>window.robbed = 1</script>"), encoding="utf-8")
    browser.open(file, width=1280)
    assert browser.value("window.robbed") is None
    assert any("Content Security Policy" in complaint for complaint in browser.complaints)


def test_on_paper_everything_is_unfolded_and_fits(browser: Browser, page: Path) -> None:
    browser.open(page, width=718)  # A4 within Chromium's own margins
    browser.send("Emulation.setEmulatedMedia", media="print")
    browser.value("dispatchEvent(new Event('beforeprint'))")
    assert browser.value("document.documentElement.scrollWidth") <= 718
    assert browser.value("[...document.querySelectorAll('details')].every(part => part.open)")
    assert browser.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    browser.send("Emulation.setEmulatedMedia", media="")


def shown(browser: Browser) -> tuple[float, float]:
    low, high = (
        browser.value("document.getElementById('plot-range').textContent").removesuffix(" s").split(" … ")
    )
    return float(low), float(high)


def test_keys_and_mouse_zoom_all_joints_together(
    browser: Browser, page: Path, content: ReportContent
) -> None:
    browser.open(page, width=1280)
    length = content.traces[0].time[-1]
    curve = "document.querySelectorAll('#plots .measured')[6].getAttribute('d')"
    before = browser.value(curve)
    browser.value("document.querySelector('.plot').focus()")
    browser.press("+")
    assert shown(browser) == pytest.approx((length / 4, 3 * length / 4), abs=0.01)
    assert browser.value(curve) != before
    browser.press("ArrowRight")
    assert shown(browser) == pytest.approx((length * 3 / 8, length * 7 / 8), abs=0.01)
    browser.press("Home")
    assert shown(browser) == pytest.approx((0, length), abs=0.01)
    assert browser.value(curve) == before
    box = browser.value(
        "(() => {const p = document.querySelectorAll('.plot')[1]; p.scrollIntoView({block: 'center'});"
        "const b = p.getBoundingClientRect(); return [b.left + 58, b.right - 10, b.top + 60]})()"
    )
    left, right, y = box
    browser.drag((left + 0.2 * (right - left), y), (left + 0.6 * (right - left), y))
    assert shown(browser) == pytest.approx((0.2 * length, 0.6 * length), abs=0.02 * length)
    assert browser.complaints == []


def test_a_narrow_spike_is_drawn_at_its_height(
    browser: Browser, tmp_path: Path, content: ReportContent
) -> None:
    trace = content.traces[0]
    tau = np.zeros_like(trace.measured)
    for joint in range(7):
        tau[4321 + 37 * joint, joint] = 100.0
    file = tmp_path / "spike.html"
    file.write_text(report_page(replace(content, traces=(replace(trace, measured=tau),))), encoding="utf-8")
    browser.open(file, width=390)
    boxes = browser.value(
        "[...document.querySelectorAll('#plots .measured')].map(c => [c.getBBox().y, c.getBBox().height])"
    )
    assert [top < 20 and height > 60 for top, height in boxes] == [True] * 7


def test_the_table_is_sorted_by_its_heads_and_filtered_by_words_and_class(
    browser: Browser, page: Path, content: ReportContent
) -> None:
    browser.open(page, width=1280)
    names = (
        "[...document.querySelectorAll('#parameter-table tbody tr:not([hidden]) th')].map(c => c.textContent)"
    )
    described = {line.name: line.nominal for line in content.parameters}
    assert browser.value(names) == list(described)
    browser.value("document.querySelector('th[data-column=\"5\"] button').click()")
    stated = [described[name] for name in browser.value(names)]
    numbers = [value for value in stated if value is not None]
    assert numbers == sorted(numbers)
    assert stated[: len(numbers)] == numbers
    browser.value("document.querySelector('th[data-column=\"5\"] button').click()")
    numbers = [described[n] for n in browser.value(names) if described[n] is not None]
    assert numbers == sorted(numbers, reverse=True)
    browser.value("document.querySelector('th[data-column=\"5\"] button').click()")
    assert browser.value(names) == list(described)
    browser.value("document.querySelector('input[data-kind=grouped]').click()")
    kept = [line.name for line in content.parameters if str(line.kind) != "grouped"]
    assert browser.value(names) == kept
    browser.value(
        "{const f = document.getElementById('parameter-filter'); f.value = 'LINK3 kg'; "
        "f.dispatchEvent(new Event('input'))}"
    )
    assert browser.value(names) == [n for n in kept if n.startswith("panda_link3")]


def test_an_ellipsoid_is_outlined_as_wide_and_high_as_the_solid_is(
    browser: Browser, tmp_path: Path, robot: Robot, estimate: Estimate, content: ReportContent
) -> None:
    q = np.random.default_rng(5).uniform(-1, 1, size=(1, 7))
    arm = draw_arm(robot, estimate.layout, q)
    file = tmp_path / "arm.html"
    file.write_text(report_page(replace(content, arm=arm)), encoding="utf-8")
    browser.open(file, width=1280)
    assert browser.complaints == []
    boxes = browser.value(
        "[...document.querySelectorAll('#arm-view .ellipsoid')].map(g => ["
        "g.querySelector('title').textContent, g.querySelector('.body').getBBox().width, "
        "g.querySelector('.body').getBBox().height])"
    )
    # Looked at along a horizontal direction turned by 0.9 rad and tilted by 0.42 rad; the solid is sampled.
    turn, tilt = -0.9, 0.42
    right = np.array([np.cos(turn), -np.sin(turn), 0.0])
    up = np.array([np.sin(tilt) * np.sin(turn), np.sin(tilt) * np.cos(turn), np.cos(tilt)])
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(200_000, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    ratios = []
    for name, width, height in boxes:
        index = [f"{link.name}, description" for link in arm.links].index(name)
        body = robot.links[index - 1].body
        assert body is not None
        solid = body.equivalent_ellipsoid()
        points = solid.pose.apply(ball * solid.semi_axes) @ arm.frames[0, index, :3, :3].T
        ratios += [width / np.ptp(points @ right), height / np.ptp(points @ up)]
    # One scale, pixels per metre, for all of them; paths are written to a tenth of a pixel.
    assert len(ratios) == 14
    assert ratios == pytest.approx([np.median(ratios)] * 14, rel=0.02)


def test_every_simple_shape_is_outlined_as_wide_as_it_is(
    browser: Browser, tmp_path: Path, content: ReportContent
) -> None:
    # Standing upright, each is as wide on the screen as it is across, whatever the tilt.
    across = {Sphere(0.3): 0.6, Cylinder(0.2, 1.0): 0.4, Capsule(0.1, 1.0): 0.2, Box(0.5, 0.5, 1.0): None}
    links = tuple(LinkDrawing(str(s), -1, (Geometry(s, Pose.identity()),)) for s in across)
    frames = np.tile(np.eye(4), (1, len(links), 1, 1))
    frames[0, :, 0, 3] = np.arange(len(links))
    file = tmp_path / "shapes.html"
    arm = ArmDrawing(links, frames, np.zeros(1))
    file.write_text(report_page(replace(content, arm=arm)), encoding="utf-8")
    browser.open(file, width=1280)
    assert browser.complaints == []
    widths = browser.value(
        "Object.fromEntries([...document.querySelectorAll('#arm-view .shape')].map(s => "
        "[s.querySelector('title').textContent, s.getBBox().width]))"
    )
    assert len(widths) == len(across)
    # A square of side a, turned by 0.9 rad, is a (cos 0.9 + sin 0.9) wide.
    sizes = [w if w is not None else 0.5 * (np.cos(0.9) + np.sin(0.9)) for w in across.values()]
    scale = widths[str(Sphere(0.3))] / 0.6
    assert [widths[str(shape)] / scale for shape in across] == pytest.approx(sizes, rel=0.01)


def test_the_arm_turns_moves_and_hides_its_layers(browser: Browser, page: Path) -> None:
    browser.open(page, width=1280)
    picture = "document.querySelector('#arm-view svg').innerHTML"
    first = browser.value(picture)
    browser.value("document.getElementById('arm-view').focus()")
    browser.press("ArrowRight")
    assert browser.value(picture) != first
    browser.press("Home")
    assert browser.value(picture) == first
    browser.value(
        "{const p = document.getElementById('pose'); p.value = 30; p.dispatchEvent(new Event('input'))}"
    )
    assert browser.value(picture) != first
    browser.value("document.querySelector('[data-layer=nominal]').click()")
    assert browser.value("document.querySelectorAll('#arm-view .ellipsoid.nominal').length") == 0
    assert browser.complaints == []
