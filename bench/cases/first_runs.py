"""How long a user waits: whole commands, with nothing compiled yet and with everything compiled.

Beside each stands the time in which Python loads SciPy's statistics and MuJoCo, so that machines compare. The
notes say how much is compiled, measured in one process that nobody helps.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from steelyard.motion import random_fourier, write_motion
from steelyard.recording import write
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot
from timing import Row

PEER = "Python loads scipy.stats and mujoco"
REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "ur10e"
CONSTANTS = "14.87,13.26,11.13,10.62,11.03,11.47"
LOAD = {"mass": 0.5, "com": [0.0, 0.0, 0.05], "inertia": [1e-3, 0, 1e-3, 0, 0, 1e-3]}
PROMISED = {
    "demo": (40.0, 8.0),
    "identify, 50 s of a UR10e": (15.0, 3.0),
    "identifiability panda": (5.0, None),
}
"""Most seconds of a first and of a later run."""
COUNT = """
import json, sys, time
from collections import Counter
from numba.core import event

class Compiled(event.Listener):
    def __init__(self):
        self.open, self.seconds = [], Counter()

    def on_start(self, started):
        self.open.append([started.data["dispatcher"].py_func, time.process_time(), 0.0])

    def on_end(self, ended):
        function, began, inside = self.open.pop()
        whole = time.process_time() - began
        if self.open:
            self.open[-1][2] += whole
        self.seconds[f"{function.__module__}.{function.__name__}"] += whole - inside

told = Compiled()
event.register("numba:compile", told)
from steelyard.cli import main
try:
    main()
finally:
    with open(sys.argv[0], "w") as file:
        json.dump(told.seconds.most_common(), file)
"""


def rows() -> Iterator[Row]:
    """A row for each command, first and later."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _rows(Path(folder))


def _rows(home: Path) -> Iterator[Row]:
    peer = min(_seconds([sys.executable, "-c", "import scipy.stats, mujoco"], home, home) for _ in range(3))
    help_text = min(_run(["--help"], home, home / "none") for _ in range(3))
    yield Row("steelyard --help", help_text, PEER, peer, most_seconds=0.3)
    for k, (name, words) in enumerate(_commands(home).items()):
        cache = home / f"cache-{k}"
        first, later = PROMISED.get(name, (None, None))
        cold = _run(words, home, cache)
        count, seconds, most = _compiled(words, home, home / f"count-{k}")
        note = f"{count} functions, {seconds:.3g} s of processor time to compile{most}"
        yield Row(f"{name}, nothing compiled yet", cold, PEER, peer, most_seconds=first, note=note)
        warm = min(_run(words, home, cache) for _ in range(2))
        yield Row(f"{name}, compiled", warm, PEER, peer, most_seconds=later)


def _commands(home: Path) -> dict[str, list[str]]:
    panda, rng = zoo_robot("panda"), np.random.default_rng(0)
    swing = random_fourier(panda, rng)
    write_motion(swing, home / "swing.json")
    write(simulate_motion(panda, swing, sensor="industrial", rng=rng), home / "empty.npz")
    (home / "load.json").write_text(json.dumps(LOAD))
    search = ["--rounds", "1", "--floor", "-0.5", "--out", "motion.json", "--force"]
    plan = ["--plans", "1", "--budget", "2", "--out", "learned", "--force"]
    return {
        "identifiability panda": ["identifiability", "panda"],
        "identify, 50 s of a UR10e": [*_log(home), "--out", "model", "--force"],
        "demo": ["demo", "--out", "demo"],
        "excite ur10e, one search": ["excite", "ur10e", *search],
        "payload of a panda": ["payload", "panda", "--loaded", "empty.npz", "--out", "held", "--force"],
        "online, one plan": ["online", "kinova_gen3_2f85", "--payload", "load.json", *plan],
    }


def _log(home: Path) -> list[str]:
    """A real log where there is one, else a simulated one as long."""
    if REAL.is_dir():
        words = [str(REAL / "ur10e.urdf"), str(REAL / "ur-20_02_12-50sec_12harm.csv")]
        return ["identify", *words, "--torque-constant", CONSTANTS]
    robot, rng = zoo_robot("ur10e"), np.random.default_rng(1)
    log = simulate_motion(
        robot, random_fourier(robot, rng, period=50.0), sensor="industrial", rng=rng, rate=100.0
    )
    write(log, home / "ur10e.npz")
    return ["identify", "ur10e", "ur10e.npz"]


def _run(words: list[str], home: Path, cache: Path) -> float:
    return _seconds(
        [sys.executable, "-c", "from steelyard.cli import command; command()", *words], home, cache
    )


def _compiled(words: list[str], home: Path, cache: Path) -> tuple[int, float, str]:
    """How many functions one process compiles, in how many seconds, and which take longest."""
    file = home / f"{cache.name}.json"
    program = f"import sys; sys.argv[0] = {str(file)!r}\n{COUNT}"
    _seconds([sys.executable, "-c", program, *words], home, cache)
    found = json.loads(file.read_text())
    most = ", ".join(f"{name.rpartition('.')[2]} {seconds:.2g}" for name, seconds in found[:3])
    return len(found), sum(seconds for _, seconds in found), f" ({most})" if found else ""


def _seconds(command: list[str], home: Path, cache: Path) -> float:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["STEELYARD_CACHE"] = str(cache)
    started = time.perf_counter()
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command}: {done.stderr.decode()[-2000:]}")
    return seconds
