"""Robots by name from `robot_descriptions`, which fetches their files with git when first used.

`rd:panda` is its module `panda_description`, `rd:panda_mj` the one in MJCF. The module says where the file
lies, which arguments its xacro takes, and where the packages are that it names; what it then reads is read as
any other description.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from steelyard.errors import InputError, MissingExtraError, UnknownNameError

PREFIX = "rd:"
_COLLECTION = "robot_descriptions"
_ENDING = "_description"
_FILES = ("URDF_PATH", "XACRO_PATH", "MJCF_PATH")
"""What a module calls its file, the first that it has."""


@dataclass(frozen=True)
class NamedDescription:
    """A description of the collection.

    Attributes:
        path: its file.
        package_path: folders in which the packages lie that it names, see `packages`.
        arguments: values of xacro arguments that the collection gives it.
    """

    path: Path
    package_path: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)


def named_description(name: str) -> NamedDescription:
    """Look a robot up in the collection; its files are fetched where they are not in its cache yet.

    Args:
        name: `rd:` and the robot's name, as `rd:panda`.

    Returns:
        Where it lies.

    Raises:
        MissingExtraError: the collection is not installed.
        UnknownNameError: it has no such robot; lists those it has.
        InputError: its files could not be fetched.
    """
    called = name.removeprefix(PREFIX).removesuffix(_ENDING)
    try:
        collection = importlib.import_module("robot_descriptions")
    except ImportError as error:
        raise MissingExtraError(f"'{PREFIX}{called[:80]}'", _COLLECTION, "descriptions") from error
    modules = [module.name for module in pkgutil.iter_modules(collection.__path__)]
    known = sorted(x.removesuffix(_ENDING) for x in modules if x.endswith(_ENDING) and x[0] != "_")
    if not re.fullmatch(r"\w+", called) or called not in known:
        raise UnknownNameError("robot of robot_descriptions", called, known, place=name[:80])
    return _stated(_fetched(f"{_COLLECTION}.{called}{_ENDING}", name), name)


def _fetched(module: str, name: str) -> ModuleType:
    """The module, which fetches its files while it is loaded and fails in any way where it cannot."""
    try:
        # What it prints of its progress must not stand between the words of an answer.
        with contextlib.redirect_stdout(sys.stderr):
            return importlib.import_module(module)
    except Exception as error:
        words = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(
            f"its files could not be fetched: {words}.",
            place=name,
            remedy="robot_descriptions fetches them with git, over the network, into the folder that "
            "ROBOT_DESCRIPTIONS_CACHE names; copy them there, or give the path of a file.",
        ) from error


def _stated(module: ModuleType, name: str) -> NamedDescription:
    file = next((str(getattr(module, word)) for word in _FILES if hasattr(module, word)), None)
    if file is None:
        raise InputError("is neither URDF, xacro nor MJCF.", place=name)
    packages: Mapping[str, str] = getattr(module, "XACRO_PACKAGE_PATHS", {})
    path = [f"{package}={folder}" for package, folder in packages.items()]
    path += [
        str(getattr(module, word)) for word in ("PACKAGE_PATH", "REPOSITORY_PATH") if hasattr(module, word)
    ]
    if hasattr(module, "REPOSITORY_PATH"):
        # Descriptions of a repository may name it as a package, by the name of its folder.
        path.append(str(Path(module.REPOSITORY_PATH).parent))
    stated: Mapping[str, str] = getattr(module, "XACRO_ARGS", {}) if not hasattr(module, "URDF_PATH") else {}
    arguments = {key: str(value) for key, value in stated.items()}
    return NamedDescription(Path(file), tuple(x for x in path if _is_folder(x)), arguments)


def _is_folder(text: str) -> bool:
    return Path(text).is_dir() or Path(text.partition("=")[2] or text).is_dir()
