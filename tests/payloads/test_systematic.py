"""Errors that repeat in every sample widen a payload's interval, and stand apart from noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from payloads.loaded_arm import body, motion_of, run
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.payloads import (
    ConstantErrors,
    described,
    errors_of,
    massless,
    mounted_at,
    weigh_by_residual,
    weigh_full_arm,
    weigh_with_model,
)
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
HELD = mounted_at(PANDA)
LOAD = body(3, 1.5)
MODEL = described(PANDA, ())
MASS = np.eye(10)[:1]


def scaled(log, shares):
    return log.with_channels(tau=log.tau * (1.0 + shares))


@pytest.mark.parametrize("way", ["residual", "model", "arm"])
def test_torque_constants_that_are_off_move_the_mass_as_the_interval_foresees(way: str) -> None:
    motion, rng = motion_of(PANDA), np.random.default_rng(0)
    loaded = run(PANDA, motion, LOAD, noise=0.02, rng=rng)
    empty = run(PANDA, motion, noise=0.02, rng=rng)
    # Small, so that the weights of the joints stay those of the noise.
    constants = ConstantErrors.of(np.full(7, 1e-4))

    def weigh(shares, constants=None):
        pair = [scaled(loaded, shares)], [scaled(empty, shares)]
        if way == "residual":
            return weigh_by_residual(PANDA, HELD, *pair, constants=constants)
        if way == "arm":
            layout = layout_of(PANDA, ("viscous", "coulomb", "offset"))
            return weigh_full_arm(PANDA, layout, HELD, *pair, constants=constants)
        return weigh_with_model(MODEL, HELD, pair[0], constants=constants)

    found = weigh(np.zeros(7), constants)
    shifts = []
    for shares in constants.root.T:
        shifts.append(weigh(shares).values[0] - weigh(np.zeros(7)).values[0])
    foreseen = found.parts(MASS)["torque constants"][0]
    # The full arm weighs the same equations otherwise once errors of constants count.
    assert foreseen == pytest.approx(np.linalg.norm(shifts), rel=0.3 if way == "arm" else 0.02)
    noise = found.parts(MASS)["noise"][0]
    assert found.deviations[0] == pytest.approx(np.hypot(noise, foreseen))


def test_measured_torques_have_no_systematic_part() -> None:
    found = weigh_with_model(MODEL, HELD, [run(PANDA, motion_of(PANDA), LOAD, noise=0.02)])
    assert not found.systematic
    assert set(found.parts(MASS)) == {"noise"}
    none = ConstantErrors.of(np.zeros(7))
    same = weigh_with_model(MODEL, HELD, [run(PANDA, motion_of(PANDA), LOAD, noise=0.02)], constants=none)
    assert not same.systematic


def test_a_model_that_shares_the_constants_is_off_with_what_is_measured() -> None:
    log = run(PANDA, motion_of(PANDA), LOAD, noise=0.02)
    constants = ConstantErrors.of(np.full(7, 0.1))
    alone = weigh_with_model(MODEL, HELD, [log], constants=constants)
    shared = weigh_with_model(replace(MODEL, same_constants=True), HELD, [log], constants=constants)
    # Only the load's own torque is off then: a tenth of its mass at most, not of the arm's.
    assert shared.deviations[0] < 0.5 * alone.deviations[0]
    assert shared.parts(MASS)["torque constants"][0] < 0.11 * LOAD.mass
    assert weigh_by_residual(
        PANDA, HELD, [log], [run(PANDA, motion_of(PANDA), noise=0.02)], constants=constants
    ).deviations[0] == pytest.approx(shared.deviations[0], rel=0.1)


def test_a_model_that_is_off_moves_the_payload_as_its_errors_foresee() -> None:
    log = run(PANDA, motion_of(PANDA), LOAD, noise=0.01)
    rng = np.random.default_rng(1)
    size = np.abs(MODEL.parameters) * 1e-4
    errors = size[:, None] * rng.standard_normal((MODEL.layout.size, 3))
    found = weigh_with_model(replace(MODEL, errors=errors), HELD, [log])
    plain = weigh_with_model(MODEL, HELD, [log])
    assert found.values == pytest.approx(plain.values, rel=1e-6, abs=1e-9)
    for k in range(3):
        off = replace(MODEL, parameters=MODEL.parameters - errors[:, k])
        shift = weigh_with_model(off, HELD, [log]).values - plain.values
        assert found.systematic["model"][:, k] == pytest.approx(shift, rel=0.02, abs=1e-6)
    assert found.deviations[0] > plain.deviations[0]
    moved = found.moved(replace(HELD, frame="the same"))
    assert moved.parts(MASS)["model"] == pytest.approx(found.parts(MASS)["model"])


def test_errors_of_a_model_have_the_covariance_of_its_base_parameters() -> None:
    rng = np.random.default_rng(2)
    K = np.hstack([np.eye(4), rng.standard_normal((4, 3))])
    root = rng.standard_normal((4, 4))
    C, beta = root @ root.T, np.array([1.0, 2.0, -3.0, 4.0])
    E = K @ errors_of(K, beta, C)
    assert pytest.approx(C) == E @ E.T
    # Nothing is known of the third: it may be off by as much as it is.
    C[2] = C[:, 2] = 0.0
    C[2, 2] = np.inf
    E = K @ errors_of(K, beta, C)
    assert (E @ E.T)[2] == pytest.approx([0.0, 0.0, 9.0, 0.0], abs=1e-9)


def test_a_model_keeps_its_errors_in_a_wider_layout() -> None:
    errors = np.eye(MODEL.layout.size)[:, :2]
    wide = replace(MODEL, errors=errors).with_terms(("offset",))
    assert wide.errors is not None
    assert wide.errors.shape == (wide.layout.size, 2)
    assert [wide.layout.names[int(k)] for k in wide.errors.argmax(axis=0)] == list(MODEL.layout.names[:2])


def test_errors_of_constants_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="negative"):
        ConstantErrors.of(np.array([-0.1]))
    with pytest.raises(InputError, match="between 0 and 1"):
        ConstantErrors.of(np.array([0.1]), common=2.0)
    assert massless(PANDA).errors is None
