"""The parameter cloud on the page of a campaign: pictures, dispersion, axes, and the runs apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import APART, CloudStage, ParameterCloud, Trend
from steelyard.report.campaign.content import CampaignContent, counted, number
from steelyard.report.html import MINUS, html_table, marked_up, numeral, unit_text
from steelyard.report.sensitivity import COLOURS

# The frame of a cloud's picture: where its axes end, their numbers and words, as SVG.

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


def axes(low: Array, high: Array, cloud: ParameterCloud) -> list[str]:
    """A frame with round numbers along two scores, and what they are.

    Args:
        low: lower ends, shape (2,), dimensionless.
        high: upper ends, shape (2,), dimensionless.
        cloud: whose scores they are.

    Returns:
        SVG elements.
    """
    right, floor = SIZE - RIGHT, SIZE - BOTTOM
    parts = [f'<path class="grid" d="M{LEFT} {TOP}H{right}V{floor}H{LEFT}Z"/>']
    for value in _ticks(float(low[0]), float(high[0])):
        x = LEFT + (value - low[0]) / (high[0] - low[0]) * (right - LEFT)
        parts.append(f'<path class="{_line(value)}" d="M{x:.1f} {TOP}V{floor}"/>')
        parts.append(text_at(x, floor + 14, short(value), "middle"))
    for value in _ticks(float(low[1]), float(high[1])):
        y = floor - (value - low[1]) / (high[1] - low[1]) * (floor - TOP)
        parts.append(f'<path class="{_line(value)}" d="M{LEFT} {y:.1f}H{right}"/>')
        parts.append(text_at(LEFT - 5, y + 4, short(value), "end"))
    shares = [100.0 * float(share) for share in (*cloud.explained[:2], 0.0)]
    parts.append(text_at(right, SIZE - 5, f"score 1 ({shares[0]:.0f} % of variance)", "end"))
    parts.append(text_at(LEFT + 5, TOP + 13, f"score 2 ({shares[1]:.0f} %)", "start", clear=True))
    return parts


def score_pair(scores: Array) -> Array:
    """The first two scores; one parameter alone has no second.

    Args:
        scores: shape (n, k), dimensionless.

    Returns:
        shape (n, 2), dimensionless.
    """
    return np.column_stack((scores, np.zeros(len(scores))))[:, :2]


def short(value: float) -> str:
    """A score with three digits at most.

    Args:
        value: dimensionless.

    Returns:
        Text with a true minus sign.
    """
    return f"{float(value):.3g}".replace("-", MINUS)


def text_at(x: float, y: float, text: str, anchor: str, *, clear: bool = False) -> str:
    """Words in a picture.

    Args:
        x: across, in units of the picture.
        y: of the line they stand on, in units of the picture.
        text: the words.
        anchor: which part of them stands at x: start, middle or end.
        clear: whether a seam of paper keeps them readable over lines and marks.

    Returns:
        An SVG element.
    """
    edge = ' stroke="var(--paper)" stroke-width="3" paint-order="stroke"' if clear else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{edge}>{marked_up(text)}</text>'


def _ticks(low: float, high: float) -> list[float]:
    """About four round numbers between two ends."""
    raw = (high - low) / 4.0
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= 0.999 * raw)
    return [k * step for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _line(value: float) -> str:
    return "zero" if value == 0.0 else "grid"


# Pictures of a parameter cloud: the first two scores after every stage on common axes, as SVG.

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


# Tables of a parameter cloud: dispersion, runs apart, what the axes are, deviation of every parameter.

_TRENDS = {
    Trend.SHRINKS: "shrinks",
    Trend.STAYS: "stays as it is",
    Trend.GROWS: "<strong>grows</strong>",
    Trend.MIXED: "is mixed: most runs say one thing, a few wild ones the other",
    Trend.UNKNOWN: "cannot be compared",
}
COMPONENTS = 3
"""Components whose largest weights are listed."""


def dispersion_table(cloud: ParameterCloud) -> str:
    """How far the answers scatter after every stage, and what became of that from stage to stage.

    Args:
        cloud: the answers.

    Returns:
        HTML.
    """
    heads = (
        "stage",
        "answers",
        "none",
        "dispersion",
        "robust",
        "mean deviation, SI",
        "robust, SI",
    )
    rows = [
        (
            marked_up(stage.name),
            str(int(stage.answered.sum())),
            str(int((~stage.answered).sum())),
            number(stage.dispersion),
            number(stage.robust_dispersion),
            number(stage.mean_deviation),
            number(stage.robust_mean_deviation),
        )
        for stage in cloud.stages
    ]
    steps = "".join(
        f"<li>From {marked_up(step.before)} to {marked_up(step.after)} dispersion {_TRENDS[step.trend]}: "
        f"{number(step.ratio)} times, robust {number(step.robust_ratio)} times, over the "
        f"{counted(step.runs, 'run')} with both answers.</li>"
        for step in cloud.contractions
    )
    return (
        "<h3>Dispersion</h3>\n<p>Dispersion is the root mean square over the parameters of their standard "
        "deviations, each in its scale, and dimensionless. The mean deviation is the plain mean of the "
        "standard deviations in SI units, kg·m², kg·m and N·m·s/rad mixed. The robust columns take 1.4826 "
        "times the median absolute deviation instead, which one wild run cannot carry away.</p>\n"
        f'{html_table("Dispersion by stage", heads, [rows])}<ul class="steps">{steps}</ul>\n'
    )


def apart_table(cloud: ParameterCloud) -> str:
    """Runs that lie apart from the others after every stage, by the rule of the cloud.

    Args:
        cloud: the answers.

    Returns:
        HTML.
    """
    rows = []
    for stage in cloud.stages:
        far = sorted(
            (-float(stage.distances[k]), label) for k, label in enumerate(cloud.labels) if stage.apart[k]
        )
        listed = ", ".join(f"<bdi>{marked_up(label)}</bdi> ({number(-d)})" for d, label in far[:8])
        more = f" and {len(far) - 8} more" if len(far) > 8 else ""
        rows.append(
            f'<tr><th scope="row">{marked_up(stage.name)}</th><td>{number(stage.threshold)}</td>'
            f'<td>{len(far)}</td><td class="words">{listed or "none"}{more}</td></tr>'
        )
    return (
        "<h3>Runs apart</h3>\n<p>The distance of a run is that from the median of its stage, in scales, over "
        f"all components. A run is apart where it exceeds the median distance by {APART:g} robust "
        "deviations of all distances. Such a run is not wrong by that: it may have seen less.</p>\n"
        '<div class="scroll" tabindex="0" role="region" aria-label="Runs apart"><table><thead><tr>'
        '<th scope="col">stage</th><th scope="col">apart from</th><th scope="col">runs</th>'
        f'<th scope="col" class="words">the farthest, with distance (dimensionless)</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def component_table(cloud: ParameterCloud) -> str:
    """What the first principal components are made of.

    Args:
        cloud: the answers.

    Returns:
        HTML.
    """
    rows = []
    for k in range(min(COMPONENTS, len(cloud.basis))):
        led = ", ".join(
            f"<bdi>{marked_up(name)}</bdi> {numeral(weight, digits=2)}" for name, weight in cloud.leading(k)
        )
        rows.append(
            f'<tr><th scope="row">{k + 1}</th><td>{100.0 * float(cloud.explained[k]):.1f}\u202f%</td>'
            f'<td class="words">{led}</td></tr>'
        )
    return (
        '<h3>What the axes are</h3>\n<div class="scroll" tabindex="0" role="region" aria-label="Components">'
        '<table><thead><tr><th scope="col">component</th><th scope="col">of the variance</th>'
        '<th scope="col" class="words">largest weights of scaled parameters (dimensionless)</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def deviation_table(cloud: ParameterCloud) -> str:
    """Scale and deviations of every parameter, folded away.

    Args:
        cloud: the answers.

    Returns:
        HTML.
    """
    heads = ("parameter", "scale", *(marked_up(stage.name) for stage in cloud.stages))
    spreads = [(stage.deviations, stage.robust_deviations) for stage in cloud.stages]
    rows = [
        (
            f"<bdi>{marked_up(name)}</bdi>",
            number(float(cloud.scales[k]), unit_text(unit), digits=2),
            *(f"{number(float(s[k]))} <small>{number(float(r[k]), digits=2)}</small>" for s, r in spreads),
        )
        for k, (name, unit) in enumerate(zip(cloud.names, cloud.units, strict=True))
    ]
    return (
        "<details><summary>every parameter: its scale and, in the same unit, its standard deviation, the "
        "robust one small</summary>"
        f"{html_table('Deviations by parameter', heads, [rows])}</details>\n"
    )


ENLARGED = 0.6
"""Share of the common axes below which the last stage is drawn a second time on its own."""


def cloud_section(content: CampaignContent) -> str:
    """The answers of all runs after every stage (paper 004, Fig. 7).

    Args:
        content: what the page says.

    Returns:
        HTML; empty where there is no cloud.
    """
    cloud = content.cloud
    if cloud is None:
        return ""
    families = {run.label: run.family for run in content.runs}
    panels = "\n".join(
        f"<figure><figcaption><strong>{marked_up(stage.name)}</strong>"
        f"<span>{counted(int(stage.answered.sum()), 'run')}</span></figcaption>"
        f"{stage_figure(cloud, stage, families, content.representative)}</figure>"
        for stage in cloud.stages
    )
    panels += _enlarged(content, cloud, families)
    shown = list(dict.fromkeys(families[label] for label in cloud.labels))
    out = (
        f" {counted(len(cloud.left_out), 'answer')} that lie apart at their stage are drawn, but have no say "
        "in the axes."
        if cloud.left_out
        else ""
    )
    return (
        f"<p>Each mark is the answer of one run: {len(cloud.names)} parameters, centred, divided by their "
        "scales and projected on the first two principal components of all stages together. All pictures "
        "share their axes; point at a mark to read its run. Answers beyond the axes stand at the edge, "
        f"fainter.{out}</p>\n"
        f'<div class="facts">\n{panels}\n</div>\n{family_key(shown)}'
        f"{_ringed(content)}{dispersion_table(cloud)}{apart_table(cloud)}"
        f"{component_table(cloud)}{deviation_table(cloud)}"
    )


def _enlarged(content: CampaignContent, cloud: ParameterCloud, families: Mapping[str, str]) -> str:
    """The last stage on axes of its own, where the common ones leave little of it to see."""
    last = cloud.stages[-1]
    if not last.answered.any():
        return ""
    (low, high), (own_low, own_high) = axis_reach(cloud.stages), axis_reach((last,))
    if float(((own_high - own_low) / (high - low)).max()) > ENLARGED:
        return ""
    return (
        f"\n<figure><figcaption><strong>{marked_up(last.name)}, enlarged</strong><span>axes of its own</span>"
        f"</figcaption>{stage_figure(cloud, last, families, content.representative, enlarged=True)}</figure>"
    )


def _ringed(content: CampaignContent) -> str:
    if not content.representative:
        return ""
    return (
        f'<p class="quiet">Ringed: <bdi>{marked_up(content.representative)}</bdi>, the representative.</p>\n'
    )
