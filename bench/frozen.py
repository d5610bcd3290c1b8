"""What every command answers and writes, kept before a restructuring and compared after it.

    python bench/frozen.py keep DIR                       # runs every case, keeps what it left
    python bench/frozen.py compare DIR                    # runs them again; exit code 1 where one differs
    python bench/frozen.py compare DIR --case identify-wls --case demo
    python bench/frozen.py compare DIR --quick            # the short ones alone
    python bench/frozen.py compare DIR --tolerance 1e-6   # numbers may differ by this share
    python bench/frozen.py keep --tests                   # writes the reference of tests/test_frozen.py anew

A comparison is exact: numbers bit for bit, files byte for byte, messages letter by letter, except for what
`VOLATILE` names. It is meant for one machine and one environment. The tests' reference holds the JSON answers
of some short cases in ten digits, without what hangs on last bits, so that it holds on every machine.

The cases are in `frozen_cases.py`. They run in this process by `steelyard.cli.main`, whatever `steelyard` the
interpreter imports; no other name of the package is used, so that its modules may move.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import gzip
import hashlib
import io
import json
import math
import os
import re
import sys
import tempfile
import time
import unittest.mock
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import steelyard.cli
from frozen_cases import CASES, TESTS, Case, write_inputs

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
REFERENCE = ROOT / "tests" / "frozen"

TERMINAL = {"COLUMNS": "100", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb"}
"""Environment of every case: where lines break is to depend on nothing outside."""
TEXTS = {
    ".json",
    ".csv",
    ".urdf",
    ".xml",
    ".sdf",
    ".html",
    ".toml",
    ".yaml",
    ".svg",
    ".c",
    ".h",
    ".py",
    ".txt",
}
"""Endings of files whose content is kept; of others it is their digest."""
VOLATILE = (
    "*seconds*",
    "*.versions.*",
    "*/campaign.json.started",
    "*/campaign.json.tasks*.host",
    # Of tasks: the digest of all they depend on, the place of their function and the version among it.
    "*/campaign.json.tasks*.key",
)
"""JSON paths of what differs from run to run or with the environment alone."""
UNSTEADY_WORDS = (
    (re.compile(r"^Compiling for first use.*\n", re.MULTILINE), ""),
    (re.compile(r"^ *compile [\w: ]+\n", re.MULTILINE), ""),
    (re.compile(r"(\b(?:pass|warn|fail)|;) in [\d.]+ s(?=;|$)", re.MULTILINE), r"\1 in some s"),
    (re.compile(r"(is unexplained; )[\d.]+ s$", re.MULTILINE), r"\1some s"),
    # In pages.
    (
        re.compile(r'(data-label="(?:planned in, ms|median, ms|worst, ms|worst, of a cycle)"><span>)[\d.]+'),
        r"\1some",
    ),
    (re.compile(r'(data-label="here"><span>)[\d.]+\s(?:ms|s|min)(?=<)'), r"\1some time"),
    (re.compile(r"(<dt>from start to end, )\d+ cores</dt><dd>[^<]*"), r"\1some cores</dt><dd>some time"),
    (re.compile(r'(data-label="time" data-key=")[^"]*("><span>)[^<]*'), r"\1some\2some"),
)
"""What differs in texts, and what takes its place."""
UNSTEADY_FILES = ("*/journal.jsonl", "*/runs.parquet")
"""Files with dates and times that are kept as digests otherwise: of these only the existence is kept."""
KEYED_FILES = "*/store/*"
"""Files that are not looked at: what a campaign stores is named by where the function is that made it."""
LAST_BITS: dict[str, tuple[str, ...]] = {
    # Inertias about axes that torques do not show: the cone solver stops anywhere within its tolerance.
    "identify-wls": (".answer.links[[]?].inertia", ".answer.links[[]?].interval95.inertia"),
}
"""JSON paths of what hangs on last bits, by the pattern of a case's name: not in the tests' reference."""

DIGEST = re.compile(r"\b[0-9a-f]{32,64}\b")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
SHOWN = 12
"""Most differences of one case that are printed."""


@dataclass(frozen=True)
class Outcome:
    """What a case left, without what is volatile.

    Attributes:
        code: exit code.
        out: stdout, a JSON document or text.
        err: stderr.
        warnings: what NumPy and others warned of at run time, each once.
        files: what each new or changed file holds: a JSON document, text, or the digest of its bytes.
    """

    code: int
    out: Any
    err: str
    warnings: list[str]
    files: dict[str, Any]


class Bench:
    """A temporary folder in which cases run, each once, those that it needs before it."""

    def __init__(self, folder: Path) -> None:
        """Put the input files there.

        Args:
            folder: an empty folder.
        """
        self.folder = folder.resolve()
        self.outcomes: dict[str, Outcome] = {}
        self.seconds: dict[str, float] = {}
        write_inputs(self.folder, SHARED)

    def outcome(self, case: Case) -> Outcome:
        """What a case left; it runs at the first time that somebody asks."""
        if case.name not in self.outcomes:
            for name in case.after:
                self.outcome(BY_NAME[name])
            began = time.perf_counter()
            self.outcomes[case.name] = self._run(case)
            self.seconds[case.name] = time.perf_counter() - began
        return self.outcomes[case.name]

    def _run(self, case: Case) -> Outcome:
        before = self._stamps()
        with warnings.catch_warnings(record=True) as warned:
            # Those that belong to imports would hang on the order of the cases.
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", RuntimeWarning)
            code, out, err = run(case.told, self.folder)
        now = self._stamps()
        changed = sorted(name for name, stamp in now.items() if before.get(name) != stamp)
        return Outcome(
            code,
            self._document(out),
            self._steady(err),
            sorted({str(item.message) for item in warned}),
            {name: self._content(self.folder / name) for name in changed},
        )

    def _stamps(self) -> dict[str, tuple[int, int]]:
        """Size and time of change of every file; the logs beside the repository are not looked at."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        inside = (path for path in files if not path.is_relative_to(self.folder / "data"))
        stats = {str(path.relative_to(self.folder)): path.stat() for path in inside}
        stats = {name: stat for name, stat in stats.items() if not fnmatch.fnmatch(name, KEYED_FILES)}
        return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}

    def _content(self, path: Path) -> Any:
        if any(fnmatch.fnmatch(str(path.relative_to(self.folder)), pattern) for pattern in UNSTEADY_FILES):
            return "unsteady"
        if path.suffix in TEXTS:
            return self._document(path.read_text(encoding="utf-8"), f"/{path.name}")
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def _document(self, text: str, file: str = "") -> Any:
        """Text that is JSON as a document without what is volatile, other text without paths."""
        text = self._steady(text)
        try:
            return without(json.loads(text), VOLATILE, file)
        except ValueError:
            return text

    def _steady(self, text: str) -> str:
        text = text.replace(str(self.folder), "HERE").replace(str(SHARED.resolve()), "data")
        for pattern, instead in UNSTEADY_WORDS:
            text = pattern.sub(instead, text)
        return text


def run(words: list[str], folder: Path) -> tuple[int, str, str]:
    """Run `steelyard` with some words in a folder: exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["steelyard", *words]
    code: object = 0
    try:
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            unittest.mock.patch.dict(os.environ, TERMINAL),
        ):
            steelyard.cli.main()
    except SystemExit as left:
        code = left.code or 0
    finally:
        sys.argv = before
    return (code if isinstance(code, int) else 1), out.getvalue(), err.getvalue()


def without(document: Any, patterns: Iterable[str], path: str = "") -> Any:
    """A document in which what stands at some paths is replaced by the word `volatile`."""
    if path and any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns):
        return "volatile"
    if isinstance(document, dict):
        return {key: without(item, patterns, f"{path}.{key}") for key, item in document.items()}
    if isinstance(document, list):
        return [without(item, patterns, f"{path}[{k}]") for k, item in enumerate(document)]
    return document


@dataclass(frozen=True)
class Difference:
    """One place where two documents differ.

    Attributes:
        path: where, as in `out.links[0].mass`.
        old: what was kept.
        new: what stands there now.
    """

    path: str
    old: object
    new: object

    def __str__(self) -> str:
        return f"{self.path}\n      old  {_short(self.old)}\n      new  {_short(self.new)}"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]} …"


def differences(
    old: Any, new: Any, relative: float = 0.0, absolute: float = 0.0, path: str = ""
) -> Iterator[Difference]:
    """Where two documents differ.

    Numbers a and b agree if |a − b| ≤ max(relative · max(|a|, |b|), absolute), those in texts too. With a
    tolerance, digests are not compared: they tell last bits apart.

    Args:
        old: a JSON document.
        new: another.
        relative: tolerance of numbers, dimensionless; 0 for the same bits.
        absolute: tolerance of numbers near zero.
        path: where both stand.

    Yields:
        The differences in the order of `old`.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in new or key not in old:
                yield Difference(f"{path}.{key}", old.get(key, "(absent)"), new.get(key, "(absent)"))
            else:
                yield from differences(old[key], new[key], relative, absolute, f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from differences(a, b, relative, absolute, f"{path}[{k}]")
    elif isinstance(old, str) and isinstance(new, str):
        yield from _different_lines(old, new, relative, absolute, path)
    elif not _same(old, new, relative, absolute):
        yield Difference(path, old, new)


def _different_lines(old: str, new: str, relative: float, absolute: float, path: str) -> Iterator[Difference]:
    before, after = old.splitlines(), new.splitlines()
    for k in range(max(len(before), len(after))):
        a, b = (lines[k] if k < len(lines) else "(no such line)" for lines in (before, after))
        if not _same_words(a, b, relative, absolute):
            yield Difference(path if len(before) <= 1 else f"{path}:{k + 1}", a, b)


def _same_words(old: str, new: str, relative: float, absolute: float) -> bool:
    if old == new or not relative:
        return old == new
    old, new = (DIGEST.sub("digest", text) for text in (old, new))
    numbers = zip(NUMBER.findall(old), NUMBER.findall(new), strict=False)
    return NUMBER.sub("#", old) == NUMBER.sub("#", new) and all(
        _same(float(a), float(b), relative, absolute) for a, b in numbers
    )


def _same(old: Any, new: Any, relative: float, absolute: float) -> bool:
    kinds = (isinstance(old, bool), isinstance(new, bool))
    if not relative or any(kinds) or not all(isinstance(x, int | float) for x in (old, new)):
        return type(old) is type(new) and (old == new or (old != old and new != new))
    return old == new or math.isclose(old, new, rel_tol=relative, abs_tol=absolute)


def keep(folder: Path, cases: Iterable[Case]) -> None:
    """Run cases and write what each left as `NAME.json.gz`."""
    folder.mkdir(parents=True, exist_ok=True)
    for case, outcome, seconds in _outcomes(cases):
        text = json.dumps(asdict(outcome), ensure_ascii=False, indent=1)
        (folder / f"{case.name}.json.gz").write_bytes(gzip.compress(text.encode(), compresslevel=3, mtime=0))
        say(f"{seconds:7.2f} s  {case.name:30} exit {outcome.code}, {len(outcome.files)} files")


def compare(folder: Path, cases: Iterable[Case], tolerance: float) -> int:
    """Run cases again and print what differs from what is kept; the number of cases that differ."""
    changed = 0
    for case, outcome, seconds in _outcomes(cases):
        kept = folder / f"{case.name}.json.gz"
        if not kept.is_file():
            say(f"{seconds:7.2f} s  {case.name:30} NOT KEPT")
            changed += 1
            continue
        old = json.loads(gzip.decompress(kept.read_bytes()))
        # Through JSON as well, which has lists only.
        new = json.loads(json.dumps(asdict(outcome)))
        found = list(differences(old, new, tolerance, 1e-3 * tolerance))
        changed += bool(found)
        say(f"{seconds:7.2f} s  {case.name:30} {f'{len(found)} DIFFERENCES' if found else 'same'}")
        for item in found[:SHOWN]:
            say(f"   {item}")
        if len(found) > SHOWN:
            say(f"   … and {len(found) - SHOWN} more")
    return changed


def _outcomes(cases: Iterable[Case]) -> Iterator[tuple[Case, Outcome, float]]:
    with tempfile.TemporaryDirectory(prefix="frozen-") as place:
        bench = Bench(Path(place))
        for case in cases:
            if case.shared and not SHARED.is_dir():
                say(f"           {case.name:30} skipped: the folder ../shared/data is not here")
                continue
            yield case, bench.outcome(case), bench.seconds[case.name]


def answer(case: Case, outcome: Outcome) -> dict[str, Any]:
    """What the tests hold of a case: exit code, JSON answer or complaint, and the names of its files."""
    left_out = [
        path for pattern, paths in LAST_BITS.items() if fnmatch.fnmatch(case.name, pattern) for path in paths
    ]
    kept: dict[str, Any] = {"code": outcome.code, "files": sorted(outcome.files)}
    if isinstance(outcome.out, str):
        # Of what was refused, the message. Boxes and line breaks are Rich's, and the usage names our program.
        words = " ".join(re.sub(r"[╭╮╰╯│─]", " ", outcome.err).split())
        kept["complaint"] = re.sub(r"^Usage: .*? for help\. ", "", words)
    else:
        kept["answer"] = rounded(outcome.out)
    return dict(without(kept, left_out))


def rounded(document: Any) -> Any:
    """A document with numbers in ten digits, and digests left out."""
    if isinstance(document, dict):
        return {key: rounded(item) for key, item in document.items()}
    if isinstance(document, list):
        return [rounded(item) for item in document]
    if isinstance(document, float):
        return float(f"{document:.10g}")
    return DIGEST.sub("digest", document) if isinstance(document, str) else document


def keep_reference() -> None:
    """Write the tests' reference: one file for each command."""
    answers: dict[str, dict[str, Any]] = {}
    for case, outcome, _ in _outcomes(case for case in CASES if case.quick == TESTS):
        group = "refused" if case.name.startswith("refused") else case.command
        answers.setdefault(group, {})[case.name] = answer(case, outcome)
    for file in REFERENCE.glob("*.json"):
        file.unlink()
    for group, of_group in answers.items():
        file = REFERENCE / f"{group}.json"
        file.write_text(json.dumps(of_group, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
        say(f"{file.stat().st_size / 1000:7.1f} kB  {file.relative_to(ROOT)}")


BY_NAME = {case.name: case for case in CASES}


def say(text: str) -> None:
    """Print a line at once."""
    sys.__stdout__.write(f"{text}\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def main() -> int:
    """Keep or compare; exit code 1 where something differs, 2 where a case is unknown."""
    parser = argparse.ArgumentParser(description="Keep what every command does, or compare it.")
    parser.add_argument("what", choices=["keep", "compare"])
    parser.add_argument("folder", nargs="?", type=Path, help="where it is kept")
    parser.add_argument("--case", action="append", default=[], help="run this alone; may be repeated")
    parser.add_argument("--quick", action="store_true", help="run the short ones alone")
    parser.add_argument("--tolerance", type=float, default=0.0, help="by what share numbers may differ")
    parser.add_argument("--tests", action="store_true", help="keep the reference of the tests")
    told = parser.parse_args()
    if told.tests:
        keep_reference()
        return 0
    if told.folder is None:
        parser.error("name the folder")
    unknown = [name for name in told.case if name not in BY_NAME]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are {', '.join(BY_NAME)}")
    cases = [
        case for case in CASES if (case.quick or not told.quick) and (not told.case or case.name in told.case)
    ]
    began = time.perf_counter()
    if told.what == "keep":
        keep(told.folder, cases)
        changed = 0
    else:
        changed = compare(told.folder, cases, told.tolerance)
        say(f"{changed} of {len(cases)} cases differ")
    say(f"{time.perf_counter() - began:.0f} s in all")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
