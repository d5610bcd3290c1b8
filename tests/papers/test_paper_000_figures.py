"""The page with the figures of Zhang et al. (2025) shows all of them with the numbers of the study's file."""

from __future__ import annotations

import copy
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.page_reader import PageReader
from paper_000.arm import END_EFFECTOR_LOWER, END_EFFECTOR_UPPER
from paper_000.figure_page import figure_page
from paper_000.figure_reading import stacking_result
from paper_000.figure_scale import Scale
from paper_000.figures import main
from paper_000.methods import METHODS
from paper_000.success import PRINTED
from steelyard.errors import InputError

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
POUNDS = (4, 5, 6, 7, 8)
COLOURS = {"ours": "#d55e00", "conservative": "#56b4e9", "adap-1": "#009e73"}
"""Of methods whose lines have no dashes."""
HOSTILE = "<script>alert(1)</script><img src=http://evil.example/x>"


def study() -> dict[str, Any]:
    """A result as the study writes it, with numbers of no meaning."""
    rng = np.random.default_rng(0)
    middle = 0.5 * (END_EFFECTOR_LOWER + END_EFFECTOR_UPPER)
    room = 0.5 * (END_EFFECTOR_UPPER - END_EFFECTOR_LOWER)

    def interval(share: float) -> dict[str, list[float]]:
        return {"lower": (middle - share * room).tolist(), "upper": (middle + share * room).tolist()}

    def course() -> dict[str, list[float]]:
        error = np.append(0.0, 10.0 ** rng.uniform(-1.5, 2.5, 50))
        return {"error, mrad": error.tolist(), "torque over limit": rng.uniform(0.1, 0.9, 51).tolist()}

    cases = [f"{name}, {pounds} lb" for name in "ab" for pounds in POUNDS] + ["c, 8 lb"]
    bounded = {
        "time, s": [0.0, 3.0, 7.5],
        "lowest, middle, highest mass, kg": [[1.2, 3.2, 5.2], [2.5, 3.1, 3.7], [2.7, 3.15, 3.6]],
    }
    return {
        "date": "2026-11-16",
        "description": "Words of the `study`.\n\nTable III, in brackets:\n\n| a |\n\nWhy it differs.",
        "extra": {
            "Table III": {m: dict(zip("abc", row, strict=True)) for m, row in PRINTED.items()},
            "Table III as printed": {m: dict(zip("abc", row, strict=True)) for m, row in PRINTED.items()},
            "reasons": {m: {"a": {}, "b": {"contact": 3} if m == "wrong" else {}} for m in METHODS},
            "Table V": {
                "pounds": list(POUNDS),
                "optimised": [11.11, 12.12, 13.13, 14.14, 15.15],
                "random": [22.22, 24.24, 26.26, 28.28, 30.3],
                "optimised, as printed": [100.0, 100.0, 100.0, 100.0, 100.0],
                "random, as printed": [150.0, 150.0, 150.0, 150.0, 150.125],
            },
            "verdicts": {
                m: {case: {"largest command over its limit": 0.5} for case in cases} for m in METHODS
            },
            "Fig. 5": {
                "ours": bounded,
                "random": copy.deepcopy(bounded),
                "adap-1": {
                    "time, s": (0.05 * np.arange(51)).tolist(),
                    "mass, kg": np.linspace(1.3, 2.9, 51).tolist(),
                },
                "adap-1-excit": {
                    "time, s": (0.05 * np.arange(201)).tolist(),
                    "mass, kg": np.linspace(1.3, 3.1, 201).tolist(),
                },
            },
            "Figs. 6 to 10": [
                {
                    "pounds": pounds,
                    "truth": (middle + 0.1 * room).tolist(),
                    "optimised": interval(0.3),
                    "random": interval(0.4),
                }
                for pounds in POUNDS
            ],
            "Figs. 11 and 12": {case: {method: course() for method in METHODS} for case in cases},
        },
    }


@pytest.fixture
def result() -> dict[str, Any]:
    return study()


@pytest.fixture
def page(tmp_path: Path):
    def written(document: dict[str, Any]) -> str:
        path = tmp_path / "result.json"
        path.write_text(json.dumps(document))
        return figure_page(stacking_result(path), version="1")

    return written


def picture(page: str, figure: int) -> ElementTree.Element:
    """The figure of that number."""
    (text,) = re.findall(rf'<svg [^>]*aria-label="Fig\. {figure}:.*?</svg>', page, re.DOTALL)
    return ElementTree.fromstring(text)


def tick_labels(svg: ElementTree.Element, x: float) -> list[list[tuple[float, float]]]:
    """Heights and values of the labels that end at x, one list for each panel from top to bottom."""
    labels = sorted(
        (float(each.get("y")) - 4.0, float(each.text.replace("\u2212", "-")))
        for each in svg.iter("text")
        if float(each.get("x")) == x and re.fullmatch("[\u2212\\d.]+", each.text or "")
    )
    panels: list[list[tuple[float, float]]] = []
    for y, value in labels:
        if not panels or value > panels[-1][-1][1]:
            panels.append([])
        panels[-1].append((y, value))
    return panels


def values_at(heights: np.ndarray, labels: list[tuple[float, float]], log: bool = False) -> np.ndarray:
    """What a reader takes from heights, by the labels of the axis."""
    y, value = np.array(labels).T
    slope, offset = np.polyfit(y, np.log10(value) if log else value, 1)
    read = slope * heights + offset
    return 10.0**read if log else read


def lines(svg: ElementTree.Element, colour: str, width: str) -> list[np.ndarray]:
    """Points of the lines in that colour and width without dashes."""
    return [
        np.array([each.split(",") for each in line.get("points").split()], dtype=float)
        for line in svg.iter("polyline")
        if (line.get("stroke"), line.get("stroke-width")) == (colour, width)
        and line.get("stroke-dasharray") is None
    ]


def test_the_page_holds_both_tables_and_every_figure_from_5_to_12(page, result) -> None:
    read = PageReader(page(result))
    drawn = [attributes["aria-label"] for tag, attributes in read.tags if tag == "svg"]
    assert [re.match(r"Fig\. (\d+):", label).group(1) for label in drawn] == [str(k) for k in range(5, 13)]
    anchors = {attributes.get("id") for _, attributes in read.tags}
    assert {"table-3", "table-5", "figure-5", "figure-6", "figure-10", "figure-11", "figure-12"} <= anchors
    assert "Words of the study . Why it differs." in read.words


def test_the_page_fetches_nothing_runs_nothing_and_knows_dark_paper(page, result) -> None:
    text = page(result)
    read = PageReader(text)
    asked = [(k, v) for _, attributes in read.tags for k, v in attributes.items() if k in ("href", "src")]
    assert all(value.startswith("#") for _, value in asked)
    assert not re.search(r"url\((?!#)", text)
    assert "@import" not in text
    assert "prefers-color-scheme: dark" in text
    assert not [attributes for _, attributes in read.tags if any(key.startswith("on") for key in attributes)]


def test_the_same_file_gives_the_same_page(page, result) -> None:
    assert page(result) == page(copy.deepcopy(result))


def test_exactly_the_entries_of_table_3_that_are_not_as_printed_are_marked(page, result) -> None:
    assert ">≠</span>" not in page(result)
    result["extra"]["Table III"]["adap-2"]["b"] = "fail at 5 lb (3), success (2)"
    result["extra"]["Table III"]["ours"]["c"] = "collide"
    text = page(result)
    assert text.count(">≠</span>") == 2
    assert re.search(r"≠</span></span> fail at 5 lb \(3\), success \(2\)</td><td><small>fail at 4 lb<", text)
    assert "31 of 33" in PageReader(text).words
    assert "wrong, (b)" in PageReader(text).words
    assert "contact (3)" in PageReader(text).words


def test_table_5_shows_each_number_and_the_ratio_of_the_means(page, result) -> None:
    before = PageReader(page(result)).words
    table = result["extra"]["Table V"]
    for x in [*table["optimised"], *table["random"]]:
        assert f"{x:.2f}" in before
    assert "150.125" in before
    assert "is 2.00 times that after ours; by the paper's numbers it is 1.50 times" in before
    table["random"][2] = 92.27
    after = PageReader(page(result)).words
    assert "92.27" in after
    assert "26.26" not in after
    assert f"is {np.mean(table['random']) / np.mean(table['optimised']):.2f} times" in after


def test_masses_read_from_the_axis_of_figure_5_are_those_of_the_file(page, result) -> None:
    svg = picture(page(result), 5)
    whole, near = tick_labels(svg, 50.0)
    (line, again) = lines(svg, COLOURS["ours"], "2.6")
    # Bounds stay until the next ones come: a line of steps.
    assert values_at(line[:, 1], whole) == pytest.approx([3.2, 3.2, 3.1, 3.1, 3.15, 3.15], abs=0.01)
    assert values_at(again[:, 1], near) == pytest.approx([3.2, 3.2, 3.1, 3.1, 3.15, 3.15], abs=0.001)
    ends = [values_at(edge[:, 1], whole) for edge in lines(svg, COLOURS["ours"], "1.0")]
    assert ends[0] == pytest.approx([1.2, 1.2, 2.5, 2.5, 2.7, 2.7], abs=0.01)
    assert ends[1] == pytest.approx([5.2, 5.2, 3.7, 3.7, 3.6, 3.6], abs=0.01)
    # The task of all begins together; who does not identify has waited until then.
    carried = lines(svg, COLOURS["adap-1"], "1.4")[0]
    assert values_at(carried[[0, -1], 1], whole) == pytest.approx([1.3, 2.9], abs=0.01)
    assert carried[0, 0] == pytest.approx(line[4, 0], abs=0.11)


def test_the_words_of_figure_5_name_the_nearest_estimate_first(page, result) -> None:
    truth = 3.2 + 0.1 * 2.0
    told = PageReader(page(result)).words
    for name, mass in (("ours", 3.15), ("adap-1-excit", 3.1), ("adap-1", 2.9)):
        assert re.search(rf"{name} {1e3 * (truth - mass):.0f} g", told)
    assert "nearest first: ours" in told
    assert "[2.70, 3.60] kg by ours" in told
    result["extra"]["Fig. 5"]["adap-1-excit"]["mass, kg"][-1] = truth + 0.0015
    assert "nearest first: adap-1-excit 1.5 g, ours" in PageReader(page(result)).words


def test_intervals_read_from_the_axes_are_those_of_the_file(page, result) -> None:
    dumbbells = result["extra"]["Figs. 6 to 10"]
    for k, numbers in enumerate(dumbbells):
        numbers["optimised"]["lower"][8] = -0.123 + 0.01 * k
        numbers["random"]["upper"][3] = -0.2 - 0.01 * k
    text = page(result)
    for number, numbers in enumerate(dumbbells, start=6):
        svg = picture(text, number)
        assert drawn_intervals(svg, COLOURS["ours"]) == pytest.approx(stated(numbers, "optimised"), abs=2e-3)
        assert drawn_intervals(svg, "#2f7fc1") == pytest.approx(stated(numbers, "random"), abs=2e-3)
        half = 0.5 * (numbers["optimised"]["upper"][8] - numbers["optimised"]["lower"][8])
        assert f"ours ± {half:.2g}" in [each.text for each in svg.iter("text")]


def drawn_intervals(svg: ElementTree.Element, colour: str) -> np.ndarray:
    """Ends of the bars in a colour as a reader takes them from the axes, over what Table I allows."""
    panels = [{key: float(each.get(key)) for key in ("x", "y", "height")} for each in svg.iter("rect")]
    paths = [each.get("d") for each in svg.iter("path") if each.get("stroke") == colour]
    bars = [match.groups() for d in paths if (match := re.match(r"M([\d.]+) ([\d.]+)V([\d.]+)", d))]
    ends = []
    for panel, bar in zip(panels, bars, strict=True):
        x, *heights = map(float, bar)
        assert 0.0 < x - panel["x"] < 130.0
        labels = [
            label
            for axis in tick_labels(svg, panel["x"] - 6.0)
            for label in axis
            if -1.0 < label[0] - panel["y"] < panel["height"] + 1.0
        ]
        ends.append(values_at(np.array(heights), labels))
    return np.array(ends).T / (END_EFFECTOR_UPPER - END_EFFECTOR_LOWER)


def stated(numbers: dict[str, Any], name: str) -> np.ndarray:
    """The same from the file."""
    ends = np.array([numbers[name]["lower"], numbers[name]["upper"]])
    return ends / (END_EFFECTOR_UPPER - END_EFFECTOR_LOWER)


def test_the_words_say_when_an_interval_misses_the_truth_and_whose_are_narrower(page, result) -> None:
    text = PageReader(page(result)).words
    assert text.count("All intervals of both hold the truth.") == 5
    assert text.count("narrower than those of random for 10 of 10 numbers") == 5
    assert "100 of 100" in text
    seventh = result["extra"]["Figs. 6 to 10"][3]
    seventh["truth"][0] = seventh["optimised"]["upper"][0] + 1e-3
    seventh["random"]["lower"][5:7] = seventh["optimised"]["lower"][5:7]
    seventh["random"]["upper"][5:7] = seventh["optimised"]["upper"][5:7]
    text = PageReader(page(result)).words
    assert "The truth lies in 9 of 10 intervals of ours and in 10 of 10 of random." in text
    assert "narrower than those of random for 8 of 10 numbers" in text
    assert "99 of 100" in text


@pytest.mark.parametrize(("number", "experiment"), [(11, "a"), (12, "b")])
def test_courses_read_from_the_axes_are_those_of_the_file(page, result, number: int, experiment: str) -> None:
    svg = picture(page(result), number)
    errors, loads = tick_labels(svg, 90.0), tick_labels(svg, 534.0)
    assert len(errors) == len(loads) == len(POUNDS)
    drawn = lines(svg, COLOURS["ours"], "2.6")
    assert len(drawn) == 2 * len(POUNDS)
    for k, pounds in enumerate(POUNDS):
        course = result["extra"]["Figs. 11 and 12"][f"{experiment}, {pounds} lb"]["ours"]
        # The first error is zero, which the logarithmic axis leaves out.
        assert values_at(drawn[2 * k][:, 1], errors[k], log=True) == pytest.approx(
            course["error, mrad"][1:], rel=0.01
        )
        assert values_at(drawn[2 * k + 1][:, 1], loads[k]) == pytest.approx(
            course["torque over limit"], abs=0.002
        )


def test_the_words_of_figure_12_name_who_strays_farthest_and_who_asks_for_most(page, result) -> None:
    courses = result["extra"]["Figs. 11 and 12"]
    for method, size in (("ours", 0.25), ("random", 0.75), ("wrong", 850.0)):
        for pounds in POUNDS:
            courses[f"b, {pounds} lb"][method]["error, mrad"] = [0.0, size, 0.5 * size]
            courses[f"b, {pounds} lb"][method]["torque over limit"] = [0.1, 0.2, 1.75]
    verdicts = result["extra"]["verdicts"]
    verdicts["ours"]["b, 6 lb"]["largest command over its limit"] = 0.83
    verdicts["adap-2"]["b, 8 lb"]["largest command over its limit"] = 0.97
    told = PageReader(page(result)).words.split("Fig. 12: errors")[1]
    assert "ours stays within 0.25 mrad" in told
    assert "random comes nearest to its reference, within 0.75 mrad" in told
    assert "wrong strays farthest, by 850 mrad" in told
    assert "ours asks for at most 83 % of the torque there is" in told
    assert "adap-2 for most of the others, 97 %" in told
    assert "Curves along the upper edge lie beyond it." in told


def test_axes_have_few_round_labels_within_their_ends() -> None:
    rng = np.random.default_rng(1)
    for low, span, most in zip(
        rng.normal(size=200), 10.0 ** rng.uniform(-3, 3, 200), [4, 5, 6, 12] * 50, strict=True
    ):
        ticks = [value for value, _ in Scale(low, low + span).ticks(most)]
        assert 1 <= len(ticks) <= most + 1
        assert min(ticks) >= low - 1e-6 * span
        assert max(ticks) <= low + span * (1 + 1e-6)
        if len(ticks) > 1:
            mantissa = f"{ticks[1] - ticks[0]:.3e}"[:5]
            assert mantissa in ("1.000", "2.000", "5.000")


def _without(document: dict[str, Any], *path: Any) -> None:
    *before, last = path
    for key in before:
        document = document[key]
    del document[last]


def _put(value: Any, document: dict[str, Any], *path: Any) -> None:
    *before, last = path
    for key in before:
        document = document[key]
    document[last] = value


WRONG = {
    "no result": (lambda d: _without(d, "extra"), r"has no 'extra'\. Make the file by"),
    "no figure": (lambda d: _without(d, "extra", "Fig. 5"), r"extra: has no 'Fig\. 5'"),
    "no method": (lambda d: _without(d, "extra", "Table III", "ours"), "Table III: has no 'ours'"),
    "no dumbbell": (lambda d: _without(d, "extra", "Figs. 11 and 12", "b, 6 lb"), "has no 'b, 6 lb'"),
    "no curve": (lambda d: _without(d, "extra", "Figs. 11 and 12", "a, 4 lb", "wrong"), "has no 'wrong'"),
    "no bounds": (lambda d: _without(d, "extra", "Figs. 6 to 10", 2), "must be of the dumbbells of Table V"),
    "a strange method": (lambda d: _put({}, d, "extra", "Table III", "adap-9"), "unknown method 'adap-9'"),
    "short": (lambda d: d["extra"]["Table V"]["random"].pop(), r"Table V: random: expected shape \(5,\)"),
    "not a number": (
        lambda d: _put(float("nan"), d, "extra", "Figs. 11 and 12", "a, 4 lb", "ours", "error, mrad", 3),
        "a, 4 lb: ours: error, mrad: must be finite",
    ),
    "empty": (
        lambda d: _put([], d, "extra", "Figs. 11 and 12", "a, 4 lb", "ours", "error, mrad"),
        "no sample",
    ),
    "crossed": (
        lambda d: _put(9.0, d, "extra", "Figs. 6 to 10", 0, "random", "lower", 0),
        r"\[0\]: random: has a lower end above its upper one",
    ),
    "backwards": (
        lambda d: _put(8.0, d, "extra", "Fig. 5", "ours", "time, s", 1),
        "ours: must have two times or more",
    ),
    "words for numbers": (
        lambda d: _put("many", d, "extra", "Table V", "random", 0),
        "must hold real numbers",
    ),
    "numbers for words": (lambda d: _put(3, d, "extra", "Table III", "ours", "a"), "ours: a: must be text"),
    "half a pound": (lambda d: _put(4.5, d, "extra", "Table V", "pounds", 0), "must be a whole number"),
    "a list for a table": (lambda d: _put([], d, "extra", "Table V"), "Table V: must be a table"),
    "a table for a list": (lambda d: _put({}, d, "extra", "Figs. 6 to 10"), "Figs. 6 to 10: must be a list"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_missing_or_wrong_is_refused_by_its_place(page, result, name: str) -> None:
    spoil, message = WRONG[name]
    spoil(result)
    with pytest.raises(InputError, match=message):
        page(result)


def test_words_of_the_file_cannot_become_markup(page, result) -> None:
    result["date"] = HOSTILE
    result["description"] = HOSTILE
    result["extra"]["Table III"]["wrong"]["a"] = HOSTILE
    result["extra"]["reasons"]["wrong"]["b"] = {HOSTILE: 1}
    text = page(result)
    assert "<img" not in text
    assert "<script>alert" not in text
    assert "alert(1)" in PageReader(text).words


def test_the_command_writes_the_page_and_says_where(tmp_path: Path, capsys, result) -> None:
    file, out = tmp_path / "result.json", tmp_path / "page.html"
    file.write_text(json.dumps(result))
    assert main([str(file), "--out", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("content", "message"), [(None, "cannot be read"), ("{", "is no JSON"), ("7", "named")]
)
def test_the_command_refuses_what_is_no_result_and_writes_nothing(
    tmp_path: Path, capsys, content: str | None, message: str
) -> None:
    file, out = tmp_path / "result.json", tmp_path / "page.html"
    if content is not None:
        file.write_text(content)
    assert main([str(file), "--out", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_the_command_says_when_the_page_cannot_be_written(tmp_path: Path, capsys, result) -> None:
    file = tmp_path / "result.json"
    file.write_text(json.dumps(result))
    assert main([str(file), "--out", str(tmp_path / "absent" / "page.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_every_kept_result_of_the_study_can_be_drawn() -> None:
    kept = sorted(RESULTS.glob("safe_stacking-*.json"))
    if not kept:
        pytest.skip("the study has not been kept yet")
    for path in kept:
        text = figure_page(stacking_result(path))
        assert all(f'aria-label="Fig. {number}:' in text for number in range(5, 13))
