"""A part of a result file that knows where it stands, so that what is missing or wrong can be named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.arrays import Array, Size, checked, read_only
from steelyard.errors import InputError

REMEDY = "Make the file by `.venv/bin/python bench/acceptance.py safe_stacking`."


@dataclass(frozen=True)
class Part:
    """A value somewhere in the file.

    Attributes:
        value: as JSON holds it.
        place: the file and the names that lead to it.
    """

    value: Any
    place: str

    @classmethod
    def of_file(cls, path: Path) -> Part:
        """Read a whole file.

        Args:
            path: of the file.

        Returns:
            All of it.

        Raises:
            InputError: there is no such file, or it is no JSON.
        """
        try:
            return cls(json.loads(path.read_text(encoding="utf-8")), str(path))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}.", place=str(path), remedy=REMEDY) from error
        except ValueError as error:
            raise InputError(f"is no JSON: {error}.", place=str(path), remedy=REMEDY) from error

    def __getitem__(self, key: str) -> Part:
        """The part of that name; refused where there is none."""
        if key not in self._named():
            raise InputError(f"has no '{key}'.", place=self.place, remedy=REMEDY)
        return self._under(key)

    def items(self) -> Iterator[tuple[str, Part]]:
        """Every named part of it."""
        for key in self._named():
            yield key, self._under(key)

    def parts(self) -> list[Part]:
        """Every part of a list."""
        if not isinstance(self.value, list):
            raise InputError("must be a list.", place=self.place, remedy=REMEDY)
        return [Part(each, f"{self.place}[{k}]") for k, each in enumerate(self.value)]

    def text(self) -> str:
        """The value, which must be text."""
        if not isinstance(self.value, str):
            raise InputError("must be text.", place=self.place, remedy=REMEDY)
        return self.value

    def whole(self) -> int:
        """The value, which must be a whole number."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise InputError("must be a whole number.", place=self.place, remedy=REMEDY)
        return self.value

    def array(self, *shape: Size) -> Array:
        """The value as numbers.

        Args:
            *shape: sizes as `checked` takes them.

        Returns:
            Finite numbers of that shape, in the file's unit; read-only.
        """
        return read_only(checked(self.place, self.value, shape))

    def _named(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise InputError("must be a table of named entries.", place=self.place, remedy=REMEDY)
        return self.value

    def _under(self, key: str) -> Part:
        return Part(self.value[key], f"{self.place}: {key}")
