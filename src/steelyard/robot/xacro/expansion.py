"""A tree with xacro's instructions into the tree they describe; every element keeps the line it came from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from steelyard.errors import DescriptionError
from steelyard.robot.xacro.budget import Budget, Fault, shown
from steelyard.robot.xacro.files import FileMissing, SourceFiles
from steelyard.robot.xacro.macro import Macro, read_macro
from steelyard.robot.xacro.scope import Lazy, Scope, checked_name, literal
from steelyard.robot.xacro.text import Texts
from steelyard.robot.xml import Element

_FRAGMENT = ""
"""Tag of an element that only carries children to where they belong."""


class Expansion:
    """Expands one description, in the order of its lines."""

    def __init__(self, files: SourceFiles, texts: Texts, budget: Budget) -> None:
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
        element = Element(source.tag, {}, source.file, source.line)
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
        element = Element(source.tag, self._attributes(source, scope), source.file, source.line)
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
