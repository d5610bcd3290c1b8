"""The head of the page: the verdict in plain words, and the checks it rests on."""

from __future__ import annotations

from steelyard.audit import Status
from steelyard.report.content import ReportContent
from steelyard.report.numerals import percent
from steelyard.report.safe_text import marked_up
from steelyard.report.verdict_words import SYMBOLS, headline, torque_errors

_LOUDEST_FIRST = (Status.FAIL, Status.WARN, Status.PASS, Status.NOT_RUN)


def opening(content: ReportContent) -> str:
    """Robot, verdict and the figures that matter most.

    Args:
        content: what the report says.

    Returns:
        HTML.
    """
    status = content.verdict.status
    figures = []
    for trace, error in torque_errors(content):
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
    checks = sorted(content.verdict.checks, key=lambda check: _LOUDEST_FIRST.index(check.status))
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
