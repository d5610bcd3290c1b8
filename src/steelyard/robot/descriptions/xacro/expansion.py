"""Xacro expanded: macros, properties and conditions become the tree they describe."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from steelyard.errors import DescriptionError
from steelyard.files import FilePath
from steelyard.robot.descriptions.meshes import mesh_source
from steelyard.robot.descriptions.source_edits import SourceTexts
from steelyard.robot.descriptions.urdf import robot_from_urdf_element
from steelyard.robot.descriptions.xacro.expression import (
    ExpansionBudget,
    Fault,
    Members,
    evaluate_expression,
    known_names,
    shown,
)
from steelyard.robot.descriptions.xacro.files import (
    MAX_YAML_BYTES,
    FileMissing,
    SourceFiles,
    parse_yaml,
)
from steelyard.robot.descriptions.xml import Element
from steelyard.robot.model import Robot

# Macros: a name, parameters with their defaults, and a body.

# Every repetition is possessive: no text makes the search go back over what it has read.
_PARAMETER = re.compile(
    r"""\s*+ (?P<name> [^\s:=]++ )
        (?: \s*+ :?= \s*+ (?P<outer> \^\|? )?+
            (?P<default> (?: \$\{[^}]*+\} | \$\([^)]*+\) | '[^']*+' | "[^"]*+" | [^\s'"] )*+ ) )?+
        (?: \s++ | $ )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class MacroParameter:
    """One parameter of a macro.

    Attributes:
        name: starts with `*` where it takes an element, with `**` where it takes an element's children.
        inherits: whether it takes the value that the caller's property of this name has.
        default: text of the value where none is given, evaluated in the caller's scope.
    """

    name: str
    inherits: bool = False
    default: str | None = None

    @property
    def is_block(self) -> bool:
        """Whether it takes elements."""
        return self.name.startswith("*")


@dataclass(frozen=True)
class Macro:
    """A macro.

    Attributes:
        name: as it is called.
        parameters: in the order they are stated.
        body: the `<xacro:macro>` itself.
    """

    name: str
    parameters: tuple[MacroParameter, ...]
    body: Element


def read_macro(element: Element) -> Macro:
    """Read the definition of a macro.

    Args:
        element: the `<xacro:macro>`.

    Raises:
        Fault: the name is taken, or the parameters cannot be understood.
    """
    name = element.text("name").removeprefix("xacro:")
    if name == "call" or "." in name:
        raise Fault(f"a macro cannot be named '{shown(name)}'.", "Use neither 'call' nor a dot.")
    return Macro(name, _parameters(element.attributes.get("params", "")), element)


def _parameters(text: str) -> tuple[MacroParameter, ...]:
    parameters: dict[str, MacroParameter] = {}
    at = len(text) - len(text.lstrip())
    while at < len(text):
        match = _PARAMETER.match(text, at)
        if match is None:
            raise Fault(f"the parameters cannot be understood from '{shown(text[at:])}' on.")
        name, outer, default = match["name"], match["outer"], match["default"]
        parameters[name] = MacroParameter(name, outer is not None, default or None)
        at = match.end()
    return tuple(parameters.values())


# Scopes: which properties, blocks and macros are known at a place of the file.


@dataclass
class Lazy:
    """A property whose text is evaluated when it is first asked for, in the scope that holds it.

    Attributes:
        text: as the file states it.
        place: file and line that state it.
        busy: whether it is being evaluated at the moment.
    """

    text: str
    place: str
    busy: bool = False


@dataclass
class Scope:
    """What is known inside a file or a macro; what is not found here is looked for in the one around it.

    A macro's scope lies inside its caller's, so that its body sees what the caller sees.

    Attributes:
        parent: the scope around it.
        namespace: whether it holds the contents of a file included under a name of its own.
        values: properties and namespaces by name.
        blocks: elements by name, which starts with `*` for one and `**` for the children of one.
        macros: macros by name.
    """

    parent: Scope | None = None
    namespace: bool = False
    values: dict[str, object] = field(default_factory=dict)
    blocks: dict[str, Element] = field(default_factory=dict)
    macros: dict[str, Macro] = field(default_factory=dict)

    def outward(self) -> Iterator[Scope]:
        """This scope and those around it, the nearest first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def holder(self, name: str) -> Scope | None:
        """The nearest scope that holds a property."""
        return next((scope for scope in self.outward() if name in scope.values), None)

    def block(self, name: str) -> Element | None:
        """The nearest block of a name."""
        return next((scope.blocks[name] for scope in self.outward() if name in scope.blocks), None)

    def macro(self, name: str) -> tuple[Macro, Scope]:
        """A macro, and the scope its body is expanded in: the caller's, or that of its namespace."""
        for scope in self.outward():
            if name in scope.macros:
                return scope.macros[name], self
        space, dot, rest = name.partition(".")
        holder = self.holder(space) if dot else None
        inner = holder.values[space] if holder is not None else None
        if isinstance(inner, Scope):
            return inner.macro(rest)
        known = sorted({known for scope in self.outward() for known in scope.macros})
        listed = ", ".join(shown(known_name) for known_name in known[:20]) or "none"
        raise Fault(
            f"<xacro:{shown(name)}> is neither an instruction of xacro nor a macro.",
            f"Macros known here: {listed}.",
        )

    def of_property(self, stated: str) -> Scope:
        """The scope that a property's `scope` attribute names."""
        *_, outermost = self.outward()
        if stated == "global":
            return outermost
        if self.parent is None:
            raise Fault(
                "there is no parent scope outside of every macro.", "Leave the attribute 'scope' out."
            )
        around = self.parent
        # A macro called through a namespace sits in it; its parent is whoever called.
        while around.namespace and not self.namespace and around.parent is not None:
            around = around.parent
        return around

    def remove(self, name: str) -> None:
        """Forget a property, here and in every scope around."""
        for scope in self.outward():
            scope.values.pop(name, None)


def checked_name(name: str) -> str:
    """A name that expressions can use.

    Args:
        name: of a property.

    Raises:
        Fault: an expression could not name it.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
        raise Fault(f"'{shown(name)}' cannot name a property.", "Use letters, digits and underscores.")
    return name


def literal(value: object) -> object:
    """What a property's text means by itself: a number, a truth, or the text without its single quotes.

    Args:
        value: a text, or a value already.

    Returns:
        The value.
    """
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    # Python takes 1_0 for a number, where it is a name with a digit in a description.
    if "_" in value:
        return value
    for read in (int, float):
        try:
            return read(value)
        except ValueError:
            pass
    return {"true": True, "True": True, "false": False, "False": False}.get(value, value)


# Texts with `${expressions}` and `$(substitutions)` in them, into values.

_PIECE = re.compile(
    r"""(?P<escape> \$\$+[{(] ) | \$\{ (?P<expression> [^}]* ) \} | \$\( (?P<substitution> [^)]* ) \)
        | (?P<plain> [^$]+ | \$[^{($]+ | \$\Z )""",
    re.VERBOSE,
)
_TRUTHS = {"true": True, "True": True, "false": False, "False": False}


class Texts:
    """Evaluates the texts of one description."""

    def __init__(self, files: SourceFiles, arguments: Mapping[str, str], budget: ExpansionBudget) -> None:
        """Start with what is known before the first line is read.

        Args:
            files: where YAML is read from.
            arguments: values of `$(arg …)` given by the caller.
            budget: what the expansion may cost.
        """
        self.arguments = {name: str(value) for name, value in arguments.items()}
        self._files = files
        self._budget = budget
        of_this_file = {"load_yaml": self._yaml, "abs_filename": self._absolute, "arg": self._argument}
        self._names = known_names(of_this_file)
        self._tables: dict[Path, object] = {}

    def value(self, text: str, scope: Scope) -> object:
        """What a text means: the value of its only expression, or a text with all of them written out."""
        self._budget.spend(1 + len(text) // 10)
        pieces: list[object] = []
        at = 0
        while at < len(text):
            piece = _PIECE.match(text, at)
            if piece is None:
                raise Fault(f"'{shown(text[at:])}' starts an expression that does not end.", "Close it.")
            if piece["expression"] is not None:
                source = str(self.value(piece["expression"], scope))
                pieces.append(evaluate_expression(source, lambda name: self.known(name, scope), self._budget))
            elif piece["substitution"] is not None:
                pieces.append(self._substitution(str(self.value(piece["substitution"], scope))))
            else:
                pieces.append(piece["plain"] or piece["escape"][1:])
            at = piece.end()
        if len(pieces) == 1:
            return pieces[0]
        whole = "".join(str(piece) for piece in pieces)
        self._budget.spend(len(whole) // 10)
        return whole

    def written(self, text: str, scope: Scope) -> str:
        """A text with its expressions written out."""
        whole = str(self.value(text, scope))
        self._budget.spend(len(whole) // 10)
        return whole

    def truth(self, text: str, scope: Scope) -> bool:
        """Whether a condition holds: `true` and `false`, or a number that is not zero."""
        value = self.value(text, scope)
        if not isinstance(value, str):
            return bool(value)
        if value in _TRUTHS:
            return _TRUTHS[value]
        try:
            return bool(int(value))
        except ValueError:
            raise Fault(
                f"the condition '{shown(text)}' is '{shown(value)}', neither true nor false."
            ) from None

    def known(self, name: str, scope: Scope) -> object:
        """The value of a name: a property of this scope or one around it, or what every expression knows."""
        holder = scope.holder(name)
        if holder is not None:
            return self._property(name, holder)
        if name in self._names:
            return self._names[name]
        visible = sorted({known for around in scope.outward() for known in around.values})
        listed = ", ".join(visible[:20]) + (", …" if len(visible) > 20 else "") if visible else "none"
        raise Fault(f"asks for '{shown(name)}', which is not defined.", f"Properties known here: {listed}.")

    def _property(self, name: str, holder: Scope) -> object:
        value = holder.values[name]
        if isinstance(value, Scope):
            space = value
            return Members(lambda member: self.known(member, space))
        if not isinstance(value, Lazy):
            return value
        if value.busy:
            raise Fault(f"asks for '{shown(name)}', which is defined by itself.", 'Use lazy_eval="false".')
        value.busy = True
        try:
            with self._budget.level():
                holder.values[name] = found = literal(self.value(value.text, holder))
        except Fault as fault:
            raise DescriptionError(
                f"property '{shown(name)}': {fault.message}", place=value.place, remedy=fault.remedy
            ) from None
        finally:
            value.busy = False
        return found

    def _substitution(self, content: str) -> str:
        command, _, rest = content.strip().partition(" ")
        words = rest.split()
        match command, words:
            case "eval", _:
                return str(evaluate_expression(rest, self._eval_name, self._budget))
            case "arg", [name]:
                return self._argument(name)
            case "find", [package]:
                return str(self._files.package(package))
            case "dirname", []:
                return str(self._files.folder)
            case "optenv", [_, *default]:
                return " ".join(default)
            case "env", [name]:
                raise Fault(
                    f"$(env {shown(name)}) asks for a variable of the environment, which is not given.",
                    "Use $(arg …) and give its value.",
                )
        raise Fault(
            f"$({shown(content)}) cannot be understood.",
            "Valid: $(arg NAME), $(find PACKAGE), $(dirname), $(optenv NAME DEFAULT), $(eval EXPRESSION).",
        )

    def _argument(self, name: str) -> str:
        if name not in self.arguments:
            raise Fault(
                f"the argument '{shown(name)}' has no value.",
                f'Pass it as an argument, or state a default: <xacro:arg name="{shown(name)}" default="…"/>.',
            )
        return self.arguments[name]

    def _eval_name(self, name: str) -> object:
        """Names of `$(eval …)`: arguments as what they look like, and no properties."""
        own: dict[str, object] = {
            **{"true": True, "false": False},
            "arg": lambda argument: literal(self._argument(argument)),
            "find": lambda package: str(self._files.package(package)),
            "dirname": lambda: str(self._files.folder),
            "optenv": lambda _name, default="": default,
        }
        if name in own or name in self._names:
            return own[name] if name in own else self._names[name]
        return literal(self._argument(name))

    def _absolute(self, name: str) -> str:
        return str(self._files.folder / name)

    def _yaml(self, name: str) -> object:
        path = self._files.find(name)
        if path not in self._tables:
            content = self._files.content(path, MAX_YAML_BYTES)
            self._tables[path] = parse_yaml(content, shown(path.name), self._number)
        return self._tables[path]

    def _number(self, text: str) -> object:
        return evaluate_expression(text, self._names.__getitem__, self._budget)


# A tree with xacro's instructions into the tree they describe; every element keeps the line it came from.

_FRAGMENT = ""
"""Tag of an element that only carries children to where they belong."""


@dataclass
class ExpandedElement(Element):
    """An element of the expanded tree.

    Attributes:
        source: the element it was made from.
    """

    source: Element | None = None

    @property
    def stated(self) -> Element:
        """The element of the file behind it, through the blocks that were handed on."""
        element: Element = self
        while isinstance(element, ExpandedElement) and element.source is not None:
            element = element.source
        return element


class Expansion:
    """Expands one description, in the order of its lines."""

    def __init__(self, files: SourceFiles, texts: Texts, budget: ExpansionBudget) -> None:
        """Start with nothing defined.

        Args:
            files: where included files are read from.
            texts: evaluates attributes.
            budget: what the expansion may cost.
        """
        self._files = files
        self._texts = texts
        self._budget = budget
        self._instructions: dict[str, Callable[[Element, Element, Scope], None]] = {
            "xacro:property": self._property,
            "xacro:macro": self._macro,
            "xacro:call": self._dynamic_call,
            "xacro:insert_block": self._insert_block,
            "xacro:include": self._include,
            "xacro:if": self._if,
            "xacro:unless": self._unless,
            "xacro:arg": self._arg,
            "xacro:element": self._named_element,
            "xacro:attribute": self._attribute,
        }

    def expand(self, root: Element) -> Element:
        """Expand a tree.

        Args:
            root: its root element, which stays as it is.

        Returns:
            A tree without xacro's instructions.

        Raises:
            DescriptionError: an instruction cannot be followed; names its line.
        """
        carrier = self._fragment(root)
        self._child(root, carrier, Scope(), self._root)
        return carrier.children[0]

    def _root(self, source: Element, into: Element, scope: Scope) -> None:
        """The root's attributes come last: its name may be an argument whose default stands inside."""
        element = ExpandedElement(source.tag, {}, source.file, source.line, source=source)
        self._content(source, element, scope)
        element.attributes = self._attributes(source, scope) | element.attributes
        into.children.append(element)

    def _content(self, source: Element, into: Element, scope: Scope) -> None:
        """Expand the children of one element into another, each seeing what those before it defined."""
        with self._budget.level():
            for child in source.children:
                self._child(child, into, scope, self._handler(child.tag))

    def _child(
        self, child: Element, into: Element, scope: Scope, handler: Callable[[Element, Element, Scope], None]
    ) -> None:
        try:
            self._budget.spend(10)
            handler(child, into, scope)
        except Fault as fault:
            raise DescriptionError(fault.message, place=child.place, remedy=fault.remedy) from None
        except RecursionError:
            message = "elements, macros and expressions are nested too deeply."
            raise DescriptionError(message, place=child.place) from None

    def _handler(self, tag: str) -> Callable[[Element, Element, Scope], None]:
        if tag in self._instructions:
            return self._instructions[tag]
        return self._call if tag.startswith("xacro:") else self._plain

    def _plain(self, source: Element, into: Element, scope: Scope) -> None:
        self._budget.make_element()
        stated = self._attributes(source, scope)
        element = ExpandedElement(source.tag, stated, source.file, source.line, source=source)
        self._content(source, element, scope)
        into.children.append(element)

    def _attributes(self, source: Element, scope: Scope) -> dict[str, str]:
        return {
            name: self._texts.written(text, scope)
            for name, text in source.attributes.items()
            if not name.startswith("xacro:") and name != "xmlns:xacro"
        }

    def _fragment(self, source: Element) -> Element:
        return Element(_FRAGMENT, {}, source.file, source.line)

    def _spliced(self, source: Element, into: Element, scope: Scope) -> None:
        """Expand the children of an element that itself disappears."""
        fragment = self._fragment(source)
        self._content(source, fragment, scope)
        into.children += fragment.children

    def _property(self, source: Element, _into: Element, scope: Scope) -> None:
        name = checked_name(self._texts.written(source.text("name"), scope))
        stated = source.attributes
        if self._texts.truth(stated.get("remove", "false"), scope):
            scope.remove(name)
            return
        if "value" in stated and "default" in stated:
            raise Fault(f"property '{name}' states both a value and a default.", "Keep one of them.")
        if "default" in stated and scope.holder(name) is not None:
            return
        elsewhere = stated.get("scope") in ("global", "parent")
        target = scope.of_property(stated["scope"]) if elsewhere else scope
        text = stated.get("value", stated.get("default"))
        if text is None:
            target.blocks["**" + name] = source
            return
        value = literal(text)
        lazy = not elsewhere and self._texts.truth(stated.get("lazy_eval", "true"), scope)
        if not lazy:
            value = literal(self._texts.value(text, scope))
        elif isinstance(value, str):
            value = Lazy(value, source.place)
        target.values[name] = value

    def _macro(self, source: Element, _into: Element, scope: Scope) -> None:
        macro = read_macro(source)
        scope.macros[macro.name] = macro

    def _dynamic_call(self, source: Element, into: Element, scope: Scope) -> None:
        name = self._texts.written(source.text("macro"), scope)
        given = {key: text for key, text in source.attributes.items() if key != "macro"}
        self._call(replace(source, tag=f"xacro:{name}", attributes=given), into, scope)

    def _call(self, source: Element, into: Element, scope: Scope) -> None:
        macro, home = scope.macro(source.tag.removeprefix("xacro:"))
        inner = Scope(home)
        self._give_values(macro, source, inner, scope)
        self._give_blocks(macro, source, inner, scope)
        self._spliced(macro.body, into, inner)

    def _give_values(self, macro: Macro, source: Element, inner: Scope, caller: Scope) -> None:
        """Set the parameters of a macro to what its caller gives, inherits or leaves to the default."""
        given = {name: text for name, text in source.attributes.items() if not name.startswith("xmlns:")}
        wanted = [parameter.name for parameter in macro.parameters if not parameter.is_block]
        for name, text in given.items():
            if name not in wanted:
                listed = ", ".join(shown(known) for known in wanted) or "none"
                raise Fault(f"macro '{macro.name}' has no parameter '{shown(name)}'.", f"Valid: {listed}.")
            inner.values[name] = literal(self._texts.value(text, caller))
        for parameter in macro.parameters:
            if parameter.is_block or parameter.name in given:
                continue
            if parameter.inherits and caller.holder(parameter.name) is not None:
                value = self._texts.known(parameter.name, caller)
            elif parameter.default is not None:
                value = self._texts.value(parameter.default, caller)
            else:
                raise Fault(
                    f"macro '{macro.name}' needs the parameter '{shown(parameter.name)}'.",
                    f"It is defined at {macro.body.place}.",
                )
            inner.values[parameter.name] = literal(value)

    def _give_blocks(self, macro: Macro, source: Element, inner: Scope, caller: Scope) -> None:
        """Hand the elements inside a call to the macro, expanded as the caller sees them, in their order."""
        given = self._fragment(source)
        self._content(source, given, caller)
        wanted = [parameter.name for parameter in macro.parameters if parameter.is_block]
        if len(given.children) != len(wanted):
            raise Fault(
                f"macro '{macro.name}' takes {len(wanted)} blocks, got {len(given.children)}.",
                f"It is defined at {macro.body.place}.",
            )
        inner.blocks.update(zip(wanted, given.children, strict=True))

    def _insert_block(self, source: Element, into: Element, scope: Scope) -> None:
        name = source.text("name")
        children_of, whole = scope.block("**" + name), scope.block("*" + name)
        if children_of is not None:
            self._spliced(children_of, into, scope)
        elif whole is not None:
            self._plain(whole, into, scope)
        else:
            raise Fault(
                f"there is no block '{shown(name)}' here.", "Name it '*' or '**' among the parameters."
            )

    def _include(self, source: Element, into: Element, scope: Scope) -> None:
        name = self._texts.written(source.text("filename"), scope)
        inner = scope
        if source.attributes.get("ns"):
            inner = Scope(scope, namespace=True)
            scope.values[self._texts.written(source.attributes["ns"], scope)] = inner
        try:
            paths = self._files.matches(name)
        except FileMissing:
            if source.attributes.get("optional") in ("true", "True", "1"):
                return
            raise
        for path in paths:
            with self._files.inside(path):
                self._spliced(self._files.tree(path), into, inner)

    def _if(self, source: Element, into: Element, scope: Scope) -> None:
        if self._texts.truth(source.text("value"), scope):
            self._spliced(source, into, scope)

    def _unless(self, source: Element, into: Element, scope: Scope) -> None:
        if not self._texts.truth(source.text("value"), scope):
            self._spliced(source, into, scope)

    def _arg(self, source: Element, _into: Element, scope: Scope) -> None:
        name = source.text("name")
        if "default" in source.attributes and name not in self._texts.arguments:
            self._texts.arguments[name] = self._texts.written(source.attributes["default"], scope)

    def _named_element(self, source: Element, into: Element, scope: Scope) -> None:
        tag = self._texts.written(source.text("xacro:name"), scope)
        rest = {key: text for key, text in source.attributes.items() if key != "xacro:name"}
        self._child(replace(source, tag=tag, attributes=rest), into, scope, self._handler(tag))

    def _attribute(self, source: Element, into: Element, scope: Scope) -> None:
        if into.tag == _FRAGMENT:
            raise Fault(
                "<xacro:attribute> stands inside another instruction of xacro, where it is lost.",
                "Put it directly inside the element it is for.",
            )
        into.attributes[self._texts.written(source.text("name"), scope)] = self._texts.written(
            source.attributes.get("value", ""), scope
        )


# A xacro file into the tree it describes, and into a Robot.


def load_xacro(
    path: FilePath,
    *,
    arguments: Mapping[str, str] | None = None,
    snap: bool = False,
    floating: bool = False,
    package_path: Sequence[FilePath] = (),
) -> Robot:
    """Read a robot from a xacro file.

    The file may include others and read YAML inside its package, the nearest folder around it that has a
    `package.xml`, or else its own folder, and inside packages that it finds, see `packages`. It may not read
    anything else, nor the environment.

    Args:
        path: the file; meshes are looked for inside its package, and in those they name.
        arguments: values of its `<xacro:arg>`s, by name.
        snap: whether rounded numbers of joints are read as what they mean, see `load_urdf`.
        floating: whether the base is free to move, see `load_urdf`.
        package_path: folders in which packages are looked for.

    Returns:
        The robot; its `findings` name the lines of the xacro files.

    Raises:
        DescriptionError: the file cannot be expanded, or what it expands to is no robot.
    """
    _, robot = read_xacro(
        Path(path), arguments=arguments, snap=snap, floating=floating, package_path=package_path
    )
    return robot


def read_xacro(
    path: Path,
    *,
    arguments: Mapping[str, str] | None = None,
    snap: bool = False,
    floating: bool = False,
    package_path: Sequence[FilePath] = (),
    sources: SourceTexts | None = None,
) -> tuple[Element, Robot]:
    """Read a robot from a xacro file, with the tree it was read from.

    Args:
        path: the file, see `load_xacro`.
        arguments: as there.
        snap: as there.
        floating: as there.
        package_path: as there.
        sources: keeps what is read, with its places; None where nobody asks for them.

    Returns:
        The expanded tree, whose elements know those they were made from, and the robot.

    Raises:
        DescriptionError: the file cannot be expanded, or what it expands to is no robot.
    """
    files = SourceFiles(path, package_path, sources)
    root = _expanded(files, arguments)
    _name_meshes_from_root(root, files)
    meshes = mesh_source(files.root, package_path)
    return root, robot_from_urdf_element(root, path.name, meshes, snap=snap, floating=floating)


def expand_xacro(
    path: FilePath, *, arguments: Mapping[str, str] | None = None, package_path: Sequence[FilePath] = ()
) -> Element:
    """Expand a xacro file.

    Args:
        path: the file.
        arguments: values of its `<xacro:arg>`s, by name.
        package_path: folders in which packages are looked for.

    Returns:
        The root element; every element names the file and the line it was stated on.

    Raises:
        DescriptionError: an instruction cannot be followed; names its line.
    """
    return _expanded(SourceFiles(Path(path), package_path), arguments)


def _expanded(files: SourceFiles, arguments: Mapping[str, str] | None) -> Element:
    budget = ExpansionBudget()
    texts = Texts(files, arguments or {}, budget)
    return Expansion(files, texts, budget).expand(files.read_main())


def _name_meshes_from_root(root: Element, files: SourceFiles) -> None:
    """Name meshes as seen from the root folder, or by package: where they lie is no part of the robot."""
    for mesh in root.descendants():
        name = mesh.attributes.get("filename", "")
        path = name.removeprefix("file://")
        if mesh.tag != "mesh" or not path or "://" in path:
            continue
        full = files.main.parent / path
        if full.is_relative_to(files.root):
            mesh.attributes["filename"] = full.relative_to(files.root).as_posix()
        elif (package := files.package_around(full)) is not None:
            rest = full.relative_to(package.folder).as_posix()
            mesh.attributes["filename"] = f"package://{package.name}/{rest}"
