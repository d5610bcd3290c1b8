"""Which joints feel a part of the torque."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, BoolArray

OWN, ARM = 0.1, 0.01
"""Shares of a joint's own torque, and of the arm's, beyond which a part of it is felt."""


def felt(part: Array, torque: Array) -> BoolArray:
    r"""Which joints feel a part of the torque: more than a tenth of their own and a hundredth of the arm's.

    $$\mathrm{rms}(p_j) > 0.1\,\mathrm{rms}(\tau_j), \qquad
      \mathrm{rms}(p_j)^2 > 0.01^2 \sum_i \mathrm{rms}(\tau_i)^2$$

    The first leaves out what is small at its joint; the second what is small in the arm, such as a fifth of
    the torque of a wrist that carries nothing.

    Args:
        part: rms of the part of each joint, shape (nv,), N·m or N.
        torque: rms torque of each joint, shape (nv,), N·m or N.

    Returns:
        Whether it is felt, shape (nv,), dimensionless.
    """
    return np.asarray((part > OWN * torque) & (part > ARM * float(np.linalg.norm(torque))))
