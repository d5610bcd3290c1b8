"""The walls of the house: who may import whom, read from the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_trees import SOURCE, nodes

FLOORS = (
    (
        "door",
        "errors",
        "arrays",
        "finding",
        "progress",
        "interruptions",
        "files",
        "budget",
        "document",
        "npz",
        "archive",
        "compiled",
        "kept",
        "threads",
        "cones",
    ),
    ("pose", "inertia"),
    ("drive", "robot", "zoo", "layout", "link_frames", "reduction"),
    ("dynamics", "control", "rollout", "enclosure", "formats", "model"),
    ("identifiable", "consistency", "limits"),
    ("motion", "excitation"),
    ("recording", "signals", "simulation"),
    ("problem", "estimation", "uncertainty", "identification", "payloads"),
    ("audit",),
    ("export",),
    ("safe_learning", "campaigns"),
    ("report", "viewer"),
    ("workflows",),
    ("cli", "__main__"),
)
HEIGHT = {room: (floor, place) for floor, rooms in enumerate(FLOORS) for place, room in enumerate(rooms)}

# The truth must not be reachable from the estimator; audit and report judge any tool's result; signals know
# no robot; excitation and online share what lies below them, not each other.
FORBIDDEN = {
    "problem": {"simulation"},
    "estimation": {"simulation"},
    "uncertainty": {"simulation"},
    "identification": {"simulation"},
    "payloads": {"simulation"},
    "audit": {"simulation", "estimation"},
    "report": {"estimation", "simulation"},
    "signals": {"robot", "zoo"},
    "safe_learning": {"excitation"},
    "excitation": {"safe_learning"},
}

DOORS = {
    # `dynamics` hands the instructions of generated programs to LLVM inside its kernels.
    "numba": {"compiled", "dynamics", "simulation"},
    "llvmlite": {"dynamics", "simulation"},
    "clarabel": {"cones"},
    "highspy": {"cones"},
    "mujoco": {"robot", "simulation", "formats"},
    "pinocchio": {"formats"},
    "pxr": {"formats"},
    "coal": {"limits"},
    "flint": {"identifiable"},
    "sympy": {"identifiable"},
    "pyarrow": {"recording", "campaigns"},
    "lz4": {"recording"},
    "zstandard": {"recording"},
    "threadpoolctl": {"threads", "campaigns"},
    "distributed": {"campaigns"},
    "collada": {"inertia"},
    "trimesh": {"inertia"},
    "yaml": {"robot"},
    "jinja2": {"report"},
    "viser": {"viewer"},
    "rerun": {"viewer"},
    "markupsafe": {"report"},
    "typer": {"cli"},
    "rich": {"cli"},
}


def room_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(file: Path) -> Iterator[tuple[int, str]]:
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: imports are absolute"
            yield node.lineno, node.module or ""


def rooms_imported(file: Path) -> Iterator[tuple[int, str, str]]:
    for line, module in imports(file):
        parts = module.split(".")
        if parts[0] == "steelyard" and len(parts) > 1:
            yield line, parts[1], module


# Rooms inside a room that few commands need: each is a door of its own, so that a command loads what it runs.
INNER_DOORS = {
    "steelyard.estimation.closed_loop",
    "steelyard.estimation.servo",
    "steelyard.report.campaign",
    "steelyard.report.joints",
    "steelyard.report.motion",
    "steelyard.report.online",
    "steelyard.report.payload",
    "steelyard.report.sensitivity",
}
FILES = sorted(file for file in SOURCE.rglob("*.py") if file.parent != SOURCE or file.name != "__init__.py")
ROOMS = sorted({room_of(file) for file in FILES})
# Compiled steps and loops are built from the pieces of the kernels below them.
WORKSHOPS = {
    "control": {"dynamics"},
    "rollout": {"dynamics", "control"},
    "enclosure": {"dynamics"},
    "identifiable": {"dynamics"},
    "limits": {"dynamics"},
    "simulation": {"dynamics", "control", "rollout"},
    # The asset of an object is written in the words of the formats of robots.
    "export": {"formats"},
}


def files_of(room: str) -> list[Path]:
    return [file for file in FILES if room_of(file) == room]


def test_every_room_stands_on_a_floor() -> None:
    assert set(ROOMS) <= set(HEIGHT)
    assert len(FILES) > 100, "the sources are elsewhere"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_below_it(room: str) -> None:
    for file in files_of(room):
        for line, other, module in rooms_imported(file):
            if other == room:
                continue
            assert HEIGHT[other] < HEIGHT[room], f"{file}:{line}: {room} may not import {module}"
            assert other not in FORBIDDEN.get(room, set()), f"{file}:{line}: {room} may not know {other}"


@pytest.mark.parametrize("room", ROOMS)
def test_other_rooms_are_entered_by_their_front_door(room: str) -> None:
    workshop = WORKSHOPS.get(room, set())
    for file in files_of(room):
        for line, other, module in rooms_imported(file):
            # Each workflow is a door of its own: a command loads what it runs and nothing else.
            if other != room and other not in workshop and other != "workflows":
                assert module.count(".") == 1 or module in INNER_DOORS, (
                    f"{file}:{line}: import from steelyard.{other}, not {module}"
                )


def _offered(module: str) -> set[str]:
    """What can be imported from a module: its definitions and imports, and the files beside a front door."""
    path = SOURCE.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    found = {beside.stem for beside in path.iterdir()} if path.is_dir() else set()
    for node in nodes(file):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


@pytest.mark.parametrize("folder", ["bench", "examples", "papers"])
def test_what_stands_beside_the_house_imports_what_is_there(folder: str) -> None:
    """Benchmarks and papers may enter by files, as tests do; no type checker reads them."""
    for file in sorted((SOURCE.parents[1] / folder).rglob("*.py")):
        for node in nodes(file):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("steelyard."):
                missing = {alias.name for alias in node.names} - _offered(str(node.module))
                assert not missing, f"{file}:{node.lineno}: {node.module} has no {missing}"


@pytest.mark.parametrize("file", sorted((SOURCE.parents[1] / "examples").rglob("*.py")), ids=lambda x: x.stem)
def test_examples_enter_by_front_doors(file: Path) -> None:
    for line, _, module in rooms_imported(file):
        assert module.count(".") == 1, f"{file}:{line}: what users read takes supported names, not {module}"


def test_front_doors_leave_inner_doors_closed() -> None:
    for door in INNER_DOORS:
        parent = SOURCE.joinpath(*door.split(".")[1:-1]) / "__init__.py"
        assert not [m for _, m in imports(parent) if m == door or m.startswith(f"{door}.")], (
            f"{parent}: {door}"
        )


@pytest.mark.parametrize("room", ROOMS)
def test_third_parties_come_through_their_door(room: str) -> None:
    for file in files_of(room):
        for line, module in imports(file):
            rooms = DOORS.get(module.split(".")[0])
            assert rooms is None or room in rooms, f"{file}:{line}: {module} belongs to {rooms}"


@pytest.mark.parametrize("room", [room for room in ROOMS if room != "cli"])
def test_only_the_command_line_prints(room: str) -> None:
    for file in files_of(room):
        for node in nodes(file):
            is_print = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            assert not (is_print and node.func.id == "print"), f"{file}:{node.lineno}: prints"
