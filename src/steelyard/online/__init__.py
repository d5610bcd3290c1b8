"""Safe while learning: certified plans, a robust law, bounds that shrink, and the loop around a robot."""

from steelyard.online.certify_plan import PlanCertifier
from steelyard.online.check_plan import check_plan
from steelyard.online.escape import Escape, News, Threat
from steelyard.online.journal import PLAN, DrivenMove, Event, Known
from steelyard.online.law_choice import LawChoice
from steelyard.online.link import Link, Reading
from steelyard.online.load_model import LoadModel
from steelyard.online.loop import run_online
from steelyard.online.mind import Mind
from steelyard.online.move import Move
from steelyard.online.mujoco_link import PATTERNS, MuJoCoLink, SensorErrors
from steelyard.online.noted_move import NotedMove
from steelyard.online.online_run import BROKEN, DONE, STOPPED, OnlineRun
from steelyard.online.payload_excitation import PayloadExcitation
from steelyard.online.plan_certificate import PlanCertificate
from steelyard.online.plan_cost import GoalCost, PlanCost, WeightedCosts
from steelyard.online.planner import Planner
from steelyard.online.planning import PlannedMove
from steelyard.online.published_bounds import published_bounds
from steelyard.online.question import Answer, Question
from steelyard.online.replay import replay_run
from steelyard.online.robust_torque import RobustLaw
from steelyard.online.run_files import read_run, write_run
from steelyard.online.setting import Setting
from steelyard.online.thinker import InlineThinker, ProcessThinker, Thinker
from steelyard.online.tube_acceleration import tube_acceleration
from steelyard.online.tube_forms import TubeForms, tube_forms
from steelyard.online.tube_torque import TubeDynamics, TubeTorques
from steelyard.online.useful_tube import with_useful_tube
from steelyard.online.violations import violations_of
from steelyard.online.watchdog import CHECK, Alarm, Watchdog

__all__ = [
    "BROKEN",
    "CHECK",
    "DONE",
    "PATTERNS",
    "PLAN",
    "STOPPED",
    "Alarm",
    "Answer",
    "DrivenMove",
    "Escape",
    "Event",
    "GoalCost",
    "InlineThinker",
    "Known",
    "LawChoice",
    "Link",
    "LoadModel",
    "Mind",
    "Move",
    "MuJoCoLink",
    "News",
    "NotedMove",
    "OnlineRun",
    "PayloadExcitation",
    "PlanCertificate",
    "PlanCertifier",
    "PlanCost",
    "PlannedMove",
    "Planner",
    "ProcessThinker",
    "Question",
    "Reading",
    "RobustLaw",
    "SensorErrors",
    "Setting",
    "Thinker",
    "Threat",
    "TubeDynamics",
    "TubeForms",
    "TubeTorques",
    "Watchdog",
    "WeightedCosts",
    "check_plan",
    "published_bounds",
    "read_run",
    "replay_run",
    "run_online",
    "tube_acceleration",
    "tube_forms",
    "violations_of",
    "with_useful_tube",
    "write_run",
]
