"""A campaign from its file to its answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.campaign import Outcome, Plan, Spec, Status, plan, read_spec, require_cluster, run
from steelyard.cli.campaign_progress import campaign_progress
from steelyard.cli.output import say
from steelyard.errors import InputError


@dataclass(frozen=True)
class Carried:
    """A campaign that has ended.

    Attributes:
        spec: what was asked.
        plan: its tasks.
        outcome: how each ended.
        answer: result of the last task; None where it failed.
    """

    spec: Spec
    plan: Plan
    outcome: Outcome
    answer: dict[str, Any] | None


def carried_out(
    path: Path, out: Path, *, workers: int | None, cluster: str | None, retry_failed: bool
) -> Carried:
    """Read the file, run what is left to run, and read the answer."""
    if workers is not None and cluster is not None:
        raise InputError("choose processes here, or a cluster.", place="--workers, --cluster")
    if cluster is not None:
        require_cluster()
    spec = read_spec(path)
    planned = plan(spec)
    say(f"{spec.name}: {len(planned.graph.tasks)} tasks")
    with campaign_progress(planned.graph) as tell:
        outcome = run(
            planned.graph,
            out,
            name=spec.name,
            workers=workers,
            cluster=cluster,
            retry_failed=retry_failed,
            tell=tell,
        )
    done = outcome.ends[planned.finish].status is Status.DONE
    return Carried(spec, planned, outcome, outcome.result(planned.finish) if done else None)
