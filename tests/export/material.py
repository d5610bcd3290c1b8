"""Robots with estimates that differ from their nominal numbers, for the tests of the room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.drive import ALL_TERMS, StribeckShape
from steelyard.export import estimate_record, estimated_model
from steelyard.formats import Written
from steelyard.identifiable import Identifiability
from steelyard.inertia.body import random_body
from steelyard.layout import Layout, layout_of
from steelyard.model import Model, write_model
from steelyard.problem import Estimate
from steelyard.robot import Robot

LINEAR = ("viscous", "coulomb", "offset", "rotor")
EVERY = tuple(term.name for term in ALL_TERMS)


def full_layout(robot: Robot, drive: tuple[str, ...] = LINEAR) -> Layout:
    """A layout with the drive terms, Stribeck shapes included where they are needed."""
    driven = [joint.name for joint in robot.joints if joint.kind.nv == 1]
    shapes = {name: StribeckShape(0.1 + 0.01 * k, 1.5) for k, name in enumerate(driven)}
    return layout_of(robot, drive, stribeck=shapes if "stribeck" in drive else None)


def random_estimate(rng: np.random.Generator, robot: Robot, layout: Layout) -> np.ndarray:
    """A possible vector that owes nothing to the robot's nominal numbers, shape (p,), SI."""
    phi = np.zeros(layout.size)
    for link in robot.links:
        if not link.virtual:
            phi[layout.of_link(link.name)] = random_body(rng).parameters
    for joint in layout.joints:
        drawn = dict(zip(layout.drive, rng.uniform(0.05, 0.5, len(layout.drive)), strict=True))
        if "offset" in drawn:
            drawn["offset"] *= -1.0
        if "asymmetric" in drawn:
            drawn["asymmetric"] = -0.5 * drawn["viscous"]
        phi[layout.of_joint(joint)] = list(drawn.values())
    return phi


def nominal_estimate(rng: np.random.Generator, robot: Robot, layout: Layout) -> np.ndarray:
    """The nominal links, each some percent heavier, and random drives, shape (p,), SI."""
    phi = random_estimate(rng, robot, layout)
    for link in robot.links:
        assert link.body is not None
        phi[layout.of_link(link.name)] = link.body.parameters * rng.uniform(1.01, 1.2)
    return phi


def bodies_of(robot: Robot, phi: np.ndarray) -> np.ndarray:
    """Ten parameters per link as Pinocchio takes them, no mass quite zero, shape (nb, 10), SI."""
    bodies = phi[: 10 * len(robot.links)].reshape(-1, 10).copy()
    bodies[bodies[:, 0] == 0.0, 0] = 1e-30
    return bodies


def write_result(
    folder: Path,
    robot: Robot,
    layout: Layout,
    phi: ArrayLike,
    *,
    estimate: Estimate | None = None,
    structure: Identifiability | None = None,
    **options: Any,
) -> Written:
    """Write a model as a folder, with what an estimate says of it where there is one."""
    if estimate is None:
        return write_model(folder, Model(robot, layout, np.asarray(phi, dtype=float)), **options)
    model = estimated_model(robot, layout, phi, estimate, structure=structure)
    return write_model(folder, model, estimate=estimate_record(estimate), **options)
