"""A certificate that the mass matrix is positive definite at every pose: kept, read back, checked anew."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.arrays import Array, checked, read_only
from steelyard.consistency.all_pose_check import CertificateChecker
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class PoseCertificate:
    """What proves that the mass matrix is positive definite at every pose.

    Attributes:
        robot: digest of the robot it is about.
        names: names of the parameters.
        parameters: phi, shape (p,), SI.
        idle: names of the links that take no part, being without mass.
        moves: y, shape (m,), SI.
        bound: t, kg·m² or kg.
    """

    robot: str
    names: tuple[str, ...]
    parameters: Array
    idle: tuple[str, ...]
    moves: Array
    bound: float
    schema: int = 1

    def __post_init__(self) -> None:
        phi = checked("parameters", self.parameters, (len(self.names),))
        object.__setattr__(self, "parameters", read_only(phi))
        object.__setattr__(self, "moves", read_only(checked("moves", self.moves, ("m",))))
        if not math.isfinite(self.bound):
            raise InputError(f"must be finite, got {self.bound}.", place="bound")


@dataclass(frozen=True)
class CertificateCheck:
    """Whether a certificate holds.

    Attributes:
        holds: whether it proves a positive bound.
        bound: proven lower bound of the smallest eigenvalue at every pose, kg·m² or kg; minus infinity where
            the certificate proves none.
        reason: what is wrong; empty where it holds.
    """

    holds: bool
    bound: float
    reason: str = ""

    def __bool__(self) -> bool:
        return self.holds


def check_certificate(robot: Robot, layout: Layout, certificate: PoseCertificate) -> CertificateCheck:
    """Check a certificate anew, in exact arithmetic.

    Args:
        robot: the robot it is about.
        layout: the order of its parameters.
        certificate: what to check.

    Returns:
        Whether it holds, and the bound it proves.
    """
    if certificate.robot != robot.digest:
        return CertificateCheck(False, -math.inf, "It is about another robot.")
    if certificate.names != layout.names:
        return CertificateCheck(False, -math.inf, "It is about other parameters.")
    try:
        checker = CertificateChecker.of(robot, layout, certificate.idle)
        bound = checker.bound_of(certificate.parameters, certificate.moves, certificate.bound)
    except InputError as error:
        return CertificateCheck(False, -math.inf, str(error))
    if bound > 0.0:
        return CertificateCheck(True, bound)
    return CertificateCheck(False, bound, f"Its forms are not positive beyond {certificate.bound:g}.")
