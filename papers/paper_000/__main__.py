"""Carry one dumbbell by some methods: `python papers/paper_000 --experiment a --pounds 4 ours wrong`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paper_000.dumbbells import POUNDS
from paper_000.experiment import carried
from paper_000.methods import METHODS
from paper_000.scenes import EXPERIMENTS


def main(words: list[str]) -> int:
    """Print what became of the dumbbell in the hands of each method; 1 if it failed with one of them."""
    parser = argparse.ArgumentParser(description="Carry one dumbbell as in Zhang et al. (2025).")
    parser.add_argument("methods", nargs="*", metavar="method", help=f"of {', '.join(METHODS)}")
    parser.add_argument("--experiment", choices=EXPERIMENTS, default="a")
    parser.add_argument("--pounds", type=int, choices=POUNDS, default=POUNDS[-1])
    parser.add_argument("--seed", type=int, default=0, help="of the repetition")
    asked = parser.parse_args(words)
    if unknown := [name for name in asked.methods if name not in METHODS]:
        parser.error(f"unknown methods {unknown}; valid: {list(METHODS)}")
    dumbbells = {d.pounds: d for d in EXPERIMENTS[asked.experiment].dumbbells}
    if asked.pounds not in dumbbells:
        parser.error(f"experiment {asked.experiment} has {list(dumbbells)} lb")
    failed = False
    for name in asked.methods or METHODS:
        verdict = carried(METHODS[name], asked.experiment, dumbbells[asked.pounds], asked.seed).verdict
        print(
            f"{name:15s} {verdict.wrong or 'success'}: error {1e3 * verdict.error:.2f} mrad, "
            f"{1e3 * verdict.distance:.2f} mm from its place, gap {1e3 * verdict.gap:.1f} mm, "
            f"{100 * verdict.load:.0f} % of the torque"
        )
        failed = failed or not verdict.success
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
