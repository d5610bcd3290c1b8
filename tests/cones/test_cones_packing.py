import numpy as np
import pytest

from steelyard.cones.solve import smat, svec


def symmetric(rng: np.random.Generator, *shape: int) -> np.ndarray:
    M = rng.normal(size=(*shape, shape[-1]))
    return M + np.swapaxes(M, -1, -2)


@pytest.mark.parametrize("order", [1, 2, 4, 7])
def test_unpacking_undoes_packing(order: int) -> None:
    M = symmetric(np.random.default_rng(order), 3, order)
    np.testing.assert_allclose(smat(svec(M)), M, rtol=1e-15)


def test_packing_keeps_the_inner_product() -> None:
    rng = np.random.default_rng(0)
    X, Y = symmetric(rng, 5), symmetric(rng, 5)
    assert svec(X) @ svec(Y) == pytest.approx(np.trace(X @ Y), rel=1e-13)


def test_the_order_is_the_upper_triangle_column_by_column() -> None:
    M = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 5.0], [4.0, 5.0, 6.0]])
    root = np.sqrt(2.0)
    np.testing.assert_allclose(svec(M), [1, 2 * root, 3, 4 * root, 5 * root, 6])
