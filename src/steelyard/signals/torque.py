r"""Joint torque from motor current."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.drive import MotorSignals, Transmission
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording


def torque_from_current(recording: Recording, drive: ArrayLike | Transmission) -> Recording:
    r"""Give a recording of currents its joint torques; the currents stay.

    $$\tau_j = k_j\, i_j \quad\text{or}\quad \tau = G^T \operatorname{diag}(k)\, i$$

    Args:
        recording: a recording with currents and without torques.
        drive: torque at the *joint* per current, shape (nj,), N·m/A or N/A; or a transmission with
            gears, couplings and torque constants at the motors' shafts.

    Returns:
        The recording with torques.

    Raises:
        RecordingError: there are no currents, or there are torques already.
        InputError: a constant is zero, or the transmission has other joints.
    """
    if recording.current is None:
        raise RecordingError("there are no currents.", place="current")
    if recording.tau is not None:
        raise RecordingError(
            "there are torques already.",
            place="tau",
            remedy="Leave the torque constants away (--torque-constant), or the torques out of the log.",
        )
    if isinstance(drive, Transmission):
        if drive.joints != recording.joints:
            raise InputError(
                f"has joints {', '.join(drive.joints)}, the recording {', '.join(recording.joints)}.",
                place="transmission",
                remedy="Name the joints of the recording, in the transmission's order.",
            )
        tau = drive.joint_side(MotorSignals(current=recording.current)).tau
        detail: dict[str, object] = {"matrix": drive.matrix.tolist(), "torque_constant_at": "shaft"}
        constants = drive.torque_constant
        assert constants is not None  # `joint_side` refuses a current without them
    else:
        constants = checked("torque constants", drive, (len(recording.joints),))
        if not np.all(constants):
            joint = recording.joints[int(np.argmin(np.abs(constants)))]
            raise InputError("must not be zero.", place=f"torque constant of joint '{joint}'")
        tau, detail = recording.current * constants, {"torque_constant_at": "joint"}
    detail["torque_constant"] = constants.tolist()
    return recording.revised("torque_from_current", detail, tau=tau)
