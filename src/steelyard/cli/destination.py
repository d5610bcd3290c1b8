"""The option of every command that writes."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.workflows.destination import make_folder, require_files

__all__ = ["ForceOption", "make_folder", "require_files"]

ForceOption = Annotated[bool, typer.Option("--force", help="Replace an earlier result.")]
