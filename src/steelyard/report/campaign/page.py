"""The page of a campaign: one self-contained HTML file, readable with scripts off."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.audit import MNE_DEFINITION, ParameterCloud, PredictionError, Status, routing_table
from steelyard.report.campaign.cloud import cloud_section
from steelyard.report.campaign.content import (
    COMPARED,
    HELD_OUT,
    MEDIAN_SECONDS,
    NOT_LIKE_FOR_LIKE,
    ORDER,
    PASSED,
    RUNS_AT_INTERVAL,
    SIMULATED,
    TOTAL_SECONDS,
    CampaignContent,
    CampaignRun,
    counted,
    duration,
    milliseconds,
    number,
    stated_number,
    yes,
)
from steelyard.report.content import SYMBOLS, ReportContent, headline
from steelyard.report.html import (
    MINUS,
    aligned_numerals,
    html_table,
    marked_up,
    numeral,
    unit_text,
    visible_text,
)
from steelyard.report.identification import SCRIPTS, checks_section, plot_data, torque_section
from steelyard.report.page import page, thinned
from steelyard.report.payload.page import STYLES

# The head of a campaign's page: what was done, how it ended, and what it took beside the paper's record.


def campaign_opening(content: CampaignContent) -> str:
    """Robot, verdict, counts and times.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    status = content.verdict.status
    untested = content.verdict.untested
    missing = f" {counted(len(untested), 'check')} not run." if untested else ""
    total, failed = len(content.runs), len(content.failures)
    figures = [
        (f"{total - failed} of {total}", "runs ended with a result"),
        (f"{failed}", f"{'run' if failed == 1 else 'runs'} failed"),
        (f"{content.proven} of {total}", "proven positive definite at every pose"),
        (duration(content.wall_seconds), f"from start to end, {counted(content.cores, 'core')}"),
    ]
    listed = "".join(f"<div><dt>{told}</dt><dd>{value}</dd></div>" for value, told in figures)
    steps = ", ".join(milliseconds(interval) for interval in content.intervals)
    plant = "a simulated arm" if content.simulated else "recorded logs"
    return (
        f'<p class="eyebrow">Campaign <bdi>{marked_up(content.name)}</bdi></p>\n'
        f"<h1><bdi>{marked_up(content.robot)}</bdi></h1>\n"
        f'<p class="verdict" data-status="{status.value}"><span class="mark" aria-hidden="true">'
        f"{SYMBOLS[status]}</span><span><strong>{headline(content.verdict)}</strong>{missing}</span></p>\n"
        f'<dl class="figures">{listed}</dl>\n'
        f"<p>{counted(len(content.motions), 'motion')} of {plant}, each sampled at intervals of {steps}. "
        f"Setting: <strong>{marked_up(content.setting)}</strong>. {marked_up(content.setting_words)}</p>\n"
        f"{_time_table(content)}"
    )


def _time_table(content: CampaignContent) -> str:
    here = {
        "median run": content.median_seconds,
        "all runs": math.fsum(run.seconds for run in content.runs if math.isfinite(run.seconds)),
        "the whole campaign, all cores": content.cpu_seconds,
        "from start to end": content.wall_seconds,
    }
    if not content.beside_paper:
        rows = [(told, duration(seconds)) for told, seconds in here.items()]
        return html_table("Times", ("time", "here"), [rows])
    paper = {"median run": MEDIAN_SECONDS, "all runs": TOTAL_SECONDS}
    told = [
        (
            name,
            duration(seconds),
            duration(paper.get(name, math.nan)),
            _ratio(paper.get(name, math.nan), seconds),
        )
        for name, seconds in here.items()
    ]
    words = " ".join((NOT_LIKE_FOR_LIKE, *([SIMULATED] if content.simulated else []), ORDER))
    heads = ("time", "here", "paper 004", "paper over here")
    return f"{html_table('Times beside the paper', heads, [told])}<p>{words}</p>\n"


def _ratio(paper: float, here: float) -> str:
    if not (math.isfinite(paper) and here > 0.0):
        return "–"
    power = round(math.log10(paper / here))
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"of the order of 10{raised}"


# The full record of a campaign: every run with its numbers, to be sorted and filtered, and the failures.

_DONE, _FAILED = "done", "failed"


def campaign_run_section(content: CampaignContent) -> str:
    """Every run (paper 004, Appendix A), and why some failed.

    Args:
        content: what the page says.

    Returns:
        HTML; empty without runs.
    """
    if not content.runs:
        return ""
    stages = tuple(dict.fromkeys(name for run in content.runs for name in run.rms))
    heads = _heads(stages)
    rows = "\n".join(_run_row(k, run, stages) for k, run in enumerate(content.runs))
    titles = "".join(
        f'<th scope="col" role="columnheader" title="{whole}">{short}</th>' for short, whole in heads
    )
    return (
        f"{_failed(content)}<p>cond: condition number of the regressor in SI units. PD: whether the answer "
        "of least squares is positive definite. Margin: what the projection asked of the smallest "
        f"eigenvalue, kg·m². {', '.join(map(marked_up, stages))}: root mean square of the torque left after "
        "the stage, N·m. Steps: of the refinement. Proof: positive definite at every pose. Time: of one "
        "core.</p>\n"
        f"{_controls(content, heads)}"
        '<div class="scroll" tabindex="0" role="region" aria-label="All runs">'
        '<table id="parameter-table" class="parameters margins stack" role="table">'
        f'<thead role="rowgroup"><tr role="row">{titles}</tr></thead>\n'
        f'<tbody role="rowgroup">\n{rows}\n</tbody></table></div>\n'
        '<p id="no-parameter" class="quiet" hidden>No run matches.</p>\n'
    )


def _heads(stages: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each column's heading, short where columns stand side by side, and whole where they do not."""
    return [
        ("run", "run"),
        ("cond", "condition number"),
        ("PD", "OLS positive definite"),
        ("route", "route"),
        ("margin", "margin, kg·m²"),
        *((marked_up(stage), f"rms {marked_up(stage)}, N·m") for stage in stages),
        ("steps", "steps"),
        ("outcome", "outcome"),
        ("proof", "proof"),
        ("time", "time"),
    ]


def _failed(content: CampaignContent) -> str:
    failed = content.failures
    if not failed:
        return f"<p>None of {counted(len(content.runs), 'run')} failed.</p>\n"
    rows = "\n".join(
        f'<li data-severity="error"><span class="state">failed</span><div><bdi>{marked_up(run.label)}</bdi>: '
        f"{marked_up(run.reason)}</div></li>"
        for run in failed
    )
    listed = f'<ul class="findings">\n{rows}\n</ul>\n'
    if len(failed) > 8:
        listed = f"<details><summary>the reasons of all {len(failed)}</summary>{listed}</details>\n"
    return f"<p>{len(failed)} of {counted(len(content.runs), 'run')} failed.</p>\n{listed}"


def _controls(content: CampaignContent, heads: list[tuple[str, str]]) -> str:
    kinds = [(kind, sum(_kind(run) == kind for run in content.runs)) for kind in (_DONE, _FAILED)]
    boxes = "".join(
        f'<label><input type="checkbox" data-kind="{kind}" checked>{kind} <small>{count}</small></label>'
        for kind, count in kinds
        if count
    )
    options = "".join(f'<option value="{k}">{whole}</option>' for k, (_, whole) in enumerate(heads))
    return (
        '<div class="controls" id="parameter-controls" hidden><label>Filter <input type="search" '
        f'id="parameter-filter" placeholder="motion, route, outcome"></label><fieldset><legend>Runs</legend>'
        f'{boxes}</fieldset><label class="narrow">Sort by <select id="parameter-sort">'
        f'<option value="">as listed</option>{options}</select></label>'
        '<output id="parameter-count"></output></div>\n'
    )


def _run_row(place: int, run: CampaignRun, stages: tuple[str, ...]) -> str:
    answers = {True: "yes", False: "no", None: "–"}
    cells = [
        (run.label, f"<bdi>{marked_up(run.label)}</bdi>"),
        (_key(run.condition), number(run.condition)),
        (answers[run.passed], answers[run.passed]),
        (run.route, marked_up(run.route)),
        (_key(run.margin), stated_number(run.margin)),
        *((_key(run.rms.get(stage)), number(run.rms.get(stage))) for stage in stages),
        (_key(run.iterations), "–" if run.iterations is None else str(run.iterations)),
        (run.outcome, marked_up(run.outcome)),
        (answers[run.proven], answers[run.proven]),
        (_key(run.seconds), number(run.seconds, "s")),
    ]
    tags = "".join(
        f'<{_open(k)} data-label="{label}" data-key="{marked_up(key)}"><span>{text}</span>'
        f"</{'th' if k == 0 else 'td'}>"
        for k, ((key, text), (_, label)) in enumerate(zip(cells, _heads(stages), strict=True))
    )
    return f'<tr role="row" data-kind="{_kind(run)}" data-place="{place}">{tags}</tr>'


def _open(column: int) -> str:
    return 'th scope="row" role="rowheader"' if column == 0 else 'td role="cell"'


def _kind(run: CampaignRun) -> str:
    return _FAILED if run.failed else _DONE


def _key(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return str(value).replace("inf", "Infinity")


# Routing of the runs on the page of a campaign: which least-squares answers passed, and two motions.


def routing_section(content: CampaignContent) -> str:
    """How the runs went from least squares to refinement (paper 004, Tables III and IV).

    Args:
        content: what the page says.

    Returns:
        HTML; empty without runs.
    """
    if not content.runs:
        return ""
    rows = routing_table([run.interval for run in content.runs], [run.passed for run in content.runs])
    heads = ["interval", "OLS passed", "projected first", "no answer", "runs"]
    told = [
        [milliseconds(row.interval), *map(str, (row.passed, row.projected, row.unanswered, row.total))]
        for row in rows
    ]
    if content.beside_paper:
        heads.append("OLS passed, paper")
        for row, cells in zip(rows, told, strict=True):
            paper = PASSED.get(row.interval)
            cells.append("–" if paper is None else f"{paper} of {RUNS_AT_INTERVAL}")
    return (
        "<p>An answer of least squares (OLS) whose inertia matrix is positive definite goes straight to "
        "refinement (O-C); any other is projected first (O-S-C).</p>\n"
        f"{html_table('Routing by sampling interval', heads, [told])}{_compared(content)}"
    )


def _compared(content: CampaignContent) -> str:
    if not content.compared:
        return ""
    heads = ["run", "cond", "route", "margin, kg·m²"]
    if content.beside_paper:
        heads += ["cond, paper", "route, paper", "paper, kg·m²"]
    groups = []
    for motion in content.compared:
        rows = []
        for interval in content.intervals:
            run = content.run(motion, interval)
            if run is not None:
                paper = _paper(motion, interval) if content.beside_paper else []
                rows.append([f"<bdi>{marked_up(run.label)}</bdi>", *_cells(run), *paper])
        groups.append(rows)
    names = " and ".join(f"<bdi>{marked_up(motion)}</bdi>" for motion in content.compared)
    return (
        f"<h3>{names}</h3>\n<p>The condition number (cond) is that of the regressor in SI units. The margin "
        "is the smallest eigenvalue of the inertia matrix that the projection asked for; a dash says that "
        f"nothing was projected.</p>\n{html_table('Chosen motions', heads, groups)}"
    )


def _cells(run: CampaignRun) -> list[str]:
    return [number(run.condition), marked_up(run.route), stated_number(run.margin)]


def _paper(motion: str, interval: float) -> list[str]:
    condition, route, margin = COMPARED.get((motion, interval), (None, "–", None))
    return [number(condition), route, stated_number(margin)]


# The chosen model on the page of a campaign: stage by stage, what changed, and its parameters.

_EIGENVALUE = "kg·m²"
_CLAIMS = (
    "<p>Two different claims are made. <strong>Positive definite at every pose</strong>: the inertia matrix "
    "never lets a motion carry negative kinetic energy, so that simulation and control can invert it. "
    "<strong>Physically possible</strong>: links of positive mass, somewhere, have exactly these parameters. "
    "What is possible is never negative; but a model can be positive definite at every pose although no real "
    "links have its parameters.</p>\n"
)


def model_section(content: CampaignContent) -> str:
    """The representative through the stages (paper 004, Tables V and VI) and the accepted parameters.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no run was chosen.
    """
    if not content.representative:
        return ""
    return f"{_choice(content)}{_stages(content)}{_changes(content)}{_parameters(content)}"


def _choice(content: CampaignContent) -> str:
    label = f"<strong><bdi>{marked_up(content.representative)}</bdi></strong>"
    cloud = content.cloud
    if cloud is None:
        return f"<p>The representative is {label}.</p>\n"
    among = counted(len(content.candidates), "candidate") if content.candidates else "all runs"
    ranked = cloud.ranking(content.candidates or None)
    places = {name: k for k, (name, _) in enumerate(ranked)}
    words = f"The representative is {label}"
    if content.representative in places:
        place = places[content.representative]
        distance = number(ranked[place][1])
        words += (
            f": the most central of {among} after {marked_up(cloud.stages[-1].name)}, at a distance of "
            f"{distance} scales from the median of the cloud"
            if place == 0
            else f": number {place + 1} of {len(ranked)} by its distance of {distance} scales from the median"
        )
    rest = ", ".join(
        f"<bdi>{marked_up(name)}</bdi> ({number(distance)})"
        for name, distance in ranked[:4]
        if name != content.representative
    )
    return f"<p>{words}.{f' Next to it: {rest}.' if rest else ''}</p>\n"


def _stages(content: CampaignContent) -> str:
    stages = content.stages
    if not stages:
        return ""
    poses = max(stage.poses for stage in stages)
    over = f"over {poses:,} sampled poses".replace(",", "\u202f") if poses else "over sampled poses"
    rows = [
        (f"least eigenvalue {over}", *(number(stage.sampled, _EIGENVALUE) for stage in stages)),
        ("least found by minimisation", *(number(stage.minimised, _EIGENVALUE) for stage in stages)),
        ("proven positive at every pose", *(yes(stage.proven) for stage in stages)),
        ("proven lower bound", *(number(stage.bound, _EIGENVALUE) for stage in stages)),
        ("physically possible", *(yes(stage.possible) for stage in stages)),
        ("margin asked for", *(number(stage.margin, _EIGENVALUE) for stage in stages)),
        ("remark", *(marked_up(stage.remark) or "–" for stage in stages)),
    ]
    heads = ("inertia matrix", *(marked_up(stage.stage) for stage in stages))
    return f"{_CLAIMS}{html_table('The representative, stage by stage', heads, [rows])}"


def _changes(content: CampaignContent) -> str:
    if not content.changes:
        return ""
    before = marked_up(content.changed_from or "before")
    heads = ("parameter", before, "accepted", "change")
    rows = [
        (
            f"<bdi>{marked_up(change.name)}</bdi>",
            number(change.before, unit_text(change.unit), digits=4),
            number(change.after, unit_text(change.unit), digits=4),
            number(change.change, unit_text(change.unit), digits=2),
        )
        for change in content.changes
    ]
    return f"<h3>Largest changes by the last stage</h3>\n{html_table('Largest changes', heads, [rows])}"


def _parameters(content: CampaignContent) -> str:
    if not content.parameters:
        return ""
    published = any(parameter.published is not None for parameter in content.parameters)
    values = aligned_numerals([numeral(parameter.value) for parameter in content.parameters])
    heads = ["parameter", "accepted", "unit"]
    if published:
        heads += ["paper’s value", "paper’s name"]
    rows = []
    for parameter, value in zip(content.parameters, values, strict=True):
        row = [f"<bdi>{marked_up(parameter.name)}</bdi>", value, unit_text(parameter.unit)]
        if published:
            row += [_printed(parameter.published), marked_up(parameter.published_name) or "–"]
        rows.append(row)
    note = (
        "<p>The paper’s values are those of its own arm, in its own grouping of parameters; they show sizes, "
        "not what should have come out here.</p>\n"
        if published
        else ""
    )
    return f"<h3>Accepted parameters</h3>\n{note}{html_table('Accepted parameters', heads, [rows])}"


def _printed(value: float | None) -> str:
    """With the five decimals the paper prints."""
    return "–" if value is None else f"{value:.5f}".replace("-", MINUS)


# Reference commands of a motion: one small picture for each joint, as SVG.

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 320, 150, 54, 8, 8, 24
POINTS = 600
"""Samples kept of one joint, every extreme among them."""


def command_figure(time: Array, values: Array, joint: str, unit: str) -> str:
    """Draw what one joint was told to do.

    Args:
        time: increasing, shape (N,), s.
        values: commanded position, shape (N,), rad or m.
        joint: its name.
        unit: of the values.

    Returns:
        HTML: a figure with its caption.
    """
    t = checked("time", time, ("N",))
    q = checked("values", values, (len(t),))
    kept = thinned(q[:, None], POINTS)
    low, high = float(q.min()), float(q.max())
    span = high - low or 1.0
    right, floor = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    x = _LEFT + (t[kept] - t[0]) / (t[-1] - t[0]) * (right - _LEFT)
    y = floor - 4.0 - (q[kept] - low) / span * (floor - _TOP - 8.0)
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
    parts = []
    for value in dict.fromkeys((low, 0.0, high)):
        if low <= value <= high and (value in (low, high) or min(value - low, high - value) > 0.15 * span):
            at = floor - 4.0 - (value - low) / span * (floor - _TOP - 8.0)
            kind = "zero" if value == 0.0 else "grid"
            parts.append(f'<path class="{kind}" d="M{_LEFT} {at:.1f}H{right}"/>')
            parts.append(_text(_LEFT - 6, at + 4, numeral(value, digits=3), "end"))
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        moment = float(t[0] + share * (t[-1] - t[0]))
        told = f"{numeral(round(moment, 1), digits=3)}\u202fs"
        parts.append(_text(_LEFT + share * (right - _LEFT), _HEIGHT - 6, told, anchor))
    name, words = marked_up(joint), marked_up(f"Command of {joint} over time")
    return (
        f"<figure><figcaption><strong>{name}</strong><span>{marked_up(unit)}</span></figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{words}">'
        f'{"".join(parts)}<path class="curve predicted" d="M{path}"/></svg></figure>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


# Prediction of held-out motions on the page of a campaign: errors, torque curves, reference commands.

Pair = tuple[float, float]
"""A figure of the refined and of the accepted model."""
_MEASURES: tuple[tuple[str, str, Callable[[PredictionError], float]], ...] = (
    ("RMSE", "N·m", lambda error: error.rmse),
    ("MNE", "", lambda error: error.mne),
)


def held_out_section(content: CampaignContent) -> str:
    """Errors on motions not used for identification (paper 004, Table VII).

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no motion was held out.
    """
    if not content.held_out:
        return ""
    heads = ["motion", "refined", "accepted", "change"]
    if content.beside_paper:
        heads += ["refined, paper", "accepted, paper"]
    groups = []
    for k, (name, unit, measure) in enumerate(_MEASURES):
        figures = {
            motion.motion: (measure(motion.refined), measure(motion.final)) for motion in content.held_out
        }
        paper = {motion: HELD_OUT[motion][k] for motion in figures if motion in HELD_OUT}
        rows = [
            _held_out_row(f"{name} <bdi>{marked_up(motion)}</bdi>", unit, both, paper.get(motion))
            for motion, both in figures.items()
        ]
        rows.append(_held_out_row(f"<strong>{name}, mean</strong>", unit, _mean(figures), _mean(paper)))
        groups.append([row[: len(heads)] for row in rows])
    return (
        "<p>RMSE: root mean square of the torque error over all samples and joints. The paper does not "
        f"define its mean normalised error (MNE). Here it is dimensionless: {MNE_DEFINITION}.</p>\n"
        f"{html_table('Errors on held-out motions', heads, groups)}{_joints(content)}"
    )


def _held_out_row(name: str, unit: str, here: Pair | None, paper: Pair | None) -> list[str]:
    nothing = (float("nan"), float("nan"))
    refined, final = here or nothing
    change = 100.0 * (final / refined - 1.0) if refined > 0.0 else float("nan")
    told = [number(value, unit, digits=4) for value in (refined, final)]
    return [
        name,
        *told,
        number(change, "%", digits=2),
        *(number(value, unit, digits=4) for value in paper or nothing),
    ]


def _mean(figures: Mapping[str, Pair]) -> Pair | None:
    if not figures:
        return None
    first, second = np.mean(list(figures.values()), axis=0)
    return float(first), float(second)


def torque_curves(content: CampaignContent) -> str:
    """Measured and predicted torque along held-out motions (paper 004, Fig. 8).

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no torque is shown.
    """
    return torque_section(campaign_as_report(content))


def command_section(content: CampaignContent) -> str:
    """What the joints were told to do (paper 004, Figs. 5 and 6).

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no command is shown.
    """
    parts = []
    for curves in content.commands:
        panels = "\n".join(
            command_figure(curves.time, curves.values[:, j], joint, unit)
            for j, (joint, unit) in enumerate(zip(curves.joints, curves.units, strict=True))
        )
        told = f", {marked_up(curves.told)}" if curves.told else ""
        lasts = number(float(curves.time[-1] - curves.time[0]), "s", digits=4)
        parts.append(
            f"<h3><bdi>{marked_up(curves.motion)}</bdi>{told}, {lasts}</h3>\n"
            f'<div class="facts">\n{panels}\n</div>\n'
        )
    return "".join(parts)


def campaign_as_report(content: CampaignContent) -> ReportContent:
    """What the page of a campaign has in common with that of an identified robot.

    Args:
        content: what the page says.

    Returns:
        The same robot, checks and torques.
    """
    return ReportContent(
        robot=content.robot,
        digest=content.digest,
        method=content.setting,
        verdict=content.verdict,
        joints=content.joints,
        units=content.units,
        traces=content.traces,
        versions=content.versions,
        untested=content.untested,
        made=content.made,
    )


def _joints(content: CampaignContent) -> str:
    """Errors of every joint by motion, folded away."""
    count = max(len(motion.final.joint_rmse) for motion in content.held_out)
    heads = ["joint", *(f"RMSE {marked_up(motion.motion)}" for motion in content.held_out)]
    rows = [[str(j + 1), *(_at(motion.final, j) for motion in content.held_out)] for j in range(count)]
    return (
        "<details><summary>accepted model, RMSE of every joint</summary>"
        f"{html_table('Errors by joint', heads, [rows])}</details>\n"
    )


def _at(error: PredictionError, joint: int) -> str:
    if joint >= len(error.joint_rmse):
        return "–"
    return number(float(error.joint_rmse[joint]), "N·m")


# What a campaign rests on: assumptions, digests, versions, and the text that described it.


def campaign_record_section(content: CampaignContent) -> str:
    """Assumptions, digests, versions and the description of the campaign.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    assumed = "".join(f"<li>{marked_up(sentence)}</li>" for sentence in content.assumptions)
    read = {"robot description": content.digest, **content.digests}
    return (
        (f'<h3>What was assumed</h3>\n<ul class="untested">{assumed}</ul>\n' if assumed else "")
        + f"<h3>Digests, SHA-256</h3>\n{_definitions(read, code=True)}"
        + (f"<h3>Versions</h3>\n{_definitions(content.versions)}" if content.versions else "")
        + _spec(content.spec)
    )


def _definitions(values: Mapping[str, str], *, code: bool = False) -> str:
    opened, closed = ("<code>", "</code>") if code else ("", "")
    listed = "".join(
        f"<div><dt><bdi>{marked_up(name)}</bdi></dt><dd>{opened}{marked_up(value)}{closed}</dd></div>"
        for name, value in values.items()
        if value
    )
    return f'<dl class="facts">{listed}</dl>\n'


def _spec(spec: str) -> str:
    """The description line by line: white space at the head of a line is kept, nothing else needs to be."""
    if not spec:
        return ""
    lines = "<br>".join(
        "\u00a0" * (len(line) - len(line.lstrip())) + marked_up(line) for line in spec.rstrip().splitlines()
    )
    return (
        "<h3>Description</h3>\n<details><summary>the text the campaign was read from</summary>"
        f"<p><code>{lines}</code></p></details>\n"
    )


def campaign_page(content: CampaignContent) -> str:
    """Write the page of one campaign.

    The same content gives the same text. Everything that comes from files is escaped; see `shell.page` for
    what else keeps a hostile name from doing anything.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    common = campaign_as_report(content)
    sections = {
        "Verdict": ("verdict", campaign_opening(content)),
        "Checks": ("checks", checks_section(common)),
        "Clouds": ("clouds", cloud_section(content)),
        "Routing": ("routing", routing_section(content)),
        "Representative": ("representative", model_section(content)),
        "Held-out motions": ("held-out", held_out_section(content)),
        "Torque": ("torque", torque_curves(content)),
        "Commands": ("commands", command_section(content)),
        "All runs": ("runs", campaign_run_section(content)),
        "Record": ("record", campaign_record_section(content)),
    }
    return page(
        f"{content.robot}: campaign {content.name}",
        sections,
        plot_data(common),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )


# A campaign in a few lines of text, for a terminal.

MOST_FAILURES = 10
"""Failures told with their reasons; the page has all."""


def campaign_summary(content: CampaignContent) -> str:
    """Say the essentials of a campaign in plain text.

    Names from files are shown with their control characters spelled out, so that no file can steer the
    terminal.

    Args:
        content: what the page says.

    Returns:
        Lines of text, the last one ended.
    """
    lines = [f"{visible_text(content.robot)}, {visible_text(content.name)}: {headline(content.verdict)}", ""]
    lines += [*_checks(content), "", *_counts(content), *_time_lines(content)]
    if content.runs:
        lines += ["", *_routing(content)]
    if content.cloud is not None:
        lines += ["", *_cloud(content.cloud)]
    lines += [*_model(content), *_held_out(content), *_failure_lines(content)]
    return "\n".join(lines) + "\n"


def _checks(content: CampaignContent) -> list[str]:
    width = max((len(visible_text(check.name)) for check in content.verdict.checks), default=0)
    return [
        f"  {SYMBOLS[check.status]} {check.status.value:<7}  {visible_text(check.name):<{width}}  "
        f"{visible_text(check.message)}".rstrip()
        for check in content.verdict.checks
    ] or [f"  {SYMBOLS[Status.NOT_RUN]} no checks"]


def _counts(content: CampaignContent) -> list[str]:
    total, failed = len(content.runs), len(content.failures)
    steps = ", ".join(f"{1e3 * interval:g}" for interval in content.intervals)
    return [
        f"{counted(len(content.motions), 'motion')} at {steps} ms, setting: {visible_text(content.setting)}",
        f"{counted(total, 'run')}: {total - failed} with a result, {failed} failed, {content.proven} proven "
        "positive definite at every pose",
    ]


def _time_lines(content: CampaignContent) -> list[str]:
    spent = math.fsum(run.seconds for run in content.runs if math.isfinite(run.seconds))
    line = (
        f"{content.wall_seconds:.1f} s from start to end on {counted(content.cores, 'core')}; "
        f"median run {content.median_seconds:.3g} s, all runs {spent:.1f} s"
    )
    if not content.beside_paper:
        return [line]
    return [
        line,
        f"paper 004: median run {MEDIAN_SECONDS:.0f} s, all runs {TOTAL_SECONDS:.0f} s; not like for like "
        f"({'simulated arm, ' if content.simulated else ''}other computer, far narrower search)",
    ]


def _routing(content: CampaignContent) -> list[str]:
    rows = routing_table([run.interval for run in content.runs], [run.passed for run in content.runs])
    told = ", ".join(f"{row.passed} of {row.total} at {1e3 * row.interval:g} ms" for row in rows)
    return [f"Least squares positive definite: {told}"]


def _cloud(cloud: ParameterCloud) -> list[str]:
    width = max(len(visible_text(stage.name)) for stage in cloud.stages)
    lines = ["Cloud: dispersion in scales (robust), mean deviation in SI, answers, apart"]
    for stage in cloud.stages:
        lines.append(
            f"  {visible_text(stage.name):<{width}}  {stage.dispersion:8.3g} ({stage.robust_dispersion:.3g})"
            f"  {stage.mean_deviation:8.3g}  {int(stage.answered.sum()):5d}  {int(stage.apart.sum()):5d}"
        )
    return lines


def _model(content: CampaignContent) -> list[str]:
    if not content.representative:
        return []
    lines = ["", f"Representative: {visible_text(content.representative)}"]
    words = {True: "yes", False: "no", None: "not asked"}
    lines += [
        f"  {visible_text(stage.stage)}: proven positive definite at every pose {words[stage.proven]}, "
        f"physically possible {words[stage.possible]}"
        for stage in content.stages
    ]
    return lines


def _held_out(content: CampaignContent) -> list[str]:
    if not content.held_out:
        return []
    refined, final = (
        float(np.mean([getattr(motion, which).rmse for motion in content.held_out]))
        for which in ("refined", "final")
    )
    names = ", ".join(visible_text(motion.motion) for motion in content.held_out)
    return ["", f"Held out ({names}): mean RMSE {refined:.4g} N·m refined, {final:.4g} N·m accepted"]


def _failure_lines(content: CampaignContent) -> list[str]:
    failed = content.failures
    if not failed:
        return []
    lines = [f"  {visible_text(run.label)}: {visible_text(run.reason)}" for run in failed[:MOST_FAILURES]]
    more = [f"  and {len(failed) - MOST_FAILURES} more"] if len(failed) > MOST_FAILURES else []
    return ["", "Failed", *lines, *more]
