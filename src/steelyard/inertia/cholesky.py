r"""Ten free numbers for one possible body: the log-Cholesky parameters, with exact derivatives.

Zhang et al. (2025), eqs. (14)-(16), after Rucker and Wensing: any $\eta \in \mathbb R^{10}$ gives a strictly
possible body, and each such body has exactly one $\eta$,

$$J(\varphi) = M^T M, \qquad M(\eta) = e^{\alpha}
\begin{bmatrix} e^{d_1} & s_{12} & s_{13} & s_{14} \\ & e^{d_2} & s_{23} & s_{24} \\
                & & e^{d_3} & s_{34} \\ & & & 1 \end{bmatrix}.$$

The paper's (33) prints $MM^T$; its (16) is $M^TM$, which is used here. Pinocchio's `LogCholeskyParameters`
is $MM^T$ and lists $s_{23}$ before $s_{13}$, so the two are not interchangeable.

The derivatives need no table of entries. Each $\partial_k M =: D_k$ has the pattern of $M$, the second
derivatives are again first ones, $\partial_k \partial_l M = \sum_j G_{klj} D_j$ with constant zeros and ones
$G$ ($\alpha$ with anything, and each $d_i$ with itself), and $\varphi = \Phi(J)$ is linear and reads the
symmetric part, so that

$$\partial_k \varphi = 2\,\Phi(M^T D_k), \qquad
\partial_k\partial_l \varphi = \sum_j G_{klj}\,\partial_j \varphi + 2\,\Phi(D_k^T D_l).$$
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.inertia.consistency import ROUND_OFF, check_body, relative_eigenvalue
from steelyard.inertia.parameters import parameters_of_pseudo_inertia, pseudo_inertia

LOG_CHOLESKY_NAMES = ("alpha", "d1", "d2", "d3", "s12", "s13", "s23", "s14", "s24", "s34")
"""Names of the log-Cholesky parameters in their order."""

_ROW = np.array([3, 0, 1, 2, 0, 0, 1, 0, 1, 2])
_COLUMN = np.array([3, 0, 1, 2, 1, 2, 2, 3, 3, 3])
_ALPHA, _D, _S = 0, slice(1, 4), slice(4, 10)


def _second_derivative_pattern() -> Array:
    G = np.zeros((10, 10, 10))
    every = np.arange(10)
    G[_ALPHA, every, every] = G[every, _ALPHA, every] = 1.0
    diagonal = every[_D]
    G[diagonal, diagonal, diagonal] = 1.0
    return G


_G = _second_derivative_pattern()


def _factor(eta: Array) -> Array:
    """M, shape (..., 4, 4)."""
    M = np.zeros((*eta.shape[:-1], 4, 4))
    scale = np.exp(eta[..., [_ALPHA]])
    M[..., 3, 3] = scale[..., 0]
    M[..., _ROW[_D], _COLUMN[_D]] = scale * np.exp(eta[..., _D])
    M[..., _ROW[_S], _COLUMN[_S]] = scale * eta[..., _S]
    return M


def _factor_derivatives(M: Array) -> Array:
    """D_k = dM/d eta_k, shape (..., 10, 4, 4)."""
    D = np.zeros((*M.shape[:-2], 10, 4, 4))
    D[..., _ALPHA, :, :] = M
    k = np.arange(1, 4)
    D[..., k, _ROW[_D], _COLUMN[_D]] = M[..., _ROW[_D], _COLUMN[_D]]
    k = np.arange(4, 10)
    D[..., k, _ROW[_S], _COLUMN[_S]] = M[..., 3, 3, None]
    return D


def log_cholesky(parameters: ArrayLike) -> Array:
    """The log-Cholesky parameters of strictly possible bodies.

    Args:
        parameters: phi, shape (..., 10), SI.

    Returns:
        eta, shape (..., 10), SI.

    Raises:
        InputError: a body is not strictly consistent; the message says which condition fails and by how much.
    """
    phi = checked("parameters", parameters, ("...", 10))
    _refuse_if_not_strict(phi)
    M = _transposed(np.asarray(np.linalg.cholesky(pseudo_inertia(phi)), dtype=np.float64))
    eta = np.empty(phi.shape)
    scale = M[..., 3, 3, None]
    eta[..., _ALPHA] = np.log(scale[..., 0])
    eta[..., _D] = np.log(M[..., _ROW[_D], _COLUMN[_D]] / scale)
    eta[..., _S] = M[..., _ROW[_S], _COLUMN[_S]] / scale
    return eta


def from_log_cholesky(log_parameters: ArrayLike) -> Array:
    r"""The map $P$ of Zhang et al. (2025), eq. (16), in this package's order of the ten numbers.

    Args:
        log_parameters: eta, shape (..., 10), SI.

    Returns:
        phi, shape (..., 10), SI; the pseudo-inertia is positive definite.
    """
    M = _factor(checked("log_parameters", log_parameters, ("...", 10)))
    return parameters_of_pseudo_inertia(_transposed(M) @ M)


def log_cholesky_jacobian(log_parameters: ArrayLike) -> Array:
    r"""First derivatives $\partial\varphi_n / \partial\eta_k$ of `from_log_cholesky`.

    Args:
        log_parameters: eta, shape (..., 10), SI.

    Returns:
        Jacobian, index (..., n, k), shape (..., 10, 10), SI.
    """
    M = _factor(checked("log_parameters", log_parameters, ("...", 10)))
    return _jacobian(M, _factor_derivatives(M))


def log_cholesky_hessian(log_parameters: ArrayLike) -> Array:
    r"""Second derivatives $\partial^2\varphi_n / \partial\eta_k\,\partial\eta_l$ of `from_log_cholesky`.

    Args:
        log_parameters: eta, shape (..., 10), SI.

    Returns:
        Hessian, index (..., n, k, l), symmetric in its last two, shape (..., 10, 10, 10), SI.
    """
    M = _factor(checked("log_parameters", log_parameters, ("...", 10)))
    D = _factor_derivatives(M)
    products = parameters_of_pseudo_inertia(_transposed(D)[..., :, None, :, :] @ D[..., None, :, :, :])
    through_M = (_jacobian(M, D) @ _G.reshape(100, 10).T).reshape(*M.shape[:-2], 10, 10, 10)
    return through_M + 2.0 * np.moveaxis(products, -1, -3)


def _jacobian(M: Array, D: Array) -> Array:
    return 2.0 * _transposed(parameters_of_pseudo_inertia(_transposed(M)[..., None, :, :] @ D))


def _transposed(matrices: Array) -> Array:
    return np.swapaxes(matrices, -1, -2)


def _refuse_if_not_strict(phi: Array) -> None:
    poor = np.argwhere(relative_eigenvalue(phi) <= ROUND_OFF)
    if not len(poor):
        return
    index = tuple(int(i) for i in poor[0])
    found = check_body(phi[index])
    why = " ".join(str(reason) for reason in found.reasons) or (
        "It is on the edge of the possible: its smallest relative eigenvalue is "
        f"{found.relative_eigenvalue:.1e}, as of a planar, rod-like, point or massless body."
    )
    where = f" body {list(index)}" if index else " the body"
    raise InputError(
        f"log-Cholesky parameters exist only for strictly consistent bodies;{where} is not. {why}",
        place="parameters",
        remedy="`nearest_consistent` with a positive margin gives a neighbour that is.",
        evidence={"index": index, "parameters": phi[index], "reasons": found.reasons},
    )
