"""Draw Fig. 5 of Tian et al. (2024) from a simulated arm: actual and estimated torques under a guiding hand.

The Med7 is identified from one exciting motion with industrial sensors. Under an admittance law with that
model a hand then leads its tool sideways. Drawn are the torques that its meters show, and what the model
explains of them; the rest is what the law takes for the hand. The paper's own curves are of hardware.

Run it with `python papers/paper_003_figures.py --out page.html`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from joint_curves import Curves, drawn, write_page
from paper_003.hand_guiding import Hand, guiding_check
from steelyard.arrays import Array
from steelyard.control import Admittance
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.robot import Robot
from steelyard.simulation import simulate_motion
from steelyard.workflows.identify import identify
from steelyard.zoo import zoo_robot

DRIVE = ("viscous", "coulomb", "offset", "rotor")
START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, np.pi - 1.9, 0.0])
"""The tool points down."""
HAND = Hand(np.array([0.0, 0.08, 0.0]), seconds=2.0)
DEAD_ZONE = np.array([2.0] * 3 + [0.1] * 3)
"""Section V-C: N and N·m."""


def main(words: list[str]) -> int:
    """Draw the page and say what it shows."""
    parser = argparse.ArgumentParser(description="Draw Fig. 5 of Tian et al. (2024) from a simulated Med7.")
    parser.add_argument("--out", type=Path, default=Path("paper_003.html"), help="the page")
    out = parser.parse_args(words).out
    robot = zoo_robot("lbr_med7")
    layout = layout_of(robot, DRIVE)
    run = guiding_check(robot, law(robot, layout, identified(robot)), START, HAND, seconds=1.0)
    led = run.led
    estimated = led.tau - led.external
    largest = np.abs(led.external).max(axis=0)
    print(f"Fig. 5: torques and estimates differ by at most {', '.join(f'{x:.2f}' for x in largest)} N·m.")
    print(f"Alone the tool drifts by {1e3 * run.drift:.2f} mm in 1 s; led, it takes {run.mean_force:.1f} N.")
    told = (
        "<p>Torques that the meters show while a hand leads the tool by 8 cm (wide), and what the identified "
        "model explains of them behind the law’s observer (thin). The difference is what the law takes for "
        f"the hand: at most {largest.max():.2f} N·m at a joint.</p>\n"
    )
    figure = drawn("torques", robot.joint_names, Curves(led.time, led.tau, estimated), "N·m")
    write_page(out, "Tian et al. (2024): a simulated Med7 under a guiding hand", {"Fig. 5": told + figure})
    print(out)
    return 0


def identified(robot: Robot) -> Array:
    """The parameters from a log of ten seconds, the description being the prior."""
    rng = np.random.default_rng(0)
    log = simulate_motion(robot, random_fourier(robot, rng), sensor="industrial", rng=rng)
    phi = identify(robot, log, holdout=log, drive=DRIVE).estimate.parameters
    assert phi is not None  # with a prior there are links
    return phi


def law(robot: Robot, layout: Layout, parameters: Array) -> Admittance:
    """A virtual mass of 2 kg behind the paper's dead zone."""
    return Admittance(
        robot,
        layout,
        parameters,
        kp=np.array(2500.0),
        kd=np.array(100.0),
        observer=np.array(10.0),
        mass=np.array([2.0] * 3 + [0.05] * 3),
        damping=np.array([50.0] * 3 + [2.0] * 3),
        threshold=DEAD_ZONE,
        tool=robot.tool_frame,
        inverse_damping=1e-4,
        cycle=1e-3,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
