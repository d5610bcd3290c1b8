"""What reaches the command line speaks its language: options that exist, and no Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_table import every_command
from source_trees import SOURCE, tree

SPOKEN = ("Error", "Finding", "Check", "say", "complain")
"""Calls whose texts people read: errors, findings, checks and lines of progress."""
ELSEWHERE = {"--all-extras", "--extra", "--stdin"}
"""Options of other programs."""
CALLERS = {
    "cones/program.py": ("AtMost", "SecondOrder"),
    "cones/solve.py": ("accept_reduced",),
    "dynamics/batch.py": ("layout_of",),
    "formats/model_files.py": ("layout_of",),
    "inertia/cholesky.py": ("nearest_consistent",),
    "limits/margins.py": ("clearance_of",),
    "simulation/sensor.py": ("default_rng",),
    "simulation/run.py": ("clearance_of",),
}
"""What may be said to those who call from Python: no command can hand these functions what they refuse."""
OPTION = re.compile(r"(?<![\w-])(?<!var\()--[a-z][a-z-]*[a-z]")


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield str(path.relative_to(SOURCE)), tree(path)


def _text(node: ast.expr) -> str:
    """A literal, with … for what is put in."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) or "…" for part in parts)
        case ast.BinOp(left=left, right=right):
            return _text(left) + _text(right)
        case ast.IfExp(body=body, orelse=other):
            return f"{_text(body)} {_text(other)}"
        case ast.FormattedValue(value=value):
            return _text(value)
    return ""


def _spoken(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Texts of errors, findings, checks and progress, with their lines; names of places aside."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if not name.endswith(SPOKEN):
            continue
        told = [*node.args, *(word.value for word in node.keywords if word.arg not in ("place", "code"))]
        yield from ((node.lineno, text) for part in told if (text := _text(part)))


def _commands() -> dict[str, set[str]]:
    both = {
        name: {word for option in command.params for word in (*option.opts, *option.secondary_opts)}
        for name, command in every_command().items()
    }
    return {name: words | {"--help"} for name, words in both.items()}


def test_every_option_that_is_named_exists() -> None:
    commands = _commands()
    some = set.union(*commands.values()) | {"--version"} | ELSEWHERE
    wrong = []
    for file, module in _trees():
        # A text of one command's own files can be printed by that command alone.
        of_command = file.startswith(("cli/", "workflows/"))
        own = [name for name in commands if of_command and Path(file).stem.split("_")[0] == name]
        known = commands[own[0]] | ELSEWHERE if own else some
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                # A line to type names its command.
                typed = re.match(r"steelyard (\w+)", node.value)
                valid = commands.get(typed[1], set()) if typed else known
                wrong += [
                    f"{file}:{node.lineno}: {word}"
                    for word in OPTION.findall(node.value)
                    if word not in valid and not (own and f"steelyard {word}" in node.value)
                ]
    assert not wrong


def _python_names() -> set[str]:
    """Functions and classes of the package whose names are no words of a language."""
    names = set()
    for _, module in _trees():
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            if isinstance(node, ast.FunctionDef):
                names |= {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
    return {name for name in names if "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name)}


def test_no_message_speaks_python() -> None:
    names = _python_names()
    wrong = []
    for file, module in _trees():
        for line, said in _spoken(module):
            text = said
            for word in CALLERS.get(file, ()):
                text = re.sub(rf"`?[\w.]*{word}(\([^)]*\)|=\w+)?`?", "", text)
            words = set(re.findall(r"[A-Za-z_]+", text)) & names
            calls = re.findall(r"\b[\w.]+\(\)|\b\w+\.\w+\(|\b\w+=[\['{]", text)
            quoted = [word for word in re.findall(r"`([^`]*)`", text) if not word.startswith("steelyard ")]
            if words or calls or quoted:
                wrong.append(f"{file}:{line}: {text!r}: {sorted(words) or calls or quoted}")
    assert not wrong, "\n".join(wrong)


PROGRAMS = {
    "report/payload/page.py",
    "export/actuator_cards.py",
    "export/controllers.py",
    "formats/feedforward.py",
}
"""Texts that are programs, shown to be copied."""
SYNTAX = re.compile(
    r"\b[a-z]\w*_\w+\(|\b[a-z]\w*\.[a-z_]+\(|\b[a-z]\w*\(\)|\b[a-z_]+=(?:True|False|None|\[|\{|')"
    r"|`[a-z]\w*[_.(][^`]*`|\b(?:fit|load|parse)_[a-z]+\b"
)


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every text of several words that is no documentation, with its line; a message may be any of them."""
    documentation = {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in documentation:
            continue
        if " " in node.value.strip() and "<" not in node.value:
            yield node.lineno, node.value


def test_no_text_speaks_python_wherever_it_is_put_together() -> None:
    wrong = []
    for file, module in _trees():
        # The expressions of xacro have functions of their own, which its messages name.
        if file in PROGRAMS or file.startswith("robot/descriptions/xacro/"):
            continue
        for line, text in _texts(module):
            for word in CALLERS.get(file, ()):
                text = re.sub(rf"`?[\w.]*{word}(\([^)]*\)|=\w+)?`?", "", text)
            if found := SYNTAX.findall(text):
                wrong.append(f"{file}:{line}: {text!r}: {found}")
    assert not wrong, "\n".join(wrong)


ADVICE = {
    r"\b(?:Lock|Hold) (?:it\b|…|')": "--lock",
    r"\bthe method (?:momentum|lmi|ols|wls|iv|clie)\b": "--method",
    r"\b(?:smaller|larger|more) (?:travel|errors)\b": "--",
    r"\banother (?:posture|preset|family)\b": "--",
}
"""Advice that has an option, and the option."""


def test_advice_names_the_option_behind_it() -> None:
    wrong = []
    for file, module in _trees():
        # What is wrong with --lock itself is said of that option.
        if file in ("robot/model.py", "workflows/given.py"):
            continue
        for line, text in _spoken(module):
            for advice, option in ADVICE.items():
                if re.search(advice, text) and option not in text:
                    wrong.append(f"{file}:{line}: {text!r} does not name {option}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "text",
    [
        "load_robot(path, snap=True) reads it",
        "Select with joints=[…]",
        "`floating()` lets it go",
        "Use fit_lmi.",
    ],
)
def test_python_is_recognised_in_a_text(text: str) -> None:
    assert SYNTAX.search(text)


@pytest.mark.parametrize(
    "said",
    ["InputError('x', remedy='Use fit_lmi.')", "Finding(a, b, f'Select with joints=[…]')"],
)
def test_the_reader_of_messages_reads(said: str) -> None:
    ((_, text),) = [found for found in _spoken(ast.parse(said)) if " " in found[1]]
    assert text.startswith(("Use", "Select"))
