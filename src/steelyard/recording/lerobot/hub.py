"""Datasets on the Hugging Face Hub: fetched into its cache, without their videos."""

from __future__ import annotations

import re
from pathlib import Path

from steelyard.errors import MissingExtraError, RecordingError

PREFIX = "lerobot:"
"""What the name of a dataset on the Hub starts with, as `rd:` does for robots."""
_NAME = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@(?P<revision>[\w./-]+))?", re.ASCII)
_PARTS = ["meta/*", "data/*"]
"""All but the videos."""


def fetched(name: str) -> Path:
    """Fetch a dataset, where it is not in the cache already.

    Args:
        name: `lerobot:ORG/NAME`, or `lerobot:ORG/NAME@REVISION`.

    Returns:
        Its folder.

    Raises:
        RecordingError: it is no such name, or cannot be fetched.
        MissingExtraError: the library of the Hub is not installed; names the extra.
    """
    match = _NAME.fullmatch(name.removeprefix(PREFIX))
    if match is None or ".." in name:
        raise RecordingError(
            "is no name of a dataset on the Hub.",
            place=name[:200],
            remedy="Write lerobot:ORG/NAME or lerobot:ORG/NAME@REVISION.",
        )
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtraError("A dataset of the Hub", "huggingface_hub", "hub") from error
    try:
        folder = huggingface_hub.snapshot_download(
            repo_id=match["name"], repo_type="dataset", revision=match["revision"], allow_patterns=_PARTS
        )
    except (OSError, ValueError, RuntimeError) as error:
        why = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise RecordingError(
            f"cannot be fetched: {why[:300]}",
            place=name[:200],
            remedy="Check the name and the connection, or give the folder of a copy.",
        ) from error
    return Path(folder)
