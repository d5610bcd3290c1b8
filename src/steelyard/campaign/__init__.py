"""Campaigns: many runs as a graph of tasks, on one machine or a cluster, resumable at any moment."""

from steelyard.campaign.cluster_crew import require_cluster
from steelyard.campaign.event import Event, Happening
from steelyard.campaign.failure import Failure
from steelyard.campaign.graph import Graph
from steelyard.campaign.identification import links_behind, motion_of, subject_of
from steelyard.campaign.kinds import Plan, plan, register_kind
from steelyard.campaign.outcome import Outcome, Status
from steelyard.campaign.run import run
from steelyard.campaign.seeds import task_seed
from steelyard.campaign.spec import Spec, read_spec
from steelyard.campaign.tables import table_path, write_table
from steelyard.campaign.task import Task
from steelyard.campaign.trials import conditions, trials

__all__ = [
    "Event",
    "Failure",
    "Graph",
    "Happening",
    "Outcome",
    "Plan",
    "Spec",
    "Status",
    "Task",
    "conditions",
    "links_behind",
    "motion_of",
    "plan",
    "read_spec",
    "register_kind",
    "require_cluster",
    "run",
    "subject_of",
    "table_path",
    "task_seed",
    "trials",
    "write_table",
]
