"""Copies of compiled modules with some of their names bound to other functions, cached on disk by content.

Numba caches a function by the file that defines it and cannot tell two uses of one function with different
callees apart. So each combination gets a copy of the module in a folder of its own, named by a digest of
everything it depends on, where Numba keeps the machine code. What runs is always the package's own source;
the file in the folder is there for Numba to find and is rewritten whenever it differs.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from steelyard.archive import digest
from steelyard.dynamics.straight_line.seal import is_private, remove_unsealed, seal
from steelyard.errors import InputError
from steelyard.files import write_text

FOLDER_VARIABLE = "STEELYARD_CACHE"
"""Environment variable with the folder for machine code, instead of the user's cache folder."""

_made: dict[tuple[str, str], ModuleType] = {}


def specialise(template: ModuleType, key: str, **bindings: object) -> ModuleType:
    """A copy of a module in which some names mean something else.

    Args:
        template: a module of this package whose functions look the names up when they are compiled.
        key: digest of everything the bindings stand for.
        bindings: what each name means in the copy.

    Returns:
        The copy; the same object for the same template and key.
    """
    known = _made.get((template.__name__, key))
    if known is not None:
        return known
    source, short = inspect.getsource(template), template.__name__.rpartition(".")[2]
    whole = digest([template.__name__, source, key])[:32]
    path = _place(whole, f"{short}.py", source)
    remove_unsealed(path.parent)
    module = ModuleType(f"steelyard_{short}_{whole}", template.__doc__)
    module.__file__ = str(path)
    # Numba looks a cached function's module up by name.
    sys.modules[module.__name__] = module
    exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)
    module.__dict__.update(bindings)
    _made[template.__name__, key] = module
    return module


def call(module: ModuleType, name: str, *arguments: object) -> Any:
    """Call a function of a copy, and seal the machine code if that made any.

    Args:
        module: what `specialise` gave.
        name: the function.
        arguments: its arguments.

    Returns:
        Its result.
    """
    function = getattr(module, name)
    compiled = sum(function.stats.cache_misses.values())
    with _interrupted_afterwards():
        result = function(*arguments)
    if sum(function.stats.cache_misses.values()) > compiled:
        for made in _made.values():
            seal(Path(str(made.__file__)).parent)
    return result


@contextmanager
def _interrupted_afterwards() -> Iterator[None]:
    """Hear an interruption after a call: Numba's own C code may crash on one that falls into it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    heard: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        before(*heard[0])


def _place(folder: str, file: str, source: str) -> Path:
    """Write the copy where Numba will find it, unless it is there already."""
    for root in (cache_folder, _temporary_folder):
        path = root() / folder / file
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not is_private(path.parent):
                continue
            if not path.is_file() or path.read_bytes() != source.encode():
                write_text(path, source)
        except (OSError, InputError):
            continue
        return path
    raise InputError("no folder for machine code can be written to.", place=str(cache_folder()))


def cache_folder() -> Path:
    """Where machine code is kept between runs: `$STEELYARD_CACHE`, or the user's cache folder."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "steelyard" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "steelyard"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard"


@cache
def _temporary_folder() -> Path:
    """For machines whose cache folder cannot be written to: machine code lives as long as the process."""
    return Path(tempfile.mkdtemp(prefix="steelyard-"))


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
        content.update(source.name.encode() + b"\0" + source.read_bytes())
    return content.hexdigest()
