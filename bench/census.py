"""A walk through the house in figures: how many files, who imports whom, which names mean two things.

    python bench/census.py            prints the figures as a table
    python bench/census.py --json     prints them as one JSON document

`docs/decisions/0033-the-house-redrawn.md` states them beside those of the house before.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from reached import unreached

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "steelyard"


def module_name(file: Path) -> str:
    """Dotted name of a source file; of a folder's `__init__.py` that of the folder."""
    parts = ["steelyard", *file.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def files() -> dict[str, Path]:
    """Every module of the package."""
    return {module_name(file): file for file in sorted(SOURCE.rglob("*.py"))}


@cache
def tree(file: Path) -> ast.Module:
    """The syntax of a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


def imported(file: Path) -> Iterator[tuple[str, str]]:
    """What a file imports of the package: module, and name (empty for the module itself)."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.startswith("steelyard"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("steelyard"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in files():
                    yield whole, ""
                # A function may be called as the file it stands in.
                if whole not in files() or alias.name in exported(files()[str(node.module)]):
                    yield str(node.module), alias.name


def importers() -> dict[str, set[str]]:
    """Modules by those that import them; front doors, which import all of their folder, do not count."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, file in files().items():
        for module, _ in imported(file):
            if module != name and file.name != "__init__.py":
                found[module].add(name)
    return found


def exported(file: Path) -> list[str]:
    """The names of a file's `__all__`."""
    for node in tree(file).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            try:
                return list(ast.literal_eval(node.value))
            except ValueError:
                return []
    return []


def public_names() -> dict[str, list[str]]:
    """Public functions and classes by the modules that define them."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, file in files().items():
        for node in tree(file).body:
            public = isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
            # Overloads are one function.
            if public and name not in found[node.name]:
                found[node.name].append(name)
    return {name: homes for name, homes in found.items() if homes}


def code_lines(file: Path) -> tuple[int, int]:
    """Lines with code, docstrings and comments left out, and how many of them import or export."""
    docstrings: set[int] = set()
    imports: set[int] = set()
    for node in ast.walk(tree(file)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        is_all = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        if isinstance(node, ast.Import | ast.ImportFrom) or is_all:
            imports.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    quiet = (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
    )
    with file.open("rb") as stream:
        lines = {
            line
            for token in tokenize.tokenize(stream.readline)
            if token.type not in quiet and token.type != tokenize.ENDMARKER
            for line in range(token.start[0], token.end[0] + 1)
        }
    code = lines - docstrings
    return len(code), len(code & imports)


def unused_exports() -> dict[str, list[str]]:
    """Names in front doors that no other room, example or page takes; benches and papers enter by files."""
    used: set[tuple[str, str]] = set()
    outside = (ROOT / "examples").rglob("*.py")
    for file in (*files().values(), *outside):
        room = file.relative_to(SOURCE).parts[0] if file.is_relative_to(SOURCE) else ""
        # `room.function`, with the room imported as a whole.
        words = {node.attr for node in ast.walk(tree(file)) if isinstance(node, ast.Attribute)}
        for module, name in imported(file):
            if module.split(".")[1:2] != [room]:
                used |= {(module, word) for word in ({name} if name else words)}
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for module, names in re.findall(r"from (steelyard[.\w]*) import ([\w, ]+)", page.read_text()):
            used |= {(module, name.strip()) for name in names.split(",")}
    unused = {}
    for module, file in files().items():
        if file.name == "__init__.py" and module != "steelyard":
            names = [name for name in exported(file) if (module, name) not in used]
            if names:
                unused[module] = names
    return unused


WALK = """
import json, sys
from pathlib import Path
import steelyard
root = str(Path(steelyard.__file__).parent)
seen = set()
def note(frame, event, arg):
    # Bodies of modules and classes run as they are loaded; what counts is functions.
    if event == "call" and frame.f_code.co_flags & 1 and frame.f_code.co_filename.startswith(root):
        seen.add(frame.f_code.co_filename)
from steelyard.cli import main
sys.argv = json.loads(sys.argv[1])
sys.setprofile(note)
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
ours = sum(1 for name in sys.modules if name == "steelyard" or name.startswith("steelyard."))
print(json.dumps({"files": len(seen), "modules": ours}), file=sys.stderr)
"""


def walked(arguments: list[str], folder: Path) -> dict[str, int]:
    """Files that a command runs a function of, and modules of ours that it loads."""
    run = subprocess.run(
        [sys.executable, "-c", WALK, json.dumps(["steelyard", *arguments])],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, int] = json.loads(run.stderr.strip().splitlines()[-1])
    return found


def census() -> dict[str, Any]:
    """All figures."""
    sources = files()
    counts = [code_lines(file) for file in sources.values()]
    users = importers()
    inner = [name for name, file in sources.items() if file.name not in ("__init__.py", "__main__.py")]
    one = [name for name in inner if len(users[name]) == 1]
    at_home = [name for name in one if next(iter(users[name])).rpartition(".")[0] == name.rpartition(".")[0]]
    unused = unused_exports()
    idle = [f"{x.module}.{x.name}" for x in unreached()]
    twice = {name: homes for name, homes in public_names().items() if len(homes) > 1}
    doors = [len(exported(file)) for module, file in sources.items() if file.name == "__init__.py"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        steelyard = [sys.executable, "-m", "steelyard"]
        motion = [
            "excite",
            "two_link",
            "--out",
            "m.json",
            "--floor",
            "none",
            "--rounds",
            "1",
            "--period",
            "4",
        ]
        subprocess.run([*steelyard, *motion], cwd=folder, capture_output=True, check=False)
        run = ["simulate", "two_link", "m.json", "--out", "log.csv", "--sensor", "industrial"]
        subprocess.run([*steelyard, *run], cwd=folder, capture_output=True, check=True)
        identify = walked(["identify", "two_link", "log.csv", "--out", "result"], folder)
    return {
        "files": len(sources),
        "lines": sum(len(file.read_text().splitlines()) for file in sources.values()),
        "code lines": sum(code for code, _ in counts),
        "import lines, percent of code": round(
            100.0 * sum(i for _, i in counts) / sum(c for c, _ in counts), 1
        ),
        "modules": len(inner),
        "modules with one importer": len(one),
        "of these, with the importer in their own folder": len(at_home),
        "public names": len(public_names()),
        "public names with two meanings": len(twice),
        "names in front doors": sum(doors),
        "names in front doors that nobody uses": sum(map(len, unused.values())),
        "definitions that no user reaches": len(idle),
        "files that identify walks through": identify["files"],
        "modules that identify loads": identify["modules"],
        "largest files": Counter(
            {n: len(f.read_text().splitlines()) for n, f in sources.items()}
        ).most_common(5),
        "doors that nobody enters by": unused,
        "unreached": idle,
        "names with two meanings": dict(sorted(twice.items())),
        "private halves": sorted(at_home),
    }


def main() -> None:
    """Print the figures."""
    found = census()
    if "--json" in sys.argv:
        print(json.dumps(found, indent=2))
        return
    for what, value in found.items():
        print(f"{what}: {value}")


if __name__ == "__main__":
    main()
