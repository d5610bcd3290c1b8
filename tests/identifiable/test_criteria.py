"""Information criteria: judged by NumPy on the regressor itself, by differences, and by the papers' words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from steelyard.dynamics import compress, regressor_adjoint, torque_gram, torque_regressor
from steelyard.errors import InputError
from steelyard.identifiable.base_parameters import numerical_base
from steelyard.identifiable.criteria import Criterion, Information, score
from steelyard.layout import layout_of
from steelyard.zoo import zoo_robot

COUNT = 6
WORDS = [str(criterion) for criterion in Criterion]


def regressor(seed: int = 0, rows: int = 40) -> np.ndarray:
    """Columns of very different lengths, as those of mixed units are."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(rows, COUNT)) @ rng.normal(size=(COUNT, COUNT)) * 10.0 ** np.linspace(-1, 1, COUNT)
    )


def combinations() -> np.ndarray:
    return np.random.default_rng(9).normal(size=(COUNT, 11))


def value(word: str, W: np.ndarray, unit: float = 1.0) -> float:
    information = Information.of_regressor(W)
    return score(word, information, groupings=combinations(), torque_unit=unit).value


TEXTBOOK: dict[str, Callable[[np.ndarray], float]] = {
    "cond": np.linalg.cond,
    "cond-normalised": lambda W: np.linalg.cond(W / np.linalg.norm(W, axis=0)),
    # W K φ in an orthonormal basis Q of the rows of K: the singular values of W K Qᵀ.
    "cond-orthonormal": lambda W: np.linalg.cond(
        W @ combinations() @ np.linalg.svd(combinations(), full_matrices=False)[2].T
    ),
    "rc": lambda W: 0.5 * (np.linalg.norm(W.T @ W) + np.linalg.norm(np.linalg.inv(W.T @ W))),
    "rc-free": lambda W: np.sqrt(np.linalg.norm(W.T @ W) * np.linalg.norm(np.linalg.inv(W.T @ W))),
    "a": lambda W: np.trace(np.linalg.inv(W.T @ W)),
    "d": lambda W: np.linalg.slogdet(W.T @ W)[1],
    "e": lambda W: np.linalg.eigvalsh(W.T @ W)[0],
}


@pytest.mark.parametrize("word", WORDS)
def test_each_criterion_is_its_textbook_formula(word: str) -> None:
    W = regressor()
    assert value(word, W) == pytest.approx(TEXTBOOK[word](W), rel=1e-10)


@pytest.mark.parametrize("word", WORDS)
def test_a_gram_matrix_says_the_same_as_its_factor(word: str) -> None:
    W = regressor()
    of_gram = score(word, Information(W.T @ W, squared=True), groupings=combinations())
    of_factor = score(word, Information.of_regressor(W), groupings=combinations())
    assert of_gram.value == pytest.approx(of_factor.value, rel=1e-8)
    size = np.abs(of_factor.gradient).max()
    np.testing.assert_allclose(of_gram.gradient, of_factor.gradient, atol=1e-7 * size)


@pytest.mark.parametrize("word", WORDS)
def test_the_gradient_is_what_differences_show(word: str) -> None:
    W, change = regressor(), np.random.default_rng(1).normal(size=(40, COUNT))
    found = score(word, Information.of_regressor(W), groupings=combinations(), torque_unit=1.7)
    h = 1e-6
    slope = (value(word, W + h * change, 1.7) - value(word, W - h * change, 1.7)) / (2 * h)
    # dF/dW = 2 W S.
    assert np.vdot(2.0 * W @ found.gradient, change) == pytest.approx(slope, rel=1e-6)
    np.testing.assert_array_equal(found.gradient, found.gradient.T)


@pytest.mark.parametrize("power", [1.0, 4.0, 32.0])
def test_the_smooth_condition_number_bounds_the_true_one_and_has_its_gradient(power: float) -> None:
    W, change = regressor(), np.random.default_rng(1).normal(size=(40, COUNT))
    smooth = Information.of_regressor(W).smooth_condition(power)
    assert np.linalg.cond(W) * (1 - 1e-12) < smooth.value < np.linalg.cond(W) * COUNT ** (1.0 / power)
    h = 1e-6
    ends = [Information.of_regressor(W + s * h * change).smooth_condition(power).value for s in (1, -1)]
    slope = (ends[0] - ends[1]) / (2 * h)
    assert np.vdot(2.0 * W @ smooth.gradient, change) == pytest.approx(slope, rel=1e-6)


def test_torque_in_another_unit_changes_each_criterion_as_stated() -> None:
    W, u = regressor(), 3.0
    G, b = W.T @ W, COUNT
    for word in ("cond", "cond-normalised", "cond-orthonormal", "rc-free"):
        assert value(word, W, u) == pytest.approx(value(word, W), rel=1e-12)
    assert value("a", W, u) == pytest.approx(u**2 * value("a", W), rel=1e-12)
    assert value("e", W, u) == pytest.approx(value("e", W) / u**2, rel=1e-12)
    assert value("d", W, u) == pytest.approx(value("d", W) - 2 * b * np.log(u), rel=1e-12)
    rc = 0.5 * (np.linalg.norm(G) / u**2 + u**2 * np.linalg.norm(np.linalg.inv(G)))
    assert value("rc", W, u) == pytest.approx(rc, rel=1e-9)
    assert value("a", W / u) == pytest.approx(value("a", W, u), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_rc_bounds_the_condition_number_in_any_unit_of_torque(seed: int) -> None:
    """Tian et al. (2024), Theorem 1; the smallest of these bounds is the one that needs no unit."""
    W = regressor(seed)
    units = np.geomspace(1e-3, 1e3, 200)
    bounds = [value("rc", W, u) for u in units]
    assert min(bounds) >= np.linalg.cond(W)
    assert value("rc-free", W) <= min(bounds) * (1 + 1e-12)
    assert value("rc-free", W) == pytest.approx(min(bounds), rel=0.05)


@pytest.mark.parametrize("seed", range(20))
def test_more_data_never_says_less(seed: int) -> None:
    W = regressor(seed, rows=9)
    more = np.vstack([W, np.random.default_rng(seed).normal(size=(1, COUNT))])
    slack = 1 + 1e-9
    assert value("e", more) * slack >= value("e", W)
    assert value("a", more) <= value("a", W) * slack
    assert value("d", more) + 1e-9 >= value("d", W)


def test_the_orthonormal_condition_number_does_not_depend_on_the_base() -> None:
    W, K = regressor(), combinations()
    T = np.random.default_rng(3).normal(size=(COUNT, COUNT))
    other = score("cond-orthonormal", Information.of_regressor(W @ T), groupings=np.linalg.inv(T) @ K)
    assert other.value == pytest.approx(value("cond-orthonormal", W), rel=1e-8)
    assert value("cond", W @ T) != pytest.approx(value("cond", W), rel=1e-2)


def _blind_regressors() -> dict[str, np.ndarray]:
    W = regressor()
    twin, silent = W.copy(), W.copy()
    twin[:, 3] = 0.1 * W[:, 0] - 7.0 * W[:, 5]
    silent[:, 2] = 0.0
    noisy_zero = W.copy()
    noisy_zero[:, 2] = 1e-15 * np.random.default_rng(0).normal(size=len(W))
    return {
        "dependent column": twin,
        "zero column": silent,
        "column of round-off": noisy_zero,
        "fewer rows than columns": W[: COUNT - 1],
        "one row": W[:1],
        "no motion": np.zeros_like(W),
    }


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("case", list(_blind_regressors()))
def test_data_without_information_is_infinitely_bad(case: str, squared: bool) -> None:
    W = _blind_regressors()[case]
    information = Information(W.T @ W, squared=True) if squared else Information.of_regressor(W)
    for word in WORDS:
        found = score(word, information, groupings=combinations())
        expected = {"d": -np.inf, "e": 0.0}.get(word, np.inf)
        assert found.value == expected, word
        assert np.isnan(found.gradient).all() == (word != "e"), word


def test_the_gradient_of_e_says_where_a_blind_direction_is() -> None:
    W = _blind_regressors()["zero column"]
    S = score("e", Information.of_regressor(W)).gradient
    np.testing.assert_allclose(S, np.diag(np.eye(COUNT)[2]), atol=1e-12)


@pytest.mark.parametrize("word", ["a", "cond-normalised", "rc-free"])
def test_the_gradient_reaches_the_motion_of_a_real_arm(word: str) -> None:
    robot = zoo_robot("ur10e")
    layout = layout_of(robot, ["viscous", "rotor"])
    base = numerical_base(robot, layout, np.random.default_rng(0))
    q, v, a = np.random.default_rng(1).normal(size=(3, 60, robot.nv))

    def at(h: float) -> float:
        W = torque_regressor(robot, layout, q + h * dq, v + h * dv, a + h * da).reshape(-1, layout.size)
        return score(word, Information.of_regressor(W[:, base.columns])).value

    dq, dv, da = np.random.default_rng(2).normal(size=(3, 60, robot.nv))
    Y = torque_regressor(robot, layout, q, v, a)
    information = Information.of_regressor(Y.reshape(-1, layout.size)[:, base.columns])
    weights = np.zeros_like(Y)
    weights[..., base.columns] = 2.0 * Y[..., base.columns] @ score(word, information).gradient
    gradient = regressor_adjoint(robot, layout, weights, q, v, a)
    slope = np.vdot(gradient.q, dq) + np.vdot(gradient.v, dv) + np.vdot(gradient.a, da)
    assert slope == pytest.approx((at(1e-6) - at(-1e-6)) / 2e-6, rel=1e-5)


def test_compressed_logs_and_gram_matrices_say_what_pinocchios_regressor_says() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    columns = numerical_base(robot, layout, np.random.default_rng(0)).columns
    q, v, a = np.random.default_rng(1).normal(size=(3, 80, robot.nv))
    judge = PinocchioRobot.of(robot)
    W = np.vstack([judge.regressor(q[n], v[n], a[n])[:, columns] for n in range(80)])
    log = [(q, v, a, np.zeros_like(q))]
    factor = compress(robot, layout, log).factor()[:, columns]
    gram = torque_gram(robot, layout, log)[np.ix_(columns, columns)]
    expected = np.linalg.cond(W)
    assert score("cond", Information.of_regressor(factor)).value == pytest.approx(expected, rel=1e-9)
    assert score("cond", Information(gram, squared=True)).value == pytest.approx(expected, rel=1e-6)


def test_what_does_not_fit_is_refused_with_the_choices() -> None:
    information = Information.of_regressor(regressor())
    with pytest.raises(InputError, match=r"unknown criterion 'g'.*Valid: cond, .*rc, .*a, d, e"):
        score("g", information)
    with pytest.raises(InputError, match="groupings"):
        score("cond-orthonormal", information)
    with pytest.raises(InputError, match="torque_unit"):
        score("a", information, torque_unit=0.0)
    with pytest.raises(InputError, match="finite"):
        Information.of_regressor(np.full((3, 2), np.nan))
