r"""Residual torques of a loaded and an empty run of the same motion (paper 001, 4.2).

The empty run is brought to the positions of the loaded one by dynamic time warping, then

$$\Delta\tau = \tau' - \tau = W(x')\,\varphi + \big(W_r(x') - W_r(x)\big)\,\phi_r.$$

No controller follows one motion twice exactly: with a payload it lags and sags, and the second term is what
the robot itself needs for the difference of the two states $x'$ and $x$. A description that is wrong by some
percent still predicts that small difference to some percent of itself, so it is taken off where there is one.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import RecordingError
from steelyard.payload.model import ArmModel
from steelyard.recording import Recording
from steelyard.signals import SOURCE_TIME, aligned, is_limited, with_rows

BAND = 0.5
"""How far the two runs may be apart in time while they are aligned, s."""
SAME = 0.05
"""Largest distance in position after the alignment at which two samples count as the same, rad or m."""
MOST = 0.8
"""Share of the samples that must be the same for two runs to be of one motion; filters cut ends off."""


def residual_torque(
    loaded: Recording, empty: Recording, description: ArmModel | None, *, band: float = BAND
) -> Recording:
    """The loaded run with the torque of the empty one taken off.

    Args:
        loaded: the run with the payload, with q, v, a and tau.
        empty: the same motion without it.
        description: what the robot itself needs for the difference of the runs; None to ignore it.
        band: how far the runs may be apart in time, s.

    Returns:
        The loaded run, whose `tau` is the residual torque.

    Raises:
        RecordingError: the runs are of different motions.
    """
    beside = aligned(empty, loaded, band)
    apart = np.abs(beside.q - loaded.q).max(axis=1)
    same = apart <= SAME
    if same.mean() < MOST:
        raise RecordingError(
            f"stays over {SAME:g} rad from the loaded run in {100.0 * (1.0 - same.mean()):.0f} % of the "
            "samples after alignment, so they are different motions.",
            place="empty run",
            remedy="Run the same motion, or weigh with a model of the robot instead (--model).",
        )
    # Where the empty run's drive was at its limit its torque says nothing of what the payload adds.
    same &= ~is_limited(empty, beside.extra[SOURCE_TIME])
    loaded, beside = with_rows(loaded, same), with_rows(beside, same)
    tau = loaded.channels["tau"] - beside.channels["tau"]
    moved = np.zeros_like(tau)
    if description is not None:
        moved = _needed(description, loaded) - _needed(description, beside)
    detail = {
        "empty": empty.digest,
        "largest_difference": float(apart[same].max()),
        "dropped": int((~same).sum()),
        "corrected_by": None if description is None else description.source,
        "largest_correction": float(np.abs(moved).max()),
    }
    return loaded.revised("residual torque", detail, tau=tau - moved)


def _needed(model: ArmModel, run: Recording) -> Array:
    """Torque of the robot along a run."""
    at = run.channels
    return inverse_dynamics(model.robot, model.layout, model.parameters, at["q"], at["v"], at["a"])
