r"""The ten inertial numbers of a link and the matrices they are linear in.

About the origin of the link's frame and in its axes, in this order:

$$\varphi = (m,\; h_x, h_y, h_z,\; I_{xx}, I_{xy}, I_{yy}, I_{xz}, I_{yz}, I_{zz}), \qquad h = m\,c,$$

where $I$ is the inertia tensor itself, so a product of inertia carries its minus sign:
$I_{xy} = -\int xy\,dm$. The functions here take any ten numbers, also impossible ones: they are linear maps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.pose import Pose

PARAMETER_NAMES = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Names of the ten numbers, in their order (that of Pinocchio)."""

PARAMETER_UNITS = ("kg", *("kg m",) * 3, *("kg m^2",) * 6)
"""Units of the ten numbers."""

_TENSOR_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def _pseudo_inertia_basis() -> tuple[Array, Array]:
    """The tensors B, D of `J = sum_k phi_k B_k` and `phi_k = <D_k, J>`, each symmetric, shape (10, 4, 4)."""
    B, D = np.zeros((10, 4, 4)), np.zeros((10, 4, 4))
    B[0, 3, 3] = D[0, 3, 3] = 1.0
    for axis in range(3):
        B[1 + axis, [axis, 3], [3, axis]] = 1.0
        D[1 + axis, [axis, 3], [3, axis]] = 0.5
    for k, (i, j) in enumerate(_TENSOR_ENTRIES, start=4):
        E = np.zeros((3, 3))
        E[i, j] = E[j, i] = 1.0
        B[k, :3, :3] = 0.5 * np.trace(E) * np.eye(3) - E
        E /= E.sum()
        D[k, :3, :3] = np.trace(E) * np.eye(3) - E
    return B, D


_PSEUDO_INERTIA_OF_PARAMETERS, _PARAMETERS_OF_PSEUDO_INERTIA = _pseudo_inertia_basis()


def rotational_inertia(parameters: ArrayLike) -> Array:
    """The inertia tensor about the frame's origin.

    Args:
        parameters: phi, shape (..., 10), SI.

    Returns:
        I, shape (..., 3, 3), kg m^2.
    """
    phi = checked("parameters", parameters, ("...", 10))
    return phi[..., [4, 5, 7, 5, 6, 8, 7, 8, 9]].reshape(*phi.shape[:-1], 3, 3)


def pseudo_inertia(parameters: ArrayLike) -> Array:
    r"""The matrix whose sign decides whether a body is possible.

    $$J(\varphi) = \int \begin{bmatrix} p\\1\end{bmatrix}\begin{bmatrix} p\\1\end{bmatrix}^T dm
      = \begin{bmatrix} \tfrac12\mathrm{tr}(I)\,\mathbb 1 - I & h \\ h^T & m \end{bmatrix}$$

    Args:
        parameters: phi, shape (..., 10), SI.

    Returns:
        J, shape (..., 4, 4), SI (kg m^2 in the leading block, kg m, and kg in the corner).
    """
    phi = checked("parameters", parameters, ("...", 10))
    return (phi @ _PSEUDO_INERTIA_OF_PARAMETERS.reshape(10, 16)).reshape(*phi.shape[:-1], 4, 4)


def parameters_of_pseudo_inertia(matrix: ArrayLike) -> Array:
    """The inverse of `pseudo_inertia`; of a matrix that is not symmetric it reads the symmetric part.

    Args:
        matrix: J, shape (..., 4, 4), SI.

    Returns:
        phi, shape (..., 10), SI.
    """
    J = checked("matrix", matrix, ("...", 4, 4))
    return J.reshape(*J.shape[:-2], 16) @ _PARAMETERS_OF_PSEUDO_INERTIA.reshape(10, 16).T


def change_of_frame(pose: Pose) -> Array:
    r"""The linear map that expresses a body known in frame B about the origin and in the axes of frame A.

    $$\varphi_A = T\,\varphi_B, \qquad J(T\varphi_B) = X_{AB}\, J(\varphi_B)\, X_{AB}^T,$$

    with $X_{AB}$ the homogeneous matrix. Hence $T(X_{AB})\,T(X_{BC}) = T(X_{AC})$.

    Args:
        pose: X_AB, the pose of the frame the numbers are known in, measured in the new frame.

    Returns:
        T, shape (10, 10), SI.
    """
    X = pose.matrix
    columns = parameters_of_pseudo_inertia(X @ _PSEUDO_INERTIA_OF_PARAMETERS @ X.T)
    return np.ascontiguousarray(columns.T)
