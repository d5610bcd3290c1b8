"""A model: torques by its numbers, links and joints by name, read from folders and from descriptions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.newton_euler import newton_euler
from steelyard.drive import StribeckShape
from steelyard.errors import DescriptionError, InputError
from steelyard.formats.urdf import new_urdf
from steelyard.identifiable import structural_identifiability
from steelyard.layout import layout_of
from steelyard.model import LinkSpread, Model, StoredBase, body_numbers
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
DRIVE = ("viscous", "coulomb", "rotor", "load")
SHAPES = {"joint1": StribeckShape(0.3, 2.0), "joint2": StribeckShape(0.1, 1.0)}
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
    model.save(tmp_path / "out")
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


def _identified() -> Model:
    """A model of which everything is known: spreads, classes, combinations and their covariance."""
    layout = layout_of(ROBOT.with_gravity([0.0, -9.81, 0.0]), (*DRIVE, "stribeck"), stribeck=SHAPES)
    layout = layout.fixing({"joint1.rotor": 0.25})
    structure = structural_identifiability(ROBOT, layout_of(ROBOT, DRIVE[:3]))
    classes = dict(zip(structure.layout.names, structure.classes, strict=True))
    rng = np.random.default_rng(1)
    p, b = layout.size, 3
    phi = layout.complete_nominal()
    phi[20:] = rng.uniform(0.1, 0.4, p - 20)
    phi[layout.index("joint1.rotor")] = 0.25
    L = rng.normal(size=(b, b))
    spreads = tuple(
        LinkSpread(rng.normal(size=(3, 2)), rng.normal(size=(6, 2)), ("data",) * 3, ("both",) * 6)
        for _ in layout.links
    )
    covariance = L @ L.T
    covariance[2], covariance[:, 2] = 0.0, 0.0
    covariance[2, 2] = np.inf
    base = StoredBase(
        tuple(layout.names[k] for k in (5, 15, 20)),
        np.eye(p)[[5, 15, 20]] + 0.5 * np.eye(p)[[6, 16, 21]],
        rng.normal(size=b),
        np.sqrt(np.diag(covariance)),
        covariance,
        rng.normal(size=(b, 2)),
        rng.uniform(size=b),
    )
    return Model(
        ROBOT.with_gravity([0.0, -9.81, 0.0]),
        layout,
        phi,
        np.column_stack((phi - rng.uniform(size=p), phi + rng.uniform(size=p))),
        tuple(rng.choice(["data", "prior", "both"], p).tolist()),
        spreads,
        base,
        layout.complete_nominal(),
        ("0" * 64,),
        classes=tuple(classes.get(name) for name in layout.names),
    )


def test_a_model_that_was_saved_is_the_same_when_it_is_loaded(tmp_path: Path) -> None:
    model = _identified()
    files = model.save(tmp_path / "out")
    assert {"model.urdf", "model.xml", "parameters.json", "record.json"} <= set(files)
    loaded = Model.load(tmp_path / "out")
    # Loaded and saved again, it is still the same: nothing is lost on the way through a second folder.
    loaded.save(tmp_path / "again")
    for other in (loaded, Model.load(tmp_path / "again")):
        np.testing.assert_allclose(other.torque(Q, V, A), model.torque(Q, V, A), rtol=1e-12, atol=1e-12)
        assert other.layout == model.layout
        for name in ("parameters", "intervals", "covariance", "nominal"):
            np.testing.assert_array_equal(getattr(other, name), getattr(model, name), err_msg=name)
        for name in ("decided_by", "recordings", "classes"):
            assert getattr(other, name) == getattr(model, name)
        assert {name: link.document for name, link in other.links.items()} == {
            name: link.document for name, link in model.links.items()
        }
        assert [x.document for x in other.joints.values()] == [x.document for x in model.joints.values()]
        for name in ("names", "matrix", "values", "deviations", "intervals", "systematic"):
            np.testing.assert_array_equal(getattr(other.base, name), getattr(model.base, name), err_msg=name)
        assert other.stored.parameters.robot_digest == model.robot.digest
    assert model.compare(loaded).parameters.moved == ()


def test_a_joint_that_was_locked_is_still_known_after_two_folders(tmp_path: Path) -> None:
    Model.of_robot(ROBOT.locked({"joint2": 0.5})).save(tmp_path / "out")
    Model.load(tmp_path / "out").save(tmp_path / "again")
    found = Model.load(tmp_path / "again").stored
    assert found is not None
    assert found.locks["joint2"].tolist() == [0.5]


@pytest.mark.parametrize("name", ["arm.urdf", "arm.xml"])
def test_a_model_is_saved_as_one_description_that_states_its_numbers(tmp_path: Path, name: str) -> None:
    model = _model(("viscous", "coulomb"))
    assert model.save(tmp_path / name) == {name: str(tmp_path / name)}
    stated = Model.load(tmp_path / name)
    np.testing.assert_allclose(stated.parameters, model.parameters, atol=1e-12)
    assert stated.layout.names == model.layout.names


def test_a_folder_that_is_not_free_and_links_that_cannot_exist_are_refused(tmp_path: Path) -> None:
    model = _model(())
    (tmp_path / "mine.txt").write_text("x")
    for force in (False, True):
        with pytest.raises(InputError, match="is not empty"):
            model.save(tmp_path, force=force)
    with pytest.raises(InputError, match="physically impossible"):
        replace(model, parameters=-model.parameters).save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda links: links.pop(), "states 1 links, the model beside it has 2"),
        (lambda links: links[1]["interval95"]["com"].pop(), r"links\[1\]: com"),
        (
            lambda links: links[0]["decided_by"]["inertia"].pop(),
            r"links\[0\]: inertia_decided_by: expected",
        ),
        (lambda links: links[0].pop("interval95"), r"links\[0\].*interval95"),
    ],
)
def test_spreads_that_were_touched_are_refused(
    tmp_path: Path, change: Callable[[list[Any]], object], complaint: str
) -> None:
    _identified().save(tmp_path / "out")
    path = tmp_path / "out" / "parameters.json"
    document = json.loads(path.read_text())
    change(document["links"])
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=complaint):
        Model.load(tmp_path / "out")


def test_a_folder_of_an_earlier_version_has_no_spreads(tmp_path: Path) -> None:
    model = _identified()
    model.save(tmp_path / "out")
    path = tmp_path / "out" / "parameters.json"
    document = json.loads(path.read_text())
    del document["links"]
    path.write_text(json.dumps(document))
    loaded = Model.load(tmp_path / "out")
    assert loaded.spreads == ()
    assert list(loaded.links["link1"].interval95) == ["mass"]
    np.testing.assert_array_equal(loaded.intervals, model.intervals)


def test_a_description_without_inertials_is_no_model(tmp_path: Path) -> None:
    urdf = new_urdf(ROBOT).decode()
    start, end = urdf.index("<inertial>"), urdf.index("</inertial>") + len("</inertial>")
    (tmp_path / "bare.urdf").write_text(urdf[:start] + urdf[end:])
    with pytest.raises(DescriptionError, match="no inertial"):
        Model.load(tmp_path / "bare.urdf")


def test_two_descriptions_are_not_compared() -> None:
    with pytest.raises(InputError, match="two descriptions"):
        _model().compare(_model())
