"""What `make bench` promises: the rows, by what is done and the peer beside it, that the page must have.

The times and ratios promised stand with the cases. A row that is missing here would not be missed.
"""

from __future__ import annotations

PROMISED: tuple[tuple[str, str], ...] = (
    ("steelyard --help", "Python loads scipy.stats and mujoco"),
    ("identifiability panda, nothing compiled yet", "Python loads scipy.stats and mujoco"),
    ("identify, 50 s of a UR10e, nothing compiled yet", "Python loads scipy.stats and mujoco"),
    ("identify, 50 s of a UR10e, compiled", "Python loads scipy.stats and mujoco"),
    ("demo, nothing compiled yet", "Python loads scipy.stats and mujoco"),
    ("demo, compiled", "Python loads scipy.stats and mujoco"),
    ("torque regressor, Panda, 20000 samples", "Pinocchio in a Python loop, result stored"),
    ("torque regressor, Panda, 20000 samples", "Drake, automatic differentiation by parameters"),
    (
        "log det of the information and its exact gradient, 200 samples, 57 columns",
        "Pinocchio, the 200 regressors alone",
    ),
    ("R factor, Panda, 91 columns, 1e+06 samples", ""),
    ("R factor, Panda, 91 columns, 1e+07 samples", ""),
    ("import and first torque regressor, nothing cached", ""),
    ("import and first torque regressor, cached", ""),
    ("closed-loop step, 7 joints, PD, one evaluation of the dynamics", "Pinocchio aba, one call from Python"),
    ("110 s of closed loop at 1 ms, Heun", "Pinocchio aba, two calls from Python per step and nothing else"),
    ("import and first rollout, nothing cached", ""),
    ("import and first rollout, cached", ""),
    ("identifiability with classes, 7-joint arm", "rank of Pinocchio's regressors at random states"),
    ("identifiability with classes, 7-joint arm", "our own `numerical_base`"),
    (
        "identifiability with classes, 30-joint humanoid, held",
        "rank of Pinocchio's regressors at random states",
    ),
    ("identifiability with classes, 30-joint humanoid, held", "our own `numerical_base`"),
    (
        "identifiability with classes, 30-joint humanoid, floating",
        "rank of Pinocchio's regressors at random states",
    ),
    ("identifiability with classes, 30-joint humanoid, floating", "our own `numerical_base`"),
    ("exact identifiability with classes, 7-joint arm", ""),
    ("exact identifiability with classes, 30-joint humanoid, held", ""),
    ("identifiability, planar chain of 1000", "ten chains a tenth as long"),
    ("identifiability, planar chain of 10000", "ten chains a tenth as long"),
    ("identifiability, spatial chain of 1000", "ten chains a tenth as long"),
    ("identifiability, spatial chain of 10000", "ten chains a tenth as long"),
    ("LMI fit of a Panda, compressed", "cvxpy on the same triangle, Clarabel"),
    ("believable fit with cross-validation", "one LMI fit by cvxpy on the same triangle, Clarabel"),
    ("compression and LMI fit, 10000 samples of a Panda", "cvxpy on the stacked regressor, Clarabel"),
    ("payload's hull by linear programs, safe dual bounds", "scipy linprog, HiGHS"),
    ("payload's hull of bodies that can exist, safe dual bounds", "cvxpy, Clarabel"),
    (
        "a payload on a Panda, one second at 1 kHz, 100 samples at a time",
        "Pinocchio's regressor for each sample, recursive least squares in NumPy",
    ),
    (
        "a payload on a Panda, one second at 1 kHz, 10 samples at a time",
        "Pinocchio's regressor for each sample, recursive least squares in NumPy",
    ),
    (
        "a payload on a Panda, one second at 1 kHz, sample by sample",
        "Pinocchio's regressor for each sample, recursive least squares in NumPy",
    ),
    (
        "base parameters and possible links of a Panda, 28000 rows",
        "FIGAROH 1.0.2, `build_problem` and `solve_direct_effort_fit`, regressor given",
    ),
    (
        "base parameters and possible links of a Panda, 140000 rows",
        "FIGAROH 1.0.2, `build_problem` and `solve_direct_effort_fit`, regressor given",
    ),
    ("1e7 samples of a Panda identified: base parameters with intervals, possible links", ""),
    (
        "AG02 of CRANE-X7, 109 s, refined, 39 parameters, 40 ms, exact",
        "Gauss-Newton with central differences, one thread",
    ),
    (
        "AG02 of CRANE-X7, 109 s, refined, 39 parameters, 40 ms, didim",
        "Gauss-Newton with central differences, one thread",
    ),
    ("AG02 of CRANE-X7, 109 s, refined, every step at possible links", ""),
    (
        "a simulated second of crane_x7, low-cost: controller, drives, friction, sensors, log",
        "MuJoCo stepped from Python, 0.5 ms, its Runge-Kutta rule, no controller, friction or log",
    ),
    (
        "a simulated second of panda, industrial: controller, drives, friction, sensors, log",
        "MuJoCo stepped from Python, 0.5 ms, its Runge-Kutta rule, no controller, friction or log",
    ),
    (
        "a simulated second of panda, ideal: controller, drives, friction, sensors, log",
        "MuJoCo stepped from Python, 0.5 ms, its Runge-Kutta rule, no controller, friction or log",
    ),
    (
        "proof for every pose, checked in exact arithmetic, CRANE-X7, 39 parameters",
        "100000 poses by Pinocchio and NumPy, which prove nothing",
    ),
    (
        "proof for every pose, checked in exact arithmetic, Panda, no assumption on its links",
        "100000 poses by Pinocchio and NumPy, which prove nothing",
    ),
    ("local minimisation of the smallest eigenvalue, 16 starts", ""),
    ("least change with proof, margin 0.001 kg·m²", "our own projection at chosen poses, without proof"),
    ("certificate of a 3 s plan, drawn, Gen3 among 12 boxes: median", ""),
    ("certificate of a 3 s plan, drawn, Gen3 among 12 boxes: worst", ""),
    ("refusal of a 3 s plan, drawn, Gen3 among 12 boxes: median", ""),
    ("refusal of a 3 s plan, drawn, Gen3 among 12 boxes: worst", ""),
    ("certificate of a 3 s plan, at a limit, Gen3 among 12 boxes: worst", ""),
    ("refusal of a 3 s plan, at a limit, Gen3 among 12 boxes: worst", ""),
)
