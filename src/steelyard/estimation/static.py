"""Logs of held poses: what statics can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.errors import RecordingError
from steelyard.identifiable import structural_identifiability
from steelyard.layout import Layout
from steelyard.problem import Problem, evidence_of
from steelyard.recording import Recording
from steelyard.robot import Robot


def static_problem(
    robot: Robot, layout: Layout, recordings: Sequence[Recording], *, prior: ArrayLike | None = None
) -> Problem:
    r"""Pose the question for poses that were held: $\tau = g(q) + F_o$, all else is invisible.

    Base parameters are those that torques at rest could determine, so no estimator asks for inertia or
    friction. A joint that is held by friction shows its weight only to within it: approach each pose from
    both sides.

    Args:
        robot: the robot.
        layout: the parameters asked about.
        recordings: logs with q and tau, taken at rest; velocities and accelerations are not looked at.
        prior: what is believed of phi beforehand, shape (p,), SI; NaN where nothing is.

    Returns:
        The problem, for any estimator that takes one.

    Raises:
        InputError: a recording is of other joints, or there is none.
        RecordingError: the torque was not recorded.
    """
    rested = []
    for recording in recordings:
        if recording.tau is None:
            raise RecordingError(
                "has no tau.", place="recording", remedy="Held poses show torques or nothing."
            )
        still = np.zeros((recording.n, len(recording.joints)))
        rested.append(recording.with_channels(v=still, a=still))
    digests = tuple(recording.digest for recording in recordings)
    evidence = replace(evidence_of(robot, rested), digests=digests)
    return Problem(
        robot,
        layout,
        structural_identifiability(robot, layout, static=True),
        None,
        None if prior is None else np.asarray(prior, dtype=float),
        evidence,
        evidence.digests,
    )
