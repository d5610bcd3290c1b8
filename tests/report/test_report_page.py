"""The page: complete, self-contained, the same every time, safe with hostile names."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from steelyard.audit import Check, Status, Verdict
from steelyard.report import ReportContent, TorqueTrace, report_page
from steelyard.report.content import ParameterLine

HOSTILE = "</script><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)>\"'\x1b[2J"
VOID = {"meta", "br", "input", "wbr", "link", "img"}


class Reader(HTMLParser):
    """Elements, their attributes and text; complains about elements that are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(text)


def data_of(page: str) -> dict[str, object]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert match
    return dict(json.loads(match.group(1)))


def test_the_page_is_well_formed_and_says_everything(content: ReportContent) -> None:
    page = report_page(content)
    reader = Reader(page)
    ids = [a["id"] for _, a in reader.elements if "id" in a]
    assert len(ids) == len(set(ids))
    links = {(a["href"] or "")[1:] for tag, a in reader.elements if tag == "a"}
    assert links <= set(ids)
    text = " ".join(" ".join(reader.text).split())
    words = [content.robot, content.digest, "Use this model with care: one check warns.", "time jitters"]
    words += ["log.csv:7", "No payload was carried.", "mass matrix: this check was not run.", "2026-11-16"]
    words += [check.message for check in content.verdict.checks] + list(content.joints)
    words += [history.digest for history in content.histories] + list(content.versions.values())
    words += [step.action for history in content.histories for step in history.steps]
    assert [word for word in words if word not in text] == []
    rows = [a for tag, a in reader.elements if tag == "tr" and "data-kind" in a]
    assert len(rows) == len(content.parameters)
    assert page.count('class="formula"') == len(content.combinations)


def test_the_page_is_light_and_the_same_every_time(content: ReportContent) -> None:
    page = report_page(content)
    assert page == report_page(content)
    assert len(page.encode()) < 3e6


def test_the_page_asks_nobody_for_anything(content: ReportContent) -> None:
    page = report_page(content)
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    for _, attributes in Reader(page).elements:
        assert not {"src", "srcset", "action", "style", "ping"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_the_policy_admits_the_pages_own_script_and_style_only(content: ReportContent) -> None:
    page = report_page(content)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    rules = dict(rule.strip().split(" ", 1) for rule in policy.group(1).split(";"))
    assert rules["default-src"] == "'none'"
    for tag in ("script", "style"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"


def test_scripts_write_text_never_markup(content: ReportContent) -> None:
    (script,) = re.findall(r"<script>(.*?)</script>", report_page(content), re.S)
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
        assert word not in script


def hostile(content: ReportContent) -> ReportContent:
    steps = [replace(step, action=HOSTILE, detail={HOSTILE: HOSTILE}) for step in content.histories[0].steps]
    return replace(
        content,
        robot=HOSTILE,
        digest=HOSTILE,
        method=HOSTILE,
        made=HOSTILE,
        joints=(HOSTILE, *content.joints[1:]),
        units=(HOSTILE, *content.units[1:]),
        verdict=Verdict((Check(HOSTILE, Status.FAIL, HOSTILE),)),
        traces=tuple(replace(trace, name=HOSTILE) for trace in content.traces),
        parameters=(ParameterLine(f"{HOSTILE}.m", HOSTILE, HOSTILE, None), *content.parameters),
        combinations=tuple(replace(x, terms=((HOSTILE, 2.0),), unit=HOSTILE) for x in content.combinations),
        arm=replace(
            content.arm,
            motion=HOSTILE,
            links=tuple(replace(link, name=HOSTILE) for link in content.arm.links),
        )
        if content.arm
        else None,
        findings=tuple(replace(f, message=HOSTILE, place=HOSTILE, code=HOSTILE) for f in content.findings),
        histories=tuple(
            replace(h, name=HOSTILE, digest=HOSTILE, steps=tuple(steps)) for h in content.histories
        ),
        facts={HOSTILE: HOSTILE},
        versions={HOSTILE: HOSTILE},
        untested=(HOSTILE,),
    )


def test_hostile_names_are_shown_and_never_obeyed(content: ReportContent) -> None:
    page = report_page(hostile(content))
    reader = Reader(page)
    tags = [tag for tag, _ in reader.elements]
    assert "img" not in tags
    assert tags.count("script") == 2
    assert "\x1b" not in page
    assert "<script>alert(1)</script>" in "".join(reader.text)
    joints = data_of(page)["joints"]
    assert isinstance(joints, list)
    assert joints[0].startswith("</script><script>alert(1)")


def test_the_curves_carry_every_extreme_of_the_data(content: ReportContent) -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    tau = rng.normal(size=(n, 7))
    tau_hat = tau + 1e-3 * rng.normal(size=(n, 7))
    tau_hat[7777, 2] += 50.0
    start = 1.7e9  # seconds since 1970, which 32 bits do not resolve
    trace = TorqueTrace("log", True, start + np.arange(n) / 1000.0, tau, tau_hat)
    data = data_of(report_page(replace(content, traces=(trace,))))

    def unpacked(name: str, joint: int) -> np.ndarray:
        return np.frombuffer(base64.b64decode(data["motions"][0]["series"][joint][name]), "<f4")  # type: ignore[index]

    for joint in range(7):
        for name, line in (("measured", tau), ("predicted", tau_hat), ("difference", tau - tau_hat)):
            drawn = unpacked(name, joint)
            assert len(drawn) <= 4000
            assert [drawn.min(), drawn.max()] == pytest.approx(
                [line[:, joint].min(), line[:, joint].max()], rel=1e-6
            )
    spike = int(np.argmin(unpacked("difference", 2)))
    assert unpacked("time", 2)[spike] == pytest.approx(7.777, abs=1e-5)


def test_many_joints_and_motions_do_not_make_the_page_heavy(content: ReportContent) -> None:
    n, nv = 4000, 30
    signal = np.random.default_rng(0).normal(size=(n, nv))
    traces = tuple(TorqueTrace(f"log {k}", k == 0, np.arange(n) / 100, signal, signal) for k in range(5))
    wide = replace(content, joints=tuple(f"j{j}" for j in range(nv)), units=("N",) * nv, traces=traces)
    assert len(report_page(wide).encode()) < 3e6


@pytest.mark.parametrize(
    ("statuses", "words"),
    [
        ((Status.PASS, Status.PASS), "All 2 checks that were run passed."),
        ((Status.PASS, Status.NOT_RUN), "The one check that was run passed."),
        ((Status.WARN, Status.WARN), "Use this model with care: 2 checks warn."),
        ((Status.WARN, Status.FAIL), "Do not rely on this model: one check failed."),
        ((Status.NOT_RUN,), "no check was run"),
        ((), "no check was run"),
    ],
)
def test_the_verdict_comes_first_in_plain_words(
    content: ReportContent, statuses: tuple[Status, ...], words: str
) -> None:
    checks = tuple(Check(f"check {k}", status, "so it is.") for k, status in enumerate(statuses))
    judged = replace(content, verdict=Verdict(checks))
    page = report_page(judged)
    assert page.index(words) < page.index('id="checks"')


def test_an_empty_report_is_still_a_page() -> None:
    page = report_page(ReportContent("arm", "", "none", Verdict(()), (), ()))
    assert 'id="plots"' not in page
    assert "no check was run" in page
    Reader(page)
