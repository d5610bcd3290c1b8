"""A model as text, with what was decided while it was written."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.finding import Finding


@dataclass(frozen=True)
class ModelText:
    """A description of a robot, ready to be written to a file.

    Attributes:
        content: XML in UTF-8.
        findings: what the format could not take as it is, and what was done instead.
        judges: the programs that read it back and agree, by name.
    """

    content: bytes
    findings: tuple[Finding, ...] = ()
    judges: tuple[str, ...] = ()
