r"""Solids of constant density, each in its own frame, by mass or by density.

Each is given by its volume and the central second moments per unit mass $\Sigma/m = \mathrm{diag}(\sigma)$;
then $I_c = \mathrm{tr}(\Sigma)\,\mathbb 1 - \Sigma$. Axes and sizes are those of URDF: the frame sits in the
centre, a box has full side lengths, a cylinder lies along z. URDF has no capsule, ellipsoid or cone: here
a capsule's length is that of its straight part, an ellipsoid has semi-axes, and a cone's frame sits in the
centre of its base with the apex at +z.
"""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.errors import InputError
from steelyard.inertia.body import Body


def sphere(radius: float, *, mass: float | None = None, density: float | None = None) -> Body:
    """A solid sphere about its centre.

    Args:
        radius: m.
        mass: kg; give this or the density.
        density: kg/m^3.
    """
    return ellipsoid((radius, radius, radius), mass=mass, density=density)


def ellipsoid(semi_axes: ArrayLike, *, mass: float | None = None, density: float | None = None) -> Body:
    """A solid ellipsoid about its centre, its axes along those of the frame.

    Args:
        semi_axes: shape (3,), m.
        mass: kg; give this or the density.
        density: kg/m^3.
    """
    a = checked("semi_axes", semi_axes, (3,))
    _refuse_unless_positive(semi_axes=a)
    return _solid(4 / 3 * pi * float(a.prod()), a**2 / 5, mass, density)


def box(sides: ArrayLike, *, mass: float | None = None, density: float | None = None) -> Body:
    """A solid box about its centre.

    Args:
        sides: full lengths along x, y, z, shape (3,), m.
        mass: kg; give this or the density.
        density: kg/m^3.
    """
    a = checked("sides", sides, (3,))
    _refuse_unless_positive(sides=a)
    return _solid(float(a.prod()), a**2 / 12, mass, density)


def cylinder(
    radius: float, length: float, *, mass: float | None = None, density: float | None = None
) -> Body:
    """A solid cylinder along z about its centre.

    Args:
        radius: m.
        length: m.
        mass: kg; give this or the density.
        density: kg/m^3.
    """
    _refuse_unless_positive(radius=radius, length=length)
    sigma = (radius**2 / 4, radius**2 / 4, length**2 / 12)
    return _solid(pi * radius**2 * length, sigma, mass, density)


def capsule(radius: float, length: float, *, mass: float | None = None, density: float | None = None) -> Body:
    """A solid cylinder along z with a half sphere on each end, about its centre.

    Args:
        radius: m.
        length: of the straight part; the whole is longer by twice the radius, m.
        mass: kg; give this or the density.
        density: kg/m^3.
    """
    _refuse_unless_positive(radius=radius, length=length)
    r, h = radius, length
    middle, ends = pi * r**2 * h, 4 / 3 * pi * r**3
    across = middle * r**2 / 4 + ends * r**2 / 5
    along = middle * h**2 / 12 + ends * (r**2 / 5 + h**2 / 4 + 3 * h * r / 8)
    volume = middle + ends
    return _solid(volume, (across / volume, across / volume, along / volume), mass, density)


def mass_of_volume(volume: float, mass: float | None, density: float | None) -> float:
    """The mass of a solid given by either its mass or its density.

    Args:
        volume: m^3.
        mass: kg, or None.
        density: kg/m^3, or None.

    Returns:
        the mass, kg.

    Raises:
        InputError: both or neither are given, or the one given is not positive.
    """
    if (mass is None) == (density is None):
        raise InputError("give exactly one of mass and density.", place="mass, density")
    if mass is not None:
        _refuse_unless_positive(mass=mass)
        return float(mass)
    _refuse_unless_positive(density=density)
    return float(density or 0.0) * volume


def _solid(
    volume: float,
    sigma: ArrayLike,
    mass: float | None,
    density: float | None,
    com: ArrayLike = (0.0, 0.0, 0.0),
) -> Body:
    m = mass_of_volume(volume, mass, density)
    second = m * np.asarray(sigma, dtype=np.float64)
    return Body(m, np.asarray(com), np.diag(second.sum() - second))


def _refuse_unless_positive(**values: ArrayLike | None) -> None:
    for name, value in values.items():
        array = np.asarray(value, dtype=np.float64)
        if not (np.isfinite(array).all() and (array > 0).all()):
            raise InputError(
                f"must be positive and finite, got {array.tolist()}.", place=name, evidence={name: value}
            )
