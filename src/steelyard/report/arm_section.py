"""The arm on the page: the place of its drawing, and the mass of every link."""

from __future__ import annotations

from steelyard.report.arm_drawing import ArmDrawing, MassDrawing
from steelyard.report.content import ReportContent
from steelyard.report.numerals import aligned, numeral
from steelyard.report.safe_text import marked_up


def arm_section(content: ReportContent) -> str:
    """The place of the drawing, and the mass of every link.

    Args:
        content: what the report says.

    Returns:
        HTML; empty where no robot is drawn.
    """
    arm = content.arm
    if arm is None:
        return ""
    full = any(link.estimated is not None for link in arm.links)
    told = (
        "Each ellipsoid is the uniform solid that has its link’s mass, centre of mass and inertia."
        if full
        else "The method gives no full set of links, so only the description’s ellipsoids are drawn."
    )
    slider = ""
    if len(arm.time) > 1:
        slider = (
            f'<label class="pose">Pose along <bdi>{marked_up(arm.motion)}</bdi> '
            f'<input id="pose" type="range" min="0" max="{len(arm.time) - 1}" value="0">'
            '<output id="pose-time" for="pose"></output></label>'
        )
    layers = [("shapes", "shapes", True), ("nominal", "description", True)]
    layers += [("estimated", "estimate", True)] if full else []
    boxes = "".join(
        f'<label><input type="checkbox" data-layer="{name}"{" checked" if on else ""}>'
        f'<span class="swatch {name}"></span>{label}</label>'
        for name, label, on in layers
    )
    return (
        f"<p>{told} Drag to turn, or focus the drawing and use the arrow keys; + and − change the size.</p>\n"
        f'<div class="controls" id="arm-controls" hidden>{boxes}'
        f'<button type="button" id="arm-reset">Reset view</button>{slider}</div>\n'
        '<div id="arm-view" tabindex="0" role="group" aria-label="Drawing of the arm. '
        'Arrow keys turn it, plus and minus change its size, Home resets it."></div>\n'
        f"{_link_table(arm)}"
    )


def _link_table(arm: ArmDrawing) -> str:
    rows = [(k, link) for k, link in enumerate(arm.links) if link.nominal or link.estimated]
    if not rows:
        return ""
    nominal = aligned([numeral(link.nominal.mass if link.nominal else None) for _, link in rows])
    estimated = aligned([numeral(link.estimated.mass if link.estimated else None) for _, link in rows])
    lines = "\n".join(
        f'<tr data-link="{k}"><th scope="row"><bdi>{marked_up(link.name)}</bdi></th>'
        f'<td data-label="described, kg">{n}</td><td data-label="estimated, kg">{e}</td>'
        f'<td class="words">{_remark("as described", link.nominal)}{_remark("as estimated", link.estimated)}'
        "</td></tr>"
        for (k, link), n, e in zip(rows, nominal, estimated, strict=True)
    )
    return (
        '<table class="links stack">'
        '<thead><tr><th scope="col">link</th><th scope="col">described, kg</th>'
        '<th scope="col">estimated, kg</th><th scope="col" class="words">remark</th></tr></thead>\n'
        f"<tbody>{lines}</tbody></table>\n"
    )


def _remark(which: str, mass: MassDrawing | None) -> str:
    if mass is None or not mass.reason:
        return ""
    return f"<details><summary>no ellipsoid {which}</summary>{marked_up(mass.reason)}</details>"
