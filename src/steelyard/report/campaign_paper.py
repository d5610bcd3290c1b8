"""Figures of paper 004 that stand beside those of a campaign: an arm of the same kind, not the same runs."""

from __future__ import annotations

MEDIAN_SECONDS = 1018.0
"""Median time of a refinement in the record of Appendix A, s."""
TOTAL_SECONDS = 631_391.0
"""Time of all 160 refinements in that record, s."""
PASSED = {0.01: 6, 0.02: 14, 0.04: 22, 0.08: 25}
"""Table III: least-squares answers that passed, of 40, by sampling interval in s."""
RUNS_AT_INTERVAL = 40
COMPARED: dict[tuple[str, float], tuple[float, str, float | None]] = {
    ("AP01", 0.01): (47.1, "O-S-C", 0.005),
    ("AP01", 0.02): (46.1, "O-C", None),
    ("AP01", 0.04): (46.2, "O-C", None),
    ("AP01", 0.08): (47.2, "O-C", None),
    ("AG02", 0.01): (33.4, "O-S-C", 0.001),
    ("AG02", 0.02): (33.2, "O-S-C", 0.001),
    ("AG02", 0.04): (33.3, "O-S-C", 0.001),
    ("AG02", 0.08): (34.1, "O-C", None),
}
"""Table IV: condition number, route and margin (kg·m²) by motion and sampling interval in s."""
HELD_OUT = {
    "V01": ((0.16761, 0.16729), (0.07726, 0.07709)),
    "V02": ((0.17057, 0.17032), (0.08814, 0.08805)),
    "V03": ((0.16642, 0.16630), (0.06721, 0.06719)),
}
"""Table VII: RMSE (N·m) and MNE, each of the refined and of the accepted model, by motion."""
NOT_LIKE_FOR_LIKE = (
    "The two are not like for like. The paper’s times are of refinement alone: of logs of a real arm, in "
    "MATLAB on a computer it does not name, in steps of 0.25\u202fms and within a box of a hundred times the "
    "start on either side. Here a run is all that was done for it."
)
SIMULATED = "The arm is simulated here, so that what nobody modelled is missing from its logs."
ORDER = "Read the ratio as an order of magnitude."
