"""What a run broke, judged by the true state where it is known: in simulation, after the event."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.limits import bounds_of
from steelyard.online.mujoco_link import MuJoCoLink
from steelyard.online.online_run import OnlineRun

_ROUNDING = 1e-9
"""Share of a limit that rounding may take."""


def violations_of(run: OnlineRun, link: MuJoCoLink, truth: ArrayLike) -> tuple[str, ...]:
    """Compare what happened with all that was promised, at every cycle.

    Args:
        run: the run.
        link: the robot that was driven, which knows its true states.
        truth: the load's ten numbers in the frame it is held in, shape (10,), SI.

    Returns:
        One sentence for each promise that was broken; none where all were kept.
    """
    setting = run.record.setting
    ten = checked("truth", truth, (10,))
    q, v, tau = link.truth
    found = [*_limits(run, q, v, tau), *_tube(run, q, v)]
    apart = setting.clearance.distances(q) - setting.distance
    if apart.size and apart.min() < 0.0:
        row, pair = np.unravel_index(int(apart.argmin()), apart.shape)
        name = setting.clearance.names[int(pair)]
        found.append(f"{name} overlap by {-apart[row, pair]:.3g} m at {row * setting.cycle:.4f} s.")
    for known in run.record.knowledge:
        if not ((known.box.lower <= ten) & (ten <= known.box.upper)).all():
            found.append(f"the bounds of {known.time:.4f} s do not hold the load.")
    return tuple(found)


def _limits(run: OnlineRun, q: Array, v: Array, tau: Array) -> list[str]:
    setting = run.record.setting
    b, names = bounds_of(setting.arm.robot), setting.arm.robot.joint_names
    found = []
    for what, over in (
        ("position", np.maximum(b.lower - q, q - b.upper)),
        ("velocity", np.abs(v) - b.velocity),
        ("torque", np.abs(tau) - b.effort * (1.0 + _ROUNDING)),
    ):
        if over.max() > 0.0:
            row, joint = np.unravel_index(int(over.argmax()), over.shape)
            when = f"at {row * setting.cycle:.4f} s"
            found.append(f"{what} of {names[int(joint)]} is {over[row, joint]:.3g} beyond its limit {when}.")
    return found


def _tube(run: OnlineRun, q: Array, v: Array) -> list[str]:
    setting, log = run.record.setting, run.cycles
    tube, n = setting.tube, min(len(q), len(log.q_ref))
    e = log.q_ref[:n] - q[:n]
    r = log.v_ref[:n] - v[:n] + tube.kr * e
    found = []
    for what, norms, most in (("r", r, tube.radius), ("e", e, tube.position)):
        sizes = np.linalg.norm(norms, axis=1)
        if sizes.max(initial=0.0) > most:
            k = int(sizes.argmax())
            found.append(f"|{what}| is {sizes[k]:.4g} at {k * setting.cycle:.4f} s, the tube is {most:.4g}.")
    return found
