"""The last part of the page: findings, and the record of how the result came about."""

from __future__ import annotations

import json
from collections.abc import Mapping

from steelyard.archive import to_document
from steelyard.finding import Severity
from steelyard.recording import Step
from steelyard.report.content import History, ReportContent
from steelyard.report.safe_text import marked_up

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
