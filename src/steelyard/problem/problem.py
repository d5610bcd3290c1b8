r"""`Problem`: which parameters explain the torques?

The torque equations of all samples are kept as one triangle per degree of freedom, so the question has the
same size for a minute and for a day of data. What the layout fixes is known: its torque is taken off first.

Two questions have no such equations: that of friction which grows with the load, in which torque is not
linear, and that of a motion without accelerations. Estimators made for them go back to the samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import Compressed, compress, torque_regressor
from steelyard.errors import InputError
from steelyard.identifiability import (
    BaseParameters,
    Identifiability,
    free_base,
)
from steelyard.layout import Layout
from steelyard.problem.evidence import Evidence, evidence_of
from steelyard.problem.load_friction import load_base, without_load
from steelyard.problem.on_demand import OnDemand
from steelyard.problem.structure import structure_of
from steelyard.recording import Recording
from steelyard.robot import Robot

Block = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]
"""A piece of a log: q, v, a and tau."""


def _compressed(problem: Problem) -> Compressed:
    if "load" in problem.layout.drive:
        raise InputError(
            "with friction that grows with the load torque is not linear in the parameters.",
            place="layout",
            remedy="Leave 'load' out of the drive terms, or fit with it and linearise there.",
        )
    return compress(problem.robot, problem.layout, problem.samples.blocks)


_FROM_SAMPLES = OnDemand(_compressed)


@dataclass(frozen=True, eq=False)
class Problem:
    """Which parameters explain the torques?

    Attributes:
        robot: the robot that moved.
        layout: its standard parameters.
        structure: what torques could tell about them, but for the term `load`.
        compressed: the torque equations of all samples; where it is built as None they are made from the
            samples when they are first asked for.
        prior: what is believed of phi beforehand, shape (p,), SI; NaN where nothing is, None for nothing at
            all.
        evidence: the samples themselves, where they are kept: estimators that look at single samples or their
            order need them.
        digests: digests of the recordings.
    """

    robot: Robot
    layout: Layout
    structure: Identifiability
    compressed: OnDemand[Compressed] = _FROM_SAMPLES
    prior: Array | None = None
    evidence: Evidence | None = None
    digests: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.prior is not None:
            prior = checked("prior", self.prior, (self.layout.size,), finite=False)
            object.__setattr__(self, "prior", read_only(prior))

    @cached_property
    def known(self) -> Array:
        """What the layout fixes, zero elsewhere, shape (p,), SI."""
        values = [x.nominal if x.fixed and x.nominal is not None else 0.0 for x in self.layout.parameters]
        return read_only(np.array(values, dtype=float))

    @cached_property
    def base(self) -> BaseParameters:
        """The combinations of free parameters that torques could determine, beta = K phi."""
        if "load" in self.layout.drive:
            return load_base(self.robot, self.layout)
        return free_base(self.structure)

    def factor(self, weights: ArrayLike | None = None) -> Array:
        r"""The triangle of $[W\ \ \tau - W\phi_{known}]$, each degree of freedom times its weight.

        Args:
            weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.

        Returns:
            R, upper triangular, shape (p + 1, p + 1), SI.
        """
        R = self.compressed.factor(weights)
        if self.known.any():
            R[:, -1] -= R[:, :-1] @ self.known
            R = np.asarray(np.linalg.qr(R, mode="r"))
        return R

    def base_factor(self, weights: ArrayLike | None = None) -> Array:
        r"""The triangle of $[W_1\ \ \tau - W\phi_{known}]$ with the columns $W_1$ of the base parameters.

        Args:
            weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.

        Returns:
            R, upper triangular, shape (b + 1, b + 1), SI.
        """
        R = self.factor(weights)
        b = self.base.count
        small = np.zeros((b + 1, b + 1))
        reduced = np.linalg.qr(R[:, [*self.base.columns, self.layout.size]], mode="r")
        small[: len(reduced)] = reduced[: b + 1]
        return small

    def regression(self) -> tuple[Array, Array]:
        r"""The stacked equation $W_1 \beta = \tau - W\phi_{known}$, sample by sample.

        Returns:
            W_1, shape (N nv, b), SI, and the right side, shape (N nv,), N·m or N; both stacked by sample.

        Raises:
            InputError: the samples were not kept.
        """
        at = self.samples
        Y = torque_regressor(self.robot, self.layout, at.q, at.v, at.a).reshape(-1, self.layout.size)
        return Y[:, self.base.columns], at.tau.reshape(-1) - Y @ self.known

    def asked_of(self, recordings: Sequence[Recording]) -> Problem:
        """The same question put to other recordings; what torques could tell is not worked out again.

        Args:
            recordings: logs of the same robot, with q, v, a and tau.

        Returns:
            The problem, as `problem_of` poses it.

        Raises:
            InputError: a recording is of other joints, or there is none.
            RecordingError: a channel was not recorded.
        """
        evidence = evidence_of(self.robot, recordings)
        return replace(self, compressed=None, evidence=evidence, digests=evidence.digests)

    @property
    def samples(self) -> Evidence:
        """The samples themselves.

        Raises:
            InputError: they were not kept.
        """
        if self.evidence is None:
            raise InputError(
                "the samples of this problem were not kept, only their equations.",
                place="problem",
                remedy="Pose it with recordings instead of blocks.",
            )
        return self.evidence


def problem_of(
    robot: Robot,
    layout: Layout,
    recordings: Sequence[Recording],
    *,
    prior: ArrayLike | None = None,
    accelerations: bool = True,
) -> Problem:
    """Pose the question for recordings, whose samples are kept.

    Args:
        robot: the robot that moved.
        layout: the parameters asked about.
        recordings: its logs, with q, v, a and tau.
        prior: what is believed of phi beforehand, shape (p,), SI; NaN where nothing is.
        accelerations: whether the recordings' accelerations are used; without them only estimators that need
            none, such as `fit_momentum`, can answer.

    Returns:
        The problem.

    Raises:
        InputError: a recording is of other joints, or there is none.
        RecordingError: a channel was not recorded.
    """
    evidence = evidence_of(robot, recordings, accelerations=accelerations)
    return Problem(
        robot,
        layout,
        structure_of(robot, without_load(layout)),
        None,
        None if prior is None else np.asarray(prior, dtype=float),
        evidence,
        evidence.digests,
    )


def problem_of_blocks(
    robot: Robot,
    layout: Layout,
    blocks: Iterable[Block],
    *,
    prior: ArrayLike | None = None,
    digests: Sequence[str] = (),
) -> Problem:
    """Pose the question for a log of any length, read piece by piece and not kept.

    Args:
        robot: the robot that moved.
        layout: the parameters asked about.
        blocks: pieces of the log, each (q, v, a, tau) of shape (N, nq) or (N, nv), SI.
        prior: what is believed of phi beforehand, shape (p,), SI; NaN where nothing is.
        digests: digests of the recordings, where known.

    Returns:
        The problem.
    """
    return Problem(
        robot,
        layout,
        structure_of(robot, layout),
        compress(robot, layout, blocks),
        None if prior is None else np.asarray(prior, dtype=float),
        None,
        tuple(digests),
    )
