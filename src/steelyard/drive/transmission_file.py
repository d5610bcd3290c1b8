"""Transmission files: JSON, written and read to the last bit, or TOML written by hand."""

from __future__ import annotations

import json
from pathlib import Path

from steelyard.archive import from_document, to_document
from steelyard.document import parse_json, parse_toml, read_text
from steelyard.drive.transmission import Transmission
from steelyard.errors import InputError
from steelyard.files import FilePath, write_text


def write_transmission(transmission: Transmission, path: FilePath) -> None:
    """Write a transmission as JSON, whole or not at all.

    Args:
        transmission: the transmission.
        path: where; an existing file is replaced.

    Raises:
        InputError: the path ends in .toml, is a folder, or its folder does not exist or cannot be written to.
    """
    path = Path(path)
    if path.suffix == ".toml":
        raise InputError("TOML is only read.", place=str(path), remedy="Let the name end in .json.")
    document = to_document(transmission)
    del document["is"]
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_transmission(path: FilePath) -> Transmission:
    """Read a transmission file; its keys are the attributes of `Transmission`.

    Args:
        path: the file; TOML if it ends in .toml, JSON otherwise.

    Returns:
        The transmission, equal in every bit to the one written.

    Raises:
        InputError: the file cannot be read, or a key is missing, unknown or of the wrong kind.
    """
    path = Path(path)
    parse = parse_toml if path.suffix == ".toml" else parse_json
    document = parse(read_text(path), place=str(path))
    try:
        return from_document(Transmission, document, place=str(path))
    except InputError as error:
        if error.place.startswith(str(path)):
            raise
        raise InputError(
            error.message, place=f"{path}: {error.place}", remedy=error.remedy, evidence=error.evidence
        ) from error
