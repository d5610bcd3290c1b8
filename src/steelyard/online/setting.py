"""All that is decided before a robot moves: what is known of it, what it must keep, and under which law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.consistency import InertiaBounds, inertia_bounds
from steelyard.control import RobustTracking, Tube
from steelyard.errors import InputError
from steelyard.limits import Clearance, Floor, MotionLimits, Scene, clearance_of
from steelyard.motion import RecedingPlan, RecedingPlans
from steelyard.online.certify_plan import PlanCertifier
from steelyard.online.law_choice import LawChoice
from steelyard.online.load_model import LoadModel
from steelyard.online.robust_torque import RobustLaw
from steelyard.robot import Geometry
from steelyard.uncertainty import ErrorBounds, PayloadBox

KR, LEVEL = 5.0, 1e-3
"""K_r in 1/s and V_M in J where none is asked for."""
SHORTEST_CYCLE = 1e-5
"""Shortest cycle of a control loop, s."""
REACH = 1.2
"""How far each joint may go in one plan where nothing else is asked for, rad or m."""


@dataclass(frozen=True, eq=False)
class Setting:
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
    """

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
    ) -> Setting:
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
        return replace(made, distance=distance, floor=floor, meshes=meshes, tool_meshes=tool_meshes)

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
            meshes=self.meshes,
            tool_meshes=self.tool_meshes,
            distance=self.distance,
            floor=self.floor,
        )

    def among(self, scene: Scene) -> Setting:
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

        Returns:
            The plans.
        """
        if isinstance(start, RecedingPlan):
            return RecedingPlans.after(start, self.reach)
        robot, timing = self.arm.robot, {"duration": self.duration, "switch": self.switch}
        return RecedingPlans.at_rest(robot.joint_names, start, self.reach, robot=robot.digest, **timing)
