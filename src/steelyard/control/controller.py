"""What a controller is: gains, a memory, and one compiled step with the same signature for every law."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only_view
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.tree import Tree

ControlStep = Callable[[Tree, Numbers, Array, Array, Array, Array, Array, Array, Array, Array], None]
"""`step(tree, numbers, gains, memory, q, v, q_ref, v_ref, a_ref, tau)`: updates memory, writes tau."""


class Controller(Protocol):
    """Torques from the measured state and the reference, once per control cycle.

    `step` is compiled. A rollout calls it with `tree`, `numbers`, `gains` and its own copy of `memory`; the
    six joint-space vectors have shape (nv,), SI, and everything but `memory` and `tau` is read-only.
    """

    @property
    def law(self) -> str:
        """Name of the law in controller files."""
        ...

    @property
    def linear(self) -> bool:
        """Whether torque and memory are linear in state and reference, with slopes that never change."""
        ...

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints it commands."""
        ...

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        ...

    @property
    def cycle(self) -> float | None:
        """Length of the control cycle the law is made for, s; None where any will do."""
        ...

    @property
    def tree(self) -> Tree:
        """The arm as the law's model sees it."""
        ...

    @property
    def numbers(self) -> Numbers:
        """The model's parameters; zeros for a law without a model."""
        ...

    @property
    def gains(self) -> Array:
        """The law's gains, one row per kind, shape (rows, nv), SI.

        Numbers that belong to no joint follow in further rows, filled up with zeros.
        """
        ...

    @property
    def memory(self) -> Array:
        """The law's state before the first cycle, shape (m,), SI; empty for a law without one."""
        ...

    @property
    def settings(self) -> Mapping[str, object]:
        """Law, gains and the model's digest as plain values, for a recording's history."""
        ...

    def torque(
        self, q: ArrayLike, v: ArrayLike, q_ref: ArrayLike, v_ref: ArrayLike, a_ref: ArrayLike
    ) -> Array:
        """The torque of its first cycle.

        Args:
            q: joint positions, shape (nv,), rad or m.
            v: joint velocities, shape (nv,), rad/s or m/s.
            q_ref: reference positions, shape (nv,), rad or m.
            v_ref: reference velocities, shape (nv,), rad/s or m/s.
            a_ref: reference accelerations, shape (nv,), rad/s² or m/s².

        Returns:
            Joint torques, shape (nv,), N·m or N.
        """
        ...


def command(
    controller: Controller,
    memory: Array,
    q: ArrayLike,
    v: ArrayLike,
    q_ref: ArrayLike,
    v_ref: ArrayLike,
    a_ref: ArrayLike,
) -> Array:
    """Run one control cycle.

    Args:
        controller: the controller.
        memory: its state, updated in place, shape (m,), SI; begin with a copy of `controller.memory`.
        q: joint positions, shape (nv,), rad or m.
        v: joint velocities, shape (nv,), rad/s or m/s.
        q_ref: reference positions, shape (nv,), rad or m.
        v_ref: reference velocities, shape (nv,), rad/s or m/s.
        a_ref: reference accelerations, shape (nv,), rad/s² or m/s².

    Returns:
        Joint torques, shape (nv,), N·m or N.
    """
    nv = controller.gains.shape[1]
    given = {"q": q, "v": v, "q_ref": q_ref, "v_ref": v_ref, "a_ref": a_ref}
    at, rate, at_ref, rate_ref, acceleration_ref = (
        read_only_view(checked(name, value, (nv,))) for name, value in given.items()
    )
    tau = np.empty(nv)
    model = (controller.tree, controller.numbers, controller.gains)
    controller.step(*model, memory, at, rate, at_ref, rate_ref, acceleration_ref, tau)
    return tau
