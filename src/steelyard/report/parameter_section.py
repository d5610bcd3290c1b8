"""Standard parameters on the page, with interval and class, to be sorted and filtered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.identifiability import Class
from steelyard.report.content import ParameterLine, ReportContent
from steelyard.report.numerals import aligned, numeral
from steelyard.report.safe_text import marked_up, unit_text

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
    numerals = aligned([text for line in lines for text in _numerals(line)])
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
