"""All that is decided before a robot moves: what is known of it, what it must keep, and under which law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.consistency import InertiaBounds, inertia_bounds
from steelyard.control import RobustTracking, Tube
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.limits import Clearance, Floor, MotionLimits, Scene, clearance_of
from steelyard.motion import RecedingPlan, RecedingPlans
from steelyard.payloads import Mount
from steelyard.robot import Geometry, MeshSource, Robot
from steelyard.safe_learning.planning.certificate import RobustLaw
from steelyard.safe_learning.planning.certifier import PlanCertifier
from steelyard.uncertainty import ErrorBounds, PayloadBox

# Which robust law is used, as far as it does not follow from robot and load.

ALPHA, KAPPA, REST = 1.0, 50.0, 0.02
"""α in 1/s, κ in N·m·s/rad and v_0 in rad/s where none is asked for."""


@dataclass(frozen=True)
class LawChoice:
    """The robust law.

    Attributes:
        form: one of `control.FORMS`.
        alpha: α of armour and clamped, 1/s.
        kappa: κ of componentwise, N·m·s/rad or N·s/m.
        rest_velocity: v_0 below which friction is compensated in part, rad/s or m/s.
    """

    form: str = "clamped"
    alpha: float = ALPHA
    kappa: float = KAPPA
    rest_velocity: float = REST


# A robot that is known within spreads and carries a load that is known within a box.
#
# The load's ten numbers are stated in the frame it is held in; T takes them to the link that carries it. The
# law computes with the middles, and what it must bear is all of both boxes:
#
# $$\theta_0 = \theta_r + T\,\tfrac12(\overline\pi + \underline\pi), \qquad
#   \Delta = \Delta_r + |T|\,\tfrac12(\overline\pi - \underline\pi)$$

_OUTWARD = 1.0 + 1e-12
"""More than sums of ten products lose to rounding."""


class ParameterBox(NamedTuple):
    """What robot and load together can be.

    Attributes:
        nominal: the middle, shape (p,), SI.
        half_widths: shape (p,), SI.
    """

    nominal: Array
    half_widths: Array


@dataclass(frozen=True, eq=False)
class LoadModel:
    """What is known of a robot without its load, and where it holds one; arrays are read-only.

    Attributes:
        robot: the robot, an arm.
        layout: the order of its parameters.
        parameters: without the load, shape (p,), SI.
        spread: by how much each may differ, shape (p,), SI.
        held: where the load is held.
    """

    robot: Robot
    layout: Layout
    parameters: Array
    spread: Array
    held: Mount

    def __post_init__(self) -> None:
        self.robot.require_arm()
        keep_checked(self, (self.layout.size,), "parameters", "spread")
        if (self.spread < 0.0).any():
            raise InputError("must not be negative.", place="spread")

    @classmethod
    def stated(
        cls, robot: Robot, layout: Layout, held: Mount, *, model_error: float, whole_link: bool = False
    ) -> LoadModel:
        """What the description states, within a share of each parameter.

        Args:
            robot: the robot; every moving link must state an inertial.
            layout: the order of its parameters.
            held: where the load is held.
            model_error: share of every parameter by which it may differ, dimensionless.
            whole_link: whether the link that carries the load counts as part of it, as the end-effector of
                Zhang et al. (2025) does; then nothing is known of it but what is known of the load.

        Raises:
            DescriptionError: a link states no inertial.
        """
        phi = layout.complete_nominal()
        if whole_link:
            phi[layout.of_link(held.link)] = 0.0
        return cls(robot, layout, phi, model_error * np.abs(phi), held)

    @property
    def carrier(self) -> slice:
        """Which parameters are those of the link that carries the load."""
        return self.layout.of_link(self.held.link)

    def with_load(self, load: PayloadBox) -> ParameterBox:
        """The box of all parameters when the load is in a box of its own.

        Args:
            load: what the load can be, in the frame it is held in.

        Returns:
            Its middle and half widths.
        """
        nominal, half = self.parameters.copy(), self.spread.copy()
        T = self.held.to_link
        nominal[self.carrier] += T @ load.centre
        lost = np.abs(T) @ np.abs(load.centre) * (_OUTWARD - 1.0)
        half[self.carrier] += np.abs(T) @ load.spread * _OUTWARD + lost
        return ParameterBox(read_only(nominal), read_only(half))


KR, LEVEL = 5.0, 1e-3
"""K_r in 1/s and V_M in J where none is asked for."""
SHORTEST_CYCLE = 1e-5
"""Shortest cycle of a control loop, s."""
REACH = 1.2
"""How far each joint may go in one plan where nothing else is asked for, rad or m."""


@dataclass(frozen=True, eq=False)
class SafeLearningConfig:
    """The task of learning a load while moving safely.

    Attributes:
        arm: what is known of the robot, and where it holds the load.
        prior: what the load can be, in the frame it is held in; the truth must be inside.
        errors: how far readings and model can be off; its parameters are the arm's spread.
        tube: what the robot keeps to from the first cycle to the last.
        law: the robust law.
        scene: what stands around the robot.
        tool: shapes it holds, in its tool frame.
        cycle: length of a control cycle, s.
        duration: of a plan, from its start to its stop, s.
        switch: when the next plan takes over, s.
        reach: how far each joint may go in one plan, shape (nv,), rad or m.
        window: length of the windows over which momentum is balanced, s.
        distance: how far apart everything must stay, m.
        floor: what the robot stands on; None for nothing.
        meshes: folder where meshes of the description are looked for; None where there is none.
        tool_meshes: folder where meshes of the tool are looked for; None for the same one.
        package_path: folders in which packages of meshes are looked for.
    """

    stored_as: ClassVar[str] = "Setting"

    arm: LoadModel
    prior: PayloadBox
    errors: ErrorBounds
    tube: Tube
    law: LawChoice
    scene: Scene
    tool: tuple[Geometry, ...]
    cycle: float
    duration: float
    switch: float
    reach: Array
    window: float = 0.1
    distance: float = 0.0
    floor: Floor | None = None
    meshes: str | None = None
    tool_meshes: str | None = None
    package_path: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        robot = self.arm.robot
        reach = np.broadcast_to(checked("reach", self.reach, ("...",)), (robot.nv,))
        object.__setattr__(self, "reach", read_only(reach))
        if not SHORTEST_CYCLE <= self.cycle <= self.switch:
            raise InputError(
                f"must be {SHORTEST_CYCLE:g} to {self.switch:g} s, got {self.cycle:g} s.", place="cycle"
            )
        steps = self.switch / self.cycle
        if abs(steps - round(steps)) > 1e-6:
            raise InputError(
                f"of {self.switch:g} s is no whole number of cycles of {self.cycle:g} s.", place="switch"
            )

    @classmethod
    def of(
        cls,
        arm: LoadModel,
        prior: PayloadBox,
        errors: ErrorBounds,
        *,
        law: LawChoice | None = None,
        kr: float = KR,
        level: float | None = None,
        radius: float | None = None,
        scene: Scene | None = None,
        tool: tuple[Geometry, ...] = (),
        cycle: float = 1e-3,
        duration: float = 3.0,
        switch: float = 1.5,
        reach: ArrayLike = REACH,
        distance: float = 0.0,
        floor: Floor | None = None,
        meshes: str | None = None,
        tool_meshes: str | None = None,
        package_path: tuple[str, ...] = (),
    ) -> SafeLearningConfig:
        """A setting whose tube follows from the lightest that robot and load can be.

        Args:
            arm: what is known of the robot.
            prior: what the load can be.
            errors: how far readings and model can be off.
            law: the robust law; None for the clamped one.
            kr: K_r of the tube, 1/s.
            level: V_M, J; None for `LEVEL`, or what `radius` needs.
            radius: ε, instead of a level, rad/s or m/s.
            scene: what stands around the robot.
            tool: shapes it holds.
            cycle: length of a control cycle, s.
            duration: of a plan, s.
            switch: when the next plan takes over, s.
            reach: how far each joint may go in one plan, shape () or (nv,), rad or m.
            distance: how far apart everything must stay, m.
            floor: what the robot stands on; None for nothing.
            meshes: folder where meshes of the description are looked for; None where there is none.
            tool_meshes: folder where meshes of the tool are looked for; None for the same one.
            package_path: folders in which packages of meshes are looked for.

        Returns:
            The setting.

        Raises:
            NoSolutionError: no positive lower bound of the mass matrix follows; names the joint whose rotor
                inertia is missing.
        """
        box = arm.with_load(prior)
        inertia = inertia_bounds(arm.robot, arm.layout, box.nominal, box.half_widths)
        if radius is not None:
            tube = Tube.of_radius(radius, inertia.smallest, kr)
        else:
            tube = Tube(LEVEL if level is None else level, inertia.smallest, kr)
        choice, around = law or LawChoice(), scene or Scene()
        ends = np.asarray(reach, dtype=float)
        made = cls(arm, prior, errors, tube, choice, around, tool, cycle, duration, switch, ends)
        return replace(
            made,
            distance=distance,
            floor=floor,
            meshes=meshes,
            tool_meshes=tool_meshes,
            package_path=package_path,
        )

    @cached_property
    def inertia(self) -> InertiaBounds:
        """How light and how heavy robot and load can be."""
        box = self.arm.with_load(self.prior)
        return inertia_bounds(self.arm.robot, self.arm.layout, box.nominal, box.half_widths)

    @cached_property
    def clearance(self) -> Clearance:
        """What must stay apart."""
        return clearance_of(
            self.arm.robot,
            self.scene,
            tool=self.tool,
            meshes=None if self.meshes is None else MeshSource(self.meshes, self.package_path),
            tool_meshes=self.tool_meshes,
            distance=self.distance,
            floor=self.floor,
        )

    def among(self, scene: Scene) -> SafeLearningConfig:
        """The same setting with other things around the robot.

        Args:
            scene: what stands around it now.

        Returns:
            The setting.
        """
        return replace(self, scene=scene)

    def controller(self, load: PayloadBox) -> RobustTracking:
        """The law for what is known of the load.

        Args:
            load: what the load can be, inside the prior.

        Returns:
            The law; its tube is this setting's.
        """
        box, law = self.arm.with_load(load), self.law
        armour, parts = law.form == "armour", law.form == "componentwise"
        return RobustTracking(
            self.arm.robot,
            self.arm.layout,
            box.nominal,
            box.half_widths,
            self.tube.kr,
            self.tube.level,
            self.tube.smallest_inertia,
            form=law.form,
            alpha=None if parts else law.alpha,
            kappa=law.kappa if parts else None,
            largest_inertia=self.inertia.largest if armour else None,
            rest_velocity=law.rest_velocity,
            cycle=self.cycle,
        )

    def certifier(self, load: PayloadBox) -> PlanCertifier:
        """What proves plans for what is known of the load.

        Args:
            load: what the load can be, inside the prior.

        Returns:
            The certifier of the law that `controller` gives for the same load.
        """
        law = self.controller(load)
        limits = MotionLimits(
            self.arm.robot, self.clearance, self.arm.layout, law.parameters, distance=self.distance
        )
        proven = RobustLaw(law.form, law.reserve, law.rest_velocity)
        return PlanCertifier(limits, law.half_widths, self.tube, proven)

    def plans(self, start: ArrayLike | RecedingPlan) -> RecedingPlans:
        """The plans to choose from.

        Args:
            start: where the robot stands, shape (nv,), rad or m; or the plan that is driven.
        """
        if isinstance(start, RecedingPlan):
            return RecedingPlans.after(start, self.reach)
        robot, timing = self.arm.robot, {"duration": self.duration, "switch": self.switch}
        return RecedingPlans.at_rest(robot.joint_names, start, self.reach, robot=robot.digest, **timing)
