"""Sine and cosine of many angles: no branch and no call, so that vector instructions can be used."""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel

# Quarter turns are taken off in two parts whose products with whole numbers up to 2²⁰ are exact. What is left
# lies within an eighth of a turn, where the polynomials of fdlibm (Sun, 1993) are good to the last bit.
FARTHEST = 1e4
"""Largest angle reduced this way, rad; beyond it the system's functions answer."""

TURN, REST = 1.57079632673412561417e00, 6.07710050630396597660e-11
S1, S2, S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
S4, S5, S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
C1, C2, C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
C4, C5, C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@kernel
def write_cos_sin(q: Array, out: Array) -> None:
    """Write the cosines of q into the first entries of out, and the sines after them."""
    count = q.size
    for k in range(count):
        n = np.floor(q[k] * (2.0 / math.pi) + 0.5)
        r = (q[k] - n * TURN) - n * REST
        z = r * r
        s = r + r * z * (S1 + z * (S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))))
        c = 1.0 - 0.5 * z + z * z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
        quarter = n - 4.0 * np.floor(0.25 * n)
        odd = quarter == 1.0 or quarter == 3.0
        cos, sin = (s, c) if odd else (c, s)
        out[k] = -cos if (quarter == 1.0 or quarter == 2.0) else cos
        out[count + k] = -sin if quarter >= 2.0 else sin
    for k in range(count):
        if not abs(q[k]) < FARTHEST:
            out[k], out[count + k] = math.cos(q[k]), math.sin(q[k])
