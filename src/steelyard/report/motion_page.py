"""The page of a motion: one self-contained HTML file with plots, a moving skeleton and the clearance."""

from __future__ import annotations

from steelyard.report.motion_content import MotionContent
from steelyard.report.motion_data import motion_data
from steelyard.report.motion_joint_section import joint_section
from steelyard.report.motion_opening import motion_opening
from steelyard.report.motion_record_sections import noticed_section, proof_section, source_section
from steelyard.report.motion_search_section import search_section
from steelyard.report.motion_view_section import view_section
from steelyard.report.shell import page

STYLES = ("page.css", "motion_page.css")
SCRIPTS = (
    *("reading.js", "torque_plots.js", "turning_view.js", "arm_view.js"),
    *("motion_plots.js", "motion_view.js", "motion_player.js", "motion_start.js"),
)


def motion_page(content: MotionContent) -> str:
    """Write the page of one motion.

    The same content gives the same text. Everything that comes from files is escaped; see `shell.page` for
    what else keeps a hostile name from doing anything.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    sections = {
        "Verdict": ("verdict", motion_opening(content)),
        "The motion": ("motion", view_section(content)),
        "Joints": ("joints", joint_section(content)),
        "Proof": ("proof", proof_section(content)),
        "Search": ("search", search_section(content)),
        "Findings": ("findings", noticed_section(content)),
        "Record": ("record", source_section(content)),
    }
    return page(
        f"{content.robot}: motion",
        sections,
        motion_data(content),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )
