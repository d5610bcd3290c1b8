"""The page of a robot that moves while it learns: one self-contained HTML file, live or afterwards."""

from __future__ import annotations

import numpy as np

from steelyard.report.motion_skeleton import skeleton_of
from steelyard.report.online_bounds_section import bounds_figures, bounds_section
from steelyard.report.online_content import OnlineContent, OnlineHead
from steelyard.report.online_data import live_data, online_data
from steelyard.report.online_drawing import drawing_of
from steelyard.report.online_opening import live_opening, online_opening
from steelyard.report.online_run_sections import (
    assumption_section,
    event_section,
    live_event_section,
    move_section,
    source_section,
    time_section,
)
from steelyard.report.online_view_section import joint_section, live_section, run_section, tracking_section
from steelyard.report.shell import page

STYLES = ("page.css", "motion_page.css", "online_page.css")
SCRIPTS = (
    *("reading.js", "torque_plots.js", "turning_view.js", "arm_view.js"),
    *("motion_plots.js", "motion_view.js", "motion_player.js"),
    *("online_view.js", "online_live.js", "online_start.js"),
)


def online_page(content: OnlineContent) -> str:
    """Write the page of one run.

    The same content gives the same text. Everything that comes from files is escaped; see `shell.page` for
    what else keeps a hostile name from doing anything.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    drawing = drawing_of(content)
    sections = {
        "Verdict": ("verdict", online_opening(content, drawing)),
        "The run": ("motion", run_section(content, drawing)),
        "Payload": ("bounds", bounds_section(content)),
        "Tracking": ("tracking", tracking_section(content.head)),
        "Proofs": ("moves", move_section(content)),
        "Joints": ("joints", joint_section(content, drawing)),
        "Events": ("events", event_section(content)),
        "Times": ("times", time_section(content)),
        "Assumptions": ("assumptions", assumption_section(content.head)),
        "Record": ("record", source_section(content)),
    }
    return page(
        f"{content.head.robot.name}: {content.head.title}",
        sections,
        online_data(content, drawing),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )


def live_page(head: OnlineHead, *, version: str = "") -> str:
    """Write the page of a run that goes on; it asks its server at `events` for what happens.

    Args:
        head: what can be said beforehand.
        version: of the software.

    Returns:
        HTML in UTF-8.
    """
    at_rest = skeleton_of(head.robot, [0.0, 1.0], np.stack((head.start, head.start)), head.clearance)
    sections = {
        "Verdict": ("verdict", live_opening(head)),
        "The run": ("motion", live_section(at_rest)),
        "Payload": ("bounds", bounds_figures(head)),
        "Tracking": ("tracking", tracking_section(head)),
        "Events": ("events", live_event_section()),
        "Assumptions": ("assumptions", assumption_section(head)),
    }
    return page(
        f"{head.robot.name}: {head.title}, live",
        sections,
        live_data(head, at_rest),
        styles=STYLES,
        scripts=SCRIPTS,
        version=version,
        live=True,
    )
