"""What `bench/mutants.py` puts on trial is small and is code, and the nearest tests judge it first."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from mutants import Sample, found_again, mutant_of, read_mutant
from mutation.changes import Change, changes_of, code_lines
from mutation.moved import Sources
from mutation.sample import draw, shares
from mutation.suite import OneTest, Suite
from mutation.trial import KILLED, LIMIT, Judged, stages_of

SOURCE = '''"""A module with 3 words."""

from __future__ import annotations

__all__ = ["fall"]
HEIGHTS = (0.5, 3)


def fall(τ: float, limits: list[float], deep: bool = False) -> float | None:
    """How far after τ seconds, at most 2 limits."""
    if not limits or τ < 0.0:
        raise ValueError(f"τ is {τ + 1}")
    steps = []
    for k in range(len(limits)):
        steps.append(
            limits[k] * τ
        )
    total = min(steps[1:])
    total += 4.9 * τ**2
    return total if deep and total > 1e-9 else limits[0] / 2
'''
FOUND = changes_of("room/falling.py", SOURCE)


def texts(kind: str) -> set[tuple[str, str]]:
    return {(change.old, change.new) for change in FOUND if change.kind == kind}


def test_every_change_is_code_with_the_same_lines() -> None:
    for change in FOUND:
        changed = change.applied(SOURCE)
        ast.parse(changed)
        assert changed != SOURCE
        assert changed.count("\n") == SOURCE.count("\n")
        before, after = SOURCE.splitlines(), changed.splitlines()
        assert before[: change.line - 1] == after[: change.line - 1]


def test_each_kind_is_found_where_it_stands() -> None:
    assert texts("comparison") == {("<", "<="), ("<", ">"), (">", ">="), (">", "<")}
    assert texts("boolean") == {("or", "and"), ("and", "or")}
    assert texts("not") == {("not ", "")}
    assert texts("extreme") == {("min", "max")}
    assert texts("off by one") == {("len(limits)", "len(limits) - 1"), ("1", "1 + 1")}
    assert texts("arithmetic") == {("*", "/"), ("/", "*"), ("+=", "-=")}
    assert {old.partition("(")[0] for old, _ in texts("statement")} == {"steps.append", "total += 4.9 * τ**2"}
    assert {new for _, new in texts("return")} == {"None"}


def test_numbers_change_but_for_tolerances_and_messages() -> None:
    assert texts("number") == {
        *(("0.5", "0.25"), ("3", "6"), ("0.0", "1.0"), ("1", "2"), ("4.9", "9.8"), ("2", "4"), ("0", "1")),
    }
    assert {change.owner for change in FOUND} == {"HEIGHTS", "fall"}


def test_places_on_a_page_are_left_alone() -> None:
    assert changes_of("report/identification.py", "x = 14\n") == []
    assert len(changes_of("motion/page.py", "x = 14\n")) == 1


def test_a_change_of_other_text_is_refused() -> None:
    with pytest.raises(ValueError, match="no longer holds"):
        FOUND[0].applied(SOURCE.replace("HEIGHTS", "LENGTHS_IN"))


def test_shares_are_complete_and_every_room_has_some() -> None:
    given = shares({"large": 900, "small": 90, "empty": 0}, 20)
    assert sum(given.values()) == 20
    assert given == {"large": 13, "small": 4, "empty": 3}
    with pytest.raises(ValueError, match="too few"):
        shares({"large": 900, "small": 90}, 5)


def package(root: Path) -> Path:
    """A repository with two rooms and a test of one of them."""
    folder = root / "src" / "steelyard"
    for room in ("room", "other"):
        (folder / room).mkdir(parents=True)
        (folder / room / "__init__.py").write_text(f"from steelyard.{room}.falling import fall\n")
        (folder / room / "falling.py").write_text(SOURCE)
    tests = root / "tests" / "room"
    tests.mkdir(parents=True)
    (tests / "test_falling.py").write_text(
        "from steelyard.room import fall\n\ndef low():\n    return fall(1.0, [1.0])\n\n"
        "def test_through_a_helper():\n    assert low()\n\n"
        "def test_at_once():\n    assert fall(1.0, [2.0])\n\n"
        "def test_nothing():\n    pass\n"
    )
    return folder


def test_the_same_seed_draws_the_same_from_every_room(tmp_path: Path) -> None:
    folder = package(tmp_path)
    drawn = draw(folder, 8, seed=3)
    assert drawn == draw(folder, 8, seed=3) != draw(folder, 8, seed=4)
    assert [change.room for change in drawn].count("room") == 4
    assert len({(change.file, change.line) for change in drawn}) == 8
    assert code_lines(SOURCE) == 12


def test_the_nearest_test_comes_first_and_a_failing_one_is_left_out(tmp_path: Path) -> None:
    package(tmp_path)
    change = Change("room/falling.py", 19, 10, "+=", "-=", "arithmetic", "fall")
    names = [test.id.partition("::")[2] for test in Suite(tmp_path).near(change)]
    assert names == ["test_at_once", "test_through_a_helper", "test_nothing"]
    junit = tmp_path / "junit.xml"
    junit.write_text(
        '<testsuites><testsuite><testcase classname="tests.room.test_falling" name="test_at_once" time="9"/>'
        '<testcase classname="tests.room.test_falling" name="test_nothing[a]" time="0">'
        '<failure message="no"/></testcase></testsuite></testsuites>'
    )
    suite = Suite(tmp_path, junit)
    assert [test.seconds for test in suite.near(change)] == [0.1, 9.0]
    assert suite.left_out == {"tests/room/test_falling.py::test_nothing": "no"}


@pytest.mark.parametrize("folders_are_merged", [False, True])
def test_a_kept_mutant_is_found_where_its_line_has_moved(tmp_path: Path, folders_are_merged: bool) -> None:
    folder = package(tmp_path)
    (folder / "other" / "falling.py").unlink()
    change = next(change for change in FOUND if change.kind == "extreme")
    mutant = replace(mutant_of(change, Sources(folder)), judged=Judged(KILLED, "one", "failed", 1, 0.1))
    assert read_mutant(mutant.document()) == mutant
    assert found_again([mutant], Sources(folder), seed=1) == ([mutant], [])
    (folder / "room" / "falling.py").unlink()
    indented = "class Tower:\n" + "".join(f"    {line}\n" for line in SOURCE.splitlines()[8:])
    text = f"# A remark.\n\n{indented}" if folders_are_merged else f"# A remark.\n{SOURCE}"
    file = "other/motions.py" if folders_are_merged else "room/falling.py"
    (folder / file).write_text(text)
    (moved,), gone = found_again([mutant], Sources(folder), seed=1)
    assert gone == []
    assert (moved.change.file, moved.line, moved.after) == (file, mutant.line, mutant.after)
    assert text.splitlines()[moved.change.line - 1].strip() == "total = min(steps[1:])"
    assert moved.judged == mutant.judged


def test_of_lines_with_one_text_that_of_the_same_definition_and_neighbours_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "steelyard"
    folder.mkdir()
    twice = "    if n > {}:\n        n += 1\n    if n > 7:\n        n -= 1\n    return n\n"
    text = (
        f"def fall(n):\n{twice.format(7)}\ndef rise(n):\n{twice.format(7)}\ndef turn(n):\n{twice.format(9)}"
    )
    (folder / "one.py").write_text(text)
    sources = Sources(folder)
    kept = [change for change in changes_of("one.py", text) if sources.line(change).text == "if n > 7:"]
    assert [change.line for change in kept if change.new == "<"] == [2, 4, 9, 11, 18]
    (folder / "one.py").unlink()
    (folder / "other.py").write_text("# A remark.\n" + text)
    moved = [Sources(folder).found(change, sources.line(change), sources.changed(change)) for change in kept]
    assert [None if change is None else change.line - 1 for change in moved] == [k.line for k in kept]
    # Two that agree as much cannot be told apart, and a common line elsewhere is another one.
    (folder / "more.py").write_text(text)
    assert Sources(folder).found(kept[0], sources.line(kept[0]), sources.changed(kept[0])) is None
    (folder / "more.py").unlink()
    (folder / "other.py").write_text(
        "def sink(n):\n    if n > 7:\n        n += 1\n    if n > 7:\n        n += 2\n"
    )
    assert Sources(folder).found(kept[0], sources.line(kept[0]), sources.changed(kept[0])) is None


def test_another_of_the_same_room_is_drawn_for_one_that_is_gone(tmp_path: Path) -> None:
    folder = package(tmp_path)
    judged = Judged(KILLED, "one", "failed", 1, 0.1)
    mutants = [
        replace(mutant_of(change, Sources(folder)), judged=judged)
        for change in draw(folder, 8, seed=3)
        if change.room == "other"
    ]
    lost = mutants[0]
    (folder / "other").rename(folder / "new")
    moved = folder / "new" / "falling.py"
    moved.write_text(moved.read_text().replace(lost.line.text, f"{lost.line.text}  # Really."))
    (folder / "room" / "falling.py").unlink()
    again, gone = found_again(mutants, Sources(folder), seed=1)
    assert gone == [0]
    assert [mutant.change.room for mutant in again] == ["new"] * 4
    assert (again[0].judged, again[0].instead_of) == (None, lost.words)
    assert [mutant.judged for mutant in again[1:]] == [judged] * 3
    assert len({(mutant.change.file, mutant.change.line) for mutant in again}) == 4
    assert found_again(mutants, Sources(folder), seed=1) == (again, gone)
    assert read_mutant(again[0].document()) == again[0]
    # What it stands for is still known after another look.
    assert found_again(again, Sources(folder), seed=1) == (again, [])


def test_a_test_is_found_by_its_name_where_its_file_has_moved(tmp_path: Path) -> None:
    package(tmp_path)
    suite = Suite(tmp_path)
    assert suite.found("tests/old/test_fall.py::test_at_once") == "tests/room/test_falling.py::test_at_once"
    assert suite.found("tests/old/test_fall.py::test_never") == ""
    assert suite.found("tests/old/test_fall.py") == ""
    (tmp_path / "tests" / "test_more.py").write_text("def test_at_once():\n    pass\n")
    assert Suite(tmp_path).found("tests/old/test_fall.py::test_at_once") == ""


def test_verdicts_are_kept_and_what_fails_anyway_does_not_count(tmp_path: Path) -> None:
    sources = Sources(package(tmp_path))
    mutants = [mutant_of(change, sources) for change in draw(tmp_path / "src" / "steelyard", 8, seed=3)]
    head = {"before": {"room": {KILLED: 2}}}
    sample = Sample(tmp_path / "kept.json", head, mutants)
    for place, by in enumerate(("one", "other")):
        sample.keep(place, Judged(KILLED, by, "failed", 1, 0.1))
    sample.keep(2, Judged(LIMIT, "", "", 9, 60.0))
    again = Sample(tmp_path / "kept.json", head, mutants)
    assert [mutant.verdict for mutant in again.mutants] == [KILLED, KILLED, LIMIT, *[""] * 5]
    assert (again.killed(), again.killed_before()) == (2, 2)
    again.write(failing_unchanged=["other"])
    assert again.killed() == 1
    assert again.table().endswith("| **all** | 2 | 0 | 1 | 5 | 2 |")


def test_a_short_run_comes_first_and_what_does_not_fit_is_left_out() -> None:
    tests = [OneTest(f"{file}.py::test_{k}", 2.0) for k, file in enumerate("abababab")]
    stages, are_all = stages_of(tests, 9.0)
    assert [[test.id[0] for test in stage] for stage in stages] == [list("aabb"), ["a"]]
    assert not are_all
    assert stages_of(tests, 99.0)[1]
