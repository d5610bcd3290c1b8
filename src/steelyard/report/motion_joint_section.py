"""The joints on a motion's page: how far each one goes, and the place of the curves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from steelyard.report.motion_content import MotionContent
from steelyard.report.motion_curves import JointCurves
from steelyard.report.numerals import numeral
from steelyard.report.safe_text import marked_up, unit_text

_ZOOMS = (
    ("in", "Zoom in"),
    ("out", "Zoom out"),
    ("earlier", "Earlier"),
    ("later", "Later"),
    ("whole", "Whole motion"),
)


def joint_section(content: MotionContent) -> str:
    """How far every joint goes, and the place of the curves.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where there are no curves.
    """
    aside = [
        f"Limits of {marked_up(curves.name)} are shown, but do not count."
        for curves in content.curves
        if not curves.counted
    ]
    told = " ".join(
        [
            "How far each joint goes, and what share of its limit that is.",
            *aside,
            marked_up(content.torque_model),
        ]
    )
    return reach_and_curves(content.joints, content.curves, told, "reference")


def reach_and_curves(joints: Sequence[str], curves: Sequence[JointCurves], told: str, course: str) -> str:
    """How far every joint goes, and the place of the curves.

    Args:
        joints: names of the joints.
        curves: one quantity each, of all joints.
        told: what the table shows, as HTML.
        course: what a curve is, in a word or two.

    Returns:
        HTML; empty where there are no curves.
    """
    if not curves:
        return ""
    heads = "".join(f'<th scope="col">{marked_up(drawn.name)}</th>' for drawn in curves)
    rows = "\n".join(
        f'<tr><th scope="row"><bdi>{marked_up(joint)}</bdi></th>'
        + "".join(f'<td data-label="{marked_up(drawn.name)}">{_reach(drawn, j)}</td>' for drawn in curves)
        + "</tr>"
        for j, joint in enumerate(joints)
    )
    proven = any(drawn.proven is not None for drawn in curves)
    return (
        f'<p>{told}</p>\n<div class="scroll" tabindex="0" role="region" aria-label="Reach by joint">'
        f'<table class="reach stack"><thead><tr><th scope="col">joint</th>{heads}</tr></thead>\n'
        f'<tbody>{rows}</tbody></table></div>\n{_controls(course, proven)}<div id="joint-plots"></div>\n'
        "<noscript><p>The curves need scripts, which are off.</p></noscript>\n"
    )


def _controls(course: str, proven: bool) -> str:
    buttons = "".join(
        f'<button type="button" data-zoom="{action}">{label}</button>' for action, label in _ZOOMS
    )
    band = '<span><span class="swatch proven"></span>proven bounds</span> ' if proven else ""
    return (
        f'<div class="controls sticky" id="plot-controls" hidden><div class="buttons">{buttons}</div>'
        '<output id="plot-range"></output>'
        '<label><input type="checkbox" id="fit-curves">scale to the curves</label>'
        f'<p class="key"><span><span class="line course"></span>{course}</span> {band}'
        '<span><span class="swatch allowed"></span>within limits</span></p></div>\n'
    )


def _reach(curves: JointCurves, j: int) -> str:
    """The extremes of one joint, and the share of its limit they use."""
    low, high = float(curves.values[:, j].min()), float(curves.values[:, j].max())
    unit = unit_text(curves.units[j])
    if curves.name == "position":
        text = f"{numeral(low, digits=3)} to {numeral(high, digits=3)}\u202f{unit}"
    else:
        text = f"{numeral(max(-low, high), digits=3)}\u202f{unit}"
    middle = (float(curves.lower[j]) + float(curves.upper[j])) / 2.0
    half = (float(curves.upper[j]) - float(curves.lower[j])) / 2.0
    if not math.isfinite(half) or half <= 0.0:
        return f'<span>{text}<span class="share">no limit</span></span>'
    share = 100.0 * max(high - middle, middle - low) / half
    over = " over" if share > 100.0 and curves.counted else ""
    return f'<span>{text}<span class="share{over}">{share:.0f}\u202f%</span></span>'
