"""The page of joint models: one self-contained HTML file that needs no script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from steelyard.report.joint_model_content import JointModelContent, JointModelEntry, Quantity
from steelyard.report.joint_model_figures import bode_figure, response_figure
from steelyard.report.numerals import numeral
from steelyard.report.safe_text import marked_up
from steelyard.report.shell import page

_BESIDE = (
    (
        "Fig. 2 a, b",
        "Velocity by encoder differences against the model's, and both frequency responses. The paper shows "
        "joint 7 of a real CRANE-X7; here is every joint of the robot above.",
    ),
    (
        "Dead time",
        "From a reading to the arrival of its torque. That the torque is then held for a cycle is solved "
        "exactly. The paper counts 0.5 ms of holding into its 1.5 ms, beside 0.9 ms of communication.",
    ),
    (
        "Friction",
        "The paper fits the model alone. Dry friction then passes for viscous friction, and the gain comes "
        "out too small; it is fitted beside the model here, and the model as the paper has it is drawn too.",
    ),
    (
        "ARX",
        "Least squares of order four, like the paper. It has no dry friction either, and so follows the "
        "model without it at low frequencies; at high ones it shows what a lag of first order cannot: play, "
        "joints that give way, and the encoder's steps.",
    ),
    (
        "Gains",
        "The paper states neither its gains nor how they were chosen. Here both poles of the error lie at "
        "the bandwidth, and the phase margin is computed with dead time, hold and filter, for the worst "
        "inertia of the stated range.",
    ),
)


def joint_model_page(content: JointModelContent, *, version: str = "") -> str:
    """Write the page.

    The same content gives the same text. Names are escaped; see `shell.page` for what else keeps a hostile
    one from doing anything.

    Args:
        content: what to show.
        version: of the software.

    Returns:
        HTML in UTF-8.
    """
    sections = {
        "Joint models": ("verdict", _opening(content)),
        "Models": ("models", _table({entry.joint: entry.model for entry in content.entries})),
        "Controller": ("controller", _table({entry.joint: entry.controller for entry in content.entries})),
        **{
            marked_up(entry.joint): (f"joint-{k}", _section(entry))
            for k, entry in enumerate(content.entries, start=1)
        },
        "Beside paper 004": ("paper", _beside()),
    }
    return page(
        f"{content.robot}: joint models",
        sections,
        {},
        styles=("page.css",),
        scripts=(),
        version=version,
    )


def _opening(content: JointModelContent) -> str:
    margins = [q.value for entry in content.entries for q in entry.controller if q.name == "phase margin"]
    worst = min((m for m in margins if m is not None), default=math.nan)
    figures = (
        ("joints", str(len(content.entries))),
        ("from a reading to its torque", _told(content.delay)),
        ("control cycle", f"{numeral(1e3 * content.cycle, digits=3)}\u202fms"),
        ("least phase margin", f"{numeral(worst, digits=3)}°"),
        ("phase margin asked for", f"{numeral(content.least_margin, digits=3)}°"),
    )
    listed = "".join(f"<div><dt>{marked_up(label)}</dt><dd>{value}</dd></div>" for label, value in figures)
    return (
        '<p class="eyebrow">Joints one at a time, and the controller that follows from them</p>\n'
        f"<h1><bdi>{marked_up(content.robot)}</bdi></h1>\n"
        f'<dl class="figures">{listed}</dl>\n'
        f"<p>{marked_up(content.source)} Intervals are of 95 %.</p>\n"
    )


def _table(rows: Mapping[str, Sequence[Quantity]]) -> str:
    """Joints below each other, their quantities in columns; a unit that all share stands in the head."""
    names = [*dict.fromkeys(quantity.name for row in rows.values() for quantity in row)]
    columns = {name: [_named(row, name) for row in rows.values()] for name in names}
    shared = {name: len({q.unit for q in column if q is not None}) == 1 for name, column in columns.items()}
    heads = "".join(
        f'<th scope="col">{marked_up(name)}'
        + (f"<br><small>{marked_up(_unit(column))}</small>" if shared[name] else "")
        + "</th>"
        for name, column in columns.items()
    )
    lines = []
    for k, joint in enumerate(rows):
        cells = "".join(
            f"<td>{_told(column[k], unit=not shared[name])}</td>" for name, column in columns.items()
        )
        lines.append(f'<tr><th scope="row">{marked_up(joint)}</th>{cells}</tr>')
    return (
        f'<div class="scroll"><table><thead><tr><th scope="col">joint</th>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>\n"
    )


def _named(row: Sequence[Quantity], name: str) -> Quantity | None:
    return next((quantity for quantity in row if quantity.name == name), None)


def _unit(column: Sequence[Quantity | None]) -> str:
    return next(quantity.unit for quantity in column if quantity is not None)


def _section(entry: JointModelEntry) -> str:
    remarks = "".join(f"<li>{marked_up(remark)}</li>" for remark in entry.remarks)
    listed = f'<ul class="steps">{remarks}</ul>\n' if remarks else ""
    return (
        f"{listed}<figure>{response_figure(entry)}<figcaption><span>"
        '<span class="line difference"></span>command<span class="line measured"></span>velocity by the '
        'encoder<span class="line predicted"></span>by the model</span>'
        f"<span>{marked_up(entry.experiment)}</span></figcaption></figure>\n"
        f"<figure>{bode_figure(entry)}<figcaption><span>From commanded torque to velocity, as held and read "
        "once per cycle.</span></figcaption></figure>\n"
    )


def _beside() -> str:
    facts = "".join(
        f'<tr><th scope="row">{topic}</th><td class="words">{marked_up(text)}</td></tr>'
        for topic, text in _BESIDE
    )
    return f'<div class="scroll"><table><tbody>{facts}</tbody></table></div>\n'


def _told(quantity: Quantity | None, *, unit: bool = True) -> str:
    if quantity is None or quantity.value is None:
        return "–"
    text = numeral(quantity.value, quantity.half_width, digits=3)
    known = math.isfinite(quantity.half_width) and quantity.half_width > 0.0
    spread = f" ± {numeral(quantity.half_width, digits=2)}" if known else ""
    return f"{text}{spread}" + (f"\u202f{marked_up(quantity.unit)}" if unit else "")
