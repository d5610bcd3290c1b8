"""Truncated, malformed and hostile files: each is refused with one clear message, or read and reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import mujoco
import pinocchio
import pytest

from hostile.corpus import SECRET, texts

TESTS = Path(__file__).resolve().parent
ENOUGH = 300
OWN_PLACES = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH")
STEELYARD = [sys.executable, "-c", "from steelyard.cli import main; main()"]


@dataclass(frozen=True)
class Outcome:
    kind: str
    made_by: str
    path: str
    command: str
    code: int
    stdout: str
    stderr: str
    trespasses: list[str]
    left_behind: list[str]
    seconds: float

    @property
    def refused(self) -> bool:
        return self.code == 2

    @property
    def problems(self) -> list[dict[str, str]]:
        return list(json.loads(self.stdout)["problems"])


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """What came of every file, in a process that watches itself."""
    folder = tmp_path_factory.mktemp("corpus")
    results = tmp_path_factory.mktemp("results") / "outcomes.json"
    subprocess.run(
        [sys.executable, "-m", "hostile.watch", str(folder), str(results), "4", "3"],
        env={
            **{name: value for name, value in os.environ.items() if name not in OWN_PLACES},
            "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]),
            # Packages are looked for in the user's own places too; here there are none.
            "ROBOT_DESCRIPTIONS_CACHE": str(folder / "none"),
        },
        check=True,
        timeout=900,
    )
    return [Outcome(**item) for item in json.loads(results.read_text())]


@pytest.fixture(scope="module")
def grown(outcomes: list[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.made_by != "seed"]


def _named(outcomes: list[Outcome]) -> list[tuple[str, str, str, str]]:
    return [(item.kind, item.made_by, item.command, item.stderr[:200]) for item in outcomes]


def test_the_corpus_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    first, again, other = (list(texts(seed, 2)) for seed in (4, 4, 5))
    assert first == again
    assert first != other


def test_the_files_it_grows_from_are_good(outcomes: list[Outcome]) -> None:
    seeds = [outcome for outcome in outcomes if outcome.made_by == "seed"]
    assert {outcome.kind for outcome in seeds} == {"urdf", "mjcf", "xacro", "csv"}
    assert _named([outcome for outcome in seeds if outcome.code != 0]) == []


def test_no_traceback_and_no_hang(grown: list[Outcome]) -> None:
    assert _named([item for item in grown if item.code not in (0, 1, 2) or "Traceback" in item.stderr]) == []


def test_at_least_three_hundred_files_of_all_kinds_are_refused_or_reported(grown: list[Outcome]) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for item in grown:
        if item.command != "repair":
            end = "refused" if item.refused else "reported" if item.problems else "harmless"
            counts[item.kind, end] += 1
    caught = sum(count for (_, end), count in counts.items() if end != "harmless")
    assert caught >= ENOUGH, counts
    for kind in ("urdf", "mjcf", "xacro", "csv"):
        assert counts[kind, "refused"] >= 60, counts


def _names_a_file(item: Outcome) -> bool:
    """Whether the message says which file is meant: the one given, or one it includes."""
    given = Path(item.path)
    return any(path.name in item.stderr for path in (given, *given.parent.iterdir()))


def test_a_refusal_is_one_line_that_names_the_file(grown: list[Outcome]) -> None:
    refused = [item for item in grown if item.refused]
    unclear = [
        item
        for item in refused
        if not item.stderr.startswith("error: ")
        or item.stderr.count("\n") != 1
        or not _names_a_file(item)
        or item.stdout
    ]
    assert _named(unclear) == []


def test_what_is_read_is_one_json_document_and_its_errors_decide_the_exit_code(grown: list[Outcome]) -> None:
    for item in grown:
        if not item.refused and item.command != "read":
            errors = [problem for problem in item.problems if problem["severity"] == "error"]
            failed = [check for check in json.loads(item.stdout)["checks"] if check["status"] == "fail"]
            assert item.code == (1 if errors or failed else 0), item


def test_nothing_outside_the_folder_is_opened_and_no_process_or_address_is_asked(
    outcomes: list[Outcome],
) -> None:
    assert [(item.made_by, item.trespasses) for item in outcomes if item.trespasses] == []


def test_no_message_tells_what_stands_outside_the_folder(grown: list[Outcome]) -> None:
    assert _named([item for item in grown if SECRET in item.stdout + item.stderr]) == []


def test_output_is_whole_or_absent(grown: list[Outcome]) -> None:
    for item in grown:
        whole = [str(Path(item.path).with_name("repaired.urdf"))]
        expected = whole if item.command == "repair" and not item.refused else []
        assert item.left_behind == expected, item


def test_whatever_is_repaired_without_an_error_left_loads_in_both_simulators(grown: list[Outcome]) -> None:
    repaired = [item for item in grown if item.command == "repair" and item.code == 0]
    assert len(repaired) > 20
    for item in repaired:
        text = item.left_behind[0]
        pinocchio.buildModelFromUrdf(text)
        # Massless links that carry others are left as stated, with a warning, and MuJoCo refuses them.
        if refusal := _mujocos_refusal(text):
            assert "mass and inertia of moving bodies" in refusal, item
            left = {problem["code"] for problem in json.loads(item.stdout)["left"]}
            assert left & {"zero-mass", "missing-inertial"}, item


def _mujocos_refusal(path: str) -> str:
    try:
        mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        return str(error)
    return ""


def test_the_command_itself_ends_as_it_does_under_watch(grown: list[Outcome]) -> None:
    inspected = [item for item in grown if item.command == "inspect"]
    ends = (("urdf", 0), ("mjcf", 1), ("xacro", 2), ("urdf", 2))
    sample = [next(item for item in inspected if (item.kind, item.code) == end) for end in ends]
    for item in sample:
        command = [*STEELYARD, "inspect", item.path, "--json"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (result.returncode, result.stdout) == (item.code, item.stdout)
        assert result.stderr == item.stderr
