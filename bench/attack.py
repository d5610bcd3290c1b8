"""The attacks: seeded attempts to break what the package promises; figures go to docs/results.

    make attack                                             # every attack
    .venv/bin/python bench/attack.py kills --cases 20       # a quick look at one
    .venv/bin/python bench/attack.py kills --only 17        # one case again, printed in full

Outcomes are kept in build/attack as they come, by seed and by what the code was, and a run that was stopped
goes on where it was; `--fresh` begins anew. All the cases of an attack make dated JSON and a table.
How to add an attack stands in `bench/attacks/attack.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

# BLAS threads spin on the cores that our own processes need.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from attacks.attack import Attack, Outcome
from attacks.crew import CRASH, DONE, HANG, attempt
from tables import Bound, Study, write_study

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "attack"
ATTACKS = {
    "certificates": "attacks.certificates",
    "bounds": "attacks.bounds",
    "readers": "attacks.readers",
    "kills": "attacks.kills",
    "full_disk": "attacks.full_disk",
    "live_server": "attacks.live_server",
}
"""Every attack by name, with the module that holds it as `ATTACK`."""


def digest_of(module: str) -> str:
    """A digest of the package's sources, of an attack's and of those of `attacks` that it imports."""
    sources = sorted((ROOT / "src").rglob("*.py"))
    waiting, known = [module], set()
    while waiting:
        name = waiting.pop()
        file = Path(import_module(name).__file__ or "")
        if name not in known:
            known.add(name)
            waiting += re.findall(r"^from (attacks\.\w+) import", file.read_text(), re.MULTILINE)
            sources.append(file)
    whole = hashlib.sha256()
    for file in sources:
        whole.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return whole.hexdigest()[:16]


class Log:
    """The outcomes of one attack in a file, a line each; those of other code stay there and are not read."""

    def __init__(self, file: Path, code: str, *, fresh: bool = False) -> None:
        """Read what is known of this code.

        Args:
            file: where it is kept.
            code: digest of the code that is attacked.
            fresh: whether to begin anew.
        """
        self._file, self._code = file, code
        self.outcomes: dict[int, Outcome] = {}
        file.parent.mkdir(parents=True, exist_ok=True)
        if fresh:
            file.unlink(missing_ok=True)
        whole = file.read_text() if file.is_file() else ""
        if not whole.endswith("\n"):
            # The last run was killed within a line.
            whole = whole[: whole.rfind("\n") + 1]
            file.write_text(whole)
        for line in whole.splitlines():
            outcome = json.loads(line)
            if outcome.pop("code") == code:
                self.outcomes[outcome["seed"]] = outcome

    def add(self, outcome: Outcome) -> None:
        """Keep one more."""
        self.outcomes[outcome["seed"]] = outcome
        with self._file.open("a") as stream:
            stream.write(json.dumps({"code": self._code, **outcome}, ensure_ascii=False) + "\n")


def run(attack: Attack, module: str, seeds: range, log: Log, workers: int) -> Iterator[Outcome]:
    """Try the cases that have no outcome yet; hands out each outcome after it is kept."""
    missing = [seed for seed in seeds if seed not in log.outcomes]
    for outcome in attempt(attack, module, missing, workers):
        log.add(outcome)
        yield outcome


def judged(attack: Attack, outcomes: list[Outcome], code: str) -> Study:
    """The study of an attack's outcomes, with the cases that hang or crash among its figures."""
    ended = {how: [item for item in outcomes if item["ended"] == how] for how in (DONE, HANG, CRASH)}
    study = attack.judge(ended[DONE])
    figures = (
        Bound("cases tried", len(outcomes), attack.cases, atmost=False),
        *study.figures,
        Bound("cases that hang", len(ended[HANG]), 0, note=_seeds(ended[HANG])),
        Bound("cases that crash", len(ended[CRASH]), 0, note=_seeds(ended[CRASH])),
    )
    more = {
        "first_seed": min(item["seed"] for item in outcomes),
        "cases": len(outcomes),
        "code": code,
        "longest_case": max(item["seconds"] for item in outcomes),
    }
    return replace(study, figures=figures, extra={**more, **study.extra})


def _seeds(outcomes: list[Outcome]) -> str:
    seeds = sorted(item["seed"] for item in outcomes)
    more = ", …" if len(seeds) > 8 else ""
    return f"seeds {', '.join(map(str, seeds[:8]))}{more}" if seeds else ""


def _line(outcome: Outcome, number: int, cases: int, left: float) -> str:
    """One line of progress: what is wrong with the case, or what it was."""
    wrong = outcome.get("reason") or "; ".join(outcome.get("violations", ()))
    rest = {name: value for name, value in outcome.items() if name not in ("seed", "seconds", "ended")}
    words = (wrong.strip().splitlines() or [""])[-1] if wrong else json.dumps(rest, ensure_ascii=False)
    head = f"{number:5d} of {cases}, {left:4.0f} s left: seed {outcome['seed']}"
    return f"{head} {outcome['ended']}{' BROKEN' if wrong else ''} {words}"[:200]


def _go(name: str, asked: argparse.Namespace) -> bool:
    """Run one attack and print its study, kept if it is complete; whether every bound holds."""
    module = ATTACKS[name]
    attack: Attack = import_module(module).ATTACK
    code = digest_of(module)
    seeds = range(asked.seed, asked.seed + (asked.cases or attack.cases))
    log = Log(KEPT / f"{name}.jsonl", code, fresh=asked.fresh)
    known = sum(seed in log.outcomes for seed in seeds)
    print(f"{name}: {attack.line}; {len(seeds)} cases, {known} of them known", flush=True)
    started, told = time.monotonic(), 0.0
    for number, outcome in enumerate(run(attack, module, seeds, log, asked.workers), start=known + 1):
        spent = time.monotonic() - started
        if outcome["ended"] != DONE or outcome.get("violations") or spent > told + 5.0:
            told = spent
            left = spent / (number - known) * (len(seeds) - number)
            print(_line(outcome, number, len(seeds), left), flush=True)
    study = judged(attack, [log.outcomes[seed] for seed in seeds], code)
    if len(seeds) >= attack.cases:
        print(write_study(f"attack_{name}", study))
    print(study.markdown())
    # A quick look is short by intention.
    return all(figure.passed for figure in study.figures if figure.what != "cases tried")


def main(words: list[str]) -> int:
    """Run the named attacks, all by default; 1 if a bound is broken, 130 if it was stopped."""
    parser = argparse.ArgumentParser(description="Try to break what the package promises.")
    parser.add_argument(
        "names", nargs="*", metavar="attack", help=f"which; all by default: {', '.join(ATTACKS)}"
    )
    parser.add_argument("--cases", type=int, metavar="N", help="of each; fewer than all leave no results")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the first seed")
    parser.add_argument("--workers", type=int, default=2, help="cases at a time")
    parser.add_argument("--fresh", action="store_true", help="forget the outcomes of earlier runs")
    parser.add_argument("--only", type=int, metavar="SEED", help="try one case in this process and print it")
    asked = parser.parse_args(words)
    unknown = [name for name in asked.names if name not in ATTACKS]
    if unknown:
        parser.error(f"unknown attacks {unknown}; valid: {list(ATTACKS)}")
    if (asked.cases is not None and asked.cases < 1) or asked.workers < 1 or asked.seed < 0:
        parser.error("--cases and --workers must be at least 1, and --seed at least 0")
    names = asked.names or list(ATTACKS)
    if asked.only is not None:
        for name in names:
            case = import_module(ATTACKS[name]).ATTACK.case
            print(json.dumps(case(asked.only), indent=1, ensure_ascii=False))
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        # Cases that are killed cannot clean up after themselves.
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        try:
            kept = [_go(name, asked) for name in names]
            return 0 if all(kept) else 1
        except KeyboardInterrupt:
            print("Stopped; the same command goes on from here.", file=sys.stderr)
            return 130
        finally:
            tempfile.tempdir = None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
