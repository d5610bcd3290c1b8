"""Theorem 13 beside the bounds of `steelyard online`, on the same log.

    python papers/paper_000/theorem13_comparison.py --payload examples/load.json
    python papers/paper_000/theorem13_comparison.py --run learned    # a run that `online --out learned` left

The equations are Algorithm 1's: momentum over windows of 0.1 s, stacked over the whole run. Ours is the box
in which the run ended. It knows a prior and which bodies can exist; the theorem knows neither.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import steelyard as sy
from paper_000.theorem13 import Minimiser, Theorem13, theorem13_of
from steelyard.errors import InputError, SteelyardError
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.safe_learning import OnlineRun
from steelyard.safe_learning.planning.delay_bounds import tube_acceleration
from steelyard.uncertainty import PayloadBox, bounded_rows
from steelyard.uncertainty.payload_polytope import BoundedRows

ROBOT = "kinova_gen3_2f85"
"""The paper's arm."""


def equations_of(run: OnlineRun) -> BoundedRows:
    """All equations of a run's log, with what is known of the load in the end bounding their errors.

    Args:
        run: the run.

    Returns:
        The equations.

    Raises:
        InputError: nothing was absorbed, or something assumed was found not to be so.
    """
    record, setting = run.record, run.record.setting
    if record.alarm is not None or record.knowledge[-1].rows == 0:
        raise InputError("has no equations, or what they assume is not so.", place="run")
    arm = setting.arm
    most = [
        tube_acceleration(
            driven.move.certificate,
            arm.robot,
            plan=driven.move.motion,
            lag=setting.cycle,
            errors=setting.errors,
        )
        for driven in record.moves
    ]
    errors = replace(setting.errors, acceleration=np.max(most, axis=0))
    model = arm.robot, arm.layout, arm.parameters
    return bounded_rows(*model, run.recording, arm.held, errors, record.box, window=setting.window)


def compared(ours: PayloadBox, theorem: Theorem13) -> Iterator[str]:
    """The three intervals of each number in lines, and what the published form is worth.

    Args:
        ours: the box in which the run ended.
        theorem: what the theorem says of its equations.

    Yields:
        The lines.
    """
    forms = (ours, theorem.linear, theorem.log_cholesky)
    heads = ("here", "Theorem 13, linear", "Theorem 13, log-Cholesky")
    yield f"{'':4}" + "".join(f"  {head:>24}" for head in heads)
    for k, (name, unit) in enumerate(zip(PARAMETER_NAMES, PARAMETER_UNITS, strict=True)):
        ends = [f"{form.lower[k]:.4g} to {form.upper[k]:.4g}" for form in forms]
        yield f"{name:>4}" + "".join(f"  {told:>24}" for told in ends) + f"  {unit}"
    times = (theorem.linear.upper[0] - theorem.linear.lower[0]) / (ours.upper[0] - ours.lower[0])
    yield f"Theorem 13 of Zhang et al. (2025) in its linear form: a mass {times:.3g} times as wide as here."
    yield theorem.sentence
    if theorem.log_cholesky.minimiser is Minimiser.HERE:
        yield f"Why not everywhere: {theorem.log_cholesky.reason}"


def main(words: list[str]) -> int:
    """Print both; 2 where there is no run to compare."""
    parser = argparse.ArgumentParser(description="Hold Theorem 13 of Zhang et al. (2025) beside our bounds.")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--payload", type=Path, help="what a simulated robot is to hold (JSON)")
    source.add_argument("--run", type=Path, help="folder of a run of `steelyard online`")
    parser.add_argument("--robot", default=ROBOT, help="which robot holds the payload")
    parser.add_argument("--plans", type=int, default=4, help="most plans; the paper drives four")
    parser.add_argument("--budget", type=float, default=0.3, help="time for finding a plan and its proof, s")
    parser.add_argument("--seed", type=int, default=0, help="of searches and sensors")
    asked = parser.parse_args(words)
    try:
        if asked.run is not None:
            run = OnlineRun.read(asked.run)
        else:
            how = {"plans": asked.plans, "budget": asked.budget, "seed": asked.seed}
            run = sy.online(asked.robot, payload=asked.payload, **how).run
        rows = equations_of(run)
    except SteelyardError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{rows.count} equations of {run.recording.duration:.2f} s")
    for line in compared(run.record.box, theorem13_of(rows)):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
