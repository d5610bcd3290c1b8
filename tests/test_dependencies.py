"""What the package imports is what an install of it brings; what only an extra brings may be missing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from source_trees import SOURCE, nodes
from steelyard.campaigns import table_path, write_table
from steelyard.errors import InputError, MissingExtraError
from steelyard.identifiable import symbolic_identifiability
from steelyard.layout import layout_of
from steelyard.recording import Recording, read, write
from steelyard.zoo import zoo_robot

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(SOURCE.rglob("*.py"))
PACKAGE = {
    "yaml": "pyyaml",
    "flint": "python-flint",
    "pinocchio": "pin",
    "pxr": "usd-core",
    "PIL": "pillow",
    "collada": "pycollada",
    "rerun": "rerun-sdk",
}
"""Packages that are called otherwise than the module they bring."""


TOO_LARGE = {"rerun-sdk"}
"""What half a gigabyte in every workshop is too much for; its test skips where it is absent."""
OF_NETWORKS = {"huggingface_hub"}
"""What only fetches; tests have no network and put another module in its place."""


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=~!\[; ]", text)[0].lower() for text in requirements}


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ALWAYS = _names(PROJECT["dependencies"])
EXTRAS = {name: _names(needs) for name, needs in PROJECT["optional-dependencies"].items()}
FOR_USERS = {name: needs for name, needs in EXTRAS.items() if name not in ("dev", "bench")}


@cache
def _third_parties(file: Path) -> list[tuple[int, str]]:
    return list(_imported(file))


def _imported(file: Path) -> Iterator[tuple[int, str]]:
    for node in nodes(file):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            modules = [word.value for word in node.args if isinstance(word, ast.Constant)]
        for module in modules:
            top = str(module).split(".")[0]
            if top not in sys.stdlib_module_names and top != "steelyard":
                yield node.lineno, PACKAGE.get(top, top)


def _lines(nodes: list[ast.stmt]) -> set[int]:
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _guarded(file: Path) -> tuple[set[int], set[int]]:
    """Lines inside a `try` that catches an ImportError, and lines that only a type checker reads."""
    caught: set[int] = set()
    typed: set[int] = set()
    for node in nodes(file):
        if isinstance(node, ast.Try) and any(
            handler.type is not None and ast.unparse(handler.type) == "ImportError"
            for handler in node.handlers
        ):
            caught |= _lines(node.body)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            typed |= _lines(node.body)
    return caught, typed


def test_every_import_is_of_a_dependency_or_of_an_extra_whose_absence_is_handled() -> None:
    for file in FILES:
        rare = [(line, package) for line, package in _third_parties(file) if package not in ALWAYS]
        if not rare:
            continue
        text = file.read_text()
        caught, typed = _guarded(file)
        for line, package in rare:
            place = f"{file}:{line}: {package}"
            extras = [name for name, needs in FOR_USERS.items() if package in needs]
            assert extras, f"{place} is in no dependency and in no extra"
            assert line in caught | typed, f"{place} comes with an extra, so its absence must be handled"
            named = any(
                f'"{name}"' in text or f"steelyard[{name}]" in text or f"`{name}`" in text for name in extras
            )
            assert line in typed or named, f"{place}: the file does not say which extra brings it"


def test_the_workshop_has_every_extra() -> None:
    assert set().union(*FOR_USERS.values()) - TOO_LARGE - OF_NETWORKS <= EXTRAS["dev"]


def test_every_dependency_is_imported() -> None:
    used = {package for file in FILES for _, package in _third_parties(file)}
    assert used >= ALWAYS
    assert used >= set().union(*FOR_USERS.values())


def test_every_module_loads_without_the_extras() -> None:
    absent = (
        "pinocchio",
        "pxr",
        "pyarrow",
        "sympy",
        "distributed",
        "casadi",
        "cvxpy",
        "xacro",
        "rosbags",
        "mcap",
        "viser",
        "rerun",
        "huggingface_hub",
        "PIL",
    )
    modules = [
        ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        for file in FILES
        if file.name != "__main__.py"
    ]
    program = (
        "import importlib, sys\n"
        f"sys.modules.update(dict.fromkeys({absent}))\n"
        f"for name in {modules}: importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def plain_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pinocchio", "pyarrow", "pyarrow.parquet", "sympy"):
        monkeypatch.setitem(sys.modules, module, None)


def test_parquet_without_arrow_names_the_extra(tmp_path: Path, plain_install: None) -> None:
    log = Recording(("j",), np.arange(5) * 0.1, np.zeros((5, 1)))
    with pytest.raises(MissingExtraError, match=r"pip install 'steelyard\[parquet\]'"):
        write(log, tmp_path / "log.parquet")
    (tmp_path / "other.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtraError, match=r"pip install 'steelyard\[parquet\]'"):
        read(tmp_path / "other.parquet")
    for name in ("log.csv", "log.npz"):
        write(log, tmp_path / name)
        assert read(tmp_path / name).digest == log.digest


def test_formulas_without_sympy_name_the_extra(plain_install: None) -> None:
    robot = zoo_robot("two_link")
    with pytest.raises(MissingExtraError, match=r"pip install 'steelyard\[symbolic\]'"):
        symbolic_identifiability(robot, layout_of(robot))


def test_tables_without_arrow_are_csv_with_their_units(tmp_path: Path, plain_install: None) -> None:
    path = table_path(tmp_path, "runs")
    write_table(path, {"name": ["a, b", "c"], "seconds": [0.1, None]}, {"seconds": "s"})
    assert path.name == "runs.csv"
    assert path.read_text() == 'name,seconds [s]\n"a, b",0.1\nc,\n'
    with pytest.raises(InputError, match="mixes numbers and text"):
        write_table(path, {"name": ["a", 1.0]})
    with pytest.raises(InputError, match="is not a table"):
        write_table(path, {"x": [1.0], "y": [1.0, 2.0]})
    with pytest.raises(MissingExtraError, match="pyarrow"):
        write_table(tmp_path / "runs.parquet", {"x": [1.0]})


def test_a_rollout_waits_for_no_part_of_scipy_that_it_does_not_use() -> None:
    rooms = ("control", "dynamics", "identifiable", "layout", "motion", "rollout", "zoo")
    code = ";".join(f"import steelyard.{room}" for room in rooms) + ";import sys;print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    for slow in ("linalg", "interpolate", "optimize", "signal", "sparse", "spatial", "special", "stats"):
        assert f"scipy.{slow}" not in loaded
    assert not loaded & {"mujoco", "typer", "rich", "pinocchio"}
