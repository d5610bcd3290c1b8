"""On a cluster of two worker processes a campaign ends with the same bits as on this machine."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaigns.folders import Diary, bits
from campaigns.sample_tasks import HERE, lattice
from steelyard.campaigns import CampaignEvent, Happening, TaskGraph, TaskStatus, run_campaign
from steelyard.campaigns.cluster_executor import OPEN, ClusterExecutor, unpacked
from steelyard.campaigns.executor import Call
from steelyard.campaigns.store import Store, encode_result
from steelyard.campaigns.task import Failure, Task
from steelyard.errors import InputError

dask = pytest.importorskip("dask", reason="needs the extra 'cluster'")
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
    run_campaign(lattice(8, pause=0.03), folder, workers=2)
    return bits(folder)


def test_the_cluster_gives_the_same_bits_and_its_results_are_used_here(
    cluster: Any, here: dict[str, str], tmp_path: Path
) -> None:
    outcome = run_campaign(lattice(8, pause=0.03), tmp_path, cluster=cluster.scheduler_address)
    assert bits(tmp_path) == here
    assert all(end.attempts == 1 for end in outcome.ends.values())
    diary = Diary()
    run_campaign(lattice(8, pause=0.03), tmp_path, workers=2, tell=diary)
    assert diary.counts() == {"from store": len(here)}


def test_a_worker_killed_half_way_costs_no_bit(cluster: Any, here: dict[str, str], tmp_path: Path) -> None:
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))
    done = 0

    def tell(event: CampaignEvent) -> None:
        nonlocal done
        done += event.what is Happening.DONE
        if done == 6 and event.what is Happening.DONE:
            os.kill(victim, signal.SIGKILL)

    outcome = run_campaign(lattice(8, pause=0.03), tmp_path, cluster=cluster.scheduler_address, tell=tell)
    assert done == len(here)
    assert outcome.counts[TaskStatus.DONE] == len(here)
    assert bits(tmp_path) == here
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)


def test_failures_on_a_cluster_are_kept_like_those_here(cluster: Any, tmp_path: Path) -> None:
    graph = TaskGraph(
        [
            Task("bad", f"{HERE}:no_solution", {"word": "no motion"}),
            Task("defect", f"{HERE}:defect"),
            Task("after", f"{HERE}:add", inputs={"parts": ("bad",)}),
            Task("threads", f"{HERE}:threads"),
        ]
    )
    there = run_campaign(graph, tmp_path / "there", cluster=cluster.scheduler_address)
    local = run_campaign(graph, tmp_path / "here", workers=1)
    for name, end in local.ends.items():
        assert (there.ends[name].status, there.ends[name].reason) == (end.status, end.reason)
    assert set(there.result("threads")["blas"]) == {1}
    assert "Traceback" in (tmp_path / "there" / "failures" / "bad.txt").read_text()


def test_an_address_where_nobody_answers_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    from steelyard.campaigns import cluster_executor

    monkeypatch.setattr(cluster_executor, "PATIENCE", 0.3)
    for address in ("tcp://127.0.0.1:9", "nonsense", "ftp://x:1"):
        with pytest.raises(InputError, match="no Dask scheduler answers"):
            run_campaign(lattice(2), tmp_path, cluster=address)
    assert not (tmp_path / "campaign.lock").exists()


def test_without_dask_the_remedy_is_said(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"not installed. Install it: pip install 'steelyard\[cluster\]'"):
        run_campaign(lattice(2), tmp_path, cluster="tcp://127.0.0.1:9")


CALL = Call("task", "key", f"{HERE}:add", {}, {})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (pickle.dumps(print), "is not text in UTF-8"),
        (("seconds", 1.0), "is a list, not bytes"),
        (b"", "is not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"seconds": "long", "host": "h", "failure": null}\n', "expected a number"),
        (b'{"seconds": 1.0, "host": "h", "failure": null}\nPK', "seal"),
        (b'{"seconds": 1.0, "host": "h", "failure": {"task": 1, "reason": "r"}}\n', "expected a text"),
    ],
)
def test_what_a_worker_answers_is_read_as_data(answer: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        unpacked(answer, CALL)


def test_an_answer_comes_back_as_it_was_sent_and_under_the_name_of_its_task() -> None:
    content = encode_result({"x": np.arange(3.0)})
    good = unpacked(b'{"seconds": 1.5, "host": "h", "failure": null}\n' + content, CALL)
    assert (good.seconds, good.host, good.content, good.failure) == (1.5, "h", content, None)
    failed = b'{"task": "another", "reason": "r", "lasting": true, "detail": ""}'
    bad = unpacked(b'{"seconds": 1.5, "host": "h", "failure": ' + failed + b"}\n", CALL)
    assert bad.content is None
    assert bad.failure == Failure("task", "r")
    with pytest.raises(MemoryError):
        unpacked(b'{"out_of_memory": true}\n', CALL)


def test_an_open_connection_to_other_machines_is_told(tmp_path: Path, monkeypatch: Any) -> None:
    told = []
    monkeypatch.setattr(distributed, "Client", _Nobody)
    for address in ("tcp://127.0.0.1:1", "tls://10.0.0.1:1", "tcp://10.0.0.1:1"):
        ClusterExecutor(Store(tmp_path), address, lambda event, at=address: told.append((at, event.word)))
    assert [at for at, word in told if word == OPEN] == ["tcp://10.0.0.1:1"]


class _Nobody:
    """A client of a cluster without workers."""

    status = "running"

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def scheduler_info(self, **_: object) -> dict[str, dict[str, object]]:
        return {"workers": {}}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_a_cluster_with_certificates_is_reached_by_dasks_own_settings(
    here: dict[str, str], tmp_path: Path
) -> None:
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    made = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=steelyard")
    subprocess.run(["openssl", *made, "-out", cert, "-keyout", key], check=True, capture_output=True)
    names = {"ca_file": cert}
    for role in ("scheduler", "worker", "client"):
        names |= {f"{role}_cert": cert, f"{role}_key": key}
    security = distributed.Security(require_encryption=True, **{f"tls_{k}": v for k, v in names.items()})
    settings = {
        "distributed.comm.tls.ca-file": cert,
        "distributed.comm.tls.client.cert": cert,
        "distributed.comm.tls.client.key": key,
    }
    with (
        pytest.MonkeyPatch.context() as patch,
        dask.config.set(settings),
    ):
        patch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
        closed = distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, protocol="tls://", security=security
        )
        with closed:
            assert closed.scheduler_address.startswith("tls://")
            run_campaign(lattice(8, pause=0.03), tmp_path / "out", cluster=closed.scheduler_address)
    assert bits(tmp_path / "out") == here
