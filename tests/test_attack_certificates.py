"""A short part of the attack on certificates, and that it would see a false one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.limits import Certificate, certify

BENCH = Path(__file__).resolve().parents[1] / "bench"
SEEDS = (4, 11, 13, 17, 20, 22, 26, 27, 28, 30, 35, 39, 60, 66)
"""Arms of the zoo, one with meshes, and trees."""


@pytest.fixture(scope="module")
def attack() -> Iterator[Any]:
    sys.path.insert(0, str(BENCH))
    from attacks import certificates

    yield certificates
    sys.path.remove(str(BENCH))


def test_no_certificate_claims_more_than_is_left(attack: Any) -> None:
    outcomes = [attack.case(seed) for seed in SEEDS]
    certified = [x for x in outcomes if x["end"] == "certified"]
    assert len(certified) >= 5
    assert [x for x in certified if x["excess"] > 0.0] == []
    assert [x for x in certified if not x["amber"] and x["unnamed"]] == []
    figures = {x.what: x for x in attack.judge(outcomes).figures}
    assert figures["certificates with a margin above the truth"].value == 0


@pytest.mark.parametrize("kind", ["position", "velocity", "acceleration", "torque", "clearance"])
def test_a_margin_that_is_a_little_too_large_is_found(
    attack: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forged(*words: Any, **more: Any) -> Certificate:
        proof = certify(*words, **{**more, "sharpness": 0.9, "uncertainty": None})
        margins = [replace(x, margin=x.margin / 0.9 + 1e-3) if x.kind == kind else x for x in proof.margins]
        return replace(proof, margins=tuple(margins))

    monkeypatch.setattr(attack, "certify", forged)
    ends = [attack.case(seed) for seed in (4, 6, 20)]
    false = [x["by_kind"][kind] for x in ends if x["end"] == "certified" and kind in x["by_kind"]]
    assert false
    assert max(false) > 0.0
