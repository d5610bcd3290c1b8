"""The supported API documents its arguments; array arguments and results say their shape and unit.

Supported is what a room's front door lists in `__all__`, with the methods of its classes, and every workflow.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_trees import SOURCE, tree

UNIT = re.compile(r"(?<![\w·/])(rad|m|kg|s|Hz|N|A|SI|dimensionless|percent|units?)(?![\w])")
SHAPE = re.compile(r"shapes?\s+\(|(any|same|natural) shape")
ARRAY = re.compile(r"\b(Array|ArrayLike|NDArray|IntArray)\b")
Function = ast.FunctionDef


# Commands document themselves through their options' help.
ROOMS = sorted(path for path in SOURCE.glob("[a-z]*") if path.name != "cli" and path.suffix in ("", ".py"))


def supported(room: Path) -> set[str] | None:
    """The names that a room's doors list, its own and inner ones; None where all that is public counts."""
    doors = sorted(room.rglob("__init__.py")) if room.is_dir() else [room]
    listed = [
        set(ast.literal_eval(node.value))
        for door in doors
        for node in tree(door).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    return set().union(*listed) if listed else None


def public_functions(room: Path) -> Iterator[tuple[str, ast.FunctionDef]]:
    names = supported(room)
    for file in sorted(room.rglob("*.py")) if room.is_dir() else [room]:
        for node in tree(file).body:
            if not isinstance(node, ast.ClassDef | Function):
                continue
            if not (_is_workflow(node) if room.name == "workflows" else names is None or node.name in names):
                continue
            owners = node.body if isinstance(node, ast.ClassDef) and node.name[0] != "_" else [node]
            for item in owners:
                public = isinstance(item, Function) and not item.name.startswith("_")
                if public and not _documented_elsewhere(item):
                    yield f"{file.relative_to(SOURCE)}::{item.name}", item


def _is_workflow(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "workflow" for d in node.decorator_list)


def _documented_elsewhere(function: ast.FunctionDef) -> bool:
    """A kernel's docstring is its equation; the public function that calls it carries the contract.

    Overloads are types only: the function they belong to is documented.
    """
    names = [d.id for d in function.decorator_list if isinstance(d, ast.Name)]
    return any(name.endswith("kernel") or name == "overload" for name in names)


def _is_property(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(d, ast.Name) and d.id in ("property", "cached_property") for d in function.decorator_list
    )


def section(docstring: str, heading: str) -> str:
    match = re.search(
        rf"^\s*{heading}:\n(.*?)(?=^\s*(Args|Returns|Raises|Yields):\n|\Z)", docstring, re.M | re.S
    )
    return match.group(1) if match else ""


def argument_entry(docstring: str, name: str) -> str:
    body = section(docstring, "Args")
    match = re.search(rf"^(\s*)\**{re.escape(name)}:(.*?)(?=^\1\S|\Z)", body, re.M | re.S)
    return match.group(2) if match else ""


def test_rooms_have_public_functions() -> None:
    assert len(ROOMS) > 30
    assert len(list(public_functions(SOURCE / "dynamics"))) > 10


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_public_functions_document_arguments_shapes_and_units(room: Path) -> None:
    found = {name: list(complaints(function)) for name, function in public_functions(room)}
    assert {name: said for name, said in found.items() if said} == {}


def complaints(function: ast.FunctionDef) -> Iterator[str]:
    """What the docstring of a function does not say."""
    docstring = ast.get_docstring(function) or ""
    if not docstring:
        yield "has no docstring"
    if _is_property(function) or function.name in ("__matmul__",):
        return
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    arguments = [argument for argument in arguments if argument.arg not in ("self", "cls")]
    needs_args = bool(arguments) and any(
        argument.annotation is not None and ARRAY.search(ast.unparse(argument.annotation))
        for argument in arguments
    )
    for argument in arguments:
        entry = argument_entry(docstring, argument.arg)
        annotation = "" if argument.annotation is None else ast.unparse(argument.annotation)
        if (needs_args or "Args:" in docstring) and not entry.strip():
            yield f"argument '{argument.arg}' is not documented"
        if ARRAY.search(annotation):
            if not SHAPE.search(entry):
                yield f"argument '{argument.arg}' does not state its shape: {entry!r}"
            if not UNIT.search(entry):
                yield f"argument '{argument.arg}' does not state its unit: {entry!r}"
    returned = "" if function.returns is None else ast.unparse(function.returns)
    if re.match(r"(Array|IntArray|NDArray|tuple\[Array)", returned):
        entry = section(docstring, "Returns") or docstring
        if not SHAPE.search(entry):
            yield f"the result does not state its shape: {entry!r}"
        if not UNIT.search(entry):
            yield f"the result does not state its unit: {entry!r}"
