"""Files appear whole or not at all, and a damaged or hostile one is a clear error of one kind."""

import errno
import io
import os
import zipfile

import numpy as np
import pytest

from steelyard.errors import RecordingError
from steelyard.recording import Recording, Step, read, write
from steelyard.recording.files import SUFFIXES


def sample(n=40):
    rng = np.random.default_rng(5)
    q, tau = rng.normal(size=(2, n, 3))
    names = ("a", "b", "c")
    extra = {"base_x": rng.normal(size=n)}
    return Recording(names, np.arange(n) / 100, q, tau=tau, extra=extra, provenance=(Step("simulated"),))


@pytest.mark.parametrize("name", ["log.db3", "log.mcap", "log.txt", "log"])
def test_an_unknown_suffix_is_refused_with_the_supported_ones(tmp_path, name):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(RecordingError, match=r"unknown kind of log.*Supported are .csv, .parquet, .npz;"):
        write(sample(), tmp_path / name)
    kinds = (
        r"unknown kind of log.*Supported are .csv, .parquet, .npz, .db3, .mcap, .pt, .pth;"
        r"|is not an (SQLite|MCAP) file"
    )
    with pytest.raises(RecordingError, match=kinds):
        read(tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"x"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_empty_and_irregular_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    with pytest.raises(RecordingError, match="no such file"):
        read(path)
    path.touch()
    with pytest.raises(RecordingError, match="is empty"):
        read(path)
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(RecordingError, match="is a directory"):
        read(folder)
    with pytest.raises(RecordingError, match="is a directory"):
        write(sample(), folder)
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    with pytest.raises(RecordingError, match="is not a regular file"):
        read(pipe)
    with pytest.raises(
        RecordingError, match=r"cannot be written: No such file.*Check that its folder exists"
    ):
        write(sample(), tmp_path / "absent" / path.name)


def test_suffixes_are_taken_in_either_case_and_paths_as_text(tmp_path):
    write(sample(), str(tmp_path / "LOG.CSV"))
    assert read(str(tmp_path / "LOG.CSV")) == sample()


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("moment", ["os.fsync", "pathlib.Path.replace"])
def test_a_write_that_fails_midway_leaves_the_old_file_and_nothing_else(
    tmp_path, monkeypatch, suffix, failure, moment
):
    path = tmp_path / f"log{suffix}"
    write(sample(10), path)
    before = path.read_bytes()

    def fail(*_):
        assert len(list(tmp_path.iterdir())) == 2, "the new content is not in a file of its own"
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(moment, fail)
        with pytest.raises((RecordingError, KeyboardInterrupt)) as caught:
            write(sample(20), path)
    if isinstance(failure, OSError):
        assert "cannot be written: No space left on device" in str(caught.value)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    write(sample(20), path)
    assert read(path).n == 20
    assert list(tmp_path.iterdir()) == [path]


def npz(tmp_path, **arrays):
    path = tmp_path / "log.npz"
    np.savez(path, **arrays)
    return path


def own_npz(tmp_path, **changes):
    write(sample(), tmp_path / "own.npz")
    with np.load(tmp_path / "own.npz") as file:
        arrays = {**dict(file), **changes}
    return npz(tmp_path, **{name: array for name, array in arrays.items() if array is not None})


def test_pickled_objects_are_never_loaded(tmp_path):
    opened = []

    class Trap:
        def __reduce__(self):
            return opened.append, (1,)

    path = npz(tmp_path, time=np.arange(3), q_1=np.array([Trap(), 1, 2], dtype=object))
    with pytest.raises(RecordingError, match="array 'q_1' holds pickled objects, which are never loaded"):
        read(path)
    assert not opened


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": np.zeros((40, 2))}, r"array 'q' has type float64 and shape \(40, 2\); expected .*\(N, 3\)"),
        ({"q": np.zeros(40)}, r"array 'q' .* shape \(40,\)"),
        ({"q": np.zeros((40, 3), dtype=complex)}, "array 'q' has type complex128"),
        ({"tau": np.zeros((39, 3))}, "column 'tau_a' has 39 rows, but time has 40"),
        ({"time": np.zeros((40, 2))}, "array 'time'"),
        ({"time": None}, "no time among"),
        ({"joints": None}, "array 'q'"),
        ({"joints": np.array(["a", "b", "b"])}, "the same name 'q_b'"),
        (
            {"q": np.full((40, 3), np.nan)},
            "120 places cannot be used: row 0, column 'q_a': 'nan' is not finite",
        ),
        ({"q": np.zeros((40, 3))}, "does not match the digest"),
        ({"more": np.zeros(40)}, "does not match the digest"),
        ({"steelyard.recording": np.array("{")}, "steelyard.recording:1: is not JSON"),
        ({"steelyard.recording": np.array("[]")}, "lacks schema, digest or provenance"),
        (
            {"steelyard.recording": np.array('{"schema": 9, "digest": "", "provenance": []}')},
            "layout 9 is unknown; this version knows 1. Read the file with the version that wrote it",
        ),
        (
            {"steelyard.recording": np.array('{"schema": 1, "digest": "", "provenance": 3}')},
            "provenance is not a list",
        ),
        (
            {"steelyard.recording": np.array('{"schema": 1, "digest": "", "provenance": [3]}')},
            "a step needs exactly",
        ),
    ],
)
def test_an_npz_of_ours_that_was_tampered_with_is_refused(tmp_path, changes, message):
    with pytest.raises(RecordingError, match=f"log.npz: .*{message}"):
        read(own_npz(tmp_path, **changes))


def member(header, body=b""):
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + body
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("q.npy", content)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"not a zip",
        b"PK\x03\x04",
        b"\x93NUMPY\x01\x00v\x00",
        member("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\n"),
        member("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 0), }\n"),
        member("{'descr': '<f8', 'shape': 3}\n"),
        member("(" * 5000 + "\n"),
        member("{'descr': 'nonsense', 'fortran_order': False, 'shape': (2,), }\n"),
    ],
)
def test_bytes_that_are_no_npz_are_refused(tmp_path, content):
    (tmp_path / "log.npz").write_bytes(content)
    with pytest.raises(
        RecordingError,
        match=r"log.npz: (is damaged or not an npz|array 'q' states the shape .* more than the file holds)",
    ):
        read(tmp_path / "log.npz")


def test_an_archive_of_other_things_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "log.npz", "w") as archive:
        archive.writestr("notes.txt", "hello")
    with pytest.raises(RecordingError, match=r"holds 'notes.txt', which is not an array"):
        read(tmp_path / "log.npz")


def test_a_truncated_parquet_file_is_refused_wherever_it_ends(tmp_path):
    path = tmp_path / "log.parquet"
    write(sample(), path)
    data = path.read_bytes()
    for length in range(1, len(data), 97):
        path.write_bytes(data[:length])
        with pytest.raises(RecordingError, match=r"log.parquet: is damaged or not a Parquet file"):
            read(path)


def corrupted(data, rng):
    """One of five kinds of damage at a random place."""
    kind = rng.integers(5)
    place = int(rng.integers(len(data)))
    if kind == 0:
        return data[:place]
    if kind == 1:
        flipped = bytearray(data)
        for index in rng.integers(len(data), size=int(rng.integers(1, 9))):
            flipped[index] ^= int(rng.integers(1, 256))
        return bytes(flipped)
    head, _, body = data.partition(b"\n")
    if kind == 2:
        return head + b"\n" + data
    if kind == 3:
        names = head.split(b",")
        return b",".join(names[i] for i in rng.permutation(len(names))) + b"\n" + body
    return (
        data[:place]
        + rng.choice([b"NaN", b"foo,bar", b'"', b"\n\n", b"\0\xff", b"1e999", b";;"])
        + data[place:]
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damage_is_a_recording_error_or_harmless(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    write(sample(), path)
    data = path.read_bytes()
    refused = 0
    for seed in range(200):
        path.write_bytes(corrupted(data, np.random.default_rng(seed)) or b" ")
        try:
            recording = read(path)
        except RecordingError:
            refused += 1
        else:
            # CSV carries no digest; the other formats reveal every change of the content.
            assert suffix == ".csv" or recording == sample()
    assert refused > 60
