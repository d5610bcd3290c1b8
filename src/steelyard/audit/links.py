"""Whether the links of a model can exist, and what follows for its mass matrix."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.audit.verdict import Check, Status
from steelyard.drive import drive_term
from steelyard.dynamics import mass_matrix
from steelyard.inertia import Body
from steelyard.layout import Layout
from steelyard.robot import Robot

POSES = 2000
"""Random poses at which the mass matrix is looked at where nothing is proven."""


def check_links(layout: Layout, phi: Array) -> Check:
    """Ask whether every link can exist and every drive takes energy out.

    Args:
        layout: the order of the parameters.
        phi: a full parameter vector, shape (p,), SI.

    Returns:
        The check; its message names each impossible link with the reason.
    """
    wrong: dict[str, str] = {}
    for k, link in enumerate(layout.links):
        verdict = Body.from_parameters(phi[10 * k : 10 * k + 10]).consistency
        if not verdict.consistent:
            wrong[link] = " ".join(str(reason) for reason in verdict.reasons)
    for parameter, value in zip(layout.parameters, phi, strict=True):
        driven = parameter.term in layout.drive and not drive_term(parameter.term).signed
        if driven and value < -1e-12:
            wrong[parameter.name] = f"{value:.3g} {parameter.unit} is negative."
    if not wrong:
        message = f"all {len(layout.links)} links can exist, and no drive creates energy."
        return Check("physical consistency", Status.PASS, message)
    listed = "; ".join(f"{name}: {reason}" for name, reason in wrong.items())
    return Check("physical consistency", Status.FAIL, f"no such body exists: {listed}", {"impossible": wrong})


def check_mass_matrix(
    robot: Robot, layout: Layout, phi: Array, possible: bool, rng: np.random.Generator
) -> Check:
    """Ask whether the mass matrix is positive definite at every pose.

    Where all links can exist with something to spare it is: it is a sum of their positive inertias. Links on
    the edge of the possible prove only that it is not negative. Otherwise it is looked at in random poses,
    which can refute it and never prove it.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        phi: a full parameter vector, shape (p,), SI.
        possible: whether all links can exist.
        rng: source of the poses.

    Returns:
        The check.
    """
    name = "mass matrix"
    lower = np.maximum(robot.limit_array("lower"), -np.pi)
    upper = np.minimum(robot.limit_array("upper"), np.pi)
    if robot.nq != robot.nv:
        return Check(name, Status.NOT_RUN, "poses of floating and spherical joints are not drawn.")
    q = rng.uniform(lower, upper, (POSES, robot.nv))
    smallest = float(np.linalg.eigvalsh(mass_matrix(robot, layout, phi, q))[:, 0].min())
    bodies = phi[: 10 * len(layout.links)].reshape(-1, 10)
    strict = possible and all(Body.from_parameters(body).consistency.strict for body in bodies)
    evidence = {"smallest_eigenvalue": smallest, "poses": POSES, "proven": strict}
    if smallest <= 0.0:
        message = f"is not positive definite: smallest eigenvalue {smallest:.3g} in {POSES} random poses."
        return Check(name, Status.FAIL, message, evidence)
    if possible:
        what = "positive definite at every pose" if strict else "not negative at any pose"
        message = (
            f"is {what}, since all links can exist; smallest eigenvalue {smallest:.3g} in {POSES} poses."
        )
        return Check(name, Status.PASS, message, evidence)
    message = f"was positive definite in {POSES} random poses, smallest eigenvalue {smallest:.3g}; no proof."
    return Check(name, Status.WARN, message, evidence)
