"""What a body of an MJCF file weighs: its `<inertial>`, or its geoms, within the compiler's bounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from steelyard.errors import DescriptionError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.mjcf.defaults import ORIENTATIONS
from steelyard.robot.mjcf.geom import Geom
from steelyard.robot.mjcf.placement import Placements
from steelyard.robot.mjcf.settings import Compiler
from steelyard.robot.mjcf.solid import no_body
from steelyard.robot.xml import LARGEST, Element


def read_inertial(element: Element, frame: Pose, placements: Placements) -> Body | str:
    """Read an `<inertial>`.

    Args:
        element: the element.
        frame: X_BF, what encloses it in the body's frame.
        placements: reads its pose.

    Returns:
        The body in the body's frame, or the reason why it is not known.

    Raises:
        DescriptionError: a number is missing or malformed, or the tensor is stated twice.
    """
    mass = element.number("mass")
    if 0.0 < abs(mass) < 1.0 / LARGEST:
        raise DescriptionError(f"a mass of {mass:g} kg is none.", place=element.place, remedy="Write 0.")
    element.text("pos")
    full = "fullinertia" in element.attributes
    twice = [key for key in ("diaginertia", *ORIENTATIONS) if key in element.attributes]
    if full and twice:
        raise DescriptionError(
            f"<inertial> states 'fullinertia' and '{twice[0]}'.",
            place=element.place,
            remedy="A full tensor is in the body's axes; a diagonal one may have an orientation.",
        )
    if full:
        ixx, iyy, izz, ixy, ixz, iyz = element.numbers("fullinertia", 6)
        I_C = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    elif "diaginertia" in element.attributes:
        I_C = np.diag(element.numbers("diaginertia", 3))
    elif mass == 0.0:
        return no_body()
    else:
        return "its inertial states a mass but no tensor"
    X_BC = frame @ placements.plain(element)
    if mass == 0.0:
        # A massless body has no com; its tensor, if any, does not depend on where it sits.
        X_BC = Pose(X_BC.rotation, np.zeros(3))
    return Body(mass, np.zeros(3), I_C).moved(X_BC)


def weigh(
    name: str,
    stated: Body | str | None,
    geoms: Sequence[Geom],
    compiler: Compiler,
    place: str,
    findings: list[Finding],
    *,
    moves: bool = True,
) -> Body | None:
    """The inertia that holds for a body: stated, or summed over its geoms, and bounded.

    Args:
        name: of the body.
        stated: what its `<inertial>` says, in the body's frame, or why that is not known; `None` without one.
        geoms: its geoms.
        compiler: which of the two counts, and the bounds.
        place: file and line of the inertial or the body.
        findings: where to report an inertia that cannot be told, or was bounded.
        moves: whether it can move, so that its inertia matters.

    Returns:
        The inertia in the body's frame; `None` where nothing is stated or something is not known.
    """
    first, last = compiler.inertia_groups
    counted = [geom for geom in geoms if first <= geom.group <= last]
    from_geoms = compiler.inertia_from_geom == "true" or (
        compiler.inertia_from_geom == "auto" and stated is None
    )
    inertia = stated
    if from_geoms and counted:
        known = [geom.body for geom in counted if isinstance(geom.body, Body)]
        unknown = next((geom for geom in counted if isinstance(geom.body, str)), None)
        inertia = reduce(add, known, no_body()) if unknown is None else str(unknown.body)
        place = counted[0].place if unknown is None else unknown.place
    if isinstance(inertia, str):
        message = f"the inertia of body '{name}' is not known: {inertia}."
        severity = Severity.ERROR if moves else Severity.INFO
        findings.append(Finding(severity, "missing-inertial", message, place))
        return None
    if inertia is None and not (compiler.bound_mass > 0 or compiler.bound_inertia > 0):
        return None
    return _bounded(name, inertia or no_body(), compiler, place, findings)


def _bounded(name: str, body: Body, compiler: Compiler, place: str, findings: list[Finding]) -> Body:
    """The body with at least the compiler's mass and principal moments, balanced where it asks for that."""
    mass = max(body.mass, compiler.bound_mass) if compiler.bound_mass > 0 else body.mass
    moments, axes = np.linalg.eigh(body.inertia)
    bounded = np.maximum(moments, compiler.bound_inertia) if compiler.bound_inertia > 0 else moments
    if compiler.balance and 2 * bounded.max() > bounded.sum():
        bounded = np.full(3, bounded.mean())
    if mass == body.mass and (bounded == moments).all():
        return body
    message = (
        f"the compiler's settings change body '{name}': mass {body.mass:.6g} to {mass:.6g} kg, principal "
        f"moments {_listed(moments)} to {_listed(bounded)} kg m^2."
    )
    findings.append(Finding(Severity.WARNING, "inertia-bounded", message, place))
    return Body(mass, body.com, axes @ np.diag(bounded) @ axes.T)


def _listed(moments: np.ndarray) -> str:
    return " ".join(f"{value:.6g}" for value in moments)


def scale_to_total(bodies: Sequence[Body | None], total: float, place: str) -> list[Body | None]:
    """The bodies scaled so that together they have a given mass.

    Args:
        bodies: all bodies; `None` where nothing is stated.
        total: the mass, kg.
        place: file and line that asks for it.

    Returns:
        The bodies, in order.

    Raises:
        DescriptionError: they have no mass to scale.
    """
    mass = sum(body.mass for body in bodies if body is not None)
    if not mass > 0:
        raise DescriptionError(f"a mass of {mass:g} kg cannot be scaled to {total:g} kg.", place=place)
    k = total / mass
    return [None if body is None else Body(k * body.mass, body.com, k * body.inertia) for body in bodies]
