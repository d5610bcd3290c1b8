"""Excitation: the constrained design problem over a motion, and the search that solves it.

`problem` states the question, `objective` what a motion is worth, `unknowns` the family it is chosen from.
`design` searches within a budget, by many runs of `local_search`, each an `interior_point` method, and raises
`NoSolutionError` where no motion keeps every limit. `added_motion` adds the least to a planned motion;
`payload_observability` says what a motion shows of a held body.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.excitation.added_motion import AddedMotion, added_motion
    from steelyard.excitation.columns import payload_columns, robot_columns, unmodelled_friction
    from steelyard.excitation.design import Design, Progress, SearchBudget, design, judged_again
    from steelyard.excitation.local_search import SmallestMargins
    from steelyard.excitation.payload_observability import TorqueMeter
    from steelyard.excitation.problem import DesignProblem
    from steelyard.excitation.unknowns import fourier_family, home, spline_family

__all__ = [
    "AddedMotion",
    "Design",
    "DesignProblem",
    "Progress",
    "SearchBudget",
    "SmallestMargins",
    "TorqueMeter",
    "added_motion",
    "design",
    "fourier_family",
    "home",
    "judged_again",
    "payload_columns",
    "robot_columns",
    "spline_family",
    "unmodelled_friction",
]

open_door(__name__)
