"""A fit runs with one BLAS thread, in a notebook as in the command, and restores the number of the user."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from steelyard import estimation
from steelyard.threads import BLAS_VARIABLE, one_blas_thread, with_one_blas_thread

NUMPY = "numpy"
"""Part of the path of the BLAS that our arithmetic uses: others come with other libraries, some of them with
one thread for ever."""


def _blas() -> set[int]:
    return {
        pool["num_threads"]
        for pool in threadpool_info()
        if pool["user_api"] == "blas" and NUMPY in pool["filepath"]
    }


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(BLAS_VARIABLE, raising=False)
    with threadpool_limits(2, user_api="blas"):
        assert _blas() == {2}
        yield


def test_blas_has_one_thread_inside_and_the_users_number_afterwards(two_threads: None) -> None:
    seen = []
    with one_blas_thread():
        seen.append(_blas())
        with one_blas_thread():
            seen.append(_blas())
        seen.append(_blas())
    assert seen == [{1}, {1}, {1}]
    assert _blas() == {2}


def test_a_failure_restores_the_users_number_too(two_threads: None) -> None:
    @with_one_blas_thread
    def failing() -> None:
        assert _blas() == {1}
        raise KeyError("x")

    with pytest.raises(KeyError):
        failing()
    assert _blas() == {2}


def test_who_states_a_number_is_left_alone(two_threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BLAS_VARIABLE, "2")
    with one_blas_thread():
        assert _blas() == {2}


@pytest.mark.parametrize("name", [name for name in estimation.__all__ if name.startswith("fit_")])
def test_every_fit_of_the_library_runs_with_one_blas_thread(name: str, two_threads: None) -> None:
    seen = []

    class Watching:
        """A question whose first use shows how many threads there are."""

        def __getattr__(self, _: str) -> None:
            seen.append(_blas())
            raise KeyError

        __iter__ = __len__ = __getitem__ = __array__ = __float__ = lambda self, *_: self.any

    fit = getattr(estimation, name)
    needed = [
        argument
        for argument in inspect.signature(fit).parameters.values()
        if argument.default is argument.empty
    ]
    given = {argument.name: Watching() for argument in needed}
    with pytest.raises(Exception):  # noqa: B017
        fit(**given)
    assert seen
    assert seen[0] == {1}
    assert _blas() == {2}
