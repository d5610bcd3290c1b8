"""Motions that last for ever, wiggle a million times, or are sums of sums of sums."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from hostile.attempts import ANY, Attempt, attempts, lazily
from hostile.documents import DIGITS, json_traps, mutated
from hostile.good import MOTION

SIMULATE = ("simulate", "two_link", "motion.json", "--out", "log.csv")


def _spline(pieces: int) -> dict[str, Any]:
    return {
        "family": "spline",
        "joints": ["joint1", "joint2"],
        "breaks": [1e-4 * k for k in range(pieces + 1)],
        "control": [[0.0] * (pieces + 5)] * 2,
    }


def _deep_sum(depth: int) -> str:
    """A sum of one part that is a sum of one part."""
    part = json.dumps({"is": "FourierMotion", **{k: v for k, v in MOTION.items() if k != "family"}})
    inner = '{"is":"SumMotion","parts":[' * depth + part + "]}" * depth
    return f'{{"family":"sum","parts":[{inner}]}}'


def _wide_sum(width: int) -> str:
    part = {"is": "FourierMotion", **{k: v for k, v in MOTION.items() if k != "family"}}
    return json.dumps({"family": "sum", "parts": [part] * width})


def motion_traps(*, seed: int, rounds: int) -> list[Attempt]:
    """Attempts to simulate them."""
    many = {**MOTION, "sine": [[1e-9] * 100_000] * 2, "cosine": [[0.0] * 100_000] * 2}
    contents = {
        "p1e6": json.dumps({**MOTION, "period": 1e6}),
        "p1e12": json.dumps({**MOTION, "period": 1e12}),
        "p1e300": json.dumps({**MOTION, "period": 1e300}),
        "bigint": json.dumps({**MOTION, "period": "@"}).replace('"@"', DIGITS),
        "int400": json.dumps({**MOTION, "period": 10**400}),
        "harm100k": json.dumps(many),
        "sum_deep": _deep_sum(200),
        "values": json.dumps({**MOTION, "offset": [1e300, 1e300]}),
        "joint_esc": json.dumps({**MOTION, "joints": ["joint1\x1b[2J", "joint2"]}),
    }
    traps = attempts("motion", SIMULATE, "motion.json", contents, named=("motion",))
    # A sum of a thousand swings is a motion, only no arm follows it.
    traps += attempts(
        "motion", SIMULATE, "motion.json", {"sum_wide": _wide_sum(1000)}, codes=frozenset({2, 3})
    )
    short = {"p1e-300": json.dumps({**MOTION, "period": 1e-300})}
    traps += attempts("motion", SIMULATE, "motion.json", short, named=("duration",))
    spline = {"spline_big": lazily(lambda: json.dumps(_spline(100_000)))}
    traps += attempts("motion", SIMULATE, "motion.json", spline, codes=ANY)
    documents = {f"document {name}": content for name, content in json_traps(MOTION).items()}
    traps += attempts("motion", SIMULATE, "motion.json", documents, named=("motion.json",))
    rng = np.random.default_rng(seed)
    for k in range(rounds):
        made_by, other = mutated(rng, MOTION)
        files = {"motion.json": json.dumps(other)}
        traps.append(Attempt("motion", f"{k}: {made_by}", SIMULATE, files, ANY))
    return traps
