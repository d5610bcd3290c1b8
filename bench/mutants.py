"""How much the tests see: small changes of the sources, each on trial before the tests near it.

    .venv/bin/python bench/mutants.py                       # draws 200 changes over all rooms, judges, keeps
    .venv/bin/python bench/mutants.py --again FILE.json     # judges the kept sample with the tests of today

A change is killed when a test fails. One that survives every test that reaches it is a hole in the tests, or
changes nothing that matters. `--junit` takes the durations that `pytest --junitxml` has written, which put
short tests first, and leaves out tests that fail there. A run that was stopped goes on where it was. With
`--killed` only what was killed before is judged again, each by its own test first: that takes minutes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

# BLAS threads spin on the cores that the tests need.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from mutation.changes import Change
from mutation.sample import draw
from mutation.suite import OneTest, Suite
from mutation.trial import KILLED, LIMIT, SURVIVED, Judged, Place, load_libraries, stages_of, trial

ROOT = Path(__file__).resolve().parents[1]
GONE = "gone"
"""The line of a kept change is no longer in the sources."""
POLL = 0.1
"""Seconds between two looks at a run."""


@dataclass(frozen=True)
class Mutant:
    """A change with its lines before and after, and what became of it.

    Attributes:
        change: the change.
        before: its line as it is.
        after: its line as it would be.
        judged: the verdict; None before the trial.
    """

    change: Change
    before: str
    after: str
    judged: Judged | None = None

    @property
    def verdict(self) -> str:
        """The verdict in a word; empty before the trial."""
        return "" if self.judged is None else self.judged.verdict

    def document(self) -> dict[str, Any]:
        """The mutant for JSON."""
        lines = {"room": self.change.room, "before": self.before, "after": self.after}
        return asdict(self.change) | lines | ({} if self.judged is None else asdict(self.judged))


def mutant_of(change: Change, source: str) -> Mutant:
    """A change of a source, with the line it stands in."""
    at = change.line - 1
    return Mutant(change, source.splitlines()[at].strip(), change.applied(source).splitlines()[at].strip())


def read_mutant(document: dict[str, Any]) -> Mutant:
    """A mutant from JSON."""
    change = Change(**{name: document[name] for name in Change.__dataclass_fields__})
    judged = None
    if "verdict" in document:
        judged = Judged(**{name: document[name] for name in Judged.__dataclass_fields__})
    return Mutant(change, document["before"], document["after"], judged)


def found_again(mutant: Mutant, package: Path) -> Change | None:
    """The change in sources that may have moved since: at the nearest line with the same text, or None."""
    change = mutant.change
    file = package / change.file
    lines = file.read_text().splitlines() if file.is_file() else []
    places = [k for k, line in enumerate(lines, 1) if line.strip() == mutant.before]
    for line in sorted(places, key=lambda k: abs(k - change.line)):
        moved = replace(change, line=line)
        try:
            moved.applied(file.read_text())
        except ValueError:
            continue
        return moved
    return None


class Sample:
    """The mutants of one file, judged one after the other; the file is written after each."""

    def __init__(self, file: Path, head: dict[str, Any], mutants: list[Mutant]) -> None:
        """Begin a sample, or go on with what the file holds of the same one."""
        self.file, self._head, self.mutants = file, head, mutants
        if file.is_file():
            known = {m.change: m for m in map(read_mutant, json.loads(file.read_text())["mutants"])}
            self.mutants = [known.get(mutant.change, mutant) for mutant in mutants]

    def keep(self, place: int, judged: Judged) -> None:
        """Note a verdict and write the file."""
        self.mutants[place] = replace(self.mutants[place], judged=judged)
        self.write()

    def write(self, **more: Any) -> None:
        """Write the file."""
        self._head |= more
        document = {**self._head, "rooms": self.rooms(), "mutants": [m.document() for m in self.mutants]}
        beside = self.file.with_suffix(".part")
        beside.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        beside.replace(self.file)

    def rooms(self) -> dict[str, dict[str, int]]:
        """How many of each verdict, by room."""
        counts: dict[str, Counter[str]] = {}
        for mutant in self.mutants:
            counts.setdefault(mutant.change.room, Counter())[mutant.verdict or "waiting"] += 1
        return {room: dict(sorted(count.items())) for room, count in sorted(counts.items())}

    def killed_before(self) -> int:
        """How many the earlier run of the same sample killed; 0 where there was none."""
        return sum(count.get(KILLED, 0) for count in self._head.get("before", {}).values())

    def killed(self) -> int:
        """How many are killed now, by tests that pass on the sources as they are."""
        broken = self._head.get("failing_unchanged", ())
        judged = [mutant.judged for mutant in self.mutants if mutant.judged is not None]
        return sum(one.verdict == KILLED and one.by not in broken for one in judged)

    def table(self) -> str:
        """Verdicts by room as a table in Markdown."""
        columns = (KILLED, SURVIVED, LIMIT, GONE, "waiting", "killed before")
        before = self._head.get("before", {})
        total: Counter[str] = Counter()
        rows = []
        for room, count in self.rooms().items():
            count["killed before"] = before.get(room, {}).get(KILLED, 0)
            total.update(count)
            rows.append(f"| {room} | " + " | ".join(str(count.get(name, 0)) for name in columns) + " |")
        rows.append("| **all** | " + " | ".join(str(total[name]) for name in columns) + " |")
        return "\n".join([f"| room | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|", *rows])


def judge(
    mutant: Mutant, place: Place, suite: Suite, limit: float, first: str
) -> Generator[None, None, Judged]:
    """Judge a mutant: by the test that killed it before where there is one, then by those near it."""
    change = found_again(mutant, place.root / "src" / "steelyard")
    if change is None:
        return Judged(GONE, "", "", 0, 0.0)
    spent = 0.0
    if first and suite.exists(first):
        known = [[OneTest(first, suite.seconds(first))]]
        judged = yield from trial(change, place, suite, known, max(limit, 3.0 * suite.seconds(first)))
        if judged.verdict == KILLED:
            return judged
        spent = judged.seconds
    stages, are_all = stages_of(suite.near(change), limit)
    judged = yield from trial(change, place, suite, stages, limit)
    verdict = judged.verdict if are_all or judged.verdict == KILLED else LIMIT
    return replace(judged, verdict=verdict, seconds=round(spent + judged.seconds, 1))


def judge_all(
    sample: Sample, places: list[Place], suite: Suite, limit: float, firsts: dict[Change, str]
) -> None:
    """Judge what has no verdict yet, as many at a time as there are places."""
    waiting = (k for k, mutant in enumerate(sample.mutants) if mutant.judged is None)
    free, active = list(places), {}
    try:
        while True:
            while free and (k := next(waiting, None)) is not None:
                place, mutant = free.pop(), sample.mutants[k]
                active[k] = place, judge(mutant, place, suite, limit, firsts.get(mutant.change, ""))
            if not active:
                return
            for k, (place, going) in list(active.items()):
                try:
                    next(going)
                except StopIteration as ended:
                    del active[k]
                    free.append(place)
                    sample.keep(k, ended.value)
                    print(_line(k, sample.mutants[k]), flush=True)
            time.sleep(POLL)
    finally:
        # An interruption leaves no test running.
        for _, going in active.values():
            going.close()


def failing_unchanged(sample: Sample, place: Place, suite: Suite) -> Iterator[str]:
    """Tests that have killed and fail on the sources as they are too: what they killed does not count."""
    waiting = sorted({m.judged.by for m in sample.mutants if m.judged is not None and "::" in m.judged.by})
    while waiting:
        tests = [OneTest(test, suite.seconds(test)) for test in waiting]
        going = trial(None, place, suite, [tests], float("inf"))
        while True:
            try:
                next(going)
            except StopIteration as ended:
                judged: Judged = ended.value
                break
            time.sleep(POLL)
        if judged.verdict != KILLED:
            return
        yield judged.by
        waiting = [test for test in waiting if test != judged.by]


def _line(number: int, mutant: Mutant) -> str:
    change, judged = mutant.change, mutant.judged
    assert judged is not None
    old, new = (" ".join(text.split())[:20] for text in (change.old, change.new))
    what = f"{change.file}:{change.line}  {mutant.before[:60]}  [{old} → {new}]"
    return f"{number:4d} {judged.verdict:8s} {judged.seconds:6.1f} s  {what}  {judged.how} {judged.by}"


def main(words: list[str]) -> int:
    """Draw or read a sample, judge it and print the table; 1 where fewer are killed than before."""
    parser = argparse.ArgumentParser(description="Judge small changes of the sources by the tests.")
    parser.add_argument("--number", type=int, default=200, help="how many changes are drawn")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--again", type=Path, metavar="FILE", help="judge the sample of this file instead")
    parser.add_argument("--killed", action="store_true", help="with --again: only those that were killed")
    parser.add_argument("--to", type=Path, metavar="FILE", help="where verdicts go; docs/results by default")
    parser.add_argument("--limit", type=float, default=150.0, help="seconds of the processor per change")
    parser.add_argument("--workers", type=int, default=1, help="changes at a time")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="durations, by pytest --junitxml")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository that is judged")
    parser.add_argument("--cache", type=Path, help="folder with machine code; an empty one is filled first")
    parser.add_argument("--list", action="store_true", help="print the sample and stop")
    asked = parser.parse_args(words)
    root = asked.root.resolve()
    package = root / "src" / "steelyard"
    firsts: dict[Change, str] = {}
    if asked.again is not None:
        kept = json.loads(asked.again.read_text())
        before = list(map(read_mutant, kept["mutants"]))
        firsts = {m.change: m.judged.by for m in before if m.judged is not None}
        mutants = [
            mutant if asked.killed and mutant.verdict != KILLED else replace(mutant, judged=None)
            for mutant in before
        ]
        head = {"seed": kept["seed"], "limit": asked.limit, "before": kept["rooms"]}
    else:
        drawn = draw(package, asked.number, asked.seed)
        mutants = [mutant_of(change, (package / change.file).read_text()) for change in drawn]
        head = {"seed": asked.seed, "limit": asked.limit}
    if asked.list:
        for mutant in mutants:
            print(f"{mutant.change.file}:{mutant.change.line}\n  - {mutant.before}\n  + {mutant.after}")
        return 0
    date = datetime.date.today().isoformat()
    again = "-again" if asked.again is not None else ""
    file = asked.to or root / "docs" / "results" / f"mutants{again}-{date}.json"
    suite = Suite(root, asked.junit)
    sample = Sample(file, {"date": date, **head, "left_out": suite.left_out}, mutants)
    load_libraries()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        cache = (asked.cache or Path(os.environ.get("STEELYARD_CACHE") or Path(folder, "cache"))).resolve()
        cache.mkdir(exist_ok=True)
        places = [Place(Path(folder, str(k)), root, cache) for k in range(asked.workers)]
        judge_all(sample, places, suite, asked.limit, firsts)
        sample.write(failing_unchanged=sorted(failing_unchanged(sample, places[0], suite)))
    print(sample.table())
    return 0 if sample.killed() >= sample.killed_before() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
