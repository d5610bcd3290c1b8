"""Small tasks with honest bits, and tasks that misbehave on purpose."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.campaigns import CampaignPlan, Spec, TaskGraph
from steelyard.campaigns.task import Failure, Task
from steelyard.errors import NoSolutionError

HERE = "campaigns.sample_tasks"


def draw(seed: int, size: int = 40, pause: float = 0.0) -> dict[str, Any]:
    time.sleep(pause)
    return {"matrix": np.random.default_rng(seed).normal(size=(size, size)), "seed": seed}


def multiply(left: Mapping[str, Any], right: Mapping[str, Any], factor: float, pause: float = 0.0) -> Any:
    time.sleep(pause)
    return {"matrix": factor * left["matrix"] @ right["matrix"]}


def add(parts: Mapping[str, Any]) -> dict[str, Any]:
    good = {name: part for name, part in parts.items() if not isinstance(part, Failure)}
    bad = {name: part.reason for name, part in parts.items() if isinstance(part, Failure)}
    return {"sum": sum(part["matrix"] for part in good.values()), "failed": bad, "order": list(parts)}


def trivial(number: int) -> dict[str, int]:
    return {"number": number}


def no_solution(word: str) -> Any:
    print("looked everywhere")  # noqa: T201
    raise NoSolutionError(word, place="sample", evidence={"margin": -1.5})


def defect() -> Any:
    return 1 / 0


def leave() -> Any:
    sys.exit(7)


def die_once(marker: str, seed: int) -> dict[str, Any]:
    """Kill the worker that runs it, the first time."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return draw(seed)


def always_die(last_words: str) -> Any:
    print(last_words, file=sys.stderr, flush=True)  # noqa: T201
    os.kill(os.getpid(), signal.SIGKILL)


def no_memory() -> Any:
    raise MemoryError


def not_a_result() -> Any:
    return {"object": object()}


def threads() -> dict[str, Any]:
    from threadpoolctl import threadpool_info

    from steelyard.threads import thread_count

    return {"blas": [pool["num_threads"] for pool in threadpool_info()], "kernels": thread_count()}


def lattice(width: int = 6, *, factor: float = 0.5, pause: float = 0.0) -> TaskGraph:
    """Draws, products of neighbours, and their sum."""
    draws = [
        Task(f"draw-{k}", f"{HERE}:draw", {"seed": k, "pause": pause}, kind="draw") for k in range(width)
    ]
    products = [
        Task(
            f"product-{k}",
            f"{HERE}:multiply",
            {"factor": factor + k, "pause": pause},
            {"left": f"draw-{k}", "right": f"draw-{(k + 1) % width}"},
            kind="product",
        )
        for k in range(width)
    ]
    whole = Task(
        "sum",
        f"{HERE}:add",
        inputs={"parts": tuple(t.name for t in products)},
        kind="sum",
        accepts_failed=True,
    )
    return TaskGraph([whole, *products, *draws])


def build_lattice(spec: Spec) -> CampaignPlan:
    """The builder of a kind."""
    section = spec.content.section("lattice")
    return CampaignPlan(
        lattice(section.integer("width", least=1), factor=section.number("factor", 0.5)), "sum"
    )


def build_loop(spec: Spec) -> CampaignPlan:
    """A builder whose tasks wait for each other."""
    return CampaignPlan(
        TaskGraph(
            [
                Task("hen", f"{HERE}:add", inputs={"parts": ("egg",)}),
                Task("egg", f"{HERE}:add", inputs={"parts": ("hen",)}),
            ]
        ),
        "hen",
    )
