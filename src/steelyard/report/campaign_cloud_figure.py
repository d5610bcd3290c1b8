"""Pictures of a parameter cloud: the first two scores after every stage on common axes, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from steelyard.audit import CloudStage, ParameterCloud
from steelyard.report.campaign_cloud_axes import (
    BOTTOM,
    LEFT,
    RIGHT,
    SIZE,
    TOP,
    axes,
    reach,
    score_pair,
    short,
    text_at,
)
from steelyard.report.safe_text import marked_up
from steelyard.report.sensitivity_figures import COLOURS

_SHAPES = (
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z",
    "M-2.7 -2.7h5.4v5.4h-5.4Z",
    "M0 -3.8L3.8 0L0 3.8L-3.8 0Z",
    "M0 -3.6L3.5 2.7H-3.5Z",
    "M0 3.6L3.5 -2.7H-3.5Z",
)
MOST_LABELS = 3
"""Runs apart that are labelled in one picture, the farthest first."""


def stage_figure(
    cloud: ParameterCloud,
    stage: CloudStage,
    families: Mapping[str, str],
    representative: str = "",
    *,
    enlarged: bool = False,
) -> str:
    """Draw the runs after one stage over the first two components of the common basis.

    Args:
        cloud: all stages; they set the axes.
        stage: the one to draw.
        families: family of each run by its label; each has its colour and mark.
        representative: label of the run to ring; empty for none.
        enlarged: whether the axes are set by this stage alone.

    Returns:
        SVG text; runs beyond the axes stand at the edge, fainter.
    """
    low, high = reach((stage,) if enlarged else cloud.stages)
    right, floor = SIZE - RIGHT, SIZE - BOTTOM
    order = list(dict.fromkeys(families[label] for label in cloud.labels))
    places: dict[str, tuple[float, float]] = {}
    marks = []
    for k in np.flatnonzero(stage.answered).tolist():
        label, score = cloud.labels[k], score_pair(stage.scores)[k]
        share = (score - low) / (high - low)
        inside = np.clip(share, 0.0, 1.0)
        x, y = LEFT + float(inside[0]) * (right - LEFT), floor - float(inside[1]) * (floor - TOP)
        places[label] = x, y
        beyond = bool((inside != share).any())
        told = f"{label}: {short(score[0])}, {short(score[1])}; distance {short(stage.distances[k])}"
        told += f"{', apart' if stage.apart[k] else ''}{', beyond the axes' if beyond else ''}"
        marks.append(_mark(order.index(families[label]), x, y, told, faint=beyond))
    told = f"{stage.name}: first two scores of {len(places)} runs"
    parts = [*axes(low, high, cloud), *marks, *_labels(cloud, stage, places, representative)]
    listed = "\n".join(parts)
    return f'<svg viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{marked_up(told)}">\n{listed}\n</svg>'


def family_key(families: Sequence[str]) -> str:
    """The marks of the families, with their names.

    Args:
        families: names, in the order of the runs.

    Returns:
        HTML.
    """
    width = 64
    parts = [
        f'{_mark(k, 10 + width * k, 10, name)}<text x="{18 + width * k}" y="14">{marked_up(name[:8])}</text>'
        for k, name in enumerate(families)
    ]
    whole = max(width * len(families), 320)
    return (
        f'<svg viewBox="0 0 {whole} 20" height="20" preserveAspectRatio="xMinYMid" role="img" '
        'aria-label="Families of motions">' + "".join(parts) + "</svg>\n"
    )


def _labels(
    cloud: ParameterCloud,
    stage: CloudStage,
    places: Mapping[str, tuple[float, float]],
    representative: str,
) -> list[str]:
    """Names at the right edge, led to their marks: runs apart above, the representative below."""
    far = sorted(np.flatnonzero(stage.apart).tolist(), key=lambda k: (-stage.distances[k], cloud.labels[k]))
    # Of a motion that is apart at several sampling intervals the farthest one is named.
    motions = {cloud.labels[k].partition(" @ ")[0]: cloud.labels[k] for k in reversed(far)}
    named = [label for label in (cloud.labels[k] for k in far) if label in motions.values()][:MOST_LABELS]
    rows = {label: TOP + 14.0 + 15.0 * k for k, label in enumerate(named)}
    parts = []
    if representative in places:
        rows[representative] = SIZE - BOTTOM - 8.0
        x, y = places[representative]
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="none" stroke="currentColor" stroke-width="1.5"/>'
        )
    right = SIZE - RIGHT - 5
    for label, y in rows.items():
        x, at = places[label]
        start = right - 6.1 * len(label) - 3.0
        end = (start, y - 4.0) if x < start else (min(x, right), y + 3.0 if at > y else y - 11.0)
        parts.append(f'<path class="zero" d="M{x:.1f} {at:.1f}L{end[0]:.1f} {end[1]:.1f}"/>')
    return parts + [text_at(right, y, label, "end", clear=True) for label, y in rows.items()]


def _mark(place: int, x: float, y: float, told: str, *, faint: bool = False) -> str:
    shape, colour = _SHAPES[place % len(_SHAPES)], COLOURS[place % len(COLOURS)]
    opacity = 0.35 if faint else 0.8
    return (
        f'<path transform="translate({x:.1f} {y:.1f})" d="{shape}" fill="{colour}" '
        f'fill-opacity="{opacity}"><title>{marked_up(told)}</title></path>'
    )
