"""Arrays that were dear to make, kept on disk: the same inputs to the same code need not be computed again.

An entry is filed by *what it is made from*: the digest covers the inputs to the last bit, the source of the
code that makes it, and the versions of the libraries that do the sums. So an entry is never stale, and the
answer is that of the computation, bit for bit. Entries lie beside the machine code (`compiled.cache_folder`).
One that is damaged, or lies under another's name, is made anew; a folder that others may write to is not
used, and one that cannot be written to costs time and nothing else. What was not asked for in the longest
time goes first once all together are larger than `MOST_BYTES`.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import scipy

from steelyard.arrays import Array, IntArray
from steelyard.compiled import cache_folder, is_private
from steelyard.errors import InputError
from steelyard.files import FilePath, read_bytes, write_bytes
from steelyard.npz import arrays_of

MOST_BYTES = 256 * 2**20
"""Of all entries together."""
LARGEST_ENTRY = 32 * 2**20
"""Of one entry, bytes; what is larger is not kept."""
_SUFFIX = ".arrays"
_DIGEST = 32


def kept_arrays(
    kind: str,
    given: Sequence[Array | IntArray | float],
    make: Callable[[], Sequence[Array]],
    *,
    code: Sequence[FilePath],
) -> list[Array]:
    """Arrays by a computation that was perhaps done before.

    Args:
        kind: what they are, a word.
        given: everything that the computation depends on, arrays of any shape and unit.
        make: does it; its arrays hold float64, of any shape and unit.
        code: source files that say how.

    Returns:
        What `make` returns, or returned in an earlier run.
    """
    key = _key(kind, given, tuple(os.fspath(file) for file in code))
    folder = cache_folder() / "arrays"
    file = folder / f"{kind}-{key[:40]}{_SUFFIX}"
    if (found := _read(folder, file, key)) is not None:
        return found
    made = [np.asarray(each, dtype=np.float64) for each in make()]
    _write(folder, file, key, made)
    return made


def _key(kind: str, given: Sequence[Array | IntArray | float], code: tuple[str, ...]) -> str:
    whole = hashlib.sha256(f"{kind} {np.__version__} {scipy.__version__} {_digest_of(code)}".encode())
    for each in given:
        values = np.ascontiguousarray(each)
        whole.update(f" {values.dtype.str} {values.shape} ".encode())
        whole.update(values.tobytes())
    return whole.hexdigest()


@cache
def _digest_of(code: tuple[str, ...]) -> str:
    """Digest of source files; of none two programs have the same where one cannot be read."""
    whole = hashlib.sha256()
    for file in code:
        try:
            content = Path(file).read_bytes()
        except OSError:
            content = os.urandom(_DIGEST)
        whole.update(hashlib.sha256(content).digest())
    return whole.hexdigest()


def _read(folder: Path, file: Path, key: str) -> list[Array] | None:
    """What an entry holds; None where there is none, or it is not to be trusted."""
    try:
        if not is_private(folder):
            return None
        content = read_bytes(file, most=LARGEST_ENTRY)
        if hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
            return None
        arrays = arrays_of(content[_DIGEST:])
        if arrays.pop("key").tobytes() != key.encode():
            return None
        found = [arrays.pop(f"a{k}") for k in range(len(arrays))]
    except (InputError, OSError, KeyError):
        return None
    if any(each.dtype != np.float64 for each in found):
        return None
    with suppress(OSError):
        os.utime(file)
    return found


def _write(folder: Path, file: Path, key: str, made: Sequence[Array]) -> None:
    if sum(each.nbytes for each in made) > LARGEST_ENTRY // 2:
        return
    stream = io.BytesIO()
    named = {f"a{k}": each for k, each in enumerate(made)}
    np.savez(stream, key=np.frombuffer(key.encode(), dtype=np.uint8), **named)  # type: ignore[arg-type]
    content = stream.getvalue()
    with suppress(InputError, OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if is_private(folder):
            write_bytes(file, hashlib.sha256(content).digest() + content)
            _make_room(folder)


def _make_room(folder: Path) -> None:
    """Remove the entries that nobody asked for in the longest time, until the others are few enough."""
    entries = []
    for file in folder.glob(f"*{_SUFFIX}"):
        # Another process may have removed it meanwhile.
        with suppress(OSError):
            status = file.stat()
            entries.append((status.st_mtime_ns, status.st_size, file))
    total = sum(size for _, size, _ in entries)
    for _, size, file in sorted(entries):
        if total <= MOST_BYTES:
            return
        file.unlink(missing_ok=True)
        total -= size
