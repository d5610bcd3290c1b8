"""Work shared among the cores: compiled functions release the interpreter, so plain threads do.

Numba's own parallel loops need one of its threading layers; the one that is always there is documented as not
safe for several threads of the caller, and even a single sample costs it a hundred microseconds.

BLAS has threads of its own. On matrices as small as ours they bring nothing and take the cores from the
threads above; so a fit runs with one of them, see `with_one_blas_thread`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, wraps
from itertools import pairwise
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from steelyard.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")

LEAST = 256
"""Samples that are worth handing to another thread: waking it costs as much as a hundred of them."""

BLAS_VARIABLE = "OPENBLAS_NUM_THREADS"
"""Environment variable with the number of BLAS threads; who sets it is left alone."""

_lock = Lock()
_blas_lock = Lock()
_blas_users = 0
_blas_limit: Any = None
_pool: ThreadPoolExecutor | None = None
_count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count() -> int:
    """Threads that share the work, the caller's own included."""
    return _count


def set_thread_count(count: int) -> None:
    """Choose how many threads share the work; no result depends on it.

    Args:
        count: at least 1, the caller's own thread.

    Raises:
        InputError: the count is below 1.
    """
    global _count, _pool
    if count < 1:
        raise InputError(f"must be at least 1, got {count}.", place="count")
    with _lock:
        _count, _pool = count, None


def share(items: int, run: Callable[..., None], *arguments: object, least: int | None = None) -> None:
    """Call `run(first, last, *arguments)` for consecutive pieces of range(items), one piece per thread.

    Args:
        items: how many items there are.
        run: a compiled function whose items do not depend on each other.
        *arguments: what every call gets after its piece.
        least: fewest items worth a thread of their own; None for `LEAST`.
    """
    pieces = min(_count, max(1, items // (LEAST if least is None else least)))
    bounds = [items * k // pieces for k in range(pieces + 1)]
    others = [_executor().submit(run, first, last, *arguments) for first, last in pairwise(bounds[1:])]
    run(0, bounds[1], *arguments)
    for other in others:
        other.result()


def beside(run: Callable[[], R]) -> Callable[[], R]:
    """Start a function in a thread of its own, beside the caller.

    It pays for work of a tenth of a second and more that compiled functions and BLAS do. The function may
    share its work too: it does not sit in the way of `share`.

    Args:
        run: what is called; what it answers must not depend on what the caller does meanwhile.

    Returns:
        Waits for the answer, and raises what the function raised. Where there is one thread it runs then.
    """
    if _count == 1:
        return run
    executor = ThreadPoolExecutor(1, thread_name_prefix="steelyard-beside")
    # NumPy's handling of floating-point errors is the caller's.
    future = executor.submit(copy_context().run, run)
    executor.shutdown(wait=False)
    return future.result


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread, and afterwards as many as before.

    The number belongs to the process: where several threads of the caller are inside at once, the last of
    them restores it. Where `BLAS_VARIABLE` is set nothing is done.
    """
    global _blas_users, _blas_limit
    if BLAS_VARIABLE in os.environ:
        yield
        return
    with _blas_lock:
        if _blas_users == 0:
            _blas_limit = _blas().limit(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()


def with_one_blas_thread(function: Callable[P, R]) -> Callable[P, R]:
    """A function that runs inside `one_blas_thread`.

    Args:
        function: what is called.

    Returns:
        The same with its documentation.
    """

    @wraps(function)
    def run(*arguments: P.args, **options: P.kwargs) -> R:
        with one_blas_thread():
            return function(*arguments, **options)

    return run


@cache
def _blas() -> Any:
    """The BLAS libraries of this process; finding them takes milliseconds, so they are looked for once."""
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own beside NumPy's
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _executor() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(1, _count - 1), thread_name_prefix="steelyard")
        return _pool


def _forget_pool() -> None:
    """The threads of a pool do not survive a fork; the child makes its own."""
    global _pool, _lock, _blas_lock
    _pool, _lock, _blas_lock = None, Lock(), Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
