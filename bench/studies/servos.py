"""Servos identified from commands and positions alone: an SO-101 in MuJoCo, over many motions."""

from __future__ import annotations

import sys
import time as clock
from dataclasses import replace
from pathlib import Path

import numpy as np

from steelyard.drive import Servo
from steelyard.estimation.servo import ServoLog, fit_servos
from steelyard.identifiable import servo_structure
from steelyard.rollout import ServoArm, ServoCommand, servo_rollout
from steelyard.zoo import zoo_robot
from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.servo_plant import mujoco_log

SEEDS = range(20)
SECONDS, RATE, STEP = 30.0, 50.0, 1e-4
LAST_BIT = 2 * np.pi / 4096
# The servo of the arm by its data sheet and Duclusaud et al. (2025): 7.4 V STS3215 with a gain of 15 V/rad.
MOTOR = Servo.of_motor(1.2116, 2.6762, 7.4, 15.0, armature=0.0284, viscous=0.0591, coulomb=0.0524, delay=0.03)
TERMS = ("stiffness", "armature", "viscous", "coulomb", "limit", "delay")
FAINT = ("wrist_roll", "gripper")


def run() -> Study:
    """Fit each log without a guess; count what the intervals hold."""
    robot = zoo_robot("so101")
    n, arm = robot.nv, ServoArm(robot)
    servos = [replace(MOTOR, stiffness=MOTOR.stiffness * (1.0 + 0.1 * k)) for k in range(n)]
    truth = [replace(s, viscous=s.viscous + s.back_emf, back_emf=0.0) for s in servos]
    time = np.arange(0.0, SECONDS, 1.0 / RATE)
    inside, wrong, seconds, apart, still = [], [], [], 0.0, np.zeros(n)
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        parts = ((0.3, 0.13), (0.2, 0.41), (0.1, 0.9), (0.05, 2.1))
        u = sum(a * np.sin(2 * np.pi * f * time[:, None] + rng.uniform(0, 6, n)) for a, f in parts)
        u += 0.4 * np.sign(np.sin(2 * np.pi * time[:, None] * rng.uniform(0.1, 0.3, n)))
        q, _ = mujoco_log(robot, servos, time, u, u[0], step=STEP)
        log = ServoLog(time, np.round(q / LAST_BIT) * LAST_BIT, ServoCommand(time, u))
        began = clock.perf_counter()
        found = fit_servos(arm, [log], terms=TERMS)
        seconds.append(clock.perf_counter() - began)
        true = [_true(name, truth, robot.joint_names) for name in found.names]
        # A plant that integrates in steps is itself late by half of one.
        true[-1] -= 0.5 * STEP
        apart = max(
            apart, float(np.abs(servo_rollout(arm, servos, log.command, time, u[0], still).q - q).max())
        )
        inside.append((found.intervals[:, 0] <= true) & (true <= found.intervals[:, 1]))
        wrong.append(np.abs(found.values / true - 1.0))
    names = np.array(found.names)
    strong = np.array([not name.startswith(FAINT) for name in names])
    worst = float(np.median(wrong, axis=0)[strong].max())
    said = servo_structure(robot, TERMS, links_known=False, rng=np.random.default_rng(0))
    rows = "\n".join(
        f"| {name} | {np.median(e):.2%} | {c:.0%} |"
        for name, e, c in zip(names, np.transpose(wrong), np.mean(inside, axis=0), strict=True)
    )
    return Study(
        "Servos without torque",
        f"{len(SEEDS)} motions of an SO-101 in MuJoCo (steps of {STEP * 1e3:g} ms), {SECONDS:g} s at "
        f"{RATE:g} Hz, positions of 12 bits: sines and steps that reach the motors' limit. Each is fitted "
        "without a guess.",
        (
            Bound("largest median error where the links show the scale", worst, 0.03),
            Bound("largest difference of simulated positions from MuJoCo's, rad", apart, LAST_BIT),
            Bound("share of true numbers inside 95 % intervals", float(np.mean(inside)), 0.85, atmost=False),
            Bound("joints that share one scale without links", float(len(said.scales[0])), n, atmost=False),
            Bound("median seconds of a fit", float(np.median(seconds[1:])), 60.0),
        ),
        table="Without links: " + " ".join(said.sentences()) + "\n\n"
        "| number | median error | coverage |\n| --- | --- | --- |\n" + rows,
    )


def _true(name: str, truth: list[Servo], joints: tuple[str, ...]) -> float:
    joint, _, term = name.rpartition(".")
    return float(getattr(truth[joints.index(joint) if joint else 0], term))
