"""The budget: what would take more memory than allowed is refused with a sentence, not tried."""

from __future__ import annotations

import math

import pytest

from steelyard.budget import VARIABLE, memory_budget, require_memory
from steelyard.errors import InputError


def _require(needed: float) -> None:
    require_memory(needed, "a motion of a year", place="motion.json: period", remedy="Make it shorter.")


def test_what_fits_passes_and_what_does_not_is_named() -> None:
    _require(0)
    _require(memory_budget())
    with pytest.raises(
        InputError,
        match=r"^motion\.json: period: a motion of a year would take 7\.28 TiB of memory, and 2 GiB are "
        r"allowed\. Make it shorter\. STEELYARD_MEMORY states another budget, in GiB\.$",
    ):
        _require(8e12)


@pytest.mark.parametrize("needed", [1e300, math.inf, math.nan])
def test_what_is_no_size_is_too_much(needed: float) -> None:
    with pytest.raises(InputError, match="more than 1024 EiB"):
        _require(needed)


def test_the_environment_states_another_budget(monkeypatch) -> None:
    monkeypatch.setenv(VARIABLE, "8")
    _require(8 * 2.0**30)
    monkeypatch.setenv(VARIABLE, "0.5")
    with pytest.raises(InputError, match="512 MiB are allowed"):
        _require(2.0**30)
    for wrong in ("x", "-1", "nan", "0"):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(InputError, match="STEELYARD_MEMORY: expected a positive number of GiB"):
            _require(1.0)
