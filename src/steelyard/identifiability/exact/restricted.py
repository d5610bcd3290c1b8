"""What is proven of the parameters that are left when the layout fixes some."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from steelyard.identifiability.classes import TIE_BREAK
from steelyard.identifiability.exact.groupings import classes_of
from steelyard.identifiability.exact.result import ExactIdentifiability
from steelyard.identifiability.exact.vectors import Echelon, Rows
from steelyard.layout import Class


@dataclass(frozen=True, eq=False)
class ProvenRest:
    """What can be known of the free parameters of a layout.

    Attributes:
        names: names of the free parameters, in the order of the layout.
        classes: class of each.
        groupings: by the name of each base parameter, the parameters it is known with and their coefficients.
    """

    names: tuple[str, ...]
    classes: tuple[Class, ...]
    groupings: dict[str, dict[str, Fraction]]

    @property
    def count(self) -> int:
        """Number of identifiable combinations."""
        return len(self.groupings)


def proven_rest(proven: ExactIdentifiability) -> ProvenRest:
    """Ask what can be known of the parameters that the layout leaves free.

    The identifiable combinations of all parameters span those of the free ones when the columns of the fixed
    are dropped; a new elimination finds which of them are independent.

    Args:
        proven: what can be known of all parameters.

    Returns:
        The answer for the free ones.
    """
    layout = proven.layout
    place = {name: k for k, name in enumerate(_preferred(proven))}
    free = [name for name, is_free in zip(layout.names, layout.free, strict=True) if is_free]
    echelon = Echelon(len(place))
    for row in proven.groupings.values():
        echelon.absorb({place[name]: value for name, value in row.items() if layout.free[layout.index(name)]})
    names = list(place)
    groupings = {
        names[head]: {names[k]: Fraction(row[k]) for k in sorted(row)}
        for head, row in sorted(echelon.rows.items())
    }
    rows: Rows = {head: dict(row) for head, row in echelon.rows.items()}
    by_name = dict(zip(names, classes_of(rows, len(names)), strict=True))
    return ProvenRest(tuple(free), tuple(by_name[name] for name in free), groupings)


def _preferred(proven: ExactIdentifiability) -> list[str]:
    """All parameters in the order of preference: body by body, links in the tie-break, then drives."""
    names: list[str] = []
    for body in proven.bodies:
        mine = list(body.classes)
        names += [mine[k] for k in TIE_BREAK] + mine[10:]
    return names
