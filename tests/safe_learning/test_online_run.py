"""One run of a learning arm: what it promised, what it left, and that it can be had again bit by bit."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from safe_learning.learning_arm import HOME, arm, link, loaded, replanner, run, setting
from steelyard.archive import to_document
from steelyard.errors import InputError
from steelyard.limits import bounds_of
from steelyard.safe_learning import (
    DONE,
    OnlineRun,
    ProcessWorker,
    SyncWorker,
    replay_run,
    run_online,
    violations_of,
)
from steelyard.safe_learning.checker import check_plan


def test_every_promise_is_kept_in_every_cycle() -> None:
    done, robot = run()
    q, v, tau = robot.truth
    tube, b = setting().tube, bounds_of(arm())
    assert done.record.outcome == DONE
    assert len(q) > 3000
    e = done.cycles.q_ref - q
    r = done.cycles.v_ref - v + tube.kr * e
    assert np.linalg.norm(r, axis=1).max() <= tube.radius
    assert np.linalg.norm(e, axis=1).max() <= tube.position
    assert (np.abs(v) <= b.velocity).all()
    assert (np.abs(tau) <= b.effort).all()
    truth = loaded()[1]
    for known in done.record.knowledge:
        assert (known.box.lower <= truth).all()
        assert (truth <= known.box.upper).all()
    assert violations_of(done, robot, truth) == ()


def test_bounds_shrink_and_never_grow_again() -> None:
    boxes = [known.box for known in run()[0].record.knowledge]
    for before, after in pairwise(boxes):
        assert (after.lower >= before.lower).all()
        assert (after.upper <= before.upper).all()
    assert boxes[-1].spread[0] < 0.4 * boxes[0].spread[0]


def test_every_plan_begins_where_the_last_one_is_left_and_has_a_proof_that_is_checked_again() -> None:
    done, _ = run()
    reference = done.cycles
    step = np.abs(np.diff(reference.v_ref, axis=0)).max()
    assert step <= 1.01 * setting().cycle * bounds_of(arm()).acceleration.max()
    for driven in done.record.moves:
        certifier = setting().certifier(driven.move.load)
        check_plan(driven.move.certificate, certifier.limits, driven.move.motion)


def test_what_a_violation_is_told_by() -> None:
    done, robot = run()
    truth = loaded()[1]
    off = replace(done, cycles=replace(done.cycles, q_ref=done.cycles.q_ref + 0.01))
    assert any("|e|" in sentence for sentence in violations_of(off, robot, truth))
    assert any("do not hold" in sentence for sentence in violations_of(done, robot, truth * 1.5))


def test_shapes_that_come_too_near_are_a_violation() -> None:
    done, robot = run()
    nearest = done.record.setting.clearance.distances(robot.truth[0]).min()
    asked = replace(done.record.setting, distance=nearest + 5e-3)
    nearer = replace(done, record=replace(done.record, setting=asked))
    (sentence,) = [x for x in violations_of(nearer, robot, loaded()[1]) if "overlap" in x]
    apart = asked.clearance.distances(robot.truth[0]) - asked.distance
    name = asked.clearance.names[int(apart.min(axis=0).argmin())]
    assert sentence.startswith(f"{name} overlap by {-apart.min():.3g} m")


def test_a_run_reads_back_and_repeats_itself_bit_by_bit(tmp_path: Path) -> None:
    done, _ = run()
    done.write(tmp_path / "run")
    back = OnlineRun.read(tmp_path / "run")
    assert to_document(back.record) == to_document(done.record)
    assert np.array_equal(back.cycles.commands, done.cycles.commands)
    again = replay_run(back)
    assert again.same, again.sentence
    assert to_document(again.run.record) == to_document(done.record)


def test_a_log_that_was_changed_does_not_repeat_itself() -> None:
    done, _ = run()
    q = done.cycles.q.copy()
    q[2000, 3] += 1e-12
    changed = OnlineRun(done.record, replace(done.cycles, q=q))
    again = replay_run(changed)
    assert not again.same
    assert "cycle 2000" in again.sentence


def test_files_that_are_no_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        OnlineRun.read(tmp_path)
    run()[0].write(tmp_path)
    (tmp_path / "cycles.npz").write_bytes(b"PK nothing")
    with pytest.raises(InputError, match="not an npz file"):
        OnlineRun.read(tmp_path)


def test_a_process_of_its_own_replies_the_same() -> None:
    robot = link()
    worker = ProcessWorker(replanner())
    try:
        done = run_online(
            setting(), robot, worker, HOME, guard=SyncWorker(replanner()), most_plans=2, patience=None
        )
    finally:
        worker.close()
    assert np.array_equal(done.cycles.commands, run()[0].cycles.commands)
