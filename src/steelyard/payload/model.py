"""The robot without its payload: parameters that are trusted, by the names of a layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.drive import ALL_TERMS
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot


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

    Returns:
        The model.

    Raises:
        DescriptionError: a link states no inertia.
    """
    layout = layout_of(robot, drive)
    return ArmModel(robot, layout, layout.complete_nominal(), "the description")
