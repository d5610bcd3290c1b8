"""Robot and load in one box: what each may be, and nothing less."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.payloads import mounted_at
from steelyard.safe_learning import LoadModel
from steelyard.uncertainty import PayloadBox
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("panda")
LAYOUT = layout_of(ROBOT, ("viscous", "rotor"))
MODEL = LoadModel.stated(ROBOT, LAYOUT, mounted_at(ROBOT), model_error=0.03)


def test_every_robot_with_every_load_is_in_the_box() -> None:
    prior = PayloadBox.in_ball(3.0, 0.12, (0.0, 0.0, 0.05))
    box = MODEL.with_load(prior)
    rng = np.random.default_rng(0)
    for _ in range(200):
        ten = rng.uniform(prior.lower, prior.upper)
        theta = MODEL.parameters + rng.choice((-1.0, 1.0), LAYOUT.size) * MODEL.spread * (1.0 - 1e-13)
        theta[LAYOUT.of_link(MODEL.held.link)] += MODEL.held.to_link @ ten
        assert (np.abs(theta - box.nominal) <= box.half_widths).all()


def test_a_load_adds_what_the_description_with_its_body_states() -> None:
    body = Body.from_parameters(np.array([1.5, 0.02, -0.01, 0.06, 0.01, 0.0, 0.012, 0.0, 0.001, 0.008]))
    exact = PayloadBox.between(body.parameters, body.parameters)
    nominal = MODEL.with_load(exact).nominal
    described = layout_of(ROBOT.with_body("load", body), ("viscous", "rotor")).complete_nominal()
    assert nominal == pytest.approx(described, abs=1e-12)


def test_a_link_that_counts_as_load_is_not_known_at_all() -> None:
    whole = LoadModel.stated(ROBOT, LAYOUT, MODEL.held, model_error=0.03, whole_link=True)
    assert not whole.parameters[whole.carrier].any()
    assert not whole.spread[whole.carrier].any()
    others = np.delete(whole.parameters, np.r_[whole.carrier])
    assert np.array_equal(others, np.delete(MODEL.parameters, np.r_[MODEL.carrier]))


def test_a_negative_spread_is_refused() -> None:
    with pytest.raises(InputError, match="negative"):
        LoadModel(ROBOT, LAYOUT, MODEL.parameters, -MODEL.spread, MODEL.held)
