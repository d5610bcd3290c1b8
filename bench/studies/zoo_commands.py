"""Every arm of the zoo runs every command, with settings as short as they can be. Some minutes."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from zoo.every_command import ARMS, last_joint_by_itself, learns_its_load, line_of_commands

LINES: dict[str, Callable[[str, Path], None]] = {
    "from a look at the description to the demo": line_of_commands,
    "the last joint by itself": last_joint_by_itself,
    "a load that is learnt along a proven plan": learns_its_load,
}


def run() -> Study:
    """A command that does not end well ends its line for that arm."""
    refusals: dict[str, list[str]] = {what: [] for what in LINES}
    for what, line in LINES.items():
        for name in ARMS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    line(name, Path(folder))
                except AssertionError as refusal:
                    refusals[what].append(f"{name}: {refusal}")
    return Study(
        "Every arm, every command",
        f"{len(ARMS)} arms of the zoo: {', '.join(ARMS)}.",
        tuple(
            Bound(f"{what}: arms that fail", len(refusals[what]), 0, note=f"of {len(ARMS)}") for what in LINES
        ),
        {"refusals": refusals},
    )
