"""The two ways a well-stated program can have no optimum; both carry the certificate that shows it."""

from __future__ import annotations

from steelyard.errors import NoSolutionError


class InfeasibleError(NoSolutionError):
    """No point satisfies the constraints; the evidence holds the combination of constraints that shows it."""


class UnboundedError(NoSolutionError):
    """The objective falls for ever inside the constraints; the evidence holds the direction (`ray`)."""
