"""What a robot lacks to be driven under a robust law, and a tube made wide enough to be kept in cycles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.control import Tube
from steelyard.errors import InputError, NoSolutionError
from steelyard.safe_learning.config import SafeLearningConfig
from steelyard.safe_learning.planning.certifier import Plan, PlanCertifier
from steelyard.safe_learning.planning.cost import GoalCost
from steelyard.safe_learning.planning.search import Planner
from steelyard.safe_learning.planning.tube import TubeDynamics, TubeForms, tube_forms

# What a robot lacks to be driven under a robust law: inertia for its tube, or torque for a plan.
#
# The proof of a tube is in continuous time. Held over cycles of h seconds, the torque lags by one, and r can
# overshoot by about $2 h \|w_M\| / \sigma_m$ (see `control.RobustTracking`). A tube is of use where its
# radius is well above that,
#
# $$\varepsilon \ge \mu\,\frac{2 h \|w_M(\varepsilon, I_a)\|}{\sigma_m(I_a)}, \qquad
#   \sigma_m = \min_j (I_{a,j} - \rho_{a,j}).$$
#
# It can be read for any of three: the smallest ε, the longest h, the lightest rotors $I_a$. As the
# disturbance grows with ε (the reference accelerates by up to $2 K_r \varepsilon$ more) and with the rotors'
# own uncertainty, the first and the last are fixed points, found from below; there may be none.

OVERSHOOTS = 2.0
"""μ. With it r of a Gen3 with heavy rotors stayed below a quarter of ε in simulation."""
STRETCHES = 16
"""Into how many stretches a plan is cut."""
_ROUNDS = 60
_SETTLED = 1e-6
_BEYOND = 1e3
"""A fixed point this much above where its search began counts as none."""


@dataclass(frozen=True)
class TubeRequirements:
    """Whether a law can keep its tube in cycles, and what it would take; infinite where nothing would.

    Attributes:
        radius: ε that is asked for, rad/s.
        cycle: h, s.
        disturbance: the norm of w_M at its greatest, N·m.
        smallest_inertia: σ_m as it is, kg·m².
        lightest: names of the joints whose rotors are lighter than needed.
        rotor_inertia: what each rotor must have at least for this radius and cycle, kg·m².
        longest_cycle: for this radius with the rotors as they are, s.
        smallest_radius: for this cycle with the rotors as they are, rad/s.
    """

    radius: float
    cycle: float
    disturbance: float
    smallest_inertia: float
    lightest: tuple[str, ...]
    rotor_inertia: float
    longest_cycle: float
    smallest_radius: float

    @property
    def met(self) -> bool:
        """Whether the tube is of use as it is."""
        return self.cycle <= self.longest_cycle

    @property
    def sentence(self) -> str:
        """What is needed, in words."""
        what = f"a tube of {self.radius:.3g} rad/s at a cycle of {1e3 * self.cycle:.3g} ms"
        if self.met:
            return f"The rotors bear {what}."
        ways = [f"a cycle of at most {1e3 * self.longest_cycle:.2g} ms"]
        if math.isfinite(self.rotor_inertia):
            whose = ", ".join(self.lightest)
            ways.insert(0, f"a rotor inertia of at least {self.rotor_inertia:.3g} kg·m² at {whose}")
        if math.isfinite(self.smallest_radius):
            ways.append(f"a tube of at least {self.smallest_radius:.2g} rad/s")
        return (
            f"An inertia of {self.smallest_inertia:.3g} kg·m² is too little for {what} against "
            f"{self.disturbance:.3g} N·m of disturbance: it takes {', or '.join(ways)}."
        )


def tube_requirements(certifier: PlanCertifier, plans: Sequence[Plan], cycle: float) -> TubeRequirements:
    """Say whether the tube of a certifier can be kept in cycles along plans, and what else would do.

    Args:
        certifier: the box of parameters, the tube and the law; its layout has the drive's `rotor`.
        plans: the plans, one or more.
        cycle: h, s.

    Returns:
        What is needed.

    Raises:
        InputError: the layout has no rotor inertias, or there is no plan.
    """
    dynamics, tube = certifier.dynamics, certifier.tube
    columns = dynamics.layout.drive_columns[:, 3]
    if (columns < 0).any():
        raise InputError("has no rotor inertias.", place="layout", remedy="Add the drive's 'rotor'.")
    if not plans:
        raise InputError("must be one or more.", place="plans")
    rotor, spread = dynamics.nominal[columns], dynamics.half_widths[columns]
    share = np.divide(spread, rotor, out=np.zeros_like(rotor), where=rotor > 0.0)
    per_inertia = OVERSHOOTS * 2.0 * cycle

    def most(at: TubeDynamics) -> float:
        return max(float(np.linalg.norm(w, axis=1).max()) for w in (_disturbance(at, p) for p in plans))

    def heavier(inertia: float) -> TubeDynamics:
        """The robot with no rotor that could be lighter."""
        phi, rho = dynamics.nominal.copy(), dynamics.half_widths.copy()
        phi[columns] = np.maximum(rotor, inertia / (1.0 - share))
        rho[columns] = np.where(rotor > 0.0, share * phi[columns], spread)
        return replace(dynamics, nominal=phi, half_widths=rho)

    def wider(radius: float) -> TubeDynamics:
        return replace(dynamics, tube=Tube.of_radius(radius, tube.smallest_inertia, tube.kr))

    w, sigma, epsilon = most(dynamics), tube.smallest_inertia, tube.radius
    inertia = _fixed_point(lambda x: per_inertia * most(heavier(x)) / epsilon, 0.0)
    rotors = inertia / (1.0 - share)
    light = np.flatnonzero(rotor < rotors)
    return TubeRequirements(
        radius=epsilon,
        cycle=cycle,
        disturbance=w,
        smallest_inertia=sigma,
        lightest=tuple(dynamics.robot.joint_names[j] for j in light),
        rotor_inertia=float(rotors.max()),
        longest_cycle=epsilon * sigma / (OVERSHOOTS * 2.0 * w) if w > 0.0 else math.inf,
        smallest_radius=_fixed_point(lambda x: per_inertia * most(wider(max(x, 1e-9))) / sigma, 0.0),
    )


def needed_torques(certifier: PlanCertifier, plan: Plan) -> Array:
    """The torque limits with which a plan is certified as far as torques go.

    Args:
        certifier: the box of parameters, the tube and the law.
        plan: the plan.

    Returns:
        The least limits that are known to suffice, shape (nv,), N·m.
    """
    torques = certifier.dynamics.torques(_along(plan, certifier.tube))
    most = np.maximum(-torques.lower, torques.upper) + certifier.law.torque_bound(torques.disturbance)
    needed: Array = np.nextafter(np.nextafter(most, np.inf).max(axis=0), np.inf)
    return needed


def _along(plan: Plan, tube: Tube) -> TubeForms:
    edges = np.union1d(plan.breaks, np.linspace(0.0, plan.duration, STRETCHES + 1))
    return tube_forms(plan, edges[:-1], edges[1:], tube)


def _disturbance(dynamics: TubeDynamics, plan: Plan) -> Array:
    return dynamics.torques(_along(plan, dynamics.tube)).disturbance


def _fixed_point(image: Callable[[float], float], start: float) -> float:
    """Where a growing function is the identity, from below; infinite where it runs away."""
    x = first = image(start)
    for _ in range(_ROUNDS):
        last, x = x, image(x)
        if x <= last * (1.0 + _SETTLED):
            return x * (1.0 + 10.0 * _SETTLED)
        if not x <= _BEYOND * first:
            break
    return math.inf


# A tube wide enough for a loop that runs in cycles, or the reason why none is

TRIED = 4
"""Plans along which the disturbance is looked at."""
SHARE = 0.5
"""Of the reach, how far they go."""
_ABOVE = 1.001


def with_sized_tube(
    setting: SafeLearningConfig, start: ArrayLike, rng: np.random.Generator
) -> SafeLearningConfig:
    """Widen the tube where cycles are too long for it.

    Args:
        setting: with the tube that is wished for.
        start: where the robot stands, shape (nv,), rad or m.
        rng: source of the plans that are looked at.

    Returns:
        The setting, with the smallest useful tube that is not below its own.

    Raises:
        NoSolutionError: no tube is of use; says which rotor inertia or cycle would be needed.
    """
    needs = _needs(setting, start, rng)
    if needs.met:
        return setting
    wider = needs.smallest_radius * _ABOVE
    if not np.isfinite(wider):
        raise NoSolutionError(
            needs.sentence,
            place=f"robot '{setting.arm.robot.name}'",
            remedy="State the gears' inertia (--rotor), or control in shorter cycles (--cycle).",
            evidence={"joints": needs.lightest, "rotor_inertia": needs.rotor_inertia},
        )
    tube = Tube.of_radius(wider, setting.tube.smallest_inertia, setting.tube.kr)
    return replace(setting, tube=tube)


def _needs(setting: SafeLearningConfig, start: ArrayLike, rng: np.random.Generator) -> TubeRequirements:
    certifier = setting.certifier(setting.prior)
    q = np.asarray(start, dtype=float)
    family = Planner(certifier, GoalCost(q)).kept(setting.plans(q))
    choices = SHARE * rng.uniform(-1.0, 1.0, (TRIED, len(q)))
    return tube_requirements(certifier, [family.plan(k).motion for k in choices], setting.cycle)
