"""Documents that a fuzzer damaged, given to the commands that read them.

A case damages some of every kind of document that a command reads (records, folders of models, motions, logs,
descriptions of loads, controllers, priors, scenes, limits and columns, campaigns) and runs the commands in
one process of bounded memory; see `tests/hostile`. The first case also runs all hostile commands that
somebody thought of.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from attacks.attack import Attack
from tables import Bound, Study

TESTS = Path(__file__).resolve().parents[2] / "tests"
ROUNDS = 40
FUZZED = ("record", "model", "motion", "csv", "payload", "controller", "prior", "scene", "limits", "columns")
"""Kinds that are damaged by chance; `campaign` too, whose names do not tell."""
FAULTS = ("traceback", "hang", "slow", "memory", "exit code", "escape", "left behind", "no clear sentence")


def case(seed: int) -> dict[str, Any]:
    """How the commands of one seed end: their number by kind, and those that end as they should not."""
    kinds = () if seed == 0 else (*FUZZED, "campaign")
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "ends.json")
        subprocess.run(
            [
                *(sys.executable, "-m", "hostile.watch_commands", str(Path(folder, "commands"))),
                *(str(results), str(seed), str(ROUNDS), *kinds),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
            check=True,
            capture_output=True,
        )
        ends = json.loads(results.read_text())
    wrong = [
        {"name": f"{end['kind']}/{end['name']}"[:120], "faults": end["faults"], "said": end["stderr"][-300:]}
        for end in ends
        if end["faults"]
    ]
    return {
        "kinds": dict(Counter(end["kind"] for end in ends)),
        "codes": dict(Counter(str(end["code"]) for end in ends)),
        "seconds": max(end["seconds"] for end in ends),
        "memory": max(end["memory"] for end in ends) / 2**20,
        "wrong": wrong,
    }


def judge(outcomes: list[dict[str, Any]]) -> Study:
    """Every command ends in time and in bounds, refused with one sentence or with an answer."""
    kinds, codes = Counter[str](), Counter[str]()
    for outcome in outcomes:
        kinds.update(outcome["kinds"])
        codes.update(outcome["codes"])
    faults = Counter(fault for x in outcomes for end in x["wrong"] for fault in end["faults"])
    return Study(
        "Attacks on readers",
        f"{sum(kinds.values())} commands with hostile files and options, most of them damaged by chance: "
        f"{', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}. Exit codes: "
        f"{', '.join(f'{n} of {code}' for code, n in codes.most_common())}.",
        (
            *(Bound(f"commands with the fault: {fault}", faults[fault], 0) for fault in FAULTS),
            Bound("longest, s of the processor", max(x["seconds"] for x in outcomes), 10.0),
            Bound("most memory, MiB", max(x["memory"] for x in outcomes), 2048.0),
        ),
        {"wrong": [end for x in outcomes for end in x["wrong"]]},
    )


ATTACK = Attack("readers", "readers of files, by damaged ones", 20, case, judge, limit=900.0)
