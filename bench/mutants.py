"""How much the tests see: small changes of the sources, each on trial before the tests near it.

    .venv/bin/python bench/mutants.py                       # draws 200 changes over all rooms, judges, keeps
    .venv/bin/python bench/mutants.py --again FILE.json     # judges the kept sample with the tests of today

A change is killed when a test fails. One that survives every test that reaches it is a hole in the tests, or
changes nothing that matters. `--junit` takes the durations that `pytest --junitxml` has written, which put
short tests first, and leaves out tests that fail there. A run that was stopped goes on where it was. With
`--killed` only what was killed before is judged again, each by its own test first: that takes minutes.

A kept change is looked for in all sources, where files were merged and definitions moved too
(`mutation/moved.py`). One that is gone is replaced by another of the same room, drawn by the seed; the file
says so under `gone` and `instead_of`.
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
from mutation.moved import Line, Sources
from mutation.sample import draw
from mutation.suite import OneTest, Suite
from mutation.trial import KILLED, LIMIT, SURVIVED, Judged, Place, load_libraries, stages_of, trial

ROOT = Path(__file__).resolve().parents[1]
POLL = 0.1
"""Seconds between two looks at a run."""


@dataclass(frozen=True)
class Mutant:
    """A change with its lines before and after, and what became of it.

    Attributes:
        change: the change.
        line: its line as it is, with its neighbours.
        after: its line as it would be.
        judged: the verdict; None before the trial.
        instead_of: the change in whose place it was drawn, in words; empty for one of the first draw.
    """

    change: Change
    line: Line
    after: str
    judged: Judged | None = None
    instead_of: str = ""

    @property
    def verdict(self) -> str:
        """The verdict in a word; empty before the trial."""
        return "" if self.judged is None else self.judged.verdict

    @property
    def words(self) -> str:
        """The change for people."""
        return f"{self.change.file}:{self.change.line} {self.line.text} → {self.after}"

    def document(self) -> dict[str, Any]:
        """The mutant for JSON."""
        lines = {"room": self.change.room, "above": self.line.above, "before": self.line.text}
        lines |= {"below": self.line.below, "after": self.after}
        if self.instead_of:
            lines["instead_of"] = self.instead_of
        return asdict(self.change) | lines | ({} if self.judged is None else asdict(self.judged))


def mutant_of(change: Change, sources: Sources) -> Mutant:
    """A change of some sources, with the line it stands in."""
    return Mutant(change, sources.line(change), sources.changed(change))


def read_mutant(document: dict[str, Any]) -> Mutant:
    """A mutant from JSON."""
    change = Change(**{name: document[name] for name in Change.__dataclass_fields__})
    judged = None
    if "verdict" in document:
        judged = Judged(**{name: document[name] for name in Judged.__dataclass_fields__})
    line = Line(document["before"], document["above"], document["below"])
    return Mutant(change, line, document["after"], judged, document.get("instead_of", ""))


def found_again(mutants: list[Mutant], sources: Sources, seed: int) -> tuple[list[Mutant], list[int]]:
    """Kept mutants in sources that were rearranged since.

    Args:
        mutants: with the verdicts of then.
        sources: of today.
        seed: of the draw.

    Returns:
        The mutants at their places of today with the same verdicts, and which of them are gone. In the place
        of one that is gone stands another of the same room, without a verdict; where the room has another
        name, of the room to which most of its other changes went.
    """
    found = [sources.found(mutant.change, mutant.line, mutant.after) for mutant in mutants]
    rooms: dict[str, Counter[str]] = {}
    gone: dict[str, list[int]] = {}
    for mutant, change in zip(mutants, found, strict=True):
        if change is not None:
            rooms.setdefault(mutant.change.room, Counter())[change.room] += 1
    for place, (mutant, change) in enumerate(zip(mutants, found, strict=True)):
        if change is None:
            known = rooms.get(mutant.change.room, Counter({mutant.change.room: 1}))
            gone.setdefault(known.most_common(1)[0][0], []).append(place)
    again = [
        mutant
        if change is None
        else replace(mutant_of(change, sources), judged=mutant.judged, instead_of=mutant.instead_of)
        for mutant, change in zip(mutants, found, strict=True)
    ]
    taken = [change for change in found if change is not None]
    for room, places in sorted(gone.items()):
        drawn = sources.drawn_instead(room, taken, len(places), seed)
        for place, change in zip(places, drawn, strict=True):
            again[place] = replace(mutant_of(change, sources), instead_of=mutants[place].words)
    return again, sorted(place for places in gone.values() for place in places)


def counts_of(mutants: list[Mutant]) -> dict[str, dict[str, int]]:
    """How many of each verdict, by room."""
    counts: dict[str, Counter[str]] = {}
    for mutant in mutants:
        counts.setdefault(mutant.change.room, Counter())[mutant.verdict or "waiting"] += 1
    return {room: dict(sorted(count.items())) for room, count in sorted(counts.items())}


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
        return counts_of(self.mutants)

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
        columns = (KILLED, SURVIVED, LIMIT, "waiting", "killed before")
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
    change, spent = mutant.change, 0.0
    if first:
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
    what = f"{change.file}:{change.line}  {mutant.line.text[:60]}  [{old} → {new}]"
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
    suite, sources = Suite(root, asked.junit), Sources(package)
    firsts: dict[Change, str] = {}
    head: dict[str, Any] = {"seed": asked.seed, "limit": asked.limit}
    if asked.again is not None:
        kept = json.loads(asked.again.read_text())
        earlier = list(map(read_mutant, kept["mutants"]))
        again, _ = found_again(earlier, sources, kept["seed"])
        firsts = {m.change: suite.found(m.judged.by) for m in again if m.judged is not None}
        mutants = [
            mutant if asked.killed and mutant.verdict != KILLED else replace(mutant, judged=None)
            for mutant in again
        ]
        # Verdicts of then in the rooms of today, which may have other names.
        before = [replace(now, judged=then.judged) for then, now in zip(earlier, again, strict=True)]
        head |= {"seed": kept["seed"], "before": counts_of(before)}
        head |= {"gone": [mutant.instead_of for mutant in again if mutant.instead_of]}
    else:
        mutants = [mutant_of(change, sources) for change in draw(package, asked.number, asked.seed)]
    if asked.list:
        for mutant in mutants:
            print(f"{mutant.change.file}:{mutant.change.line}\n  - {mutant.line.text}\n  + {mutant.after}")
        return 0
    date = datetime.date.today().isoformat()
    again = "-again" if asked.again is not None else ""
    file = asked.to or root / "docs" / "results" / f"mutants{again}-{date}.json"
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
