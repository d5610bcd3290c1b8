"""What a person reads: pictures and pages of a result."""

from steelyard.report.arm_drawing import ArmDrawing, LinkDrawing, MassDrawing, draw_arm
from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_gathering import campaign_content_of
from steelyard.report.campaign_page import campaign_page
from steelyard.report.campaign_parts import (
    AcceptedParameter,
    CampaignRun,
    CommandCurves,
    HeldOutMotion,
    StageJudgement,
)
from steelyard.report.campaign_summary import campaign_summary
from steelyard.report.content import Combination, History, ParameterLine, ReportContent, TorqueTrace
from steelyard.report.gathering import content_of
from steelyard.report.joint_model_content import JointModelContent, JointModelEntry, Quantity
from steelyard.report.joint_model_page import joint_model_page
from steelyard.report.live_view import LiveObserver, LiveView
from steelyard.report.motion_content import Measure, MotionContent, SearchRecord
from steelyard.report.motion_curves import ClearanceCurve, JointCurves, ProvenBand
from steelyard.report.motion_gathering import motion_content_of
from steelyard.report.motion_page import motion_page
from steelyard.report.motion_proof import Proof, proof_of
from steelyard.report.motion_skeleton import Outline, OutlineKind, Skeleton, skeleton_of
from steelyard.report.online_content import OnlineContent, OnlineHead
from steelyard.report.online_gathering import online_content_of, online_head_of
from steelyard.report.online_news import LiveNews, Snapshot
from steelyard.report.online_page import live_page, online_page
from steelyard.report.page import report_page
from steelyard.report.parameter_lines import combinations, parameter_lines
from steelyard.report.payload_content import PayloadContent
from steelyard.report.payload_gathering import payload_content_of
from steelyard.report.payload_page import payload_page
from steelyard.report.payload_parts import GainAnswer, PayloadNumber, TrialOutcome
from steelyard.report.payload_torque import payload_trace
from steelyard.report.sensitivity_page import sensitivity_page
from steelyard.report.summary import summary_text
from steelyard.report.torque_figure import torque_figure

__all__ = [
    "AcceptedParameter",
    "ArmDrawing",
    "CampaignContent",
    "CampaignRun",
    "ClearanceCurve",
    "Combination",
    "CommandCurves",
    "GainAnswer",
    "HeldOutMotion",
    "History",
    "JointCurves",
    "JointModelContent",
    "JointModelEntry",
    "LinkDrawing",
    "LiveNews",
    "LiveObserver",
    "LiveView",
    "MassDrawing",
    "Measure",
    "MotionContent",
    "OnlineContent",
    "OnlineHead",
    "Outline",
    "OutlineKind",
    "ParameterLine",
    "PayloadContent",
    "PayloadNumber",
    "Proof",
    "ProvenBand",
    "Quantity",
    "ReportContent",
    "SearchRecord",
    "Skeleton",
    "Snapshot",
    "StageJudgement",
    "TorqueTrace",
    "TrialOutcome",
    "campaign_content_of",
    "campaign_page",
    "campaign_summary",
    "combinations",
    "content_of",
    "draw_arm",
    "joint_model_page",
    "live_page",
    "motion_content_of",
    "motion_page",
    "online_content_of",
    "online_head_of",
    "online_page",
    "parameter_lines",
    "payload_content_of",
    "payload_page",
    "payload_trace",
    "proof_of",
    "report_page",
    "sensitivity_page",
    "skeleton_of",
    "summary_text",
    "torque_figure",
]
