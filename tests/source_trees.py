"""The package's own sources, read and parsed once for all tests that judge them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "steelyard"


@cache
def tree(file: Path) -> ast.Module:
    """The syntax of a file; nobody may change it."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    """Every node of it, in the order of `ast.walk`."""
    return tuple(ast.walk(tree(file)))
