r"""How near are the links to the truth where the prior is 30 % off: the default fit beside the one before it.

Before, links were the nearest to the prior with exactly the torques of weighted least squares, or the best
that can exist where there were none. Now, by `identify`, the pull towards the prior is as strong as
prediction allows, and links stay within the shapes of the description. Both get the same samples and the same
prior: each link's pseudo-inertia is $J = L\,e^{0.3\,G}\,L^T$ with the true $LL^T$ and a random symmetric G,
so its mass, its centre of mass in units of its radius and its inertia are all off by about 30 %, in any
frame. Of the drive nothing is believed.

Logs are kept in the user's cache; a study that was stopped goes on where it was.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

from steelyard.dynamics import inverse_dynamics
from steelyard.estimation import with_full_set
from steelyard.estimation.linear import fit_huber, fit_weighted
from steelyard.estimation.physical import fit_lmi
from steelyard.formats import robot_with_parameters
from steelyard.inertia import parameters_of_pseudo_inertia, pseudo_inertia
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Problem
from steelyard.recording import Recording, read, write
from steelyard.robot import Robot
from steelyard.simulation import sensor_preset, simulate_motion
from steelyard.simulation.sensor import RobotSample
from steelyard.workflows.identify import identify
from steelyard.zoo import zoo_robot
from tables import Bound, Study

ROBOTS = ("panda", "lbr_med7", "ur10e", "kinova_gen3", "crane_x7")
SEEDS = 20
SENSOR = "industrial"
DRIVE = ("viscous", "coulomb", "offset", "rotor")
OFF = 0.3
WORKERS = 2
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "steelyard" / "believable"


@dataclass(frozen=True)
class Error:
    """How far a model is from the truth, all relative.

    Attributes:
        mass: mean over links of |m - m*| / m*.
        inertia: mean over links of |I - I*| / |I*| about each one's centre of mass, Frobenius.
        centre: mean over links of the distance of the centres of mass over the true radius of gyration.
        torque: rms along an unseen motion, as the same meter would show it without noise, over that torque's.
    """

    mass: float
    inertia: float
    centre: float
    torque: float


@dataclass(frozen=True)
class Outcome:
    """One log, fitted in both ways.

    Attributes:
        robot: name in the zoo.
        seed: of its motions and its noise.
        prior: what was believed.
        before: the default until now.
        after: the default.
        method: what the default until now came down to.
        strength: of the pull.
    """

    robot: str
    seed: int
    prior: Error
    before: Error
    after: Error
    method: str
    strength: float


def run() -> Study:
    """Fit every log in both ways."""
    cases = [(robot, seed) for robot in ROBOTS for seed in range(SEEDS)]
    with ProcessPoolExecutor(WORKERS) as workers:
        outcomes = list(workers.map(judged, *zip(*cases, strict=True)))
    before, after = (_means([getattr(o, name) for o in outcomes]) for name in ("before", "after"))
    return Study(
        "Links of simulated arms, with a prior 30 % off",
        f"{', '.join(ROBOTS)}, {SEEDS} seeds each: a random Fourier motion of 10 s on a MuJoCo plant with "
        f"the `{SENSOR}` preset. The prior's links are off by 30 %, its drive says nothing. `after` is "
        "`steelyard.identify` with linear drives. `before` asks the torque equations that it posed in the "
        "former way: weighted least squares completed by the nearest possible links with the same torques, "
        "or the best possible links where there are none. Errors are relative means over links and runs; "
        "torque is along another motion, without noise.",
        (
            Bound(
                "mass: error after over before",
                after.mass / before.mass,
                0.5,
                note=_pair(before, after, "mass"),
            ),
            Bound(
                "inertia: error after over before",
                after.inertia / before.inertia,
                0.5,
                note=_pair(before, after, "inertia"),
            ),
            Bound(
                "unseen torque: error after over before",
                after.torque / before.torque,
                1.0,
                note=_pair(before, after, "torque"),
            ),
        ),
        {robot: _summary([o for o in outcomes if o.robot == robot]) for robot in ROBOTS},
    )


def judged(name: str, seed: int) -> Outcome:
    """Simulate one log and fit it in both ways.

    Args:
        name: of the robot in the zoo.
        seed: of its motions and its noise.
    """
    robot = zoo_robot(name)
    layout = layout_of(robot, DRIVE)
    log, specimen = _log(name, robot, seed)
    truth = np.array(layout_of(specimen.robot, DRIVE).complete_nominal())
    for joint, bias in zip(layout.joints, specimen.bias, strict=True):
        truth[layout.index(f"{joint}.offset")] += bias  # what the meter shows is all that a model can know
    believed = off_by(np.random.default_rng([seed, 1]), layout, OFF)
    # All of the log is learnt from: links and unseen torques are judged by the truth.
    fit = identify(robot, log, holdout=log, prior=believing(robot, believed), drive=DRIVE)
    unseen = random_fourier(robot, np.random.default_rng([seed, 2]))
    s = unseen.sample(np.linspace(0.0, unseen.duration, 500))
    states = s.q, s.v, s.a
    old, method = before(fit.problem)
    new = fit.estimate
    assert new.parameters is not None
    phi_0 = np.where(np.isfinite(believed), believed, truth)
    return Outcome(
        name,
        seed,
        error(robot, layout, phi_0, truth, states),
        error(robot, layout, old, truth, states),
        error(robot, layout, new.parameters, truth, states),
        method,
        float(new.detail["strength"]),
    )


def off_by(rng: np.random.Generator, layout: Layout, deviation: float) -> np.ndarray:
    """The description with every link off, shape (p,), SI; NaN for the drive.

    Args:
        rng: source of the errors.
        layout: of the robot.
        deviation: relative.
    """
    phi = np.full(layout.size, np.nan)
    for k in range(0, 10 * len(layout.links), 10):
        G = rng.normal(size=(4, 4))
        L = np.linalg.cholesky(pseudo_inertia(layout.nominal[k : k + 10]))
        J = L @ scipy.linalg.expm(deviation * 0.5 * (G + G.T)) @ L.T
        phi[k : k + 10] = parameters_of_pseudo_inertia(J)
    return phi


def believing(robot: Robot, believed: np.ndarray) -> Robot:
    """The robot whose description states these links, and no drive.

    Args:
        robot: the robot.
        believed: as `off_by` draws it, shape (p,), SI.
    """
    return robot_with_parameters(robot, layout_of(robot), believed[: 10 * len(robot.links)])


def before(problem: Problem) -> tuple[np.ndarray, str]:
    """The links that were the default before, shape (p,), SI, and how they were found.

    Args:
        problem: the question, with its prior.
    """
    robust = fit_huber(problem)
    outliers = any(x.code == "outliers" for x in robust.findings)
    plain = robust if outliers else fit_weighted(problem)
    full = with_full_set(problem, plain)
    if any(x.code == "no-possible-links" for x in full.findings):
        full, method = fit_lmi(problem, weights=plain.weights), "best possible links"
    else:
        method = "possible links with the same torques"
    assert full.parameters is not None
    return full.parameters, method


def error(
    robot: Robot,
    layout: Layout,
    phi: np.ndarray,
    truth: np.ndarray,
    states: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> Error:
    """How far parameters are from the truth.

    Args:
        robot: the robot.
        layout: its parameters.
        phi: those to judge, shape (p,), SI.
        truth: the true ones, shape (p,), SI.
        states: an unseen motion, each of shape (N, nv).
    """
    masses, inertias, centres = [], [], []
    for link in layout.links:
        (m, c, tensor), (m_0, c_0, tensor_0) = (_body(x[layout.of_link(link)]) for x in (phi, truth))
        masses.append(abs(m - m_0) / m_0)
        inertias.append(np.linalg.norm(tensor - tensor_0) / np.linalg.norm(tensor_0))
        centres.append(np.linalg.norm(c - c_0) / np.sqrt(0.5 * np.trace(tensor_0) / m_0))
    tau, tau_0 = (inverse_dynamics(robot, layout, x, *states) for x in (phi, truth))
    return Error(
        float(np.mean(masses)),
        float(np.mean(inertias)),
        float(np.mean(centres)),
        float(np.linalg.norm(tau - tau_0) / np.linalg.norm(tau_0)),
    )


def _body(phi: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it."""
    J = pseudo_inertia(phi)
    m, c = float(J[3, 3]), J[:3, 3] / J[3, 3]
    second = J[:3, :3] - m * np.outer(c, c)
    return m, c, np.trace(second) * np.eye(3) - second


def _log(name: str, robot: Robot, seed: int) -> tuple[Recording, RobotSample]:
    """The log of a case, simulated or as kept, and what was simulated."""
    rng = np.random.default_rng([seed, 0])
    motion = random_fourier(robot, rng)
    # What `simulate` will draw first; a copy, so that it draws the same.
    specimen = sensor_preset(SENSOR).drawn(robot, deepcopy(rng))
    path = CACHE / f"{SENSOR}-{name}-{seed}.npz"
    if path.exists():
        log = read(path)
        if np.allclose(log.channels["q_ref"], motion.sample(log.time).q, rtol=0.0, atol=1e-9):
            return log, specimen
    log = simulate_motion(robot, motion, sensor=SENSOR, rng=rng)
    CACHE.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"part-{path.name}")
    write(log, part)
    part.replace(path)
    return log, specimen


def _means(errors: list[Error]) -> Error:
    return Error(*(float(np.mean([getattr(e, name) for e in errors])) for name in Error.__annotations__))


def _pair(before: Error, after: Error, name: str) -> str:
    return f"{100 * getattr(before, name):.3g} % before, {100 * getattr(after, name):.3g} % after"


def _summary(mine: list[Outcome]) -> dict[str, Any]:
    shown = {}
    for which in ("prior", "before", "after"):
        mean = _means([getattr(o, which) for o in mine])
        shown[which] = {k: round(100 * v, 3) for k, v in vars(mean).items()}
        shown[f"{which}, median"] = {
            name: round(100 * float(np.median([getattr(getattr(o, which), name) for o in mine])), 3)
            for name in Error.__annotations__
        }
    shown["strengths"] = sorted(o.strength for o in mine)
    shown["impossible as they were"] = sum(o.method == "best possible links" for o in mine)
    return shown
