"""Machine code is filed by what it is made from, made once, never run when damaged, and not made in vain."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from steelyard import compiled
from steelyard.compiled import cache_folder, interpreted_while_cheap, is_private, kernel, never_interpreted

OUTER = '''
"""A module."""
from steelyard.compiled import kernel
from inner import once

OFFSET = 0.0

@kernel
def twice(x):
    """Twice."""
    return once(once(x)) + OFFSET
'''
INNER = "from steelyard.compiled import kernel\n\n@kernel\ndef once(x):\n    return 2.0 * x\n"
PROGRAM = "import outer; print(outer.twice(3.0), sum(outer.twice.stats.cache_misses.values()))"


class Package:
    """Two modules whose kernels call each other, and processes that run them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"

    def write(self, outer: str, inner: str) -> None:
        (self.folder / "outer.py").write_text(outer)
        (self.folder / "inner.py").write_text(inner)

    def start(self, program: str = PROGRAM, **variables: str) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        return subprocess.Popen(
            [sys.executable, "-B", "-c", program],
            env={**os.environ, "STEELYARD_CACHE": str(self.cache), "PYTHONPATH": path, **variables},
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self) -> tuple[float, int]:
        """The answer, and how often `twice` was compiled."""
        process = self.start()
        answer, compiled_now = process.communicate()[0].split()
        assert process.returncode == 0
        return float(answer), int(compiled_now)


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """One that nobody has run."""
    made = Package(tmp_path)
    made.write(OUTER, INNER)
    return made


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Package, tuple[float, int]]:
    """One that was run once, for all tests, and what came of it."""
    made = Package(tmp_path_factory.mktemp("first"))
    made.write(OUTER, INNER)
    return made, made.run()


@pytest.fixture
def used(first: tuple[Package, tuple[float, int]], tmp_path: Path) -> Package:
    """A copy of it: machine code is filed by what it is made from, not by where that stands."""
    shutil.copytree(first[0].folder, tmp_path, dirs_exist_ok=True)
    return Package(tmp_path)


def test_a_second_process_loads_what_the_first_compiled(
    first: tuple[Package, tuple[float, int]], used: Package
) -> None:
    assert [first[1], used.run()] == [(12.0, 1), (12.0, 0)]


@pytest.mark.parametrize(
    ("outer", "inner", "answer"),
    [
        (OUTER, INNER.replace("2.0", "5.0"), 75.0),
        (OUTER.replace("OFFSET = 0.0", "OFFSET = 1.0"), INNER, 13.0),
        (OUTER.replace("once(once(x))", "once(x)"), INNER, 6.0),
    ],
    ids=["a callee in another file", "a constant", "its own code"],
)
def test_a_change_of_anything_a_kernel_is_made_from_compiles_it_again(
    used: Package, outer: str, inner: str, answer: float
) -> None:
    """Of a callee in another file Numba's own cache knows nothing: it would answer 12 again."""
    used.write(outer, inner)
    assert used.run() == (answer, 1)


def test_a_change_of_comments_documentation_or_other_functions_compiles_nothing(
    used: Package,
) -> None:
    used.write(
        OUTER.replace('"""Twice."""', '"""Twice as much.\n\n    Or more.\n    """\n    # Why not?'),
        "# A new line.\n" + INNER + "\n@kernel\ndef other(x):\n    return x\n",
    )
    assert used.run() == (12.0, 0)


@pytest.mark.parametrize("damage", [lambda b: b[:-20], lambda b: b"", lambda b: b[:99] + b"?" + b[100:]])
def test_damaged_machine_code_is_made_again_and_never_run(used: Package, damage) -> None:  # type: ignore[no-untyped-def]
    files = list(used.cache.rglob("*.machine-code"))
    assert len(files) == 2
    for file in files:
        file.write_bytes(damage(file.read_bytes()))
    assert [used.run(), used.run()] == [(12.0, 1), (12.0, 0)]


def test_two_processes_that_need_a_kernel_at_once_compile_it_once(package: Package) -> None:
    gate = package.folder / "gate"
    program = (
        f"import pathlib, time, outer\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(1e-3)\n"
    )
    processes = [package.start(program + PROGRAM.removeprefix("import outer; ")) for _ in range(2)]
    gate.touch()
    answers = [process.communicate()[0].split() for process in processes]
    assert sorted(answers) == [["12.0", "0"], ["12.0", "1"]]
    assert not list(package.cache.rglob("*.claim"))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no file modes here")
def test_a_folder_that_others_may_write_to_is_not_used(used: Package) -> None:
    (folder,) = (used.cache / "machine-code").iterdir()
    assert is_private(folder)
    folder.chmod(0o777)
    assert not is_private(folder)
    assert [used.run(), used.run()] == [(12.0, 1), (12.0, 1)]


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("STEELYARD_CACHE")
    monkeypatch.chdir(tmp_path)
    assert tmp_path not in cache_folder().parents


def test_what_no_run_has_asked_for_in_a_long_time_is_removed(used: Package) -> None:
    files = list(used.cache.rglob("*.machine-code"))
    for file in files:
        os.utime(file, (0, 0))
    used.write(OUTER, INNER.replace("2.0", "3.0"))
    used.run()
    assert not any(file.exists() for file in files)


@kernel
def _inverse(x: np.ndarray) -> float:
    total = 0.0
    for k in range(x.size):
        total += 1.0 / x[k]
    return total


def _cheap(seconds: float):  # type: ignore[no-untyped-def]
    fresh = kernel(_inverse.py_func)  # type: ignore[attr-defined]
    return interpreted_while_cheap(lambda _: seconds)(fresh)


def test_a_cheap_kernel_is_interpreted_and_divides_as_machine_code_does() -> None:
    x = np.array([0.0, 3.0, 7.0])
    cheap = _cheap(0.0)
    assert cheap(x) == _inverse(x) == np.inf
    assert cheap(x[1:]) == _inverse(x[1:])
    assert not cheap.compiled.signatures


@pytest.mark.parametrize("estimate", [compiled.COMPILING * 1.01, None])
def test_a_kernel_is_compiled_when_it_is_dear_or_asked_for(estimate: float | None) -> None:
    function = _cheap(0.0 if estimate is None else estimate)
    if estimate is None:
        with never_interpreted():
            function(np.ones(2))
    else:
        function(np.ones(2))
    assert len(function.compiled.signatures) == 1


def test_a_kernel_whose_machine_code_is_on_disk_is_loaded_once_that_pays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled, "LOADING", 0.1)
    _inverse(np.ones(2))
    again = _cheap(0.2)
    again(np.ones(2))
    assert len(again.compiled.signatures) == 1
    assert sum(again.compiled.stats.cache_misses.values()) == 0


def test_without_numba_kernels_are_plain_functions(package: Package) -> None:
    program = "import outer; from steelyard.compiled import interpreted_while_cheap as cheap\n"
    program += "print(outer.twice(3.0), cheap(lambda x: 9.0)(outer.twice)(3.0))"
    process = package.start(program, NUMBA_DISABLE_JIT="1")
    assert process.communicate()[0].split() == ["12.0", "12.0"]


def test_a_process_does_not_wait_for_what_it_claimed_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba may ask for types, give them up, and ask again."""
    monkeypatch.setattr(compiled, "_read", lambda _: None)
    monkeypatch.setattr(compiled, "PATIENCE", 4.0)
    fresh = kernel(_inverse.py_func)  # type: ignore[attr-defined]
    code, types = fresh._cache, (numba.float64[::1],)
    started = time.monotonic()
    try:
        for _ in range(2):
            assert code.load_overload(types, fresh.targetctx) is None
        assert time.monotonic() - started < 0.5 * compiled.PATIENCE
    finally:
        file = code._file(types, fresh.targetctx)
        code._release(file)
        compiled._compiling[:] = [other for other in compiled._compiling if other != file]
