"""The report as one self-contained HTML page: no request to anywhere, readable with scripts off."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.audit import Status, torque_error
from steelyard.errors import InputError
from steelyard.finding import Severity
from steelyard.identifiable import Class
from steelyard.inertia import Ellipsoid
from steelyard.recording import Step
from steelyard.report.arm import ArmDrawing, MassDrawing
from steelyard.report.content import (
    SYMBOLS,
    Combination,
    History,
    ParameterLine,
    ReportContent,
    TorqueTrace,
    headline,
    torque_error_words,
)
from steelyard.report.html import (
    MINUS,
    aligned_numerals,
    marked_up,
    numeral,
    percent,
    unit_text,
    visible_text,
)
from steelyard.report.page import packed, page, thinned
from steelyard.robot import Box, Capsule, Cylinder, Geometry, MeshFile, Sphere

# The head of the page: the verdict in plain words, and the checks it rests on.

_WORST_FIRST = (Status.FAIL, Status.WARN, Status.PASS, Status.NOT_RUN)


def opening(content: ReportContent) -> str:
    """Robot, verdict and the figures that matter most.

    Args:
        content: what the report says.

    Returns:
        HTML.
    """
    status = content.verdict.status
    figures = []
    for trace, error in torque_error_words(content):
        called = _called(trace.name, trace.held_out)
        figures.append((f"{percent(error.overall)} %", f"of the torque unexplained, {called}"))
        if trace.held_out and trace.unfiltered is not None:
            figures.append(
                (f"{percent(trace.unfiltered.overall)} %", f"of it where no torque is filtered, {called}")
            )
        alone = trace.without_links
        if trace.held_out and alone is not None and percent(alone.overall) != percent(error.overall):
            figures.append(
                (f"{percent(alone.overall)} %", f"of it by combinations that no links need to have, {called}")
            )
    if content.combinations:
        figures.append(
            (str(len(content.combinations)), f"combinations of {len(content.parameters)} parameters")
        )
    for name, value in content.facts.items():
        if name in ("samples", "condition number") and isinstance(value, int | float):
            figures.append(
                (f"{value:,}".replace(",", "\u202f") if name == "samples" else f"{value:.3g}", name)
            )
    listed = "".join(f"<div><dt>{label}</dt><dd>{figure}</dd></div>" for figure, label in figures)
    untested = content.verdict.untested
    were = "was" if len(untested) == 1 else "were"
    missing = f" {len(untested)} of {len(content.verdict.checks)} checks {were} not run." if untested else ""
    return (
        f'<p class="eyebrow">Dynamic identification of</p>\n<h1><bdi>{marked_up(content.robot)}</bdi></h1>\n'
        f'<p class="verdict" data-status="{status.value}"><span class="mark" aria-hidden="true">'
        f"{SYMBOLS[status]}</span><span><strong>{headline(content.verdict)}</strong>{missing}</span></p>\n"
        f'<dl class="figures">{listed}</dl>\n'
        f'<p class="quiet">Method: {marked_up(content.method)}. Robot description: '
        f"<code>{marked_up(content.digest)}</code></p>\n"
    )


def checks_section(content: ReportContent) -> str:
    """The checks, failures first, and what was not tested.

    Args:
        content: what the report says.

    Returns:
        HTML.
    """
    checks = sorted(content.verdict.checks, key=lambda check: _WORST_FIRST.index(check.status))
    rows = "\n".join(
        f'<li data-status="{check.status.value}"><span class="mark" aria-hidden="true">'
        f'{SYMBOLS[check.status]}</span><span class="state">{check.status.value}</span>'
        f"<div><strong>{marked_up(check.name)}</strong> "
        f"{marked_up(check.message)}</div></li>"
        for check in checks
    )
    not_run = "".join(
        f"<li>{marked_up(name)}: this check was not run.</li>" for name in content.verdict.untested
    )
    sentences = not_run + "".join(f"<li>{marked_up(sentence)}</li>" for sentence in content.untested)
    untested = f'<h3>What was not tested</h3>\n<ul class="untested">{sentences}</ul>\n' if sentences else ""
    return f'<ul class="checks">\n{rows}\n</ul>\n{untested}'


def _called(name: str, held_out: bool) -> str:
    return f"<bdi>{marked_up(name)}</bdi> ({'held out' if held_out else 'seen in training'})"


# Torques on the page: the errors of every joint, and the place of the curves.

UNFILTERED = '<th scope="col"><small>unfiltered</small></th>'


def torque_section(content: ReportContent) -> str:
    """Errors by joint, and the place of the plots.

    Args:
        content: what the report says.

    Returns:
        HTML; empty where no motion is shown.
    """
    errors = torque_error_words(content)
    if not errors:
        return ""
    heads = "".join(
        f'<th scope="col"><bdi>{marked_up(trace.name)}</bdi><br>'
        f"<small>{'held out' if trace.held_out else 'seen in training'}</small></th>"
        f"{'' if trace.unfiltered is None else UNFILTERED}"
        for trace, _ in errors
    )
    columns = []
    for trace, error in errors:
        rms = np.sqrt(((trace.measured - trace.predicted) ** 2).mean(axis=0))
        shares = aligned_numerals([percent(share) for share in (*error.joints, error.overall)])
        sizes = aligned_numerals([numeral(float(size), digits=3) for size in rms])
        own = [f"{size}\u202f{marked_up(unit)}" for size, unit in zip(sizes, content.units, strict=True)]
        columns.append(
            [
                f'{share}\u202f%<span class="rms">{size}</span>'
                for share, size in zip(shares, [*own, ""], strict=True)
            ]
        )
        if (plain := trace.unfiltered) is not None:
            shares = aligned_numerals([percent(share) for share in (*plain.joints, plain.overall)])
            columns.append([f"{share}\u202f%" for share in shares])
    names = [f"<bdi>{marked_up(joint)}</bdi>" for joint in content.joints]
    rows = "\n".join(
        f'<tr><th scope="row">{name}</th>' + "".join(f"<td>{column[k]}</td>" for column in columns) + "</tr>"
        for k, name in enumerate([*names, "all joints"])
    )
    return (
        "<p>Torque the model does not explain, in percent of the measured rms, and its own rms; in the band "
        "of the motion, and unfiltered where a column says so. The curves "
        "below keep every extreme of the data; between extremes, long motions are thinned.</p>\n"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Torque error by joint">'
        f'<table class="errors"><thead><tr><th scope="col">joint</th>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>\n"
        f"{_motion_choice(content)}"
        '<div id="plots"></div>\n<noscript><p>The curves need scripts, which are off.</p></noscript>\n'
    )


def _motion_choice(content: ReportContent) -> str:
    choices = "".join(
        f'<label><input type="radio" name="motion" value="{k}"{" checked" if k == 0 else ""}>'
        f"<bdi>{marked_up(trace.name)}</bdi> <small>{'held out' if trace.held_out else 'seen'}</small>"
        "</label>"
        for k, trace in enumerate(content.traces)
    )
    buttons = "".join(
        f'<button type="button" data-zoom="{action}">{label}</button>'
        for action, label in (
            ("in", "Zoom in"),
            ("out", "Zoom out"),
            ("earlier", "Earlier"),
            ("later", "Later"),
            ("whole", "Whole motion"),
        )
    )
    return (
        f'<div class="controls sticky" id="plot-controls" hidden><fieldset><legend>Motion</legend>{choices}'
        f'</fieldset><div class="buttons">{buttons}</div><output id="plot-range"></output>'
        '<p class="key"><span class="line measured"></span>measured '
        '<span class="line predicted"></span>predicted '
        '<span class="line difference"></span>difference</p></div>\n'
    )


# The arm on the page: the place of its drawing, and the mass of every link.


def arm_section(content: ReportContent) -> str:
    """The place of the drawing, and the mass of every link.

    Args:
        content: what the report says.

    Returns:
        HTML; empty where no robot is drawn.
    """
    arm = content.arm
    if arm is None:
        return ""
    full = any(link.estimated is not None for link in arm.links)
    told = (
        "Each ellipsoid is the uniform solid that has its link’s mass, centre of mass and inertia."
        if full
        else "The method gives no full set of links, so only the description’s ellipsoids are drawn."
    )
    slider = ""
    if len(arm.time) > 1:
        slider = (
            f'<label class="pose">Pose along <bdi>{marked_up(arm.motion)}</bdi> '
            f'<input id="pose" type="range" min="0" max="{len(arm.time) - 1}" value="0">'
            '<output id="pose-time" for="pose"></output></label>'
        )
    layers = [("shapes", "shapes", True), ("nominal", "description", True)]
    layers += [("estimated", "estimate", True)] if full else []
    boxes = "".join(
        f'<label><input type="checkbox" data-layer="{name}"{" checked" if on else ""}>'
        f'<span class="swatch {name}"></span>{label}</label>'
        for name, label, on in layers
    )
    return (
        f"<p>{told} Drag to turn, or focus the drawing and use the arrow keys; + and − change the size.</p>\n"
        f'<div class="controls" id="arm-controls" hidden>{boxes}'
        f'<button type="button" id="arm-reset">Reset view</button>{slider}</div>\n'
        '<div id="arm-view" tabindex="0" role="group" aria-label="Drawing of the arm. '
        'Arrow keys turn it, plus and minus change its size, Home resets it."></div>\n'
        f"{_link_table(arm)}"
    )


def _link_table(arm: ArmDrawing) -> str:
    rows = [(k, link) for k, link in enumerate(arm.links) if link.nominal or link.estimated]
    if not rows:
        return ""
    nominal = aligned_numerals([numeral(link.nominal.mass if link.nominal else None) for _, link in rows])
    estimated = aligned_numerals(
        [numeral(link.estimated.mass if link.estimated else None) for _, link in rows]
    )
    lines = "\n".join(
        f'<tr data-link="{k}"><th scope="row"><bdi>{marked_up(link.name)}</bdi></th>'
        f'<td data-label="described, kg">{n}</td><td data-label="estimated, kg">{e}</td>'
        f'<td class="words">{_remark("as described", link.nominal)}{_remark("as estimated", link.estimated)}'
        "</td></tr>"
        for (k, link), n, e in zip(rows, nominal, estimated, strict=True)
    )
    return (
        '<table class="links stack">'
        '<thead><tr><th scope="col">link</th><th scope="col">described, kg</th>'
        '<th scope="col">estimated, kg</th><th scope="col" class="words">remark</th></tr></thead>\n'
        f"<tbody>{lines}</tbody></table>\n"
    )


def _remark(which: str, mass: MassDrawing | None) -> str:
    if mass is None or not mass.reason:
        return ""
    return f"<details><summary>no ellipsoid {which}</summary>{marked_up(mass.reason)}</details>"


# Standard parameters on the page, with interval and class, to be sorted and filtered.

_MEANING = {
    Class.ALONE: "known by itself",
    Class.BASE: "head of a combination",
    Class.GROUPED: "known in combinations only",
    Class.UNIDENTIFIABLE: "out of reach of torques",
}
_FIXED_SYMBOL, _FIXED = "=", "fixed"
_COLUMNS = ("parameter", "class", "estimate", "95 % from", "to", "described", "unit")


def parameter_section(content: ReportContent) -> str:
    """The standard parameters, to be sorted and filtered.

    Args:
        content: what the report says.

    Returns:
        HTML; empty where there are none.
    """
    lines = content.parameters
    if not lines:
        return ""
    # One alignment for all columns: on a narrow screen they stand below each other.
    numerals = aligned_numerals([text for line in lines for text in _numerals(line)])
    rows = "\n".join(_row(k, line, numerals[4 * k : 4 * k + 4]) for k, line in enumerate(lines))
    heads = "".join(
        f'<th scope="col" role="columnheader" data-column="{k}">{title}</th>'
        for k, title in enumerate(_COLUMNS)
    )
    if any(line.decided_by for line in lines):
        told = (
            "Intervals are what the log and what was known beforehand say together; the word beside the "
            "class says who decided: data, prior, or both. What the log says alone are the combinations "
            "further down."
        )
    else:
        told = (
            "A value without an interval is one choice of many that predict the same torques: only the "
            "combinations further down are determined."
        )
    return (
        f"{_links(lines)}<p>{told}</p>\n"
        f"{_controls(content)}"
        f'<table id="parameter-table" class="parameters stack" role="table">'
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead>\n'
        f'<tbody role="rowgroup">\n{rows}\n</tbody></table>\n'
        '<p id="no-parameter" class="quiet" hidden>No parameter matches.</p>\n'
    )


def _links(lines: Sequence[ParameterLine]) -> str:
    """Masses and centres of mass beside those described: what a reader looks at first."""
    owned: dict[str, dict[str, ParameterLine]] = {}
    for line in lines:
        owned.setdefault(line.owner, {})[line.name.rpartition(".")[2]] = line
    rows, total, described = [], 0.0, 0.0
    for owner, terms in owned.items():
        mass = terms.get("m")
        if mass is None or mass.value is None:
            continue
        total += mass.value
        described += np.nan if mass.nominal is None else mass.nominal
        ends = [numeral(x, mass.half_width) for x in (mass.lower, mass.upper)]
        cells = (
            numeral(mass.value, mass.half_width),
            *ends,
            numeral(mass.nominal),
            marked_up(mass.decided_by),
            _centre([terms[name].value for name in ("m", "mx", "my", "mz")]),
            _centre([terms[name].nominal for name in ("m", "mx", "my", "mz")]),
        )
        row = "".join(f"<td>{text}</td>" for text in cells)
        rows.append(f"<tr><th scope=row>{marked_up(owner)}</th>{row}</tr>")
    if not rows:
        return ""
    heads = ("link", "mass, kg", "95 % from", "to", "described", "decided by", "centre, m", "described")
    sums = (f"{total:.4g}", "", "", "" if np.isnan(described) else f"{described:.4g}", "", "", "")
    last = "".join(f"<td>{text}</td>" for text in sums)
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Links"><table id="link-table"><thead><tr>'
        f"{''.join(f'<th scope=col>{head}</th>' for head in heads)}</tr></thead>\n<tbody>{''.join(rows)}"
        f"<tr><th scope=row>total</th>{last}</tr></tbody></table></div>\n"
    )


def _centre(ten: Sequence[float | None]) -> str:
    m, *moments = ten
    if not m or any(x is None for x in moments):
        return ""
    return " ".join(f"{x / m:+.3f}" for x in moments if x is not None)


def _controls(content: ReportContent) -> str:
    kinds = [kind for kind in Class if any(line.kind is kind for line in content.parameters)]
    boxes = "".join(
        f'<label><input type="checkbox" data-kind="{kind.value}" checked><span class="symbol {kind.value}">'
        f"{kind.symbol}</span>{_MEANING[kind]} "
        f"<small>{sum(line.kind is kind for line in content.parameters)}</small></label>"
        for kind in kinds
    )
    options = "".join(f'<option value="{k}">{title}</option>' for k, title in enumerate(_COLUMNS))
    return (
        '<div class="controls" id="parameter-controls" hidden><label>Filter <input type="search" '
        f'id="parameter-filter" placeholder="name or unit"></label><fieldset><legend>Class</legend>{boxes}'
        '</fieldset><label class="narrow">Sort by <select id="parameter-sort">'
        f'<option value="">as listed</option>{options}</select></label>'
        '<output id="parameter-count"></output></div>\n'
    )


def _numerals(line: ParameterLine) -> list[str]:
    half = line.half_width
    return [*(numeral(x, half) for x in (line.value, line.lower, line.upper)), numeral(line.nominal)]


def _row(place: int, line: ParameterLine, numerals: Sequence[str]) -> str:
    kind = _FIXED if line.kind is None else line.kind.value
    symbol = _FIXED_SYMBOL if line.kind is None else line.kind.symbol
    order = list(Class).index(line.kind) if line.kind is not None else len(Class)
    owner, _, term = marked_up(line.name).rpartition(".")
    name = f"<bdi>{owner}.<b>{term}</b></bdi>" if owner else f"<bdi>{term}</bdi>"
    unit = unit_text(line.unit)
    keys = (line.value, line.lower, line.upper, line.nominal)
    cells = [
        (marked_up(line.name), name),
        (
            str(order),
            f'<span class="symbol {kind}" title="{kind}">{symbol}</span> '
            f"<small>{kind}{_decided(line)}</small>",
        ),
        *(
            (_key(key), f'<span class="quiet">{text}</span>' if "∞" in text else text)
            for key, text in zip(keys, numerals, strict=True)
        ),
        (unit, unit),
    ]
    tags = "".join(
        f'<{"th scope=row role=rowheader" if k == 0 else "td role=cell"} class="c{k}" '
        f'data-label="{unit if k == 0 else _COLUMNS[k]}" data-key="{key}">{text}</{"th" if k == 0 else "td"}>'
        for k, (key, text) in enumerate(cells)
    )
    return f'<tr role="row" data-kind="{kind}" data-place="{place}">{tags}</tr>'


def _decided(line: ParameterLine) -> str:
    return f", {marked_up(line.decided_by)}" if line.decided_by else ""


def _key(value: float | None) -> str:
    return "" if value is None else str(value).replace("inf", "Infinity")


# Base parameters on the page: what torques determine, as formulas.


def combination_section(content: ReportContent) -> str:
    """The base parameters as formulas.

    Args:
        content: what the report says.

    Returns:
        HTML; empty where there are none.
    """
    if not content.combinations:
        return ""
    items = "\n".join(
        f'<li><p class="formula">{_formula(line)}</p><p class="result">= '
        f"{numeral(line.value, line.half_width)}{_spread(line)} {unit_text(line.unit)}"
        f"{_described(line)}</p></li>"
        for line in content.combinations
    )
    return (
        "<p>What joint torques determine, whatever the motion. Change the parameters of a sum so that "
        "the sum stays, and no torque changes.</p>\n"
        f"<details><summary>Show all {len(content.combinations)} combinations</summary>\n"
        f'<ol class="combinations">\n{items}\n</ol></details>\n'
    )


def _formula(line: Combination) -> str:
    parts = []
    for k, (name, factor) in enumerate(line.terms):
        sign = MINUS if factor < 0 else "+" if k else ""
        size = abs(factor)
        number = "" if math.isclose(size, 1.0, rel_tol=1e-9) else f"{numeral(size)}\u202f"
        sum_sign = f"{sign} " if k else sign
        parts.append(
            f'<span class="term">{sum_sign}<i>{number}</i><var><bdi>{marked_up(name)}</bdi></var></span>'
        )
    return " ".join(parts)


def _spread(line: Combination) -> str:
    half = line.half_width
    if not math.isfinite(half):
        return " (no interval)"
    if line.random is None:
        return f" ± {numeral(half, half)}"
    return f" ± {numeral(half, half)} (± {numeral(line.random, line.random)} by the same torque constants)"


def _described(line: Combination) -> str:
    if line.nominal is None:
        return ""
    return f'<span class="quiet">, described as {numeral(line.nominal, line.half_width)}</span>'


# The last part of the page: findings, and the record of how the result came about.

_LOUDEST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def findings_section(content: ReportContent) -> str:
    """What was noticed on the way, the gravest first.

    Args:
        content: what the report says.

    Returns:
        HTML.
    """
    if not content.findings:
        return '<p class="quiet">Nothing was noticed.</p>\n'
    findings = sorted(content.findings, key=lambda finding: _LOUDEST_FIRST.index(finding.severity))
    rows = "\n".join(
        f'<li data-severity="{finding.severity.value}"><span class="state">{finding.severity.value}</span>'
        f"<div>{marked_up(finding.message)} <small><code>{marked_up(finding.code)}</code>"
        f"{f' at <bdi>{marked_up(finding.place)}</bdi>' if finding.place else ''}</small></div></li>"
        for finding in findings
    )
    return f'<ul class="findings">\n{rows}\n</ul>\n'


def record_section(content: ReportContent) -> str:
    """Steps with their digests, who read the models back, settings and versions.

    Args:
        content: what the report says.

    Returns:
        HTML.
    """
    histories = "\n".join(_history(history) for history in content.histories)
    facts = _definitions({name: to_document(value) for name, value in content.facts.items()})
    versions = _definitions(content.versions)
    # Draws of further models are judged alike, and not named one by one.
    models = {file: by for file, by in content.read_back.items() if "/" not in file}
    judges = _definitions({file: " and ".join(by) or "nobody" for file, by in models.items()})
    return (
        f"{histories}\n"
        + (f'<h3>Read back, and found to agree, by</h3>\n<dl class="facts">{judges}</dl>\n' if judges else "")
        + (f'<h3>Estimation</h3>\n<dl class="facts">{facts}</dl>\n' if facts else "")
        + (f'<h3>Versions</h3>\n<dl class="facts">{versions}</dl>\n' if versions else "")
    )


def _history(history: History) -> str:
    steps = "\n".join(_step(step) for step in history.steps)
    listed = f'<ol class="steps">\n{steps}\n</ol>' if steps else '<p class="quiet">No step is recorded.</p>'
    digest = (
        f'<p class="quiet">As used: <code>{marked_up(history.digest)}</code></p>' if history.digest else ""
    )
    return f"<h3><bdi>{marked_up(history.name)}</bdi></h3>\n{listed}\n{digest}\n"


def _step(step: Step) -> str:
    detail = step.to_json()["detail"]
    settings = ", ".join(
        f"{marked_up(str(name))} <bdi>{marked_up(_written(value))}</bdi>"
        for name, value in (detail.items() if isinstance(detail, Mapping) else ())
    )
    of = f"<br><small>of <code>{marked_up(step.digest)}</code></small>" if step.digest else ""
    return f"<li><strong>{marked_up(step.action)}</strong> {settings}{of}</li>"


def _definitions(values: Mapping[str, object]) -> str:
    return "".join(
        f"<div><dt>{marked_up(name)}</dt><dd>{marked_up(_written(value))}</dd></div>"
        for name, value in values.items()
    )


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    return json.dumps(value, ensure_ascii=False)


# What the page's scripts draw from: torques and the arm, small enough to mail and true to every extreme.

MOST_POINTS = 4000
"""Samples kept of one joint's torque along one motion."""
ALL_POINTS = 70_000
"""Samples kept on a page, so that many joints and motions do not make it heavy."""
FEWEST_POINTS = 200


def plot_data(content: ReportContent) -> dict[str, Any]:
    """The numbers behind the drawings of a report.

    Args:
        content: what the report says.

    Returns:
        Values JSON can hold; long series are little-endian 32-bit floats in base 64.
    """
    lines = max(len(content.traces) * len(content.joints), 1)
    most = min(max(ALL_POINTS // lines, FEWEST_POINTS), MOST_POINTS)
    return {
        "joints": [visible_text(joint) for joint in content.joints],
        "units": list(content.units),
        "motions": [_motion(trace, most) for trace in content.traces],
        "arm": None if content.arm is None else _arm(content.arm),
    }


def _motion(trace: TorqueTrace, most: int) -> dict[str, Any]:
    columns = zip(trace.measured.T, trace.predicted.T, strict=True)
    return {
        "start": float(trace.time[0]),
        "end": float(trace.time[-1]),
        "errors": [percent(error) for error in torque_error(trace.measured, trace.predicted).joints],
        "series": [_series(trace.time, tau, tau_hat, most) for tau, tau_hat in columns],
    }


def _series(time: Array, tau: Array, tau_hat: Array, most: int) -> dict[str, str]:
    kept = thinned(np.column_stack((tau, tau_hat, tau - tau_hat)), most)
    # The difference is formed before rounding: of two large torques it would lose its digits. Time counts
    # from the start for the same reason: stamps may be seconds since 1970.
    return {
        "time": packed(time[kept] - time[0]),
        "measured": packed(tau[kept]),
        "predicted": packed(tau_hat[kept]),
        "difference": packed((tau - tau_hat)[kept]),
    }


def _arm(arm: ArmDrawing) -> dict[str, Any]:
    return {
        "time": packed(arm.time - arm.time[0]),
        "frames": packed(arm.frames[:, :, :3, :]),
        "links": [
            {
                "name": visible_text(link.name),
                "parent": link.parent,
                "tip": None if link.tip is None else link.tip.tolist(),
                "shapes": [_shape(item) for item in link.shapes],
                "nominal": _ellipsoid(link.nominal),
                "estimated": _ellipsoid(link.estimated),
            }
            for link in arm.links
        ],
    }


def _shape(item: Geometry) -> dict[str, Any]:
    match item.shape:
        case Box(x, y, z):
            kind, size = "box", [x, y, z]
        case Sphere(radius):
            kind, size = "sphere", [radius]
        case Cylinder(radius, length):
            kind, size = "cylinder", [radius, length]
        case Capsule(radius, length):
            kind, size = "capsule", [radius, length]
        case MeshFile(file):
            raise InputError(f"the mesh '{file}' cannot be drawn.", place="arm", remedy="Leave meshes out.")
    return {"kind": kind, "pose": item.pose.matrix[:3].ravel().tolist(), "size": size}


def _ellipsoid(mass: MassDrawing | None) -> list[float] | None:
    """The matrix that makes the ellipsoid of the unit ball, row by row."""
    ellipsoid: Ellipsoid | None = None if mass is None else mass.ellipsoid
    if ellipsoid is None:
        return None
    matrix = ellipsoid.pose.matrix[:3]
    matrix[:, :3] *= ellipsoid.semi_axes
    return [float(x) for x in matrix.ravel()]


STYLES = ("page.css",)
SCRIPTS = (
    "reading.js",
    "torque_plots.js",
    "turning_view.js",
    "arm_view.js",
    "parameter_table.js",
    "start.js",
)


def report_page(content: ReportContent) -> str:
    """Write the page of one run.

    The same content gives the same text. Everything that comes from files is escaped; see `shell.page` for
    what else keeps a hostile name from doing anything.

    Args:
        content: what the report says.

    Returns:
        HTML in UTF-8.
    """
    sections = {
        "Verdict": ("verdict", opening(content)),
        "Checks": ("checks", checks_section(content)),
        "Torque": ("torque", torque_section(content)),
        "The arm": ("arm", arm_section(content)),
        "Parameters": ("parameters", parameter_section(content)),
        "Combinations": ("combinations", combination_section(content)),
        "Findings": ("findings", findings_section(content)),
        "Record": ("record", record_section(content)),
    }
    return page(
        f"{content.robot}: identification report",
        sections,
        plot_data(content),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )


# The report in a few lines of text, for a terminal.


def summary_text(content: ReportContent) -> str:
    """Say the essentials of a report in plain text.

    Names from files are shown with their control characters spelled out, so that no file can steer the
    terminal.

    Args:
        content: what the report says.

    Returns:
        Lines of text, the last one ended.
    """
    lines = [f"{visible_text(content.robot)}: {headline(content.verdict)}", ""]
    lines += _checks(content)
    if content.traces:
        lines += ["", *_torques(content)]
    lines += ["", _knowledge(content)]
    told = [finding for finding in content.findings if finding.severity is not Severity.INFO]
    if told:
        lines += ["", "Findings", *(f"  {visible_text(str(finding))}" for finding in told)]
    if content.untested:
        lines += ["", "Not tested", *(f"  {visible_text(sentence)}" for sentence in content.untested)]
    return "\n".join(lines) + "\n"


def _checks(content: ReportContent) -> list[str]:
    width = max((len(visible_text(check.name)) for check in content.verdict.checks), default=0)
    # The outcome is spelled out beside its symbol: symbols are lost in some terminals and to some eyes.
    return [
        f"  {SYMBOLS[check.status]} {check.status.value:<7}  {visible_text(check.name):<{width}}  "
        f"{visible_text(check.message)}".rstrip()
        for check in content.verdict.checks
    ] or [f"  {SYMBOLS[Status.NOT_RUN]} no checks"]


def _torques(content: ReportContent) -> list[str]:
    errors = torque_error_words(content)
    names = [visible_text(joint) for joint in content.joints]
    width = max(len(name) for name in (*names, "all joints", "unfiltered"))
    titles = [f"{visible_text(trace.name)} ({_seen(trace.held_out)})" for trace, _ in errors]
    lines = ["Torque not explained, percent of its rms", "  " + "  ".join(["".ljust(width), *titles])]
    rows = [(name, [error.joints[j] for _, error in errors]) for j, name in enumerate(names)]
    for name, values in [*rows, ("all joints", [error.overall for _, error in errors])]:
        cells = [percent(value).rjust(len(title)) for value, title in zip(values, titles, strict=True)]
        lines.append("  " + "  ".join([name.ljust(width), *cells]))
    if any(trace.unfiltered is not None for trace, _ in errors):
        plain = ["" if trace.unfiltered is None else percent(trace.unfiltered.overall) for trace, _ in errors]
        cells = [value.rjust(len(title)) for value, title in zip(plain, titles, strict=True)]
        lines.append("  " + "  ".join(["unfiltered".ljust(width), *cells]))
    return lines


def _seen(held_out: bool) -> str:
    return "held out" if held_out else "seen"


def _knowledge(content: ReportContent) -> str:
    counts = {kind: sum(line.kind is kind for line in content.parameters) for kind in Class}
    shares = ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)
    return (
        f"{len(content.combinations)} combinations of {len(content.parameters)} parameters are determined"
        f"{f' ({shares})' if shares else ''}; method {visible_text(content.method)}."
    )
