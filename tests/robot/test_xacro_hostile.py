"""A hostile xacro file is refused with its line, soon, and without a look outside its folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from steelyard.errors import DescriptionError
from steelyard.robot.descriptions.xacro.expansion import expand_xacro
from steelyard.robot.descriptions.xacro.expression import MAX_ELEMENTS, MAX_WORK, Exhausted, ExpansionBudget

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
SECONDS = 20.0
"""Far beyond what any case takes; a hang takes for ever."""

PROGRAMS = {
    "import": "__import__('os').system('touch pwned')",
    "open": "open('/etc/passwd').read()",
    "eval": "eval('1')",
    "exec": "exec('1')",
    "getattr": "getattr(1, 'real')",
    "globals": "globals()",
    "builtins": "__builtins__",
    "class of a tuple": "().__class__.__bases__[0].__subclasses__()",
    "class of a text": "''.__class__.__mro__",
    "class of a number": "(1).__class__",
    "class of a dictionary": "dict().__class__",
    "self of a function": "sin.__self__",
    "self of a method": "'a'.lower.__self__",
    "globals of a function": "range.__globals__",
    "type": "python.type(1)",
    "vars": "python.vars(math)",
    "format": "'a'.format(1)",
    "percent": "'%999999999d' % 1",
    "lambda": "(lambda: 1)()",
    "walrus": "(x := 1)",
    "await": "await x",
    "yield": "(yield 1)",
    "starred": "max(*[1, 2])",
    "double starred": "dict(**dict(a=1))",
    "set": "set([1])",
    "bytes": "b'a'",
    "complex": "1j",
    "complex root": "(-8) ** 0.5",
    "ellipsis": "...",
    "module itself": "math",
    "function itself": "sin",
    "list of functions": "[sin, cos]",
    "text of a function": "str(sin)",
    "sorting by a function": "sorted([1], key=range)",
    "assignment": "a = 1",
    "statements": "1; 2",
    "null byte": "1 + 'a\\0'",
}
BOMBS = {
    "power tower": "9**9**9",
    "power in steps": "(2**2000)**2000",
    "long product": "*".join(["10**100"] * 200),
    "repeated text": "'a'*10**9",
    "repeated text, turned": "10**9*'a'",
    "repeated list": "[0]*10**9",
    "repeated in steps": "((('a'*1000)*1000)*1000)",
    "shift": "1<<10**9",
    "range": "range(10**9)",
    "endless range": "len(range(10**30))",
    "nested loops": "[1 for a in range(9999) for b in range(9999) for c in range(9999)]",
    "loop of lists": "[range(9999) for a in range(9999)]",
    "mapped lists": "map(range, range(9999))",
    "factorial": "factorial(10**7)",
    "rounding": "round(7, -10**9)",
    "joined": "('a'*9999).join(['b'*9999]*9)",
    "replaced": "('a'*9999).replace('a', 'b'*9999)",
    "sum of lists": "python.sum([[1]]*9999, [])",
    "shared lists": "[[[[[[1]*99]*99]*99]*99]*99]*99",
    "signs": "-" * 3900 + "1",
    "brackets": "(" * 1900 + "1" + ")" * 1900,
    "lists in lists": "[" * 1900 + "]" * 1900,
    "long sum": "1" + "+1" * 1900,
    "subscripts": "a" + "[0]" * 1300,
    "compared lists": "[1 for a in range(9999) if [[[0]*9999]] == [[[0]*9999]]]",
    "long expression": "1" + "+1" * 100_000,
}

FORESEEN = {"repeated": "repeats a", "power": "bits", "range": "counts over|no value", "joined": "joins to"}
"""Reasons that show a bomb was seen before it was built."""


def refusal(path: Path, reason: str, place: str = r"robot\.xacro:3") -> DescriptionError:
    started = time.monotonic()
    with pytest.raises(DescriptionError, match=rf"(?s)^{place}: .*{reason}") as caught:
        expand_xacro(path)
    assert time.monotonic() - started < SECONDS
    assert len(str(caught.value)) < 1000
    return caught.value


def described(folder: Path, body: str) -> Path:
    path = folder / "robot.xacro"
    path.write_text(HEAD + "<fine/>\n" + body + "\n</robot>")
    return path


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("form", ['<x v="${%s}"/>', '<xacro:if value="${%s}"><x/></xacro:if>'])
def test_no_expression_reaches_beyond_data(
    tmp_path: Path, name: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = PROGRAMS[name].replace("\0", "")
    refusal(described(tmp_path, form.replace("%s", text)), "")
    assert [path.name for path in tmp_path.iterdir()] == ["robot.xacro"]


@pytest.mark.parametrize("name", BOMBS)
def test_no_expression_grows_without_bound(tmp_path: Path, name: str) -> None:
    text = BOMBS[name].replace("<", "&lt;")
    reason = next((why for word, why in FORESEEN.items() if word in name), "")
    refusal(described(tmp_path, f'<x v="${{{text}}}"/>'), reason)
    refusal(
        described(tmp_path, f'<xacro:property name="p" value="${{{text}}}"/><x v="${{p}}"/>'), "property 'p'"
    )


@pytest.mark.parametrize("name", ["import", "class of a tuple", "open"])
def test_the_other_way_to_evaluate_is_no_wider(tmp_path: Path, name: str) -> None:
    text = PROGRAMS[name].split(")")[0]
    refusal(described(tmp_path, f'<x v="$(eval {text})"/>'), "")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "nested deeper than 200"),
        (
            '<xacro:macro name="a"><xacro:b/></xacro:macro>'
            '<xacro:macro name="b"><xacro:a/></xacro:macro><xacro:a/>',
            "nested deeper than 200",
        ),
        (
            '<xacro:macro name="m" params="n"><x/><xacro:m n="${n}"/><xacro:m n="${n}"/></xacro:macro>'
            '<xacro:m n="1"/>',
            "nested deeper than 200",
        ),
        (
            '<xacro:macro name="m" params="n"><x/><xacro:if value="${n}"><xacro:m n="${n-1}"/>'
            '<xacro:m n="${n-1}"/></xacro:if></xacro:macro><xacro:m n="60"/>',
            "more than 50000 elements|more than 1000000 steps",
        ),
        (
            '<xacro:property name="b"><xacro:insert_block name="b"/></xacro:property>'
            '<xacro:insert_block name="b"/>',
            "nested deeper than 200",
        ),
        (
            '<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/><x v="${a}"/>',
            "defined by itself",
        ),
        ('<xacro:property name="a" value="${a}"/><x v="${a}"/>', "defined by itself"),
        (
            '<xacro:property name="p0" value="ha"/>'
            + "".join(f'<xacro:property name="p{i+1}" value="${{p{i}*10}}"/>' for i in range(20))
            + '<x v="${p20}"/>',
            "repeats a text to more than 100000",
        ),
        (
            '<xacro:property name="p0" value="haha"/>'
            + "".join(f'<xacro:property name="p{i+1}" value="${{p{i}}}${{p{i}}}"/>' for i in range(60))
            + '<x v="${p60}"/>',
            "more than 1000000 steps|more than 100000 entries",
        ),
        (
            "".join(f'<xacro:property name="p{i}" value="${{p{i+1}}}"/>' for i in range(5000))
            + '<x v="${p0}"/>',
            "nested",
        ),
        (
            "".join(
                f'<xacro:property name="b{i+1}"><xacro:insert_block name="b{i}"/>'
                f'<xacro:insert_block name="b{i}"/>'
                "</xacro:property>"
                for i in range(60)
            )
            + '<xacro:property name="b0"><x/></xacro:property><xacro:insert_block name="b60"/>',
            "more than 50000 elements|more than 1000000 steps",
        ),
        (
            '<xacro:property name="p" value="${[1.5]*20000}"/>' + '<x v="${p}" w="${p}"/>' * 20_000,
            "more than 1000000 steps",
        ),
        (
            "<xacro:property name=\"p\" value=\"${'a'*99999}\"/>" + '<x v="${p}${p}${p}"/>' * 20_000,
            "more than 1000000 steps",
        ),
        ('<xacro:element xacro:name="xacro:element"/>', "lacks the attribute"),
        ('<xacro:macro name="m" params="' + "a:=b" * 5000 + "'" + '"/>', "parameters cannot be understood"),
        ('<xacro:macro name="m" params="' + "a:=${" * 5000 + "'" + '"/>', "parameters cannot be understood"),
    ],
    ids=lambda value: value[:40],
)  # fmt: skip
def test_expansion_without_end_is_refused(tmp_path: Path, body: str, reason: str) -> None:
    refusal(described(tmp_path, body), reason)


def test_all_of_a_budget_may_be_used_and_no_more() -> None:
    budget = ExpansionBudget(elements=MAX_ELEMENTS - 1, work=MAX_WORK - 5)
    budget.make_element()
    budget.spend(5)
    with pytest.raises(Exhausted, match="more than 50000 elements"):
        budget.make_element()
    with pytest.raises(Exhausted, match="more than 1000000 steps"):
        budget.spend(1)


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../secret.xacro",
        "inside/../../secret.xacro",
        "link.xacro",
        "linked_folder/secret.xacro",
        "file:///etc/passwd",
        "http://example.org/robot.xacro",
        "/dev/zero",
        "/proc/self/environ",
        "~/secret.xacro",
        "../*.xacro",
        "linked_folder/*.xacro",
        "*/../*.xacro",
        "$(dirname)/../secret.xacro",
        "loop.xacro",
        "pipe.xacro",
        ".",
        "x" * 3000,
    ],
)
@pytest.mark.parametrize("form", ['<xacro:include filename="%s"/>', "<x v=\"${xacro.load_yaml('%s')}\"/>"])
def test_no_file_outside_the_folder_is_opened(tmp_path: Path, name: str, form: str) -> None:
    folder = tmp_path / "robot"
    (folder / "inside").mkdir(parents=True)
    (tmp_path / "secret.xacro").write_text('<robot><secret word="swordfish"/></robot>')
    (folder / "link.xacro").symlink_to(tmp_path / "secret.xacro")
    (folder / "linked_folder").symlink_to(tmp_path)
    (folder / "loop.xacro").symlink_to("loop.xacro")
    os.mkfifo(folder / "pipe.xacro")
    error = refusal(described(folder, form % name), "outside|there is no file|no folder|wildcard")
    assert "swordfish" not in str(error)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("$(env HOME)", "environment"),
        ("$(eval env('HOME')", "no expression"),
        ("$(find elsewhere)/x", "package 'elsewhere' is not the one the description lies in"),
        ("$(find ../..)/x", "is not the one"),
        ("$(cwd)", "cannot be understood"),
        ("$()", "cannot be understood"),
    ],
)
def test_the_environment_and_other_packages_stay_unread(tmp_path: Path, text: str, reason: str) -> None:
    refusal(described(tmp_path, f'<x v="{text}"/>'), reason)


def test_an_optional_variable_of_the_environment_takes_its_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_SECRET", "swordfish")
    root = expand_xacro(described(tmp_path, '<x v="$(optenv STEELYARD_SECRET nothing here)"/>'))
    assert root.children[1].attributes == {"v": "nothing here"}


def test_files_that_include_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.xacro").write_text(HEAD + '<xacro:include filename="robot.xacro"/></robot>')
    path = described(tmp_path, '<xacro:include filename="other.xacro"/>')
    refusal(path, "include each other more than", place=r"(robot|other)\.xacro:[23]")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a: [1, 2", "no YAML"),
        (b"a: !!python/object/apply:os.system ['touch pwned']", "line 1: .* is no"),
        (b"a: !!python/name:os.system x", "is no"),
        (b"[" * 100_000, "nested deeper"),
        (b"- " * 1000 + b"a", "nested deeper"),
        (b"a: &a [" + b"x," * 50 + b"]\n" + b"".join(
            b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9)),
         "more than 100000 entries"),
        (b"a: &a {x: 1}\n" + b"".join(
            b"%c: &%c {<<: [%s]}\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9)),
         "more than 100000 entries"),
        (b"a: &a [*a]", "more than 100000 entries|no YAML"),
        (b"\xff\xfe\xff", "not UTF-8|no YAML"),
        (b"a: !degrees __import__('os')", "asks for"),
        (b"a: !degrees 9**9**9", "bits"),
        (b"a" * 2**21, "larger than"),
        (b"? [a]\n: 1", "key is no plain word"),
        (b"a: 1\n---\nb: 2", "no YAML"),
    ],
    ids=lambda value: str(value[:40]),
)  # fmt: skip
def test_hostile_yaml_is_refused(
    tmp_path: Path, content: bytes, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_bytes(content)
    refusal(described(tmp_path, "<x v=\"${xacro.load_yaml('a.yaml')}\"/>"), reason)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.yaml", "robot.xacro"]
