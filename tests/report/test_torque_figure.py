"""The torque picture: well-formed, complete, and true to its data."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from steelyard.errors import ShapeError
from steelyard.report import torque_figure

SVG = "{http://www.w3.org/2000/svg}"


def figure(measured: np.ndarray, predicted: np.ndarray) -> ElementTree.Element:
    nv = measured.shape[1]
    return ElementTree.fromstring(
        torque_figure(
            np.linspace(0, 2, len(measured)),
            measured,
            predicted,
            joints=[f"joint <{j}> & co" for j in range(nv)],
            units=["N·m"] * nv,
            errors=[1.5] * nv,
            title="a < b",
        )
    )


def heights(line: ElementTree.Element) -> np.ndarray:
    return np.array([float(point.split(",")[1]) for point in line.get("points", "").split()])


def test_every_joint_has_its_three_lines_inside_the_picture() -> None:
    rng = np.random.default_rng(0)
    measured = rng.normal(size=(5000, 3))
    root = figure(measured, measured + 0.1)
    lines = root.findall(f"{SVG}polyline")
    assert len(lines) == 9
    width, height = (float(x) for x in root.get("viewBox", "").split()[2:])
    for line in lines:
        points = np.array([[float(x) for x in p.split(",")] for p in line.get("points", "").split()])
        assert len(points) <= 400
        assert (points > 0).all()
        assert (points < [width, height]).all()
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "joint <2> & co" in texts
    assert "1.5 %" in texts


def test_larger_torque_is_drawn_higher_and_a_perfect_prediction_on_the_line() -> None:
    tau = np.linspace(-1, 2, 50)[:, None]
    measured, predicted, difference = figure(tau, tau).findall(f"{SVG}polyline")
    assert (np.diff(heights(measured)) < 0).all()
    assert heights(measured) == pytest.approx(heights(predicted))
    assert np.ptp(heights(difference)) == 0


def test_no_torque_at_all_still_makes_a_picture() -> None:
    assert len(figure(np.zeros((10, 1)), np.zeros((10, 1))).findall(f"{SVG}polyline")) == 3


def test_wrong_shapes_are_named() -> None:
    with pytest.raises(ShapeError, match="predicted"):
        figure(np.zeros((10, 2)), np.zeros((9, 2)))
