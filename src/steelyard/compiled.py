"""The one door to Numba: functions compiled on first use, kept on disk, shared among threads and processes.

Machine code is filed by *what it is made from*: the digest of a kernel covers its own bytecode and constants,
and those of every kernel it calls. Numba's own cache looks at the file of the function alone: it forgets
everything in a file when a comment changes there, and runs stale code when a callee in another file does.
Files live in the user's cache folder, so they serve every copy of the package on the machine, survive an
upgrade that leaves a kernel as it was, and need no right to write to the installation.

Several processes that need one kernel compile it once: whoever comes first claims it, the others wait for its
file. A kernel that is needed once and does little need not be compiled at all, see `interpreted_while_cheap`.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import secrets
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, update_wrapper
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numba
import numpy as np
from numba.core import serialize
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.types import ExternalFunction

from steelyard.files import FilePath

F = TypeVar("F", bound=Callable[..., Any])

FOLDER_VARIABLE = "STEELYARD_CACHE"
"""Environment variable with the folder for machine code, instead of the user's cache folder."""
UNUSED_DAYS = 60
"""Machine code that no run has asked for in so many days is removed."""
PATIENCE = 120.0
"""Seconds to wait for another process that compiles the same kernel; then this one does it too."""
LOADING = 0.2
"""Seconds that Python may spend on a kernel whose machine code lies on disk: about what loading it takes."""
COMPILING = 4.0
"""Seconds that Python may spend on a kernel that would have to be compiled."""


def kernel(function: F) -> F:
    """Compile a function to machine code, kept on disk; it runs without the interpreter's lock.

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
    """Compile a function made of long sums, which the compiler may reorder and fuse; kept on disk.

    Reordered sums use vector instructions; the last bits then depend on the processor, not on the run.

    Args:
        function: a function of numbers and arrays.

    Returns:
        The compiled function, with the signature of the original.
    """
    return _compile(function, fastmath={"reassoc", "contract"})


def interpreted_while_cheap(seconds: Callable[..., float]) -> Callable[[F], F]:
    """Let Python itself run a kernel until machine code would have paid: compiling takes seconds.

    Python does the same operations in the same order, so the bits are those of the machine code as long as
    the kernel sums in loops (`np.sum` adds in another order). The machine code takes over once the time spent
    so far and the estimate for the next call exceed `LOADING`, or `COMPILING` where it is not on disk.

    Args:
        seconds: estimates how long Python takes for a call, from its arguments.

    Returns:
        A decorator of kernels that are called from Python only.
    """

    def decorate(function: F) -> F:
        if not isinstance(function, Dispatcher):
            # Numba is switched off (NUMBA_DISABLE_JIT).
            return function
        return cast(F, update_wrapper(_InterpretedWhileCheap(function, seconds), function))

    return decorate


@contextmanager
def never_interpreted() -> Iterator[None]:
    """Inside, every kernel is compiled, also the cheap ones: to make machine code ahead, and to time it."""
    global _cheap_is_interpreted
    _cheap_is_interpreted = False
    try:
        yield
    finally:
        _cheap_is_interpreted = True


def before_compilation(tell: Callable[[str], None] | None) -> None:
    """Call a function whenever this process has to wait for machine code; loading it from disk is no waiting.

    Args:
        tell: called with the name of the kernel; kernels that this one calls are not named. None for nobody.
    """
    global _tell
    _tell = tell


def cache_folder() -> Path:
    """Where machine code is kept between runs: `$STEELYARD_CACHE`, or the user's cache folder."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "steelyard" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "steelyard"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard"


def _compile(function: F, *, fastmath: bool | set[str], inline: Literal["never", "always"] = "never") -> F:
    compile_ = numba.njit(nogil=True, fastmath=fastmath, inline=inline, error_model="numpy")
    dispatcher: Any = compile_(function)
    dispatcher._cache = _MachineCode(dispatcher)
    return cast(F, dispatcher)


class _InterpretedWhileCheap:
    """See `interpreted_while_cheap`."""

    def __init__(self, function: Callable[..., Any], seconds: Callable[..., float]) -> None:
        self.compiled: Any = function
        self._seconds = seconds
        self._spent = 0.0

    def __call__(self, *arguments: Any) -> Any:
        if not self._is_cheap(arguments):
            return self.compiled(*arguments)
        started = time.perf_counter()
        # As in machine code, divisions by zero go on with infinities.
        with np.errstate(all="ignore"):
            result = _interpreted(self.compiled)(*arguments)
        self._spent += time.perf_counter() - started
        return result

    def _is_cheap(self, arguments: tuple[Any, ...]) -> bool:
        if self.compiled.signatures or not _cheap_is_interpreted:
            return False
        expected = self._spent + self._seconds(*arguments)
        if expected <= LOADING:
            return True
        if expected > COMPILING:
            return False
        signature = tuple(self.compiled.typeof_pyval(value) for value in arguments)
        return not self.compiled._cache.holds(signature)


_cheap_is_interpreted = True
_tell: Callable[[str], None] | None = None
_compiling: list[Path] = []
_plain_modules: dict[str, dict[str, Any]] = {}


def _interpreted(dispatcher: Any) -> Callable[..., Any]:
    """A kernel as plain Python, with all kernels it calls."""
    function = dispatcher.py_func
    names = _plain_modules.get(function.__module__)
    if names is None:
        names = _plain_modules[function.__module__] = dict(function.__globals__)
        for name, value in list(names.items()):
            if isinstance(value, Dispatcher):
                names[name] = _interpreted(value)
    return types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )


class _MachineCode:
    """The machine code of one kernel on disk, one file a signature: what Numba calls a cache."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._claims: dict[str, int] = {}

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(_folder())

    def holds(self, signature: tuple[Any, ...]) -> bool:
        """Whether there is a file for a signature."""
        return self._file(signature, self._dispatcher.targetctx).is_file()

    def load_overload(self, signature: Any, context: Any) -> CompileResult | None:
        """The machine code of a signature, or None: then the caller compiles and `save_overload` follows."""
        # What Numba knows of Python and NumPy serves to compile, and its compiler loads it (`refresh`), which
        # takes a third of a second. Machine code that is there needs the runtime it is linked to, no more.
        rtsys.initialize(context)
        file = self._file(signature, context)
        found = _read(file)
        if found is None:
            if _tell is not None and not _compiling:
                _tell(_spoken(self._dispatcher.py_func))
            # Types that Numba gave up are claimed by this process already, which must not wait for itself.
            if str(file) not in self._claims and (claim := _claim(file)) is not None:
                self._claims[str(file)] = claim
                # Between the look and the claim another process may have finished.
                found = _read(file)
        if found is None:
            _compiling.append(file)
            return None
        self._release(file)
        rebuild: Any = CompileResult._rebuild
        return cast(CompileResult, rebuild(context, *found))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the machine code of a signature."""
        file = self._file(signature, result.target_context)
        if not result.lifted and not result.library.has_dynamic_globals:
            dumps: Any = serialize.dumps
            _write(file, dumps(result._reduce()))
            _remove_unused()
        # What lies above it was given up, as when Numba tries other types.
        if file in _compiling:
            del _compiling[_compiling.index(file) :]
        self._release(file)

    def enable(self) -> None:
        """Always enabled."""

    def disable(self) -> None:
        """Always enabled."""

    def flush(self) -> None:
        """Nothing is kept back."""

    def _release(self, file: Path) -> None:
        claim = self._claims.pop(str(file), None)
        if claim is not None:
            # Who waits for it finds the machine code; nobody needs the name any more.
            _claim_file(file).unlink(missing_ok=True)
            os.close(claim)

    def _file(self, signature: Any, context: Any) -> Path:
        processor = context.codegen().magic_tuple()
        key = repr((kernel_digest(self._dispatcher), str(signature), processor))
        return _folder() / f"{hashlib.sha256(key.encode()).hexdigest()[:40]}.machine-code"


def _spoken(function: Any) -> str:
    """The name of a kernel in words; a general one after its module, as in "loop: run"."""
    module = function.__module__.rpartition(".")[2].removeprefix("steelyard_").split("_")[0]
    name = function.__name__.strip("_").replace("_", " ")
    return f"{module}: {name}" if name in ("run", "advance") else name


def _read(file: Path) -> tuple[Any, ...] | None:
    """What a file of machine code holds, or None where there is none or it is damaged."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(content[32:]).digest() != content[:32]:
        return None
    with suppress(OSError):
        os.utime(file)
    return cast(tuple[Any, ...], pickle.loads(content[32:]))


def _write(file: Path, content: bytes) -> None:
    """Write a file that appears whole; a full or lost disk costs the next run a compilation, nothing else."""
    beside = file.with_name(f".{secrets.token_hex(8)}.tmp")
    with suppress(OSError):
        try:
            beside.write_bytes(hashlib.sha256(content).digest() + content)
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)


def _claim(file: Path) -> int | None:
    """The right to compile one file, which ends with the process; None if another one made it meanwhile."""
    try:
        # Not on Windows: two processes may then compile the same kernel.
        import fcntl

        claim = os.open(_claim_file(file), os.O_CREAT | os.O_RDWR, 0o600)
    except (ImportError, OSError):
        return None
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        with suppress(OSError):
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return claim
        time.sleep(0.02)
    os.close(claim)
    return None


def _claim_file(file: Path) -> Path:
    return file.with_suffix(".claim")


@cache
def _folder() -> Path:
    """The folder for this Python and this Numba; a new one for this process where that is not private."""
    kept = (
        f"python{sys.version_info[0]}{sys.version_info[1]}-numba{numba.__version__}-llvm{version('llvmlite')}"
    )
    folder = cache_folder() / "machine-code" / kept
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if is_private(folder) and os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="steelyard-"))


def is_private(folder: FilePath) -> bool:
    """Whether nobody but the user may write to a folder: machine code from another one is not run.

    Args:
        folder: an existing folder.

    Returns:
        True if it is the user's own and not writable for others, or where the system has no such notion.
    """
    if not hasattr(os, "getuid"):
        return True
    status = Path(folder).stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


@cache
def _remove_unused() -> None:
    """Remove, once in a process, what no run has asked for in a long time."""
    oldest = time.time() - UNUSED_DAYS * 86400
    with suppress(OSError):
        for file in _folder().iterdir():
            with suppress(OSError):
                if file.stat().st_mtime < oldest:
                    file.unlink()


@cache
def kernel_digest(dispatcher: Any) -> str:
    """Digest of all that decides what a kernel does: its code, its options and the kernels it calls.

    Args:
        dispatcher: the kernel.

    Returns:
        64 hexadecimal digits.
    """
    function = getattr(dispatcher, "py_func", dispatcher)
    # The order of a set changes from process to process.
    options = sorted(
        (name, sorted(value) if isinstance(value, set) else value)
        for name, value in getattr(dispatcher, "targetoptions", {}).items()
    )
    parts: list[object] = [function.__module__, function.__qualname__, function.__defaults__, options]
    parts += _parts_of_code(function.__code__, function.__doc__)
    for name in sorted(set(_names(function.__code__))):
        if name in function.__globals__:
            parts += [name, _part_of_global(function.__globals__[name], dispatcher)]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _parts_of_code(code: types.CodeType, documentation: str | None = None) -> Iterator[object]:
    yield code.co_code
    yield code.co_names
    yield code.co_varnames
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _parts_of_code(constant)
        elif constant is not documentation or documentation is None:
            yield constant


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _part_of_global(value: Any, caller: Any) -> object:
    """What a name that a kernel looks up stands for."""
    if isinstance(value, Dispatcher):
        return "itself" if value is caller else kernel_digest(value)
    if isinstance(value, types.ModuleType):
        return value.__name__, getattr(value, "__version__", None)
    if isinstance(value, ExternalFunction):
        return value.symbol, str(value.sig)
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, type):
        return value.__module__, value.__qualname__, getattr(value, "_fields", None)
    if value is None or isinstance(value, (bool, int, float, str, bytes, tuple)):
        return value
    # An intrinsic, say: what it does stands in the sources of its room.
    return type(value).__qualname__, getattr(value, "__name__", None), _sources_digest(value)


def _sources_digest(value: Any) -> str:
    """Digest of the sources beside the module of an object; nothing of modules that stand for a digest."""
    module = sys.modules.get(getattr(value, "__module__", None) or type(value).__module__)
    return sources_digest(module.__file__) if module is not None and module.__file__ else ""


@cache
def sources_digest(file: str) -> str:
    """Digest of the Python sources in the folder of a file.

    Args:
        file: path of any file in the folder.

    Returns:
        64 hexadecimal digits.
    """
    content = hashlib.sha256()
    for source in sorted(Path(file).parent.glob("*.py")):
        content.update(source.name.encode() + b"\0" + hashlib.sha256(source.read_bytes()).digest())
    return content.hexdigest()
