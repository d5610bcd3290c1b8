"""The report as one self-contained HTML page: no request to anywhere, readable with scripts off."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.audit import Status, Verdict, torque_error
from steelyard.errors import InputError
from steelyard.finding import Finding, Severity
from steelyard.identifiable import Class
from steelyard.inertia import Ellipsoid
from steelyard.recording import Step
from steelyard.report.arm import ArmDrawing, MassDrawing
from steelyard.report.content import (
    SYMBOLS,
    Combination,
    ParameterLine,
    ReportContent,
    TorqueTrace,
    headline,
    torque_error_words,
)
from steelyard.report.html import (
    MINUS,
    Typeset,
    aligned_numerals,
    numeral,
    percent,
    unit_words,
    visible_text,
)
from steelyard.report.page import packed, thinned
from steelyard.report.render import page_environment, render_page
from steelyard.robot import Box, Capsule, Cylinder, Geometry, MeshFile, Sphere

# The head of the page: the verdict in plain words, and the checks it rests on.

_WORST_FIRST = (Status.FAIL, Status.WARN, Status.PASS, Status.NOT_RUN)


def opening_of(content: ReportContent) -> dict[str, Any]:
    """Robot, verdict and the figures that matter most.

    Args:
        content: what the report says.

    Returns:
        What the template tells of them.
    """
    status = content.verdict.status
    untested = content.verdict.untested
    were = "was" if len(untested) == 1 else "were"
    return {
        "robot": content.robot,
        "status": status.value,
        "symbol": SYMBOLS[status],
        "headline": headline(content.verdict),
        "missing": f"{len(untested)} of {len(content.verdict.checks)} checks {were} not run."
        if untested
        else "",
        "figures": _figures(content),
        "method": content.method,
        "digest": content.digest,
    }


def _figures(content: ReportContent) -> list[tuple[dict[str, str | None], str]]:
    """Labels and figures; a label names the motion it is about, if any."""
    figures = []
    for trace, error in torque_error_words(content):
        figures.append((_about("of the torque unexplained", trace), f"{percent(error.overall)} %"))
        if trace.held_out and (plain := trace.unfiltered) is not None:
            label = _about("of it where no torque is filtered", trace)
            figures.append((label, f"{percent(plain.overall)} %"))
        alone = trace.without_links
        if trace.held_out and alone is not None and percent(alone.overall) != percent(error.overall):
            label = _about("of it by combinations that no links need to have", trace)
            figures.append((label, f"{percent(alone.overall)} %"))
    if content.combinations:
        label = _about(f"combinations of {len(content.parameters)} parameters")
        figures.append((label, str(len(content.combinations))))
    for name, value in content.facts.items():
        if name in ("samples", "condition number") and isinstance(value, int | float):
            text = f"{value:,}".replace(",", "\u202f") if name == "samples" else f"{value:.3g}"
            figures.append((_about(name), Typeset(text)))
    return figures


def _about(words: str, trace: TorqueTrace | None = None) -> dict[str, str | None]:
    if trace is None:
        return {"words": words, "motion": None}
    return {"words": words, "motion": trace.name, "seen": _seen_in_training(trace)}


def _seen_in_training(trace: TorqueTrace) -> str:
    return "held out" if trace.held_out else "seen in training"


def checks_of(content: ReportContent) -> list[dict[str, str]]:
    """The checks, failures first, as the macro `checks` writes them.

    Args:
        content: what the report says.

    Returns:
        Status, symbol, name and message of each.
    """
    checks = sorted(content.verdict.checks, key=lambda check: _WORST_FIRST.index(check.status))
    return [
        {
            "status": check.status.value,
            "symbol": SYMBOLS[check.status],
            "name": check.name,
            "message": check.message,
        }
        for check in checks
    ]


def untested_of(content: ReportContent) -> list[str]:
    """What was not tested, in sentences.

    Args:
        content: what the report says.

    Returns:
        The checks that were not run, and what no check tests.
    """
    # Made visible before the rest of the sentence joins it: a name ends where its last letter is.
    return [
        *(f"{visible_text(name)}: this check was not run." for name in content.verdict.untested),
        *content.untested,
    ]


# Torques on the page: the errors of every joint, and the place of the curves.

_ZOOMS = (
    ("in", "Zoom in"),
    ("out", "Zoom out"),
    ("earlier", "Earlier"),
    ("later", "Later"),
    ("whole", "Whole motion"),
)


def torque_errors_of(content: ReportContent) -> dict[str, Any] | None:
    """Errors by joint and motion, as the macro `torque` writes them.

    Args:
        content: what the report says.

    Returns:
        The motions, and a row for each joint and for all; None where no motion is shown.
    """
    errors = torque_error_words(content)
    if not errors:
        return None
    columns: list[list[dict[str, Any]]] = []
    for trace, error in errors:
        rms = np.sqrt(((trace.measured - trace.predicted) ** 2).mean(axis=0))
        shares = aligned_numerals([percent(share) for share in (*error.joints, error.overall)])
        sizes = [*aligned_numerals([numeral(float(size), digits=3) for size in rms]), None]
        columns.append(
            [
                {"share": share, "filtered": True, "rms": size, "unit": unit}
                for share, size, unit in zip(shares, sizes, (*content.units, ""), strict=True)
            ]
        )
        if (plain := trace.unfiltered) is not None:
            shares = aligned_numerals([percent(share) for share in (*plain.joints, plain.overall)])
            columns.append([{"share": share, "filtered": False} for share in shares])
    return {
        "motions": [
            {
                "name": trace.name,
                "seen": _seen_in_training(trace),
                "seen_short": _seen(trace.held_out),
                "unfiltered": trace.unfiltered is not None,
            }
            for trace in content.traces
        ],
        "rows": [
            {"joint": joint, "cells": [column[k] for column in columns]}
            for k, joint in enumerate([*content.joints, None])
        ],
        "zooms": _ZOOMS,
    }


# The arm on the page: the place of its drawing, and the mass of every link.


def arm_view_of(content: ReportContent) -> dict[str, Any] | None:
    """Words and switches beside the drawing, and the mass of every link.

    Args:
        content: what the report says.

    Returns:
        What the template tells of them; None where no robot is drawn.
    """
    arm = content.arm
    if arm is None:
        return None
    full = any(link.estimated is not None for link in arm.links)
    layers = [("shapes", "shapes"), ("nominal", "description")]
    return {
        "told": "Each ellipsoid is the uniform solid that has its link’s mass, centre of mass and inertia."
        if full
        else "The method gives no full set of links, so only the description’s ellipsoids are drawn.",
        "layers": [*layers, ("estimated", "estimate")] if full else layers,
        "motion": arm.motion,
        "last_pose": len(arm.time) - 1,
        "links": _link_masses(arm),
    }


def _link_masses(arm: ArmDrawing) -> list[dict[str, Any]]:
    links = [(k, link) for k, link in enumerate(arm.links) if link.nominal or link.estimated]
    described = aligned_numerals([numeral(link.nominal.mass if link.nominal else None) for _, link in links])
    estimated = aligned_numerals(
        [numeral(link.estimated.mass if link.estimated else None) for _, link in links]
    )
    return [
        {
            "place": k,
            "name": link.name,
            "described": n,
            "estimated": e,
            "remarks": [
                (which, mass.reason)
                for which, mass in (("as described", link.nominal), ("as estimated", link.estimated))
                if mass is not None and mass.reason
            ],
        }
        for (k, link), n, e in zip(links, described, estimated, strict=True)
    ]


# Standard parameters on the page, with interval and class, to be sorted and filtered.

_MEANING = {
    Class.ALONE: "known by itself",
    Class.BASE: "head of a combination",
    Class.GROUPED: "known in combinations only",
    Class.UNIDENTIFIABLE: "out of reach of torques",
}
_FIXED_SYMBOL, _FIXED = "=", "fixed"
_COLUMNS = ("parameter", "class", "estimate", "95 % from", "to", "described", "unit")
_LINK_HEADS = ("link", "mass, kg", "95 % from", "to", "described", "decided by", "centre, m", "described")


def standard_parameters(content: ReportContent) -> dict[str, Any] | None:
    """The standard parameters, to be sorted and filtered.

    Args:
        content: what the report says.

    Returns:
        What the template tells of them; None where there are none.
    """
    lines = content.parameters
    if not lines:
        return None
    # One alignment for all columns: on a narrow screen they stand below each other.
    numerals = aligned_numerals([text for line in lines for text in _numerals(line)])
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
    counts = {kind: sum(line.kind is kind for line in lines) for kind in Class}
    return {
        "link_heads": _LINK_HEADS,
        "links": _links(lines),
        "told": told,
        "kinds": [
            {"name": kind.value, "symbol": kind.symbol, "meaning": _MEANING[kind], "count": count}
            for kind, count in counts.items()
            if count
        ],
        "columns": _COLUMNS,
        "rows": [_row(line, numerals[4 * k : 4 * k + 4]) for k, line in enumerate(lines)],
    }


def _links(lines: Sequence[ParameterLine]) -> list[tuple[str, tuple[str, ...]]]:
    """Masses and centres of mass beside those described: what a reader looks at first; their sums last."""
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
        cells = (
            *(numeral(x, mass.half_width) for x in (mass.value, mass.lower, mass.upper)),
            numeral(mass.nominal),
            mass.decided_by,
            _centre([terms[name].value for name in ("m", "mx", "my", "mz")]),
            _centre([terms[name].nominal for name in ("m", "mx", "my", "mz")]),
        )
        rows.append((owner, cells))
    if rows:
        sums = (f"{total:.4g}", "", "", "" if np.isnan(described) else f"{described:.4g}", "", "", "")
        rows.append(("total", sums))
    return rows


def _centre(ten: Sequence[float | None]) -> str:
    m, *moments = ten
    if not m or any(x is None for x in moments):
        return ""
    return " ".join(f"{x / m:+.3f}" for x in moments if x is not None)


def _numerals(line: ParameterLine) -> list[str]:
    half = line.half_width
    return [*(numeral(x, half) for x in (line.value, line.lower, line.upper)), numeral(line.nominal)]


def _row(line: ParameterLine, numerals: Sequence[str]) -> dict[str, Any]:
    owner, _, term = visible_text(line.name).rpartition(".")
    keys = (line.value, line.lower, line.upper, line.nominal)
    return {
        "name": line.name,
        "owner": Typeset(owner),
        "term": Typeset(term),
        "kind": _FIXED if line.kind is None else line.kind.value,
        "symbol": _FIXED_SYMBOL if line.kind is None else line.kind.symbol,
        "order": len(Class) if line.kind is None else list(Class).index(line.kind),
        "decided_by": line.decided_by,
        "numbers": [
            {"key": _key(key), "text": text, "unbounded": "∞" in text}
            for key, text in zip(keys, numerals, strict=True)
        ],
        "unit": unit_words(line.unit),
    }


def _key(value: float | None) -> str:
    return "" if value is None else str(value).replace("inf", "Infinity")


# Base parameters on the page: what torques determine, as formulas.


def combinations_of(content: ReportContent) -> list[dict[str, Any]]:
    """The base parameters as formulas.

    Args:
        content: what the report says.

    Returns:
        Terms, value, interval and unit of each.
    """
    return [
        {
            "terms": [_term(k, name, factor) for k, (name, factor) in enumerate(line.terms)],
            "value": numeral(line.value, line.half_width),
            "spread": _spread(line),
            "unit": unit_words(line.unit),
            "described": "" if line.nominal is None else numeral(line.nominal, line.half_width),
        }
        for line in content.combinations
    ]


def _term(place: int, name: str, factor: float) -> dict[str, str]:
    size = abs(factor)
    return {
        "sign": MINUS if factor < 0 else "+" if place else "",
        "size": "" if math.isclose(size, 1.0, rel_tol=1e-9) else numeral(size),
        "name": name,
    }


def _spread(line: Combination) -> str:
    half = line.half_width
    if not math.isfinite(half):
        return "(no interval)"
    if line.random is None:
        return f"± {numeral(half, half)}"
    return f"± {numeral(half, half)} (± {numeral(line.random, line.random)} by the same torque constants)"


# The last part of the page: findings, and the record of how the result came about.

_LOUDEST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def findings_of(content: ReportContent) -> list[Finding]:
    """What was noticed on the way, as the macro `findings` writes it.

    Args:
        content: what the report says.

    Returns:
        The findings, the gravest first.
    """
    return sorted(content.findings, key=lambda finding: _LOUDEST_FIRST.index(finding.severity))


def record_of(content: ReportContent) -> dict[str, Any]:
    """Steps with their digests, who read the models back, settings and versions, for the macro `record`.

    Args:
        content: what the report says.

    Returns:
        The logs' histories, and lists of facts with their headings.
    """
    # Draws of further models are judged alike, and not named one by one.
    models = {file: by for file, by in content.read_back.items() if "/" not in file}
    lists = {
        "Read back, and found to agree, by": {
            file: " and ".join(by) or "nobody" for file, by in models.items()
        },
        "Estimation": {name: to_document(value) for name, value in content.facts.items()},
        "Versions": content.versions,
    }
    return {
        "histories": [
            {
                "name": history.name,
                "digest": history.digest,
                "steps": [_step(step) for step in history.steps],
            }
            for history in content.histories
        ],
        "lists": [(heading, _definitions(values)) for heading, values in lists.items() if values],
    }


def _step(step: Step) -> dict[str, Any]:
    detail = step.to_json()["detail"]
    return {
        "action": step.action,
        "settings": _definitions(detail) if isinstance(detail, Mapping) else [],
        "digest": step.digest,
    }


def _definitions(values: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(str(name), _written(value)) for name, value in values.items()]


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
    "time_window.js",
    "torque_plots.js",
    "turning_view.js",
    "arm_view.js",
    "parameter_table.js",
    "start.js",
)
_HEADINGS = {
    "verdict": "Verdict",
    "checks": "Checks",
    "torque": "Torque",
    "arm": "The arm",
    "parameters": "Parameters",
    "combinations": "Combinations",
    "findings": "Findings",
    "record": "Record",
}


_TEMPLATE = "identification.html"


def load_report_page() -> None:
    """Compile the page's template, which the first page would wait for."""
    page_environment().get_template(_TEMPLATE)


def report_page(content: ReportContent) -> str:
    """Write the page of one run.

    Args:
        content: what the report says.

    Returns:
        HTML in UTF-8.
    """
    told = {
        "opening": opening_of(content),
        "checks": checks_of(content),
        "untested": untested_of(content),
        "torque": torque_errors_of(content),
        "arm": arm_view_of(content),
        "parameters": standard_parameters(content),
        "combinations": combinations_of(content),
        "findings": findings_of(content),
        "record": record_of(content),
    }
    left_out = {name for name in ("torque", "arm", "parameters", "combinations") if not told[name]}
    return render_page(
        _TEMPLATE,
        f"{content.robot}: identification report",
        {name: heading for name, heading in _HEADINGS.items() if name not in left_out},
        told,
        plot_data(content),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )


def check_lines(verdict: Verdict) -> list[str]:
    """The checks and their outcome, a line each.

    Args:
        verdict: the checks.

    Returns:
        Lines of text; one that says so where there are none.
    """
    width = max((len(visible_text(check.name)) for check in verdict.checks), default=0)
    # The outcome is spelled out beside its symbol: symbols are lost in some terminals and to some eyes.
    return [
        f"  {SYMBOLS[check.status]} {check.status.value:<7}  {visible_text(check.name):<{width}}  "
        f"{visible_text(check.message)}".rstrip()
        for check in verdict.checks
    ] or [f"  {SYMBOLS[Status.NOT_RUN]} no checks"]


def _seen(held_out: bool) -> str:
    return "held out" if held_out else "seen"
