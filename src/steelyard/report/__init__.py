"""What a person reads: pictures and pages of a result."""

from steelyard.report.arm import draw_arm
from steelyard.report.campaign.content import CampaignContent, campaign_content_of
from steelyard.report.campaign.page import campaign_page, campaign_summary
from steelyard.report.content import History, ReportContent, TorqueTrace, identification_content_of
from steelyard.report.identification import report_page
from steelyard.report.joints import JointModelContent, JointModelEntry, Quantity, joint_model_page
from steelyard.report.motion.content import Measure, SearchRecord, motion_content_of
from steelyard.report.motion.page import motion_page
from steelyard.report.online.content import OnlineHead, online_content_of, online_head_of
from steelyard.report.online.live import LiveObserver, LiveView, Snapshot
from steelyard.report.online.page import online_page
from steelyard.report.payload.content import GainAnswer, TrialOutcome, payload_content_of, payload_trace
from steelyard.report.payload.page import payload_page
from steelyard.report.sensitivity import sensitivity_page
from steelyard.report.torque_figure import torque_figure

__all__ = [
    "CampaignContent",
    "GainAnswer",
    "History",
    "JointModelContent",
    "JointModelEntry",
    "LiveObserver",
    "LiveView",
    "Measure",
    "OnlineHead",
    "Quantity",
    "ReportContent",
    "SearchRecord",
    "Snapshot",
    "TorqueTrace",
    "TrialOutcome",
    "campaign_content_of",
    "campaign_page",
    "campaign_summary",
    "draw_arm",
    "identification_content_of",
    "joint_model_page",
    "motion_content_of",
    "motion_page",
    "online_content_of",
    "online_head_of",
    "online_page",
    "payload_content_of",
    "payload_page",
    "payload_trace",
    "report_page",
    "sensitivity_page",
    "torque_figure",
]
