"""The page of a weighed payload: one self-contained HTML file, readable with scripts off."""

from __future__ import annotations

from steelyard.report.page import SCRIPTS
from steelyard.report.payload_bounds_section import bounds_section
from steelyard.report.payload_comparison_sections import density_section, trials_section
from steelyard.report.payload_content import PayloadContent
from steelyard.report.payload_gain_section import gains_section
from steelyard.report.payload_loading_section import loading_section
from steelyard.report.payload_number_section import number_section
from steelyard.report.payload_opening import payload_opening
from steelyard.report.payload_run_sections import (
    as_report,
    payload_arm_section,
    payload_record_section,
    payload_torque_section,
)
from steelyard.report.plot_data import plot_data
from steelyard.report.record_sections import findings_section
from steelyard.report.shell import page
from steelyard.report.verdict_sections import checks_section

STYLES = ("page.css", "motion_page.css")


def payload_page(content: PayloadContent) -> str:
    """Write the page of one payload.

    The same content gives the same text. Everything that comes from files is escaped; see `shell.page` for
    what else keeps a hostile name from doing anything.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    common = as_report(content)
    sections = {
        "Verdict": ("verdict", payload_opening(content)),
        "Payload": ("payload", number_section(content)),
        "Guaranteed bounds": ("guaranteed", bounds_section(content)),
        "Drive gains": ("gains", gains_section(content)),
        "One density?": ("density", density_section(content)),
        "Trials": ("trials", trials_section(content)),
        "Checks": ("checks", checks_section(common)),
        "Torque": ("torque", payload_torque_section(content)),
        "Arm": ("arm", payload_arm_section(content)),
        "Load it": ("load", loading_section(content)),
        "Findings": ("findings", findings_section(common)),
        "Record": ("record", payload_record_section(content)),
    }
    return page(
        f"{content.robot}: what it holds",
        sections,
        plot_data(common),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )
