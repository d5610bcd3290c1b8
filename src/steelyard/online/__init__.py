"""Safe while learning: certified plans, a robust law, bounds that shrink, and the loop around a robot."""

from steelyard.online.checker import check_plan
from steelyard.online.config import LawChoice, LoadModel, SafeLearningConfig
from steelyard.online.driver import PATTERNS, JointReading, MuJoCoDriver, RobotDriver, SensorErrors
from steelyard.online.loop import run_online
from steelyard.online.messages import Move, PlanReply, PlanRequest
from steelyard.online.obstacle_response import SceneChange, SceneResponse, SceneSource
from steelyard.online.planning.certificate import PlanCertificate, RobustLaw
from steelyard.online.planning.certifier import PlanCertifier
from steelyard.online.planning.cost import GoalCost, PayloadExcitation, PlanCost, WeightedCosts
from steelyard.online.planning.delay_bounds import tube_acceleration
from steelyard.online.planning.search import PlannedMove, Planner
from steelyard.online.planning.tube import TubeDynamics, TubeForms, TubeTorques, tube_forms
from steelyard.online.planning.tube_sizing import with_sized_tube
from steelyard.online.replanner import Replanner
from steelyard.online.review import published_bounds, replay_run, violations_of
from steelyard.online.run_log import (
    BROKEN,
    DONE,
    PLAN,
    STOPPED,
    DrivenMove,
    Event,
    Known,
    MoveRecord,
    OnlineRun,
    read_run,
    write_run,
)
from steelyard.online.watchdog import CHECK, Alarm, Watchdog
from steelyard.online.worker import ProcessWorker, SyncWorker, Worker

Link = RobotDriver
"""A robot's driver, as the front door calls it."""

__all__ = [
    "BROKEN",
    "CHECK",
    "DONE",
    "PATTERNS",
    "PLAN",
    "STOPPED",
    "Alarm",
    "DrivenMove",
    "Event",
    "GoalCost",
    "JointReading",
    "Known",
    "LawChoice",
    "Link",
    "LoadModel",
    "Move",
    "MoveRecord",
    "MuJoCoDriver",
    "OnlineRun",
    "PayloadExcitation",
    "PlanCertificate",
    "PlanCertifier",
    "PlanCost",
    "PlanReply",
    "PlanRequest",
    "PlannedMove",
    "Planner",
    "ProcessWorker",
    "Replanner",
    "RobotDriver",
    "RobustLaw",
    "SafeLearningConfig",
    "SceneChange",
    "SceneResponse",
    "SceneSource",
    "SensorErrors",
    "SyncWorker",
    "TubeDynamics",
    "TubeForms",
    "TubeTorques",
    "Watchdog",
    "WeightedCosts",
    "Worker",
    "check_plan",
    "published_bounds",
    "read_run",
    "replay_run",
    "run_online",
    "tube_acceleration",
    "tube_forms",
    "violations_of",
    "with_sized_tube",
    "write_run",
]
