"""Every command on one arm, with settings as short as they can be; each must end well."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from cli.running import Run, run
from steelyard.simulation import nominal_posture
from steelyard.workflows import demonstration
from steelyard.zoo import ZOO, zoo_robot

LOAD = {"mass": 0.05, "com": [0, 0, 0.02], "inertia": [1e-4, 0, 1e-4, 0, 0, 1e-4]}
SLIDING = {"scara": ("--lock", "joint3=-0.05")}
"""What `online` is told to hold: it moves joints that turn."""


def is_arm(name: str) -> bool:
    """Whether it is one chain, with a torque limit at every joint."""
    robot = zoo_robot(name)
    chain = all(joint.parent == k - 1 for k, joint in enumerate(robot.joints))
    return chain and bool(np.isfinite(robot.limit_array("effort")).all())


ARMS = [name for name in ZOO if is_arm(name)]


@contextmanager
def short_demo() -> Iterator[None]:
    """The demo designs its motion in a moment."""
    design = demonstration.DESIGN
    demonstration.DESIGN = {**design, "rounds": 1, "harmonics": 2, "period": 4.0}
    try:
        yield
    finally:
        demonstration.DESIGN = design


def line_of_commands(name: str, folder: Path) -> None:
    """From `inspect` to `demo`, each on what the ones before have written."""
    load = write_load(folder)

    def done(*words: object, verdict: bool = False) -> Run:
        return _done(*words, folder=folder, verdict=verdict)

    done("inspect", name)
    done("identifiability", name)
    # Pendulums and arms on a pedestal have their floor somewhere else.
    short = ("--harmonics", "2", "--period", "4", "--rounds", "1", "--floor", "none")
    assert done("excite", name, "--out", "m.json", *short).document["certified"] is True
    plant = ("--sensor", "industrial", "--rate", "200")
    done("simulate", name, "m.json", "--out", "empty.npz", *plant)
    done("simulate", name, "m.json", "--out", "loaded.npz", *plant, "--payload", load)
    plain = ("--method", "ols", "--drive", "viscous,coulomb", "--cutoff", "10", "--prior", "none")
    done("identify", name, "empty.npz", "--out", "result", *plain, verdict=True)
    done("validate", "result", "empty.npz", verdict=True)
    done("payload", name, "--loaded", "loaded.npz", "--empty", "empty.npz", "--out", "asset", verdict=True)
    few = ("--trials", "1", "--count", "1", "--filters", "none", "--noise", "q=1e-5")
    done("sensitivity", name, "--out", "study", *few)
    with short_demo():
        found = done("demo", "--robot", name, "--out", "demo", verdict=True).document
    assert found["holdout"]["overall"] < 25.0
    assert all((folder / file).is_file() for file in found["files"].values())


def last_joint_by_itself(name: str, folder: Path) -> None:
    """`joints` with all others held."""
    robot = zoo_robot(name)
    stands = zip(robot.joint_names[:-1], nominal_posture(robot)[:-1].tolist(), strict=True)
    held = [word for joint, q in stands for word in ("--lock", f"{joint}={q}")]
    assert _done("joints", name, "--out", "joints", *held, folder=folder).document["files"]


def learns_its_load(name: str, folder: Path) -> None:
    """`online` along one proven plan."""
    words = ("--payload", write_load(folder), "--plans", "1", "--budget", "1", *SLIDING.get(name, ()))
    found = _done("online", name, *words, folder=folder).document
    assert found["contains_truth"] is True
    assert found["violations"] == []


def write_load(folder: Path) -> Path:
    """A file of what is held."""
    file = folder / "load.json"
    file.write_text(json.dumps(LOAD))
    return file


def _done(*words: object, folder: Path, verdict: bool = False) -> Run:
    """A run that ended well; where a verdict is its answer, a bad one is an answer too."""
    ended = run(*words, "--json", cwd=folder)
    assert ended.code in ((0, 1) if verdict else (0,)), f"{' '.join(map(str, words))}: {ended.err[-2000:]}"
    return ended
