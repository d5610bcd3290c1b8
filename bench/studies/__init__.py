"""Long studies, one file each."""

import sys
from pathlib import Path

# What the papers do, to be compared with, stands beside the library.
sys.path.append(str(Path(__file__).resolve().parents[2] / "papers"))
