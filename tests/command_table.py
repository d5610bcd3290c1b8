"""Every command of the command line, loaded, for tests that ask about all of them."""

from __future__ import annotations

from typing import Any

from typer.main import get_command

from steelyard.cli.app import COMMANDS, Commands, app


def every_command() -> dict[str, Any]:
    """All commands by name."""
    group = get_command(app)
    assert isinstance(group, Commands)
    for name in COMMANDS:
        group.load(name)
    return dict(group.commands)
