"""Closed-loop refinement: the parameters with which a simulated loop does what the real one did.

`fit` is the estimator, `start` where a minimal model's begins. `run` holds what was commanded and measured,
`response` simulates it with derivatives, `search` is the Gauss-Newton method, `constraints` say where its
steps may go, `delay` how late torques are.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.estimation.closed_loop.constraints import FeasibleLinks, feasible_links
    from steelyard.estimation.closed_loop.delay import (
        CommandMatch,
        LoopDelay,
        command_match,
        common_dead_time,
    )
    from steelyard.estimation.closed_loop.fit import (
        SIMULATED_TERMS,
        fit_closed_loop,
        fit_closed_loop_input,
        refine_intervals,
        within_noise,
    )
    from steelyard.estimation.closed_loop.run import LoopRun, block_means, loop_run
    from steelyard.estimation.closed_loop.search import Refinement, RefinementOutcome
    from steelyard.estimation.closed_loop.start import fit_minimal, possible_start

__all__ = [
    "SIMULATED_TERMS",
    "CommandMatch",
    "FeasibleLinks",
    "LoopDelay",
    "LoopRun",
    "Refinement",
    "RefinementOutcome",
    "block_means",
    "command_match",
    "common_dead_time",
    "feasible_links",
    "fit_closed_loop",
    "fit_closed_loop_input",
    "fit_minimal",
    "loop_run",
    "possible_start",
    "refine_intervals",
    "within_noise",
]

open_door(__name__)
