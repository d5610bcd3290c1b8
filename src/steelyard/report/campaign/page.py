"""The page of a campaign: one self-contained HTML file, readable with scripts off."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.audit import MNE_DEFINITION, ParameterCloud, PredictionError, routing_table
from steelyard.campaigns import CampaignReference, ReferenceRun
from steelyard.report.campaign.cloud import Tick, Word, cloud_of, grid_kind
from steelyard.report.campaign.content import (
    CampaignContent,
    CampaignRun,
    Cell,
    campaign_table,
    counted,
    duration,
    milliseconds,
    number,
    stated_number,
)
from steelyard.report.content import SYMBOLS, ReportContent, headline
from steelyard.report.html import MINUS, Typeset, aligned_numerals, numeral, unit_words, visible_text
from steelyard.report.identification import (
    SCRIPTS,
    check_lines,
    checks_of,
    plot_data,
    torque_errors_of,
    untested_of,
)
from steelyard.report.page import thinned
from steelyard.report.payload.page import STYLES
from steelyard.report.render import render_page

# The head of a campaign's page: what was done, how it ended, and what it took beside a reference.

_TIMES = {
    "median_run": "median run",
    "all_runs": "all runs",
    "all_cores": "the whole campaign, all cores",
    "start_to_end": "from start to end",
}
_ORDER = "Read the ratio as an order of magnitude."


def _opening(content: CampaignContent) -> dict[str, Any]:
    """Robot, verdict, counts and times."""
    status = content.verdict.status
    untested = content.verdict.untested
    total, failed = len(content.runs), len(content.failures)
    return {
        "name": content.name,
        "robot": content.robot,
        "status": status.value,
        "symbol": SYMBOLS[status],
        "headline": headline(content.verdict),
        "missing": f"{counted(len(untested), 'check')} not run." if untested else "",
        "figures": [
            ("runs ended with a result", f"{total - failed} of {total}"),
            (f"{'run' if failed == 1 else 'runs'} failed", f"{failed}"),
            ("proven positive definite at every pose", f"{content.proven} of {total}"),
            (f"from start to end, {counted(content.cores, 'core')}", duration(content.wall_seconds)),
        ],
        "motions": counted(len(content.motions), "motion"),
        "plant": "a simulated arm" if content.simulated else "recorded logs",
        "steps": Typeset(", ".join(milliseconds(interval) for interval in content.intervals)),
        "setting": content.setting,
        "setting_words": content.setting_words,
        **_times(content),
    }


def _times(content: CampaignContent) -> dict[str, Any]:
    here = {
        "median_run": content.median_seconds,
        "all_runs": math.fsum(run.seconds for run in content.runs if math.isfinite(run.seconds)),
        "all_cores": content.cpu_seconds,
        "start_to_end": content.wall_seconds,
    }
    reference = content.reference
    note = _note(reference, "times")
    if reference is None or not reference.times:
        rows = [(_TIMES[key], duration(seconds)) for key, seconds in here.items()]
        return {"times": campaign_table("Times", ("time", "here"), rows), "compared": note}
    theirs = {key: reference.times.get(key, math.nan) for key in here}
    told = [
        (_TIMES[key], duration(seconds), duration(theirs[key]), _ratio(theirs[key], seconds))
        for key, seconds in here.items()
    ]
    heads = ("time", "here", reference.name, f"{reference.noun} over here")
    return {
        "times": campaign_table(f"Times beside the {reference.noun}", heads, told),
        "compared": f"{note} {_ORDER}".strip(),
    }


def _note(reference: CampaignReference | None, table: str) -> str:
    """What the reference says beside a table; empty for nothing."""
    return "" if reference is None else reference.notes.get(table, "")


def _ratio(theirs: float, here: float) -> str:
    if not (math.isfinite(theirs) and here > 0.0):
        return "–"
    power = round(math.log10(theirs) - math.log10(here))
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"of the order of 10{raised}"


# The full record of a campaign: every run with its numbers, to be sorted and filtered, and the failures.

_DONE, _FAILED = "done", "failed"
MOST_REASONS = 8
"""Failures whose reasons are told without being asked."""


def _runs(content: CampaignContent) -> dict[str, Any] | None:
    """Every run (Oaki et al. 2026, Appendix A), and why some failed; None without runs."""
    if not content.runs:
        return None
    stages = tuple(dict.fromkeys(name for run in content.runs for name in run.rms))
    failed = content.failures
    kinds = [(kind, sum(_kind(run) == kind for run in content.runs)) for kind in (_DONE, _FAILED)]
    return {
        "counted": f"{len(failed) or 'None'} of {counted(len(content.runs), 'run')}",
        "failed": [{"label": run.label, "reason": run.reason} for run in failed],
        "folded": len(failed) > MOST_REASONS,
        "stages": ", ".join(map(visible_text, stages)),
        "kinds": [(kind, count) for kind, count in kinds if count],
        "heads": _heads(stages),
        "rows": [
            {"kind": _kind(run), "label": run.label, "cells": _run_cells(run, stages)} for run in content.runs
        ],
    }


def _heads(stages: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each column's heading, short where columns stand side by side, and whole where they do not."""
    return [
        ("run", "run"),
        ("cond", "condition number"),
        ("PD", "OLS positive definite"),
        ("route", "route"),
        ("margin", "margin, kg·m²"),
        *((stage, f"rms {visible_text(stage)}, N·m") for stage in stages),
        ("steps", "steps"),
        ("outcome", "outcome"),
        ("proof", "proof"),
        ("time", "time"),
    ]


def _run_cells(run: CampaignRun, stages: tuple[str, ...]) -> list[tuple[str, str]]:
    """What a run is sorted by in each column but the first, and what stands there."""
    answers = {True: "yes", False: "no", None: "–"}
    return [
        (_key(run.condition), number(run.condition)),
        (answers[run.passed], answers[run.passed]),
        (run.route, run.route),
        (_key(run.margin), stated_number(run.margin)),
        *((_key(run.rms.get(stage)), number(run.rms.get(stage))) for stage in stages),
        (_key(run.iterations), "–" if run.iterations is None else str(run.iterations)),
        (run.outcome, run.outcome),
        (answers[run.proven], answers[run.proven]),
        (_key(run.seconds), number(run.seconds, "s")),
    ]


def _kind(run: CampaignRun) -> str:
    return _FAILED if run.failed else _DONE


def _key(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return str(value).replace("inf", "Infinity")


# Routing of the runs on the page of a campaign: which least-squares answers passed, and two motions.


def _routes(content: CampaignContent) -> dict[str, Any] | None:
    """How the runs went from least squares to refinement (Oaki et al. 2026, Tables III and IV)."""
    if not content.runs:
        return None
    rows = routing_table([run.interval for run in content.runs], [run.passed for run in content.runs])
    heads = ["interval", "OLS passed", "projected first", "no answer", "runs"]
    told = [
        [milliseconds(row.interval), *map(str, (row.passed, row.projected, row.unanswered, row.total))]
        for row in rows
    ]
    reference = content.reference
    if reference is not None and reference.passed:
        heads.append(f"OLS passed, {reference.noun}")
        for row, cells in zip(rows, told, strict=True):
            share = reference.passed.get(row.interval)
            cells.append("–" if share is None else f"{share[0]} of {share[1]}")
    return {
        "table": campaign_table("Routing by sampling interval", heads, told),
        "motions": content.compared,
        "compared": _compared(content),
    }


def _compared(content: CampaignContent) -> dict[str, Any] | None:
    if not content.compared:
        return None
    heads = ["run", "cond", "route", "margin, kg·m²"]
    theirs = {} if content.reference is None else content.reference.compared
    if content.reference is not None and theirs:
        noun = content.reference.noun
        heads += [f"cond, {noun}", f"route, {noun}", f"{noun}, kg·m²"]
    groups: list[list[list[Cell]]] = []
    for motion in content.compared:
        runs = [run for interval in content.intervals if (run := content.run(motion, interval)) is not None]
        groups.append(
            [
                [
                    {"name": run.label},
                    *_route_cells(run.condition, run.route, run.margin),
                    *(_reference_cells(theirs.get((motion, run.interval), ReferenceRun())) if theirs else []),
                ]
                for run in runs
            ]
        )
    return campaign_table("Chosen motions", heads, *groups)


def _route_cells(condition: float | None, route: str, margin: float | None) -> list[str]:
    return [number(condition), route, stated_number(margin)]


def _reference_cells(run: ReferenceRun) -> list[str]:
    return _route_cells(run.condition, run.route or "–", run.margin)


# The chosen model on the page of a campaign: stage by stage, what changed, and its parameters.

_EIGENVALUE = "kg·m²"


def _model_of(content: CampaignContent) -> dict[str, Any] | None:
    """The representative by stage (Oaki et al. 2026, Tables V and VI) and the accepted parameters."""
    if not content.representative:
        return None
    return {
        "label": content.representative,
        **_choice(content),
        "stages": _stages(content),
        "changes": _changes(content),
        "note": _note(content.reference, "parameters"),
        "parameters": _parameters(content),
    }


def _choice(content: CampaignContent) -> dict[str, Any]:
    """Why it was chosen, and what is next to it."""
    cloud = content.cloud
    if cloud is None:
        return {"chosen": "", "next": []}
    among = counted(len(content.candidates), "candidate") if content.candidates else "all runs"
    ranked = cloud.ranking(content.candidates or None)
    places = {name: k for k, (name, _) in enumerate(ranked)}
    chosen = ""
    if content.representative in places:
        place = places[content.representative]
        distance = number(ranked[place][1])
        chosen = (
            f"the most central of {among} after {visible_text(cloud.stages[-1].name)}, at a distance of "
            f"{distance} scales from the median of the cloud"
            if place == 0
            else f"number {place + 1} of {len(ranked)} by its distance of {distance} scales from the median"
        )
    rest = [(name, number(distance)) for name, distance in ranked[:4] if name != content.representative]
    return {"chosen": chosen, "next": rest}


def _stages(content: CampaignContent) -> dict[str, Any] | None:
    stages = content.stages
    if not stages:
        return None
    poses = max(stage.poses for stage in stages)
    over = f"over {poses:,} sampled poses".replace(",", "\u202f") if poses else "over sampled poses"
    rows: list[list[Cell]] = [
        [Typeset(f"least eigenvalue {over}"), *(number(stage.sampled, _EIGENVALUE) for stage in stages)],
        ["least found by minimisation", *(number(stage.minimised, _EIGENVALUE) for stage in stages)],
        ["proven positive at every pose", *(_answer(stage.proven) for stage in stages)],
        ["proven lower bound", *(number(stage.bound, _EIGENVALUE) for stage in stages)],
        ["physically possible", *(_answer(stage.possible) for stage in stages)],
        ["margin asked for", *(number(stage.margin, _EIGENVALUE) for stage in stages)],
        ["remark", *(visible_text(stage.remark) or "–" for stage in stages)],
    ]
    heads = ("inertia matrix", *(stage.stage for stage in stages))
    return campaign_table("The representative, stage by stage", heads, rows)


def _answer(answer: bool | None) -> Cell:
    """An answer in words; None where it was not asked."""
    return "not asked" if answer is None else ("yes" if answer else {"strong": "no"})


def _changes(content: CampaignContent) -> dict[str, Any] | None:
    if not content.changes:
        return None
    rows = [
        (
            {"name": change.name},
            number(change.before, unit_words(change.unit), digits=4),
            number(change.after, unit_words(change.unit), digits=4),
            number(change.change, unit_words(change.unit), digits=2),
        )
        for change in content.changes
    ]
    heads = ("parameter", content.changed_from or "before", "accepted", "change")
    return campaign_table("Largest changes", heads, rows)


def _parameters(content: CampaignContent) -> dict[str, Any] | None:
    if not content.parameters:
        return None
    values = aligned_numerals([numeral(parameter.value) for parameter in content.parameters])
    heads = ["parameter", "accepted", "unit"]
    rows: list[list[Cell]] = [
        [{"name": parameter.name}, value, unit_words(parameter.unit)]
        for parameter, value in zip(content.parameters, values, strict=True)
    ]
    reference = content.reference
    if reference is not None and reference.parameters:
        heads += [f"{reference.noun}’s value", f"{reference.noun}’s name"]
        stated = _as_stated(tuple(reference.parameters.values()))
        for row, value, name in zip(rows, stated, reference.parameters, strict=True):
            row += [value, visible_text(name)]
    return campaign_table("Accepted parameters", heads, rows)


_MOST_DECIMALS, _LARGEST = 8, 1e6


def _as_stated(values: Sequence[float]) -> list[str]:
    """Numbers with all their decimals: as many for each as the longest has, where those are not too many."""
    exact = [Decimal(repr(float(value))) for value in values]
    decimals = max(-int(value.normalize().as_tuple().exponent) for value in exact)
    plain = decimals <= _MOST_DECIMALS and max(map(abs, exact)) < _LARGEST
    texts = (f"{value:.{max(decimals, 0)}f}" if plain else repr(float(value)) for value in values)
    return [text.replace("-", MINUS) for text in texts]


# Prediction of held-out motions on the page of a campaign: errors, torque curves, reference commands.

Pair = tuple[float, float]
"""A figure of the refined and of the accepted model."""
_MEASURES: tuple[tuple[str, str, str, Callable[[PredictionError], float]], ...] = (
    ("rmse", "RMSE", "N·m", lambda error: error.rmse),
    ("mne", "MNE", "", lambda error: error.mne),
)


def _prediction(content: CampaignContent) -> dict[str, Any] | None:
    """Errors on motions held out (Oaki et al. 2026, Table VII); None where none was."""
    if not content.held_out:
        return None
    heads = ["motion", "refined", "accepted", "change"]
    stated = {} if content.reference is None else content.reference.held_out
    if content.reference is not None and stated:
        heads += [f"refined, {content.reference.noun}", f"accepted, {content.reference.noun}"]
    groups = []
    for key, name, unit, measure in _MEASURES:
        figures = {
            motion.motion: (measure(motion.refined), measure(motion.final)) for motion in content.held_out
        }
        theirs = {motion: stated[motion][key] for motion in figures if key in stated.get(motion, {})}
        rows = [
            _held_out_row({"measure": name, "name": motion}, unit, both, theirs.get(motion))
            for motion, both in figures.items()
        ]
        rows.append(_held_out_row({"strong": f"{name}, mean"}, unit, _mean(figures), _mean(theirs)))
        groups.append([row[: len(heads)] for row in rows])
    return {
        "mne": MNE_DEFINITION,
        "note": _note(content.reference, "held_out"),
        "errors": campaign_table("Errors on held-out motions", heads, *groups),
        "joints": _joint_errors(content),
    }


def _held_out_row(name: Cell, unit: str, here: Pair | None, theirs: Pair | None) -> list[Cell]:
    nothing = (float("nan"), float("nan"))
    refined, final = here or nothing
    change = 100.0 * (final / refined - 1.0) if refined > 0.0 else float("nan")
    told = [number(value, unit, digits=4) for value in (refined, final)]
    return [
        name,
        *told,
        number(change, "%", digits=2),
        *(number(value, unit, digits=4) for value in theirs or nothing),
    ]


def _mean(figures: Mapping[str, Pair]) -> Pair | None:
    if not figures:
        return None
    first, second = np.mean(list(figures.values()), axis=0)
    return float(first), float(second)


def _joint_errors(content: CampaignContent) -> dict[str, Any]:
    """Errors of every joint by motion."""
    count = max(len(motion.final.joint_rmse) for motion in content.held_out)
    heads = ["joint", *(f"RMSE {visible_text(motion.motion)}" for motion in content.held_out)]
    rows = [[str(j + 1), *(_at(motion.final, j) for motion in content.held_out)] for j in range(count)]
    return campaign_table("Errors by joint", heads, rows)


def _at(error: PredictionError, joint: int) -> str:
    if joint >= len(error.joint_rmse):
        return "–"
    return number(float(error.joint_rmse[joint]), "N·m")


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


# Reference commands of a motion: one small picture for each joint.

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 320, 150, 54, 8, 8, 24
POINTS = 600
"""Samples kept of one joint, every extreme among them."""


def _commands(content: CampaignContent) -> list[dict[str, Any]]:
    """What the joints were told to do (Oaki et al. 2026, Figs. 5 and 6)."""
    return [
        {
            "name": curves.motion,
            "told": curves.told,
            "lasts": number(float(curves.time[-1] - curves.time[0]), "s", digits=4),
            "curves": [
                command_picture(curves.time, curves.values[:, j], joint, unit)
                for j, (joint, unit) in enumerate(zip(curves.joints, curves.units, strict=True))
            ],
        }
        for curves in content.commands
    ]


def command_picture(time: Array, values: Array, joint: str, unit: str) -> dict[str, Any]:
    """Draw what one joint was told to do.

    Args:
        time: increasing, shape (N,), s.
        values: commanded position, shape (N,), rad or m.
        joint: its name.
        unit: of the values.

    Returns:
        A picture as the macro `command` of `campaign_parts.html` writes it.
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
    ticks = []
    for value in dict.fromkeys((low, 0.0, high)):
        if low <= value <= high and (value in (low, high) or min(value - low, high - value) > 0.15 * span):
            at = floor - 4.0 - (value - low) / span * (floor - _TOP - 8.0)
            told = Word(_LEFT - 6, at + 4, numeral(value, digits=3), "end")
            ticks.append(Tick(grid_kind(value), f"M{_LEFT} {at:.1f}H{right}", told))
    moments = []
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        moment = float(t[0] + share * (t[-1] - t[0]))
        text = Typeset(f"{numeral(round(moment, 1), digits=3)}\u202fs")
        moments.append(Word(_LEFT + share * (right - _LEFT), _HEIGHT - 6, text, anchor))
    return {
        "joint": joint,
        "unit": unit,
        "told": f"Command of {joint} over time",
        "width": _WIDTH,
        "height": _HEIGHT,
        "ticks": ticks,
        "moments": moments,
        "path": f"M{path}",
    }


# What a campaign rests on: assumptions, digests, versions, and the text that described it.


def _record(content: CampaignContent) -> dict[str, Any]:
    """Assumptions, digests, versions and the description of the campaign."""
    read = {"robot description": content.digest, **content.digests}
    return {
        "assumptions": content.assumptions,
        "digests": [(name, digest) for name, digest in read.items() if digest],
        "versions": [(name, version) for name, version in content.versions.items() if version],
        # White space at the head of a line is kept, nothing else needs to be.
        "description": [
            Typeset("\u00a0" * (len(line) - len(line.lstrip())) + visible_text(line))
            for line in content.spec.rstrip().splitlines()
        ],
    }


HEADINGS = {
    "verdict": "Verdict",
    "checks": "Checks",
    "clouds": "Clouds",
    "routing": "Routing",
    "representative": "Representative",
    "held-out": "Held-out motions",
    "torque": "Torque",
    "commands": "Commands",
    "runs": "All runs",
    "record": "Record",
}


def campaign_page(content: CampaignContent) -> str:
    """Write the page of one campaign.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    common = campaign_as_report(content)
    told = {
        "opening": _opening(content),
        "checks": checks_of(common),
        "untested": untested_of(common),
        "clouds": cloud_of(content),
        "routing": _routes(content),
        "representative": _model_of(content),
        "held_out": _prediction(content),
        "torque": torque_errors_of(common),
        "commands": _commands(content),
        "runs": _runs(content),
        "record": _record(content),
    }
    always = ("verdict", "checks", "record")
    return render_page(
        "campaign.html",
        f"{content.robot}: campaign {content.name}",
        {
            anchor: heading
            for anchor, heading in HEADINGS.items()
            if anchor in always or told[anchor.replace("-", "_")]
        },
        told,
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
    lines += [*check_lines(content.verdict), "", *_counts(content), *_time_lines(content)]
    if content.runs:
        lines += ["", *_routing(content)]
    if content.cloud is not None:
        lines += ["", *_cloud(content.cloud)]
    lines += [*_model(content), *_held_out(content), *_failure_lines(content)]
    return "\n".join(lines) + "\n"


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
    reference = content.reference
    if reference is None or not reference.times:
        return [line]
    told = ", ".join(f"{_TIMES[key]} {_seconds_of(reference.times[key])}" for key in reference.times)
    differs = ", ".join(map(visible_text, reference.differs))
    unlike = f"; not like for like ({differs})" if differs else ""
    return [line, f"{visible_text(reference.name)}: {told}{unlike}"]


def _seconds_of(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 100.0 else f"{seconds:.3g} s"


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
