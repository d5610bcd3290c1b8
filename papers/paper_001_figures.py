"""Draw what Lambert (2023) shows of a real Panda, from a simulated one: Figs. 4-1, 4-3, 4-4, 5-6 and 5.3.1.

A Panda with friction and industrial sensors moves along sinusoids of 0.3 rad, empty and with 0.9 kg at its
flange. Its arm is identified from ten sinusoids and a prior that is ten percent off, by the paper's ridge
(4.13), and its torques are predicted on a sinusoid that was held out. The paper's own curves are of hardware
and cannot be had again.

Run it with `python papers/paper_001_figures.py --out page.html`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from joint_curves import Curves, drawn, write_page
from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics
from steelyard.estimation.linear import fit_ridge
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.motion import Motion
from steelyard.payloads import study_motions
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import Butterworth, aligned, differentiated
from steelyard.signals.differentiation import smoothed
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot

LOAD = Body(0.9, np.array([0.0, 0.0, 0.1]), np.diag([2e-3, 2e-3, 3e-4]))
"""About the paper's dumbbell, held ten centimetres from the flange."""
DRIVE = ("viscous", "coulomb", "offset")
RUNS, SECONDS, THIN = 10, 6.0, 5
"""Sinusoids, how long each is driven, and which of the 1000 samples a second are kept: the paper has 200."""
FILTER = Butterworth(10.0, 2)
"""Section 4.4.3: second order, 10 Hz at 200 Hz, here without its lag."""
STRENGTH, OFF = 1e-3, 0.1
"""λ of the ridge, and the share by which the prior is off."""
DELAY = 0.15
"""By how much the loaded run begins later, s."""


def main(words: list[str]) -> int:
    """Draw the page and say what it shows."""
    parser = argparse.ArgumentParser(description="Draw the curves of Lambert (2023) from a simulated Panda.")
    parser.add_argument("--out", type=Path, default=Path("paper_001.html"), help="the page")
    out = parser.parse_args(words).out
    robot = zoo_robot("panda")
    kinds = study_motions(robot, ("sinusoid", "pick-and-place"), RUNS + 1, np.random.default_rng(0))
    logs = [recorded(robot, motion, seed) for seed, motion in enumerate(kinds["sinusoid"])]
    empty, late = logs[0], begun_later(recorded(robot.with_body("load", LOAD), kinds["sinusoid"][0], 100))
    together = aligned(late, empty)
    before, after = (apart(empty, each) for each in (late, together))
    print(f"Fig. 4-1: positions are {before:.4f} rad apart before alignment, {after:.4f} rad after it.")
    held_out, predicted, share = identified(robot, logs)
    print(f"Experiment 5.3.1: of the torques held out, {100.0 * share:.1f} % of their size is not explained.")
    names = robot.joint_names
    filtered = smoothed(empty, FILTER, ("tau",))
    kept = np.searchsorted(empty.time, filtered.time - 1e-6)  # a filter cuts both ends
    sections = {
        "Fig. 4-1": (
            f"<p>Joint positions, empty (wide) and with 0.9 kg (thin), begun {DELAY:g} s later: {before:.4f} "
            f"rad apart (rms) before alignment, {after:.4f} rad after it.</p>\n"
            + drawn("before", names, pair(empty, late), "rad")
            + drawn("after", names, pair(empty, together), "rad")
        ),
        "Fig. 4-3": "<p>A sinusoid, then picking and placing.</p>\n"
        + drawn("sinusoid", names, course(kinds["sinusoid"][0]), "rad")
        + drawn("pick and place", names, course(kinds["pick-and-place"][0]), "rad"),
        "Fig. 4-4": "<p>Measured torques (wide), and behind the filter of section 4.4.3 (thin).</p>\n"
        + drawn("torques", names, Curves(filtered.time, empty.tau[kept], filtered.tau), "N·m"),
        "Fig. 5-6": (
            "<p>Experiment 5.3.1: torques of a motion that was held out (wide), and what the identified arm "
            f"predicts (thin); {100.0 * share:.1f} % of their size is not explained.</p>\n"
            + drawn("torques", names, Curves(held_out.time, held_out.tau, predicted), "N·m")
        ),
    }
    write_page(out, "Lambert (2023): curves of a simulated Panda", sections)
    print(out)
    return 0


def recorded(robot: Robot, motion: Motion, seed: int) -> Recording:
    """A run with industrial sensors, at the paper's rate."""
    rng = np.random.default_rng(seed)
    return simulate_motion(robot, motion, sensor="industrial", rng=rng, duration=SECONDS).rows(
        slice(None, None, THIN)
    )


def begun_later(log: Recording) -> Recording:
    """The log as if its clock had been started too early: it stands still at first."""
    wait = int(np.searchsorted(log.time, log.time[0] + DELAY))
    kept = np.maximum(np.arange(log.n) - wait, 0)
    return log.with_channels(q=log.q[kept], v=log.v[kept], tau=log.tau[kept])


def apart(one: Recording, other: Recording) -> float:
    """Root mean square of the difference of positions, rad."""
    n = min(one.n, other.n)
    return float(np.sqrt(np.mean((one.q[:n] - other.q[:n]) ** 2)))


def pair(one: Recording, other: Recording) -> Curves:
    """The positions of two runs."""
    n = min(one.n, other.n)
    return Curves(one.time[:n], one.q[:n], other.q[:n])


def course(motion: Motion) -> Curves:
    """The positions of a motion."""
    time = np.linspace(0.0, min(motion.duration, SECONDS), 600)
    return Curves(time, motion.sample(time).q)


def identified(robot: Robot, logs: list[Recording]) -> tuple[Recording, Array, float]:
    """Ten runs explain the arm, the last is predicted: its log, the torques, and the share not explained."""
    layout = layout_of(robot, DRIVE)
    *runs, last = (differentiated(log, FILTER) for log in logs)
    prior = layout.complete_nominal() * (1.0 + OFF)
    phi = fit_ridge(problem_of(robot, layout, runs, prior=prior), STRENGTH).parameters
    tau = inverse_dynamics(robot, layout, phi, last.q, last.v, last.a)
    return last, tau, float(np.linalg.norm(last.tau - tau) / np.linalg.norm(last.tau))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
