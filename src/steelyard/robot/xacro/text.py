"""Texts with `${expressions}` and `$(substitutions)` in them, into values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from steelyard.errors import DescriptionError
from steelyard.robot.xacro.budget import Budget, Fault, shown
from steelyard.robot.xacro.expression import evaluate
from steelyard.robot.xacro.files import SourceFiles
from steelyard.robot.xacro.functions import Members, known_names
from steelyard.robot.xacro.scope import Lazy, Scope, literal
from steelyard.robot.xacro.yaml_values import MAX_YAML_BYTES, parse_yaml

_PIECE = re.compile(
    r"""(?P<escape> \$\$+[{(] ) | \$\{ (?P<expression> [^}]* ) \} | \$\( (?P<substitution> [^)]* ) \)
        | (?P<plain> [^$]+ | \$[^{($]+ | \$\Z )""",
    re.VERBOSE,
)
_TRUTHS = {"true": True, "True": True, "false": False, "False": False}


class Texts:
    """Evaluates the texts of one description."""

    def __init__(self, files: SourceFiles, arguments: Mapping[str, str], budget: Budget) -> None:
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
                pieces.append(evaluate(source, lambda name: self.known(name, scope), self._budget))
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
                return str(evaluate(rest, self._eval_name, self._budget))
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
        return evaluate(text, self._names.__getitem__, self._budget)
