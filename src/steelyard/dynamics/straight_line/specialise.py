"""Copies of compiled modules with some of their names bound to other functions.

Numba looks the names of a kernel up once: one kernel cannot call this controller's step now and another one's
later. So each combination gets a copy of the module, named by a digest of everything it depends on. What runs
is always the package's own source, and machine code is filed by that name (`compiled`).
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from steelyard.archive import digest
from steelyard.interruptions import interrupted_afterwards

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
    module = ModuleType(
        f"steelyard_{short}_{digest([template.__name__, source, key])[:32]}", template.__doc__
    )
    module.__file__ = template.__file__
    # Numba looks the module of a loaded kernel up by name.
    sys.modules[module.__name__] = module
    exec(compile(source, str(template.__file__), "exec", dont_inherit=True), module.__dict__)
    module.__dict__.update(bindings)
    _made[template.__name__, key] = module
    return module


def call(module: ModuleType, name: str, *arguments: object) -> Any:
    """Call a function of a copy.

    Args:
        module: what `specialise` gave.
        name: the function.
        arguments: its arguments.

    Returns:
        Its result.
    """
    # Numba's own C code may crash on an interruption that falls into it.
    with interrupted_afterwards():
        return getattr(module, name)(*arguments)
