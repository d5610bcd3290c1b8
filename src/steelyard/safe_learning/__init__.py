"""Safe while learning: certified plans, a robust law, bounds that shrink, and the loop around a robot.

`loop` is the algorithm, `run_online` its entry. `config` holds what is decided before the robot moves, and
`driver` is what a robot must offer. `executor` drives plans cycle by cycle under a `watchdog`; `replanner`
turns data into bounds and a plan (`planning`), in a `worker`, and `checker` verifies each proof by other
means. Where no plan is found in time, the proven stop of the last one is driven; where none is found at the
start, `run_online` raises `NoSolutionError` and the robot does not move. `obstacle_response` answers a scene
that changes, `run_log` keeps the run and `review` repeats it.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.safe_learning.config import LawChoice, LoadModel, SafeLearningConfig
    from steelyard.safe_learning.driver import JointReading, MuJoCoDriver, RobotDriver, SensorErrors
    from steelyard.safe_learning.loop import run_online
    from steelyard.safe_learning.planning.cost import GoalCost, WeightedCosts
    from steelyard.safe_learning.planning.tube_sizing import with_sized_tube
    from steelyard.safe_learning.replanner import Replanner
    from steelyard.safe_learning.review import replay_run, violations_of
    from steelyard.safe_learning.run_log import (
        BROKEN,
        DONE,
        PLAN,
        STOPPED,
        DrivenMove,
        Event,
        Known,
        OnlineRun,
    )
    from steelyard.safe_learning.watchdog import CHECK
    from steelyard.safe_learning.worker import ProcessWorker, SyncWorker

__all__ = [
    "BROKEN",
    "CHECK",
    "DONE",
    "PLAN",
    "STOPPED",
    "DrivenMove",
    "Event",
    "GoalCost",
    "JointReading",
    "Known",
    "LawChoice",
    "LoadModel",
    "MuJoCoDriver",
    "OnlineRun",
    "ProcessWorker",
    "Replanner",
    "RobotDriver",
    "SafeLearningConfig",
    "SensorErrors",
    "SyncWorker",
    "WeightedCosts",
    "replay_run",
    "run_online",
    "violations_of",
    "with_sized_tube",
]

open_door(__name__)
