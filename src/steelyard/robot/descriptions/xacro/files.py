"""The files of a description: those of its own package and those it finds, and YAML of a bounded size."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.robot.descriptions.meshes import mesh_source
from steelyard.robot.descriptions.packages import MANIFEST, Package, Packages, regular_file, stated_name
from steelyard.robot.descriptions.source_edits import SourceTexts
from steelyard.robot.descriptions.xacro.expression import MAX_SIZE, Fault, shown
from steelyard.robot.descriptions.xml import Element, parse_xml, read_xml

# Files inside the root folder

MAX_FILE_BYTES = 8 * 2**20
MAX_TOTAL_BYTES = 32 * 2**20
MAX_INCLUDES = 30
_MAX_MATCHES = 200


class SourceFiles:
    """Reads what a description includes.

    The root is the nearest folder around the description that has a `package.xml`, or else its own folder.
    Names are resolved through symbolic links first, so that none leads out of the root. Packages that
    `$(find …)` names are looked for as those of meshes are, and may then be read too.
    """

    def __init__(
        self, main: Path, package_path: Sequence[FilePath] = (), sources: SourceTexts | None = None
    ) -> None:
        """Start at a description.

        Args:
            main: the file to expand.
            package_path: folders in which packages are looked for.
            sources: keeps what is read, with its places; None where nobody asks for them.

        Raises:
            InputError: one of them does not exist.
        """
        self._given = main
        self._sources = sources
        self.main = main.resolve()
        folder = self.main.parent
        packages = (place for place in (folder, *folder.parents) if (place / "package.xml").is_file())
        self.root = next(packages, folder)
        self._packages = Packages(mesh_source(folder, package_path))
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
        """The file of a name, which must exist inside the root or a package that was found.

        Args:
            name: a path, relative to the file that is being expanded.

        Returns:
            The path of a regular file, free of symbolic links.

        Raises:
            Fault: it lies outside of these, or does not exist.
        """
        allowed = [Package("", self.root, own=False), *self._packages.found, *self._packages.named]
        try:
            path = regular_file(self.folder / name, allowed)
        except InputError:
            raise Fault(
                f"'{_end_of(name)}' lies outside the description's folder '{self.root.name}'; not opened.",
                "Name a folder that holds it with --package-path, or copy it into that folder.",
            ) from None
        if path is None:
            raise FileMissing(f"there is no file '{_end_of(name)}'.")
        return path

    def package_around(self, path: Path) -> Package | None:
        """The package that was found and holds a path.

        Args:
            path: absolute.

        Returns:
            The package; None where it lies in none.
        """
        return next((x for x in self._packages.found if path.is_relative_to(x.folder)), None)

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
        allowed = [self.root, *(x.folder for x in (*self._packages.found, *self._packages.named))]
        if not any(folder.is_relative_to(place) for place in allowed) or not folder.is_dir():
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
            content, name = self.content(path), self._name(path)
            keep = self._sources
            self._trees[path] = parse_xml(content, name) if keep is None else keep.parse(path, content, name)
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
        """The folder of a package: the root itself, a folder directly inside it, or one that is at hand.

        Args:
            name: as its `package.xml` states it.

        Returns:
            The folder.

        Raises:
            Fault: the package is not at hand.
        """
        inside = [self.root / name] if re.fullmatch(r"[A-Za-z][\w-]*", name) else []
        for folder in (self.root, *inside):
            manifest = folder / MANIFEST
            if manifest.is_file() and manifest.resolve().is_relative_to(self.root):
                stated = stated_name(folder)
                if stated == name:
                    return folder
        found = self._packages.find(name)
        if found is None:
            raise Fault(
                f"package '{shown(name)}' is not the one the description lies in, and neither around it nor "
                "in ROS nor installed.",
                "Name the folder that holds it with --package-path.",
            )
        return found.folder

    def _name(self, path: Path) -> str:
        """A file as messages name it: as seen from the description, or from the folder of its package."""
        package = None if path.is_relative_to(self.root) else self.package_around(path)
        if package is not None:
            return f"{package.name}/{path.relative_to(package.folder).as_posix()}"
        return Path(os.path.relpath(path, self.main.parent)).as_posix()

    def read_main(self) -> Element:
        """The root element of the description itself."""
        return read_xml(self._given) if self._sources is None else self._sources.read(self._given)


class FileMissing(Fault):
    """A file that does not exist, which an optional include forgives."""


def _end_of(name: str) -> str:
    """A file name as a message may show it: by its end where it is long."""
    line = shown(name, 10_000)
    return line if len(line) <= 60 else "…" + line[-60:]


# YAML into plain data, of a bounded size even where its aliases multiply it.

MAX_YAML_BYTES = 128 * 2**10
_MAX_NESTED = 30
# The same reader in C is eight times as fast, where it is installed.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNITS = {
    "!radians": 1.0,
    "!degrees": math.pi / 180.0,
    "!meters": 1.0,
    "!millimeters": 1e-3,
    "!foot": 0.3048,
    "!inches": 0.0254,
}
"""What a number with one of these tags is multiplied by, to be in rad or m."""


def parse_yaml(content: bytes, name: str, number: Callable[[str], object]) -> object:
    """Read YAML.

    Args:
        content: the text.
        name: of the file, for messages.
        number: the value of an expression, which may stand where a unit is stated: `!degrees 90/2`.

    Returns:
        Numbers, texts, truths, nothing, lists and dictionaries.

    Raises:
        Fault: no YAML, too large, or with a tag that is not plain data.
    """
    try:
        text = content.decode()
        _check_depth(text, name)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}:" if mark is not None else ""
        raise Fault(f"'{name}'{line} is no YAML: {shown(str(getattr(error, 'problem', error)))}.") from None
    except UnicodeDecodeError:
        raise Fault(f"'{name}' is not UTF-8 text.") from None
    return None if node is None else _Values(name, number).value(node)


def read_yaml(content: bytes, place: str) -> object:
    """Read a YAML file that stands by itself: units are multiplied, and nothing is computed.

    Args:
        content: the text.
        place: the file, for messages.

    Returns:
        As `parse_yaml` gives it.

    Raises:
        InputError: no YAML, too large, or with a tag that is not plain data.
    """
    try:
        return parse_yaml(content, place, _plain_number)
    except Fault as fault:
        raise InputError(fault.message, place=place, remedy=fault.remedy) from fault


def _plain_number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _check_depth(text: str, name: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_NESTED:
            raise Fault(f"'{name}' is nested deeper than {_MAX_NESTED}.")


class _Values:
    """Builds the values of one file, counting what aliases repeat as often as they repeat it."""

    def __init__(self, name: str, number: Callable[[str], object]) -> None:
        self._name = name
        self._number = number
        self._scalars = yaml.SafeLoader("")
        self._left = MAX_SIZE
        self._depth = 0

    def value(self, node: yaml.Node) -> object:
        self._left -= 1 + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)
        self._depth += 1
        if self._left < 0 or self._depth > _MAX_NESTED:
            raise Fault(f"'{self._name}' holds more than {MAX_SIZE} entries and characters.")
        value: object
        if isinstance(node, yaml.ScalarNode):
            value = self._scalar(node)
        elif node.tag == "tag:yaml.org,2002:seq":
            value = [self.value(item) for item in node.value]
        elif node.tag == "tag:yaml.org,2002:map":
            value = self._mapping(node)
        else:
            raise Fault(f"{self._line(node)}: '{shown(node.tag)}' is no plain data.")
        self._depth -= 1
        return value

    def _scalar(self, node: yaml.ScalarNode) -> object:
        if node.tag in _UNITS:
            measure = self._number(node.value)
            if not isinstance(measure, int | float):
                raise Fault(f"{self._line(node)}: '{shown(node.value)}' is no number.")
            return float(measure) * _UNITS[node.tag]
        try:
            value: object = self._scalars.construct_object(node)
        except (yaml.YAMLError, ValueError, ArithmeticError):
            raise Fault(f"{self._line(node)}: '{shown(node.value)}' is no {shown(node.tag)}.") from None
        # Dates and bytes are no measures of a robot; they stay what they are in the file.
        return value if value is None or isinstance(value, bool | int | float | str) else node.value

    def _mapping(self, node: yaml.MappingNode) -> dict[object, object]:
        merged: dict[object, object] = {}
        own: dict[object, object] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                value = self.value(value_node)
                for part in reversed(value if isinstance(value, list) else [value]):
                    if not isinstance(part, dict):
                        raise Fault(f"{self._line(key_node)}: only a mapping can be merged.")
                    merged |= part
            elif not isinstance(key_node, yaml.ScalarNode):
                raise Fault(f"{self._line(key_node)}: a key is no plain word.")
            else:
                own[self.value(key_node)] = self.value(value_node)
        return merged | own

    def _line(self, node: yaml.Node) -> str:
        return f"'{self._name}' line {node.start_mark.line + 1}"
