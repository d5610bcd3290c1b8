"""What a person reads: pictures and pages of a result."""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.report.arm import draw_arm
    from steelyard.report.content import History, ReportContent, TorqueTrace, identification_content_of
    from steelyard.report.identification import load_report_page, report_page
    from steelyard.report.torque_figure import torque_figure

__all__ = [
    "History",
    "ReportContent",
    "TorqueTrace",
    "draw_arm",
    "identification_content_of",
    "load_report_page",
    "report_page",
    "torque_figure",
]

open_door(__name__)
