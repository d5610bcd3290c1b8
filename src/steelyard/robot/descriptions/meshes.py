"""The meshes a description names, looked for inside its own folder, or inside the package it names.

`package://name/path` is looked for where a copy of a ROS package has it: in a folder of that name that the
description lies in (`name/urdf/robot.urdf` beside `name/meshes`), in one beside such a folder if it says that
it is a package (`package.xml`), and in those that `ROS_PACKAGE_PATH` and `AMENT_PREFIX_PATH` list. Nothing is
opened outside the package.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import Mesh, read_mesh
from steelyard.robot.descriptions.xml import LARGEST
from steelyard.robot.link import MeshFile

MAX_MESH_BYTES = 16 * 2**20
_READABLE = (".stl", ".obj")
_LEVELS = 6
"""Folders above the description that may be the package it lies in."""


class MeshFolder:
    """Finds and reads the meshes of one description; each name is looked up, and reported, once."""

    def __init__(self, folder: FilePath | None, findings: list[Finding]) -> None:
        """Look into a folder.

        Args:
            folder: where the description lies; `None` where it was given as text, and nothing is looked up.
            findings: where to report what cannot be reached.
        """
        self._folder = None if folder is None else Path(folder)
        self._findings = findings
        self._found: dict[str, Path | None] = {}
        self._packages: set[str] = set()
        self._meshes: dict[str, Mesh | None] = {}

    def find(self, name: str, place: str) -> Path | None:
        """The file of a mesh, which lies inside the folder; `None` where it cannot be reached.

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
        if path is None or path.suffix.lower() not in _READABLE:
            return None
        if shape.file not in self._meshes:
            self._meshes[shape.file] = self._read(path, shape.file, place)
        mesh = self._meshes[shape.file]
        return None if mesh is None else Mesh(mesh.vertices * np.array(shape.scale), mesh.faces)

    def _look_up(self, name: str, folder: Path, place: str) -> Path | None:
        shown = _end_of(name)
        scheme, _, rest = name.partition("://") if re.match(r"[A-Za-z][\w+.-]*://", name) else ("", "", name)
        home = "the description's folder"
        if scheme in ("package", "model"):
            package, _, rest = rest.partition("/")
            found = _package(package, folder)
            if found is None:
                if package not in self._packages:
                    self._packages.add(package)
                    self._report(
                        Severity.INFO,
                        "mesh-unresolved",
                        f"meshes are named by '{scheme}://{_end_of(package)}', and neither the folders "
                        "around the file nor ROS_PACKAGE_PATH have that package; they were not looked for.",
                        place,
                    )
                return None
            scheme, folder, home = "", found, "its package"
        if scheme not in ("", "file"):
            self._report(
                Severity.WARNING, "mesh-outside", f"mesh '{shown}' is a remote address; not fetched.", place
            )
            return None
        try:
            path = (folder / rest).resolve()
            inside = path.is_relative_to(folder.resolve())
            exists = inside and path.is_file()
        except (OSError, RuntimeError, ValueError):
            # Names too long, with a null byte, or through a loop of symbolic links.
            inside, exists = True, False
        if not inside:
            message = f"mesh '{shown}' lies outside {home} and was not opened."
            self._report(Severity.WARNING, "mesh-outside", message, place)
        elif not exists:
            self._report(Severity.WARNING, "mesh-missing", f"there is no mesh file '{shown}'.", place)
        return path if exists else None

    def _read(self, path: Path, name: str, place: str) -> Mesh | None:
        shown = _end_of(name)
        try:
            if path.stat().st_size > MAX_MESH_BYTES:
                message = f"mesh '{shown}' is larger than {MAX_MESH_BYTES >> 20} MiB and was not checked."
                self._report(Severity.INFO, "mesh-not-read", message, place)
                return None
            mesh = read_mesh(path)
            if float(np.abs(mesh.vertices).max()) > LARGEST:
                raise InputError(f"holds a coordinate of more than {LARGEST:g}.")
            return mesh
        except InputError as error:
            self._report(Severity.WARNING, "bad-mesh", f"mesh '{shown}': {error.message}", place)
        except OSError as error:
            self._report(Severity.WARNING, "bad-mesh", f"mesh '{shown}': {error.strerror}.", place)
        return None

    def _report(self, severity: Severity, code: str, message: str, place: str) -> None:
        self._findings.append(Finding(severity, code, message, place))


def _package(name: str, folder: Path) -> Path | None:
    """The folder of a package; None where it is not at hand."""
    if not re.fullmatch(r"[\w.+-]+", name) or name in (".", ".."):
        return None
    try:
        return next((path for path in _candidates(name, folder.resolve()) if path.is_dir()), None)
    except OSError:
        return None


def _candidates(name: str, folder: Path) -> Iterator[Path]:
    around = [folder, *folder.parents][:_LEVELS]
    yield from (above for above in around if above.name == name)
    yield from (above / name for above in around if (above / name / "package.xml").is_file())
    for root in filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)):
        yield from (path for path in (Path(root), Path(root) / name) if path.name == name)
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(prefix) / "share" / name


def _end_of(name: str) -> str:
    """A file name as a message may show it: on one line, and by its end where it is long."""
    line = " ".join(name.split())
    return line if len(line) <= 60 else "…" + line[-60:]
