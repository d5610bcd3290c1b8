"""The runs behind a payload on the page: its torque, the arm that carries it, and the record."""

from __future__ import annotations

from steelyard.report.content import ReportContent
from steelyard.report.payload_content import PayloadContent
from steelyard.report.record_sections import record_section
from steelyard.report.safe_text import marked_up
from steelyard.report.torque_section import torque_section


def as_report(content: PayloadContent) -> ReportContent:
    """What the page of a payload has in common with that of an identified robot.

    Args:
        content: what the page says.

    Returns:
        The same robot, checks, torques, findings and record.
    """
    return ReportContent(
        robot=content.robot,
        digest=content.digest,
        method=content.way,
        verdict=content.verdict,
        joints=content.joints,
        units=content.units,
        traces=content.traces,
        arm=content.arm,
        findings=content.findings,
        histories=content.histories,
        facts=content.facts,
        versions=content.versions,
        read_back=content.read_back,
        untested=content.untested,
        made=content.made,
    )


def payload_torque_section(content: PayloadContent) -> str:
    """The torque the payload adds, measured and explained.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no run is shown.
    """
    if not content.traces:
        return ""
    return (
        "<p>Measured is the torque of the loaded run beyond what the arm itself needs. Predicted is what the "
        "payload found here adds to it, with the change of friction and offset that fits best. The "
        "difference is what is left: noise, and whatever is not a payload.</p>\n"
        f"{torque_section(as_report(content))}"
    )


def payload_arm_section(content: PayloadContent) -> str:
    """The place of the drawing of the arm with its payload.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no arm is drawn.
    """
    arm = content.arm
    if arm is None:
        return ""
    slider = ""
    if len(arm.time) > 1:
        slider = (
            f'<label class="pose">Pose along <bdi>{marked_up(arm.motion)}</bdi> '
            f'<input id="pose" type="range" min="0" max="{len(arm.time) - 1}" value="0">'
            '<output id="pose-time" for="pose"></output></label>'
        )
    layers = (("shapes", "shapes"), ("nominal", "arm, as described"), ("estimated", "payload"))
    boxes = "".join(
        f'<label><input type="checkbox" data-layer="{name}" checked>'
        f'<span class="swatch {name}"></span>{told}</label>'
        for name, told in layers
    )
    return (
        "<p>Each ellipsoid is the uniform solid that has its body’s mass, centre of mass and inertia. Drag "
        "to turn, or focus the drawing and use the arrow keys; + and − change the size.</p>\n"
        f'<div class="controls" id="arm-controls" hidden>{boxes}'
        f'<button type="button" id="arm-reset">Reset view</button>{slider}</div>\n'
        '<div id="arm-view" tabindex="0" role="group" aria-label="Drawing of the arm with its payload. '
        'Arrow keys turn it, plus and minus change its size, Home resets it."></div>\n'
        "<noscript><p>The drawing needs scripts, which are off.</p></noscript>\n"
    )


def payload_record_section(content: PayloadContent) -> str:
    """Digests of what was read, the steps of every run, settings and versions.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    named = {"robot description": content.digest, **content.inputs}
    listed = "".join(
        f"<div><dt><bdi>{marked_up(name)}</bdi></dt><dd><code>{marked_up(digest)}</code></dd></div>"
        for name, digest in named.items()
        if digest
    )
    read = f'<h3>What was read</h3>\n<dl class="facts">{listed}</dl>\n' if listed else ""
    return f"{read}{record_section(as_report(content))}"
