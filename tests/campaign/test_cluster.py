"""On a cluster of two worker processes a campaign ends with the same bits as on this machine."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from campaign.folders import Diary, bits
from campaign.sample_tasks import HERE, lattice
from steelyard.campaign import Event, Graph, Happening, Status, Task, run
from steelyard.errors import InputError

distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as made:
            yield made


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("here")
    run(lattice(8, pause=0.03), folder, workers=2)
    return bits(folder)


def test_the_cluster_gives_the_same_bits_and_its_results_are_used_here(
    cluster: Any, here: dict[str, str], tmp_path: Path
) -> None:
    outcome = run(lattice(8, pause=0.03), tmp_path, cluster=cluster.scheduler_address)
    assert bits(tmp_path) == here
    assert all(end.attempts == 1 for end in outcome.ends.values())
    diary = Diary()
    run(lattice(8, pause=0.03), tmp_path, workers=2, tell=diary)
    assert diary.counts() == {"from store": len(here)}


def test_a_worker_killed_half_way_costs_no_bit(cluster: Any, here: dict[str, str], tmp_path: Path) -> None:
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))
    done = 0

    def tell(event: Event) -> None:
        nonlocal done
        done += event.what is Happening.DONE
        if done == 6 and event.what is Happening.DONE:
            os.kill(victim, signal.SIGKILL)

    outcome = run(lattice(8, pause=0.03), tmp_path, cluster=cluster.scheduler_address, tell=tell)
    assert done == len(here)
    assert outcome.counts[Status.DONE] == len(here)
    assert bits(tmp_path) == here
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)


def test_failures_on_a_cluster_are_kept_like_those_here(cluster: Any, tmp_path: Path) -> None:
    graph = Graph(
        [
            Task("bad", f"{HERE}:no_solution", {"word": "no motion"}),
            Task("defect", f"{HERE}:defect"),
            Task("after", f"{HERE}:add", inputs={"parts": ("bad",)}),
            Task("threads", f"{HERE}:threads"),
        ]
    )
    there = run(graph, tmp_path / "there", cluster=cluster.scheduler_address)
    local = run(graph, tmp_path / "here", workers=1)
    for name, end in local.ends.items():
        assert (there.ends[name].status, there.ends[name].reason) == (end.status, end.reason)
    assert set(there.result("threads")["blas"]) == {1}
    assert "Traceback" in (tmp_path / "there" / "failures" / "bad.txt").read_text()


def test_an_address_where_nobody_answers_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    from steelyard.campaign import cluster_crew

    monkeypatch.setattr(cluster_crew, "PATIENCE", 0.3)
    for address in ("tcp://127.0.0.1:9", "nonsense", "ftp://x:1"):
        with pytest.raises(InputError, match="no Dask scheduler answers"):
            run(lattice(2), tmp_path, cluster=address)
    assert not (tmp_path / "campaign.lock").exists()


def test_without_dask_the_remedy_is_said(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"not installed. Install it: pip install 'steelyard\[cluster\]'"):
        run(lattice(2), tmp_path, cluster="tcp://127.0.0.1:9")
