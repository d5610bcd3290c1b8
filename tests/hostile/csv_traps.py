"""Logs that no fuzzer finds by chance."""

from __future__ import annotations

from hostile.seeds import CSV
from hostile.traps import encodings


def csv_traps() -> dict[str, bytes]:
    """Content by name."""
    header, _, rows = CSV.partition("\n")
    first = rows.splitlines()[0]
    traps = {
        "header alone": header + "\n",
        "no header": rows,
        "one row": f"{header}\n{first}\n",
        "a million columns": ",".join(f"c{k}" for k in range(1_000_000)) + "\n1\n",
        "column twice": header.replace("q_2", "q_1") + "\n" + rows,
        "no time": CSV.replace("time", "when"),
        "time twice": CSV.replace("note", "timestamp"),
        "time stands still": f"{header}\n" + f"{first}\n" * 20,
        "time goes back": f"{header}\n" + "\n".join(reversed(rows.splitlines())),
        "formula": CSV.replace("ok", "=cmd|' /C calc'!A0").replace("10.0", "=1+1"),
        "quote never closed": CSV.replace("ok", '"ok', 1),
        "ragged rows": CSV.replace(",ok", "", 3),
        "too many cells": CSV.replace(",ok", ",ok,ok,ok", 2),
        "long line": f"{header}\n" + "1," * 1_000_000,
        "long cell": CSV.replace("ok", "x" * 3_000_000, 1),
        "decimal commas": CSV.replace(",", ";").replace(".", ","),
        "html": "<html><body>not found</body></html>",
        "json": '{"time": [0, 1]}',
        "carriage returns alone": CSV.replace("\n", "\r"),
        "line separators": CSV.replace("\n", "\u2028"),
        "only commas": "," * 10_000 + "\n" + "," * 10_000,
        "only quotes": '"' * 10_001,
        "joint with no number": CSV.replace("q_2", "q_"),
        "joints with a gap": CSV.replace("_2", "_7"),
        "a joint lacks its torque": CSV.replace("tau_2", "other"),
        "huge joint number": CSV.replace("_2", "_99999999999999999999"),
        "numbers that overflow": CSV.replace("10.0", "1e999"),
        "time in nanoseconds since 1970": CSV.replace("\n0.", "\n17000000000000000000."),
        "empty cells": CSV.replace("10.0", ""),
        "words for numbers": CSV.replace("10.0", "ten"),
        "not finite": CSV.replace("10.0", "nan", 1).replace("-5.0", "-inf", 1),
        "digits of another script": CSV.replace("10.0", "١٠"),
        "thousands": CSV.replace("10.0", '"1,000.0"', 1).replace("-5.0", "1'000", 1),
        "path in the header": CSV.replace("note", "../../etc/passwd"),
        "markup in the header": CSV.replace("note", "[/red]"),
        "control characters": CSV.replace("note", "\x1b[2J\x07"),
    }
    return {name: trap.encode() for name, trap in traps.items()} | encodings(CSV)
