"""Closed-loop refinement of the CRANE-X7 beside the same Gauss-Newton method with finite differences."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from functools import cache

import numpy as np

from steelyard.control import FeedforwardPD
from steelyard.estimation.closed_loop_fit import fit_closed_loop_input
from steelyard.estimation.closed_loop_intervals import refine_intervals
from steelyard.estimation.closed_loop_run import LoopRun, block_means
from steelyard.estimation.refinement import Refinement
from steelyard.estimation.refinement_possible import possible_links
from steelyard.identifiability import MinimalModel, minimal_model
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.link_frames import modified_dh_frames
from steelyard.motion import quintic
from steelyard.pose import Pose
from steelyard.reduction import SYMMETRIC, Reduction, known_link
from steelyard.rollout import ClosedLoop, rollout
from steelyard.zoo import zoo_robot
from timing import Row, best

CYCLE, DELAY = 1e-3, 1e-3
BLOCK = 10
SECONDS, MOVE, REACH = 110.0, 1.5, 0.35
CURRENT_STEP = 2.69e-3 * 2.3179
INERTIA = np.array([0.05, 0.1, 0.02, 0.05, 0.008, 0.008, 0.006, 0.005])
KP, KV = 400.0, 32.0
COULOMB = 0.3

ROBOT = zoo_robot("crane_x7_hand")
LAYOUT = layout_of(ROBOT, ["viscous", "rotor"])
PLANT = layout_of(ROBOT, ["viscous", "coulomb", "rotor"])


def rows() -> list[Row]:
    """Every comparison of this room."""
    return [*_refinements(), *_intervals()]


@cache
def crane() -> MinimalModel:
    """The 39 parameters of paper 004."""
    frames, hand = modified_dh_frames(ROBOT), ROBOT.link_names[-1]
    rules = dict.fromkeys(ROBOT.link_names[:-1], SYMMETRIC) | {hand: known_link(LAYOUT, frames, hand)}
    return minimal_model(ROBOT, LAYOUT, Reduction(LAYOUT, frames, rules))


@cache
def crane_loop(steps: int = 1) -> ClosedLoop:
    """Feedforward and PD with a cycle and a delay of 1 ms; with the hold that is 1.5 ms of dead time."""
    viscous = [LAYOUT.nominal[LAYOUT.index(f"{joint}.viscous")] for joint in LAYOUT.joints]
    law = FeedforwardPD(ROBOT, INERTIA, np.array(viscous), np.array(KP), np.array(KV), cycle=CYCLE)
    return ClosedLoop(law, CYCLE, DELAY, steps_per_cycle=steps)


def crane_plant(seed: int = 0) -> np.ndarray:
    """What the model cannot be: bodies turned and shifted, and Coulomb friction."""
    rng, phi = np.random.default_rng(seed), np.array(PLANT.complete_nominal())
    for link in PLANT.links[:-1]:
        at = PLANT.of_link(link)
        move = Pose.from_rpy(0.1 * rng.normal(size=3), 0.004 * rng.normal(size=3))
        phi[at] = Body.from_parameters(phi[at]).moved(move).parameters * rng.uniform(0.9, 1.1)
    for joint in PLANT.joints:
        for term in ("viscous", "rotor"):
            phi[PLANT.index(f"{joint}.{term}")] *= rng.uniform(0.9, 1.1)
        phi[PLANT.index(f"{joint}.coulomb")] *= COULOMB
    return phi


def nearest_parameters(phi: np.ndarray) -> np.ndarray:
    """Base parameters of a plant, less what the model cannot hold."""
    return crane().of_standard([phi[PLANT.index(name)] for name in LAYOUT.names])


@cache
def crane_log(seconds: float = SECONDS, seed: int = 0) -> LoopRun:
    """Quintic moves between random poses on the plant, at a quarter of the cycle, in blocks of 10 ms."""
    rng = np.random.default_rng(seed)
    lower, upper = ROBOT.limit_array("lower"), ROBOT.limit_array("upper")
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    poses = middle + REACH * half * rng.uniform(-1.0, 1.0, (round(seconds / MOVE) + 1, ROBOT.nv))
    poses[0] = middle
    clock = CYCLE * np.arange(round(MOVE / CYCLE))
    moves = [quintic(ROBOT.joint_names, MOVE, a, b).sample(clock) for a, b in itertools.pairwise(poses)]
    refs = [np.concatenate([getattr(move, name) for move in moves]) for name in ("q", "v", "a")]
    made = rollout(ROBOT, PLANT, crane_plant(seed), *refs, crane_loop(4))
    tau = np.round(made.tau / CURRENT_STEP) * CURRENT_STEP
    return LoopRun(*refs, BLOCK, *(block_means(x, BLOCK) for x in (tau, made.q)))


def description() -> np.ndarray:
    """Where every search starts: the parameters of the description, some per cent from the plant's."""
    return crane().of_standard(LAYOUT.complete_nominal())


def _refinements() -> Iterator[Row]:
    log, possible = crane_log().coarser(4), possible_links(crane())
    fits: dict[str, Refinement] = {}

    def fit(name: str, **options: object) -> None:
        fits[name] = fit_closed_loop_input(crane(), [log], crane_loop(), description(), **options)

    started = time.perf_counter()
    fit("differences", jacobian="differences")
    theirs = time.perf_counter() - started
    exact, didim, lmi = best(
        lambda: fit("exact"),
        lambda: fit("didim", jacobian="didim"),
        lambda: fit("possible", jacobian="didim", constraint=possible),
        repeats=3,
    )
    peer = "Gauss-Newton with central differences, one thread"
    # Two threads would halve the peer's wall time: twice as fast as these is four times as fast as one.
    for name, seconds, most in (("exact", exact, None), ("didim", didim, 2.0)):
        made = fits[name]
        off = np.abs(made.values - fits["differences"].values).max()
        yield Row(
            f"110 s of CRANE-X7 refined, 39 parameters, 40 ms, {name}",
            seconds,
            peer,
            theirs,
            least_ratio=4.0,
            most_seconds=most,
            note=f"{made.outcome.value}; within {off:.1e} of the peer in every parameter (promised 2e-4); "
            f"{made.sensitivity_runs} runs with derivatives, {made.simulations} without",
        )
    above = fits["possible"].rms / fits["exact"].rms - 1.0
    yield Row(
        "110 s of CRANE-X7 refined, every step at possible links",
        lmi,
        most_seconds=3.5,
        note=f"{fits['possible'].outcome.value}; rms {above:.2%} above the unconstrained one",
    )


def _intervals() -> Iterator[Row]:
    log, possible, starts = crane_log(), possible_links(crane()), [description()] * 4

    def four(share: bool) -> tuple[Refinement, ...]:
        return refine_intervals(
            crane(), [log], crane_loop(), starts, share=share, jacobian="didim", constraint=possible
        )

    ours, theirs = best(lambda: four(True), lambda: four(False), repeats=1)
    yield Row(
        "110 s of CRANE-X7 refined at 10, 20, 40 and 80 ms, shared",
        ours,
        "the same, each interval from its own start",
        theirs,
    )
