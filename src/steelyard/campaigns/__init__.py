"""Campaigns: many runs as a graph of tasks, on one machine or a cluster, resumable at any moment.

`spec` reads the file of a campaign, which becomes a graph of tasks (`task`): those of `identification` or of
`monte_carlo`. `run` carries the graph out with an executor (`executor`, `cluster_executor`); results are kept
in `store` under the digest of what they depend on, and `record` says how it ended.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.campaigns.cluster_executor import require_cluster
    from steelyard.campaigns.executor import CampaignEvent, Happening
    from steelyard.campaigns.identification.fit import links_behind
    from steelyard.campaigns.identification.record import motion_of
    from steelyard.campaigns.identification.reference import (
        CampaignReference,
        ReferenceRun,
        campaign_reference,
    )
    from steelyard.campaigns.identification.robot_case import robot_case_of
    from steelyard.campaigns.record import CampaignOutcome, TaskStatus, table_path, write_table
    from steelyard.campaigns.run import run_campaign
    from steelyard.campaigns.spec import CampaignPlan, Spec, plan
    from steelyard.campaigns.task import TaskGraph

__all__ = [
    "CampaignEvent",
    "CampaignOutcome",
    "CampaignPlan",
    "CampaignReference",
    "Happening",
    "ReferenceRun",
    "Spec",
    "TaskGraph",
    "TaskStatus",
    "campaign_reference",
    "links_behind",
    "motion_of",
    "plan",
    "require_cluster",
    "robot_case_of",
    "run_campaign",
    "table_path",
    "write_table",
]

open_door(__name__)
