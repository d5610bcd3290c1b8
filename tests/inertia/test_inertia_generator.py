"""Random bodies: seeded, possible, of the asked kind."""

import numpy as np
import pytest

from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import pseudo_inertia
from steelyard.inertia.body import random_body

RANK = {"solid": 4, "planar": 3, "rod": 2, "point": 1, "massless": 0}


@pytest.mark.parametrize(("shape", "rank"), RANK.items())
def test_the_shape_is_the_rank_of_the_pseudo_inertia(shape, rank):
    rng = np.random.default_rng(0)
    for _ in range(20):
        J = pseudo_inertia(random_body(rng, shape=shape, size=1.0, mass=(1.0, 1.0)).parameters)
        eigenvalues = np.linalg.eigvalsh(J)
        assert (eigenvalues[4 - rank :] > 1e-4).all()
        np.testing.assert_allclose(eigenvalues[: 4 - rank], 0.0, atol=1e-14)


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not():
    one, same, other = (random_body(np.random.default_rng(s)).parameters for s in (7, 7, 8))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_every_shape_draws_the_same_amount_of_randomness():
    after = set()
    for shape in RANK:
        rng = np.random.default_rng(1)
        random_body(rng, shape=shape)
        after.add(rng.random())
    assert len(after) == 1


def test_mass_and_size_are_respected():
    rng = np.random.default_rng(2)
    bodies = [random_body(rng, mass=(2.0, 3.0), size=0.01) for _ in range(100)]
    assert all(2.0 <= body.mass <= 3.0 for body in bodies)
    assert all(np.abs(body.com).max() <= 0.01 for body in bodies)
    spread = [0.5 * np.trace(body.inertia) / body.mass for body in bodies]
    assert min(spread) >= 3 * 0.002**2
    assert max(spread) <= 3 * 0.01**2


def test_unusable_options_are_refused():
    rng = np.random.default_rng(3)
    with pytest.raises(UnknownNameError, match="Did you mean 'planar'"):
        random_body(rng, shape="planer")
    with pytest.raises(InputError, match="rising pair"):
        random_body(rng, mass=(2.0, 1.0))
    with pytest.raises(InputError, match="size: must be positive"):
        random_body(rng, size=0.0)
