"""What a physically possible parameter vector is, and how to get one.

`check_parameters` judges a full vector link by link; `possible_set` states what is possible, with a distance
that makes links comparable; `fit_possible` fits equations within it, and `full_set` finds possible links for
base parameters. `judge_mass_matrix` asks whether the mass matrix is positive definite at every pose, and says
how it knows. `link_shapes` says what room each link takes, and `doubts_about` what is odd about a link that
can exist; `sane_prior` makes bodies of shapes for links that nobody weighed.
"""

from steelyard.consistency.all_pose_proof import AllPoseProof
from steelyard.consistency.all_pose_rescue import LADDER, rescue, rescue_by_ladder
from steelyard.consistency.all_pose_verdict import judge_all_poses
from steelyard.consistency.divergence import Divergence, DrawnFit, drawn_fits
from steelyard.consistency.full_set import FullSet, full_set
from steelyard.consistency.geometric_prior import GeometricPrior, sane_prior
from steelyard.consistency.link_doubts import Doubt, LinkPlace, doubts_about, link_places
from steelyard.consistency.link_shapes import LinkShape, link_shapes, uniform_body
from steelyard.consistency.mass_matrix import Definiteness, judge_mass_matrix
from steelyard.consistency.pose_domain import PoseDomain
from steelyard.consistency.pose_search import LowPose, low_poses, lowest_pose, sample_poses
from steelyard.consistency.possible import BALL, PossibleSet, possible_set
from steelyard.consistency.possible_fit import PossibleFit, fit_possible
from steelyard.consistency.prior import Prior, prior_of
from steelyard.consistency.smallest_inertia import InertiaBounds, inertia_bounds
from steelyard.consistency.verdict import check_parameters

__all__ = [
    "BALL",
    "LADDER",
    "AllPoseProof",
    "Definiteness",
    "Divergence",
    "Doubt",
    "DrawnFit",
    "FullSet",
    "GeometricPrior",
    "InertiaBounds",
    "LinkPlace",
    "LinkShape",
    "LowPose",
    "PoseDomain",
    "PossibleFit",
    "PossibleSet",
    "Prior",
    "check_parameters",
    "doubts_about",
    "drawn_fits",
    "fit_possible",
    "full_set",
    "inertia_bounds",
    "judge_all_poses",
    "judge_mass_matrix",
    "link_places",
    "link_shapes",
    "low_poses",
    "lowest_pose",
    "possible_set",
    "prior_of",
    "rescue",
    "rescue_by_ladder",
    "sample_poses",
    "sane_prior",
    "uniform_body",
]
