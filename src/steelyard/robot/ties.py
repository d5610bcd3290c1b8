"""Joints that mimic others: the linear map from the coordinates a robot has to those its joints need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.errors import DescriptionError, UnknownNameError
from steelyard.robot.joint import Joint


@dataclass(frozen=True, eq=False)
class Ties:
    r"""How the coordinates of all joints follow from the independent ones.

    $$q_{all} = G_q\,q + q_0, \qquad v_{all} = G\,v, \qquad \tau = G^T \tau_{all},$$

    the last because power is the same on both sides, $\tau^T v = \tau_{all}^T v_{all}$.

    Attributes:
        positions: G_q, shape (nq of all joints, nq), dimensionless, rad/m or m/rad.
        offset: q_0, shape (nq of all joints,), rad or m.
        rates: G, shape (nv of all joints, nv), dimensionless, rad/m or m/rad.
    """

    positions: Array
    offset: Array
    rates: Array

    def spread_positions(self, q: Array) -> Array:
        """Coordinates of all joints.

        Args:
            q: independent coordinates, shape (N, nq), rad or m.

        Returns:
            Coordinates of every joint, shape (N, nq of all joints), rad or m.
        """
        return q @ self.positions.T + self.offset

    def spread(self, v: Array) -> Array:
        """Rates of all joints, from those of the independent ones; accelerations alike.

        Args:
            v: independent rates, shape (N, nv), rad/s or m/s.

        Returns:
            Rates of every joint, shape (N, nv of all joints), rad/s or m/s.
        """
        return v @ self.rates.T

    def gather(self, tau: Array) -> Array:
        r"""What the independent joints feel: $G^T$ applied to the second axis.

        Args:
            tau: efforts, or anything linear in them, shape (N, nv of all joints, …), N·m or N.

        Returns:
            The efforts at the independent joints, shape (N, nv, …), N·m or N.
        """
        return np.moveaxis(np.tensordot(tau, self.rates, axes=(1, 0)), -1, 1)


def check_ties(joints: Sequence[Joint]) -> None:
    """Refuse a joint that mimics one that cannot lead.

    Args:
        joints: all joints of a robot.

    Raises:
        UnknownNameError: the leader does not exist; lists those that do.
        DescriptionError: the leader has several degrees of freedom, or mimics another itself.
    """
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        if joint.mimic is None:
            continue
        place = f"joint '{joint.name}'"
        leader = by_name.get(joint.mimic.joint)
        if leader is None:
            raise UnknownNameError("joint", joint.mimic.joint, by_name, place=place)
        if leader.mimic is not None or leader.kind.nv != 1:
            what = "mimics another itself" if leader.mimic else f"is {leader.kind.value}"
            raise DescriptionError(f"cannot mimic '{leader.name}', which {what}.", place=place)


def ties_of(joints: Sequence[Joint]) -> Ties | None:
    """The map from independent coordinates to those of all joints.

    Args:
        joints: all joints of a robot, checked.

    Returns:
        The map, or `None` where no joint mimics another.
    """
    if all(joint.mimic is None for joint in joints):
        return None
    first_q = dict(zip((j.name for j in joints), np.cumsum([0, *(j.nq for j in joints)]), strict=False))
    first_v = dict(zip((j.name for j in joints), np.cumsum([0, *(j.nv for j in joints)]), strict=False))
    nq, nv = sum(joint.nq for joint in joints), sum(joint.nv for joint in joints)
    positions, rates, offset = [], [], []
    for joint in joints:
        mimic = joint.mimic
        leader, factor = (joint.name, 1.0) if mimic is None else (mimic.joint, mimic.multiplier)
        positions.append(factor * np.eye(nq)[first_q[leader] : first_q[leader] + joint.kind.nq])
        rates.append(factor * np.eye(nv)[first_v[leader] : first_v[leader] + joint.kind.nv])
        offset.append(np.full(joint.kind.nq, 0.0 if mimic is None else mimic.offset))
    return Ties(
        read_only(np.vstack(positions)), read_only(np.concatenate(offset)), read_only(np.vstack(rates))
    )
