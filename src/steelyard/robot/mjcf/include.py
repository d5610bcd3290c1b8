"""`<include>` elements of an MJCF file, replaced by what they name, from the description's folder only."""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import DescriptionError
from steelyard.robot.xml import MAX_DEPTH, Element, read_xml


def expand_includes(root: Element, folder: Path | None, own: Path | None = None) -> None:
    """Put the children of each included file's root in the place of its `<include>`.

    As in MuJoCo a name is looked up in the folder of the main file, then in that of the including file, and
    no file may be included twice, which rules out loops.

    Args:
        root: the root of the main file; changed in place.
        folder: where the main file lies; `None` where it was given as text, and nothing may be included.
        own: the main file.

    Raises:
        DescriptionError: a file is missing, outside the folder, included twice, or the whole nests too deep.
    """
    seen = {own.resolve()} if own is not None else set()
    # Each task: an element whose children may hold includes, its depth, and the folder of its file.
    tasks = [(root, 1, folder)]
    while tasks:
        element, depth, here = tasks.pop()
        if depth > MAX_DEPTH:
            raise DescriptionError(f"elements are nested deeper than {MAX_DEPTH}.", place=element.place)
        waiting = [(child, here) for child in reversed(element.children)]
        element.children = []
        while waiting:
            child, child_folder = waiting.pop()
            if child.tag != "include":
                element.children.append(child)
                tasks.append((child, depth + 1, child_folder))
                continue
            path = _file(child, folder, child_folder)
            if path in seen:
                raise DescriptionError(
                    f"'{child.attributes['file']}' is included twice, or includes itself.", place=child.place
                )
            seen.add(path)
            waiting += [(inner, path.parent) for inner in reversed(read_xml(path).children)]


def _file(include: Element, folder: Path | None, here: Path | None) -> Path:
    name = include.text("file")
    if folder is None or here is None:
        raise DescriptionError(
            f"includes '{name}', but a description given as text has no folder to look in.",
            place=include.place,
            remedy="Load it from its file.",
        )
    for start in (folder, here):
        try:
            path = (start / name).resolve()
            inside = path.is_relative_to(folder.resolve())
            exists = inside and path.is_file()
        except (OSError, RuntimeError, ValueError):
            # Names too long, with a null byte, or through a loop of symbolic links.
            break
        if not inside:
            raise DescriptionError(
                f"includes '{name}', which lies outside the description's folder and was not opened.",
                place=include.place,
                remedy="Copy the file into the folder.",
            )
        if exists:
            return path
    raise DescriptionError(f"includes '{name}', but there is no such file.", place=include.place)
