"""Enclosures over stretches, tube and box hold what is drawn from them, and are not much wider.

Each of 10 000 stretches is sampled at random states, at both ends of every joint's own range, and in the
directions in which a linear fit of the samples says that torque and disturbance grow most, all on the edge of
the tube. One state of each is computed in forty digits: on every other one at an instant and in a tube of
1e-9 rad/s, where rounding is all that the enclosure may have room for. About six minutes.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import mpmath
import numpy as np

from steelyard.arrays import Array
from steelyard.consistency import inertia_bounds
from steelyard.control import Tube
from steelyard.enclosure import Tracking, motion_forms
from steelyard.layout import layout_of
from steelyard.limits import Scene, bounds_of, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.limits.stretch_margins import proven_gaps
from steelyard.motion import SplineMotion
from steelyard.motion.spline import bezier
from steelyard.pose import Pose
from steelyard.robot import Box, Robot
from steelyard.safe_learning.planning.tube import TubeDynamics, tube_forms
from steelyard.zoo import zoo_robot
from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from enclosure.forty_digits import DIGITS, exact
from oracles.forty_digit_passivity import bezier_derivative, reference_torques
from oracles.tube_states import edge_states, on_edge

ARMS = ("kinova_gen3_2f85", "panda", "lbr_med7", "crane_x7")
PLANS, STRETCHES = 25, 100
"""For each arm, and for each plan."""
RADIUS, THIN, KR, REST, SPREAD = 0.016, 1e-9, 5.0, 0.02, 0.05
DURATION, STEP = 3.0, 0.3
LENGTHS = (0.01, 0.1)
"""Of the stretches, s; drawn evenly in their logarithm."""
GAP_SAMPLES = 24
DRIVE = ("viscous", "coulomb", "offset", "rotor")
TOUCHING = {"crane_x7": [("crane_x7_upper_arm_revolute_part_link", "crane_x7_shoulder_revolute_part_link")]}
KINDS = ("torque", "disturbance", "position", "velocity")


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the stretches of one plan have shown.

    Attributes:
        violations: samples outside of their enclosure, by kind.
        ratios: widths over sampled widths, by kind; flat, dimensionless.
        short: by how much proven gaps fall short of the smallest sampled one, m.
        exact: states in forty digits outside of their enclosure.
    """

    violations: dict[str, int]
    ratios: dict[str, Array]
    short: Array
    exact: int


def run() -> Study:
    """Every arm."""
    found = [judged(name, k, STRETCHES) for name in ARMS for k in range(PLANS)]
    count = STRETCHES * len(found)
    figures = [Bound("stretches", count, 10_000, atmost=False)]
    for kind in (*KINDS, "gap"):
        bad = sum(x.violations[kind] for x in found)
        figures.append(Bound(f"{kind}: samples outside of the enclosure", bad, 0))
    figures.append(Bound("states in forty digits outside of the enclosure", sum(x.exact for x in found), 0))
    for kind in KINDS:
        ratio = np.concatenate([x.ratios[kind] for x in found])
        note = f"median {np.median(ratio):.2f}, 95 % below {np.percentile(ratio, 95):.2f}"
        what = "bound over the greatest sampled" if kind == "disturbance" else "width over sampled width"
        figures.append(Bound(f"{kind}: {what}, mean", float(ratio.mean()), 2.0, note=note))
    short = np.concatenate([x.short for x in found])
    return Study(
        "Enclosures of a tube",
        f"Plans of {DURATION:g} s on {', '.join(ARMS)}; a tube of {RADIUS:g} rad/s, every parameter within "
        f"{100 * SPREAD:g} %; stretches of {LENGTHS[0]:g} to {LENGTHS[1]:g} s. The mean proven gap between "
        f"shapes is {1e3 * float(short.mean()):.2f} mm below the smallest sampled one.",
        tuple(figures),
    )


def judged(name: str, seed: int, stretches: int) -> Outcome:
    """Enclose and sample the stretches of one plan."""
    rng = np.random.default_rng([20260117, seed, *name.encode()])
    robot = zoo_robot(name)
    plan = _plan(rng, robot)
    length = np.minimum(np.exp(rng.uniform(*np.log(LENGTHS), stretches)), DURATION)
    start = rng.uniform(0.0, 1.0, stretches) * (DURATION - length)
    end = np.minimum(start + length, DURATION)
    dynamics = _dynamics(robot, RADIUS)
    tube = dynamics.tube
    found = dynamics.torques(tube_forms(plan, start, end, tube))
    error = Tracking(*(np.full(robot.nv, x) for x in (tube.position, tube.velocity, 0.0)))
    states = motion_forms(plan, start, end, error)
    every = edge_states(rng, dynamics, plan, start, end)
    bounds = {
        "torque": (found.lower, found.upper, every.torque),
        "disturbance": (0.0 * found.disturbance, found.disturbance, every.disturbance),
        "position": (states.q.lower, states.q.upper, every.q),
        "velocity": (states.v.lower, states.v.upper, every.v),
    }
    violations, ratios = {}, {}
    for kind, (low, high, x) in bounds.items():
        outside = (x < low[:, None]) | (x > high[:, None])
        violations[kind] = int(outside.sum())
        wide = x.max(axis=1) - (0.0 if kind == "disturbance" else x.min(axis=1))
        ratios[kind] = ((high - low) / wide).ravel()
    clearance = clearance_of(robot, _scene(rng), ignore=TOUCHING.get(name, ()))
    least, _ = proven_gaps(clearance, states.q, np.ones((stretches, len(clearance.names)), dtype=np.bool_))
    picked = every.q[:, rng.permutation(every.q.shape[1])[:GAP_SAMPLES]]
    gaps = clearance.distances(picked.reshape(-1, robot.nv)).reshape(stretches, GAP_SAMPLES, -1)
    violations["gap"] = int((gaps < least[:, None]).sum())
    short = (gaps.min(axis=1) - least).ravel()
    return Outcome(violations, ratios, short, _in_forty_digits(rng, dynamics, plan, start, end))


def _plan(rng: np.random.Generator, robot: Robot) -> SplineMotion:
    """A curve that neither starts nor ends at rest, about the middle of the joints' ranges."""
    b = bounds_of(robot)
    low, high = (np.where(np.isfinite(x), x, y) for x, y in ((b.lower, -np.pi), (b.upper, np.pi)))
    first = 0.5 * (low + high) + 0.25 * (high - low) * rng.uniform(-1.0, 1.0, robot.nv)
    steps = STEP * rng.uniform(-1.0, 1.0, (robot.nv, 5)).cumsum(axis=1)
    return bezier(robot.joint_names, DURATION, np.column_stack((first, first[:, None] + steps)))


def _dynamics(robot: Robot, radius: float) -> TubeDynamics:
    layout = layout_of(robot, DRIVE)
    phi = layout.complete_nominal()
    rho = SPREAD * np.abs(phi)
    tube = Tube.of_radius(radius, inertia_bounds(robot, layout, phi, rho).smallest, KR)
    return TubeDynamics(robot, layout, phi, rho, tube, REST)


def _scene(rng: np.random.Generator) -> Scene:
    places = rng.uniform((-0.8, -0.8, 0.0), (0.8, 0.8, 1.0), (6, 3))
    boxes = [Obstacle(f"box {k}", Box(0.2, 0.2, 0.2), Pose(np.eye(3), p)) for k, p in enumerate(places)]
    return Scene(tuple(boxes))


def _in_forty_digits(
    rng: np.random.Generator, dynamics: TubeDynamics, plan: SplineMotion, start: Array, end: Array
) -> int:
    """Count states outside of their enclosure, one for each stretch."""
    robot = dynamics.robot
    thin = _dynamics(robot, THIN)
    wide = np.arange(len(start)) % 2 == 0
    last = np.where(wide, end, start)
    bad = 0
    for which, at in ((wide, dynamics), (~wide, thin)):
        found = at.torques(tube_forms(plan, start[which], last[which], at.tube))
        for k, n in enumerate(np.flatnonzero(which)):
            with mpmath.workdps(DIGITS):
                torque, w = _exact_torque(rng, at, plan, start[n], last[n])
                low, high, most = (exact(x[k]) for x in (found.lower, found.upper, found.disturbance))
                bad += int(((torque < low) | (torque > high) | (w > most)).any())
    return bad


def _exact_torque(
    rng: np.random.Generator, dynamics: TubeDynamics, plan: SplineMotion, start: float, end: float
) -> tuple[np.ndarray, np.ndarray]:
    """Nominal torque at a random state, and what parameters at a corner of the box add to it, each (nv,)."""
    robot, nv = dynamics.robot, dynamics.robot.nv
    first, last = mpmath.mpf(start), mpmath.mpf(end)
    t = first + mpmath.mpf(rng.random()) * (last - first)
    q_d, v_d, a_d = (bezier_derivative(plan.control, plan.duration, t, order) for order in range(3))
    K, radius = mpmath.mpf(dynamics.tube.kr), mpmath.mpf(dynamics.tube.radius)
    z = on_edge(rng.normal(size=1 + 2 * nv), nv)
    e, r = exact(z[1 : 1 + nv]) * (radius / K), exact(z[1 + nv :]) * radius
    v_a, a_a = v_d + e * K, a_d + (r - e * K) * K
    links = 10 * nv
    corner = rng.choice((-1.0, 1.0), links) * dynamics.half_widths[:links]
    bodies = np.stack((dynamics.nominal[:links], corner)).reshape(2, nv, 10)
    torque, w = reference_torques(robot, bodies, q_d - e, v_a - r, v_a, a_a)
    columns = dynamics.layout.drive_columns.T
    F, rho_F = exact(dynamics.nominal[columns]), exact(dynamics.half_widths[columns])
    one = mpmath.mpf(1)
    s = np.array([min(max(x / mpmath.mpf(REST), -one), one) for x in v_a], dtype=object)
    torque = torque + F[0] * v_a + F[1] * s + F[2] + F[3] * a_a
    w = abs(w) + rho_F[0] * abs(v_a) + rho_F[1] * abs(s) + rho_F[2] + rho_F[3] * abs(a_a)
    return torque, w + (F[1] + rho_F[1]) * (1 - abs(s))
