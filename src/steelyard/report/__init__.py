"""What a person reads: pictures and pages of a result."""

from steelyard.report.arm_drawing import ArmDrawing, LinkDrawing, draw_arm
from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_gathering import campaign_content_of
from steelyard.report.campaign_page import campaign_page
from steelyard.report.campaign_summary import campaign_summary
from steelyard.report.content import History, ParameterLine, ReportContent, TorqueTrace
from steelyard.report.gathering import content_of
from steelyard.report.joint_model_content import JointModelContent, JointModelEntry, Quantity
from steelyard.report.joint_model_page import joint_model_page
from steelyard.report.live_view import LiveObserver, LiveView
from steelyard.report.motion_content import Measure, MotionContent, SearchRecord
from steelyard.report.motion_gathering import motion_content_of
from steelyard.report.motion_page import motion_page
from steelyard.report.online_content import OnlineHead
from steelyard.report.online_gathering import online_content_of, online_head_of
from steelyard.report.online_news import Snapshot
from steelyard.report.online_page import online_page
from steelyard.report.page import report_page
from steelyard.report.parameter_lines import combinations, parameter_lines
from steelyard.report.payload_gathering import payload_content_of
from steelyard.report.payload_page import payload_page
from steelyard.report.payload_parts import GainAnswer, TrialOutcome
from steelyard.report.payload_torque import payload_trace
from steelyard.report.sensitivity_page import sensitivity_page
from steelyard.report.summary import summary_text
from steelyard.report.torque_figure import torque_figure

__all__ = [
    "ArmDrawing",
    "CampaignContent",
    "GainAnswer",
    "History",
    "JointModelContent",
    "JointModelEntry",
    "LinkDrawing",
    "LiveObserver",
    "LiveView",
    "Measure",
    "MotionContent",
    "OnlineHead",
    "ParameterLine",
    "Quantity",
    "ReportContent",
    "SearchRecord",
    "Snapshot",
    "TorqueTrace",
    "TrialOutcome",
    "campaign_content_of",
    "campaign_page",
    "campaign_summary",
    "combinations",
    "content_of",
    "draw_arm",
    "joint_model_page",
    "motion_content_of",
    "motion_page",
    "online_content_of",
    "online_head_of",
    "online_page",
    "parameter_lines",
    "payload_content_of",
    "payload_page",
    "payload_trace",
    "report_page",
    "sensitivity_page",
    "summary_text",
    "torque_figure",
]
