"""The meshes a description names, found in its own folder or in the package it names, and read.

Relative paths and `file://` start at the description's folder and may lead to wherever its package reaches
(the nearest folder above it with a `package.xml`), or into a folder of the package path; `package://name/path`
leads into that package, see `packages`. Nothing is opened elsewhere, and nothing but regular files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import Mesh
from steelyard.robot.descriptions.packages import MANIFEST, Package, Packages, regular_file
from steelyard.robot.descriptions.xml import LARGEST
from steelyard.robot.link import MeshFile, MeshSource

MAX_MESH_BYTES = 16 * 2**20
_LEVELS = 6
"""Folders above the description among which its package is looked for."""


class MeshFolder:
    """Finds and reads the meshes of one description; each name is looked up, and reported, once."""

    def __init__(self, meshes: MeshSource | FilePath | None, findings: list[Finding]) -> None:
        """Look into a folder.

        Args:
            meshes: where the description lies, and packages; `None` where it was given as text, and nothing
                is looked up.
            findings: where to report what cannot be reached.

        Raises:
            InputError: a folder of the package path does not exist.
        """
        source = MeshSource.of(meshes)
        self._folder = None if source is None else Path(source.folder)
        self._packages = Packages(source)
        self._findings = findings
        self._found: dict[str, Path | None] = {}
        self._reported: set[str] = set()
        self._why: dict[str, str] = {}
        self._meshes: dict[str, Mesh | None] = {}

    def find(self, name: str, place: str) -> Path | None:
        """The file of a mesh; `None` where it cannot be reached.

        Args:
            name: as the description states it.
            place: file and line that names it.

        Returns:
            The path of a regular file.
        """
        if self._folder is None:
            return None
        if name not in self._found:
            self._found[name] = self._look_up(name, self._folder, place)
        return self._found[name]

    def read(self, shape: MeshFile, place: str) -> Mesh | None:
        """A mesh in metres, scaled as the description says; `None` where it cannot be had.

        Args:
            shape: the mesh's name and scale.
            place: file and line that names it.
        """
        path = self.find(shape.file, place)
        if path is None:
            return None
        if shape.file not in self._meshes:
            self._meshes[shape.file] = self._read(path, shape.file, place)
        mesh = self._meshes[shape.file]
        return None if mesh is None else Mesh(mesh.vertices * np.array(shape.scale), mesh.faces)

    def why(self, name: str) -> str:
        """Why a mesh cannot be had, in words that follow its name.

        Args:
            name: as the description states it; it has been asked for.

        Returns:
            The words; of a description given as text, that its folder is not known.
        """
        return self._why.get(name, "the folder of its description is not known here")

    def _look_up(self, name: str, folder: Path, place: str) -> Path | None:
        shown = _end_of(name)
        scheme, _, rest = name.partition("://") if re.match(r"[A-Za-z][\w+.-]*://", name) else ("", "", name)
        if scheme in ("package", "model"):
            return self._in_package(name, *rest.partition("/")[::2], place)
        if scheme not in ("", "file"):
            self._why[name] = "it is a remote address, which is not fetched"
            self._report(
                Severity.WARNING, "mesh-outside", f"mesh '{shown}' is a remote address; not fetched.", place
            )
            return None
        home = [Package("", place, own=False) for place in (folder.resolve(), _package_of(folder))]
        try:
            path = regular_file(folder.resolve() / rest, [*home, *self._packages.named])
        except InputError:
            self._outside(name, "the description's folder", place)
            return None
        return self._exists(name, path, place)

    def _in_package(self, name: str, package: str, rest: str, place: str) -> Path | None:
        found = self._packages.find(package)
        if found is None:
            self._why[name] = f"package '{_end_of(package)}' was not found; --package-path names its folder"
            if package not in self._reported:
                self._reported.add(package)
                called = f"{name.partition('://')[0]}://{_end_of(package)}"
                message = (
                    f"meshes are named by '{called}', and that package "
                    "is neither around the file nor in ROS nor installed; --package-path names its folder."
                )
                self._report(Severity.INFO, "mesh-unresolved", message, place)
            return None
        try:
            return self._exists(name, found.file(rest), place)
        except InputError:
            self._outside(name, "its package", place)
            return None

    def _exists(self, name: str, path: Path | None, place: str) -> Path | None:
        if path is None:
            self._why[name] = "there is no such file"
            message = f"there is no mesh file '{_end_of(name)}'."
            self._report(Severity.WARNING, "mesh-missing", message, place)
        return path

    def _outside(self, name: str, home: str, place: str) -> None:
        self._why[name] = f"it lies outside {home}; --package-path names a folder that may be opened"
        message = f"mesh '{_end_of(name)}' lies outside {home} and was not opened."
        self._report(Severity.WARNING, "mesh-outside", message, place)

    def _read(self, path: Path, name: str, place: str) -> Mesh | None:
        shown = _end_of(name)
        try:
            if path.stat().st_size > MAX_MESH_BYTES:
                self._why[name] = f"it is larger than {MAX_MESH_BYTES >> 20} MiB"
                message = f"mesh '{shown}' is larger than {MAX_MESH_BYTES >> 20} MiB and was not checked."
                self._report(Severity.INFO, "mesh-not-read", message, place)
                return None
            mesh = Mesh.read(path)
            if float(np.abs(mesh.vertices).max()) > LARGEST:
                raise InputError(f"holds a coordinate of more than {LARGEST:g}.")
            if mesh.doubt:
                message = f"mesh '{shown}' {mesh.doubt}; write it with Z up, or as STL."
                self._report(Severity.WARNING, "doubtful-mesh", message, place)
            return mesh
        except InputError as error:
            words = f"{error.message} {error.remedy}".strip()
        except OSError as error:
            words = f"{error.strerror}."
        self._why[name] = words.rstrip(".")
        self._report(Severity.WARNING, "bad-mesh", f"mesh '{shown}': {words}", place)
        return None

    def _report(self, severity: Severity, code: str, message: str, place: str) -> None:
        self._findings.append(Finding(severity, code, message, place))


def mesh_source(folder: FilePath, package_path: Sequence[FilePath] = ()) -> MeshSource:
    """Where the meshes of a description lie, wherever a program goes meanwhile.

    Args:
        folder: of the description.
        package_path: folders in which packages are looked for.

    Returns:
        The source, of absolute paths.
    """
    return MeshSource(
        str(Path(folder).absolute()), tuple(_absolute(os.fspath(text)) for text in package_path)
    )


def _absolute(text: str) -> str:
    name, equals, folder = text.partition("=")
    if equals and not Path(text).is_dir():
        return f"{name}={Path(folder).expanduser().absolute()}"
    return str(Path(text).expanduser().absolute())


def _package_of(folder: Path) -> Path:
    """The folder of the package that a description lies in; its own folder where it lies in none."""
    own = folder.resolve()
    return next((place for place in [own, *own.parents][:_LEVELS] if (place / MANIFEST).is_file()), own)


def _end_of(name: str) -> str:
    """A file name as a message may show it: on one line, and by its end where it is long."""
    line = " ".join(name.split())
    return line if len(line) <= 60 else "…" + line[-60:]
