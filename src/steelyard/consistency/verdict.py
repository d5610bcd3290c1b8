"""Can this parameter vector be? A verdict for every link and every drive term, with margins and reasons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.drive import drive_term
from steelyard.inertia import check_body
from steelyard.layout import Layout


@dataclass(frozen=True)
class Judgement:
    """Whether one link or one drive term can be.

    Attributes:
        name: of the link or the parameter.
        consistent: whether it can, up to round-off.
        strict: whether it is inside the possible, beyond round-off.
        margin: of a link, the smallest eigenvalue of its pseudo-inertia over the largest in magnitude,
            lengths scaled, dimensionless; of a drive term, how far it is from its nearer bound, in its
            unit; negative when impossible.
        reasons: what is wrong, in words with numbers; empty exactly when consistent.
    """

    name: str
    consistent: bool
    strict: bool
    margin: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class PhysicalVerdict:
    """Whether a full parameter vector can be.

    Attributes:
        links: one judgement for each moving link.
        drives: one for each drive term that is bounded.
        fixed: one for each parameter the layout fixes, in its unit.
    """

    links: tuple[Judgement, ...]
    drives: tuple[Judgement, ...]
    fixed: tuple[Judgement, ...]

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """All of them."""
        return (*self.links, *self.drives, *self.fixed)

    @property
    def consistent(self) -> bool:
        """Whether all can be."""
        return all(judgement.consistent for judgement in self.judgements)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Every reason with the name of what it is about."""
        return tuple(f"{x.name}: {reason}" for x in self.judgements for reason in x.reasons)

    def __bool__(self) -> bool:
        return self.consistent


def check_parameters(layout: Layout, parameters: ArrayLike) -> PhysicalVerdict:
    """Ask whether a full parameter vector is physically possible.

    Every link must be a body that can exist, drive terms must lie within their bounds, and what the layout
    fixes, such as the zeros of a virtual link, must have its value.

    Args:
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
    """
    phi = checked("parameters", parameters, (layout.size,))
    links = []
    for link in layout.links:
        body = check_body(phi[layout.of_link(link)])
        reasons = tuple(str(reason) for reason in body.reasons)
        links.append(Judgement(link, body.consistent, body.strict, body.relative_eigenvalue, reasons))
    drives, fixed = [], []
    for k, (parameter, value) in enumerate(zip(layout.parameters, phi.tolist(), strict=True)):
        if k >= 10 * len(layout.links) and not drive_term(parameter.term).signed:
            below = drive_term(parameter.term).below
            says = () if value >= 0 else (f"{value:.6g} {parameter.unit} is negative.",)
            if value >= below:
                says = (f"{value:.6g} is not below {below:g}, where the gear locks itself.",)
            margin = min(value, below - value)
            drives.append(Judgement(parameter.name, not says, margin > 0, margin, says))
        if parameter.fixed and parameter.nominal is not None:
            off = abs(value - parameter.nominal)
            same = off <= 1e-12 * max(abs(parameter.nominal), np.finfo(float).tiny)
            says = (
                () if same else (f"{value:.6g} {parameter.unit} is not the known {parameter.nominal:.6g}.",)
            )
            fixed.append(Judgement(parameter.name, same, same, -off, says))
    return PhysicalVerdict(tuple(links), tuple(drives), tuple(fixed))
