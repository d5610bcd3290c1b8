"""Run all that a file describes as one graph of tasks, here or on a cluster; starting it again resumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from steelyard.files import FilePath
from steelyard.progress import Progress
from steelyard.workflows.options import Option, workflow

if TYPE_CHECKING:
    from steelyard.campaigns import Spec
    from steelyard.workflows.campaign_result import CampaignObserver, CampaignResult


@workflow
def campaign(
    spec: Annotated[Spec | FilePath, Option("What to do (TOML).", argument=True, metavar="SPEC")],
    *,
    out: Annotated[FilePath, Option("Folder for the results; an earlier one is resumed.", metavar="PATH")],
    workers: Annotated[
        int | None, Option("Number of processes on this machine.", default="one per core", least=1)
    ] = None,
    cluster: Annotated[
        str | None, Option("Run on a Dask cluster instead, as tcp://host:8786.", metavar="ADDRESS")
    ] = None,
    retry_failed: Annotated[
        bool, Option("Try again what failed for good before.", flag="--retry-failed")
    ] = False,
    observer: CampaignObserver | None = None,
    progress: Progress | None = None,
) -> CampaignResult:
    """Run all that a file describes; results of finished tasks are kept and never computed twice.

    Args:
        spec: the campaign, or its file (TOML).
        out: folder for the results; an earlier one is resumed.
        workers: processes on this machine; None for one per core.
        cluster: address of a Dask scheduler to run on instead, such as `tcp://host:8786`.
        retry_failed: whether what failed for good before is tried again.
        observer: told of every task as it starts and ends.
        progress: told how many tasks have ended, and what goes wrong.

    Returns:
        The results of all tasks, and what follows from them.

    Raises:
        InputError: something given is not usable; no task is started.
        MissingExtraError: a cluster is asked for and Dask is not installed.
        NoSolutionError: the cluster's scheduler was lost; what is finished is stored.
    """
    from steelyard.workflows.campaign_result import campaign_of_spec

    return campaign_of_spec(
        spec, out=out, workers=workers, cluster=cluster, retry_failed=retry_failed, observer=observer
    )
