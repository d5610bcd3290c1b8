r"""A simulated closed loop beside what was measured: residuals, and their derivatives in base parameters.

The residual stacks, run by run and block by block, $W\,(y_m - y_s(\beta))$ of the signals compared, each
degree of freedom times its weight. Its derivative is $-W\,\partial y_s/\partial\beta$; kept is
$J = W\,\partial y_s/\partial\beta$, found in one of three ways:

- `exact`: the variational equation of the loop, integrated with it;
- `didim`: the inverse-dynamics regressor on the simulated motion, as if the motion did not depend on the
  parameters (Gautier, Janot and Vandanjon); only for torques, and off by some per cent up to a third;
- `differences`: two simulations for each parameter.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, UnknownNameError
from steelyard.estimation.closed_loop.run import LoopRun, block_means
from steelyard.identifiable import MinimalModel
from steelyard.rollout import ClosedLoop, Rollout, rollout, sensitivities

T = TypeVar("T")

# Ways to the derivatives of a simulated loop that need nothing but simulations.

DIDIM_INTERVAL = 0.01
"""Longest stretch of simulated motion that stands for one row of the inverse-dynamics regressor, s."""
PROBE = 1e-4
"""Change of a parameter for differences, relative to its size or to the size of its kind, dimensionless."""


def didim_jacobian(model: MinimalModel, run: LoopRun, made: Rollout, cycle: float) -> Array:
    """The inverse-dynamics regressor on a simulated motion, in means over blocks as torques are.

    It takes the motion as given, as if it did not depend on the parameters. The state is averaged over
    stretches of at most `DIDIM_INTERVAL` first, a hundredth of a per cent beside what this leaves out.

    Args:
        model: the robot with its base parameters.
        run: what was measured, for its blocks.
        made: the simulated motion.
        cycle: length of a control cycle, s.

    Returns:
        Derivatives of the torques, shape (M, nv, b), SI.
    """
    stretch = max(1, min(run.average, round(DIDIM_INTERVAL / cycle)))
    while run.average % stretch:
        stretch -= 1
    a = np.gradient(made.v, cycle, axis=0) if len(made.v) > 1 else np.zeros_like(made.v)
    q, v, a = (block_means(x, stretch) for x in (made.q, made.v, a))
    Y = torque_regressor(model.robot, model.layout, q, v, a)
    return np.asarray(block_means(Y, run.average // stretch) @ model.basis)


def probes(model: MinimalModel, beta: Array) -> Array:
    """How far each parameter is moved for differences: by its size, or by a tenth of its kind's median.

    Args:
        model: the base parameters.
        beta: their values, shape (b,), SI.

    Returns:
        Changes, shape (b,), SI.
    """
    units = np.array(model.units)
    kinds = {unit: float(np.median(np.abs(beta[units == unit]))) for unit in set(model.units)}
    least = np.array([0.1 * kinds[unit] for unit in model.units])
    least[least == 0.0] = 0.1 * float(np.abs(beta).max(initial=0.0)) or 1.0
    return np.asarray(PROBE * np.maximum(np.abs(beta), least))


JACOBIANS = ("exact", "didim", "differences")
"""Ways to the derivatives of a simulated loop in the parameters."""
METRIC_SAMPLES = 1000
"""Samples of the references by which the size of a change of parameters is judged."""


@dataclass(frozen=True, eq=False)
class Response:
    """What the loop does with one parameter vector.

    Attributes:
        beta: base parameters, shape (b,), SI.
        signals: simulated signals of every run, one after the other, shape (M, c, nv), SI.
        residual: weighted measured minus simulated, shape (n,), SI.
        jacobian: J, weighted derivatives of the signals, shape (n, b), SI; None where not asked for.
    """

    beta: Array
    signals: Array
    residual: Array
    jacobian: Array | None = None

    @property
    def squares(self) -> float:
        """The sum of squared residuals, SI."""
        return float(self.residual @ self.residual)

    @property
    def rms(self) -> float:
        """The rms residual, SI."""
        return float(np.sqrt(self.squares / self.residual.size))


class LoopComparison:
    """Runs of a closed loop, and the signals in which a simulation is compared with them.

    Attributes:
        model: the robot with its base parameters.
        runs: what was measured.
        loop: controller, clock and integration scheme.
        weights: by signal (`tau`, `q`, `v`), one over the noise of each degree of freedom, shape (nv,), SI.
        simulations: how often a run was simulated so far.
        sensitivity_runs: how often it was with its derivatives.
    """

    def __init__(
        self, model: MinimalModel, runs: Sequence[LoopRun], loop: ClosedLoop, weights: dict[str, Array]
    ) -> None:
        """Check that runs, loop and model fit.

        Args:
            model: as the attribute.
            runs: as the attribute.
            loop: as the attribute.
            weights: as the attribute, each shape (nv,), SI.
        """
        if not runs:
            raise InputError("at least one is needed.", place="runs")
        loop.commands(model.robot)
        nv = model.robot.nv
        for run in runs:
            if run.tau.shape[1] != nv:
                raise InputError(f"has {run.tau.shape[1]} columns, the robot {nv} joints.", place="runs")
            if missing := [name for name in weights if getattr(run, name) is None]:
                raise InputError(f"a run has no {', '.join(missing)}.", place="runs")
        self.model, self.runs, self.loop, self.weights = model, tuple(runs), loop, dict(weights)
        self.simulations = self.sensitivity_runs = 0

    @cached_property
    def measured(self) -> Array:
        """Measured signals of every run, one after the other, shape (M, c, nv), SI."""
        return np.concatenate(
            [np.stack([getattr(run, name) for name in self.weights], axis=1) for run in self.runs]
        )

    @cached_property
    def size(self) -> float:
        """The norm of the weighted measured signals, SI."""
        return float(np.linalg.norm(self.measured * self._weight))

    @cached_property
    def _weight(self) -> Array:
        return np.stack(list(self.weights.values()))

    @cached_property
    def _basis(self) -> Array:
        """S, and what is known as a further column, shape (p, b) or (p, b + 1)."""
        known = self.model.offset
        return np.column_stack([self.model.basis, known]) if known.any() else self.model.basis

    def at(self, beta: Array, way: str | None = None) -> Response:
        """Simulate every run.

        Args:
            beta: base parameters, shape (b,), SI.
            way: how the derivatives are found, one of `JACOBIANS`; None for no derivatives.

        Returns:
            What the loop does.

        Raises:
            NoSolutionError: a simulation diverged, or the mass matrix is not positive definite; says when.
        """
        if way == "exact":
            return self._exact(beta)
        runs = [self._simulated(run, beta) for run in self.runs]
        signals = np.concatenate([self._blocks(run, made) for run, made in zip(self.runs, runs, strict=True)])
        residual = self._residual(signals)
        if way is None:
            return Response(beta, signals, residual)
        if way == "didim":
            J = np.concatenate([self._didim(run, made) for run, made in zip(self.runs, runs, strict=True)])
        elif way == "differences":
            J = self._differences(beta)
        else:
            raise UnknownNameError("jacobian", way, JACOBIANS)
        return Response(beta, signals, residual, self._stacked(J))

    def coarser(self, factor: int) -> LoopComparison:
        """The same comparison in longer blocks.

        Args:
            factor: blocks joined to one.
        """
        runs = [run.coarser(factor) for run in self.runs]
        return LoopComparison(self.model, runs, self.loop, self.weights)

    def joined(self, response: Response, factor: int) -> Response:
        """What the loop does in longer blocks, without another simulation: means of means.

        Args:
            response: what it does in the blocks of this comparison, with its derivatives.
            factor: blocks joined to one.

        Returns:
            What it does in those of `coarser(factor)`.
        """
        coarse, b = self.coarser(factor), self.model.size
        shape = response.signals.shape
        J = None if response.jacobian is None else response.jacobian.reshape(*shape, b)
        ends = np.cumsum([0, *(run.blocks for run in self.runs)])
        parts = [slice(a, z) for a, z in itertools.pairwise(ends)]
        signals = np.concatenate([block_means(response.signals[part], factor) for part in parts])
        if J is not None:
            J = np.concatenate([block_means(J[part], factor) for part in parts]).reshape(-1, b)
        return Response(response.beta, signals, coarse._residual(signals), J)

    def along_references(self) -> tuple[Array, Array]:
        """The torque equations with the references' velocities and accelerations, and measured positions.

        They need no simulation: they measure a change of parameters, and lead to parameters that can be
        simulated, where a start cannot. Where positions were not measured the references stand in.

        Returns:
            The factor R of the regressor, shape (b, b), SI, and z with R beta = z for the best beta, shape
            (b,), SI.
        """
        every = max(1, sum(run.blocks for run in self.runs) // METRIC_SAMPLES)
        middles = [run.average * np.arange(0, run.blocks, every) + run.average // 2 for run in self.runs]
        q, v, a = (
            np.concatenate([getattr(run, name)[k] for run, k in zip(self.runs, middles, strict=True)])
            for name in ("q_ref", "v_ref", "a_ref")
        )
        if all(run.q is not None for run in self.runs):
            q = np.concatenate([run.q[::every] for run in self.runs if run.q is not None])
        tau = np.concatenate([run.tau[::every] for run in self.runs])
        weight = self.weights.get("tau", np.ones(self.model.robot.nv))
        Y = torque_regressor(self.model.robot, self.model.layout, q, v, a)
        known = tau - Y @ self.model.offset
        A = ((Y @ self.model.basis) * weight[:, None]).reshape(-1, self.model.size)
        R = np.asarray(np.linalg.qr(np.column_stack([A, (known * weight).reshape(-1)]), mode="r"))
        return R[: self.model.size, :-1], R[: self.model.size, -1]

    def _simulated(self, run: LoopRun, beta: Array) -> Rollout:
        self.simulations += 1
        return self._run(rollout, run, beta)

    def _run(self, simulate: Callable[..., T], run: LoopRun, beta: Array, **options: int) -> T:
        """Let the loop drive one recording's reference: by `rollout`, or by `sensitivities`."""
        return simulate(
            self.model.robot,
            self.model.layout,
            self._theta(beta),
            run.q_ref,
            run.v_ref,
            run.a_ref,
            self.loop,
            basis=self._basis,
            q_start=run.q_start,
            v_start=run.v_start,
            **options,
        )

    def _theta(self, beta: Array) -> Array:
        return beta if self._basis.shape[1] == beta.size else np.append(beta, 1.0)

    def _exact(self, beta: Array) -> Response:
        b, signals, derivatives = self.model.size, [], []
        for run in self.runs:
            self.sensitivity_runs += 1
            made = self._run(sensitivities, run, beta, average=run.average)
            signals.append(np.stack([getattr(made, name) for name in self.weights], axis=1))
            derivatives.append(
                np.stack([getattr(made, f"d{name}")[..., :b] for name in self.weights], axis=1)
            )
        stacked = np.concatenate(signals)
        return Response(beta, stacked, self._residual(stacked), self._stacked(np.concatenate(derivatives)))

    def _didim(self, run: LoopRun, made: Rollout) -> Array:
        if set(self.weights) != {"tau"}:
            raise InputError("only torques have an inverse-dynamics regressor.", place="jacobian")
        return didim_jacobian(self.model, run, made, self.loop.cycle)[:, None]

    def _differences(self, beta: Array) -> Array:
        columns = []
        for k, h in enumerate(probes(self.model, beta)):
            ends = []
            for side in (-1.0, 1.0):
                moved = beta.copy()
                moved[k] += side * h
                runs = [self._blocks(run, self._simulated(run, moved)) for run in self.runs]
                ends.append(np.concatenate(runs))
            columns.append((ends[1] - ends[0]) / (2.0 * h))
        return np.stack(columns, axis=-1)

    def _blocks(self, run: LoopRun, made: Rollout) -> Array:
        return np.stack([block_means(getattr(made, name), run.average) for name in self.weights], axis=1)

    def _residual(self, signals: Array) -> Array:
        return np.asarray((self._weight * (self.measured - signals)).reshape(-1))

    def _stacked(self, derivatives: Array) -> Array:
        if not np.all(self._weight == 1.0):
            derivatives = derivatives * self._weight[:, :, None]
        return np.asarray(derivatives.reshape(-1, self.model.size))
