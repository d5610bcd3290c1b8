"""The head of a motion's page: whether to run it, and the figures that matter most."""

from __future__ import annotations

from steelyard.report.motion_content import MotionContent
from steelyard.report.motion_verdict import motion_verdict
from steelyard.report.numerals import numeral
from steelyard.report.safe_text import marked_up, unit_text
from steelyard.report.verdict_words import SYMBOLS


def motion_opening(content: MotionContent) -> str:
    """Robot, verdict and the figures that matter most.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    status, headline, why = motion_verdict(content)
    listed = "".join(f"<div><dt>{label}</dt><dd>{figure}</dd></div>" for label, figure in _figures(content))
    return (
        f'<p class="eyebrow">A motion of</p>\n<h1><bdi>{marked_up(content.robot)}</bdi></h1>\n'
        f'<p class="verdict" data-status="{status.value}"><span class="mark" aria-hidden="true">'
        f"{SYMBOLS[status]}</span><span><strong>{headline}</strong> {marked_up(why)}</span></p>\n"
        f'<dl class="figures">{listed}</dl>\n'
    )


def _figures(content: MotionContent) -> list[tuple[str, str]]:
    figures = [("duration", f"{content.time[-1]:.6g}\u202fs")]
    proven = None if content.proof is None else content.proof.smallest_distance
    if proven is not None:
        figures.append(("smallest distance, proven", f"{numeral(1e3 * proven, digits=3)}\u202fmm"))
    elif content.clearance is not None:
        smallest = numeral(1e3 * float(content.clearance.closest.min()), digits=3)
        figures.append(("smallest distance at the samples", f"{smallest}\u202fmm"))
    if content.search is not None:
        for measure in content.search.measures:
            unit = f"\u202f{unit_text(measure.unit)}" if measure.unit else ""
            figures.append((marked_up(measure.name), f"{numeral(measure.after, digits=3)}{unit}"))
    return figures
