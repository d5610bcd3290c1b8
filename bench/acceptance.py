"""The long studies: dated JSON and a table under docs/results/; a reduced version of each is in the tests.

Run all with `make acceptance`, or some by name: `.venv/bin/python bench/acceptance.py kernels`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from studies import bodies, coverage, hostile, identifiability, kernels
from tables import Study, write_study

STUDIES: dict[str, Callable[[], Study]] = {
    "kernels": kernels.run,
    "bodies": bodies.run,
    "hostile": hostile.run,
    "identifiability": identifiability.run,
    "coverage": coverage.run,
}


def main(names: list[str]) -> int:
    """Run the named studies, all by default; 1 if one of them fails its bound."""
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        print(f"error: unknown studies {unknown}; valid: {list(STUDIES)}", file=sys.stderr)
        return 2
    passed = True
    for name in names or STUDIES:
        study = STUDIES[name]()
        path = write_study(name, study)
        print(f"{path}\n{study.markdown()}")
        passed = passed and study.passed
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
