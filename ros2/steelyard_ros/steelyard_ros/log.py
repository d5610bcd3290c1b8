"""The log that Steelyard reads: joint states as columns `time`, `q_…`, `v_…`, `tau_…`."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from pathlib import Path

CHANNELS = ("q", "v", "tau")


class JointLog:
    """Joint states of some joints, one row for each message.

    Args:
        joints: the joints to keep; others in a message are passed over.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = tuple(joints)
        self._rows: list[tuple[int, tuple[tuple[float, ...], ...]]] = []
        self.passed = 0
        """Messages that lack a joint, or whose time does not increase."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self,
        stamp: int,
        names: Sequence[str],
        position: Sequence[float],
        velocity: Sequence[float],
        effort: Sequence[float],
    ) -> bool:
        """Keep a message.

        Args:
            stamp: its own time, ns.
            names: of its joints.
            position: rad or m.
            velocity: rad/s or m/s; empty where it tells none.
            effort: N·m or N; empty where it tells none.

        Returns:
            Whether it is kept.
        """
        place = {name: index for index, name in enumerate(names)}
        known = all(name in place for name in self._joints) and len(position) == len(names)
        if not known or (self._rows and stamp <= self._rows[-1][0]):
            self.passed += 1
            return False
        picked = [place[name] for name in self._joints]
        channels = tuple(
            tuple(float(values[i]) for i in picked)
            if len(values) == len(names)
            else (math.nan,) * len(picked)
            for values in (position, velocity, effort)
        )
        self._rows.append((stamp, channels))
        return True

    def write(self, path: Path) -> None:
        """Write the rows as CSV, whole or not at all; a channel that some row lacks is left out.

        Args:
            path: where; an existing file is replaced.

        Raises:
            ValueError: there are fewer than two rows.
        """
        if len(self._rows) < 2:
            raise ValueError(f"only {len(self._rows)} joint states came")
        kept = [
            k for k in range(len(CHANNELS)) if all(math.isfinite(x) for _, row in self._rows for x in row[k])
        ]
        start = self._rows[0][0]
        part = path.with_name(f".{path.name}.part")
        with part.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["time", *(f"{CHANNELS[k]}_{name}" for k in kept for name in self._joints)])
            for stamp, row in self._rows:
                # Differences of whole nanoseconds first, so that nothing is lost to rounding.
                table.writerow([(stamp - start) / 1e9, *(x for k in kept for x in row[k])])
        os.replace(part, path)  # noqa: PTH105 - the same on every system
