"""Draw the tables and figures: `python papers/paper_000/figures.py RESULT.json --out page.html`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paper_000.figure_page import figure_page
from paper_000.figure_reading import stacking_result
from steelyard import __version__
from steelyard.errors import InputError


def main(words: list[str]) -> int:
    """Write the page; 2 if the result cannot be read or the page not be written."""
    parser = argparse.ArgumentParser(
        description="Draw the tables and figures of the experiments of Zhang et al. (2025)."
    )
    parser.add_argument("result", type=Path, help="the study's file, docs/results/safe_stacking-DATE.json")
    parser.add_argument("--out", type=Path, default=Path("paper_000.html"), help="the page")
    asked = parser.parse_args(words)
    try:
        text = figure_page(stacking_result(asked.result), version=__version__)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        asked.out.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"{asked.out}: cannot be written: {error.strerror}.", file=sys.stderr)
        return 2
    print(asked.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
