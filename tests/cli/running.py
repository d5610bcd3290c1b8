"""The command, run in this process: its exit code and what it printed."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.cli.app import main


@dataclass(frozen=True)
class Run:
    """What one run of the command left."""

    code: object
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """What went to stderr, on one line."""
        return " ".join(self.err.split())


def run(*words: object, cwd: Path | None = None) -> Run:
    """Run `steelyard` with some words, in some folder."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["steelyard", *map(str, words)]
    try:
        with contextlib.chdir(cwd or "."), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code: object = 0
    except SystemExit as left:
        code = left.code or 0
    finally:
        sys.argv = before
    return Run(code, out.getvalue(), err.getvalue())
