"""One line of a recording's history: what was done, with which settings, to which input."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from steelyard.errors import RecordingError


@dataclass(frozen=True)
class Step:
    """An action that led to a recording.

    Attributes:
        action: what was done, in a word: `read`, `window`, `filtered`.
        detail: its settings; values are what JSON can hold, frozen at every level.
        digest: SHA-256 of what it was done to (a recording's content, a file's bytes); empty for an origin.
    """

    action: str
    detail: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""

    def __post_init__(self) -> None:
        for name, text in (("action", self.action), ("digest", self.digest)):
            if not isinstance(text, str):
                raise RecordingError(f"must be text, got {type(text).__name__}.", place=f"step {name}")
        if not isinstance(self.detail, Mapping):
            raise RecordingError(
                f"must map names to values, got {type(self.detail).__name__}.", place=f"step '{self.action}'"
            )
        object.__setattr__(self, "detail", _frozen(self._checked_detail()))

    def _checked_detail(self) -> object:
        try:
            # Through JSON and back: a private copy, and the same values after a file has been in between.
            return json.loads(json.dumps(_plain(self.detail), allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise RecordingError(
                f"detail cannot be kept as JSON: {error}.",
                place=f"step '{self.action}'",
                remedy="Use text, finite numbers, booleans, None, and lists or mappings of these.",
            ) from error

    def to_json(self) -> dict[str, object]:
        """Return the step as plain values that `json.dumps` accepts."""
        return {"action": self.action, "detail": _plain(self.detail), "digest": self.digest}

    @classmethod
    def from_json(cls, value: object) -> Step:
        """Build a step from what `to_json` returned.

        Args:
            value: a mapping with `action`, `detail` and `digest`.

        Returns:
            The step.

        Raises:
            RecordingError: the value has another form.
        """
        if not isinstance(value, Mapping) or set(value) != {"action", "detail", "digest"}:
            raise RecordingError("a step needs exactly 'action', 'detail' and 'digest'.", place="provenance")
        return cls(value["action"], value["detail"], value["digest"])

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only mappings cannot be pickled; going through the constructor freezes the copy again.
        return Step, (self.action, _plain(self.detail), self.digest)


def checked_provenance(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return a history after checking that it is made of steps.

    Args:
        steps: the steps, oldest first.

    Returns:
        The same steps.

    Raises:
        RecordingError: one of them is something else.
    """
    history = tuple(steps)
    for index, step in enumerate(history):
        if not isinstance(step, Step):
            raise RecordingError(f"entry {index} is a {type(step).__name__}, not a Step.", place="provenance")
    return history


def _frozen(value: object) -> object:
    if isinstance(value, Mapping):
        return MappingProxyType({key: _frozen(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return value


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
