"""The motion on its page: the place of the moving arm, of the clearance curve, and the closest pairs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from steelyard.report.motion_content import MotionContent
from steelyard.report.motion_curves import ClearanceCurve
from steelyard.report.motion_skeleton import OutlineKind, Skeleton
from steelyard.report.numerals import aligned, numeral
from steelyard.report.safe_text import marked_up

LISTED = 8
"""Pairs listed, the closest first; the rest are folded away."""
SPEEDS = ("0.1", "0.25", "0.5", "1", "2")


def view_section(content: MotionContent) -> str:
    """The place of the moving arm and of the clearance curve, and the closest pairs.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where there is neither arm nor clearance.
    """
    view = "" if content.skeleton is None else moving_arm(content.skeleton, float(content.time[-1]))
    return view + clearance_part(content.clearance)


def moving_arm(skeleton: Skeleton, duration: float | None, more: Mapping[str, str] | None = None) -> str:
    """The place of a moving arm and of what plays, turns and strips it.

    Args:
        skeleton: the arm.
        duration: how long it can be played, s; None for an arm that is shown as it moves.
        more: layers drawn besides, label by name.

    Returns:
        HTML.
    """
    kinds = {outline.kind for outline in skeleton.outlines}
    layers = [
        (OutlineKind.LINK, "links", OutlineKind.LINK in kinds),
        (OutlineKind.TOOL, "tool", OutlineKind.TOOL in kinds),
        (OutlineKind.SCENE, "scene", OutlineKind.SCENE in kinds),
        ("path", "path of the tool", True),
        *((name, label, True) for name, label in (more or {}).items()),
    ]
    boxes = "".join(
        f'<label><input type="checkbox" data-layer="{name}" checked>'
        f'<span class="swatch {name}"></span>{label}</label>'
        for name, label, present in layers
        if present
    )
    played = duration is not None
    keys = ", space plays and pauses" if played else ""
    clicks = " A click on a curve shows the arm at that time." if played else ""
    return (
        "<p>Drag to turn the arm, or focus the drawing and use the arrow keys; + and − change its size"
        f"{keys}.{clicks}</p>\n"
        '<div id="motion-view" tabindex="0" role="group" aria-label="Drawing of the arm. Arrow keys turn it, '
        f'plus and minus change its size, Home resets it{keys}."></div>\n'
        "<noscript><p>The drawing needs scripts, which are off.</p></noscript>\n"
        f"{'' if duration is None else _player(duration)}"
        f'<div class="controls" id="view-controls" hidden>{boxes}'
        '<button type="button" id="view-reset">Reset view</button></div>\n'
    )


def _player(duration: float) -> str:
    speeds = "".join(
        f'<option value="{speed}"{" selected" if speed == "1" else ""}>{speed}\u202f×</option>'
        for speed in SPEEDS
    )
    return (
        '<div class="controls player" id="player" hidden>'
        '<button type="button" id="play">Play</button>'
        f'<input id="moment" type="range" min="0" max="{duration!r}" step="any" value="0" aria-label="Time">'
        '<output id="moment-time" for="moment"></output>'
        f'<label>Speed <select id="speed">{speeds}</select></label>'
        '<label><input type="checkbox" id="repeat">repeat</label></div>\n'
    )


def clearance_part(curve: ClearanceCurve | None) -> str:
    """The place of the clearance curve, and the closest pairs.

    Args:
        curve: the smallest distances; None where none were measured.

    Returns:
        HTML.
    """
    if curve is None:
        return '<p class="quiet">No distances were measured.</p>\n'
    return (
        f"<h3>Clearance</h3>\n<p>The smallest of {len(curve.pairs)} distances at each instant. At least "
        f"{1e3 * curve.required:g}\u202fmm is required.</p>\n"
        '<div id="clearance-plot"></div>\n<p id="nearest" class="nearest" aria-live="off"></p>\n'
        f"{_closest_table(curve)}"
    )


def _closest_table(curve: ClearanceCurve) -> str:
    order = np.argsort(curve.closest, kind="stable")
    distances = aligned([numeral(1e3 * float(curve.closest[k]), digits=3) for k in order])
    instants = aligned([f"{curve.when[k]:.2f}" for k in order])
    rows = [
        f"<tr{' class=broken' if curve.closest[k] < curve.required else ''}>"
        f'<th scope="row"><bdi>{marked_up(curve.pairs[k])}</bdi></th>'
        f'<td data-label="smallest distance, mm">{distance}</td>'
        f'<td data-label="at, s">{instant}</td></tr>'
        for k, distance, instant in zip(order, distances, instants, strict=True)
    ]
    head = (
        '<thead><tr><th scope="col">pair</th><th scope="col">smallest distance, mm</th>'
        '<th scope="col">at, s</th></tr></thead>\n'
    )
    table = f'<table class="pairs stack">{head}<tbody>{"".join(rows[:LISTED])}</tbody></table>\n'
    if len(rows) <= LISTED:
        return table
    rest = f'<table class="pairs stack">{head}<tbody>{"".join(rows[LISTED:])}</tbody></table>'
    return f"{table}<details><summary>{len(rows) - LISTED} more pairs</summary>{rest}</details>\n"
