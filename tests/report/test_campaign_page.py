"""The page of a campaign: complete, self-contained, the same every time, safe with hostile names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.audit import Check, Status, Verdict
from steelyard.audit.cloud import largest_changes, parameter_cloud, prediction_error
from steelyard.campaigns import CampaignReference, ReferenceRun, Spec, campaign_reference
from steelyard.errors import InputError, UnknownNameError
from steelyard.report.campaign.content import (
    AcceptedParameter,
    CampaignContent,
    CampaignRun,
    CommandCurves,
    HeldOutMotion,
    StageJudgement,
)
from steelyard.report.campaign.page import campaign_page, campaign_summary
from steelyard.report.content import TorqueTrace

HOSTILE = "</script><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)>\"'\x1b[2J"
MOTIONS = (
    *(f"P{posture}{k:02d}" for posture in "ABC" for k in range(1, 12)),
    *(f"AP{k:02d}" for k in range(1, 6)),
    "AG01",
    "AG02",
)
INTERVALS = (0.01, 0.02, 0.04, 0.08)
# Names, units and values of Appendix A of Oaki et al. (2026), in its order; the first few of each kind.
PUBLISHED = (
    ("link1.Izz+", "kg m^2", "ZZR1", 0.01184),
    ("link2.Ixx+", "kg m^2", "XXR2", 0.05882),
    ("link2.Izz+", "kg m^2", "ZZR2", 0.09040),
    ("link2.mx", "kg m", "MX2", 0.00712),
    ("link2.my+", "kg m", "MYR2", -0.23800),
    ("link4.my+", "kg m", "MYR4", -0.14297),
    ("link6.Izz+", "kg m^2", "ZZR6", -0.00003),
    ("joint3.rotor", "kg m^2", "IA3", 0.00713),
    ("joint8.rotor", "kg m^2", "IA8", 0.00499),
    ("joint1.viscous", "N m s/rad", "FV1", 0.07360),
    ("joint2.viscous", "N m s/rad", "FV2", 0.31700),
    ("joint8.viscous", "N m s/rad", "FV8", 0.03130),
)


class Reader(HTMLParser):
    """Elements and text; complains about elements that are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


def the_paper() -> CampaignReference:
    """The figures of Oaki et al. (2026) as the paper's campaign states them, with the parameters of above."""
    root = Path(__file__).resolve().parents[2]
    stated = campaign_reference(Spec.read(root / "papers" / "paper_004" / "crane_x7_paper.toml"))
    assert stated is not None
    return replace(stated, parameters={short: value for _, _, short, value in PUBLISHED})


def the_runs(rng: np.random.Generator) -> tuple[CampaignRun, ...]:
    runs = []
    for motion in MOTIONS:
        for interval in INTERVALS:
            passed = bool(rng.random() < 0.2 + 6.0 * interval)
            runs.append(
                CampaignRun(
                    motion,
                    interval,
                    float(np.exp(rng.normal(4.0, 0.5))),
                    passed,
                    "O-C" if passed else "O-S-C",
                    None if passed else 0.001,
                    {"OLS": 0.03 + 0.01 * rng.random(), "SDP": 0.026 + 0.01 * rng.random(), "CLIE": 0.0225},
                    int(rng.integers(2, 6)),
                    "converged",
                    True,
                    float(np.exp(rng.normal(-0.5, 0.6))),
                )
            )
    lost = replace(
        runs[5],
        condition=float("inf"),
        passed=None,
        route="O",
        rms={},
        iterations=None,
        outcome="diverged",
        proven=None,
        reason="the simulated loop left 1e3 rad/s after 3.2 s.",
    )
    return (*runs[:5], lost, *runs[6:])


def campaign() -> CampaignContent:
    """A campaign as it may come out for the arm of Oaki et al. (2026), drawn at random."""
    rng = np.random.default_rng(4)
    runs = the_runs(rng)
    names = tuple(name for name, *_ in PUBLISHED)
    units = tuple(unit for _, unit, *_ in PUBLISHED)
    truth = np.array([value for *_, value in PUBLISHED])
    sizes = np.where([unit == "kg m^2" for unit in units], 4e-4, 4e-3)
    mixing = np.eye(len(truth)) + 0.3 * rng.standard_normal((len(truth), len(truth)))
    noise = (rng.standard_normal((len(runs), len(truth))) @ mixing) * sizes
    fine = np.array([run.interval for run in runs]) == 0.01
    stages = {
        "OLS": truth + 5.0 * noise * np.where(fine, 3.0, 1.0)[:, None],
        "SDP": truth + 1.5 * noise,
        "CLIE": truth + 1.2 * noise,
    }
    stages["OLS"][17] += 300.0 * sizes
    for k, run in enumerate(runs):
        if run.motion == "AP01":
            for rows in stages.values():
                rows[k] += 7.0 * sizes
    stages["CLIE"][5] = stages["SDP"][5] = np.nan
    labels = tuple(run.label for run in runs)
    cloud = parameter_cloud(stages, labels, names, units)
    representative = cloud.representative(["AG02 @ 40 ms", "AG02 @ 80 ms", "AP02 @ 40 ms"])
    refined = stages["CLIE"][labels.index(representative)]
    final = refined + np.where(np.arange(len(truth)) < 3, 1e-4, 1e-7)
    time = np.linspace(0.0, 30.0, 1501)
    waves = [a * np.sin(0.9 * time + a) + 0.3 * np.sin(5 * a * time) for a in (4.0, 2.0, 0.4)]
    torque = np.column_stack(waves)
    off = 0.03 * rng.standard_normal(torque.shape)
    errors = prediction_error(torque, torque + off), prediction_error(torque, torque + 1.002 * off)
    return CampaignContent(
        name="crane_x7",
        robot="crane_x7_hand",
        digest="ab" * 32,
        setting="shared starts",
        setting_words="Runs of one motion share the start found at 40 ms and the Jacobian at 10 ms.",
        simulated=True,
        runs=runs,
        verdict=Verdict(
            (
                Check("parameter cloud", Status.PASS, "dispersion shrinks from OLS to SDP."),
                Check("all runs certified", Status.WARN, "159 of 160 are."),
                Check("held-out torque kept", Status.PASS, "mean RMSE grows by 0.2 %."),
            )
        ),
        wall_seconds=71.3,
        cpu_seconds=139.8,
        cores=2,
        cloud=cloud,
        compared=("AP01", "AG02"),
        representative=representative,
        candidates=("AG02 @ 40 ms", "AG02 @ 80 ms", "AP02 @ 40 ms"),
        stages=(
            StageJudgement("OLS", -2.1e-4, 100_000, -2.3e-4, False, None, False, None, "least squares"),
            StageJudgement("SDP", 9.9e-4, 100_000, 9.8e-4, True, 9.5e-4, False, 1e-3, "projected"),
            StageJudgement("CLIE", 3.1e-4, 100_000, 3.0e-4, True, 2.8e-4, True, None, "refined"),
            StageJudgement("accepted", 3.1e-4, 100_000, 3.0e-4, True, 2.8e-4, True, 0.0, "nothing to rescue"),
        ),
        changes=largest_changes(refined, final, names, units),
        changed_from="CLIE",
        parameters=tuple(
            AcceptedParameter(name, unit, float(value))
            for (name, unit, *_), value in zip(PUBLISHED, final, strict=True)
        ),
        held_out=tuple(HeldOutMotion(name, *errors) for name in ("V01", "V02", "V03")),
        joints=("joint 2", "joint 4", "joint 6"),
        units=("N·m", "N·m", "N·m"),
        traces=(TorqueTrace("V03", True, time, torque, torque + off),),
        commands=(
            CommandCurves(
                "AG02",
                "the representative",
                ("joint 2", "joint 4", "joint 6"),
                ("rad",) * 3,
                time,
                torque / 4,
            ),
            CommandCurves("V03", "held out", ("joint 2",), ("rad",), time, torque[:, :1] / 4),
        ),
        reference=the_paper(),
        assumptions=(
            "Links are symmetric about the planes of their frames.",
            "The hand axis carries no mass.",
        ),
        digests={"specs/crane_x7.toml": "cd" * 32},
        versions={"steelyard": "0.9.0", "numpy": "2.3.4"},
        spec='[campaign]\nkind = "arm"\n\n[motions]\n  families = ["PA", "PB"]\n',
        untested=("No motion of a real arm was recorded.",),
        made="2026-11-16",
    )


def hostile(content: CampaignContent) -> CampaignContent:
    """The same campaign with names that try to do something."""
    first = replace(content.runs[0], route=HOSTILE, outcome=HOSTILE, reason=HOSTILE)
    others = dict(list(the_paper().parameters.items())[1:])
    theirs = CampaignReference(
        HOSTILE,
        noun=HOSTILE,
        differs=(HOSTILE,),
        notes=dict.fromkeys(("times", "parameters", "held_out"), HOSTILE),
        times={"all_runs": 1.0},
        passed={0.01: (1, 2)},
        compared={(content.compared[0], 0.01): ReferenceRun(1.0, HOSTILE)},
        held_out={HOSTILE: {"rmse": (1.0, 1.0)}},
        parameters={HOSTILE: 0.5} | others,
    )
    return replace(
        content,
        name=HOSTILE,
        robot=HOSTILE,
        setting=HOSTILE,
        setting_words=HOSTILE,
        runs=(first, *content.runs[1:]),
        stages=(replace(content.stages[0], stage=HOSTILE, remark=HOSTILE), *content.stages[1:]),
        parameters=(replace(content.parameters[0], name=HOSTILE, unit=HOSTILE), *content.parameters[1:]),
        held_out=(replace(content.held_out[0], motion=HOSTILE), *content.held_out[1:]),
        joints=(HOSTILE, *content.joints[1:]),
        traces=(replace(content.traces[0], name=HOSTILE),),
        commands=(replace(content.commands[1], motion=HOSTILE, told=HOSTILE, joints=(HOSTILE,)),),
        reference=theirs,
        assumptions=(HOSTILE,),
        digests={HOSTILE: HOSTILE},
        spec=HOSTILE,
        made=HOSTILE,
    )


@pytest.fixture(scope="module")
def content() -> CampaignContent:
    return campaign()


@pytest.fixture(scope="module")
def reader(content: CampaignContent) -> Reader:
    return Reader(campaign_page(content))


def test_the_page_is_well_formed_and_says_everything(reader: Reader, content: CampaignContent) -> None:
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {(a["href"] or "")[1:] for tag, a in reader.tags if tag == "a"} <= set(ids)
    for word in (
        "159 of 160",
        "71.3 s",
        "631 391 s",
        "1 018 s",
        "not like for like",
        "shared starts",
        "40 motions of a simulated arm",
        "10 ms, 20 ms, 40 ms, 80 ms",
        "the simulated loop left 1e3 rad/s after 3.2 s.",
        "Physically possible",
        "does not define its mean normalised error",
        "largest torque measured",
        "No motion of a real arm was recorded.",
        "Links are symmetric",
        "cd" * 32,
        'kind = "arm"',
        content.representative,
    ):
        assert word in reader.words
    pictures = [attrs for tag, attrs in reader.tags if tag == "svg"]
    assert len(pictures) == 4 + 1 + 4
    assert all(attrs.get("aria-label") for attrs in pictures)


def test_every_answer_is_a_mark_that_names_its_run(reader: Reader, content: CampaignContent) -> None:
    assert content.cloud is not None
    page = campaign_page(content)
    for label in (content.cloud.labels[0], "AP01 @ 80 ms"):
        assert page.count(f"<title>{label}: ") == 4  # the last stage is drawn enlarged, too
    assert page.count("<title>PA02 @ 20 ms: ") == 1  # it failed after least squares


def picture_of(page: str, stage: str) -> str:
    """The first picture of a stage, on the axes that all stages share."""
    start = page.index(f'<svg viewBox="0 0 320 320" role="img" aria-label="{stage}: ')
    return page[start : page.index("</svg>", start)]


def positions(picture: str) -> dict[str, tuple[float, float]]:
    found = re.findall(r'translate\((\S+) (\S+)\)" [^>]*><title>([^:]+):', picture)
    return {label: (float(x), float(y)) for x, y, label in found}


def test_marks_stand_where_their_scores_are_and_the_stages_share_their_axes(content: CampaignContent) -> None:
    cloud = content.cloud
    assert cloud is not None
    page = campaign_page(content)
    x, y, first, second = [], [], [], []
    for stage in cloud.stages[1:]:
        places = positions(picture_of(page, stage.name))
        assert len(places) == stage.answered.sum()
        for k, label in enumerate(cloud.labels):
            if label in places and 35.0 < places[label][0] < 311.0 and 9.0 < places[label][1] < 283.0:
                x.append(places[label][0])
                y.append(places[label][1])
                first.append(stage.scores[k, 0])
                second.append(stage.scores[k, 1])
    assert len(x) > 300
    for at, score, sign in ((x, first, 1.0), (y, second, -1.0)):
        slope, start = np.polyfit(score, at, 1)
        assert np.sign(slope) == sign
        assert np.abs(np.array(at) - slope * np.array(score) - start).max() < 0.2


def test_a_wild_answer_stands_at_the_edge_and_is_labelled(content: CampaignContent) -> None:
    cloud = content.cloud
    assert cloud is not None
    picture = picture_of(campaign_page(content), cloud.stages[0].name)
    wild = cloud.labels[17]
    assert ("OLS", wild) in cloud.left_out
    x, y = positions(picture)[wild]
    assert x in (34.0, 312.0) or y in (8.0, 284.0)
    assert f">{wild}</text>" in picture
    assert f">{content.representative}</text>" in picture
    assert picture.count("<circle") == 1


def test_tables_carry_the_papers_figures_beside_and_only_when_asked(content: CampaignContent) -> None:
    beside = Reader(campaign_page(content)).words
    alone = Reader(campaign_page(replace(content, reference=None))).words
    for figure in ("22 of 40", "0.1680 N·m", "631 391", "cond, paper"):
        assert figure in beside
        assert figure not in alone
    for figure in ("0.07360 FV1", "−0.00003 ZZR6", "47.1 O-S-C 0.005", "0.06721 0.06719"):
        assert figure in beside
    assert "Oaki et al. (2026)" in beside
    assert "Oaki et al. (2026)" not in alone


def test_values_of_a_reference_keep_every_digit(content: CampaignContent) -> None:
    names = [parameter.name for parameter in content.parameters]
    for smallest, first in ((0.0025, "1.5000"), (2.5e-12, "1.5"), (2.5e200, "1.5")):
        stated = dict.fromkeys(names, 1.5) | {names[-1]: -smallest}
        words = Reader(
            campaign_page(replace(content, reference=CampaignReference("us", parameters=stated)))
        ).words
        assert f"{first} {names[0]}" in words
        assert f"−{smallest!r}".replace("e-", "e−") + f" {names[-1]}" in words


def test_a_reference_adds_only_the_columns_that_it_states(content: CampaignContent) -> None:
    for key, value, shown in (
        ("times", {"all_cores": 9.0}, "reference over here"),
        ("passed", {0.01: (1, 2)}, "OLS passed, reference"),
        ("compared", {("AP01", 0.01): ReferenceRun(7.0)}, "cond, reference"),
        ("held_out", {"V01": {"mne": (0.5, 0.25)}}, "refined, reference"),
    ):
        reference = CampaignReference("us", **{key: value})
        words = Reader(campaign_page(replace(content, reference=reference))).words
        assert shown in words
        every = ("reference over here", "OLS passed, ref", "cond, ref", "refined, ref", "reference’s value")
        assert [word in words for word in every].count(True) == 1
        assert "nan" not in words


def test_routing_on_the_page_counts_every_run(reader: Reader, content: CampaignContent) -> None:
    for interval in INTERVALS:
        own = [run.passed for run in content.runs if run.interval == interval]
        row = f"{1e3 * interval:g} ms {own.count(True)} {own.count(False)} {own.count(None)} 40"
        assert row in reader.words


def test_chosen_motions_have_a_row_for_each_of_their_runs(content: CampaignContent) -> None:
    chosen = content.runs[0].motion
    page = campaign_page(replace(content, compared=(chosen,)))
    table = page[page.index("Chosen motions") :]
    labels = [run.label for run in content.runs if run.motion == chosen]
    assert labels
    assert all(f"<bdi>{label}</bdi>" in table[: table.index("</table>")] for label in labels)


def test_the_record_holds_every_run_with_keys_to_sort_by(content: CampaignContent) -> None:
    page = campaign_page(content)
    table = page[page.index('id="parameter-table"') :]
    table = table[: table.index("</table>")]
    rows = re.findall(r'<tr role="row" data-kind="(\w+)" data-place="(\d+)">(.*?)</tr>', table)
    assert [int(place) for _, place, _ in rows] == list(range(160))
    assert [kind for kind, _, _ in rows].count("failed") == 1
    for (_, _, cells), run in zip(rows, content.runs, strict=True):
        keys = re.findall(r'data-key="([^"]*)"', cells)
        assert keys[0] == run.label
        assert keys[1] == ("Infinity" if run.condition == float("inf") else str(run.condition))
        assert float(keys[-1]) == run.seconds


def test_every_number_of_the_accepted_model_has_its_unit(content: CampaignContent) -> None:
    page = campaign_page(content)
    section = page[page.index('<section id="representative">') : page.index('<section id="held-out">')]
    text = Reader(section).words
    for parameter in content.parameters:
        unit = parameter.unit.replace("^2", "²").replace("kg m", "kg·m").replace("N m", "N·m")
        assert re.search(rf"{re.escape(parameter.name)} [−\d.e]+ {re.escape(unit)}", text)


def test_the_page_fetches_nothing_and_names_do_nothing(content: CampaignContent) -> None:
    page = campaign_page(hostile(content))
    reader = Reader(page)
    assert not [tag for tag, _ in reader.tags if tag in ("img", "link", "iframe")]
    assert sum(tag == "script" for tag, _ in reader.tags) == 2
    assert not [
        name for _, attrs in reader.tags for name in attrs if name.startswith("on") or name == "style"
    ]
    assert "default-src 'none'" in page
    data: Any = json.loads(re.findall(r'id="data">(.*?)</script>', page)[0])
    assert data["joints"][0] == HOSTILE.replace("\x1b", "\\x1b")
    assert "\x1b" not in page
    assert "\x1b" not in campaign_summary(hostile(content))


def test_the_same_campaign_gives_the_same_page(content: CampaignContent) -> None:
    assert campaign_page(content) == campaign_page(campaign())
    assert campaign_page(content) != campaign_page(replace(content, robot="other"))


def test_a_campaign_without_anything_still_has_a_page(content: CampaignContent) -> None:
    empty = CampaignContent(
        "none", "arm", "", "shared starts", "", True, (), Verdict(()), 0.0, float("nan"), 1
    )
    words = Reader(campaign_page(empty)).words
    assert "0 of 0" in words
    assert "nan" not in words.lower()
    assert campaign_summary(empty).endswith("\n")
    assert content.cloud is not None
    rows = content.cloud.stages[0].values
    halted = parameter_cloud(
        {"OLS": rows, "CLIE": np.full_like(rows, np.nan)},
        content.cloud.labels,
        content.cloud.names,
        content.cloud.units,
    )
    halfway = Reader(campaign_page(replace(content, cloud=halted))).words
    assert "cannot be compared" in halfway
    assert "nan" not in halfway.lower()
    bare = replace(content, cloud=None, held_out=(), traces=(), commands=(), stages=(), parameters=())
    assert "The representative is" in Reader(campaign_page(bare)).words


def test_the_summary_says_the_essentials(content: CampaignContent) -> None:
    text = campaign_summary(content)
    for word in (
        "crane_x7_hand",
        "Use this model with care",
        "160 runs: 159 with a result, 1 failed, 159 proven",
        "71.3 s from start to end on 2 cores",
        "631391 s; not like for like",
        "of 40 at 10 ms",
        "CLIE",
        f"Representative: {content.representative}",
        "physically possible yes",
        "N·m accepted",
        "PA02 @ 20 ms: the simulated loop left",
    ):
        assert word in text
    assert max(map(len, text.splitlines())) < 160


def test_content_that_contradicts_itself_is_refused(content: CampaignContent) -> None:
    with pytest.raises(InputError, match="once"):
        replace(content, runs=(*content.runs, content.runs[0]))
    with pytest.raises(UnknownNameError, match="run 'nobody'"):
        replace(content, representative="nobody")
    with pytest.raises(UnknownNameError, match="motion 'AG03'"):
        replace(content, compared=("AG03",))
    with pytest.raises(UnknownNameError, match="cloud"):
        replace(content, runs=content.runs[1:], representative="", candidates=())
    with pytest.raises(InputError, match=r"reference.parameters: states 1 parameters for 12"):
        replace(content, reference=CampaignReference("us", parameters={"a": 1.0}))
    curves = content.commands[0]
    with pytest.raises(InputError, match="2 units for 3"):
        replace(curves, units=("rad", "rad"))
    with pytest.raises(InputError, match="must increase"):
        replace(curves, time=curves.time[::-1])
