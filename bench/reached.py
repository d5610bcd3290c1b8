"""Which definitions of the package somebody reaches: a command, the front door, a paper, a bench, a page.

The syntax is read from what a user starts to all that it names. A function, a class or a table of a module is
reached when reached code names it, through whatever front doors it is imported; a method when its class is
reached and its name stands somewhere in reached code after a dot, or as a text, as `getattr` takes it.
Methods of a class with a base of another library are that library's to call; a template is compiled whole.
What `__all__` lists and what a front door imports is named by nobody. So nothing that runs is missed, and a
method that shares its name with one that is used counts as used.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "steelyard"
USERS = ("bench", "examples", "papers")
PAGES = ("README.md", "docs/*.md")
PLAIN_BASES = {"ABC", "Protocol", "Generic", "NamedTuple", "TypedDict", "Enum", "StrEnum", "IntEnum"}
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Definition:
    """Something that a module or a class defines.

    Attributes:
        module: dotted name of the module.
        name: `function`, `Class`, `Class.method` or `TABLE`.
        nodes: the code that is reached with it.
        counted: whether it is one of the definitions that are counted: not a table, not private.
        line: where it stands.
    """

    module: str
    name: str
    nodes: list[ast.AST]
    counted: bool
    line: int


@dataclass
class Module:
    """A module: what it defines, what its names mean, and what runs when it is loaded."""

    name: str
    definitions: dict[str, Definition] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    loaded: list[ast.AST] = field(default_factory=list)
    template: bool = False


def module_name(file: Path) -> str:
    """Dotted name of a source file; of a folder's `__init__.py` that of the folder."""
    parts = ["steelyard", *file.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module, those under conditions included."""
    for node in body:
        if isinstance(node, ast.If | ast.Try | ast.With):
            for name in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                yield from _statements(handler.body)
            if isinstance(node, ast.If):
                yield ast.Expr(node.test)
        else:
            yield node


def _aliases(tree: ast.AST) -> dict[str, tuple[str, str]]:
    """What imported names mean, wherever in a file they are imported: module, and name (empty for itself)."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("steelyard"):
            for alias in node.names:
                found[alias.asname or alias.name] = (str(node.module), alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "steelyard":
                    found[alias.asname or "steelyard"] = (alias.name if alias.asname else "steelyard", "")
    return found


def _targets(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        return [x.id for target in node.targets for x in ast.walk(target) if isinstance(x, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _is_public(name: str) -> bool:
    return not name.startswith("_")


def read_module(name: str, tree: ast.Module) -> Module:
    """Take a module apart.

    Args:
        name: its dotted name.
        tree: its syntax.

    Returns:
        What it defines and imports.
    """
    template = "\nA template" in (ast.get_docstring(tree) or "")
    module = Module(name, imports=_aliases(tree), template=template)
    for node in _statements(tree.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, Function):
            _add(module, node.name, [node], _is_public(node.name), node.lineno)
            # What registers a function when the module is loaded reaches it.
            if any(_registers(x) for x in node.decorator_list):
                module.loaded.append(node)
        elif isinstance(node, ast.ClassDef):
            methods = [x for x in node.body if isinstance(x, Function)]
            rest: list[ast.AST] = [x for x in node.body if not isinstance(x, Function)]
            rest += [*node.bases, *node.decorator_list, *(x.value for x in node.keywords)]
            rest += [x for x in methods if x.name.startswith("__")]
            _add(module, node.name, rest, _is_public(node.name), node.lineno)
            foreign = [x for x in node.bases if not _ours(x, module, tree)]
            for method in methods:
                if foreign:
                    module.definitions[node.name].nodes.append(method)
                elif not method.name.startswith("__"):
                    public = _is_public(node.name) and _is_public(method.name)
                    _add(module, f"{node.name}.{method.name}", [method], public, method.lineno)
        elif names := _targets(node):
            if names != ["__all__"]:
                for target in names:
                    _add(module, target, [node], False, node.lineno)
        else:
            module.loaded.append(node)
    return module


def _ours(base: ast.expr, module: Module, tree: ast.Module) -> bool:
    """Whether a base class is ours, or one that calls no method of those made of it."""
    name = ast.unparse(base).split("[")[0].split(".")[0]
    local = any(isinstance(x, ast.ClassDef) and x.name == name for x in tree.body)
    return local or name in module.imports or name in PLAIN_BASES or hasattr(builtins, name)


def _add(module: Module, name: str, nodes: list[ast.AST], counted: bool, line: int) -> None:
    if name in module.definitions:
        module.definitions[name].nodes += nodes
    else:
        module.definitions[name] = Definition(module.name, name, nodes, counted, line)


def _registers(decorator: ast.expr) -> bool:
    """Whether a decorator hands the function to somebody else, such as Numba or the command line."""
    text = ast.unparse(decorator)
    return text.startswith(("app.", "overload(", "register_", "lower_", "type_callable(", "intrinsic"))


class Reach:
    """Walks from users to all that they reach."""

    def __init__(self, modules: dict[str, Module]) -> None:
        """Start with nothing reached.

        Args:
            modules: of the package, by name.
        """
        self.modules = modules
        self.reached: set[tuple[str, str]] = set()
        self.words: set[str] = set()
        self.loaded: set[str] = set()
        self.waiting: dict[str, list[Definition]] = defaultdict(list)
        self.todo: list[tuple[Module, ast.AST]] = []

    def resolve(
        self, module: str, name: str, seen: frozenset[tuple[str, str]] = frozenset()
    ) -> tuple[str, str] | None:
        """Where a name of a module is defined, through front doors; None for what is not ours."""
        if (module, name) in seen or module not in self.modules:
            return None
        home = self.modules[module]
        if name in home.definitions:
            return module, name
        if name in home.imports:
            other, what = home.imports[name]
            return (
                (other, "")
                if not what
                else self.resolve(other, what, seen | {(module, name)})
                or ((f"{other}.{what}", "") if f"{other}.{what}" in self.modules else None)
            )
        return (f"{module}.{name}", "") if f"{module}.{name}" in self.modules else None

    def mark(self, module: str, name: str) -> None:
        """Reach a definition, and with it what it holds."""
        if (module, name) in self.reached or name not in self.modules[module].definitions:
            return
        self.reached.add((module, name))
        self.load(module)
        self._walk_later(module, self.modules[module].definitions[name])
        if "." not in name:
            for other in self.modules[module].definitions.values():
                if other.name.startswith(f"{name}."):
                    word = other.name.rpartition(".")[2]
                    if word in self.words:
                        self.mark(module, other.name)
                    else:
                        self.waiting[word].append(other)

    def load(self, module: str) -> None:
        """Reach what runs when a module is loaded."""
        if module not in self.loaded:
            self.loaded.add(module)
            self.todo += [(self.modules[module], node) for node in self.modules[module].loaded]
            if self.modules[module].template:
                for name in self.modules[module].definitions:
                    self.mark(module, name)

    def _walk_later(self, module: str, definition: Definition) -> None:
        self.todo += [(self.modules[module], node) for node in definition.nodes]

    def word(self, word: str) -> None:
        """Reach methods by a name that stands after a dot or as a text."""
        if word not in self.words:
            self.words.add(word)
            for method in self.waiting.pop(word, []):
                self.mark(method.module, method.name)

    def name(self, module: Module, name: str) -> None:
        """Reach what a name means in a module."""
        if name in module.definitions and module.name in self.modules:
            self.mark(module.name, name)
        elif name in module.imports:
            other, what = module.imports[name]
            found = (other, "") if not what else self.resolve(other, what)
            if found is None and f"{other}.{what}" in self.modules:
                found = (f"{other}.{what}", "")
            if found is not None and found[1]:
                self.mark(*found)
            elif found is not None and found[0] in self.modules:
                self.load(found[0])

    def walk(self, module: Module, node: ast.AST) -> None:
        """Reach all that a piece of code names."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                self.name(module, part.id)
            elif isinstance(part, ast.Attribute):
                self.word(part.attr)
                self._dotted(module, part)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                self._text(module, part.value)

    def _dotted(self, module: Module, part: ast.Attribute) -> None:
        """`room.function`, with the room imported as a module."""
        names = [part.attr]
        base = part.value
        while isinstance(base, ast.Attribute):
            names.insert(0, base.attr)
            base = base.value
        if not isinstance(base, ast.Name) or base.id not in module.imports:
            return
        other, what = module.imports[base.id]
        where: tuple[str, str] | None = (other, "")
        if what:
            where = self.resolve(other, what) or (
                (f"{other}.{what}", "") if f"{other}.{what}" in self.modules else None
            )
        for name in names:
            if where is None or where[1]:
                return
            where = self.resolve(where[0], name)
            if where is not None and where[1]:
                self.mark(*where)

    def _text(self, module: Module, text: str) -> None:
        """A text may name a method, a function of its own module, or a module with a function of it."""
        if len(text) > 200:
            return
        if IDENTIFIER.fullmatch(text):
            self.word(text)
            self.name(module, text)
        elif match := re.fullmatch(r"(steelyard[\w.]*)(?::(\w+))?", text):
            if match[1] in self.modules:
                self.load(match[1])
                if match[2] and (found := self.resolve(match[1], match[2])):
                    self.mark(*found)
        elif match := re.fullmatch(r"\w*:(\w+)", text):
            # A task of a campaign, `f"{ROOM}:function"` or `"file:function"`.
            folder = module.name.rpartition(".")[0]
            for name in self.modules:
                if name.startswith(folder):
                    self.mark(name, match[1])
        else:
            # A quoted annotation.
            for name in IDENTIFIER.findall(text) if re.fullmatch(r"[\w.\[\], |]+", text) else ():
                self.name(module, name)

    def run(self) -> None:
        """Walk until nothing new is reached."""
        while self.todo:
            self.walk(*self.todo.pop())


@cache
def modules() -> dict[str, Module]:
    """Every module of the package, taken apart."""
    return {
        module_name(file): read_module(module_name(file), ast.parse(file.read_text(encoding="utf-8")))
        for file in sorted(SOURCE.rglob("*.py"))
    }


def _python_of(page: str) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", page, re.S))


def users() -> Iterator[ast.Module]:
    """Code of users: papers, benches, examples, and what pages of the documentation show."""
    for folder in USERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if file != Path(__file__):
                yield ast.parse(file.read_text(encoding="utf-8"))
    for pattern in PAGES:
        for file in sorted(ROOT.glob(pattern)):
            yield ast.parse(_python_of(file.read_text(encoding="utf-8")))


def unreached() -> list[Definition]:
    """Public functions, classes and methods that no user reaches, in the order of the sources."""
    package = modules()
    reach = Reach(package)
    front = package["steelyard"]
    for home, what in front.imports.values():
        if what and home.startswith("steelyard"):
            found = reach.resolve(home, what)
            if found is not None and found[1]:
                reach.mark(*found)
    for name in ("__getattr__", "__dir__"):
        reach.mark("steelyard", name)
    reach.mark("steelyard.cli", "command")
    reach.load("steelyard.__main__")
    # The command line loads the module of a command by its name.
    for name in ast.literal_eval(package["steelyard.cli.app"].definitions["COMMANDS"].nodes[0].value):  # type: ignore[attr-defined]
        for what in (name, "COMMAND_CLASS"):
            found = reach.resolve(f"steelyard.cli.{name}", what)
            if found is not None and found[1]:
                reach.mark(*found)
    for number, tree in enumerate(users()):
        reach.todo.append((Module(f"user {number}", imports=_aliases(tree)), tree))
    reach.run()
    return [
        definition
        for module in package.values()
        for definition in module.definitions.values()
        if definition.counted and (module.name, definition.name) not in reach.reached
    ]


def main() -> None:
    """Print them."""
    found = unreached()
    for definition in found:
        print(f"{definition.module}:{definition.line}: {definition.name}")
    print(len(found))


if __name__ == "__main__":
    main()
