"""A result folder says the same when it is read again, and says so where it was touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export.material import LINEAR, full_layout, nominal_estimate, write_result
from oracles.newton_euler import newton_euler
from steelyard.errors import InputError
from steelyard.identifiable import structural_identifiability
from steelyard.model import ResultFolder, is_result
from steelyard.problem import Estimate
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("ur10e").with_gravity([0.0, 9.81, 0.0])
REQUEST = {"command": "identify", "robot": "ur10e", "inputs": {"log.csv": "0" * 64}}


def _written(folder: Path, drive: tuple[str, ...] = LINEAR) -> tuple[Estimate, ResultFolder]:
    layout = full_layout(ROBOT, drive).fixing({"wrist_3_link.m": 0.3})
    phi = nominal_estimate(np.random.default_rng(0), ROBOT, layout)
    phi[layout.index("wrist_3_link.m")] = 0.3
    structure = structural_identifiability(ROBOT, layout)
    deviations = np.random.default_rng(1).uniform(0.01, 0.1, structure.base.count)
    deviations[4] = np.inf
    beta = structure.base.matrix @ phi
    covariance = np.diag(deviations**2)
    covariance[0, 1] = covariance[1, 0] = 0.5 * deviations[0] * deviations[1]
    estimate = Estimate("ols", layout, structure.base, beta, np.zeros(6), 9, 5.0, covariance, phi)
    write_result(folder, ROBOT, layout, phi, estimate=estimate, structure=structure, request=REQUEST)
    return estimate, ResultFolder.read(folder)


@pytest.mark.parametrize("drive", [LINEAR, (*LINEAR, "stribeck", "asymmetric")])
def test_it_is_read_as_it_was_written_to_the_last_bit(tmp_path: Path, drive: tuple[str, ...]) -> None:
    estimate, found = _written(tmp_path / "out", drive)
    assert found.findings == ()
    assert found.layout == estimate.layout
    assert np.array_equal(found.parameters.values, estimate.parameters)
    assert np.array_equal(found.robot.gravity, ROBOT.gravity)
    assert found.base.names == estimate.base.names
    assert np.array_equal(found.base.matrix, estimate.base.matrix)
    assert np.array_equal(found.base.values, estimate.values)
    assert found.base.deviations == pytest.approx(estimate.deviations, rel=1e-9)
    assert found.base.covariance == pytest.approx(estimate.covariance, rel=1e-9)
    assert found.parameters.robot_digest == ROBOT.digest
    assert found.record["request"] == REQUEST


def test_a_folder_without_a_covariance_gives_the_deviations_alone(tmp_path: Path) -> None:
    estimate, _ = _written(tmp_path / "out")
    path = tmp_path / "out" / "parameters.json"
    document = json.loads(path.read_text())
    del document["base_covariance"]
    path.write_text(json.dumps(document))
    found = ResultFolder.read(tmp_path / "out").base
    assert found.covariance == pytest.approx(np.diag(estimate.deviations**2), rel=1e-9)


def test_intervals_and_classes_are_those_of_the_estimate(tmp_path: Path) -> None:
    estimate, found = _written(tmp_path / "out")
    structure = structural_identifiability(ROBOT, estimate.layout)
    assert found.parameters.classes == structure.classes
    lower, upper = found.parameters.intervals.T
    for row, deviation, value in zip(estimate.base.matrix, estimate.deviations, estimate.values, strict=True):
        if np.count_nonzero(row) == 1 and np.isfinite(deviation):
            k = int(np.flatnonzero(row)[0])
            if estimate.layout.free[k]:
                assert [lower[k], upper[k]] == pytest.approx(
                    [value - 1.96 * deviation, value + 1.96 * deviation], rel=1e-3
                )
    fixed = estimate.layout.index("wrist_3_link.m")
    assert lower[fixed] == upper[fixed] == 0.3
    grouped = [k for k, kind in enumerate(structure.classes) if kind != "alone" and estimate.layout.free[k]]
    assert np.isinf(found.parameters.intervals[grouped]).all()


def test_its_robot_moves_as_the_one_that_was_identified(tmp_path: Path) -> None:
    estimate, found = _written(tmp_path / "out")
    rng = np.random.default_rng(2)
    assert estimate.parameters is not None
    bodies = estimate.parameters[:60].reshape(6, 10)
    for _ in range(5):
        q, v, a = rng.standard_normal((3, 6))
        expected = newton_euler(ROBOT, bodies, q, v, a)
        links = found.parameters.values[:60].reshape(6, 10)
        assert newton_euler(found.robot, links, q, v, a) == pytest.approx(expected, abs=1e-9)


def test_a_changed_and_a_missing_file_are_findings(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _written(out)
    (out / "feedforward.c").unlink()
    with (out / "model.xml").open("a") as file:
        file.write("<!-- mine -->")
    found = ResultFolder.read(out)
    assert {(Path(f.place).name, f.code) for f in found.findings} == {
        ("feedforward.c", "file-missing"),
        ("model.xml", "file-changed"),
    }


def test_a_model_edited_by_hand_is_named_by_its_link_and_the_parameters_count(tmp_path: Path) -> None:
    out = tmp_path / "out"
    estimate, _ = _written(out)
    text = (out / "model.urdf").read_text()
    start = text.index('<link name="forearm_link">')
    at = text.index('<mass value="', start) + len('<mass value="')
    (out / "model.urdf").write_text(text[:at] + "9" + text[at:])
    found = ResultFolder.read(out)
    assert [f.code for f in found.findings] == ["file-changed", "model-differs"]
    assert "forearm_link" in found.findings[1].message
    assert "upper_arm_link" not in found.findings[1].message
    assert np.array_equal(found.parameters.values, estimate.parameters)


def _edited(name: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        document = json.loads((folder / name).read_text())
        change(document)
        (folder / name).write_text(json.dumps(document))

    return edit


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda out: (out / "record.json").unlink(), "record.json: there is no such file"),
        (lambda out: (out / "record.json").write_text("[1"), "is not JSON"),
        (_edited("record.json", lambda d: d.update(kind="other")), "is not the record of a result"),
        (_edited("record.json", lambda d: d.update(schema=99)), "layout 99 is unknown"),
        (_edited("record.json", lambda d: d["files"].update({"../x": "0"})), "outside the folder"),
        (_edited("parameters.json", lambda d: d.update(schema=0)), "layout 0 is unknown"),
        (_edited("parameters.json", lambda d: d.pop("gravity")), "gravity"),
        (_edited("parameters.json", lambda d: d.update(parameters=3)), "'parameters' is no list"),
        (_edited("parameters.json", lambda d: d["parameters"].pop()), "has other parameters"),
        (
            _edited("parameters.json", lambda d: d["parameters"][2].update(value="x")),
            r"parameters\[2\].value",
        ),
        (_edited("parameters.json", lambda d: d["parameters"][2].update(value="nan")), "must be finite"),
        (_edited("parameters.json", lambda d: d["base"][1].update(combination={"no.m": 1.0})), "no.m"),
        (
            _edited("parameters.json", lambda d: d["parameters"][0].update({"class": "odd"})),
            "'odd' is not one",
        ),
        (lambda out: [(out / m).unlink() for m in ("model.urdf", "model.xml")], "holds no model"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_name(
    tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    out = tmp_path / "out"
    _written(out)
    damage(out)
    with pytest.raises(InputError, match=message):
        ResultFolder.read(out)


def test_without_a_urdf_the_mjcf_is_read(tmp_path: Path) -> None:
    out = tmp_path / "out"
    estimate, _ = _written(out)
    (out / "model.urdf").unlink()
    found = ResultFolder.read(out)
    assert found.model.name == "model.xml"
    assert [f.code for f in found.findings] == ["file-missing"]
    assert np.array_equal(found.parameters.values, estimate.parameters)


def test_a_folder_is_a_result_by_its_record(tmp_path: Path) -> None:
    _written(tmp_path / "out")
    assert is_result(tmp_path / "out")
    assert not is_result(tmp_path)
    assert not is_result(tmp_path / "nowhere")


def test_a_joint_that_was_held_is_held_when_it_is_read(tmp_path: Path) -> None:
    robot = ROBOT.locked({"elbow_joint": 0.7})
    layout = full_layout(robot)
    phi = nominal_estimate(np.random.default_rng(3), robot, layout)
    write_result(tmp_path / "out", robot, layout, phi)
    found = ResultFolder.read(tmp_path / "out")
    assert found.layout == layout
    assert found.findings == ()
    q, v, a = np.random.default_rng(4).standard_normal((3, 5))
    bodies = phi[:50].reshape(5, 10)
    expected = newton_euler(robot, bodies, q, v, a)
    assert newton_euler(found.robot, bodies, q, v, a) == pytest.approx(expected, abs=1e-9)
