"""Monte Carlo studies: every combination, trials apart, nothing moved by what is added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from campaigns.sample_tasks import HERE
from steelyard.campaigns import TaskGraph
from steelyard.campaigns.monte_carlo import conditions, trials
from steelyard.campaigns.task import Task, task_seed
from steelyard.errors import InputError

AXES: dict[str, dict[str, Any]] = {
    "noise": {"ideal": 0.0, "low-cost": 0.01},
    "method": {"ols": "ols", "lmi": {"name": "lmi", "margin": 1e-3}},
}


def study(count: int = 3, axes: Any = AXES, seed: int = 1) -> tuple[Task, ...]:
    return trials("trial", f"{HERE}:draw", axes, count=count, seed=seed)


def test_every_combination_is_tried_so_often_and_kept_apart() -> None:
    tasks = study()
    assert len(tasks) == 2 * 2 * 3
    assert tasks[0].name == "trial.ideal.ols.0"
    assert tasks[-1].parameters["method"] == {"name": "lmi", "margin": 1e-3}
    assert [t.parameters["trial"] for t in tasks[:4]] == [0, 1, 2, 0]
    assert len({t.parameters["seed"] for t in tasks}) == len(tasks)
    assert len(set(TaskGraph(tasks).keys().values())) == len(tasks)


def test_more_trials_and_more_methods_leave_the_others_as_they_are() -> None:
    before = TaskGraph(study()).keys()
    assert before.items() <= TaskGraph(study(count=9)).keys().items()
    longer = {**AXES, "method": {"new": "new", **AXES["method"]}}
    assert before.items() <= TaskGraph(study(axes=longer)).keys().items()
    assert not before.items() & TaskGraph(study(seed=2)).keys().items()


def test_seeds_are_children_of_the_campaigns_seed_by_name() -> None:
    import hashlib

    words = tuple(np.frombuffer(hashlib.sha256(b"trial.a").digest(), "<u4").tolist())
    state = np.random.SeedSequence(5, spawn_key=words).generate_state(4)
    assert task_seed(5, "trial.a") == sum(int(word) << 32 * k for k, word in enumerate(state))


def test_the_numbers_of_different_trials_are_independent() -> None:
    draws = [np.random.default_rng(task_seed(0, f"t{k}")).normal(size=500) for k in range(20)]
    correlation = np.corrcoef(draws) - np.eye(20)
    assert np.abs(correlation).max() < 5 / np.sqrt(500)


def test_inputs_may_follow_the_condition() -> None:
    shared = [Task(f"motion-{label}", f"{HERE}:trivial", {"number": k}) for k, label in enumerate("ab")]
    axes = {"motion": {"a": 1, "b": 2}}
    tasks = trials(
        "fit",
        f"{HERE}:draw",
        axes,
        count=1,
        seed=0,
        inputs=lambda condition: {"reference": f"motion-{condition.labels['motion']}"},
    )
    assert TaskGraph([*shared, *tasks]).tasks["fit.b.0"].needs == ("motion-b",)


def test_empty_axes_no_trials_and_bad_labels_are_refused() -> None:
    with pytest.raises(InputError, match="the axis 'noise' has no value"):
        list(conditions({"noise": {}}))
    with pytest.raises(InputError, match="at least 1"):
        study(count=0)
    with pytest.raises(InputError, match="cannot name a task"):
        study(axes={"noise": {"../x": 1}})
    with pytest.raises(InputError, match="must not be negative"):
        study(seed=-1)
