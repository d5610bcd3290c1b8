"""Fourier motions that start and end at rest: the least change that brings them there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.motion.fourier import FourierMotion


def rest_to_rest(motion: FourierMotion, start: ArrayLike | None = None) -> FourierMotion:
    r"""The nearest motion that is at rest at t = 0 and, by its period, at t = T.

    Rest, $v(0) = 0$ and $\dot v(0) = 0$, is linear in the coefficients of each joint:

    $$\sum_l a_l = 0, \qquad \sum_l l\,b_l = 0.$$

    The coefficients are projected orthogonally onto these conditions; the start pose then fixes the offset,
    $q_0 = q(0) + \sum_l b_l/(\omega l)$. (Paper 003 prints (9c) with a and b exchanged, and without an offset
    it needs $\sum_l b_l/l = 0$ as well.)

    Args:
        motion: any Fourier motion; with a single harmonic nothing but standing still is left of it.
        start: q(0), shape (nv,), rad or m; None keeps the offset as it is.

    Returns:
        The motion at rest.
    """
    l = np.arange(1.0, motion.harmonics + 1.0)  # noqa: E741  (the harmonic's letter)
    a = motion.sine - motion.sine.mean(axis=1, keepdims=True)
    b = motion.cosine - np.outer(motion.cosine @ l, l / (l @ l))
    resting = replace(motion, sine=a, cosine=b)
    if start is None:
        return resting
    q_start = checked("start", start, (len(motion.joints),))
    w = 2.0 * np.pi / motion.period
    return replace(resting, offset=q_start + (b / (w * l)).sum(axis=1))
