"""What the residual torque looks like: noise, or something the model lacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array, BoolArray, checked
from steelyard.audit.torque import felt
from steelyard.audit.verdict import Check, Status

COLOURED = 0.9
"""Lag-one autocorrelation from which on a residual is no noise at the rate of the log."""
EXPLAINED = 0.1
"""Share of a residual's power that a function of velocity may explain before it is named."""


def check_colour(residual: Array, joints: Sequence[str], torque: Array | None = None) -> Check:
    r"""Ask whether the residual is white: $\rho_1 = \sum r_k r_{k+1} / \sum r_k^2$.

    Args:
        residual: measured minus predicted torque, in the order of time, shape (N, nv), N·m or N.
        joints: names of the joints.
        torque: measured torque, shape (N, nv), N·m or N, to leave out joints whose residual is not `felt`;
            None names every joint.

    Returns:
        The check.
    """
    r = checked("residual", residual, ("N", len(joints)))
    r = r - r.mean(axis=0)
    power = (r**2).sum(axis=0)
    rho = np.where(power > 0, (r[1:] * r[:-1]).sum(axis=0) / np.where(power > 0, power, 1.0), 0.0)
    evidence = {"lag_one": dict(zip(joints, rho.tolist(), strict=True))}
    named = _felt(np.sqrt((r**2).mean(axis=0)), torque)
    coloured = [j for j, x, say in zip(joints, rho, named, strict=True) if x > COLOURED and say]
    if coloured:
        message = (
            f"the residual of {', '.join(coloured)} is coloured (lag-one autocorrelation up to "
            f"{rho.max():.3f}): it is model error or filtering, not noise."
        )
        return Check("residual colour", Status.WARN, message, evidence)
    message = f"the residual's lag-one autocorrelation is at most {rho.max():.3f}"
    message += "." if rho.max() <= COLOURED else ", where it is too small a part of the torque to matter."
    return Check("residual colour", Status.PASS, message, evidence)


def check_friction(residual: Array, v: Array, joints: Sequence[str], torque: Array | None = None) -> Check:
    """Ask whether the residual still depends on the joint's own velocity, as unmodelled friction would.

    The share of its power that sign(v), v, |v| and 1 explain together is reported.

    Args:
        residual: measured minus predicted torque, shape (N, nv), N·m or N.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        joints: names of the joints.
        torque: measured torque, shape (N, nv), N·m or N, to leave out joints at which what velocity explains
            is not `felt`; None names every joint.

    Returns:
        The check.
    """
    r = checked("residual", residual, ("N", len(joints)))
    speed = checked("v", v, r.shape)
    shares = {}
    for k, joint in enumerate(joints):
        columns = np.column_stack([np.sign(speed[:, k]), speed[:, k], np.abs(speed[:, k]), np.ones(len(r))])
        power = float(r[:, k] @ r[:, k])
        left = r[:, k] - columns @ np.linalg.lstsq(columns, r[:, k], rcond=None)[0]
        shares[joint] = 1.0 - float(left @ left) / power if power > 0 else 0.0
    part = np.sqrt(np.maximum(list(shares.values()), 0.0) * (r**2).mean(axis=0))
    said = dict(zip(joints, _felt(part, torque), strict=True))
    named = {joint: share for joint, share in shares.items() if share > EXPLAINED and said[joint]}
    evidence = {"explained": shares}
    if named:
        listed = ", ".join(f"{joint} ({100 * share:.0f} %)" for joint, share in named.items())
        message = f"friction explains a part of the residual that the model lacks: {listed}."
        return Check("velocity dependence", Status.WARN, message, evidence)
    message = f"velocity explains at most {100 * max(shares.values()):.1f} % of the residual's power"
    most = max(shares.values())
    message += "." if most <= EXPLAINED else ", where that is too small a part of the torque to matter."
    return Check("velocity dependence", Status.PASS, message, evidence)


def _felt(part: Array, torque: Array | None) -> BoolArray:
    """Which joints feel a part of rms `part`, shape (nv,); all where the torque is not given."""
    if torque is None:
        return np.ones(len(part), dtype=np.bool_)
    tau = checked("torque", torque, ("N", len(part)))
    return felt(part, np.sqrt((tau**2).mean(axis=0)))
