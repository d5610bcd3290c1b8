"""A model: torques by its numbers, links and joints by name, read from folders and from descriptions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oracles.newton_euler import newton_euler
from steelyard.errors import DescriptionError, InputError
from steelyard.export import write_result
from steelyard.export.urdf import new_urdf
from steelyard.layout import layout_of
from steelyard.model import LinkSpread, Model, body_numbers
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
DRIVE = ("viscous", "coulomb", "rotor", "load")
RNG = np.random.default_rng(0)
Q, V, A = (RNG.uniform(-1.0, 1.0, (20, 2)) for _ in range(3))


def _model(drive: tuple[str, ...] = DRIVE) -> Model:
    layout = layout_of(ROBOT, drive)
    phi = layout.complete_nominal()
    phi[20:] = np.linspace(0.1, 0.4, phi.size - 20)
    ends = np.column_stack((phi - 0.1, phi + 0.2))
    return Model(ROBOT, layout, phi, ends, ("data",) * (phi.size - 1) + ("prior",))


def test_torques_are_those_of_newton_and_euler_and_of_the_regressor() -> None:
    links = Model.of_robot(ROBOT.with_gravity([0.0, 0.0, -9.81]))
    bodies = links.parameters[:20].reshape(-1, 10)
    rigid = Model(links.robot, layout_of(links.robot), links.parameters[:20])
    expected = [newton_euler(links.robot, bodies, *state) for state in zip(Q, V, A, strict=True)]
    np.testing.assert_allclose(rigid.torque(Q, V, A), expected, atol=1e-10)
    model = _model()
    np.testing.assert_allclose(model.regressor(Q, V, A) @ model.parameters, model.torque(Q, V, A), atol=1e-12)


def test_links_and_joints_go_by_name() -> None:
    model = _model()
    link = model.links["link2"]
    assert link.mass == model.parameters[10]
    described = ROBOT.links[1].body
    assert described is not None
    np.testing.assert_allclose(link.body.parameters, described.parameters, atol=1e-12)
    assert body_numbers(link.body)["inertia"] == link.inertia.tolist()
    np.testing.assert_array_equal(link.interval95["mass"], model.intervals[10])
    assert link.decided_by == {"mass": "data"}
    assert link.document["described"]["mass"] == described.mass
    joint = model.joints["joint2"]
    assert joint.terms == {
        "viscous": joint.viscous,
        "coulomb": joint.coulomb,
        "armature": joint.armature,
        "load": joint.load,
    }
    assert joint.armature == model.parameters[model.layout.index("joint2.rotor")]
    assert joint.offset is None
    assert joint.decided_by["load"] == "prior"
    assert joint.document["interval95"]["load"] == pytest.approx([0.3, 0.6])
    assert model.mass == pytest.approx(sum(x.mass for x in model.links.values()))


def test_how_sure_a_centre_of_mass_is_goes_with_its_link() -> None:
    com, inertia = np.zeros((3, 2)), np.ones((6, 2))
    spread = LinkSpread(com, inertia, ("data",) * 3, ("prior",) * 6)
    plain = _model()
    model = Model(
        plain.robot, plain.layout, plain.parameters, plain.intervals, plain.decided_by, (spread, spread)
    )
    assert model.links["link1"].document["interval95"]["inertia"] == inertia.tolist()
    assert model.links["link1"].decided_by["com"] == ("data",) * 3


def test_a_model_is_short_to_print_and_sums_itself_up() -> None:
    model = _model()
    assert repr(model).startswith("<Model of two_link: 2 links, ")
    assert len(repr(model)) < 120
    lines = str(model).splitlines()
    assert lines[0].endswith("28 parameters")
    assert any(line.startswith("link2 ") for line in lines)
    assert any("armature" in line for line in lines)


def test_what_does_not_fit_is_refused() -> None:
    layout = layout_of(ROBOT)
    with pytest.raises(InputError, match="parameters"):
        Model(ROBOT, layout, np.zeros(3))
    with pytest.raises(InputError, match="intervals"):
        Model(ROBOT, layout, layout.complete_nominal(), np.zeros((3, 2)))
    with pytest.raises(InputError, match="decided_by"):
        Model(ROBOT, layout, layout.complete_nominal(), decided_by=("data",))


def test_a_model_is_loaded_from_a_name_a_description_or_a_result(tmp_path: Path) -> None:
    model = _model(("viscous", "coulomb", "rotor"))
    (tmp_path / "arm.urdf").write_bytes(new_urdf(ROBOT))
    write_result(tmp_path / "out", ROBOT, model.layout, model.parameters, decided_by=model.decided_by)
    loaded = Model.load(tmp_path / "out")
    np.testing.assert_allclose(loaded.torque(Q, V, A), model.torque(Q, V, A), atol=1e-9)
    assert loaded.decided_by == model.decided_by
    assert loaded.stored is not None
    assert loaded.base is not None
    assert loaded.base.names == ()
    assert loaded.covariance is not None
    np.testing.assert_allclose(loaded.nominal[:20], ROBOT_NUMBERS, atol=1e-12)
    for given in ("two_link", tmp_path / "arm.urdf", str(tmp_path / "arm.urdf")):
        stated = Model.load(given)
        np.testing.assert_allclose(stated.parameters[:20], ROBOT_NUMBERS, atol=1e-9)
        assert stated.stored is stated.base is stated.nominal is None


ROBOT_NUMBERS = layout_of(ROBOT).complete_nominal()


def test_a_description_without_inertials_is_no_model(tmp_path: Path) -> None:
    urdf = new_urdf(ROBOT).decode()
    start, end = urdf.index("<inertial>"), urdf.index("</inertial>") + len("</inertial>")
    (tmp_path / "bare.urdf").write_text(urdf[:start] + urdf[end:])
    with pytest.raises(DescriptionError, match="no inertial"):
        Model.load(tmp_path / "bare.urdf")


def test_two_descriptions_are_not_compared() -> None:
    with pytest.raises(InputError, match="two descriptions"):
        _model().compare(_model())
