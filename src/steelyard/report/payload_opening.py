"""The head of a payload's page: what it weighs, where its centre is, and whether to believe it."""

from __future__ import annotations

from steelyard.audit import Status, Verdict
from steelyard.payload import DecidedBy
from steelyard.report.payload_content import PayloadContent
from steelyard.report.payload_words import interval_numerals, outward
from steelyard.report.safe_text import marked_up
from steelyard.report.verdict_words import SYMBOLS


def payload_opening(content: PayloadContent) -> str:
    """Mass, verdict, centre of mass, and the way they were found.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    mass = content.number("mass")
    value, lower, upper = interval_numerals(mass)
    decided = " The prior decided it, not the data." if mass.decided is DecidedBy.PRIOR else ""
    status = content.verdict.status
    untested = content.verdict.untested
    were = "was" if len(untested) == 1 else "were"
    missing = f" {len(untested)} of {len(content.verdict.checks)} checks {were} not run." if untested else ""
    listed = "".join(f"<div><dt>{told}</dt><dd>{figure}</dd></div>" for figure, told in _figures(content))
    return (
        f'<p class="eyebrow"><bdi>{marked_up(content.robot)}</bdi> holds</p>\n<h1>{value}\u202fkg</h1>\n'
        f"<p>95\u202f% interval: {lower} to {upper}\u202fkg.{decided}{_sure(content)}</p>\n"
        f'<p class="verdict" data-status="{status.value}"><span class="mark" aria-hidden="true">'
        f"{SYMBOLS[status]}</span><span><strong>{payload_headline(content.verdict)}</strong>{missing}</span>"
        f'</p>\n<dl class="figures">{listed}</dl>\n'
        f"<p>Weighed by <strong>{marked_up(content.way)}</strong>: {marked_up(content.why)}. "
        f"Centre of mass and inertia are stated in the frame <bdi>{marked_up(content.frame)}</bdi>, carried "
        f"by the link <bdi>{marked_up(content.link)}</bdi>.</p>\n"
    )


def payload_headline(verdict: Verdict) -> str:
    """What is to be thought of a weighed payload, in a sentence.

    Args:
        verdict: the checks.

    Returns:
        The sentence.
    """
    count = {status: sum(check.status is status for check in verdict.checks) for status in Status}
    if verdict.status is Status.FAIL:
        failed = "one check" if count[Status.FAIL] == 1 else f"{count[Status.FAIL]} checks"
        return f"Do not rely on these numbers: {failed} failed."
    if verdict.status is Status.WARN:
        warned = "one check warns" if count[Status.WARN] == 1 else f"{count[Status.WARN]} checks warn"
        return f"Use these numbers with care: {warned}."
    if verdict.status is Status.PASS:
        ran = count[Status.PASS]
        return "The one check that was run passed." if ran == 1 else f"All {ran} checks that were run passed."
    return "Nothing is known about how good these numbers are: no check was run."


def _sure(content: PayloadContent) -> str:
    """The bounds of the mass, tied to what they assume."""
    if content.bounds is None:
        return ""
    lower, upper = outward(float(content.bounds.lower[0]), float(content.bounds.upper[0]))
    count = len(content.bounds.assumptions)
    rests = "this assumption holds" if count == 1 else f"these {count} assumptions hold"
    untested = len(content.bounds.untested)
    told = f"; {untested} of them the data cannot test" if untested else ""
    return f' Guaranteed between {lower} and {upper}\u202fkg if <a href="#guaranteed">{rests}</a>{told}.'


def _figures(content: PayloadContent) -> list[tuple[str, str]]:
    figures = []
    for axis in "xyz":
        number = content.number(f"com_{axis}")
        value, lower, upper = interval_numerals(number)
        by = ", by the prior" if number.decided is DecidedBy.PRIOR else ""
        figures.append((f"{value}\u202fmm", f"centre of mass, {axis}<br>{lower} to {upper}{by}"))
    samples, condition = (content.facts.get(name) for name in ("samples", "condition number"))
    if isinstance(samples, int):
        figures.append((f"{samples:,}".replace(",", "\u202f"), "samples"))
    if isinstance(condition, int | float):
        figures.append((f"{condition:.3g}".replace("inf", "∞"), "condition number"))
    return figures
