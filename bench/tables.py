"""Results as dated JSON with the machine described, and as Markdown tables."""

from __future__ import annotations

import datetime
import json
import os
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    packages = ("steelyard", "numpy", "numba", "pin", "mujoco")
    return {
        "cores": os.cpu_count(),
        "processor": _processor(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
        "versions": {name: version(name) for name in packages},
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


@dataclass(frozen=True)
class Bound:
    """One measured figure and the bound it must keep; `atmost` says on which side."""

    what: str
    value: float
    bound: float
    atmost: bool = True
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether the bound holds."""
        return self.value <= self.bound if self.atmost else self.value >= self.bound


@dataclass(frozen=True)
class Study:
    """A long study: what was done, its figures, and a table in Markdown that stands below them."""

    title: str
    description: str
    figures: tuple[Bound, ...]
    extra: dict[str, Any] = field(default_factory=dict)
    table: str = ""

    @property
    def passed(self) -> bool:
        """Whether every bound holds."""
        return all(figure.passed for figure in self.figures)

    def markdown(self) -> str:
        """The study as a page."""
        rows = [
            f"| {f.what} | {f.value:.3g} | {'≤' if f.atmost else '≥'} {f.bound:.3g} "
            f"| {'yes' if f.passed else '**no**'} | {f.note} |"
            for f in self.figures
        ]
        head = ["| figure | measured | bound | holds | note |", "| --- | --- | --- | --- | --- |"]
        below = ["", self.table] if self.table else []
        return "\n".join([f"# {self.title}", "", self.description, "", *head, *rows, *below, ""])


def today() -> str:
    """The date of the run."""
    return datetime.date.today().isoformat()


def write_study(name: str, study: Study) -> Path:
    """Write `docs/results/<name>-<date>.json` and its table beside it."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    document = {"date": today(), "machine": machine(), "passed": study.passed, **asdict(study)}
    path = RESULTS / f"{name}-{today()}.json"
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    path.with_suffix(".md").write_text(study.markdown())
    return path
