r"""Many estimates of the same parameters, stage by stage, in one basis of principal components.

Rows of all stages are centred, divided by one scale for each parameter, $z = (\beta - c) / s$, and projected
on the common basis, $t = V z$. The rows of V are the principal directions of all stages together, so that
pictures of the stages share their axes (paper 004, Fig. 7). Parameters have different units; without scales
the largest numbers, not the least certain ones, would choose the axes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.audit.cloud_contraction import Contraction, contraction
from steelyard.audit.cloud_stage import CloudStage
from steelyard.errors import NoSolutionError, UnknownNameError


@dataclass(frozen=True, eq=False)
class ParameterCloud:
    """Estimates of many runs after each stage; arrays are read-only.

    Attributes:
        names: of the b parameters.
        units: their units.
        labels: of the n runs.
        stages: in their order.
        centre: c, mean of the rows that made the basis, shape (b,), SI.
        scales: s, shape (b,), SI.
        basis: V, orthonormal rows, shape (k, b), dimensionless.
        explained: share of the variance along each row of the basis, shape (k,), dimensionless.
        left_out: stage and label of wild rows that were projected but had no say in the basis.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    labels: tuple[str, ...]
    stages: tuple[CloudStage, ...]
    centre: Array
    scales: Array
    basis: Array
    explained: Array
    left_out: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        for name in ("centre", "scales", "basis", "explained"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def stage(self, name: str) -> CloudStage:
        """A stage by its name; raises `UnknownNameError` where there is none."""
        found = {stage.name: stage for stage in self.stages}
        if name not in found:
            raise UnknownNameError("stage", name, found)
        return found[name]

    def leading(self, component: int, count: int = 5) -> tuple[tuple[str, float], ...]:
        """Parameters that weigh most in a component, with their signed weights, the largest first."""
        weights = self.basis[component]
        order = np.argsort(-np.abs(weights), kind="stable")[:count]
        return tuple((self.names[k], float(weights[k])) for k in order)

    @property
    def contractions(self) -> tuple[Contraction, ...]:
        """What became of dispersion from each stage to the next."""
        return tuple(contraction(*pair) for pair in pairwise(self.stages))

    def ranking(self, candidates: Iterable[str] | None = None) -> tuple[tuple[str, float], ...]:
        """Candidates by their distance from the centre of the last stage, the most central first.

        Args:
            candidates: labels to choose from; all runs when not given.

        Returns:
            Labels with distances, dimensionless; equal distances by label, runs without an answer left out.

        Raises:
            UnknownNameError: a candidate is no run of the cloud.
        """
        wanted = self.labels if candidates is None else tuple(dict.fromkeys(candidates))
        place = {label: k for k, label in enumerate(self.labels)}
        for label in wanted:
            if label not in place:
                raise UnknownNameError("run", label, self.labels, place="candidates")
        last = self.stages[-1]
        found = ((label, float(last.distances[place[label]])) for label in wanted)
        return tuple(sorted((x for x in found if np.isfinite(x[1])), key=lambda x: (x[1], x[0])))

    def representative(self, candidates: Iterable[str] | None = None) -> str:
        """The most central candidate of the last stage.

        Args:
            candidates: labels to choose from; all runs when not given.

        Returns:
            Its label.

        Raises:
            UnknownNameError: a candidate is no run of the cloud.
            NoSolutionError: none of the candidates has an answer.
        """
        ranked = self.ranking(candidates)
        if not ranked:
            raise NoSolutionError(f"no candidate has an answer at stage '{self.stages[-1].name}'.")
        return ranked[0][0]
