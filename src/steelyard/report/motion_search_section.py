"""How a motion was found, on its page: what it is worth, the search over time, and what it is to show."""

from __future__ import annotations

import json

from steelyard.archive import to_document
from steelyard.report.motion_content import Measure, MotionContent, SearchRecord
from steelyard.report.numerals import numeral
from steelyard.report.safe_text import marked_up, unit_text


def search_section(content: MotionContent) -> str:
    """What the motion is worth, and how it was found.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where nothing is known of the search.
    """
    record = content.search
    if record is None:
        return ""
    facts = "".join(
        f"<div><dt>{marked_up(name)}</dt><dd>{marked_up(_written(value))}</dd></div>"
        for name, value in record.facts.items()
    )
    columns = "".join(f"<li><code>{marked_up(name)}</code></li>" for name in record.columns)
    shown = (
        f"<details><summary>{len(record.columns)} columns the motion is judged by</summary>"
        f'<ul class="columns">{columns}</ul></details>\n'
        if columns
        else ""
    )
    return (
        f"<p>Sought by <strong>{marked_up(record.criterion)}</strong>.</p>\n"
        f"{_measures(record)}"
        '<div id="search-plot"></div>\n'
        f"{shown}" + (f'<dl class="facts">{facts}</dl>\n' if facts else "")
    )


def _measures(record: SearchRecord) -> str:
    if not record.measures:
        return ""
    compared = any(measure.before is not None for measure in record.measures)
    head = f'<th scope="col">{marked_up(record.compared)}</th>' if compared else ""
    rows = "".join(
        f'<tr><th scope="row">{marked_up(measure.name)}</th>'
        + (
            f'<td data-label="{marked_up(record.compared)}">{_value(measure, measure.before)}</td>'
            if compared
            else ""
        )
        + f'<td data-label="this motion">{_value(measure, measure.after)}</td></tr>'
        for measure in record.measures
    )
    return (
        f'<table class="measures stack"><thead><tr><th scope="col">measure</th>{head}'
        f'<th scope="col">this motion</th></tr></thead>\n<tbody>{rows}</tbody></table>\n'
    )


def _value(measure: Measure, value: float | None) -> str:
    unit = f"\u202f{unit_text(measure.unit)}" if measure.unit and value is not None else ""
    return f"{numeral(value)}{unit}"


def _written(value: object) -> str:
    document = to_document(value)
    if isinstance(document, float):
        return f"{document:.6g}"
    return document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
