"""The last part of a motion's page: what is proven of it, findings, and what it was made from."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.finding import Severity
from steelyard.limits import ProvenMargin
from steelyard.report.motion_content import MotionContent
from steelyard.report.numerals import numeral
from steelyard.report.safe_text import marked_up, unit_text

_LOUDEST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def proof_section(content: MotionContent) -> str:
    """What is proven, what is left of each kind of limit, and what the proof rests on.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    proof = content.proof
    if proof is None:
        bounded = [marked_up(curves.name) for curves in content.curves if curves.proven is not None]
        kept = f" Between samples only the bounds of {', '.join(bounded)} are proven." if bounded else ""
        return f'<p class="quiet">No proof of the limits was sought.{kept}</p>\n'
    kinds = dict.fromkeys(margin.kind for margin in proof.margins)
    tightest = [
        min((margin for margin in proof.margins if margin.kind == kind), key=lambda margin: margin.margin)
        for kind in kinds
    ]
    assumptions = "".join(f"<li>{marked_up(sentence)}</li>" for sentence in proof.assumptions)
    parts = [f"<p>{marked_up(proof.message)}</p>\n"]
    if tightest:
        parts.append(f"<h3>Least that is left of each kind</h3>\n{_margins(tightest)}")
        every = _margins(proof.margins)
        parts.append(f"<details><summary>All {len(proof.margins)} margins</summary>{every}</details>\n")
    if proof.uncovered:
        missing = "".join(f"<li>{marked_up(sentence)}</li>" for sentence in proof.uncovered)
        parts.append(f'<h3>Not part of the proof</h3>\n<ul class="untested">{missing}</ul>\n')
    if assumptions:
        parts.append(f'<h3>Assumptions</h3>\n<ul class="untested">{assumptions}</ul>\n')
    return "".join(parts)


def _margins(margins: Sequence[ProvenMargin]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{marked_up(margin.kind)}</th>'
        f'<td data-label="of" class="name"><bdi>{marked_up(margin.name)}</bdi></td>'
        f'<td data-label="left at least">{_left(margin)}</td>'
        f'<td data-label="tightest within">{margin.start:.2f} … {margin.end:.2f}\u202fs</td></tr>'
        for margin in margins
    )
    return (
        '<table class="margins stack"><thead><tr><th scope="col">limit</th>'
        '<th scope="col" class="name">of</th><th scope="col">left at least</th>'
        f'<th scope="col">tightest within</th></tr></thead>\n<tbody>{rows}</tbody></table>\n'
    )


def _left(margin: ProvenMargin) -> str:
    if margin.kind == "clearance":
        return f"{numeral(1e3 * margin.margin, digits=3)}\u202fmm"
    return f"{numeral(margin.margin, digits=3)}\u202f{unit_text(margin.unit)}"


def noticed_section(content: MotionContent) -> str:
    """Broken limits and whatever else was noticed, the gravest first.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    every = (*content.broken, *content.findings)
    if not every:
        return '<p class="quiet">Nothing was noticed.</p>\n'
    rows = "\n".join(
        f'<li data-severity="{finding.severity.value}"><span class="state">{finding.severity.value}</span>'
        f"<div>{f'<bdi>{marked_up(finding.place)}</bdi>: ' if finding.place else ''}"
        f"{marked_up(finding.message)} <small><code>{marked_up(finding.code)}</code></small></div></li>"
        for finding in sorted(every, key=lambda finding: _LOUDEST_FIRST.index(finding.severity))
    )
    return f'<ul class="findings">\n{rows}\n</ul>\n'


def source_section(content: MotionContent) -> str:
    """Digests, versions and how finely the motion was looked at.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    rate = (len(content.time) - 1) / float(content.time[-1])
    facts = {
        "robot description": content.digest,
        "motion": content.motion,
        "samples": f"{len(content.time)}, {rate:.4g} per second",
        **content.versions,
    }
    listed = "".join(
        f"<div><dt>{marked_up(name)}</dt><dd><code>{marked_up(value)}</code></dd></div>"
        for name, value in facts.items()
    )
    return f'<dl class="facts">{listed}</dl>\n'
