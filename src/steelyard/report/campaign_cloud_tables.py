"""Tables of a parameter cloud: dispersion, runs apart, what the axes are, deviation of every parameter."""

from __future__ import annotations

from steelyard.audit import APART, ParameterCloud, Trend
from steelyard.report.campaign_words import counted, number
from steelyard.report.numerals import numeral
from steelyard.report.payload_table import table
from steelyard.report.safe_text import marked_up, unit_text

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
        f'{table("Dispersion by stage", heads, [rows])}<ul class="steps">{steps}</ul>\n'
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
        f"{table('Deviations by parameter', heads, [rows])}</details>\n"
    )
