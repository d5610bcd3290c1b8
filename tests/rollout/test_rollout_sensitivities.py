"""Sensitivities are the derivatives of the simulation itself, by differences of whole runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from oracles.agreement import assert_agree
from steelyard.compiled import kernel
from steelyard.control import PD, FeedforwardPD
from steelyard.control.controller import Controller, ControlStep
from steelyard.errors import InputError, NoSolutionError
from steelyard.identifiable import minimal_model
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot
from steelyard.rollout import ClosedLoop, rollout, sensitivities
from steelyard.zoo import zoo_robot

CYCLE = 0.002


@kernel
def remembering_step(tree, numbers, gains, memory, q, v, q_ref, v_ref, a_ref, tau):
    """A saturating filter in front of a position loop: memory, and slopes that change with the state."""
    for j in range(q.size):
        memory[j] += 0.2 * (np.tanh(v[j]) - memory[j])
        tau[j] = gains[0, j] * (q_ref[j] - q[j]) + gains[1, j] * (v_ref[j] - memory[j])


@dataclass(frozen=True, eq=False)
class Remembering(PD):
    linear = False

    @property
    def step(self) -> ControlStep:
        return remembering_step

    @property
    def memory(self) -> np.ndarray:
        return np.zeros(self.robot.nv)


@dataclass(frozen=True, eq=False)
class DifferencedFeedforward(FeedforwardPD):
    linear = False


@cache
def arm(kind: str = "remembering") -> tuple[Robot, Layout, np.ndarray, np.ndarray | None]:
    """One arm; layout, parameters and basis by the law: ten seconds of compilation hang on every other.

    Every parameter is differentiated under the law that remembers, which is compiled here only. Under the
    feedforward law they are those of the refinements that are tested elsewhere.
    """
    robot = zoo_robot("two_link")
    if kind != "remembering":
        layout = layout_of(robot, ["viscous", "rotor"])
        phi = layout.complete_nominal()
        phi[layout.drive_columns[:, 3]] = 0.1
        model = minimal_model(robot, layout)
        return robot, layout, model.of_standard(phi), model.basis
    layout = layout_of(robot, ["viscous", "coulomb", "offset", "rotor"])
    phi = layout.complete_nominal()
    phi[layout.drive_columns[:, 1]] = 0.0
    phi[layout.drive_columns[:, 3]] = 0.1
    return robot, layout, phi, None


def law(kind: str, robot: Robot) -> Controller:
    if kind.endswith("feedforward"):
        made = FeedforwardPD if kind.startswith("linear") else DifferencedFeedforward
        return made(robot, 0.2, 0.3, 400.0, 40.0, cycle=CYCLE)
    return Remembering(robot, np.full(robot.nv, 80.0), np.full(robot.nv, 6.0))


def reference(robot: Robot, cycles: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(3)
    A, w, p = rng.uniform(0.2, 0.5, robot.nv), rng.uniform(2, 5, robot.nv), rng.uniform(0, 6, robot.nv)
    t = CYCLE * np.arange(cycles)[:, None]
    return A * np.sin(w * t + p), A * w * np.cos(w * t + p), -A * w * w * np.sin(w * t + p)


def differences(
    kind: str, phi: np.ndarray, refs: tuple[np.ndarray, ...], loop: ClosedLoop, column: int
) -> tuple[np.ndarray, ...]:
    """Fourth-order differences of whole runs in one parameter."""
    robot, layout, _, basis = arm(kind)
    h = 1e-3 * max(0.05, abs(phi[column]))
    total: list[np.ndarray] = [np.zeros(0)] * 3
    for reach, weight in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
        changed = phi.copy()
        changed[column] += reach * h
        run = rollout(robot, layout, changed, *refs, loop, basis=basis)
        values = (run.q, run.v, run.tau)
        total = [weight * x if not t.size else t + weight * x for t, x in zip(total, values, strict=True)]
    return tuple(t / (12.0 * h) for t in total)


@pytest.mark.parametrize("kind", ["feedforward", "linear feedforward", "remembering"])
@pytest.mark.parametrize(
    ("scheme", "share"),
    [("euler-trapezoid", 0.0), ("heun", 1.0), ("heun", 1.4), ("rk4", 0.3)],
)
def test_sensitivities_are_differences_of_runs(kind: str, scheme: str, share: float) -> None:
    robot, layout, phi, basis = arm(kind)
    refs = reference(robot, 150)
    loop = ClosedLoop(law(kind, robot), CYCLE, share * CYCLE, scheme)
    exact = sensitivities(robot, layout, phi, *refs, loop, basis=basis)
    # Coulomb friction has no slope where a joint reverses: it is judged apart.
    reversing = layout.drive_columns[:, 1] if basis is None else ()
    for column in sorted(set(range(len(phi))) - set(reversing)):
        expected = differences(kind, phi, refs, loop, column)
        for actual, judged in zip((exact.dq, exact.dv, exact.dtau), expected, strict=True):
            assert_agree(actual[:, :, column], judged, relative=1e-6, scale=1e-3)


def onwards(cycles: int) -> tuple[np.ndarray, ...]:
    """A reference along which no joint reverses."""
    t, w = CYCLE * np.arange(cycles)[:, None], np.array([4.0, 7.0])
    v = np.array([1.0, 2.0])
    return v * t + 0.3 / w * np.sin(w * t), v + 0.3 * np.cos(w * t), -0.3 * w * np.sin(w * t)


def test_base_parameters_and_a_coarse_output() -> None:
    """A reduced set through B: chain rule and block averages at once, against differences of runs."""
    robot, layout, phi, _ = arm()
    refs = onwards(81)
    loop = ClosedLoop(law("remembering", robot), CYCLE, CYCLE)
    rng = np.random.default_rng(0)
    basis = 0.1 * rng.uniform(0.5, 2.0, (layout.size, 12))
    basis[:, 0] += phi
    theta = np.zeros(12)
    theta[0] = 1.0
    blocks = sensitivities(robot, layout, theta, *refs, loop, basis=basis, average=20)
    assert blocks.dtau.shape == (4, 2, 12)
    assert (blocks.v > 0).all()
    for column in (0, 3, 11):
        h = 1e-3 * 0.05
        runs = []
        for reach in (-2, -1, 1, 2):
            changed = theta.copy()
            changed[column] += reach * h
            runs.append(rollout(robot, layout, changed, *refs, loop, basis=basis).tau)
        change = (runs[0] - 8.0 * runs[1] + 8.0 * runs[2] - runs[3]) / (12.0 * h)
        expected = change[:80].reshape(4, 20, 2).mean(axis=1)
        assert_agree(blocks.dtau[:, :, column], expected, relative=1e-6)


def test_blocks_are_means_of_the_full_output_and_the_run_is_that_of_rollout() -> None:
    robot, layout, phi, basis = arm("feedforward")
    refs = reference(robot, 103)
    loop = ClosedLoop(law("feedforward", robot), CYCLE, 2.4 * CYCLE)
    full = sensitivities(robot, layout, phi, *refs, loop, basis=basis)
    run = rollout(robot, layout, phi, *refs, loop, basis=basis)
    for name in ("q", "v", "tau"):
        assert np.array_equal(getattr(full, name), getattr(run, name))
    assert np.array_equal(full.time, run.time)
    blocks = sensitivities(robot, layout, phi, *refs, loop, average=25, basis=basis)
    for name in ("time", "q", "v", "tau", "dq", "dv", "dtau"):
        values = getattr(full, name)[:100]
        expected = values.reshape(4, 25, *values.shape[1:]).mean(axis=1)
        assert_agree(getattr(blocks, name), expected, relative=1e-13)


@pytest.mark.parametrize(("scheme", "steps"), [("euler-trapezoid", 3), ("heun", 1)])
def test_the_beginning_of_a_run_does_not_depend_on_its_length(scheme: str, steps: int) -> None:
    """Cycles are linearised several at a time: the last ones may come alone, and nothing looks ahead."""
    for kind in ("linear feedforward", "remembering"):
        robot, layout, phi, basis = arm(kind)
        refs = reference(robot, 30)
        loop = ClosedLoop(law(kind, robot), CYCLE, CYCLE, scheme, steps)
        long = sensitivities(robot, layout, phi, *refs, loop, basis=basis)
        for cycles in (1, 2, 3, 5, 8, 9, 17):
            short = sensitivities(robot, layout, phi, *(x[:cycles] for x in refs), loop, basis=basis)
            for name in ("q", "v", "tau", "dq", "dv", "dtau"):
                assert np.array_equal(getattr(short, name), getattr(long, name)[:cycles])


def test_a_constant_jacobian_gives_what_one_per_cycle_gives() -> None:
    robot, layout, phi, basis = arm("feedforward")
    refs = reference(robot, 100)
    once, always = (
        sensitivities(robot, layout, phi, *refs, ClosedLoop(law(kind, robot), CYCLE, CYCLE), basis=basis).dtau
        for kind in ("linear feedforward", "feedforward")
    )
    assert_agree(once, always, relative=1e-9)


def test_nothing_depends_on_the_parameters_at_the_start() -> None:
    robot, layout, phi, basis = arm("feedforward")
    loop = ClosedLoop(law("feedforward", robot), CYCLE, 3 * CYCLE)
    found = sensitivities(robot, layout, phi, *reference(robot, 20), loop, basis=basis)
    assert not found.dq[0].any()
    assert not found.dtau[0].any()
    assert found.dv[1].any(), "the first command acts from the start"


def test_the_same_call_gives_the_same_bits() -> None:
    robot, layout, phi, _ = arm()
    loop = ClosedLoop(law("remembering", robot), CYCLE, CYCLE)
    refs = reference(robot, 60)
    a, b = (sensitivities(robot, layout, phi, *refs, loop, average=3).dtau for _ in range(2))
    assert np.array_equal(a, b)


def test_coulomb_friction_is_differentiated_away_from_reversals() -> None:
    """While no joint reverses, dτ/dF_c is that of differences; sign(v) itself has no slope."""
    robot, layout, phi, _ = arm()
    columns = layout.drive_columns[:, 1]
    phi = phi.copy()
    phi[columns] = 0.1
    refs = onwards(100)
    loop = ClosedLoop(law("remembering", robot), CYCLE)
    exact = sensitivities(robot, layout, phi, *refs, loop)
    assert (exact.v > 0).all()
    for column in columns:
        expected = differences("remembering", phi, refs, loop, column)[2]
        assert_agree(exact.dtau[:, :, column], expected, relative=1e-6)


def test_bad_arguments_are_named() -> None:
    robot, layout, phi, basis = arm("feedforward")
    refs = reference(robot, 10)
    loop = ClosedLoop(law("feedforward", robot), CYCLE)
    for average in (0, 11, 2.0, True):
        with pytest.raises(InputError, match="average: must be a whole number between 1 and the 10 cycles"):
            sensitivities(robot, layout, phi, *refs, loop, average=average, basis=basis)
    with pytest.raises(NoSolutionError, match="feels no positive inertia"):
        sensitivities(robot, layout, -phi, *refs, loop, basis=basis)
