"""`steelyard compare`: what moved between two results is named, what need not have moved is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.running import run
from export.material import write_result
from steelyard.drive import StribeckShape
from steelyard.formats import robot_with_parameters
from steelyard.formats.urdf import new_urdf
from steelyard.identifiable import structural_identifiability
from steelyard.layout import Layout, layout_of
from steelyard.problem import Estimate
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("ur10e")
LAYOUT = layout_of(ROBOT, ["viscous", "coulomb"])
DEVIATION = 1e-3


def _result(
    folder: Path,
    changes: dict[str, float] | None = None,
    *,
    seed: int | None = None,
    robot: Robot = ROBOT,
    layout: Layout = LAYOUT,
    blind: str = "",
) -> Path:
    """A result whose parameters are the nominal ones, some changed, and estimated with noise if seeded."""
    phi = layout.complete_nominal()
    for name, change in (changes or {}).items():
        phi[layout.index(name)] += change
    structure = structural_identifiability(robot, layout)
    base = structure.base
    deviations = np.full(base.count, DEVIATION)
    if blind:
        deviations[base.names.index(blind)] = np.inf
    noise = 0.0 if seed is None else DEVIATION * np.random.default_rng(seed).standard_normal(base.count)
    nv = robot.nv
    beta = base.matrix @ phi + noise
    estimate = Estimate(
        "ols",
        layout,
        base,
        beta,
        np.zeros(nv),
        9,
        5.0,
        np.diag(deviations**2),
        phi,
        recordings=(folder.name,),
    )
    write_result(folder, robot, layout, phi, estimate=estimate, structure=structure)
    return folder


def test_two_estimates_of_one_robot_differ_by_noise_alone(tmp_path: Path) -> None:
    done = run("compare", _result(tmp_path / "a", seed=1), _result(tmp_path / "b", seed=2), "--json")
    assert done.code == 0, done.err
    found = done.document
    assert found["verdict"] == "pass"
    assert found["moved"] == found["unknown"] == found["findings"] == []
    count = structural_identifiability(ROBOT, LAYOUT).base.count
    assert len(found["within"]) == count
    assert [x["deviation"] for x in found["within"]] == pytest.approx([np.sqrt(2) * DEVIATION] * count)
    assert found["torque"]["overall"] == 0.0, "the links are the same"
    assert found["correction"] == "Holm"


def test_what_moved_is_named_with_its_numbers_and_nothing_else(tmp_path: Path) -> None:
    coulomb, viscous = f"{ROBOT.joint_names[2]}.coulomb", f"{ROBOT.joint_names[4]}.viscous"
    first = _result(tmp_path / "a", {viscous: 0.1}, seed=1)
    second = _result(tmp_path / "b", {viscous: 0.09, coulomb: 0.5}, seed=2)
    done = run("compare", first, second, "--json")
    assert done.code == 0, "a change is no failure"
    found = done.document
    assert found["verdict"] == "warn"
    changes = {x["name"]: x["change"] for x in found["moved"]}
    assert changes == pytest.approx({coulomb: 0.5, viscous: -0.01}, abs=6 * DEVIATION)
    clearest = found["moved"][0]
    assert (clearest["name"], clearest["unit"], clearest["class"]) == (coulomb, "N·m", "alone")
    assert clearest["score"] == pytest.approx(clearest["change"] / (np.sqrt(2) * DEVIATION))
    joints = found["torque"]["joints"]
    assert joints[ROBOT.joint_names[2]] > 0.0 == joints[ROBOT.joint_names[0]]
    text = run("compare", first, second)
    assert "2 of " in text.out
    assert "Holm" in text.out


def test_a_description_states_its_numbers_exactly(tmp_path: Path) -> None:
    heavier = LAYOUT.complete_nominal()
    ten = LAYOUT.of_link(ROBOT.link_names[-1])
    heavier[ten] *= 1.5
    carried = robot_with_parameters(ROBOT, LAYOUT, heavier)
    (tmp_path / "heavier.urdf").write_bytes(new_urdf(carried))
    result = _result(tmp_path / "a", seed=1)
    found = run("compare", result, tmp_path / "heavier.urdf", "--json").document
    assert found["verdict"] == "warn"
    base = structural_identifiability(ROBOT, LAYOUT).base
    expected = base.matrix @ (heavier - LAYOUT.complete_nominal())
    clear = {name for name, x in zip(base.names, expected, strict=True) if abs(x) > 8 * DEVIATION}
    assert clear <= {x["name"] for x in found["moved"]}
    every = (*found["moved"], *found["within"])
    assert [x["deviation"] for x in every] == pytest.approx([DEVIATION] * base.count)
    back = run("compare", tmp_path / "heavier.urdf", result, "--json").document
    assert [x["change"] for x in back["moved"]] == [-x["change"] for x in found["moved"]]


def test_what_one_result_is_blind_to_is_unknown(tmp_path: Path) -> None:
    name = f"{ROBOT.joint_names[1]}.viscous"
    blind = _result(tmp_path / "b", {name: 5.0}, blind=name)
    found = run("compare", _result(tmp_path / "a"), blind, "--json").document
    assert found["unknown"] == [name]
    assert found["moved"] == []


def test_coefficients_of_other_friction_shapes_are_compared_by_torques_only(tmp_path: Path) -> None:
    def layout(speed: float) -> Layout:
        shapes = {joint: StribeckShape(0.1, 2.0) for joint in ROBOT.joint_names}
        shapes[ROBOT.joint_names[0]] = StribeckShape(speed, 2.0)
        made = layout_of(ROBOT, ["coulomb", "stribeck"], stribeck=shapes)
        return replace(made, parameters=tuple(replace(x, nominal=x.nominal or 0.0) for x in made.parameters))

    first = _result(tmp_path / "a", layout=layout(0.1))
    second = _result(tmp_path / "b", {f"{ROBOT.joint_names[0]}.stribeck": 9.0}, layout=layout(0.3))
    found = run("compare", first, second, "--json").document
    assert [f["code"] for f in found["findings"]] == ["other-stribeck"]
    assert set(found["unknown"]) == {f"{ROBOT.joint_names[0]}.{term}" for term in ("coulomb", "stribeck")}
    assert found["torque"]["joints"][ROBOT.joint_names[0]] > 0.0


def test_results_of_the_same_data_are_said_to_share_it(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    found = run("compare", _result(tmp_path / "a"), _result(tmp_path / "x" / "a"), "--json").document
    assert [f["code"] for f in found["findings"]] == ["shared-data"]


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    panda = zoo_robot("panda")
    result = _result(tmp_path / "a")
    other = _result(tmp_path / "panda", robot=panda, layout=layout_of(panda, ["viscous", "coulomb"]))
    terms = _result(tmp_path / "terms", layout=layout_of(ROBOT, ["viscous"]))
    bare = tmp_path / "bare"
    write_result(bare, ROBOT, LAYOUT, LAYOUT.complete_nominal())
    for second, message in (
        (other, "their links differ"),
        (terms, "their drive terms differ: coulomb"),
        (bare, "holds no estimate"),
        ("panda", "their links differ"),
        (tmp_path / "nowhere", "unknown robot"),
    ):
        done = run("compare", result, second, "--json")
        assert (done.code, done.out) == (2, ""), done
        assert message in done.complaint
    both = run("compare", "ur10e", "ur10e")
    assert both.code == 2
    assert "no intervals" in both.complaint
