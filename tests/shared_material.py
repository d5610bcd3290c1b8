"""Real logs and public robot descriptions that live beside the repository and are never committed."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
ROBOTS = SHARED / "robots"
DATA = SHARED / "data"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder ../shared is not here")


def robot_files(suffix: str) -> list[Path]:
    """Every public robot description of one kind; empty where the folder is absent."""
    return sorted(ROBOTS.rglob(f"*{suffix}")) if ROBOTS.is_dir() else []
