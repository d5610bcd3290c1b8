"""The page of a payload: complete, self-contained, never surer than its bounds, safe with hostile names."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from oracles.stated_bounds import stated_bounds
from payloads.loaded_arm import body, motion_of, run
from report.test_report_page import HOSTILE, Reader, data_of
from steelyard.audit import Check, Status, Verdict
from steelyard.errors import InputError
from steelyard.export.payload_asset import write_object
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, Mesh
from steelyard.payloads import QUANTITIES, DecidedBy, mounted_at, payload_of, weigh_by_residual
from steelyard.report.payload.content import (
    GainAnswer,
    PayloadContent,
    TrialOutcome,
    payload_content_of,
    payload_trace,
)
from steelyard.report.payload.page import GAZEBO, MUJOCO, PINOCCHIO, SIZE, Sheet, payload_page
from steelyard.uncertainty.guaranteed import guaranteed_bounds
from steelyard.uncertainty.payload_polytope import BoundedRows, PayloadBox, Place
from steelyard.zoo import zoo_robot

ASSUMED = ("Each torque is within 2 % of the true one.", "The payload weighs at most 5 kg.")
FILES = ("object.sdf", "object.urdf", "object.xml", "parameters.json", "report.html", "visual.obj")


def bounds(ten: np.ndarray, width: float = 0.03) -> Any:
    """Bounds about ten numbers, as the linear programs give them."""
    half = width * np.array([1.0, *(0.1,) * 3, *(0.01,) * 6])
    last = np.arange(10) == 9
    return stated_bounds(
        lower=ten - half, upper=ten + half, prior_decides=last, assumptions=ASSUMED, untested=ASSUMED[1:]
    )


def block(middle: tuple[float, ...], sides: tuple[float, ...]) -> Mesh:
    """A box of triangles."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [half for a, b, c, d in quads for half in ((a, b, c), (a, c, d))]
    return Mesh(corners * sides + np.array(middle), np.array(faces))


@cache
def weighed() -> PayloadContent:
    """A payload on a Panda, weighed by residual torques, with everything a page can say."""
    robot = zoo_robot("panda")
    motion, held = motion_of(robot, period=5.0), mounted_at(robot)
    loaded = run(robot, motion, body(1, 1.5), noise=0.1, offset=0.3)
    empty = run(robot, motion, noise=0.1, rng=np.random.default_rng(9))
    estimate = payload_of(weigh_by_residual(robot, held, [loaded], [empty]), np.random.default_rng(0))
    checks = (
        Check("mass", Status.PASS, "1.5 kg."),
        Check("inertia", Status.WARN, "decided by what can exist: moment_1."),
        Check("other gains", Status.NOT_RUN, "none given."),
    )
    return payload_content_of(
        robot,
        estimate,
        Verdict(checks),
        {"loaded.csv": loaded, "empty.csv": empty},
        why="the empty run repeats the loaded one",
        traces=[payload_trace(robot, estimate, "loaded.csv", loaded, empty=empty)],
        bounds=bounds(estimate.ten),
        gains="by De Luca",
        others=[GainAnswer("by the authors", 1.31, estimate.body.com * 1.02)],
        mesh=block((0.02, -0.03, 0.08), (0.16, 0.1, 0.14)),
        density=Check("uniform density", Status.WARN, "uniform density contradicts the data."),
        trials=[
            TrialOutcome("drop", "the true object", 2.0, 0.0012, 0.02),
            TrialOutcome("swing", "the true object", 4.0, 0.0004, 0.004, (0.8123, 0.8119)),
        ],
        findings=[Finding(Severity.WARNING, "trusted-description", "the description was trusted", "log:7")],
        inputs={"loaded.csv": "a" * 64, "empty.csv": "b" * 64},
        files=FILES,
        seed=17,
        untested=["No other payload was weighed."],
        made="2026-11-16",
    )


@pytest.fixture(scope="module")
def content() -> PayloadContent:
    return weighed()


def text_of(page: str) -> str:
    return " ".join("".join(Reader(page).text).replace("\u202f", " ").split())


def section_of(page: str, name: str) -> str:
    match = re.search(rf'<section id="{name}">(.*?)</section>', page, re.S)
    assert match
    return match.group(1)


def test_the_page_is_well_formed_and_says_everything(content: PayloadContent) -> None:
    page = payload_page(content)
    reader = Reader(page)
    ids = [a["id"] for _, a in reader.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert {(a["href"] or "")[1:] for tag, a in reader.elements if tag == "a"} <= set(ids)
    text = text_of(page)
    words = [content.robot, content.digest, content.frame, content.link, content.way, content.why]
    words += ["Use these numbers with care: one check warns.", "the description was trusted", "log:7"]
    words += [check.message for check in content.verdict.checks] + list(content.joints) + list(ASSUMED)
    words += ["by De Luca", "by the authors", "uniform density contradicts", "drop", "0.8123 against 0.8119"]
    words += [*content.inputs.values(), *content.files, "seed17", "No other payload was weighed."]
    words += [history.digest for history in content.histories] + [content.prior, "2026-11-16"]
    assert [word for word in words if word not in text] == []
    assert page == payload_page(content)
    assert len(page.encode()) < 1e6


def test_the_mass_comes_first_with_the_digits_its_interval_leaves(content: PayloadContent) -> None:
    head = text_of(section_of(payload_page(content), "verdict"))
    mass = content.number("mass")
    shown = re.search(r"holds([\d.]+) kg95 % interval: ([\d.]+) to ([\d.]+) kg", head.replace(" 95", "95"))
    assert shown
    step = 10.0 ** -len(shown.group(1).partition(".")[2])
    assert [float(x) for x in shown.groups()] == pytest.approx(
        [mass.value, mass.lower, mass.upper], abs=0.5001 * step
    )
    assert 0.005 < step / mass.half_width <= 0.1


def test_every_number_says_what_decided_it(content: PayloadContent) -> None:
    for guessed in ((), ("moment_1",), ("com_z", "I_xy", "moment_3")):
        numbers = tuple(
            replace(n, decided=DecidedBy.PRIOR if n.name in guessed else DecidedBy.DATA)
            for n in content.numbers
        )
        section = section_of(payload_page(replace(content, numbers=numbers)), "payload")
        decided = re.findall(r'data-label="decided by"><span>(.*?)</span>', section)
        expected = ["<strong>prior</strong>" if name in guessed else "data" for name in QUANTITIES]
        assert decided == expected
        assert ("The data decided every number." in section) == (not guessed)


def test_no_page_says_guaranteed_without_what_is_assumed(content: PayloadContent) -> None:
    assert "guarantee" not in text_of(payload_page(replace(content, bounds=None))).lower()
    page = payload_page(content)
    section = section_of(page, "guaranteed")
    assert all(sentence in section for sentence in ASSUMED)
    untested, tested = (section.index(part) for part in ("cannot show whether", "does not contradict"))
    assert untested < section.index(ASSUMED[1]) < tested < section.index(ASSUMED[0])
    # Elsewhere, whatever says so leads there.
    body = re.search(r"<main>(.*)</main>", page, re.S)
    assert body
    for part in re.findall(r"<(?:p|div)[ >].*?</(?:p|div)>", body.group(1).replace(section, ""), re.S):
        if "guaranteed" in part.lower() and 'role="region"' not in part:
            assert 'href="#guaranteed"' in part
    silent = SimpleNamespace(**{**vars(content.bounds), "assumptions": ()})
    with pytest.raises(InputError, match="do not say what they assume"):
        replace(content, bounds=silent)


def test_bounds_lead_to_the_safety_sheet_where_it_stands_beside_the_page(content: PayloadContent) -> None:
    link = 'href="safety.html"'
    assert link not in payload_page(content)
    assert link in section_of(payload_page(replace(content, files=(*FILES, "safety.html"))), "guaranteed")


def test_the_page_shows_real_bounds_as_they_come(content: PayloadContent) -> None:
    ten = np.array([number.value for number in content.ten])
    box = PayloadBox.in_ball(5.0, 0.5)
    places, words = (Place("joint1", 0.0, 1.0),) * 10, ("Rows hold.",)
    rows = BoundedRows(np.eye(10), np.zeros((10, 0)), ten, np.full(10, 1e-3), np.zeros(0), places, words)
    page = payload_page(replace(content, bounds=guaranteed_bounds(rows, box)))
    section = text_of(section_of(page, "guaranteed"))
    assert "Rows hold." in section
    assert box.meaning in section


@pytest.mark.parametrize(
    ("statuses", "words"),
    [
        ((Status.PASS, Status.PASS), "All 2 checks that were run passed."),
        ((Status.PASS, Status.NOT_RUN), "The one check that was run passed."),
        ((Status.WARN, Status.WARN), "Use these numbers with care: 2 checks warn."),
        ((Status.WARN, Status.FAIL), "Do not rely on these numbers: one check failed."),
        ((), "no check was run"),
    ],
)
def test_the_verdict_stands_above_everything_else(
    content: PayloadContent, statuses: tuple[Status, ...], words: str
) -> None:
    checks = tuple(Check(f"check {k}", status, "so it is.") for k, status in enumerate(statuses))
    assert words in section_of(payload_page(replace(content, verdict=Verdict(checks))), "verdict")


@pytest.mark.parametrize(("apart", "limits"), [(0.5, False), (0.99, False), (1.01, True), (-5.0, True)])
@pytest.mark.parametrize("name", ["mass", "com_y"])
def test_gains_limit_where_answers_are_farther_apart_than_the_interval_is_wide(
    content: PayloadContent, name: str, apart: float, limits: bool
) -> None:
    number = content.number(name)
    shift = apart * (number.upper - number.lower)
    mass = content.number("mass").value + (shift if name == "mass" else 0.0)
    com = np.array([content.number(f"com_{axis}").value for axis in "xyz"])
    com[1] += shift if name == "com_y" else 0.0
    page = payload_page(replace(content, others=(GainAnswer("other", mass, com),)))
    words = "The drive gains limit this answer, not noise."
    assert (words in section_of(page, "gains")) == limits


def test_the_page_asks_nobody_for_anything(content: PayloadContent) -> None:
    page = payload_page(content)
    assert set(re.findall(r"https?://[^\s\"'<>)]+", page)) <= {"http://www.w3.org/2000/svg"}
    for _, attributes in Reader(page).elements:
        assert not {"src", "srcset", "action", "style", "ping"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")


def hostile(content: PayloadContent) -> PayloadContent:
    return replace(
        content,
        **dict.fromkeys(
            ("robot", "digest", "frame", "link", "way", "why", "prior", "gains", "made"), HOSTILE
        ),
        joints=(HOSTILE, *content.joints[1:]),
        verdict=Verdict((Check(HOSTILE, Status.FAIL, HOSTILE),)),
        density=Check(HOSTILE, Status.WARN, HOSTILE),
        traces=tuple(replace(trace, name=HOSTILE) for trace in content.traces),
        bounds=SimpleNamespace(
            **{**vars(content.bounds), "assumptions": (HOSTILE, f"{HOSTILE}."), "untested": (HOSTILE,)}
        ),
        others=tuple(replace(answer, name=HOSTILE) for answer in content.others),
        trials=tuple(replace(trial, trial=HOSTILE, other=HOSTILE) for trial in content.trials),
        arm=replace(content.arm, motion=HOSTILE) if content.arm else None,
        findings=tuple(replace(f, message=HOSTILE, place=HOSTILE, code=HOSTILE) for f in content.findings),
        histories=tuple(replace(h, name=HOSTILE, digest=HOSTILE) for h in content.histories),
        inputs={HOSTILE: HOSTILE},
        files=(*content.files, HOSTILE),
        facts={HOSTILE: HOSTILE},
        versions={HOSTILE: HOSTILE},
        untested=(HOSTILE,),
    )


def test_hostile_names_are_shown_and_never_obeyed(content: PayloadContent) -> None:
    page = payload_page(hostile(content))
    reader = Reader(page)
    tags = [tag for tag, _ in reader.elements]
    assert "img" not in tags
    assert tags.count("script") == 2
    assert "\x1b" not in page
    assert "".join(reader.text).count("<script>alert(1)</script>") >= 25
    joints = data_of(page)["joints"]
    assert isinstance(joints, list)
    assert joints[0].startswith("</script><script>alert(1)")


def test_the_snippets_load_the_asset_and_find_what_was_weighed(
    content: PayloadContent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_object(tmp_path / "asset", content.body, name="payload")
    monkeypatch.chdir(tmp_path / "asset")
    for snippet in (MUJOCO, PINOCCHIO, GAZEBO):
        assert escape(snippet) in payload_page(content)
    there: dict[str, Any] = {}
    exec(MUJOCO, there)
    assert there["model"].body_mass.sum() == pytest.approx(content.body.mass, rel=1e-9)
    assert there["model"].body_pos[1] == pytest.approx([0, 0, 1])
    exec(PINOCCHIO, there)
    assert there["body"].mass == pytest.approx(content.body.mass, rel=1e-9)
    assert there["body"].lever == pytest.approx(content.body.com, abs=1e-9)
    include = ElementTree.fromstring(f"<world>{GAZEBO}</world>").find("include")
    assert include is not None
    assert (include.findtext("uri") or "").startswith("file:///")
    assert len((include.findtext("pose") or "").split()) == 6
    assert "Gazebo" not in payload_page(replace(content, files=("object.xml",)))


def test_a_page_needs_no_more_than_the_numbers(content: PayloadContent) -> None:
    page = payload_page(
        PayloadContent(
            *("arm", "", "flange", "link6", "known robot", "asked for", "Any body."),
            *(content.body, content.numbers, content.ten, Verdict(()), (), ()),
        )
    )
    reader = Reader(page)
    sections = [a["id"] for tag, a in reader.elements if tag == "section"]
    assert sections == ["verdict", "payload", "checks", "findings", "record"]


def test_content_that_contradicts_itself_is_refused(content: PayloadContent) -> None:
    with pytest.raises(InputError, match="must be, in this order: mass"):
        replace(content, numbers=content.numbers[::-1])
    with pytest.raises(InputError, match="6 units for 7 joints"):
        replace(content, units=content.units[1:])
    with pytest.raises(InputError, match="has no mass"):
        replace(content, body=Body(0.0, np.zeros(3), np.zeros((3, 3))))
    with pytest.raises(InputError, match="before it begins"):
        replace(content.numbers[0], lower=2.0, upper=1.0)


@pytest.mark.parametrize("reach", [0.02, 0.3, 5.0])
def test_the_axes_of_the_frame_are_as_long_on_every_sheet(reach: float) -> None:
    """They are drawn from the frame's origin along two axes, each as long as a fifth of the sheet or so."""
    sheet = Sheet((1, 2), np.zeros(3), reach)
    origin = sheet.place(np.zeros(3))
    right, up = sheet.frame()
    assert (right["text"], up["text"]) == ("y", "z")
    for mark, sign in ((right, (1, 0)), (up, (0, -1))):
        start, end = (tuple(map(float, text.split())) for text in mark["path"][1:].split("L"))
        assert start == pytest.approx(origin, abs=0.05)
        along = np.subtract(end, start)
        assert along @ sign == pytest.approx(np.linalg.norm(along))
        assert 0.15 * SIZE < np.linalg.norm(along) < 0.25 * SIZE
