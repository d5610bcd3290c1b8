"""`Refinement`: where a search among simulated closed loops ended, why there, and how sure the answer is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.finding import Finding, Severity
from steelyard.identifiability import BaseParameters, MinimalModel
from steelyard.problem import Estimate


class RefinementOutcome(StrEnum):
    """How a refinement ended."""

    CONVERGED = "converged"
    STALLED = "stalled"
    DIVERGED = "diverged at the start"
    BUDGET = "budget"


@dataclass(frozen=True, eq=False)
class Refinement:
    """Parameters of which the simulated closed loop is nearest to the measured one.

    A search that did not converge is an answer too: the best point it reached, with the reason. Where the
    start itself cannot be simulated the values are the start's, and residual and history are empty.

    Attributes:
        method: name of the estimator.
        model: the base parameters.
        outcome: how the search ended.
        reason: in words, where it did not converge; empty where it did.
        values: beta, shape (b,), SI.
        start: where the search began, after it was moved to what is allowed, shape (b,), SI.
        covariance: of beta, from the residual as white noise and the last Jacobian, constraints aside, shape
            (b, b), SI; infinite variances where the data is blind; None where nothing could be simulated.
        parameters: a full vector of possible links behind beta, shape (p,), SI; None where not asked for.
        residual: rms of measured minus simulated by signal (`tau`, or `q` and `v`), each shape (nv,), SI.
        history: weighted rms residual at the start and after every accepted step, shape (k,), SI.
        samples: number of blocks compared.
        condition: condition number of the last Jacobian with columns scaled to unit norm, dimensionless.
        iterations: steps tried.
        simulations: runs simulated.
        sensitivity_runs: runs simulated with their derivatives.
        recordings: digests of the data used.
        detail: settings, as values JSON can hold.
        seconds: processor time of the search, s; not part of the result.
    """

    method: str
    model: MinimalModel
    outcome: RefinementOutcome
    reason: str
    values: Array
    start: Array
    covariance: Array | None
    parameters: Array | None
    residual: Mapping[str, Array]
    history: Array
    samples: int
    condition: float
    iterations: int
    simulations: int
    sensitivity_runs: int
    recordings: tuple[str, ...] = ()
    detail: Mapping[str, object] = field(default_factory=dict)
    seconds: float = field(default=float("nan"), compare=False)

    def __post_init__(self) -> None:
        b, p = self.model.size, self.model.layout.size
        shapes: dict[str, tuple[int | str, ...]] = {
            "values": (b,),
            "start": (b,),
            "covariance": (b, b),
            "parameters": (p,),
            "history": ("k",),
        }
        for name, shape in shapes.items():
            value = getattr(self, name)
            if value is not None:
                finite = name != "covariance"
                object.__setattr__(self, name, read_only(checked(name, value, shape, finite=finite)))
        residual = {name: read_only(value) for name, value in self.residual.items()}
        object.__setattr__(self, "residual", MappingProxyType(residual))
        object.__setattr__(self, "detail", MappingProxyType(dict(self.detail)))

    @property
    def converged(self) -> bool:
        """Whether the search ended at an optimum."""
        return self.outcome is RefinementOutcome.CONVERGED

    @property
    def rms(self) -> float:
        """Weighted rms residual at the end, SI; infinite where nothing could be simulated."""
        return float(self.history[-1]) if self.history.size else float("inf")

    @property
    def deviations(self) -> Array:
        """Standard deviations of beta, shape (b,), SI; infinite where nothing is known of them."""
        if self.covariance is None:
            return np.full(self.model.size, np.inf)
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def representative(self) -> Array:
        """A full vector that predicts what beta predicts, shape (p,), SI; possible links where there are."""
        return self.model.standard(self.values) if self.parameters is None else self.parameters

    def estimate(self, base: BaseParameters) -> Estimate:
        r"""The refinement as an `Estimate` of the layout's base parameters, for audit, export and report.

        With a reduction the layout has more of them than beta. Their values are those of the full vector
        behind beta, and their covariance $K S\,\Sigma\,S^T K^T$ says nothing of what the reduction assumes.

        Args:
            base: the base parameters of the layout, K, such as `problem.base`.

        Returns:
            The estimate; its findings say how the search ended where it did not converge.
        """
        phi, spread = self.representative, base.matrix @ self.model.basis
        covariance = None
        if self.covariance is not None and np.isfinite(self.covariance).all():
            covariance = spread @ self.covariance @ spread.T
        nv = self.model.robot.nv
        warning = Finding(Severity.WARNING, "not-converged", f"{self.outcome.value}: {self.reason}", "search")
        return Estimate(
            method=self.method,
            layout=self.model.layout,
            base=base,
            values=base.matrix @ phi,
            residual=np.asarray(self.residual.get("tau", np.zeros(nv))),
            samples=self.samples,
            condition=self.condition,
            covariance=covariance,
            parameters=phi,
            findings=() if self.converged else (warning,),
            recordings=self.recordings,
            detail={
                **self.detail,
                "outcome": self.outcome.value,
                "reason": self.reason,
                "iterations": self.iterations,
                "simulations": self.simulations,
                "sensitivity_runs": self.sensitivity_runs,
                "history": self.history.tolist(),
            },
        )
