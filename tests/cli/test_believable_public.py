"""Links of a public arm that no setting was made for, and rows of peers on the same samples.

Short versions of bench/studies/believable_public.py and bench/studies/real_peers.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from steelyard.motion import random_fourier
from steelyard.recording import write
from steelyard.simulation import simulate_motion
from steelyard.workflows.identify import identify
from steelyard.zoo import zoo_robot

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from studies import believable_public, real_peers


@pytest.mark.skipif(not believable_public.SHARED.is_dir(), reason="public descriptions are not in ../shared")
def test_links_of_a_public_arm_are_believable_and_nearer_the_truth_than_described() -> None:
    outcome = believable_public.judged("ur5e", 0, period=8.0)
    assert outcome.links.least > 1 / 3
    assert outcome.links.most < 3.0
    assert 0.5 < outcome.links.total < 2.0
    assert outcome.links.astray == ()
    assert outcome.links.mass_error < outcome.described.mass_error
    assert outcome.held_out < outcome.held_out_possible + max(outcome.standard_error, 0.1)
    page = believable_public.summary([outcome], {"xarm7": "not installed"}).markdown()
    assert "| xarm7: not installed |" in page


def test_a_description_that_is_not_installed_has_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(believable_public, "PACKAGE", "no-such-package")
    assert believable_public.ARMS["xarm7"].file is None


def test_the_standard_error_of_a_difference_is_that_of_its_stretches() -> None:
    rng = np.random.default_rng(0)
    robot = zoo_robot("two_link")
    log = simulate_motion(robot, random_fourier(robot, rng, period=2.0))
    assert log.tau is not None
    tau, other = log.tau, log.tau + rng.normal(size=log.tau.shape)
    assert believable_public.difference_error(log, other, other) == 0.0
    found = []
    for _ in range(200):
        one = tau + 1.1 * rng.normal(size=tau.shape)
        two = tau + rng.normal(size=tau.shape)
        sizes = [100.0 * np.linalg.norm(x - tau) / np.linalg.norm(tau) for x in (one, two)]
        found.append((sizes[0] - sizes[1], believable_public.difference_error(log, one, two)))
    differences, errors = np.array(found).T
    # Six stretches know their spread to about a third.
    assert 0.8 < np.sqrt((errors**2).mean()) / differences.std() < 1.25


def test_peers_that_are_not_installed_are_rows_that_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    robot = zoo_robot("two_link")
    log = simulate_motion(robot, random_fourier(robot, rng, period=6.0), sensor="industrial", rng=rng)
    write(log, tmp_path / "log.npz")
    done = identify("two_link", tmp_path / "log.npz")
    monkeypatch.setattr(real_peers, "_interpreter", lambda *modules: None)
    rows, bounds = real_peers.beside("two_link", real_peers.shared_by(done))
    failed = {row.method: row.failed for row in rows if row.failed}
    assert [failed[m] for m in failed if "FIGAROH" in m or "mujoco" in m] == ["not installed"] * 3
    ours, described, *_ = rows
    assert ours.held_out == done.holdout.overall
    assert (described.least, described.most, described.moved) == (1.0, 1.0, 0.0)
    assert len(bounds) == 1
    assert "| not installed |" in real_peers.table("two_link", rows)
