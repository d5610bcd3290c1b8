"""What a person reads: pictures and pages of a result."""

from steelyard.report.arm_drawing import ArmDrawing, LinkDrawing, MassDrawing, draw_arm
from steelyard.report.content import Combination, History, ParameterLine, ReportContent, TorqueTrace
from steelyard.report.gathering import content_of
from steelyard.report.page import report_page
from steelyard.report.parameter_lines import combinations, parameter_lines
from steelyard.report.summary import summary_text
from steelyard.report.torque_figure import torque_figure

__all__ = [
    "ArmDrawing",
    "Combination",
    "History",
    "LinkDrawing",
    "MassDrawing",
    "ParameterLine",
    "ReportContent",
    "TorqueTrace",
    "combinations",
    "content_of",
    "draw_arm",
    "parameter_lines",
    "report_page",
    "summary_text",
    "torque_figure",
]
