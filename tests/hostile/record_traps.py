"""Records for `steelyard replay`, and result folders, of which every field may lie."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hostile.attempts import ANY, Attempt, Content
from hostile.documents import deep_json, json_traps, mutated, poisoned

REPLAY = ("replay", "result")
FIELDS: dict[str, tuple[str, Any]] = {
    "req_robot_int": ("robot", 3),
    "req_robot_none": ("robot", None),
    "req_logs_int": ("logs", 3),
    "req_logs_nest": ("logs", [["log.csv"]]),
    "req_logs_text": ("logs", "log.csv"),
    "req_cutoff_str": ("cutoff", "x"),
    "req_cutoff_list": ("cutoff", [1]),
    "req_draws_1e9": ("draws", 10**9),
    "req_draws_str": ("draws", "x"),
    "req_draws_float": ("draws", 1.5),
    "req_seed_bool": ("seed", True),
    "req_static_text": ("static", "yes"),
    "req_method_int": ("method", 3),
    "req_drive_int": ("drive", 3),
    "req_lock_int": ("lock", [3]),
    "req_gravity_int": ("gravity", 3),
    "req_prior_int": ("prior", 3),
    "req_limits_int": ("limits", 3),
    "args_int": ("arguments", [3]),
    "holdout_int": ("holdout", 3),
    "torque_constant_int": ("torque_constant", 3),
    "inputs_list": ("inputs", []),
    "inputs_str": ("inputs", "log.csv"),
    "inputs_digest_int": ("inputs", {"log.csv": 3}),
    "inputs_root": ("inputs", {"/": "0" * 64}),
    "inputs_proc": ("inputs", {"/proc/self/pagemap": "0" * 64}),
    "inputs_device": ("inputs", {"/dev/zero": "0" * 64}),
    "inputs_pipe": ("inputs", {"pipe": "0" * 64}),
    "inputs_nul": ("inputs", {"a\0b": "0" * 64}),
    "inputs_long": ("inputs", {"x" * 5000: "0" * 64}),
}
"""Fields of the request, by the name of the trap, and what is put there."""


def _pipe(path: Path) -> None:
    import os

    os.mkfifo(path)


def record_traps(result: Mapping[str, bytes], log: str, *, seed: int, rounds: int) -> list[Attempt]:
    """Attempts on a result; `result` is the content of its folder and `log` what it was identified from."""
    record = json.loads(result["record.json"])
    whole = {f"result/{name}": content for name, content in result.items()}

    def attempt(name: str, content: Content, **others: Any) -> Attempt:
        files = {**whole, "log.csv": log, "pipe": _pipe, "result/record.json": content}
        return Attempt("record", name, REPLAY, files, **others)

    traps = [
        attempt(name, json.dumps(poisoned(record, ("request", field), value)), named=(field,))
        for name, (field, value) in FIELDS.items()
        if field != "inputs"
    ]
    traps += [
        attempt(name, json.dumps(poisoned(record, ("request", "inputs"), value)), named=("input",))
        for name, (field, value) in FIELDS.items()
        if field == "inputs"
    ]
    traps += [
        attempt("versions_list", json.dumps(poisoned(record, ("versions",), [])), named=("versions",)),
        attempt("versions_str", json.dumps(poisoned(record, ("versions",), "x")), named=("versions",)),
        attempt("files_list", json.dumps(poisoned(record, ("files",), [])), named=("files",)),
        attempt("request_list", json.dumps(poisoned(record, ("request",), [])), named=("request",)),
    ]
    traps += [attempt(name, content, named=("record.json",)) for name, content in json_traps(record).items()]
    rng = np.random.default_rng(seed)
    asked = {name: item for name, item in record.items() if name in ("request", "versions", "files")}
    for k in range(rounds):
        made_by, other = mutated(rng, asked)
        traps.append(attempt(f"{k}: {made_by}", json.dumps({**record, **other}), codes=ANY))
    return traps


def model_traps(result: Mapping[str, bytes], log: str, *, seed: int, rounds: int) -> list[Attempt]:
    """Attempts on a result folder that a log judges."""
    words = ("validate", "result", "log.csv")
    whole: dict[str, Content] = {f"result/{name}": content for name, content in result.items()}
    record, parameters = (json.loads(result[name]) for name in ("record.json", "parameters.json"))

    def attempt(name: str, file: str, content: Content, **others: Any) -> Attempt:
        return Attempt("model", name, words, {**whole, "log.csv": log, f"result/{file}": content}, **others)

    listed = {
        "files_nul": "a\0b",
        "files_long": "x" * 5000,
        "files_out": "../../x",
        "files_device": "/dev/zero",
    }
    traps = [
        attempt(
            name,
            "record.json",
            json.dumps(poisoned(record, ("files",), {file: "0" * 64})),
            named=("record.json",),
        )
        for name, file in listed.items()
    ]
    traps += [
        attempt(f"parameters {name}", "parameters.json", content, named=("parameters.json",))
        for name, content in json_traps(parameters).items()
    ]
    rng = np.random.default_rng(seed)
    for k in range(rounds):
        made_by, other = mutated(rng, parameters)
        traps.append(attempt(f"{k}: {made_by}", "parameters.json", json.dumps(other), codes=ANY))
    deep = {"result/record.json": deep_json(100_000), "log.csv": log}
    words = ("identify", "two_link", "log.csv", "--out", "result", "--force")
    return [*traps, Attempt("force", "deep_record", words, deep, named=("result",))]
