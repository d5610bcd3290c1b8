"""`make bench`: our times beside the peers', in one run; dated JSON and the table of docs/benchmarks.md.

With names of cases only those are run, and their rows replace those of the same day; others stay.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path

# BLAS threads spin on the cores that our own threads need: on small matrices that costs both of them dearly.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from cases import (
    all_pose,
    clearance,
    closed_loop,
    dynamics,
    estimation,
    excitation,
    figaroh,
    first_runs,
    identifiability,
    long_log_identified,
    payload_bounds,
    payload_recursive,
    plan_certificate,
    plant,
    rollout,
)
from promises import PROMISED
from tables import RESULTS, machine, today
from timing import Row

CASES = {
    "first runs": first_runs.rows,
    "dynamics": dynamics.rows,
    "rollout": rollout.rows,
    "plant": plant.rows,
    "plan certificate": plan_certificate.rows,
    "identifiability": identifiability.rows,
    "clearance": clearance.rows,
    "excitation": excitation.rows,
    "estimation": estimation.rows,
    "payload bounds": payload_bounds.rows,
    "payload, recursive": payload_recursive.rows,
    "closed loop": closed_loop.rows,
    "all poses": all_pose.rows,
    "figaroh": figaroh.rows,
    "long log": long_log_identified.rows,
}
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def main(words: list[str]) -> int:
    """Run the named cases, all by default; always 0, a missed promise is reported and not hidden."""
    if unknown := [word for word in words if word not in CASES]:
        raise SystemExit(f"unknown cases {unknown}; valid: {list(CASES)}")
    started = machine()
    file = RESULTS / f"bench-{today()}.json"
    kept = _kept(file) if words else {}
    for name in words or CASES:
        for key, row in by_key(CASES[name]()).items():
            kept[key] = row
    rows = list(kept.values())
    document = {
        "date": today(),
        "machine": started,
        "rows": [{**asdict(row), "ratio": row.ratio, "holds": row.holds} for row in rows],
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    page = _page(rows)
    PAGE.write_text(page)
    print(page)
    return 0


def by_key(rows: Iterable[Row]) -> dict[tuple[str, str], Row]:
    """Rows by what was done and the peer beside it; two of one kind would hide each other and are refused."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        if (row.name, row.peer) in found:
            raise ValueError(f"two rows of '{row.name}' beside '{row.peer}'")
        found[row.name, row.peer] = row
    return found


def promises(rows: list[Row]) -> str:
    """The first line of the page: how many promises hold, which are missed, and which were not measured."""
    promised = [row for row in rows if row.promised]
    missed = [f"{row.name}{f' ({row.peer})' if row.peer else ''}" for row in promised if not row.holds]
    there = {(row.name, row.peer) for row in promised}
    missing = [name for name, peer in PROMISED if (name, peer) not in there]
    words = f"**{len(promised) - len(missed)} of {len(promised) + len(missing)} promises hold.**"
    if missed:
        words += f" Missed: {'; '.join(missed)}."
    if missing:
        words += f" Not measured: {'; '.join(missing)}."
    return words


def _kept(file: Path) -> dict[tuple[str, str], Row]:
    """Rows measured earlier today, by what was done and the peer."""
    if not file.exists():
        return {}
    names = {field.name for field in fields(Row)}
    rows = json.loads(file.read_text())["rows"]
    return by_key(Row(**{key: value for key, value in row.items() if key in names}) for row in rows)


def _page(rows: list[Row]) -> str:
    described = machine()
    head = [
        "# Benchmarks",
        "",
        promises(rows),
        "",
        f"Measured on {today()} by `make bench`: {described['processor']}, {described['cores']} cores, "
        f"Python {described['python']}, "
        + ", ".join(f"{name} {number}" for name, number in described["versions"].items())
        + ". Times are the best of several; ratios are between times of the same run. Promised times are "
        "for an otherwise idle machine. BLAS runs on one thread.",
        "",
        "| what | ours | peer | theirs | ratio | promised | memory | holds | note |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *(_line(row) for row in rows), ""])


def _line(row: Row) -> str:
    stated = []
    if row.least_ratio is not None:
        stated.append(f"≥ {row.least_ratio:g}×")
    if row.most_seconds is not None:
        stated.append(f"≤ {_time(row.most_seconds)}")
    if row.most_memory is not None:
        stated.append(f"≤ {row.most_memory:g} MB")
    cells = (
        row.name,
        _time(row.ours),
        row.peer,
        "" if row.theirs is None else _time(row.theirs),
        "" if row.ratio is None else f"{row.ratio:.3g}×",
        ", ".join(stated),
        "" if row.memory is None else f"{row.memory:.0f} MB",
        ("yes" if row.holds else "**no**") if row.promised else "",
        row.note,
    )
    return "| " + " | ".join(cells) + " |"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
