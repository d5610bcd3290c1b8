"""The generated code asks for the torques of the vector it was generated from, friction included."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from export.material import EVERY, full_layout, random_estimate
from oracles.agreement import assert_agree
from oracles.random_robots import random_robot
from shared_material import ROBOTS, needs_shared
from steelyard.drive import StribeckShape
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import DescriptionError
from steelyard.formats.feedforward import feedforward_c, feedforward_python
from steelyard.layout import Layout
from steelyard.robot import JointKind, Robot, load_robot
from steelyard.zoo import ZOO, zoo_robot

GCC = shutil.which("gcc")
Function = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def _python(robot: Robot, phi: np.ndarray, _folder: Path, layout: Layout) -> Function:
    names: dict[str, Callable[..., list[float]]] = {}
    exec(feedforward_python(robot, layout, phi), names)
    return lambda q, v, a: np.array(names["feedforward"](q.tolist(), v.tolist(), a.tolist()))


def _c(robot: Robot, phi: np.ndarray, folder: Path, layout: Layout) -> Function:
    source, header = feedforward_c(robot, layout, phi)
    (folder / "feedforward.c").write_text(source)
    (folder / "feedforward.h").write_text(header)
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
    library = folder / "feedforward.so"
    built = ["-O2", "-shared", "-fPIC", "-o", str(library), str(folder / "feedforward.c"), "-lm"]
    subprocess.run([str(GCC), *strict, *built], check=True)
    function = ctypes.CDLL(str(library)).feedforward
    vector = ctypes.c_double * robot.nv

    def call(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        tau = vector()
        function(vector(*q), vector(*v), vector(*a), tau)
        return np.array(tau)

    return call


LANGUAGES = [
    pytest.param(_python, id="Python"),
    pytest.param(_c, id="C", marks=pytest.mark.skipif(GCC is None, reason="there is no gcc")),
]
in_both = pytest.mark.parametrize("language", LANGUAGES)


def _assert_right(robot: Robot, language: Callable[..., Function], folder: Path) -> None:
    rng = np.random.default_rng(0)
    layout = full_layout(robot, EVERY)
    phi = random_estimate(rng, robot, layout)
    function = language(robot, phi, folder, layout)
    q, v, a = rng.uniform(-3, 3, (3, 6, robot.nv))
    v[0] = 0.0  # friction is zero at rest
    v[1] *= 1e-2  # where Stribeck friction acts
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    for n in range(len(q)):
        assert_agree(function(q[n], v[n], a[n]), tau[n])


@in_both
@pytest.mark.parametrize("name", ZOO)
def test_it_is_the_inverse_dynamics_of_the_zoo(
    name: str, language: Callable[..., Function], tmp_path: Path
) -> None:
    _assert_right(zoo_robot(name), language, tmp_path)


@in_both
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_inverse_dynamics_of_random_trees(
    seed: int, language: Callable[..., Function], tmp_path: Path
) -> None:
    _assert_right(random_robot(np.random.default_rng(seed)), language, tmp_path)


@in_both
def test_it_knows_screws(language: Callable[..., Function], tmp_path: Path) -> None:
    robot = random_robot(np.random.default_rng(2), bodies=4)
    joints = [replace(joint, kind=JointKind.HELICAL, pitch=0.2) for joint in robot.joints]
    _assert_right(replace(robot, joints=tuple(joints)), language, tmp_path)


@needs_shared
@in_both
def test_it_knows_joints_that_mimic_others(language: Callable[..., Function], tmp_path: Path) -> None:
    _assert_right(load_robot(ROBOTS / "kinova_gen3" / "gen3_2f85.urdf"), language, tmp_path)


@in_both
def test_a_velocity_beyond_all_friction_does_not_overflow(
    language: Callable[..., Function], tmp_path: Path
) -> None:
    robot = zoo_robot("one_link")
    layout = full_layout(robot, EVERY).with_stribeck([StribeckShape(1e-3, 4.0)])
    phi = random_estimate(np.random.default_rng(0), robot, layout)
    function = language(robot, phi, tmp_path, layout)
    q, v, a = np.zeros(1), np.array([1e100]), np.zeros(1)
    assert_agree(function(q, v, a), inverse_dynamics(robot, layout, phi, q, v, a)[0])


@pytest.mark.parametrize("given", [list, tuple, np.array, np.float32], ids=lambda kind: kind.__name__)
def test_the_module_takes_numbers_however_they_are_kept(given: Callable[[list[float]], object]) -> None:
    robot = zoo_robot("two_link")
    layout = full_layout(robot, EVERY)
    phi = random_estimate(np.random.default_rng(0), robot, layout)
    names: dict[str, Callable[..., list[float]]] = {}
    exec(feedforward_python(robot, layout, phi), names)
    q, v, a = [0.5, -0.25], [-1.5, 0.0], [2.0, 1.0]
    tau = names["feedforward"](given(q), given(v), given(a))
    assert tau == names["feedforward"](q, v, a)
    assert all(type(x) is float for x in tau)


def test_a_name_cannot_leave_the_comment_it_stands_in() -> None:
    robot = replace(zoo_robot("one_link"), name='*/ """\nimport os\n')
    layout = full_layout(robot, EVERY)
    phi = random_estimate(np.random.default_rng(0), robot, layout)
    module = feedforward_python(robot, layout, phi)
    source, header = feedforward_c(robot, layout, phi)
    assert "\nimport os" not in module
    assert source.count("*/") == source.count("/*")
    assert header.count("*/") == header.count("/*")


@pytest.mark.parametrize("write", [feedforward_c, feedforward_python])
def test_a_floating_robot_is_refused_by_name(write: Callable[..., object]) -> None:
    robot = zoo_robot("cheetah3").floating()
    layout = full_layout(robot)
    with pytest.raises(DescriptionError, match="joint 'floating_base': it is floating"):
        write(robot, layout, np.zeros(layout.size))
