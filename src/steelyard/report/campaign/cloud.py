"""The parameter cloud on the page of a campaign: pictures, dispersion, axes, and the runs apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import APART, CloudStage, ParameterCloud, Trend
from steelyard.report.campaign.content import THIN, CampaignContent, Cell, campaign_table, counted, number
from steelyard.report.html import MINUS, Typeset, numeral, unit_words, visible_text
from steelyard.report.page import COLOURS

# What stands in a picture, in units of the picture; the templates write it as SVG.


@dataclass(frozen=True)
class Word:
    """Words in a picture.

    Attributes:
        x: across, in units of the picture.
        y: of the line they stand on, in units of the picture.
        text: the words.
        anchor: which part of them stands at x: start, middle or end.
        clear: whether a seam of paper keeps them readable over lines and marks.
    """

    x: float
    y: float
    text: str
    anchor: str
    clear: bool = False


@dataclass(frozen=True)
class Tick:
    """A line of a picture's grid, with its number.

    Attributes:
        kind: `zero` for the line of zero, else `grid`.
        path: the line.
        number: at its end.
    """

    kind: str
    path: str
    number: Word


@dataclass(frozen=True)
class Mark:
    """The mark of a run, or of a family.

    Attributes:
        x: across, in units of the picture.
        y: down, in units of the picture.
        shape: path around the origin.
        colour: of its inside.
        opacity: of its inside, dimensionless.
        told: what it says when it is pointed at.
    """

    x: float
    y: float
    shape: str
    colour: str
    opacity: float
    told: str


@dataclass(frozen=True)
class CloudPicture:
    """The runs after one stage over two components.

    Attributes:
        size: side of the picture, in its units.
        told: what it shows, for who cannot see it.
        frame: path around it.
        ticks: round numbers along both axes.
        axes: what the axes are.
        marks: one for each run with an answer.
        ring: where the representative stands; None where it is not drawn.
        leaders: lines from the marks to their labels.
        labels: names of the runs apart, and of the representative.
    """

    size: int
    told: str
    frame: str
    ticks: tuple[Tick, ...]
    axes: tuple[Word, ...]
    marks: tuple[Mark, ...]
    ring: tuple[float, float] | None
    leaders: tuple[str, ...]
    labels: tuple[Word, ...]


def grid_kind(value: float) -> str:
    """How the line of a number is drawn.

    Args:
        value: any unit.

    Returns:
        `zero` or `grid`.
    """
    return "zero" if value == 0.0 else "grid"


# The frame of a cloud's picture: where its axes end, their numbers and words.

SIZE, LEFT, RIGHT, TOP, BOTTOM = 320, 34, 8, 8, 36
"""Side of a picture and the room around its frame, in units of the picture."""
COVERED = 0.95
"""Share of all answers that the axes must hold besides all of the last stage; the rest stands at the edge."""


def axis_reach(stages: Sequence[CloudStage]) -> tuple[Array, Array]:
    """Ends of axes that hold the last of some stages, and most of every other.

    Args:
        stages: in their order.

    Returns:
        Lower and upper ends, each shape (2,), dimensionless.
    """
    ends = []
    for stage in stages:
        scores = score_pair(stage.scores)[stage.answered]
        if len(scores):
            tail = 0.0 if stage is stages[-1] else (1.0 - COVERED) / 2.0
            ends.append(np.quantile(scores, (tail, 1.0 - tail), axis=0))
    low, high = np.min([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)
    room = 0.06 * np.where(high > low, high - low, 1.0)
    return low - room, high + room


def score_pair(scores: Array) -> Array:
    """The first two scores; one parameter alone has no second.

    Args:
        scores: shape (n, k), dimensionless.

    Returns:
        shape (n, 2), dimensionless.
    """
    return np.column_stack((scores, np.zeros(len(scores))))[:, :2]


def _axis_ticks(low: Array, high: Array) -> tuple[Tick, ...]:
    """Round numbers along two scores, between ends of shape (2,)."""
    right, floor = SIZE - RIGHT, SIZE - BOTTOM
    ticks = []
    for value in _round_numbers(float(low[0]), float(high[0])):
        x = LEFT + (value - low[0]) / (high[0] - low[0]) * (right - LEFT)
        text = Word(x, floor + 14, _short(value), "middle")
        ticks.append(Tick(grid_kind(value), f"M{x:.1f} {TOP}V{floor}", text))
    for value in _round_numbers(float(low[1]), float(high[1])):
        y = floor - (value - low[1]) / (high[1] - low[1]) * (floor - TOP)
        text = Word(LEFT - 5, y + 4, _short(value), "end")
        ticks.append(Tick(grid_kind(value), f"M{LEFT} {y:.1f}H{right}", text))
    return tuple(ticks)


def _axis_words(cloud: ParameterCloud) -> tuple[Word, Word]:
    shares = [100.0 * float(share) for share in (*cloud.explained[:2], 0.0)]
    return (
        Word(SIZE - RIGHT, SIZE - 5, f"score 1 ({shares[0]:.0f} % of variance)", "end"),
        Word(LEFT + 5, TOP + 13, f"score 2 ({shares[1]:.0f} %)", "start", clear=True),
    )


def _short(value: float) -> str:
    """A score with three digits at most."""
    return f"{float(value):.3g}".replace("-", MINUS)


def _round_numbers(low: float, high: float) -> list[float]:
    """About four round numbers between two ends."""
    raw = (high - low) / 4.0
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= 0.999 * raw)
    return [k * step for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


# Pictures of a parameter cloud: the first two scores after every stage on common axes.

_SHAPES = (
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z",
    "M-2.7 -2.7h5.4v5.4h-5.4Z",
    "M0 -3.8L3.8 0L0 3.8L-3.8 0Z",
    "M0 -3.6L3.5 2.7H-3.5Z",
    "M0 3.6L3.5 -2.7H-3.5Z",
)
MOST_LABELS = 3
"""Runs apart that are labelled in one picture, the farthest first."""


def stage_picture(
    cloud: ParameterCloud,
    stage: CloudStage,
    families: Mapping[str, str],
    representative: str = "",
    *,
    enlarged: bool = False,
) -> CloudPicture:
    """Place the runs after one stage over the first two components of the common basis.

    Args:
        cloud: all stages; they set the axes.
        stage: the one to draw.
        families: family of each run by its label; each has its colour and mark.
        representative: label of the run to ring; empty for none.
        enlarged: whether the axes are set by this stage alone.

    Returns:
        The picture; runs beyond the axes stand at the edge, fainter.
    """
    low, high = axis_reach((stage,) if enlarged else cloud.stages)
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
        told = f"{label}: {_short(score[0])}, {_short(score[1])}; distance {_short(stage.distances[k])}"
        told += f"{', apart' if stage.apart[k] else ''}{', beyond the axes' if beyond else ''}"
        marks.append(_mark(order.index(families[label]), x, y, told, faint=beyond))
    leaders, labels = _labels(cloud, stage, places, representative)
    return CloudPicture(
        size=SIZE,
        told=f"{stage.name}: first two scores of {len(places)} runs",
        frame=f"M{LEFT} {TOP}H{right}V{floor}H{LEFT}Z",
        ticks=_axis_ticks(low, high),
        axes=_axis_words(cloud),
        marks=tuple(marks),
        ring=places.get(representative),
        leaders=leaders,
        labels=labels,
    )


def _labels(
    cloud: ParameterCloud,
    stage: CloudStage,
    places: Mapping[str, tuple[float, float]],
    representative: str,
) -> tuple[tuple[str, ...], tuple[Word, ...]]:
    """Names at the right edge, led to their marks: runs apart above, the representative below."""
    far = sorted(np.flatnonzero(stage.apart).tolist(), key=lambda k: (-stage.distances[k], cloud.labels[k]))
    # Of a motion that is apart at several sampling intervals the farthest one is named.
    motions = {cloud.labels[k].partition(" @ ")[0]: cloud.labels[k] for k in reversed(far)}
    named = [label for label in (cloud.labels[k] for k in far) if label in motions.values()][:MOST_LABELS]
    rows = {label: TOP + 14.0 + 15.0 * k for k, label in enumerate(named)}
    if representative in places:
        rows[representative] = SIZE - BOTTOM - 8.0
    right = SIZE - RIGHT - 5
    leaders = []
    for label, y in rows.items():
        x, at = places[label]
        start = right - 6.1 * len(label) - 3.0
        end = (start, y - 4.0) if x < start else (min(x, right), y + 3.0 if at > y else y - 11.0)
        leaders.append(f"M{x:.1f} {at:.1f}L{end[0]:.1f} {end[1]:.1f}")
    return tuple(leaders), tuple(Word(right, y, label, "end", clear=True) for label, y in rows.items())


def _family_key(families: Sequence[str]) -> dict[str, Any]:
    """The marks of the families, with their names, in the order of the runs."""
    width = 64
    return {
        "width": max(width * len(families), 320),
        "families": [
            {"mark": _mark(k, 10 + width * k, 10, name), "x": 18 + width * k, "name": name[:8]}
            for k, name in enumerate(families)
        ],
    }


def _mark(place: int, x: float, y: float, told: str, *, faint: bool = False) -> Mark:
    shape, colour = _SHAPES[place % len(_SHAPES)], COLOURS[place % len(COLOURS)]
    return Mark(x, y, shape, colour, 0.35 if faint else 0.8, told)


# Tables of a parameter cloud: dispersion, runs apart, what the axes are, deviation of every parameter.

_TRENDS: dict[Trend, Cell] = {
    Trend.SHRINKS: "shrinks",
    Trend.STAYS: "stays as it is",
    Trend.GROWS: {"strong": "grows"},
    Trend.MIXED: "is mixed: most runs say one thing, a few wild ones the other",
    Trend.UNKNOWN: "cannot be compared",
}
COMPONENTS = 3
"""Components whose largest weights are listed."""
MOST_APART = 8
"""Runs apart that are listed of one stage, the farthest first."""


def _dispersion(cloud: ParameterCloud) -> dict[str, Any]:
    """How far the answers scatter after every stage."""
    heads = ("stage", "answers", "none", "dispersion", "robust", "mean deviation, SI", "robust, SI")
    rows = [
        (
            stage.name,
            str(int(stage.answered.sum())),
            str(int((~stage.answered).sum())),
            number(stage.dispersion),
            number(stage.robust_dispersion),
            number(stage.mean_deviation),
            number(stage.robust_mean_deviation),
        )
        for stage in cloud.stages
    ]
    return campaign_table("Dispersion by stage", heads, rows)


def _steps(cloud: ParameterCloud) -> list[dict[str, Any]]:
    """What became of the dispersion from stage to stage."""
    return [
        {
            "before": step.before,
            "after": step.after,
            "trend": _TRENDS[step.trend],
            "ratio": number(step.ratio),
            "robust_ratio": number(step.robust_ratio),
            "runs": counted(step.runs, "run"),
        }
        for step in cloud.contractions
    ]


def _apart(cloud: ParameterCloud) -> list[dict[str, Any]]:
    """Runs that lie apart from the others after every stage, by the rule of the cloud."""
    stages = []
    for stage in cloud.stages:
        far = sorted(
            (-float(stage.distances[k]), label) for k, label in enumerate(cloud.labels) if stage.apart[k]
        )
        stages.append(
            {
                "name": stage.name,
                "threshold": number(stage.threshold),
                "count": len(far),
                "farthest": [(label, number(-d)) for d, label in far[:MOST_APART]],
                "more": max(len(far) - MOST_APART, 0),
            }
        )
    return stages


def _components(cloud: ParameterCloud) -> list[dict[str, Any]]:
    """What the first principal components are made of."""
    return [
        {
            "share": Typeset(f"{100.0 * float(cloud.explained[k]):.1f}{THIN}%"),
            "leading": [(name, numeral(weight, digits=2)) for name, weight in cloud.leading(k)],
        }
        for k in range(min(COMPONENTS, len(cloud.basis)))
    ]


def _deviations(cloud: ParameterCloud) -> dict[str, Any]:
    """Scale and deviations of every parameter."""
    spreads = [(stage.deviations, stage.robust_deviations) for stage in cloud.stages]
    rows: list[list[Cell]] = [
        [
            {"name": name},
            number(float(cloud.scales[k]), unit_words(unit), digits=2),
            *({"number": number(float(s[k])), "small": number(float(r[k]), digits=2)} for s, r in spreads),
        ]
        for k, (name, unit) in enumerate(zip(cloud.names, cloud.units, strict=True))
    ]
    heads = ("parameter", "scale", *(stage.name for stage in cloud.stages))
    return campaign_table("Deviations by parameter", heads, rows)


ENLARGED = 0.6
"""Share of the common axes below which the last stage is drawn a second time on its own."""


def cloud_of(content: CampaignContent) -> dict[str, Any] | None:
    """The answers of all runs after every stage (Oaki et al. 2026, Fig. 7).

    Args:
        content: what the page says.

    Returns:
        What the template tells of them; None where there is no cloud.
    """
    cloud = content.cloud
    if cloud is None:
        return None
    families = {run.label: run.family for run in content.runs}
    panels = [
        {
            "name": stage.name,
            "told": counted(int(stage.answered.sum()), "run"),
            "picture": stage_picture(cloud, stage, families, content.representative),
        }
        for stage in cloud.stages
    ]
    last = cloud.stages[-1]
    if _is_small(cloud):
        picture = stage_picture(cloud, last, families, content.representative, enlarged=True)
        name = f"{visible_text(last.name)}, enlarged"
        panels.append({"name": name, "told": "axes of its own", "picture": picture})
    return {
        "parameters": len(cloud.names),
        "left_out": counted(len(cloud.left_out), "answer") if cloud.left_out else "",
        "panels": panels,
        "key": _family_key(list(dict.fromkeys(families[label] for label in cloud.labels))),
        "representative": content.representative,
        "dispersion": _dispersion(cloud),
        "steps": _steps(cloud),
        "apart_by": f"{APART:g}",
        "apart": _apart(cloud),
        "components": _components(cloud),
        "deviations": _deviations(cloud),
    }


def _is_small(cloud: ParameterCloud) -> bool:
    """Whether the common axes leave little of the last stage to see."""
    last = cloud.stages[-1]
    if not last.answered.any():
        return False
    (low, high), (own_low, own_high) = axis_reach(cloud.stages), axis_reach((last,))
    return not float(((own_high - own_low) / (high - low)).max()) > ENLARGED
