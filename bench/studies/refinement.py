"""Closed-loop refinement from many starts: does it end in one place, and does it say when it does not?"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from cases.closed_loop import crane, crane_log, crane_loop, truth
from paper_004.closed_loop import paper_loop, search_box
from steelyard.consistency import check_parameters
from steelyard.estimation.closed_loop import (
    LoopRun,
    Refinement,
    feasible_links,
    fit_closed_loop_input,
    refine_intervals,
)
from tables import Bound, Study

STARTS, SPREAD = 10, 0.5
SAME = 1e-3

_DESCRIPTION = f"""AG02 of Oaki et al. (2026), 109 s, on the MuJoCo plant of the CRANE-X7 with the hand axis
and its own sensors (`crane-x7`); Coulomb friction is no part of the model. Its 39 parameters are refined
at 40 ms from {STARTS} random starts within {100 * SPREAD:g} % of the plant's.

- Exact: Gauss-Newton with forward sensitivities. DIDIM: approach by the inverse-dynamics regressor, polished.
- Box: each start's own box of 100 times its size, rotors positive, as in Oaki et al. (2026). A parameter
  that is small in the plant has a small box, in which a search may be held back; how many are is in
  the table.
- Possible: every step at links that can exist.
- A start whose mass matrix is not positive definite cannot be simulated. As given, that is the outcome, with
  its reason. With `approach` it is moved to the fit with the references' accelerations; the table says so.
- Distance: the largest difference of a parameter, in SI, from the median of all that converged."""


@dataclass(frozen=True)
class Ended:
    """One search: where it ended, and what it took."""

    way: str
    start: int
    outcome: str
    reason: str
    distance: float
    moved: bool
    at_bounds: int
    rms: float
    iterations: int
    simulations: int
    sensitivity_runs: int


def run() -> Study:
    """Search from every start in every way."""
    fits = {way: [_refined(way, start) for start in _starts()] for way in _WAYS}
    ended = [e for way, made in fits.items() for e in _ended(way, made)]
    given = [fit_closed_loop_input(crane(), [_log()], crane_loop(), start) for start in _starts()]
    diverged = [k for k, fit in enumerate(given) if not fit.converged]
    home = {way: sum(e.distance <= SAME for e in ended if e.way == way) for way in _WAYS}
    flagged = all(e.distance <= SAME or e.outcome != "converged" or e.at_bounds for e in ended)
    free = np.median([fit.values for fit in fits["exact"] if fit.converged], axis=0)
    didim = max(np.abs(fit.values - free).max() for fit in fits["didim"] if fit.converged)
    certified = all(
        fit.parameters is not None and bool(check_parameters(fit.model.layout, fit.parameters))
        for fit in fits["possible"]
    )
    papers = fit_closed_loop_input(crane(), [_log()], paper_loop(crane_loop()), free)
    apart = _sharing()
    note = f"starts {diverged} as given cannot be simulated, and say so" if diverged else ""
    return Study(
        "Closed-loop refinement from many starts",
        f"{_DESCRIPTION}\n\n{_table(ended)}",
        (
            Bound(
                "exact: starts that end within 1e-3 of one place", home["exact"], 9, atmost=False, note=note
            ),
            Bound("DIDIM, polished: starts that end there", home["didim"], 9, atmost=False),
            Bound("possible links: starts that end in one place", home["possible"], 9, atmost=False),
            Bound("box of 100 times the start: starts that end in one place", home["box"], 0, atmost=False),
            Bound("exceptions that are not flagged", float(not flagged), 0.0),
            Bound("DIDIM, polished, from the exact optimum, SI", didim, 2e-4),
            Bound("possible links: results that cannot exist", float(not certified), 0.0),
            Bound(
                "paper's scheme of 0.25 ms from Heun at 1 ms, SI", np.abs(papers.values - free).max(), 1e-3
            ),
            Bound("shared intervals from separate ones, in deviations", apart, 0.5),
        ),
        {way: [asdict(e) for e in ended if e.way == way] for way in _WAYS},
    )


_WAYS = ("exact", "didim", "box", "possible")


def _log() -> LoopRun:
    return crane_log().coarser(4)


def _starts() -> list[np.ndarray]:
    rng, beta = np.random.default_rng(0), truth()
    return [beta * (1.0 + SPREAD * rng.uniform(-1.0, 1.0, beta.size)) for _ in range(STARTS)]


def _refined(way: str, start: np.ndarray) -> Refinement:
    constraint = None
    if way == "box":
        constraint = search_box(crane(), start)
    elif way == "possible":
        constraint = feasible_links(crane())
    return fit_closed_loop_input(
        crane(),
        [_log()],
        crane_loop(),
        start,
        jacobian="didim" if way == "didim" else "exact",
        constraint=constraint,
        approach=True,
    )


def _ended(way: str, fits: list[Refinement]) -> list[Ended]:
    converged = [fit.values for fit in fits if fit.converged]
    place = np.median(converged, axis=0) if converged else np.zeros(crane().size)
    return [
        Ended(
            way,
            k,
            fit.outcome.value,
            fit.reason,
            float(np.abs(fit.values - place).max()),
            bool(fit.detail["approach"]),
            len(fit.detail["at_bounds"]),
            fit.rms,
            fit.iterations,
            fit.simulations,
            fit.sensitivity_runs,
        )
        for k, fit in enumerate(fits)
    ]


def _sharing() -> float:
    """How far intervals that share starts and Jacobians end from those that do not, in deviations."""
    starts = [truth()] * 4
    shared, apart = (
        refine_intervals(crane(), [crane_log()], crane_loop(), starts, share=share) for share in (True, False)
    )
    pairs = zip(shared, apart, strict=True)
    return max(float((np.abs(a.values - b.values) / b.deviations).max()) for a, b in pairs)


def _table(ended: list[Ended]) -> str:
    head = (
        "way",
        "start",
        "moved",
        "at bounds",
        "outcome",
        "distance",
        "rms, N·m",
        "steps",
        "runs",
        "with derivatives",
    )
    rows = [head, ("---",) * len(head)]
    for e in ended:
        moved = "yes" if e.moved else ""
        counts = (str(e.iterations), str(e.simulations), str(e.sensitivity_runs))
        ended_at = (e.outcome, f"{e.distance:.1e}", f"{e.rms:.7f}")
        rows.append((e.way, str(e.start), moved, str(e.at_bounds or ""), *ended_at, *counts))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
