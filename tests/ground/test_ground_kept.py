"""What is kept on disk is what the computation says, bit for bit, or it is computed again."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import numpy as np
import pytest

from steelyard import kept
from steelyard.kept import kept_arrays

GIVEN = (np.arange(6.0).reshape(2, 3), np.arange(3), 2.0)


class Maker:
    """Counts how often it was asked."""

    def __init__(self, *arrays: np.ndarray) -> None:
        self.arrays, self.calls = arrays, 0

    def __call__(self) -> tuple[np.ndarray, ...]:
        self.calls += 1
        return self.arrays


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "arrays"


@pytest.fixture
def maker() -> Maker:
    rng = np.random.default_rng(0)
    return Maker(rng.normal(size=(50, 3)), np.array([-0.0, np.pi, 1e-310]), np.zeros((0, 3)))


def _asked(maker: Maker, given: tuple = GIVEN, kind: str = "pieces") -> list[np.ndarray]:
    return kept_arrays(kind, given, maker, code=[__file__])


def _same(found: list[np.ndarray], maker: Maker) -> bool:
    pairs = zip(found, maker.arrays, strict=True)
    return all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


def test_the_second_answer_is_the_first_to_the_bit_and_is_not_computed(folder: Path, maker: Maker) -> None:
    assert _same(_asked(maker), maker)
    assert _same(_asked(maker), maker)
    assert maker.calls == 1
    assert len(list(folder.iterdir())) == 1


def test_any_other_input_kind_or_code_is_another_entry(folder: Path, maker: Maker, tmp_path: Path) -> None:
    _asked(maker)
    points, indices, most = GIVEN
    others = [
        (np.nextafter(points, 9.0), indices, most),
        (points.reshape(3, 2), indices, most),
        (points, indices[::-1], most),
        (points, indices.astype(float), most),
        (points, indices, 3.0),
    ]
    for count, given in enumerate(others, start=2):
        _asked(maker, given)
        assert maker.calls == count
    _asked(maker, kind="core")
    (tmp_path / "code.py").write_text("other")
    kept_arrays("pieces", GIVEN, maker, code=[tmp_path / "code.py"])
    assert maker.calls == len(others) + 3


def _forged(content: bytes, folder: Path) -> bytes:
    """An entry whose digest is right and whose content is another computation's."""
    other = Maker(np.ones((2, 3)))
    _asked(other, (1.0,), "other")
    (file,) = folder.glob("other-*")
    return file.read_bytes()


def _of_objects(content: bytes, folder: Path) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, key=np.array([{}], dtype=object))
    return hashlib.sha256(stream.getvalue()).digest() + stream.getvalue()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content, _: b"",
        lambda content, _: content[:-1],
        lambda content, _: content[:200] + bytes([content[200] ^ 1]) + content[201:],
        lambda content, _: hashlib.sha256(b"no zip").digest() + b"no zip",
        _forged,
        _of_objects,
    ],
)
def test_an_entry_that_is_damaged_or_foreign_is_made_anew(folder: Path, maker: Maker, damage: object) -> None:
    _asked(maker)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole, folder))
    assert _same(_asked(maker), maker)
    assert maker.calls == 2
    assert _same(_asked(maker), maker)
    assert maker.calls == 2, "the damaged entry was not replaced"


def test_a_folder_that_others_may_write_to_is_not_believed(folder: Path, maker: Maker) -> None:
    _asked(maker)
    folder.chmod(0o777)
    assert _same(_asked(maker), maker)
    assert maker.calls == 2


def test_where_nothing_can_be_kept_it_is_computed_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, maker: Maker
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "file"))
    for count in (1, 2):
        assert _same(_asked(maker), maker)
        assert maker.calls == count


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_to_is_read(folder: Path, maker: Maker) -> None:
    _asked(maker)
    folder.chmod(0o500)
    other = Maker(np.ones(2))
    try:
        _asked(maker)
        assert maker.calls == 1
        for _ in range(2):
            _asked(other, (1.0,))
        assert other.calls == 2
    finally:
        folder.chmod(0o700)


def test_what_was_not_asked_for_in_the_longest_time_goes_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers = [Maker(np.full((100, 3), float(k))) for k in range(4)]
    for k in range(3):
        _asked(makers[k], (float(k),))
        for file in folder.iterdir():
            status = file.stat()
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns - 10**9))
    size = next(folder.iterdir()).stat().st_size
    _asked(makers[0], (0.0,))  # the oldest is asked for again
    monkeypatch.setattr(kept, "MOST_BYTES", int(2.5 * size))
    _asked(makers[3], (3.0,))
    assert len(list(folder.iterdir())) == 2
    for k in (3, 0, 1):
        _asked(makers[k], (float(k),))
    assert [maker.calls for maker in makers] == [1, 2, 1, 1]


def test_what_is_too_large_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch, maker: Maker) -> None:
    monkeypatch.setattr(kept, "LARGEST_ENTRY", 1000)
    for _ in range(2):
        assert _same(_asked(maker), maker)
    assert maker.calls == 2
    assert not folder.exists()
