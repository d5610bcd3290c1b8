r"""The question a loaded run asks: which ten numbers, added to a known robot, explain its torques?

All of the robot is known but the link that carries the payload, whose ten numbers are those of the link and
of the payload together, and the drive terms that may differ from run to run: an offset of the torque meters,
friction that grew with the load. Estimators of robots answer this question as any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.errors import InputError
from steelyard.payload.held import Held
from steelyard.payload.model import ArmModel
from steelyard.problem import Problem, problem_of
from steelyard.recording import Recording

CHANGES = ("viscous", "coulomb", "offset")
"""Drive terms that may differ between runs with and without the payload."""


def load_problem(
    model: ArmModel,
    held: Held,
    recordings: Sequence[Recording],
    *,
    changes: Sequence[str] = CHANGES,
    accelerations: bool = True,
) -> Problem:
    """Pose the question.

    Args:
        model: the robot without payload; `massless` for residual torques.
        held: where the payload is held.
        recordings: loaded runs, with q, v, a and tau.
        changes: drive terms that may differ from the model's in these runs.
        accelerations: whether the recordings' accelerations are used, see `problem_of`.

    Returns:
        The problem; its free parameters are the carrying link's ten and the changes of every joint.

    Raises:
        InputError: a change is none of `CHANGES`, in which torque is linear and whose sign is free.
    """
    for term in changes:
        if term not in CHANGES:
            raise InputError(f"'{term}' is not a change.", place="changes", remedy=f"Valid: {CHANGES}.")
    wide = model.with_terms(changes)
    layout = wide.layout
    ten = layout.of_link(held.link)
    free = set(range(ten.start, ten.stop))
    free |= {layout.index(f"{joint}.{term}") for joint in layout.joints for term in changes}
    fixed = {
        name: value
        for k, (name, value) in enumerate(zip(layout.names, wide.parameters.tolist(), strict=True))
        if k not in free
    }
    return problem_of(model.robot, layout.fixing(fixed), recordings, accelerations=accelerations)
