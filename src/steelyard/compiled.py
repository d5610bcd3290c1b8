"""The one door to Numba: functions compiled on first use and cached on disk, shared among threads.

Numba's cache forgets a function when *its own* file changes, but not when a compiled function that it calls
from another file changes; stale machine code would then answer silently. Here a cached function is stamped
with the sources of its whole room and of `dynamics`, whose kernels the other rooms build on.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numba
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function to machine code, cached on disk; it runs without the interpreter's lock.

    Division follows NumPy (no exception), indices are not checked, and floating point is exact IEEE: the same
    inputs give the same bits.

    Args:
        function: a function of numbers, arrays and tuples of arrays.

    Returns:
        The compiled function, with the signature of the original.
    """
    return _compile(function, fastmath=False)


def inlined_kernel(function: F) -> F:
    """Compile a function into each of its callers: for pieces called per body, where passing arrays costs.

    Args:
        function: a function of numbers, arrays and tuples of arrays.

    Returns:
        The compiled function, with the signature of the original.
    """
    return _compile(function, fastmath=False, inline="always")


def dense_kernel(function: F) -> F:
    """Compile a function made of long sums, which the compiler may reorder and fuse; cached on disk.

    Reordered sums use vector instructions; the last bits then depend on the processor, not on the run.

    Args:
        function: a function of numbers and arrays.

    Returns:
        The compiled function, with the signature of the original.
    """
    return _compile(function, fastmath={"reassoc", "contract"})


def before_first_compilation(tell: Callable[[], None]) -> None:
    """Call a function once, just before anything is compiled in this process; loading from the cache is not.

    Args:
        tell: what to call.
    """
    register: Any = event.register
    register("numba:compile", _Once(tell))


class _Once(event.Listener):
    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, _event: event.Event) -> None:
        if self._tell is not None:
            tell, self._tell = self._tell, None
            tell()

    def on_end(self, _event: event.Event) -> None:
        """Nothing to say."""


def _compile(function: F, *, fastmath: bool | set[str], inline: Literal["never", "always"] = "never") -> F:
    compile_ = numba.njit(cache=True, nogil=True, fastmath=fastmath, inline=inline, error_model="numpy")
    dispatcher: Any = compile_(function)
    dispatcher._cache._cache_file._source_stamp = _sources_stamp(Path(inspect.getfile(function)).parent)
    return cast(F, dispatcher)


@cache
def _sources_stamp(room: Path) -> bytes:
    dynamics = Path(__file__).parent / "dynamics"
    digest = hashlib.sha256()
    for file in sorted({*room.glob("*.py"), *dynamics.glob("*.py"), Path(__file__)}):
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.digest()
