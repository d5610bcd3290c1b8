"""What a file of our own says about itself: layout, digest of its content, history."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.document import parse_json
from steelyard.errors import InputError, RecordingError
from steelyard.recording.content import SCHEMA
from steelyard.recording.recording import Recording
from steelyard.recording.step import Step

KEY = "steelyard.recording"


@dataclass(frozen=True)
class Stamp:
    """The stamp of a file.

    Attributes:
        digest: digest of the recording that was written.
        provenance: its history.
    """

    digest: str
    provenance: tuple[Step, ...]


def stamped(recording: Recording) -> str:
    """Return the stamp of a recording as JSON text.

    Args:
        recording: what the stamp is for.

    Returns:
        The text.
    """
    return json.dumps(
        {
            "schema": recording.schema,
            "digest": recording.digest,
            "provenance": [step.to_json() for step in recording.provenance],
        }
    )


def parsed(text: str) -> Stamp:
    """Read a stamp back.

    Args:
        text: what `stamped` returned.

    Returns:
        The stamp.

    Raises:
        RecordingError: the text is damaged, or of a layout this version does not know.
    """
    try:
        value = parse_json(text, place=KEY)
    except InputError as error:
        raise RecordingError(error.message, place=error.place, remedy=error.remedy) from error
    if not isinstance(value, Mapping) or not {"schema", "digest", "provenance"} <= set(value):
        raise RecordingError("lacks schema, digest or provenance.", place=KEY)
    if value["schema"] != SCHEMA:
        raise RecordingError(
            f"layout {value['schema']!r} is unknown; this version knows {SCHEMA}.",
            place=KEY,
            remedy="Read the file with the version that wrote it, or a newer one.",
        )
    if not isinstance(value["provenance"], list):
        raise RecordingError("provenance is not a list of steps.", place=KEY)
    return Stamp(str(value["digest"]), tuple(Step.from_json(step) for step in value["provenance"]))
