"""The bound of a robust torque is what the torque can reach, and no less."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.control import Tube
from steelyard.errors import InputError, UnknownNameError
from steelyard.safe_learning.planning.certificate import RobustLaw


def test_the_clamped_law_reaches_its_bound_and_never_exceeds_it() -> None:
    rng = np.random.default_rng(0)
    w = rng.uniform(0.0, 10.0, (20, 7))
    bound = RobustLaw("clamped").torque_bound(w)
    u = rng.normal(size=(5000, 7))
    u = np.abs(u) / np.linalg.norm(u, axis=1, keepdims=True)
    for row, most in zip(w, bound, strict=True):
        assert (u * (u @ row)[:, None] <= most).all()
        for j in range(7):
            form = np.outer(np.eye(7)[j], row)
            assert np.linalg.eigvalsh(0.5 * (form + form.T))[-1] == pytest.approx(most[j], rel=1e-9)


def test_a_joint_pays_for_no_other_under_the_componentwise_law() -> None:
    w = np.array([1.0, 20.0, 0.0])
    assert RobustLaw("componentwise", 0.5).torque_bound(w) == pytest.approx(w + 0.5)
    assert RobustLaw("armour", 0.5).torque_bound(w) == pytest.approx(
        RobustLaw("clamped").torque_bound(w) + 0.5
    )


def test_a_greater_disturbance_never_lowers_the_bound() -> None:
    rng = np.random.default_rng(1)
    w = rng.uniform(0.0, 10.0, (50, 6))
    for form in ("armour", "clamped", "componentwise"):
        law = RobustLaw(form)
        assert (law.torque_bound(w + rng.uniform(0.0, 1.0, w.shape)) >= law.torque_bound(w)).all()


def test_unknown_forms_and_numbers_that_bound_nothing_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="armour, clamped, componentwise"):
        RobustLaw("soft")
    with pytest.raises(InputError, match="zero or more"):
        RobustLaw().torque_bound([1.0, np.nan])
    with pytest.raises(InputError, match="smallest_inertia"):
        Tube(1e-3, 0.0, 5.0)


def test_the_position_error_of_a_filter_driven_within_the_tube_stays_within_it() -> None:
    """The worst case drives the error along one direction: it tends to ε / K and never passes it."""
    tube, e = Tube(1e-3, 7.6, 5.0), np.zeros(7)
    assert tube.radius == pytest.approx(np.sqrt(2e-3 / 7.6))
    r = tube.radius * np.eye(7)[2]
    for _ in range(4000):
        rate = r - tube.kr * e
        assert np.linalg.norm(rate) <= tube.velocity
        e = e + 1e-3 * rate
    assert 0.99 * tube.position <= np.linalg.norm(e) <= tube.position
