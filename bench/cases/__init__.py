"""Benchmarks, one file per room; each gives rows of our time beside a peer's in the same run."""

import sys
from pathlib import Path

# What the papers do, to be compared with, stands beside the library.
sys.path.append(str(Path(__file__).resolve().parents[2] / "papers"))
