"""Arms by their name alone: random one-second motions certified under a robust law, or what it would take.

Everything the zoo states of an arm may be off by 5 %. The tube is the smallest that the law keeps in cycles,
not below 0.016 rad/s; where none is of use, the arm is given the rotor inertia that its refusal names.
Motions go from rest to rest, as far as half of the speed and acceleration limits and 60 % of the torque
limits let them. What is certified is driven in MuJoCo on arms at both ends of the spread. About a minute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array
from steelyard.consistency import inertia_bounds
from steelyard.control import RobustTracking, Tube
from steelyard.drive import Drive
from steelyard.dynamics import inverse_dynamics
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, NotCertifiedError, bounds_of, clearance_of
from steelyard.motion import SplineMotion
from steelyard.motion.spline import bezier
from steelyard.robot import Robot
from steelyard.safe_learning.planning.certificate import RobustLaw
from steelyard.safe_learning.planning.certifier import PlanCertifier
from steelyard.safe_learning.planning.tube_sizing import (
    TubeRequirements,
    needed_torques,
    tube_requirements,
)
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot
from tables import Bound, Study

ROBOTS = ("kinova_gen3", "kinova_gen3_2f85", "panda", "lbr_med7")
CYCLES = (1e-3, 0.25e-3)
COUNT, ENOUGH, SEED = 20, 15, 20260117
SPREAD, RADIUS, KR, REST, ALPHA = 0.05, 0.016, 5.0, 0.02, 1.0
SPEED, LIFT, DURATION = 0.5, 0.6, 1.0
NEAREST = 0.005
"""How far apart everything must be at the samples of a motion that is asked for, m."""
DRIVE = ("viscous", "coulomb", "offset", "rotor")
# A quintic from rest to rest over T: peak speed and acceleration of a unit step.
PEAK_SPEED, PEAK_ACCELERATION = 15.0 / 8.0, 10.0 / np.sqrt(3.0)


@dataclass(frozen=True, eq=False)
class Answer:
    """What became of the motions of one robot at one cycle.

    Attributes:
        robot: its name.
        cycle: of the controller, s.
        needs: of the tube of 0.016 rad/s.
        rotor: inertia the rotors were given, because no tube is of use without; 0 where they are as stated,
            kg·m².
        radius: of the tube that was chosen, rad/s.
        certified: how many motions were certified.
        named: how many refusals name the torque limit with which the motion is certified.
        left: runs in MuJoCo that left the tube or a torque limit.
        widest: greatest share of the tube's radius seen there.
    """

    robot: str
    cycle: float
    needs: TubeRequirements
    rotor: float
    radius: float
    certified: int
    named: int
    left: int
    widest: float


def run() -> Study:
    """Every robot at every cycle."""
    answers = [answer(name, cycle) for name in ROBOTS for cycle in CYCLES]
    return Study(
        "Certified by name",
        f"{COUNT} random motions of {DURATION:g} s for each arm; everything known to {100 * SPREAD:g} %. "
        + " ".join(f"{x.robot}: {x.needs.sentence}" for x in answers),
        tuple(bound for x in answers for bound in _bounds(x)),
    )


def _bounds(x: Answer) -> list[Bound]:
    where = f"{x.robot} at {1e3 * x.cycle:g} ms"
    if x.rotor:
        where += f", rotors of {x.rotor:.3g} kg·m² as its refusal asks for"
    note = f"tube of {x.radius:.3g} rad/s"
    return [
        Bound(f"{where}: motions certified", x.certified, ENOUGH, atmost=False, note=note),
        Bound(f"{where}: refusals that do not name a limit that suffices", COUNT - x.certified - x.named, 0),
        Bound(
            f"{where}: runs in MuJoCo that leave the tube or a torque limit",
            x.left,
            0,
            note=f"widest {x.widest:.2f} of the radius",
        ),
    ]


def answer(name: str, cycle: float, count: int = COUNT) -> Answer:
    """Certify motions of a robot for a cycle, and drive them."""
    robot, rotor = zoo_robot(name), 0.0
    rng = np.random.default_rng([SEED, *name.encode()])
    plans = [_drawn(rng, robot) for _ in range(count)]
    needs = tube_requirements(_certifier(robot, RADIUS), plans, cycle)
    radius = max(RADIUS, needs.smallest_radius)
    if not np.isfinite(radius):
        rotor, radius = needs.rotor_inertia, RADIUS
        robot = _geared(robot, rotor)
        plans = [_drawn(rng, robot) for _ in range(count)]
    certifier = _certifier(robot, radius)
    certified, named = [], 0
    for plan in plans:
        try:
            certifier.certify(plan)
            certified.append(plan)
        except NotCertifiedError as refusal:
            named += refusal.kind == "torque" and _suffices(certifier, plan)
    shares = [_driven(certifier, plan, cycle, sign) for plan in certified for sign in (-1.0, 1.0)]
    left = sum(max(share) > 1.0 for share in shares)
    widest = max((share[0] for share in shares), default=0.0)
    return Answer(name, cycle, needs, rotor, radius, len(certified), named, left, widest)


def _certifier(robot: Robot, radius: float) -> PlanCertifier:
    layout = layout_of(robot, DRIVE)
    phi = layout.complete_nominal()
    rho = SPREAD * np.abs(phi)
    tube = Tube.of_radius(radius, inertia_bounds(robot, layout, phi, rho).smallest, KR)
    limits = MotionLimits(robot, clearance_of(robot), layout, phi)
    return PlanCertifier(limits, rho, tube, RobustLaw("clamped", rest_velocity=REST))


def _suffices(certifier: PlanCertifier, plan: SplineMotion) -> bool:
    """Whether the limits that are said to be needed let the plan be certified."""
    robot, needed = certifier.limits.robot, needed_torques(certifier, plan)
    joints = [
        replace(joint, limits=replace(joint.limits, effort=max(float(x), joint.limits.effort or 0.0)))
        for joint, x in zip(robot.joints, needed, strict=True)
    ]
    try:
        _certifier(replace(robot, joints=tuple(joints)), certifier.tube.radius).certify(plan)
    except NotCertifiedError:
        return False
    return True


def _drawn(rng: np.random.Generator, robot: Robot) -> SplineMotion:
    """From rest to rest, about the middle of the joints' ranges."""
    b, layout, clearance = bounds_of(robot), layout_of(robot, DRIVE), clearance_of(robot)
    low, high = (np.where(np.isfinite(x), x, y) for x, y in ((b.lower, -np.pi), (b.upper, np.pi)))
    reach = SPEED * np.minimum(b.velocity / PEAK_SPEED, b.acceleration / PEAK_ACCELERATION)
    t = np.linspace(0.0, DURATION, 21)
    while True:
        start = 0.5 * (low + high) + 0.25 * (high - low) * rng.uniform(-1.0, 1.0, robot.nv)
        step = reach * rng.uniform(-1.0, 1.0, robot.nv)
        for _ in range(12):
            plan = _quintic(robot, start, step)
            s = plan.sample(t)
            tau = inverse_dynamics(robot, layout, layout.complete_nominal(), s.q, s.v, s.a)
            if (np.abs(tau) <= LIFT * b.effort).all():
                if clearance.distances(s.q).min() >= NEAREST:
                    return plan
                break
            step = 0.8 * step


def _quintic(robot: Robot, start: Array, step: Array) -> SplineMotion:
    end = start + step
    return bezier(robot.joint_names, DURATION, np.stack((start, start, start, end, end, end), axis=1))


def _driven(certifier: PlanCertifier, plan: SplineMotion, cycle: float, sign: float) -> tuple[float, float]:
    """Greatest shares of the tube's radius and of a torque limit, on an arm at an end of the spread."""
    robot, tube = certifier.limits.robot, certifier.tube
    dynamics = certifier.dynamics
    law = RobustTracking(
        robot,
        dynamics.layout,
        dynamics.nominal,
        dynamics.half_widths,
        tube.kr,
        tube.level,
        tube.smallest_inertia,
        alpha=ALPHA,
        rest_velocity=REST,
        cycle=cycle,
    )
    true = _scaled(robot, 1.0 + SPREAD * sign * (1.0 - 1e-9))
    run = simulate_motion(true, plan, controller=law, rate=1.0 / cycle, torque_limits=False)
    d = plan.sample(np.clip(run.time, 0.0, plan.duration))
    r = d.v - run.v + tube.kr * (d.q - run.q)
    torque = np.abs(run.tau) / certifier.limits.bounds.effort
    return float(np.linalg.norm(r, axis=1).max() / tube.radius), float(torque.max())


def _geared(robot: Robot, rotor: float) -> Robot:
    """The arm with no rotor lighter than said."""
    joints = [
        replace(joint, drive=replace(joint.drive, rotor=max(rotor, joint.drive.rotor or 0.0)))
        for joint in robot.joints
    ]
    return replace(robot, joints=tuple(joints))


def _scaled(robot: Robot, factor: float) -> Robot:
    """The arm with every number of links and drives times a factor, which keeps it possible."""
    joints = []
    for joint in robot.joints:
        d = joint.drive
        joints.append(
            replace(
                joint, drive=Drive(*((x or 0.0) * factor for x in (d.viscous, d.coulomb, d.offset, d.rotor)))
            )
        )
    links = []
    for link in robot.links:
        assert link.own is not None  # every link of the zoo states one
        links.append(replace(link, own=Body.from_parameters(factor * link.own.parameters)))
    return replace(robot, joints=tuple(joints), links=tuple(links))
