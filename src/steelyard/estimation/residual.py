"""What an estimate leaves unexplained, from the compressed equations alone."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.problem import Problem


def residual_rms(problem: Problem, beta: Array) -> Array:
    r"""Root mean square of $\tau - W_1\beta - W\phi_{known}$ at each degree of freedom.

    The triangle $T_k$ of $[W_k\ \tau_k]$ has the same norm as the equations themselves:
    $\lVert \tau_k - W_k\phi \rVert = \lVert T_k\,(-\phi, 1) \rVert$.

    Args:
        problem: the question.
        beta: base parameters, shape (b,), SI.

    Returns:
        The rms, shape (nv,), N·m or N.
    """
    phi = np.array(problem.known)
    phi[problem.base.columns] += beta
    small = problem.compressed
    lengths = [
        float(np.linalg.norm(T @ np.r_[-phi[columns], 1.0]))
        for columns, T in zip(small.columns, small.triangles, strict=True)
    ]
    return np.asarray(np.array(lengths) / np.sqrt(small.samples))
