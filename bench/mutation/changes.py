"""Small changes of a source file that a test should notice: one operator, one number, one statement each.

A change replaces a piece of text and keeps the number of lines. What nobody could call wrong is left alone:
documentation, types, messages, the layout of pages, tolerances near rounding, and estimates of run time that
only decide who computes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
}
EXTREMES = {"min": "max", "minimum": "maximum", "argmin": "argmax"}
EXTREMES |= {other: one for one, other in EXTREMES.items()}
TELLING = {"complain", "debug", "echo", "info", "note", "print", "say", "tell", "told", "warn", "warning"}
"""Calls that say something to a person; what they say is not judged here."""
LAYOUT = {"decimals", "figures", "height", "indent", "max_width", "min_width", "opacity", "padding"}
LAYOUT |= {"precision", "size", "stacklevel", "width"}
"""Arguments that only decide how a page or a line looks."""
PAGES = ("report", "cli")
"""Rooms whose numbers are mostly places on a page; only those that are compared or that index are changed."""
ROUNDING = 1e-6
"""Smaller numbers are tolerances of rounding, and twice as much would be as right."""


@dataclass(frozen=True)
class Change:
    """One change of one file.

    Attributes:
        file: path below the package, with slashes.
        line: the line, from 1.
        column: the place in the line, from 0.
        old: the text that is replaced.
        new: the text that replaces it, with as many line ends.
        kind: what sort of change this is.
        owner: the function, constant or method it stands in, as "Class.method"; empty for other code.
    """

    file: str
    line: int
    column: int
    old: str
    new: str
    kind: str
    owner: str

    @property
    def room(self) -> str:
        """The folder of the package; modules that stand alone are the ground floor."""
        first, slash, _ = self.file.partition("/")
        return first if slash else "ground"

    def applied(self, source: str) -> str:
        """The file's text after the change."""
        lines = source.splitlines(keepends=True)
        start = sum(map(len, lines[: self.line - 1])) + self.column
        if source[start : start + len(self.old)] != self.old:
            raise ValueError(f"{self.file}:{self.line} no longer holds {self.old!r}")
        return source[:start] + self.new + source[start + len(self.old) :]


def changes_of(file: str, source: str) -> list[Change]:
    """Every change of a file that is worth a trial.

    Args:
        file: path below the package, with slashes.
        source: the file's text.

    Returns:
        The changes in the order of the file.
    """
    finder = _Finder(file, source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda change: (change.line, change.column, change.new))


def code_lines(source: str) -> int:
    """Number of lines on which something begins that is run; documentation and imports do not count."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.stmt, ast.expr)))
    return len({node.lineno for node in nodes if not _is_no_code(node)})


def _is_no_code(node: ast.stmt | ast.expr) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, (ast.Import, ast.ImportFrom)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


class _Finder(ast.NodeVisitor):
    """Walks a module and collects changes."""

    def __init__(self, file: str, source: str) -> None:
        self.file, self.source = file, source
        self.found: list[Change] = []
        self._lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._owner: list[str] = []
        self._may_be_none = False
        self._is_page = file.startswith(tuple(f"{room}/" for room in PAGES))
        self._is_judged = False
        self._estimates = set(re.findall(r"@interpreted_while_cheap\((\w+)", source))

    # Where a change may stand.

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in self._estimates or node.name in ("__repr__", "__str__"):
            return
        before = self._may_be_none
        self._may_be_none = node.returns is not None and bool(
            re.search(r"\bNone\b", ast.unparse(node.returns)) and ast.unparse(node.returns) != "None"
        )
        self._owner.append(node.name)
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self._owner.pop()
        self._may_be_none = before

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._owner.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._owner.pop()

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and not _is_administrative(node.target):
            self._named(node.target, node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(map(_is_administrative, node.targets)):
            for target in node.targets:
                if not isinstance(target, ast.Name):
                    self.visit(target)
            self._named(node.targets[0], node.value)

    def _named(self, target: ast.expr, value: ast.expr) -> None:
        # A module's or a class's constant: tests find it by its name.
        is_outside = isinstance(target, ast.Name) and not any(name[:1].islower() for name in self._owner)
        if is_outside and not self._owner and isinstance(target, ast.Name):
            self._owner.append(target.id)
            self.visit(value)
            self._owner.pop()
        else:
            self.visit(value)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test) and "__name__" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Messages stay."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages stay."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """What an assertion says is for the type checker."""

    # The changes.

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for place, operator in enumerate(node.ops):
            if type(operator) in COMPARISONS:
                old, others = COMPARISONS[type(operator)]
                for new in others:
                    self._between(operands[place], operands[place + 1], old, new, "comparison")
        before, self._is_judged = self._is_judged, True
        self.generic_visit(node)
        self._is_judged = before

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC and not (_is_text(node.left) or _is_text(node.right)):
            self._between(node.left, node.right, *ARITHMETIC[type(node.op)], "arithmetic")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not _is_text(node.value):
            if type(node.op) in ARITHMETIC:
                old, new = ARITHMETIC[type(node.op)]
                self._between(node.target, node.value, f"{old}=", f"{new}=", "arithmetic")
            self._whole(node, "pass", "statement")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, old, new, "boolean")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            start = self._start(node)
            length = len(self.source[start : self._start(node.operand)])
            if self.source[start : start + length].strip() == "not":
                self._add(start, length, "", "not")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value
        if self._may_be_none and value is not None and not _is_constant(value, None):
            self._whole(value, "None", "return")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        call = node.value
        if (
            isinstance(call, ast.Call)
            and _called(call) not in TELLING
            and "__init__" not in ast.unparse(call)
        ):
            self._whole(node, "pass", "statement")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = _called(node)
        if name in TELLING or name in ("TypeVar", "NewType", "Option", "Argument"):
            return
        arguments: Sequence[ast.expr] = node.args
        if name in EXTREMES and not isinstance(node.func, ast.Call):
            end = self._end(node.func)
            self._add(end - len(name), len(name), EXTREMES[name], "extreme")
        if name == "range" and isinstance(node.func, ast.Name) and arguments:
            stop = arguments[min(1, len(arguments) - 1)]
            self._shifted(stop, "- 1")
        if name == "cast" or (name == "round" and len(arguments) == 2):
            arguments = arguments[1:] if name == "cast" else arguments[:1]
        self.visit(node.func)
        for argument in arguments:
            self.visit(argument)
        for keyword in node.keywords:
            if keyword.arg not in LAYOUT:
                self.visit(keyword.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.value, ast.Name) and node.value.id == "Literal":
            return
        self.visit(node.value)
        before, self._is_judged = self._is_judged, True
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            if isinstance(part, ast.Slice):
                if part.lower is not None:
                    self._shifted(part.lower, "+ 1")
                if part.upper is not None:
                    self._shifted(part.upper, "- 1")
        self.visit(node.slice)
        self._is_judged = before

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return
        if (
            (self._is_page and not self._is_judged)
            or 0.0 < abs(value) < ROUNDING
            or abs(value) > 1 / ROUNDING
        ):
            return
        other = {0: 1, 1: 2, 0.5: 0.25}.get(value, 2 * value)
        self._whole(node, repr(float(other) if isinstance(value, float) else other), "number")

    # Text.

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str, kind: str) -> None:
        start, end = self._end(left), self._start(right)
        between = self.source[start:end]
        # Only brackets and line ends stand beside the operator, or a comment that could be mistaken for it.
        if re.sub(r"[\s()\\]", "", between) == old:
            self._add(start + between.index(old), len(old), new, kind)

    def _shifted(self, node: ast.expr, by: str) -> None:
        start, end = self._start(node), self._end(node)
        text = self.source[start:end]
        if "\n" not in text:
            simple = isinstance(node, (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript))
            self._add(start, end - start, f"{text if simple else f'({text})'} {by}", "off by one")

    def _whole(self, node: ast.stmt | ast.expr, new: str, kind: str) -> None:
        start, end = self._start(node), self._end(node)
        self._add(start, end - start, new + "\n" * self.source[start:end].count("\n"), kind)

    def _add(self, start: int, length: int, new: str, kind: str) -> None:
        line = self.source.count("\n", 0, start) + 1
        column = start - self._starts[line - 1]
        owner = ".".join(self._owner)
        old = self.source[start : start + length]
        self.found.append(Change(self.file, line, column, old, new, kind, owner))

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._at(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._at(node.end_lineno, node.end_col_offset)

    def _at(self, line: int, octets: int) -> int:
        # The parser counts octets of UTF-8.
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:octets].decode())


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _is_text(node: ast.expr) -> bool:
    """Whether `+`, `*` or `/` with this operand joins text, lists or paths."""
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    if isinstance(node, (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)):
        return True
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def _is_administrative(target: ast.expr) -> bool:
    """Whether an assignment is about the package itself, or names a number of a file format."""
    return isinstance(target, ast.Name) and (
        target.id.startswith("__") or bool(re.search(r"schema|version", target.id, re.IGNORECASE))
    )
