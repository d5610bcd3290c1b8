"""The front door of a room: its names are known at once, its files are loaded when one of them is asked for.

    if TYPE_CHECKING:
        from steelyard.room.file import noun

    __all__ = ["noun"]

    open_door(__name__)

The imports are the only list: type checkers follow them, and the door reads them. So a command loads the
files that it runs, not all files of every room it enters. (Scientific Python, SPEC 1, does so by stubs.)
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_IMPORTS = re.compile(r"^    from (?P<file>[\w.]+) import (?:\((?P<many>[^)]*)\)|(?P<few>.*))$", re.MULTILINE)
_NAME = re.compile(r"(\w+)(?: as (\w+))?")


def open_door(package: str) -> None:
    """Let a package load what the imports under its `if TYPE_CHECKING:` name, each when first asked for.

    Args:
        package: the dotted name of the package, which calls this at the end of its `__init__.py`.
    """
    door = sys.modules[package]
    loader = door.__spec__.loader if door.__spec__ is not None else None
    source = loader.get_source(package) if loader is not None and hasattr(loader, "get_source") else None
    if source is None:
        raise ImportError(f"{package}: its source is not at hand, which lists what it offers")
    homes = {
        name: found["file"]
        for found in _IMPORTS.finditer(source)
        for name, _ in _NAME.findall(found["many"] or found["few"])
    }
    door.__dict__["_homes"] = homes
    door.__class__ = _Door


class _Door(ModuleType):
    _homes: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        if name not in self._homes:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        value = getattr(import_module(self._homes[name]), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Python sets `room.noun` to the file `room/noun.py` once that is loaded; the noun in it has the name.
        if isinstance(value, ModuleType) and self._homes.get(name) == value.__name__:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self._homes})
