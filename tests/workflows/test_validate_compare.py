"""`validate` and `compare` from Python: objects or paths in, the commands' own answers out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.running import run
from steelyard.archive import to_document
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.model import Model
from steelyard.motion import random_fourier
from steelyard.recording import Recording, write
from steelyard.robot import Robot
from steelyard.workflows.compare import compare
from steelyard.workflows.given import given_model
from steelyard.workflows.identification import Identification
from steelyard.workflows.identify import identify
from steelyard.workflows.validate import validate
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
DRIVE = ("viscous", "coulomb", "offset", "rotor")


def _log(seed: int, scale: float = 1.0, robot: Robot = ROBOT) -> Recording:
    """A motion with torques of the description, scaled, and a little noise."""
    layout = layout_of(robot, DRIVE)
    motion = random_fourier(robot, np.random.default_rng(seed), period=5.0)
    time = np.arange(0.0, 5.0, 0.005)
    s = motion.sample(time)
    tau = scale * inverse_dynamics(robot, layout, layout.complete_nominal(), s.q, s.v, s.a)
    tau = tau + 0.01 * np.random.default_rng(seed).normal(size=tau.shape)
    return Recording(robot.joint_names, time, s.q, v=s.v, a=s.a, tau=tau)


@pytest.fixture(scope="module")
def fits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Identification, Identification, Path]:
    """Identifications of an arm and of one ten percent heavier, and a folder with the logs and results."""
    folder = tmp_path_factory.mktemp("fits")
    found = []
    for name, seed, scale in (("light", 1, 1.0), ("heavy", 2, 1.1)):
        write(_log(seed, scale), folder / f"{name}.npz")
        found.append(identify("two_link", folder / f"{name}.npz", method="wls", out=folder / name))
    return found[0], found[1], folder


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    plain = json.loads(json.dumps(to_document(document)))
    return {name: item for name, item in plain.items() if name != "seconds"}


def test_a_folder_is_validated_as_by_the_command(
    fits: tuple[Identification, Identification, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, folder = fits
    monkeypatch.chdir(tmp_path)
    heard: list[object] = []
    done = validate(folder / "light", [folder / "heavy.npz"], progress=heard.append)
    assert list(tmp_path.iterdir()) == []
    command = run("validate", folder / "light", folder / "heavy.npz", "--json")
    assert _plain(done.document) == _plain(command.document)
    assert heard
    assert repr(done) == f"<Validation of two_link: {done.verdict.status}, {done.overall:.2f} % unexplained>"
    assert str(done).startswith(f"{done.verdict.status}: ")
    files = done.save(tmp_path / "page")
    assert sorted(files) == ["record.json", "report.html"]


def test_models_and_recordings_are_validated_as_their_files_are(
    fits: tuple[Identification, Identification, Path],
) -> None:
    light, _, folder = fits
    by_path = validate(folder / "light", folder / "heavy.npz")
    by_object = validate(light.model, _log(2, 1.1))
    assert by_object.overall == pytest.approx(by_path.overall, rel=1e-6)
    assert by_object.verdict.status == by_path.verdict.status
    assert 5.0 < by_object.overall < 15.0, "the arm of the log is ten percent heavier"
    seen = validate(folder / "light", folder / "light.npz")
    assert "identified from light.npz" in seen.repeat
    assert validate("two_link", _log(3)).overall < 2.0
    assert validate(ROBOT, _log(3)).overall == validate("two_link", _log(3)).overall


def test_a_model_takes_gravity_and_locks_as_a_folder_does(
    fits: tuple[Identification, Identification, Path],
) -> None:
    light, _, folder = fits
    options: dict[str, Any] = {"gravity": [0.0, 0.0, -1.0], "lock": {"joint2": 0.3}}
    by_object, by_path = given_model(light.model, **options), given_model(folder / "light", **options)
    assert by_object.robot.joint_names == by_path.robot.joint_names == ("joint1",)
    np.testing.assert_allclose(by_object.parameters, by_path.parameters, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(by_object.robot.gravity, [0.0, 0.0, -1.0])
    assert by_object.nominal is None
    with pytest.raises(InputError, match="--arg"):
        given_model(light.model, arguments={"a": "b"})


def test_results_are_compared_as_by_the_command(
    fits: tuple[Identification, Identification, Path],
) -> None:
    light, heavy, folder = fits
    done = compare(folder / "light", folder / "heavy", level=0.9)
    command = run("compare", folder / "light", folder / "heavy", "--level", "0.9", "--json")
    assert command.code == 0, command.err
    assert _plain(done.document) == _plain(command.document)
    assert done.status == "warn"
    assert done.moved
    assert done.torque is not None
    assert done.torque.overall == pytest.approx(10.0, abs=2.0)
    by_object = compare(light, heavy.model, level=0.9)
    assert [x.name for x in by_object.moved] == [x.name for x in done.moved]
    assert str(by_object).startswith("warn: ")
    assert repr(done).startswith("<ResultComparison: warn, ")


def test_a_result_and_itself_share_data_and_nothing_moved(
    fits: tuple[Identification, Identification, Path],
) -> None:
    light, _, folder = fits
    done = compare(light, folder / "light")
    assert done.status == "pass"
    assert [finding.code for finding in done.findings if finding.code == "shared-data"] == ["shared-data"]
    described = compare(light, Model.load("two_link"))
    assert described.status in ("pass", "warn")
    with pytest.raises(InputError, match="two descriptions"):
        compare("two_link", ROBOT)
