"""Results as files: exact, the same bytes for the same result, and never mistaken when damaged."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.campaigns.store import DamagedError, Store, decode_result, encode_result, is_whole
from steelyard.campaigns.task import Failure
from steelyard.errors import InputError

KEY = "ab" + "0" * 62
RESULT: dict[str, Any] = {
    "nothing": None,
    "flag": True,
    "word": "τ = Y φ",
    "number": 0.1 + 0.2,
    "large": 2**90,
    "odd": [float("inf"), -float("inf"), float("nan"), -0.0],
    "array": np.random.default_rng(3).normal(size=(3, 4)),
    "empty": np.zeros((0, 5)),
    "scalar": np.array(2.5),
    "names": np.array(["m", "Ixx"]),
    "nested": {"list": [{"array": np.arange(3, dtype=np.int16)}, []], "flags": np.array([True, False])},
    "a.b": np.ones(1),
    "a": {"b": np.zeros(1)},
}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return bool(alike and one.tobytes() == other.tobytes())
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float):
        return np.float64(one).tobytes() == np.float64(other).tobytes()
    return type(one) is type(other) and bool(one == other)


def test_a_result_comes_back_in_every_bit() -> None:
    assert same(RESULT, decode_result(encode_result(RESULT)))


def test_the_layout_in_memory_leaves_no_trace_in_the_file() -> None:
    a = np.arange(12.0).reshape(3, 4)
    assert (
        encode_result({"a": np.asfortranarray(a)})
        == encode_result({"a": a})
        == encode_result({"a": a.astype(">f8")})
    )
    assert encode_result({"a": np.repeat(a, 2, axis=0)[::2]}) == encode_result({"a": a})


def test_numpy_reads_the_file_as_a_plain_archive() -> None:
    with np.load(io.BytesIO(encode_result(RESULT)), allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["array"], RESULT["array"])
        np.testing.assert_array_equal(archive["nested.list.0.array"], [0, 1, 2])


def test_arrays_that_were_read_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        decode_result(encode_result(RESULT))["array"][0, 0] = 1.0


@pytest.mark.parametrize(
    "value", [object(), {1: 2}, np.array([object()]), {"$array": "x"}, b"bytes", {"$float": 1}, {1, 2}, 1j]
)
def test_what_json_and_arrays_cannot_say_is_refused_with_its_place(value: Any) -> None:
    with pytest.raises(InputError, match=r"result\.list\.1"):
        encode_result({"list": [0, value]})


def test_a_result_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(InputError, match="must be a mapping, got list"):
        encode_result([1, 2])  # type: ignore[arg-type]


def test_any_changed_bit_and_any_cut_is_noticed() -> None:
    content = encode_result({"array": np.arange(4.0), "word": "x"})
    assert is_whole(content)
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << (place % 8)
        assert not is_whole(bytes(changed)), place
        assert not is_whole(content[:place]), place
    assert not is_whole(content + b" ")


def test_a_store_gives_back_what_it_was_given_and_tells_absent_from_damaged(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.read(KEY) is None
    assert store.failure(KEY) is None
    store.write(KEY, encode_result({"x": 1}))
    failure = Failure("task", "no way", True, "traceback")
    store.write_failure(KEY, failure)
    assert store.result(KEY) == {"x": 1}
    assert store.failure(KEY) == failure
    assert sorted(p.name for p in (tmp_path / "ab").iterdir()) == [f"{KEY}.failed.npz", f"{KEY}.npz"]
    store.path(KEY).write_bytes(b"half")
    with pytest.raises(DamagedError, match="damaged or half-written"):
        store.read(KEY)


@pytest.mark.parametrize("key", ["../../etc/passwd", "", "AB" + "0" * 62, "ab" + "0" * 63])
def test_only_keys_lead_into_the_store(tmp_path: Path, key: str) -> None:
    with pytest.raises(InputError, match="is not a key"):
        Store(tmp_path).path(key)


def test_cleaning_removes_what_killed_writers_left(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(KEY, encode_result({}))
    (tmp_path / "ab" / ".0123.tmp").write_bytes(b"half")
    store.clean()
    assert [p.name for p in (tmp_path / "ab").iterdir()] == [f"{KEY}.npz"]
