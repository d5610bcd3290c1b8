"""Files for controllers state the load in the vendor's frame and units; a wrong sign, frame or unit shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from oracles import controller_files as oracle
from oracles.controller_files import READERS, agrees, statements
from oracles.stated_bounds import stated_bounds
from steelyard.errors import InputError, UnknownNameError
from steelyard.export.controllers import (
    CONVENTIONS,
    ControllerLoad,
    LoadBounds,
    axes_of_moment,
    controller_files,
    controller_names,
    decimal_number,
    rounded_outward,
)
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.pose import Pose

TURN = Rotation.from_euler("ZYX", [130.0, -35.0, 70.0], degrees=True)
"""Of the payload's frame in the flange's; no axis stays, and its transpose is another rotation."""
SHIFT = np.array([0.011, -0.023, 0.107])


def points() -> tuple[np.ndarray, np.ndarray]:
    """Masses and places of an asymmetric payload in its own frame: no product of inertia vanishes."""
    rng = np.random.default_rng(7)
    return rng.uniform(0.1, 0.6, 9), rng.uniform(-0.05, 0.09, (9, 3)) * np.array([1.0, 1.7, 0.6])


def body_of(masses: np.ndarray, places: np.ndarray) -> Body:
    """A body of point masses: sums, and nothing else."""
    m = masses.sum()
    c = masses @ places / m
    r = places - c
    return Body(m, c, sum(w * (x @ x * np.eye(3) - np.outer(x, x)) for w, x in zip(masses, r, strict=True)))


MASSES, PLACES = points()
OWN = body_of(MASSES, PLACES)
FLANGE = body_of(MASSES, TURN.apply(PLACES) + SHIFT)
"""The truth: every point moved by SciPy, then summed in the flange's frame."""
TRUTH = (FLANGE.mass, FLANGE.com, FLANGE.inertia)
PLACEMENT = Pose(TURN.as_matrix(), SHIFT)


def load_of(body: Body, **more: Any) -> ControllerLoad:
    return ControllerLoad("arm", body, "flange", "It was named.", (2.0, 4.0), verdict="pass", **more)


def written(load: ControllerLoad) -> dict[str, str]:
    return dict(controller_files(load, CONVENTIONS).files)


def bounds(ten: np.ndarray, width: float = 0.02, heaviest: float = 10.0) -> Any:
    half = width * np.array([1.0, *(0.1,) * 3, *(0.01,) * 6])
    said = ("Torques are within 1 %.", "The load is rigid.")
    prior = SimpleNamespace(upper=np.array([heaviest, *np.ones(9)]))
    return stated_bounds(
        lower=ten - half, upper=ten + half, assumptions=said, untested=said[1:], needed=0.4, prior=prior
    )


def test_every_controller_has_a_reader_of_its_own() -> None:
    assert set(written(load_of(FLANGE))) == set(READERS)


@pytest.mark.parametrize("file", READERS)
def test_a_reader_written_from_the_document_finds_the_load_in_the_frame_of_the_flange(file: str) -> None:
    text = written(load_of(OWN.moved(PLACEMENT)))[file]
    assert agrees(READERS[file](statements(file, text)), TRUTH)


def _own_frame(body: Body) -> Body:
    return OWN


def _turned_back(body: Body) -> Body:
    return OWN.moved(Pose(TURN.as_matrix().T, SHIFT))


def _pose_inverted(body: Body) -> Body:
    return OWN.moved(PLACEMENT.inverse())


def _not_shifted(body: Body) -> Body:
    return OWN.moved(Pose(TURN.as_matrix(), np.zeros(3)))


def _mirrored(body: Body) -> Body:
    S = np.diag([1.0, -1.0, 1.0])
    return Body(body.mass, S @ body.com, S @ body.inertia @ S)


def _millimetres_for_centimetres(body: Body) -> Body:
    return Body(body.mass, 10.0 * body.com, body.inertia)


def _pounds(body: Body) -> Body:
    return Body(body.mass / 0.45359237, body.com, body.inertia)


WRONG_EVERYWHERE = (
    _own_frame,
    _turned_back,
    _pose_inverted,
    _not_shifted,
    _mirrored,
    _millimetres_for_centimetres,
    _pounds,
)


@pytest.mark.parametrize("wrong", WRONG_EVERYWHERE)
@pytest.mark.parametrize("file", READERS)
def test_a_wrong_frame_sign_or_unit_of_mass_and_centre_is_noticed_in_every_file(
    file: str, wrong: Callable[[Body], Body]
) -> None:
    text = written(load_of(wrong(FLANGE)))[file]
    assert not agrees(READERS[file](statements(file, text)), TRUTH)


def _inertia_about_the_flange(body: Body) -> Body:
    c = body.com
    return Body(body.mass, c, body.inertia + body.mass * (c @ c * np.eye(3) - np.outer(c, c)))


def _inertia_not_turned(body: Body) -> Body:
    return Body(body.mass, body.com, OWN.inertia)


def _inertia_turned_back(body: Body) -> Body:
    R = TURN.as_matrix()
    return Body(body.mass, body.com, R.T @ OWN.inertia @ R)


def _products_of_the_other_sign(body: Body) -> Body:
    return Body(body.mass, body.com, 2.0 * np.diag(np.diag(body.inertia)) - body.inertia)


def _axes_exchanged(body: Body) -> Body:
    P = np.eye(3)[[1, 0, 2]]
    return Body(body.mass, body.com, P @ body.inertia @ P)


@pytest.mark.parametrize(
    "wrong",
    [
        _inertia_about_the_flange,
        _inertia_not_turned,
        _inertia_turned_back,
        _products_of_the_other_sign,
        _axes_exchanged,
    ],
)
@pytest.mark.parametrize("file", [file for file in READERS if not file.startswith("ros2/")])
def test_a_wrong_inertia_is_noticed_in_every_file_that_states_it(
    file: str, wrong: Callable[[Body], Body]
) -> None:
    text = written(load_of(wrong(FLANGE)))[file]
    lost = wrong is _products_of_the_other_sign and file.startswith("fanuc/")
    assert agrees(READERS[file](statements(file, text)), TRUTH) is lost


def test_other_conventions_of_angles_and_quaternions_would_be_noticed() -> None:
    files = written(load_of(FLANGE))
    for order in ("zyx", "XYZ", "xyz"):
        assert not agrees(oracle.kuka(files["kuka/load_data.txt"], order=order), TRUTH)
    abb = statements("abb/HeldLoad.mod", files["abb/HeldLoad.mod"])
    assert not agrees(oracle.abb(abb, scalar_first=False), TRUTH)
    told = oracle.fanuc(statements("fanuc/payload_schedule.txt", files["fanuc/payload_schedule.txt"]))
    in_kg_cm2 = (told[0], told[1], told[2] * 1e4 / (100.0 / 9.80665))
    assert not agrees(in_kg_cm2, TRUTH)


@pytest.mark.parametrize("shape", ["solid", "planar", "rod", "point"])
def test_bodies_of_every_shape_are_read_back(shape: Any) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        body = random_body(rng, shape=shape)
        for file, text in written(load_of(body)).items():
            assert agrees(READERS[file](statements(file, text)), (body.mass, body.com, body.inertia)), file


def test_axes_of_moment_are_principal_right_handed_and_turned_least() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        body = random_body(rng)
        axes = axes_of_moment(body)
        R = axes.rotation
        assert np.abs(R @ np.diag(axes.moments) @ R.T - body.inertia).max() < 1e-12
        assert np.linalg.det(R) == pytest.approx(1.0)
        others = [R @ other.as_matrix() for other in Rotation.create_group("O")]
        assert np.trace(R) >= max(np.trace(other) for other in others) - 1e-9
        # No two of 24 choices are farther than 62.8° from the nearest one, so B never nears 90°.
        assert Rotation.from_matrix(R).magnitude() < np.radians(62.9)


def test_what_a_format_cannot_hold_is_said_in_it_and_found() -> None:
    made = controller_files(load_of(FLANGE), CONVENTIONS)
    places = {finding.place for finding in made.findings if finding.code == "controller-loses-inertia"}
    assert places == {"controllers/fanuc", "controllers/ros2"}
    for file, text in made.files.items():
        assert ("LOST HERE" in text) is file.startswith(("fanuc/", "ros2/")), file
    assert f"Ixy {FLANGE.inertia[0, 1]:.3g}" in made.files["fanuc/payload_schedule.txt"]


def test_what_the_documents_leave_open_is_said() -> None:
    open_questions = {name for name, convention in CONVENTIONS.items() if convention.unconfirmed}
    assert open_questions == {"ur", "franka", "fanuc"}
    for file, text in written(load_of(FLANGE)).items():
        if not file.endswith(".json"):
            assert ("NOT CONFIRMED" in text) is (file.split("/")[0] in open_questions)
            assert "Written after" in text


# Guaranteed bounds


def test_bounds_hold_every_centre_that_the_turned_box_holds_and_touch_it() -> None:
    found = bounds(OWN.parameters)
    box = LoadBounds.of(found, PLACEMENT)
    masses = (found.lower[0], found.upper[0])
    corners = np.array([h[1:4] / m for h in (found.lower, found.upper) for m in masses])
    low, high = corners.min(axis=0), corners.max(axis=0)
    rng = np.random.default_rng(2)
    inside = np.concatenate([rng.uniform(low, high, (300, 3)), _corners(low, high)])
    moved = TURN.apply(inside) + SHIFT
    assert (moved >= box.com[0]).all()
    assert (moved <= box.com[1]).all()
    assert box.com[0] == pytest.approx(moved.min(axis=0), abs=1e-12)
    assert box.com[1] == pytest.approx(moved.max(axis=0), abs=1e-12)
    assert np.linalg.norm(moved, axis=1).max() <= box.reach
    assert box.mass.tolist() == [found.lower[0], found.upper[0]]
    assert (box.needed, box.heaviest) == (0.4, False)


def _corners(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.array(
        [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    )


def test_where_the_mass_may_be_zero_only_the_assumed_extent_bounds_the_centre() -> None:
    found = bounds(OWN.parameters, width=OWN.mass, heaviest=OWN.mass)
    free = LoadBounds.of(found, PLACEMENT)
    assert np.isinf(free.com).all()
    assert np.isinf(free.reach)
    assert free.heaviest
    assert "the centre of mass is not bounded" in flat(load_of(FLANGE, bounds=free))
    assert "the data does not bound it" in flat(load_of(FLANGE, bounds=free))
    held = LoadBounds.of(found, PLACEMENT, extent=0.3)
    assert held.reach == pytest.approx(0.3 + np.linalg.norm(SHIFT))
    directions = np.random.default_rng(0).normal(size=(500, 3))
    ball = 0.3 * directions / np.linalg.norm(directions, axis=1)[:, None]
    moved = TURN.apply(ball) + SHIFT
    assert ((moved >= held.com[0]) & (moved <= held.com[1])).all()


def flat(load: ControllerLoad, file: str = "kuka/load_data.txt") -> str:
    """The comment of a file as one line."""
    return " ".join(line[2:] for line in written(load)[file].splitlines() if line.startswith(";"))


def test_bounds_are_told_in_the_units_of_the_vendor_and_never_tighter() -> None:
    box = LoadBounds.of(bounds(OWN.parameters), PLACEMENT)
    unit = {"m": 0, "cm": 2, "mm": 3}
    form = r"x (\S+) to (\S+), y (\S+) to (\S+), z (\S+) to (\S+) (mm|cm|m)\b"
    for file, text in written(load_of(FLANGE, bounds=box)).items():
        if file.endswith(".json"):
            continue
        words = re.sub(r"\n *(#|//|;|!|\*) ", " ", text)
        (*ends, told_in), most, least = (
            re.search(form, words).groups(),
            re.search(r"mass at most (\S+) kg", words)[1],
            re.search(r"at least (\S+) kg", words)[1],
        )
        scale = Fraction(10) ** unit[told_in]
        for axis in range(3):
            low, high = Fraction(ends[2 * axis]) / scale, Fraction(ends[2 * axis + 1]) / scale
            assert low <= Fraction(box.com[0, axis])
            assert high >= Fraction(box.com[1, axis])
            assert high - low < Fraction(box.com[1, axis]) - Fraction(box.com[0, axis]) + Fraction(3, 10000)
        assert Fraction(least) <= Fraction(box.mass[0])
        assert Fraction(most) >= Fraction(box.mass[1])
        assert "if all 2 assumptions of safety.html hold, 1 of which the data cannot test" in words


def test_without_bounds_nothing_is_called_guaranteed_and_a_failed_verdict_is_loud() -> None:
    words = flat(load_of(FLANGE, by_prior=("Ixx", "Iyz")))
    assert "NOTHING IS GUARANTEED" in words
    assert "between 2 and 4 kg by its 95 % interval" in words
    assert "NOT DECIDED BY THE DATA, only by what can exist: Ixx, Iyz." in words
    assert "Verdict: pass." in words
    assert "VERDICT: FAIL. Do not use" in flat(replace(load_of(FLANGE), verdict="fail"))


# Texts


def test_a_number_has_seven_digits_a_point_and_no_exponent() -> None:
    rng = np.random.default_rng(1)
    for value in rng.normal(size=200) * 10.0 ** rng.integers(-5, 4, 200):
        assert re.fullmatch(r"-?\d+\.\d+", decimal_number(value))
        assert float(decimal_number(value)) == pytest.approx(value, rel=5.1e-7)
    assert [decimal_number(x) for x in (0.0, -0.0, 1e-15, -1e-15, 1.0, 123456789.0)] == [
        *(4 * ["0.0"]),
        "1.0",
        "123456789.0",
    ]


def test_bounds_are_rounded_outward_in_decimals() -> None:
    assert rounded_outward(-0.12341, 0.12341, power=3, decimals=1) == ("-123.5", "123.5")
    assert rounded_outward(0.5, 0.5, decimals=3) == ("0.500", "0.500")
    assert rounded_outward(-1e-9, 1e-9, decimals=2) == ("-0.01", "0.01")
    assert rounded_outward(1e-9, 1.0, decimals=2) == ("0.00", "1.00")


def test_hostile_names_stay_in_comments() -> None:
    name = 'a"b\\\n\rset_target_payload(0)\u2028;ENDMODULE\x1b[31m é\\'
    load = replace(load_of(FLANGE, sources=(name, "*/ #}")), robot=name, why=name)
    for file, text in written(load).items():
        assert agrees(READERS[file](statements(file, text)), TRUTH), file
        assert text.isascii()
        assert not re.search(r"\\\n", text)
    framed = replace(load_of(FLANGE), frame=name)
    text = written(framed)["ros2/admittance_controller.yaml"]
    assert agrees(oracle.ros2_control(text, frame=name), TRUTH)


def test_controllers_are_chosen_by_name() -> None:
    assert controller_names("all", place="--controller") == tuple(CONVENTIONS)
    assert controller_names("kuka, ur,kuka", place="--controller") == ("ur", "kuka")
    with pytest.raises(
        UnknownNameError, match=r"--controller: unknown controller 'kukka'.*Did you mean 'kuka'"
    ):
        controller_names("ur,kukka", place="--controller")
    with pytest.raises(UnknownNameError, match="unknown controller ''"):
        controller_names("", place="--controller")
    with pytest.raises(UnknownNameError, match="unknown controller 'all'"):
        controller_files(load_of(FLANGE), ["all"])


def test_a_load_without_mass_is_refused() -> None:
    with pytest.raises(InputError, match="has no mass"):
        load_of(Body(0.0, np.zeros(3), np.zeros((3, 3))))
