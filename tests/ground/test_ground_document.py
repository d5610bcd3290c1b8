"""Documents are read within bounds: what is too large, too deep or no number is refused with its place."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.document import DEEPEST, kind_of, parse_json, parse_toml, read_json, read_table, read_text
from steelyard.errors import InputError

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**300), 10**300)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)  # fmt: skip


@given(PLAIN)
def test_what_json_can_hold_comes_back(value: object) -> None:
    assert parse_json(json.dumps(value), place="x") == value
    assert parse_json(json.dumps(value, indent=1).encode(), place="x") == value


@pytest.mark.parametrize("depth", [DEEPEST, DEEPEST + 1, 100_000])
def test_brackets_count_and_those_in_a_text_do_not(depth: int) -> None:
    text = json.dumps({"a": "[" * depth + '\\"[{'})
    assert parse_json(text, place="x") == json.loads(text)
    deep = "[" * depth + "]" * depth
    if depth <= DEEPEST:
        assert parse_json(deep, place="x") == json.loads(deep)
        assert parse_toml(f"a = {deep}", place="x") == {"a": json.loads(deep)}
        return
    with pytest.raises(InputError, match=r"^x: is nested too deeply: at most 64 levels"):
        parse_json(deep, place="x")
    with pytest.raises(InputError, match=r"^x: is nested too deeply"):
        parse_toml(f"a = {deep}", place="x")


def test_dotted_names_are_levels_and_dots_of_numbers_are_none() -> None:
    numbers = ", ".join(["0.5"] * 500)
    assert len(parse_toml(f"a = [{numbers}]\nb = [\n  [{numbers}],\n]", place="x")["a"]) == 500
    assert parse_toml(f'a = "{"." * 500}"\n# {"." * 500}\n', place="x")["a"] == "." * 500
    assert parse_toml(f"a = '''\n{'.' * 500}\n'''", place="x")["a"].startswith(".")
    for text in ("[" + ".".join(["a"] * 100) + "]", ".".join(["a"] * 100_000) + " = 1"):
        with pytest.raises(InputError, match="nested too deeply"):
            parse_toml(text, place="x")


@pytest.mark.parametrize(
    "text", ['"' * 300_001, '"\\' * 200_000, "'" * 300_001, '"""' + '"' * 300_000, "#" * 300_000]
)
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    began = time.perf_counter()
    for parse in (parse_json, parse_toml):
        with suppress(InputError):
            parse(text, place="x")
    assert time.perf_counter() - began < 2.0


def test_a_refusal_says_where_and_why() -> None:
    with pytest.raises(InputError, match=r"^x:2: is not JSON: Expecting value, column 4"):
        parse_json('{"a":\n   ]}', place="x")
    with pytest.raises(InputError, match=r"^x: holds NaN, which is not a number of JSON"):
        parse_json("[NaN]", place="x")
    for parse, text in ((parse_json, "9" * 5000), (parse_toml, "a = " + "9" * 5000)):
        with pytest.raises(InputError, match=r"^x: holds an integer too large for a number"):
            parse(text, place="x")
    with pytest.raises(InputError, match=r"^x:2: is not text in UTF-8"):
        parse_json(b'["a",\n"\xff"]', place="x")
    with pytest.raises(InputError, match=r"^x: is not TOML"):
        parse_toml("a = ", place="x")


def test_only_regular_files_of_bounded_size_are_read(tmp_path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}')
    assert read_json(path) == read_table(path) == {"a": 1}
    assert read_text(path, most=8) == '{"a": 1}'
    with pytest.raises(InputError, match=r"a\.json: is larger than"):
        read_text(path, most=7)
    path.write_text("[]")
    with pytest.raises(InputError, match=r"a\.json: holds a list, expected a table"):
        read_table(path)
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", "/dev/zero", "/proc/self/status"):
        with pytest.raises(InputError, match="is not a regular file"):
            read_text(name)
    with pytest.raises(InputError, match="is a directory"):
        read_text(tmp_path)
    for name in (tmp_path / "no", "x" * 5000, "a\0b"):
        with pytest.raises(InputError, match="cannot be read"):
            read_text(name)


def test_values_are_called_by_words() -> None:
    values = (None, True, 3, 0.5, "x", [], {})
    words = ["nothing", "true or false", "a number", "a number", "a text", "a list", "a table"]
    assert [kind_of(value) for value in values] == words
