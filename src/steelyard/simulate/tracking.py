"""How well a recorded motion followed its reference."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.recording import Recording


def tracking_error(recording: Recording) -> Array:
    r"""How well the references were followed: $\sqrt{\mathrm{mean}_k\,(q_{ref} - q)^2}$ per joint.

    Args:
        recording: a recording with position references.

    Returns:
        Root mean square position errors, shape (nj,), rad or m.

    Raises:
        InputError: the recording has no position references.
    """
    if recording.q_ref is None:
        raise InputError("has no position references (columns qref_).", place="recording")
    return np.asarray(np.sqrt(np.mean((recording.q_ref - recording.q) ** 2, axis=0)))
