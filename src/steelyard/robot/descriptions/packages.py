"""The packages that descriptions name: where they lie, and what of them may be opened.

`package://name/path` of a mesh and `$(find name)` of a xacro file mean a folder. It is looked for, in this
order: around the description, in a folder of that name that it lies in (`name/urdf/robot.urdf` beside
`name/meshes`) or one beside such a folder that says it is a package (`package.xml`); in the folders that the
user names (`--package-path`); in the ROS environment (`ROS_PACKAGE_PATH`, `AMENT_PREFIX_PATH`); among what is
installed beside this Python, and in the folder where `robot_descriptions` keeps what it has fetched.

What lies around a description came with it and is trusted as little: nothing there leads out of its package,
symbolic links neither. The other places are the user's own; there a link is followed, as those that colcon
makes when asked to link instead of to copy, but a name still cannot climb out of the package.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from steelyard.errors import InputError
from steelyard.files import is_regular
from steelyard.robot.link import MeshSource

MANIFEST = "package.xml"
_NAME = r"[A-Za-z0-9_][\w.+-]*"
"""What a package may be called: no path, so that its name leads nowhere else."""
_LEVELS = 6
"""Folders above the description that may be the package it lies in."""
_DEEP, _MANY = 3, 5000
"""How deep packages may lie below a folder that is named, and how many folders are looked at for them."""
_MANIFEST_BYTES = 64 * 2**10
"""What is read of a manifest to see whose it is."""


@dataclass(frozen=True)
class Package:
    """A package that was found.

    Attributes:
        name: what descriptions call it.
        folder: where it lies, free of symbolic links.
        own: whether the user or an installation put it there, and not whoever wrote the description.
    """

    name: str
    folder: Path
    own: bool

    def file(self, path: str) -> Path | None:
        """A regular file of the package, whatever it is called.

        Args:
            path: as seen from the package's folder.

        Returns:
            Its path; None where there is no such file.

        Raises:
            InputError: the path leads out of the package.
        """
        return regular_file(self.folder / path.lstrip("/"), [self])


def regular_file(path: Path, packages: Sequence[Package]) -> Path | None:
    """A regular file inside one of some packages; a pipe or a device is none.

    Args:
        path: absolute.
        packages: where it may lie.

    Returns:
        Its path without symbolic links; None where there is no such file.

    Raises:
        InputError: it leads out of all of them; it is not opened.
    """
    try:
        real = path.resolve()
        # Without touching the disk: `a/../b` is b, whatever a is.
        named = Path(os.path.normpath(path))
        inside = any(
            real.is_relative_to(package.folder) or (package.own and named.is_relative_to(package.folder))
            for package in packages
        )
        if inside:
            return real if is_regular(real) else None
    except (OSError, RuntimeError, ValueError):
        # Names too long, with a null byte, or through a loop of symbolic links.
        return None
    raise InputError("lies outside and was not opened.", place=str(path))


class Packages:
    """Finds packages for one description; each is looked for once."""

    def __init__(self, source: MeshSource | None) -> None:
        """Start at a description.

        Args:
            source: where it lies; None where it was given as text, and only the user's own places are left.

        Raises:
            InputError: a folder of the package path does not exist.
        """
        self._folder = None if source is None else Path(source.folder)
        self._named: dict[str, Path] = {}
        self._path: list[Path] = []
        for text in () if source is None else source.package_path:
            name, equals, folder = text.partition("=")
            stated = bool(equals) and re.fullmatch(_NAME, name) is not None
            place = Path(folder if stated else text).expanduser()
            if not place.is_dir():
                raise InputError(
                    "is no folder.",
                    place=f"--package-path {text}",
                    remedy="Name a folder that holds packages, a package, or NAME=FOLDER.",
                )
            if stated:
                self._named[name] = place
            else:
                self._path.append(place)
        self._found: dict[str, Package | None] = {}

    @property
    def named(self) -> list[Package]:
        """The folders of the package path themselves, each as a package of which everything may be opened."""
        places = (*self._path, *self._named.values())
        return [Package(place.name, place.resolve(), own=True) for place in places]

    @property
    def found(self) -> list[Package]:
        """What was looked for and found so far."""
        return [package for package in self._found.values() if package is not None]

    def find(self, name: str) -> Package | None:
        """A package by its name.

        Args:
            name: as the description states it.

        Returns:
            The package; None where it is not at hand.
        """
        if name not in self._found:
            self._found[name] = self._look_up(name) if re.fullmatch(_NAME, name) else None
        return self._found[name]

    def _look_up(self, name: str) -> Package | None:
        for own, places in ((False, self._around(name)), (True, self._elsewhere(name))):
            try:
                for place in places:
                    if place.is_dir():
                        return Package(name, place.resolve(), own)
            except OSError:
                continue
        return None

    def _around(self, name: str) -> Iterator[Path]:
        if self._folder is None:
            return
        folder = self._folder.resolve()
        around = [folder, *folder.parents][:_LEVELS]
        yield from (above for above in around if above.name == name)
        yield from (above / name for above in around if (above / name / MANIFEST).is_file())

    def _elsewhere(self, name: str) -> Iterator[Path]:
        if name in self._named:
            yield self._named[name]
        yield from _below(self._path, name, self._listed)
        yield from _below(_listed("ROS_PACKAGE_PATH"), name)
        yield from (prefix / "share" / name for prefix in _listed("AMENT_PREFIX_PATH"))
        yield from _installed(name)
        cache = os.environ.get("ROBOT_DESCRIPTIONS_CACHE") or "~/.cache/robot_descriptions"
        yield from _below([Path(cache).expanduser()], name)

    @cached_property
    def _listed(self) -> list[Path]:
        """The folders below the package path, looked at once."""
        return list(_folders(self._path))


def _below(roots: Sequence[Path], name: str, listed: Sequence[Path] | None = None) -> Iterator[Path]:
    """Folders that are the package, or hold it: what they are called, and then what their manifest says."""
    yield from (path for root in roots for path in (root, root / name) if path.name == name)
    folders = list(_folders(roots)) if listed is None else listed
    yield from (folder for folder in folders if folder.name == name)
    yield from (folder for folder in folders if stated_name(folder) == name)


def _folders(roots: Sequence[Path]) -> Iterator[Path]:
    """Folders and those below them, the nearest first; what is inside a package is its own matter."""
    waiting = [(root, 0) for root in roots if root.is_dir()]
    for count, (folder, depth) in enumerate(waiting):
        if count >= _MANY:
            return
        yield folder
        if depth == _DEEP or (depth and (folder / MANIFEST).is_file()):
            continue
        try:
            names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        except OSError:
            continue
        waiting += [(folder / name, depth + 1) for name in names if not name.startswith(".")]


def stated_name(folder: Path) -> str:
    """What a package calls itself; nothing where it has no manifest.

    Args:
        folder: of the package.

    Returns:
        The name.
    """
    manifest = folder / MANIFEST
    if not is_regular(manifest):
        return ""
    try:
        with manifest.open("rb") as file:
            text = file.read(_MANIFEST_BYTES).decode(errors="replace")
    except OSError:
        return ""
    match = re.search(r"<name>\s*+([^<\s]++)\s*+</name>", text)
    return match[1] if match else ""


def _listed(variable: str) -> list[Path]:
    """The folders that a variable of the environment lists."""
    return [Path(text) for text in os.environ.get(variable, "").split(os.pathsep) if text]


def _installed(name: str) -> Iterator[Path]:
    """Where a distribution of Python may have put a package: beside modules, or in a `share`."""
    sites = [Path(text) for text in sys.path if text.endswith(("site-packages", "dist-packages"))]
    for place in (*(site / name for site in sites), *(site / name / "share" / name for site in sites)):
        if (place / MANIFEST).is_file():
            yield place
    yield from (site / "cmeel.prefix" / "share" / name for site in sites)
    yield Path(sys.prefix) / "share" / name


def find_package(name: str) -> Path | None:
    """The folder of a package in the user's own places, whoever asks for it.

    Args:
        name: of the package.

    Returns:
        Its folder; None where it is not at hand.
    """
    found = Packages(None).find(name)
    return None if found is None else found.folder
