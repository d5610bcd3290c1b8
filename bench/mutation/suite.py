"""The tests near a place in the code, the nearest and shortest first; who uses whom is read from the text.

Compiled code is invisible to a coverage tool, so the distance from a test to a function is the number of
names on the way: the test names one function, which names the next. Methods are found by their name alone.
"""

from __future__ import annotations

import ast
import heapq
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from mutation.changes import Change

Definition = tuple[str, str]
"""A module and a name that it defines; an empty name for its own statements."""
UNKNOWN = 0.1
"""Seconds of a test whose duration is not known."""
METHOD = 1.5
"""Length of a step by an attribute's name, which may belong to another class."""
BESIDE = 3.0
"""Distance of what stands in the same module."""
UNSEEN = 10.0
"""Distance of a test of the same room, or of a command, that reaches the place on a way no text shows."""
READS_THE_REPOSITORY = (
    "test_walls.py",
    "test_docstrings.py",
    "test_dependencies.py",
    "test_papers_index.py",
    "test_bench_page.py",
    "test_readme.py",
    "test_house.py",
    "test_mutants.py",
)
"""Tests of the repository's own texts, which a changed copy of the sources does not reach."""


@dataclass(frozen=True)
class OneTest:
    """One test function, with all its parameters.

    Attributes:
        id: as pytest takes it.
        seconds: how long it takes.
    """

    id: str
    seconds: float


@dataclass
class _Module:
    """What the text of a module says: its definitions, and what each of its names was imported from."""

    defined: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    imported: dict[str, Definition] = field(default_factory=dict)
    file: Path | None = None


class Suite:
    """The tests of a repository, and how far each is from a place in the code."""

    def __init__(self, root: Path, junit: Path | None = None) -> None:
        """Read every module and test below a root, and the durations and failures that pytest has written."""
        self._root = root
        self._modules: dict[str, _Module] = {}
        self._tests: dict[Definition, str] = {}
        for folder in ("src", "tests", "bench"):
            for file in sorted((root / folder).rglob("*.py")):
                self._read(file, _module_name(file.relative_to(root / folder)))
        self._durations, self.left_out = _durations(root, junit) if junit is not None else ({}, {})
        self._learnt: dict[str, float] = {}
        self._users = self._who_uses()

    def found(self, test: str) -> str:
        """A test where it stands today, by its name; empty where it is gone or two have that name."""
        known = sorted(self._tests.values())
        if test in known:
            return test
        named = [one for one in known if one.partition("::")[2] == test.partition("::")[2]]
        return named[0] if len(named) == 1 else ""

    def seconds(self, test: str) -> float:
        """How long a test takes, all its parameters together."""
        return self._durations.get(test, self._learnt.get(test, UNKNOWN))

    def learn(self, took: dict[str, float]) -> None:
        """Take note of how long tests have taken; what pytest has written of all of them is not changed."""
        for test, seconds in took.items():
            self._learnt[test] = max(seconds, self._learnt.get(test, 0.0))

    def near(self, change: Change) -> list[OneTest]:
        """The tests that reach a change, those that are likely to tell soonest first."""
        distances = self._distances(change)
        room = f"tests/{change.room}/"
        ranked = []
        for definition, test in self._tests.items():
            is_likely = test.startswith((room, "tests/cli/", "tests/workflows/"))
            if test in self.left_out or (definition not in distances and not is_likely):
                continue
            seconds = self.seconds(test)
            away = distances.get(definition, UNSEEN) + (0.0 if test.startswith(room) else 1.0)
            ranked.append((away + math.log2(1.0 + seconds), test, seconds))
        return [OneTest(test, seconds) for _, test, seconds in sorted(ranked)]

    def _read(self, file: Path, name: str) -> None:
        module = self._modules[name] = _Module(file=file)
        tree = ast.parse(file.read_text())
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                source = ".".join(filter(None, [package if node.level else "", node.module or ""]))
                for alias in node.names:
                    module.imported[alias.asname or alias.name] = (source, alias.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    module.imported[alias.asname or alias.name.split(".")[0]] = (alias.name, "")
        for statement in tree.body:
            for defined, part in _definitions(statement):
                module.defined[defined].append(part)
        if file.is_relative_to(self._root / "tests") and file.name.startswith("test_"):
            path = file.relative_to(self._root).as_posix()
            for defined in module.defined:
                if re.match(r"test_|Test", defined) and file.name not in READS_THE_REPOSITORY:
                    self._tests[name, defined] = f"{path}::{defined.replace('.', '::')}"

    def _who_uses(self) -> dict[Definition, dict[Definition, float]]:
        users: dict[Definition, dict[Definition, float]] = defaultdict(dict)
        methods: dict[str, list[Definition]] = defaultdict(list)
        for name, module in self._modules.items():
            for defined in module.defined:
                if "." in defined and name.startswith("steelyard"):
                    methods[defined.rpartition(".")[2]].append((name, defined))
        for name, module in self._modules.items():
            for defined, parts in module.defined.items():
                user = (name, defined)
                if "." in defined:
                    # A method that nobody names may be called by the class itself or by a library.
                    users[user][name, defined.partition(".")[0]] = METHOD
                for used, length in self._used(name, module, parts, methods):
                    if used != user:
                        users[used][user] = min(length, users[used].get(user, math.inf))
        return users

    def _used(
        self, name: str, module: _Module, parts: list[ast.AST], methods: dict[str, list[Definition]]
    ) -> Iterator[tuple[Definition, float]]:
        for part in parts:
            for node in ast.walk(part):
                if isinstance(node, ast.Name):
                    yield from ((found, 1.0) for found in self._meant(name, node.id))
                elif isinstance(node, ast.arg):
                    # A fixture.
                    yield from ((found, 1.0) for found in self._fixture(name, node.arg))
                elif isinstance(node, ast.Attribute):
                    yield from ((found, METHOD) for found in methods.get(node.attr, ()))
                    if isinstance(node.value, ast.Name) and node.value.id in module.imported:
                        source, first = module.imported[node.value.id]
                        inner = ".".join(filter(None, [source, first]))
                        yield from ((found, 1.0) for found in self._meant(inner, node.attr))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield from ((found, 1.0) for found in self._spoken(node.value))

    def _meant(self, module: str, name: str, depth: int = 0) -> Iterator[Definition]:
        """What a name in a module stands for, through rooms that hand it on."""
        known = self._modules.get(module)
        if known is None or depth > 8:
            return
        if name in known.defined:
            yield module, name
            # Making an object runs what its class does then.
            for inner in ("__init__", "__post_init__", "__call__"):
                if f"{name}.{inner}" in known.defined:
                    yield module, f"{name}.{inner}"
        elif name in known.imported:
            source, first = known.imported[name]
            whole = f"{source}.{first}" if first else source
            if whole in self._modules:
                # A module that is handed on as a whole.
                yield from ((whole, inner) for inner in self._modules[whole].defined)
            else:
                yield from self._meant(source, first, depth + 1)

    def _fixture(self, module: str, name: str) -> Iterator[Definition]:
        parts = module.split(".")
        for place in [module, *(".".join([*parts[:k], "conftest"]) for k in range(len(parts)))]:
            if place in self._modules and name in self._modules[place].defined:
                yield place, name

    def _spoken(self, text: str) -> Iterator[Definition]:
        """What a text names: a task of a campaign, or a command."""
        if re.fullmatch(r"steelyard(\.\w+)+:\w+", text):
            module, _, name = text.partition(":")
            yield from self._meant(module, name)
        elif text.isidentifier() and f"steelyard.cli.{text}" in self._modules:
            yield from self._meant(f"steelyard.cli.{text}", text)

    def _distances(self, change: Change) -> dict[Definition, float]:
        module = _module_name(Path("steelyard", change.file))
        start = change.owner
        known = self._modules[module].defined
        while start and start not in known:
            start = start.rpartition(".")[0]
        # Who uses anything of a module runs its own statements, and may reach what only a library calls.
        distances = {(module, name): BESIDE if start else 1.0 for name in known} | {(module, start): 0.0}
        queue = [(length, place) for place, length in distances.items()]
        heapq.heapify(queue)
        while queue:
            length, place = heapq.heappop(queue)
            if length > distances[place]:
                continue
            for user, step in self._users.get(place, {}).items():
                if length + step < distances.get(user, math.inf):
                    distances[user] = length + step
                    heapq.heappush(queue, (length + step, user))
        return distances


def _module_name(file: Path) -> str:
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _definitions(statement: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    """The names that a statement of a module defines, each with the text that belongs to it."""
    if isinstance(statement, ast.ClassDef):
        for inner in statement.body:
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{statement.name}.{inner.name}", inner
            else:
                yield statement.name, inner
        for part in (*statement.bases, *statement.decorator_list):
            yield statement.name, part
        yield statement.name, ast.Pass()
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield statement.name, statement
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    yield node.id, statement
    elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield "", statement


def _durations(root: Path, junit: Path) -> tuple[dict[str, float], dict[str, str]]:
    """Seconds of each test function, and why those that fail without any change do so."""
    seconds: dict[str, float] = defaultdict(float)
    failed: dict[str, str] = {}
    for case in ElementTree.parse(junit).iter("testcase"):
        parts = case.get("classname", "").split(".")
        for k in range(len(parts), 0, -1):
            file = Path(*parts[:k]).with_suffix(".py")
            if (root / file).is_file():
                name = re.sub(r"\[.*", "", case.get("name", ""), flags=re.DOTALL)
                test = "::".join([file.as_posix(), *parts[k:], name])
                seconds[test] += float(case.get("time", "0"))
                for problem in (*case.iter("failure"), *case.iter("error")):
                    failed[test] = " ".join((problem.get("message") or "").split())[:200]
                break
    return dict(seconds), failed
