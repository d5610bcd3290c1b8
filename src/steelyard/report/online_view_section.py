"""The run on its page: the moving arm in its tube, what it uses of its limits, and its tracking error."""

from __future__ import annotations

from steelyard.report.motion_joint_section import reach_and_curves
from steelyard.report.motion_skeleton import Skeleton
from steelyard.report.motion_view_section import clearance_part, moving_arm
from steelyard.report.numerals import numeral
from steelyard.report.online_content import OnlineContent, OnlineHead
from steelyard.report.online_drawing import OnlineDrawing

TUBE = {"tube": "tube of the tool, ten times as thick as it is"}


def run_section(content: OnlineContent, drawing: OnlineDrawing) -> str:
    """The moving arm, what it uses of its limits at the same instant, and the distances it kept.

    Args:
        content: what the page says.
        drawing: what is drawn of it.

    Returns:
        HTML.
    """
    radius = numeral(1e3 * float(drawing.tube.radius.max()), digits=2)
    return (
        f"<p>The tube lets the tool be about {radius}\u202fmm from where it should be. The lens shows where "
        "it is in there, around the cross of its reference.</p>\n"
        f'{moving_arm(drawing.skeleton, content.duration, TUBE)}<p id="doing" class="nearest"></p>\n'
        f"{_gauges('at that instant; the mark is the most of the whole run')}"
        f"{'' if drawing.clearance is None else clearance_part(drawing.clearance)}"
    )


def live_section(skeleton: Skeleton) -> str:
    """The arm as it moves, and what it uses of its limits.

    Args:
        skeleton: the arm before it moves.

    Returns:
        HTML.
    """
    return f"{moving_arm(skeleton, None)}{_gauges('now; the mark is the most so far')}"


def _gauges(when: str) -> str:
    told = f"Used {when}. A joint’s name stands for its torque."
    return (
        f'<h3>Share of the tube and of the torque limits</h3>\n<p class="quiet">{told}</p>\n'
        '<div class="gauges" id="gauges"></div>\n'
    )


def tracking_section(head: OnlineHead) -> str:
    """The place of the tracking error, and what the tube is.

    Args:
        head: what can be said beforehand.

    Returns:
        HTML.
    """
    rotary = all(joint.position_unit == "rad" for joint in head.robot.joints)
    e, r = (numeral(1e3 * bound, digits=3) for bound in (head.position_bound, head.tube_radius))
    units = ("mrad", "mrad/s") if rotary else ("·10⁻³", "·10⁻³")
    return (
        "<p>The error r = ė + K<sub>r</sub> e joins those of velocity and position. Whatever the payload is "
        f"within its bounds, ‖r‖ stays below {r}\u202f{units[1]}, and so ‖e‖ below {e}\u202f{units[0]}.</p>\n"
        '<div id="tracking-plot"></div>\n'
        "<noscript><p>The curve needs scripts, which are off.</p></noscript>\n"
    )


def joint_section(content: OnlineContent, drawing: OnlineDrawing) -> str:
    """How far every joint went, and the place of the curves.

    Args:
        content: what the page says.
        drawing: what is drawn of it.

    Returns:
        HTML.
    """
    told = (
        "How far each joint went, and what share of its limit that is. Torques are the commanded ones; "
        "errors are reference minus robot, against the tube."
    )
    return reach_and_curves(
        content.head.robot.joint_names, (*drawing.limited, drawing.errors[0]), told, "robot"
    )
