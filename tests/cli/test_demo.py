"""`steelyard demo`: what it finds, prints and writes, what is made ahead for it, and how it is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.running import run
from steelyard.cli.app import COMMANDS
from steelyard.cli.compile import NEEDED
from steelyard.cli.kernels import KERNELS

NOTED = """
import sys
from steelyard import compiled
asked, load = [], compiled._MachineCode.load_overload
def noted(self, signature, context):
    if not compiled._compiling:
        asked.append(self._file(signature, context).name)
    return load(self, signature, context)
compiled._MachineCode.load_overload = noted
file = sys.argv.pop(1)
"""
MAIN = f"""{NOTED}
from steelyard.cli import main
try:
    main()
finally:
    open(file, "w").write(" ".join(asked))
"""
HELP = f"""{NOTED}
import os
from steelyard.cli.compile import _help
with open(file, "w") as out:
    for kernel in sys.argv[1:]:
        asked.clear()
        _help(os.getppid(), [kernel])
        print(*asked, file=out)
"""
SHORT = """
from steelyard.cli import main
from steelyard.workflows import demonstration
demonstration.DESIGN = demonstration.DESIGN | {"rounds": 1, "harmonics": 2, "period": 4.0}
main()
"""
BUSY_HELPER = """
import subprocess, sys
from steelyard import threads
from steelyard.cli import compile, output
threads.thread_count = lambda: 2
compile.start_helper = lambda kernels: subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
output.HELPERS.wanted = True
output._Compilation("demo")("kernel")
"""
WHOLE = "from steelyard.cli import main; main()"


@dataclass(frozen=True)
class Ended:
    """A program that ended: where, what it printed, and lines of names of the machine code it asked for."""

    folder: Path
    printed: str
    asked: list[set[str]]


def ended(folder: Path, program: str, *words: str) -> Ended:
    file = folder / "asked.txt"
    command = [sys.executable, "-c", program, str(file), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Ended(folder, done.stdout, [set(line.split()) for line in file.read_text().splitlines()])


@pytest.fixture(scope="module")
def panda(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """The demo as a user runs it, once for all that is told of it."""
    return ended(tmp_path_factory.mktemp("panda"), MAIN, "demo", "--out", "out", "--json")


def test_it_finds_a_panda_that_is_not_the_one_described(panda: Ended) -> None:
    document = json.loads(panda.printed)
    assert document["verdict"] in ("pass", "warn")
    assert document["certified"] is True
    # README's numbers: the torques of another motion, and how far the description is from them.
    assert document["holdout"]["overall"] < 2.0
    assert document["holdout"]["described"] > 5.0 * document["holdout"]["overall"]
    assert (document["identifiable"], document["parameters"]) == (69, 98)
    hold, of = document["intervals_hold"]
    assert of == 69
    assert hold >= 60
    # Links that the data decides are nearer to the truth than the description is.
    known = [link for link in document["links"] if link["decided_by"]["mass"] == "data"]
    assert len(known) >= 2
    off = [abs(link["mass"] - link["true"]["mass"]) for link in known]
    described = [abs(link["described"]["mass"] - link["true"]["mass"]) for link in known]
    assert sum(off) < 0.5 * sum(described)
    load = document["payload"]
    low, high = load["interval95"]["mass"]
    assert low < load["mass"] < high
    assert load["mass"] == pytest.approx(load["true"]["mass"], rel=0.01)
    assert load["com"] == pytest.approx(load["true"]["com"], abs=2e-3)
    assert document["seconds"] > 0
    for file in document["files"].values():
        assert (panda.folder / file).stat().st_size > 0


def test_its_helper_ends_with_it_whatever_it_is_at(tmp_path: Path) -> None:
    # The helper holds the output open, so that a run which outlasts the program is seen.
    command = [sys.executable, "-c", BUSY_HELPER]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=40.0)
    assert done.returncode == 0, done.stderr
    assert "compile kernel" in done.stderr


def test_it_uses_what_its_helper_makes(panda: Ended, tmp_path: Path) -> None:
    made = ended(tmp_path, HELP, *NEEDED["demo"]).asked
    for kernel, files in zip(NEEDED["demo"], made, strict=True):
        assert files & panda.asked[0], f"'{kernel}' is not what the demo runs"


def test_the_lists_of_helpers_name_commands_and_kernels_that_exist() -> None:
    assert set(NEEDED) <= set(COMMANDS)
    assert {kernel for kernels in NEEDED.values() for kernel in kernels} <= set(KERNELS)


def test_it_prints_links_joints_the_load_and_what_to_do_next(tmp_path: Path) -> None:
    result = run("demo", "--robot", "two_link", "--out", tmp_path / "out")
    assert result.code == 0, result.err
    for text in (
        "link2",
        "truly",
        "joint1",
        "is unexplained",
        "hold the truth",
        "report.html",
    ):
        assert text in result.out
    assert "steelyard identify robot.urdf log.csv" in result.out


def test_a_joint_can_be_locked(tmp_path: Path) -> None:
    words = ("--robot", "two_link", "--lock", "joint1=0.3", "--out", tmp_path / "out", "--json")
    result = run("demo", *words)
    assert result.code == 0, result.err
    assert list(result.document["holdout"]["joints"]) == ["joint2"]


def test_the_same_seed_gives_the_same_files_and_another_seed_others(tmp_path: Path) -> None:
    # One of the two that must agree has a process of its own: nothing may come from an earlier run.
    words = ("demo", "--robot", "one_link", "--seed", "3", "--out")
    subprocess.run([sys.executable, "-c", WHOLE, *words, str(tmp_path / "a")], check=True, timeout=300)
    for name, seed in (("b", 3), ("c", 4)):
        assert run("demo", "--robot", "one_link", "--out", tmp_path / name, "--seed", seed).code == 0
    for file in ("train.motion.json", "train.npz", "result/parameters.json", "torque.svg"):
        first = (tmp_path / "a" / file).read_bytes()
        assert first == (tmp_path / "b" / file).read_bytes()
        assert first != (tmp_path / "c" / file).read_bytes()


def test_an_output_that_is_a_file_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("precious")
    result = run("demo", "--robot", "one_link", "--out", tmp_path / "out")
    assert result.code == 2
    assert (tmp_path / "out").read_text() == "precious"


@pytest.mark.parametrize(
    ("program", "step", "later"),
    # To come to the second step, a short design does.
    [(WHOLE, "design a motion", 1.0), (SHORT, "another one to judge by", 0.05)],
    ids=["in the design", "in a run"],
)
def test_interruption_ends_with_130_and_leaves_nothing(
    tmp_path: Path, program: str, step: str, later: float
) -> None:
    command = [sys.executable, "-c", program, "demo", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert any(step in line for line in iter(process.stderr.readline, ""))
    time.sleep(later)  # into the step, which takes longer than this
    os.kill(process.pid, signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert not (tmp_path / "out").exists()
