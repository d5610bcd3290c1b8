"""The robot without its payload, where a payload is mounted on it, and the question a loaded run asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError
from steelyard.inertia import change_of_frame
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.problem import Problem, problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot

# Where a payload is held: the link that carries it and the frame its numbers are stated in.


@dataclass(frozen=True, eq=False)
class Mount:
    r"""A frame P of the payload, bolted to a moving link L.

    Attributes:
        link: name of the moving link that carries the payload.
        placement: X_LP, the payload's frame in the link's.
        frame: what the frame is called, for people.
    """

    stored_as: ClassVar[str] = "Held"

    link: str
    placement: Pose
    frame: str

    @cached_property
    def to_link(self) -> Array:
        r"""T with $\varphi_L = T\,\varphi_P$, shape (10, 10), SI."""
        return read_only(change_of_frame(self.placement))

    @cached_property
    def to_frame(self) -> Array:
        r"""T with $\varphi_P = T\,\varphi_L$, shape (10, 10), SI."""
        return read_only(change_of_frame(self.placement.inverse()))


def mounted_at(robot: Robot, *, grasp: Pose | None = None, frame: str | None = None) -> Mount:
    """Say where a robot holds its payload.

    Args:
        robot: the robot.
        grasp: X_TP, the payload's frame in the one that holds it, as a grasp or the origin of a mesh states
            it; None where they are the same.
        frame: name of the link whose frame holds it, moving or fixed; None for the tool frame.

    Returns:
        The place.

    Raises:
        InputError: the frame does not move.
        UnknownNameError: the robot has no such link.
    """
    place = robot.tool_frame if frame is None else robot.frame(frame)
    if place.link < 0:
        raise InputError(
            f"'{place.name}' is part of the base, which carries no payload.",
            place="frame",
            remedy="Name a link that moves.",
        )
    if grasp is None:
        return Mount(robot.link_names[place.link], place.placement, place.name)
    return Mount(robot.link_names[place.link], place.placement @ grasp, f"the grasp in {place.name}")


# Trusted parameters of the robot, by the names of a layout


@dataclass(frozen=True, eq=False)
class ArmModel:
    """A robot whose own parameters are taken as known.

    Attributes:
        robot: the robot without payload.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        source: where they come from, for people.
        errors: what they may be off by: changes of phi of one deviation each, independent of each other,
            shape (p, k), SI; only the torques they make count. None where that is not known.
        same_constants: whether they were identified from currents with the torque constants of the loaded
            run, whose errors they share.
    """

    robot: Robot
    layout: Layout
    parameters: Array
    source: str
    errors: Array | None = None
    same_constants: bool = False

    def __post_init__(self) -> None:
        phi = checked("parameters", self.parameters, (self.layout.size,))
        object.__setattr__(self, "parameters", read_only(phi))
        if self.errors is not None:
            errors = checked("errors", self.errors, (self.layout.size, "k"))
            object.__setattr__(self, "errors", read_only(errors))

    def with_link(self, link: str, ten: Array) -> ArmModel:
        """The same model with another link.

        Args:
            link: name of a moving link.
            ten: its ten numbers, shape (10,), SI.

        Returns:
            A new model.
        """
        phi = self.parameters.copy()
        phi[self.layout.of_link(link)] = checked("ten", ten, (10,))
        return replace(self, parameters=phi)

    def with_terms(self, terms: Sequence[str]) -> ArmModel:
        """The same model in a layout that has further drive terms, which it takes as absent.

        Args:
            terms: names of drive terms to add.

        Returns:
            A model that predicts the same torques.
        """
        drive = [term.name for term in ALL_TERMS if term.name in {*self.layout.drive, *terms}]
        if tuple(drive) == self.layout.drive:
            return self
        layout = layout_of(self.robot, drive)
        if self.layout.stribeck:
            layout = layout.with_stribeck(self.layout.stribeck)
        places = [layout.index(name) for name in self.layout.names]
        phi = np.zeros(layout.size)
        phi[places] = self.parameters
        errors = self.errors
        if errors is not None:
            errors = np.zeros((layout.size, errors.shape[1]))
            errors[places] = self.errors
        return replace(self, layout=layout, parameters=phi, errors=errors)


def errors_of(matrix: ArrayLike, values: ArrayLike, covariance: ArrayLike) -> Array:
    r"""What phi may be off by as far as torques tell: E with $K E E^T K^T$ the covariance of $\beta = K\phi$.

    Args:
        matrix: K, shape (b, p), SI.
        values: beta, shape (b,), SI.
        covariance: of beta, variances infinite where nothing is known, shape (b, b), SI. Such a parameter may
            be off by as much as it is.

    Returns:
        Changes of phi of one deviation each, in columns, shape (p, b), SI.
    """
    K = checked("matrix", matrix, ("b", "p"))
    beta = checked("values", values, (len(K),))
    C = checked("covariance", covariance, (len(K), len(K)), finite=False)
    known = np.isfinite(np.diag(C))
    s = np.where(known, np.sqrt(np.where(known, np.diag(C), 0.0)), np.abs(beta))
    C = np.where(known[:, None] & known, C, np.diag(s**2))
    scale = np.where(s > 0.0, s, 1.0)
    eigenvalues, vectors = np.linalg.eigh(C / np.outer(scale, scale))
    root = scale[:, None] * vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    return np.asarray(np.linalg.pinv(K) @ root)


def massless(robot: Robot) -> ArmModel:
    """A robot that weighs nothing, for torques from which its own were taken off already.

    Args:
        robot: the robot, for its kinematics.

    Returns:
        The model, all parameters zero.
    """
    layout = layout_of(robot)
    return ArmModel(robot, layout, np.zeros(layout.size), "an empty run of the same motion")


def described(robot: Robot, drive: Sequence[str] = ("viscous", "coulomb", "offset", "rotor")) -> ArmModel:
    """The numbers of the robot's own description.

    Args:
        robot: the robot, every link of which states its inertia.
        drive: drive terms; those that are not stated count as absent.

    Raises:
        DescriptionError: a link states no inertia.
    """
    layout = layout_of(robot, drive)
    return ArmModel(robot, layout, layout.complete_nominal(), "the description")


# The question a loaded run asks: which ten numbers, added to a known robot, explain its torques?
#
# All of the robot is known but the link that carries the payload, whose ten numbers are those of the link and
# of the payload together, and the drive terms that may differ from run to run: an offset of the torque
# meters, friction that grew with the load. Estimators of robots answer this question as any other.

CHANGES = ("viscous", "coulomb", "offset")
"""Drive terms that may differ between runs with and without the payload."""


def load_problem(
    model: ArmModel,
    held: Mount,
    recordings: Sequence[Recording],
    *,
    changes: Sequence[str] = CHANGES,
    accelerations: bool = True,
) -> Problem:
    """Pose the question.

    Args:
        model: the robot without payload; `massless` for residual torques.
        held: where the payload is held.
        recordings: loaded runs, with q, v, a and tau.
        changes: drive terms that may differ from the model's in these runs.
        accelerations: whether the recordings' accelerations are used, see `problem_of`.

    Returns:
        The problem; its free parameters are the carrying link's ten and the changes of every joint.

    Raises:
        InputError: a change is none of `CHANGES`, in which torque is linear and whose sign is free.
    """
    for term in changes:
        if term not in CHANGES:
            raise InputError(f"'{term}' is not a change.", place="changes", remedy=f"Valid: {CHANGES}.")
    wide = model.with_terms(changes)
    layout = wide.layout
    ten = layout.of_link(held.link)
    free = set(range(ten.start, ten.stop))
    free |= {layout.index(f"{joint}.{term}") for joint in layout.joints for term in changes}
    fixed = {
        name: value
        for k, (name, value) in enumerate(zip(layout.names, wide.parameters.tolist(), strict=True))
        if k not in free
    }
    return problem_of(model.robot, layout.fixing(fixed), recordings, accelerations=accelerations)
