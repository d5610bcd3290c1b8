"""Commands with hostile arguments: what is asked, what lies in the folder it is asked in, how it must end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Content = bytes | str | Callable[[Path], None]
"""What a file holds, or what makes it: pipes, folders and files with holes are no bytes."""
REFUSED = frozenset({2})
"""Exit codes of what has to be refused."""
ANY = frozenset({0, 1, 2, 3})
"""Exit codes of what may be harmless."""


@dataclass(frozen=True)
class Attempt:
    """One command in a folder of its own.

    Attributes:
        kind: what is hostile about it.
        name: which one.
        words: of the command.
        files: what lies in the folder, by name.
        codes: exit codes with which it may end.
        named: what a refusal has to name: a file, an option, a field.
    """

    kind: str
    name: str
    words: tuple[str, ...]
    files: Mapping[str, Content] = field(default_factory=dict)
    codes: frozenset[int] = REFUSED
    named: tuple[str, ...] = ()

    def laid_out(self, home: Path) -> None:
        """Make the files in an empty folder."""
        for name, content in self.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if callable(content):
                content(path)
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)


def lazily(make: Callable[[], bytes | str]) -> Content:
    """A file that is made when it is laid out: bombs cost time and memory."""

    def write(path: Path) -> None:
        content = make()
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return write


def attempts(
    kind: str, words: Iterable[str], name: str, contents: Mapping[str, Content], **others: object
) -> list[Attempt]:
    """The same command with one file after another in the same place."""
    files: Mapping[str, Content] = others.pop("files", {})  # type: ignore[assignment]
    return [
        Attempt(kind, made_by, tuple(words), {**files, name: content}, **others)  # type: ignore[arg-type]
        for made_by, content in contents.items()
    ]
