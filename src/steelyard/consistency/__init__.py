"""What a physically possible parameter vector is, and how to get one.

`check_parameters` judges a full vector link by link; `feasible_set` states what is possible, with a distance
that makes links comparable; `fit_feasible` fits equations within it, and `full_set` finds possible links for
base parameters. `judge_all_poses` asks whether the mass matrix is positive definite at every pose, and says
how it knows. `link_shapes` says what room each link takes, and `doubts_about` what is odd about a link that
can exist; `sane_prior` makes bodies of shapes for links that nobody weighed.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.consistency.all_poses.projection import (
        project_to_all_poses,
        project_to_all_poses_by_ladder,
    )
    from steelyard.consistency.all_poses.proof import AllPoseProof
    from steelyard.consistency.all_poses.verdict import judge_all_poses
    from steelyard.consistency.divergence import Divergence, DrawnFit, drawn_fits
    from steelyard.consistency.feasible_fit import FeasibleFit, FullSet, fit_feasible, full_set
    from steelyard.consistency.feasible_set import FeasibleSet, feasible_set
    from steelyard.consistency.geometric_prior import GeometricPrior, sane_prior
    from steelyard.consistency.link_doubts import Doubt, LinkPlace, doubts_about, link_places
    from steelyard.consistency.link_shapes import link_shapes
    from steelyard.consistency.mass_matrix import InertiaBounds, inertia_bounds
    from steelyard.consistency.pose_search import PoseDomain, lowest_pose, sample_poses
    from steelyard.consistency.prior import Prior, prior_of
    from steelyard.consistency.verdict import check_parameters

__all__ = [
    "AllPoseProof",
    "Divergence",
    "Doubt",
    "DrawnFit",
    "FeasibleFit",
    "FeasibleSet",
    "FullSet",
    "GeometricPrior",
    "InertiaBounds",
    "LinkPlace",
    "PoseDomain",
    "Prior",
    "check_parameters",
    "doubts_about",
    "drawn_fits",
    "feasible_set",
    "fit_feasible",
    "full_set",
    "inertia_bounds",
    "judge_all_poses",
    "link_places",
    "link_shapes",
    "lowest_pose",
    "prior_of",
    "project_to_all_poses",
    "project_to_all_poses_by_ladder",
    "sample_poses",
    "sane_prior",
]

open_door(__name__)
