"""Random xacro files mean what the reference says; broken ones are expanded or refused, nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.dom.minidom import Element as DomElement

import numpy as np
import pytest
import xacro

from steelyard.errors import InputError
from steelyard.robot.descriptions.xacro.expansion import expand_xacro
from steelyard.robot.descriptions.xml import Element

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
Rng = np.random.Generator


def one_of(rng: Rng, choices: Sequence[str]) -> str:
    return choices[int(rng.integers(len(choices)))]


FORMS = (
    "({} + {})", "({} * {})", "({} - {})", "({} / ({} or 1))", "max({}, {})", "({} == {})", "({} and {})",
    "({} or {})", "({} if {} else 4)", "(not {})", "len(str({}))", "round({}, 3)", "[{}, {}][0]",
    "(1 &lt; {} &lt;= {})", "python.abs(int({}))", "python.sum([x for x in [1, {}] if x])",
)  # fmt: skip


def expression(rng: Rng, names: Sequence[str], depth: int = 2) -> str:
    """An expression that is a number as long as all its names are."""
    if depth == 0 or rng.random() < 0.3:
        return one_of(rng, [*names, "2", "0.5", "7", "pi", "True", "-3"])
    left, right = (expression(rng, names, depth - 1) for _ in range(2))
    return one_of(rng, FORMS).format(left, right)


def shown_expression(rng: Rng, names: Sequence[str]) -> str:
    """An expression of any kind, which only an attribute shows."""
    form = one_of(
        rng, ["{}", "{}", "str({}) + 't'", "[{}, 'u']", "({}, 1)", "dict(k={})", "'v' * int({} > 1)"]
    )
    return form.format(expression(rng, names))


class Program:
    """Writes a random xacro file: properties, macros, blocks, conditions, nested in each other."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.macros: list[tuple[str, list[str], bool]] = []

    def body(self, names: list[str], depth: int) -> str:
        return "\n".join(self.statement(names, depth) for _ in range(self.rng.integers(1, 5)))

    def statement(self, names: list[str], depth: int) -> str:
        value = "${" + expression(self.rng, names) + "}"
        kind = one_of(self.rng, ["property", "element", "element", "if", "macro", "call", "call", "scope"])
        if kind == "property":
            name = one_of(self.rng, "abcd")
            lazy = one_of(self.rng, ["", ' lazy_eval="false"'])
            names.append(name)
            return f'<xacro:property name="{name}" value="{value}"{lazy}/>'
        if kind == "scope":
            where = one_of(self.rng, ["global", "parent", "local"])
            return f'<xacro:property name="{one_of(self.rng, "abcd")}" value="{value}" scope="{where}"/>'
        if kind == "if" and depth:
            tag = one_of(self.rng, ["xacro:if", "xacro:unless"])
            return f'<{tag} value="{value}">{self.body(names, depth - 1)}</{tag}>'
        if kind == "macro" and depth:
            return self.macro(names, depth)
        if kind == "call" and self.macros:
            name, parameters, block = self.macros[int(self.rng.integers(len(self.macros)))]
            given = "".join(
                f' {parameter}="${{{expression(self.rng, names)}}}"'
                for parameter in parameters
                if self.rng.random() < 0.9
            )
            inside = f'<block v="{value}"/>' if block else ""
            return f"<xacro:{name}{given}>{inside}</xacro:{name}>"
        inner = self.body(list(names), depth - 1) if depth else ""
        shown = "${" + shown_expression(self.rng, names) + "}"
        return f'<e v="{shown}" w="x{value}y{shown}">{inner}</e>'

    def macro(self, names: list[str], depth: int) -> str:
        name = f"m{len(self.macros)}"
        parameters = [letter for letter in "abz" if self.rng.random() < 0.6]
        block = bool(self.rng.random() < 0.4)
        stated = [
            letter + one_of(self.rng, ["", ":=5", ":=^", ":=^|${2*3}", "=1.5"]) for letter in parameters
        ]
        content = self.body([*names, *parameters], depth - 1)
        inserted = '<xacro:insert_block name="given"/>' if block else ""
        params = " ".join([*stated, *(["*given"] if block else [])])
        self.macros.append((name, parameters, block))
        return f'<xacro:macro name="{name}" params="{params}">{content}{inserted}</xacro:macro>'


def reference_tree(path: Path) -> object:
    """What the reference makes of it; the reason where it gives up."""

    def tree(node: DomElement) -> object:
        children = [child for child in node.childNodes if child.nodeType == child.ELEMENT_NODE]
        told = {name: value for name, value in node.attributes.items() if not name.startswith("xmlns:")}
        return node.tagName, told, [tree(child) for child in children]

    try:
        return tree(xacro.process_file(str(path), verbosity=0).documentElement)
    except (xacro.XacroException, RuntimeError, KeyError, AttributeError) as error:
        return repr(error)


def own_tree(path: Path) -> object:
    def tree(element: Element) -> object:
        told = {name: value for name, value in element.attributes.items() if not name.startswith("xmlns:")}
        return element.tag, told, [tree(child) for child in element.children]

    try:
        return tree(expand_xacro(path))
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_mean_what_the_reference_says(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    path = tmp_path / "random.xacro"
    understood = refused = 0
    for _ in range(120):
        names = ["a", "b", "c"]
        start = "".join(f'<xacro:property name="{name}" value="{k}"/>' for k, name in enumerate(names))
        text = HEAD + start + Program(rng).body(names, 3) + "</robot>"
        path.write_text(text)
        expected, found = reference_tree(path), own_tree(path)
        if isinstance(expected, str):
            refused += isinstance(found, str)
            continue
        understood += 1
        assert found == expected, text
    assert understood > 30
    assert refused > 5


GOOD = (
    HEAD
    + """<xacro:arg name="side" default="left"/>
<xacro:property name="m" value="${2.5*2}"/>
<xacro:property name="limits" value="${dict(lower=-1, upper=1)}"/>
<xacro:macro name="link" params="name mass:=${m} *origin **more">
  <link name="$(arg side)_${name}"><inertial><xacro:insert_block name="origin"/>
    <mass value="${mass}"/>
    <inertia ixx="${mass*0.4*0.1**2}" ixy="0" iyy="1" ixz="0" iyz="0" izz="1"/></inertial>
    <xacro:insert_block name="more"/></link>
</xacro:macro>
<xacro:link name="a"><origin xyz="0 0 ${sin(pi/2)}"/><group><visual/></group></xacro:link>
<xacro:if value="${m > 2 and limits['upper'] == 1}">
  <xacro:link name="b" mass="3"><origin/><g/></xacro:link></xacro:if>
<xacro:include filename="part.xacro" ns="part"/>
<joint name="j" type="revolute"><parent link="left_a"/><child link="left_b"/><axis xyz="0 0 ${part.one}"/>
  <limit lower="${limits.lower}" upper="${limits['upper']}" velocity="1" effort="1"/></joint>
</robot>
"""
).encode()
TOKENS = (
    b"${", b"}", b"$(", b")", b"'", b'"', b"<", b">", b"/", b"&amp;", b"xacro:", b"*", b"**", b"^", b":=",
    b"9**9**9", b"__class__", b"'a'*10**9", b"\x00", b"\xff", b"$(env HOME)", b"lambda:0", b"[", b"{}",
    b"1e999", b"nan", b"import",
)  # fmt: skip


def _flip(rng: Rng, text: bytes) -> bytes:
    content = bytearray(text)
    for at in rng.integers(0, len(content), rng.integers(1, 6)):
        content[at] = rng.integers(256)
    return bytes(content)


def _cut(rng: Rng, text: bytes) -> bytes:
    return text[: rng.integers(len(text))]


def _insert(rng: Rng, text: bytes) -> bytes:
    at = int(rng.integers(len(text)))
    return text[:at] + TOKENS[rng.integers(len(TOKENS))] + text[at:]


def _in_expression(rng: Rng, text: bytes) -> bytes:
    found = list(re.finditer(rb"\$\{[^}]*\}", text))
    chosen = found[rng.integers(len(found))]
    return text[: chosen.start()] + b"${" + TOKENS[rng.integers(len(TOKENS))] + text[chosen.start() + 2 :]


def _delete(rng: Rng, text: bytes) -> bytes:
    found = list(re.finditer(rb"</?[a-z:_]+|[a-z]+=\"[^\"]*\"|[\w.]+", text))
    chosen = found[rng.integers(len(found))]
    return text[: chosen.start()] + text[chosen.end() :]


def _swap(rng: Rng, text: bytes) -> bytes:
    found = list(re.finditer(rb"[\w.*:]+", text))
    one, other = (found[rng.integers(len(found))] for _ in range(2))
    return text[: one.start()] + other.group() + text[one.end() :]


def _repeat(rng: Rng, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    lines.insert(int(rng.integers(len(lines))), lines[rng.integers(len(lines))])
    return b"".join(lines)


MUTATIONS: dict[str, Callable[[Rng, bytes], bytes]] = {
    "flipped bytes": _flip,
    "truncated": _cut,
    "token inserted": _insert,
    "token in an expression": _in_expression,
    "word deleted": _delete,
    "word exchanged": _swap,
    "line repeated": _repeat,
}


@pytest.mark.parametrize("kind", MUTATIONS)
def test_a_mutated_file_is_expanded_or_refused_at_a_line(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(sorted(MUTATIONS).index(kind))
    (tmp_path / "part.xacro").write_text(HEAD + '<xacro:property name="one" value="1"/></robot>')
    path = tmp_path / "robot.xacro"
    outcomes = []
    for _ in range(80):
        text = MUTATIONS[kind](rng, GOOD)
        if text and rng.random() < 0.3:
            text = MUTATIONS[kind](rng, text)
        path.write_bytes(text)
        outcomes.append(own_tree(path))
    refusals = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert refusals, "the mutations are too gentle to show anything"
    assert all(re.match(r"(robot|part)\.xacro(:\d+)?: .", refusal) for refusal in refusals)
