"""The report as one self-contained HTML page: no request to anywhere, readable with scripts off."""

from __future__ import annotations

from steelyard.report.arm_section import arm_section
from steelyard.report.combination_section import combination_section
from steelyard.report.content import ReportContent
from steelyard.report.parameter_section import parameter_section
from steelyard.report.plot_data import plot_data
from steelyard.report.record_sections import findings_section, record_section
from steelyard.report.shell import page
from steelyard.report.torque_section import torque_section
from steelyard.report.verdict_sections import checks_section, opening

STYLES = ("page.css",)
SCRIPTS = (
    "reading.js",
    "torque_plots.js",
    "turning_view.js",
    "arm_view.js",
    "parameter_table.js",
    "start.js",
)


def report_page(content: ReportContent) -> str:
    """Write the page of one run.

    The same content gives the same text. Everything that comes from files is escaped; see `shell.page` for
    what else keeps a hostile name from doing anything.

    Args:
        content: what the report says.

    Returns:
        HTML in UTF-8.
    """
    sections = {
        "Verdict": ("verdict", opening(content)),
        "Checks": ("checks", checks_section(content)),
        "Torque": ("torque", torque_section(content)),
        "The arm": ("arm", arm_section(content)),
        "Parameters": ("parameters", parameter_section(content)),
        "Combinations": ("combinations", combination_section(content)),
        "Findings": ("findings", findings_section(content)),
        "Record": ("record", record_section(content)),
    }
    return page(
        f"{content.robot}: identification report",
        sections,
        plot_data(content),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )
