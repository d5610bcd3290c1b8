"""What a worker does with a task, wherever it runs: the same bits on one core, on many, and elsewhere."""

from __future__ import annotations

import os
import socket
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from steelyard import __version__
from steelyard.campaign.failure import Failure
from steelyard.campaign.result import decode, encode
from steelyard.campaign.task import function_of
from steelyard.errors import SteelyardError
from steelyard.threads import set_thread_count

MOST_EVIDENCE = 4000
"""Letters of one piece of evidence that are kept."""

Given = str | dict[str, str]
"""The key of a result, or `{"task": …, "reason": …}` of a failure."""
Group = list[tuple[str, Given]]
"""Names of tasks, each with what is given of it."""


@dataclass(frozen=True)
class Call:
    """All that a worker needs to know of a task, as JSON values.

    Attributes:
        task: its name.
        key: of its result.
        function: `package.module:function`.
        parameters: by argument.
        inputs: by argument: one input, or a group of them.
        library: version of this package that the caller runs.
    """

    task: str
    key: str
    function: str
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Given | Group]
    library: str = __version__

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the results it takes."""
        given = [
            item
            for entry in self.inputs.values()
            for item in ([other for _, other in entry] if isinstance(entry, list) else [entry])
        ]
        return tuple(dict.fromkeys(item for item in given if isinstance(item, str)))


class Performed(NamedTuple):
    """What came of a call.

    Attributes:
        seconds: it took, s.
        host: where it ran.
        content: the encoded result; None after a failure.
        failure: why there is no result; None when there is one.
    """

    seconds: float
    host: str
    content: bytes | None
    failure: Failure | None


def perform(call: Call, fetch: Callable[[str], bytes]) -> Performed:
    """Run a task.

    An error of this package raised by the function blames the inputs and is lasting. Anything else (another
    exception, a result that cannot be kept, a worker that lacks the function) is a defect or an accident,
    which the next start gives another try.

    Args:
        call: the task.
        fetch: gives the encoded result of a key.

    Returns:
        The result, or why there is none. Running out of memory is passed on as `MemoryError`.
    """
    began = time.perf_counter()
    content = failure = None
    called = False
    try:
        _refuse_other_library(call)
        function = _prepared(call.function)
        inputs = {argument: _resolved(given, fetch) for argument, given in call.inputs.items()}
        called = True
        result = function(**call.parameters, **inputs)
        called = False
        content = encode(result)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        failure = Failure(call.task, reason, called and isinstance(error, SteelyardError), _detail(error))
    return Performed(time.perf_counter() - began, socket.gethostname(), content, failure)


@cache
def _prepared(reference: str) -> Callable[..., Any]:
    """Import a function and keep it, and all that it brought along, to one thread.

    The last bits of a matrix product depend on the number of threads that share it.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    function = function_of(reference)
    threadpool_limits(1)
    set_thread_count(1)
    return function


def _resolved(given: Given | Group, fetch: Callable[[str], bytes]) -> Any:
    if isinstance(given, list):
        return {name: _resolved(item, fetch) for name, item in given}
    return decode(fetch(given)) if isinstance(given, str) else Failure(given["task"], given["reason"])


def _refuse_other_library(call: Call) -> None:
    if call.library != __version__:
        raise RuntimeError(
            f"the worker on {socket.gethostname()} runs steelyard {__version__}, the campaign {call.library}"
        )


def _detail(error: BaseException) -> str:
    lines = traceback.format_exception(error)
    evidence = getattr(error, "evidence", None) or {}
    for name, value in evidence.items():
        lines.append(f"{name} = {value!r}"[:MOST_EVIDENCE] + "\n")
    return "".join(lines)
