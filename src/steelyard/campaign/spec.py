"""The file that describes a campaign: TOML with a `[campaign]` table, the rest being its kind's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from steelyard.campaign.section import Section
from steelyard.document import parse_toml, read_text
from steelyard.errors import InputError
from steelyard.files import FilePath

MOST_BYTES = 1 << 20
"""Longest file that is read."""


@dataclass(frozen=True)
class Spec:
    """A campaign as it was asked for.

    Attributes:
        kind: who turns it into tasks.
        name: of the campaign.
        seed: of all its random numbers.
        content: the whole file; its kind reads what it knows, and the rest is refused.
        path: the file, beside which other files are looked for.
    """

    kind: str
    name: str
    seed: int
    content: Section
    path: Path


def read_spec(path: FilePath) -> Spec:
    """Read the description of a campaign.

    Args:
        path: a TOML file.

    Returns:
        The description; `seed` is 0 and `name` that of the file when they are not given.

    Raises:
        InputError: the file cannot be read, is not TOML, or lacks what every campaign needs; the message has
            the line.
    """
    path = Path(path)
    place = str(path)
    text = read_text(path, most=MOST_BYTES)
    document = parse_toml(text, place=place)
    whole = Section(document, place, text)
    if "campaign" not in document:
        raise InputError("has no [campaign] table.", place=place, remedy='Begin with [campaign], kind = "…".')
    campaign = whole.section("campaign")
    kind = campaign.text("kind")
    name = campaign.text("name", path.stem)
    seed = campaign.integer("seed", 0, least=0)
    return Spec(kind, name, seed, whole, path)
