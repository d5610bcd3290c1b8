"""What has no answer is said so, with evidence; what is wrongly stated is refused at the door."""

import numpy as np
import pytest

from steelyard.cones import (
    AtMost,
    ConeProgram,
    InfeasibleError,
    LinearProgram,
    Semidefinite,
    safe_conic_bound,
    solve,
)
from steelyard.cones.program import Equal, Exponential, LogDet, SecondOrder, UnboundedError, minus_log_dets
from steelyard.errors import InputError, NoSolutionError, ShapeError, SolverError

CONTRADICTIONS = {
    "rows": [AtMost([[1.0, 0.0], [-1.0, 0.0]], [0.0, -1.0])],
    "equations": [Equal([[1.0, 1.0], [2.0, 2.0]], [1.0, 3.0])],
    "an empty row": [AtMost([[0.0, 0.0]], [-1.0])],
    "a matrix": [Semidefinite([[0.0, 1.0], [1.0, -1.0]], [[[1.0, 0.0], [0.0, 0.0]], np.zeros((2, 2))])],
    "a cone and a row": [SecondOrder([[0.0, 0.0], [-1.0, 0.0]], [1.0, 0.0]), AtMost([[-1.0, 0.0]], [-2.0])],
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_raises_with_multipliers_that_prove_it(name: str) -> None:
    constraints = CONTRADICTIONS[name]
    program = ConeProgram(np.eye(2), np.ones(2), [1.0, 2.0], tuple(constraints))
    with pytest.raises(InfeasibleError, match="no point satisfies") as caught:
        solve(program)
    assert isinstance(caught.value, NoSolutionError)
    certificate = caught.value.evidence["certificate"]
    pulled, paid = np.zeros(2), 0.0
    for constraint, z in zip(constraints, certificate, strict=True):
        match constraint:
            case AtMost():
                assert z.min() >= -1e-9
            case SecondOrder():
                assert z[0] - np.linalg.norm(z[1:]) >= -1e-9
            case Semidefinite():
                assert np.linalg.eigvalsh(z)[0] >= -1e-9
        s0, s1, s2 = (constraint.slack(x) for x in ([0, 0], [1, 0], [0, 1]))
        paid += np.vdot(z, s0)
        pulled += [np.vdot(z, s0 - s1), np.vdot(z, s0 - s2)]
    assert paid == pytest.approx(-1.0)
    assert np.abs(pulled).max() < 1e-6
    assert caught.value.evidence["residual"] < 1e-6


@pytest.mark.parametrize("constraints", [[], [AtMost([[1.0, -1.0]], [0.0])], [Equal([[1.0, -1.0]], [2.0])]])
def test_an_endless_fall_raises_with_its_direction(constraints: list) -> None:
    program = ConeProgram(np.zeros((0, 2)), np.zeros(0), [-1.0, 0.0], tuple(constraints))
    with pytest.raises(UnboundedError, match="falls without end") as caught:
        solve(program)
    ray = caught.value.evidence["ray"]
    assert program.linear @ ray == pytest.approx(-1.0)
    for constraint in constraints:
        drift = constraint.matrix @ ray
        assert np.abs(drift).max() < 1e-6 if isinstance(constraint, Equal) else drift.max() < 1e-6


def test_running_out_of_iterations_is_a_solver_error() -> None:
    program = ConeProgram.least_squares(np.eye(2), [1.0, 1.0], [AtMost(np.eye(2), np.zeros(2))])
    with pytest.raises(SolverError, match="MaxIterations"):
        solve(program, iteration_limit=1)


def stalling() -> ConeProgram:
    """No interior: the matrix must be singular, and an optimum is only approached at this tolerance."""
    rng = np.random.default_rng(0)
    M = rng.normal(size=(12, 6, 6)) * np.logspace(0, 6, 12)[:, None, None]
    return ConeProgram.least_squares(
        rng.normal(size=(12, 12)),
        1e3 * rng.normal(size=12),
        [Semidefinite(np.zeros((6, 6)), M + np.swapaxes(M, 1, 2))],
    )


def test_reduced_accuracy_is_refused_unless_accepted_and_then_said() -> None:
    with pytest.raises(SolverError, match="was not reached") as caught:
        solve(stalling(), tolerance=1e-15)
    assert caught.value.evidence["solution"].accuracy == "reduced"
    solution = solve(stalling(), tolerance=1e-15, accept_reduced=True)
    assert solution.accuracy == "reduced"


def test_an_unusable_tolerance_is_refused() -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        solve(ConeProgram.minimise_linear([0.0]), tolerance=0.0)


BAD = {
    "Equal.vector: expected shape": lambda: Equal(np.eye(2), np.zeros(3)),
    "AtMost.matrix: expected shape": lambda: AtMost(np.zeros(2), np.zeros(2)),
    "AtMost.matrix: must be finite": lambda: AtMost([[np.nan]], [0.0]),
    "SecondOrder.matrix: needs at least one row": lambda: SecondOrder(np.zeros((0, 2)), np.zeros(0)),
    "Semidefinite.constant: expected shape": lambda: Semidefinite(np.zeros((2, 3)), np.zeros((1, 2, 2))),
    "Semidefinite.coefficients: expected shape": lambda: Semidefinite(np.eye(2), np.zeros((1, 3, 3))),
    "Semidefinite.constant: must be symmetric": lambda: Semidefinite([[0, 1], [0, 0]], np.zeros((1, 2, 2))),
    "Semidefinite.constant: the matrix must be": lambda: Semidefinite(np.zeros((0, 0)), np.zeros((1, 0, 0))),
    "Exponential.matrix: expected shape": lambda: Exponential(np.zeros((2, 2, 4)), np.zeros((2, 3))),
    "ConeProgram.target: expected shape": lambda: ConeProgram(np.eye(2), [1.0], np.zeros(2)),
    "at least one variable": lambda: ConeProgram.minimise_linear([]),
    r"constraints\[1\]: Equal speaks of 3 variables, the program has 2": lambda: ConeProgram.minimise_linear(
        [1.0, 2.0], [AtMost(np.eye(2), [1, 1]), Equal(np.eye(3), np.zeros(3))]
    ),
    r"terms\[0\]: speaks of 3 variables": lambda: minus_log_dets(
        ConeProgram.minimise_linear([1.0]), [LogDet(1.0, Semidefinite(np.eye(2), np.zeros((3, 2, 2))))]
    ),
    "LinearProgram.lower: expected shape": lambda: LinearProgram(np.eye(2), [0, 0], [1, 1], [0], [1, 1]),
    "multipliers: got 0 for 1": lambda: safe_conic_bound(
        ConeProgram.minimise_linear([1.0], [AtMost([[1.0]], [1.0])]), [0.0], [], [0.0], [1.0]
    ),
    r"multipliers\[0\]: expected shape": lambda: safe_conic_bound(
        ConeProgram.minimise_linear([1.0], [AtMost([[1.0]], [1.0])]), [0.0], [[1.0, 2.0]], [0.0], [1.0]
    ),
}


@pytest.mark.parametrize("message", BAD)
def test_a_wrong_shape_is_named_with_its_place(message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        BAD[message]()


def test_values_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match=r"LogDet\.weight: must be finite and not negative"):
        LogDet(-1.0, Semidefinite(np.eye(2), np.zeros((1, 2, 2))))
    with pytest.raises(InputError, match=r"not a constraint.*Valid: Equal, AtMost"):
        ConeProgram.minimise_linear([1.0], ["x >= 0"])
    with pytest.raises(InputError, match=r"the interval \[2, 1\] at index 1 is empty"):
        LinearProgram(np.eye(2), [0, 2], [1, 1], [0, 0], [1, 1])
    with pytest.raises(InputError, match="is empty"):
        LinearProgram(np.eye(1), [0], [1], [np.nan], [1])
