"""The files of a description: those inside its root folder, and no other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from steelyard.robot.xacro.budget import Fault, shown
from steelyard.robot.xml import Element, parse_xml, read_xml

MAX_FILE_BYTES = 8 * 2**20
MAX_TOTAL_BYTES = 32 * 2**20
MAX_INCLUDES = 30
_MAX_MATCHES = 200


class SourceFiles:
    """Reads what a description includes.

    The root is the nearest folder around the description that has a `package.xml`, or else its own folder.
    Names are resolved through symbolic links first, so that none leads out of the root.
    """

    def __init__(self, main: Path) -> None:
        """Start at a description.

        Args:
            main: the file to expand.
        """
        self._given = main
        self.main = main.resolve()
        folder = self.main.parent
        packages = (place for place in (folder, *folder.parents) if (place / "package.xml").is_file())
        self.root = next(packages, folder)
        self._open = [self.main]
        self._trees: dict[Path, Element] = {}
        self._bytes = 0

    @property
    def folder(self) -> Path:
        """The folder of the file that is being expanded, to which names are relative."""
        return self._open[-1].parent

    @contextmanager
    def inside(self, path: Path) -> Iterator[None]:
        """Expand an included file for a while."""
        if len(self._open) > MAX_INCLUDES:
            raise Fault(
                f"files include each other more than {MAX_INCLUDES} deep.",
                f"Check whether '{shown(self._name(path))}' includes itself.",
            )
        self._open.append(path)
        try:
            yield
        finally:
            self._open.pop()

    def find(self, name: str) -> Path:
        """The file of a name, which must exist inside the root.

        Args:
            name: a path, relative to the file that is being expanded.

        Returns:
            The path of a regular file, free of symbolic links.

        Raises:
            Fault: it lies outside of the root, or does not exist.
        """
        try:
            path = (self.folder / name).resolve()
            inside = path.is_relative_to(self.root)
            exists = inside and path.is_file()
        except (OSError, RuntimeError, ValueError):
            # Names too long, with a null byte, or through a loop of symbolic links.
            inside, exists = True, False
        if not inside:
            raise Fault(
                f"'{_end_of(name)}' lies outside the description's folder '{self.root.name}'; not opened.",
                "Copy it into that folder, or expand the file with ROS's own xacro first.",
            )
        if not exists:
            raise FileMissing(f"there is no file '{_end_of(name)}'.")
        return path

    def matches(self, name: str) -> list[Path]:
        """The files of a name whose last part may hold the wildcards `*`, `?` and `[…]`.

        Args:
            name: a path, relative to the file that is being expanded.

        Returns:
            The files in the order of their names; none where nothing fits a wildcard.
        """
        head, pattern = os.path.split(name)
        if not re.search(r"[*?\[]", name):
            return [self.find(name)]
        if re.search(r"[*?\[]", head):
            raise Fault(f"'{_end_of(name)}' has a wildcard in the name of a folder.", "Use it in the file's.")
        folder = (self.folder / head).resolve()
        if not folder.is_relative_to(self.root) or not folder.is_dir():
            raise Fault(f"'{_end_of(name)}' is no folder inside the description's.")
        names = sorted(entry.name for entry in folder.iterdir() if fnmatchcase(entry.name, pattern))
        if len(names) > _MAX_MATCHES:
            raise Fault(f"'{_end_of(name)}' fits more than {_MAX_MATCHES} files.")
        return [self.find(str(folder / found)) for found in names if not found.startswith(".")]

    def tree(self, path: Path) -> Element:
        """The root element of a file, parsed once; nobody changes it.

        Args:
            path: a file inside the root.

        Returns:
            The element; its places name the file as seen from the description's folder.
        """
        if path not in self._trees:
            self._trees[path] = parse_xml(self.content(path), self._name(path))
        return self._trees[path]

    def content(self, path: Path, most: int = MAX_FILE_BYTES) -> bytes:
        """What a file holds.

        Args:
            path: a file inside the root.
            most: how many bytes it may have.

        Returns:
            Its bytes.
        """
        try:
            with path.open("rb") as file:
                content = file.read(most + 1)
        except OSError as error:
            raise Fault(f"'{_end_of(path.name)}' cannot be read: {error.strerror}.") from error
        if len(content) > most:
            raise Fault(f"'{_end_of(path.name)}' is larger than {most >> 10} KiB.")
        self._bytes += len(content)
        if self._bytes > MAX_TOTAL_BYTES:
            raise Fault(f"the files it includes are larger than {MAX_TOTAL_BYTES >> 20} MiB together.")
        return content

    def package(self, name: str) -> Path:
        """The folder of a package: the root itself, or a folder of that name directly inside it.

        Args:
            name: as its `package.xml` states it.

        Returns:
            The folder.

        Raises:
            Fault: the package is neither.
        """
        inside = [self.root / name] if re.fullmatch(r"[A-Za-z][\w-]*", name) else []
        for folder in (self.root, *inside):
            manifest = folder / "package.xml"
            if manifest.is_file() and manifest.resolve().is_relative_to(self.root):
                stated = self._package_name(manifest)
                if stated == name:
                    return folder
        raise Fault(
            f"package '{shown(name)}' is not the one the description lies in, and packages elsewhere are not "
            "searched.",
            f"Copy it into the folder '{self.root.name}', or expand the file with ROS's own xacro first.",
        )

    def _package_name(self, manifest: Path) -> str:
        # The parser keeps no text between tags, and this one is all a manifest is asked for.
        text = self.content(manifest).decode(errors="replace")
        match = re.search(r"<name>\s*+([^<\s]++)\s*+</name>", text)
        return match[1] if match else ""

    def _name(self, path: Path) -> str:
        """A file as messages name it: as seen from the description."""
        return Path(os.path.relpath(path, self.main.parent)).as_posix()

    def read_main(self) -> Element:
        """The root element of the description itself."""
        return read_xml(self._given)


class FileMissing(Fault):
    """A file that does not exist, which an optional include forgives."""


def _end_of(name: str) -> str:
    """A file name as a message may show it: by its end where it is long."""
    line = shown(name, 10_000)
    return line if len(line) <= 60 else "…" + line[-60:]
