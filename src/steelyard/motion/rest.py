"""Motions that start and end at rest: the least change that brings them there."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.motion.fourier import FourierMotion
from steelyard.motion.spline import SplineMotion

Designed = TypeVar("Designed", FourierMotion, SplineMotion)


def rest_to_rest(motion: Designed, start: ArrayLike | None = None) -> Designed:
    r"""The nearest motion that is at rest, v = 0 and a = 0, at its start and at its end.

    For a Fourier series both ends are one, and rest is linear in the coefficients of each joint:

    $$\sum_l a_l = 0, \qquad \sum_l l\,b_l = 0.$$

    (Paper 003 prints (9c) with a and b exchanged, and without an offset it needs $\sum_l b_l/l = 0$ as well.)
    A spline is at rest where its three outer control points are one. The coefficients are projected
    orthogonally onto these conditions. A start pose then shifts the whole motion; to give both end poses of a
    spline, use `rest_conditions`.

    Args:
        motion: a Fourier series or a spline; of a single harmonic, or of a spline of fewer than seven control
            points, little or nothing but standing still is left.
        start: q(0), shape (nv,), rad or m; None leaves it where the projection brings it.

    Returns:
        The motion at rest.
    """
    pose = None if start is None else checked("start", start, (len(motion.joints),))
    if isinstance(motion, SplineMotion):
        c = motion.control.copy()
        # Fewer than six control points belong to both ends.
        outer = (slice(3), slice(-3, None)) if c.shape[1] >= 6 else (slice(None),)
        for end in outer:
            c[:, end] = c[:, end].mean(axis=1, keepdims=True)
        if pose is not None:
            c += (pose - c[:, 0])[:, None]
            c[:, :3] = pose[:, None]
        return replace(motion, control=c)
    l = np.arange(1.0, motion.harmonics + 1.0)  # noqa: E741  (the harmonic's letter)
    a = motion.sine - motion.sine.mean(axis=1, keepdims=True)
    b = motion.cosine - np.outer(motion.cosine @ l, l / (l @ l))
    resting = replace(motion, sine=a, cosine=b)
    if pose is None:
        return resting
    w = 2.0 * np.pi / motion.period
    return replace(resting, offset=pose + (b / (w * l)).sum(axis=1))
