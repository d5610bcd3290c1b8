r"""Links of public arms that no setting was made for: are they believable, and what do they cost?

The description is the prior, as it is for a user. The arm that moves is another one: each link's
pseudo-inertia is $J = L\,e^{0.3\,G}\,L^T$ with the described $LL^T$ and a random symmetric G, so masses,
centres of mass and inertias are off by about 30 %, and its joints have friction and rotors that the
description does not tell. Nothing but the description and the log is handed over, with default options.

Descriptions come from `../shared/robots` and, for makers that are not there, from the Python package
`example-robot-data`: of this environment, or of the one whose interpreter STEELYARD_PEERS names.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.consistency import link_shapes
from steelyard.consistency.link_shapes import LinkShape
from steelyard.drive import Drive
from steelyard.dynamics import inverse_dynamics
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.motion import Motion, random_fourier
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import in_band
from steelyard.simulation import simulate_motion
from steelyard.workflows.given import given_robot
from steelyard.workflows.identify import identify
from studies.believable_simulated import OFF, off_by
from tables import Bound, Study

SHARED = Path(__file__).resolve().parents[3] / "shared" / "robots"
PACKAGE = "cmeel.prefix/share/example-robot-data/robots"
SENSOR = "industrial"
PERIOD, HARMONICS = 24.0, 10
SEEDS = 2
FAR = 0.1
"""Distance of a centre of mass from the described one beyond which it must lie in the link's shapes, m."""
BLOCKS = 6
"""Stretches of the log held out whose errors tell how sure a difference of two fits is."""
COULOMB, VISCOUS, ROTOR = (0.02, 0.08), (0.02, 0.08), (1e-3, 5e-3)
"""Ranges of the true friction, as a share of a joint's torque, and of its rotor, kg·m² per N·m."""
WEAKEST = 0.05
"""Least torque of a joint, as a share of its limit, by which friction and rotor are drawn."""


@dataclass(frozen=True)
class Arm:
    """One public description.

    Attributes:
        maker: who builds it.
        path: of the file, within its folder.
        packaged: whether that folder is the one of `example-robot-data`, otherwise `../shared/robots`.
        lock: joints to hold still, as the option takes them.
    """

    maker: str
    path: str
    packaged: bool = False
    lock: tuple[str, ...] = ()

    @property
    def file(self) -> Path | None:
        """Where it lies; None where it is not installed."""
        folders = _packages() if self.packaged else [SHARED]
        return next((folder / self.path for folder in folders if (folder / self.path).is_file()), None)


ARMS = {
    "iiwa7": Arm("KUKA", "lbr_stack/iiwa7.urdf"),
    "iiwa14": Arm("KUKA", "lbr_stack/iiwa14.urdf"),
    "med14": Arm("KUKA", "lbr_stack/med14.urdf"),
    "ur10": Arm("Universal Robots", "ur10_erd/ur10_robot.urdf"),
    "ur5e": Arm("Universal Robots", "menagerie/universal_robots_ur5e/ur5e.xml"),
    "so_arm100": Arm("The Robot Studio", "menagerie/trs_so_arm100/so_arm100.xml"),
    "ur3": Arm("Universal Robots", "ur_description/urdf/ur3_robot.urdf", True),
    "ur5": Arm("Universal Robots", "ur_description/urdf/ur5_robot.urdf", True),
    "xarm7": Arm("UFACTORY", "xarm_description/urdf/xarm7.urdf", True),
    "z1": Arm("Unitree", "z1_description/urdf/z1.urdf", True, ("jointGripper=0",)),
    "jaco2": Arm("Kinova", "kinova_description/robots/kinova.urdf", True),
    "talos, left arm": Arm(
        "PAL Robotics", "talos_data/robots/talos_left_arm.urdf", True, ("gripper_left_joint=0",)
    ),
}


@dataclass(frozen=True)
class Links:
    """How believable the links of a fit are, and how near the truth; masses are ratios, distances in m.

    Attributes:
        least: smallest mass of a link over the described one.
        most: largest mass of a link over the described one.
        total: mass of all links over the described one.
        moved: farthest centre of mass from the described one.
        astray: links whose centre of mass is more than 0.1 m from the described one and outside the shapes,
            as far as these are known.
        true_least: smallest mass of a link over the true one.
        true_most: largest mass of a link over the true one.
        true_moved: farthest centre of mass from the true one.
        mass_error: mean over links of the relative error of the mass.
        inertia_error: mean over links of that of the inertia about the centre of mass, Frobenius.
    """

    least: float
    most: float
    total: float
    moved: float
    astray: tuple[str, ...]
    true_least: float
    true_most: float
    true_moved: float
    mass_error: float
    inertia_error: float


@dataclass(frozen=True)
class Outcome:
    """One log, identified with default options and as possible links without prior.

    Attributes:
        arm: its name in `ARMS`.
        seed: of the true arm, its motion and its noise.
        described: the description's links.
        true: those of the arm that moved.
        links: of the default fit.
        possible: those of `--method lmi`.
        held_out: unexplained torque of the default fit on the stretch held out, percent.
        held_out_possible: that of `--method lmi`.
        standard_error: of the difference of the two, over stretches of what was held out, percent.
        verdict: of the default fit.
        speaking: its checks that do not pass, with what they say.
        drive: terms it took.
    """

    arm: str
    seed: int
    described: Links
    true: Links
    links: Links
    possible: Links
    held_out: float
    held_out_possible: float
    standard_error: float
    verdict: str
    speaking: dict[str, str]
    drive: tuple[str, ...]


def run(seeds: int = SEEDS) -> Study:
    """Judge every arm that is installed.

    Args:
        seeds: true arms of each description.
    """
    if not SHARED.is_dir():
        raise FileNotFoundError(f"the descriptions are not here: {SHARED}")
    here = [name for name, arm in ARMS.items() if arm.file is not None]
    outcomes = [judged(name, seed) for name in here for seed in range(seeds)]
    missing = {name: "not installed (example-robot-data)" for name in ARMS if name not in here}
    return summary(outcomes, missing)


def summary(outcomes: list[Outcome], missing: dict[str, str]) -> Study:
    """Hold what was found against what is believable.

    Args:
        outcomes: one of each arm and seed.
        missing: why an arm was left out, by name.
    """
    names = list(dict.fromkeys(o.arm for o in outcomes))
    links = [o.links for o in outcomes]

    def worst(value: str, pick: Any) -> str:
        found = pick(outcomes, key=lambda o: getattr(o.links, value))
        return f"{found.arm}, seed {found.seed}"

    dearer = [o.held_out - o.held_out_possible for o in outcomes]
    unsure = [d - o.standard_error for d, o in zip(dearer, outcomes, strict=True)]
    dearest = outcomes[int(np.argmax(dearer))]
    masses, inertias = (
        [
            float(np.mean([getattr(x, key) for x in which]))
            for which in ([o.described for o in outcomes], links)
        ]
        for key in ("mass_error", "inertia_error")
    )
    return Study(
        "Links of public arms that no setting was made for",
        f"{len(names)} descriptions ({', '.join(names)}), {len(outcomes)} logs of {PERIOD:g} s with the "
        f"`{SENSOR}` preset on a MuJoCo plant whose links are off by {100 * OFF:.0f} % from the description "
        "and whose joints have friction and rotors that it does not tell. Default options of `steelyard "
        "identify`; a stretch of each log is held out. *Possible links* are those of `--method lmi`."
        + (f" Not installed: {', '.join(missing)}." if missing else ""),
        (
            Bound(
                "least mass of a link over the described",
                min(x.least for x in links),
                1 / 3,
                False,
                worst("least", min),
            ),
            Bound(
                "largest mass of a link over the described",
                max(x.most for x in links),
                3.0,
                note=worst("most", max),
            ),
            Bound(
                "total mass over the described, or its inverse",
                max(max(x.total, 1.0 / x.total) for x in links),
                2.0,
            ),
            Bound(
                f"centres of mass outside the shapes and more than {FAR:g} m from the described, where the "
                "true one is not",
                sum(len(set(o.links.astray) - set(o.true.astray)) for o in outcomes),
                0,
                note=f"true ones as far: {sum(len(o.true.astray) for o in outcomes)}; farthest estimated "
                f"{max(x.moved for x in links):.3f} m: {worst('moved', max)}",
            ),
            Bound(
                "held out: points beyond possible links without prior, less a standard error",
                max(unsure),
                0.0,
                note=f"without that {max(dearer):.3f}, mean {np.mean(dearer):.3f}: {dearest.arm}, "
                f"seed {dearest.seed}",
            ),
            *(
                Bound(
                    f"mean error of {what} over that of the description",
                    mean[1] / mean[0],
                    1.0,
                    note=f"{100 * mean[0]:.3g} % described, {100 * mean[1]:.3g} % estimated",
                )
                for what, mean in (("masses", masses), ("inertias", inertias))
            ),
        ),
        {**{f"{o.arm}, seed {o.seed}": _row(o) for o in outcomes}, **missing},
        _table(outcomes, missing),
    )


def judged(name: str, seed: int, period: float = PERIOD) -> Outcome:
    """Draw a true arm, let it move and identify it.

    Args:
        name: of the arm in `ARMS`.
        seed: of the true arm, its motion and its noise.
        period: length of the log, s.
    """
    arm = ARMS[name]
    path = str(arm.file)
    robot = given_robot(path, lock=arm.lock, snap=True)
    draw = [seed, zlib.crc32(name.encode())]
    motion = random_fourier(
        robot, np.random.default_rng([*draw, 0]), period=period, harmonics=round(HARMONICS * period / PERIOD)
    )
    truth = true_arm(robot, motion, np.random.default_rng([*draw, 1]))
    log = simulate_motion(truth, motion, sensor=SENSOR, rng=np.random.default_rng([*draw, 2]))
    # No references: most logs have none.
    log = Recording(log.joints, log.time, q=log.q, v=log.v, tau=log.tau)
    ours = identify(path, log, lock=arm.lock)
    possible = identify(path, log, lock=arm.lock, method="lmi")
    shapes = link_shapes(robot)

    def links(parameters: np.ndarray) -> Links:
        return _links(parameters, robot, truth, shapes)

    return Outcome(
        name,
        seed,
        links(layout_of(robot).nominal),
        links(layout_of(truth).nominal),
        links(ours.estimate.representative),
        links(possible.estimate.representative),
        ours.holdout.overall,
        possible.holdout.overall,
        difference_error(
            ours.question.holdout, *(x.estimate.torque(robot, x.question.holdout) for x in (ours, possible))
        ),
        ours.verdict.status.value,
        {check.name: check.message for check in ours.verdict.checks if check.status != "pass"},
        ours.layout.drive,
    )


def true_arm(robot: Robot, motion: Motion, rng: np.random.Generator) -> Robot:
    """An arm whose links and drives are not those of its description.

    Args:
        robot: as described.
        motion: by whose torques friction and rotors are drawn.
        rng: source of the differences.
    """
    layout = layout_of(robot)
    phi = off_by(rng, layout, OFF)
    links = tuple(
        replace(
            link,
            own=Body.from_parameters(phi[layout.of_link(link.name)]),
            fixed=tuple(replace(part, body=None) for part in link.fixed),
        )
        for link in robot.links
    )
    s = motion.sample(np.linspace(0.0, motion.duration, 500))
    largest = np.abs(inverse_dynamics(robot, layout, phi, s.q, s.v, s.a)).max(axis=0)
    limit = np.array([joint.limits.effort for joint in robot.joints])
    L = np.clip(2.0 * largest, WEAKEST * limit, limit)
    speed = np.array([joint.limits.velocity for joint in robot.joints])
    speed = np.where(np.isfinite(speed), speed, np.pi)
    coulomb, viscous, rotor = (rng.uniform(*share, L.size) * L for share in (COULOMB, VISCOUS, ROTOR))
    joints = tuple(
        replace(joint, drive=Drive(viscous=float(v), coulomb=float(c), rotor=float(r)))
        for joint, v, c, r in zip(robot.joints, viscous / speed, coulomb, rotor, strict=True)
    )
    return replace(robot, links=links, joints=joints)


def difference_error(log: Recording, one: np.ndarray, other: np.ndarray) -> float:
    """Standard error of the difference of two torque errors, percent, over `BLOCKS` stretches of a log.

    Args:
        log: what both are judged by.
        one: torques that a model predicts along it, shape (N, nv), N·m or N.
        other: those of another model, shape (N, nv), N·m or N.
    """
    tau = in_band(log, log.channels["tau"])
    squares = [((tau - in_band(log, predicted)) ** 2).sum(axis=1) for predicted in (one, other)]
    blocks = [x.sum() for x in np.array_split(squares[0] - squares[1], BLOCKS)]
    spread = np.sqrt(BLOCKS) * np.std(blocks, ddof=1)
    # Of e = 100 sqrt(S / T) with a sum S over blocks: de = 50 dS / sqrt(S T).
    return float(50.0 * spread / np.sqrt(squares[1].sum() * (tau**2).sum()))


def _links(phi: np.ndarray, robot: Robot, truth: Robot, shapes: Mapping[str, LinkShape]) -> Links:
    described, true = layout_of(robot), layout_of(truth)
    found = [Body.from_parameters(phi[described.of_link(name)]) for name in described.links]
    stated = [Body.from_parameters(described.nominal[described.of_link(name)]) for name in described.links]
    real = [Body.from_parameters(true.nominal[true.of_link(name)]) for name in described.links]
    ratios = [a.mass / b.mass for a, b in zip(found, stated, strict=True)]
    moved = [float(np.linalg.norm(a.com - b.com)) for a, b in zip(found, stated, strict=True)]
    true_ratios = [a.mass / b.mass for a, b in zip(found, real, strict=True)]
    astray = tuple(
        name
        for name, body, distance in zip(described.links, found, moved, strict=True)
        if distance > FAR and not (name in shapes and shapes[name].contains(body.com))
    )
    return Links(
        min(ratios),
        max(ratios),
        sum(a.mass for a in found) / sum(b.mass for b in stated),
        max(moved),
        astray,
        min(true_ratios),
        max(true_ratios),
        max(float(np.linalg.norm(a.com - b.com)) for a, b in zip(found, real, strict=True)),
        float(np.mean([abs(r - 1.0) for r in true_ratios])),
        float(
            np.mean(
                [
                    np.linalg.norm(a.inertia - b.inertia) / np.linalg.norm(b.inertia)
                    for a, b in zip(found, real, strict=True)
                ]
            )
        ),
    )


def _packages() -> list[Path]:
    """Folders in which `example-robot-data` may lie: of the peers' interpreter, then of this one."""
    interpreters = [os.environ.get("STEELYARD_PEERS", ""), sys.executable]
    roots = [Path(python).parents[1] for python in interpreters if python]
    return [folder / PACKAGE for root in roots for folder in sorted(root.glob("lib/python3*/site-packages"))]


def _row(o: Outcome) -> dict[str, Any]:
    return {
        "maker": ARMS[o.arm].maker,
        "verdict": o.verdict,
        "checks that do not pass": o.speaking,
        "drive": list(o.drive),
        "held out, percent": {
            "believable": o.held_out,
            "possible": o.held_out_possible,
            "standard error of the difference": o.standard_error,
        },
        "described": asdict(o.described),
        "true": asdict(o.true),
        "believable": asdict(o.links),
        "possible": asdict(o.possible),
    }


def _table(outcomes: list[Outcome], missing: Mapping[str, str]) -> str:
    head = (
        "| arm | held out, % | possible links | masses over described | total | com moved, m "
        "| masses over true | com from true, m (described) | mean mass error, % (described) "
        "| mean inertia error, % (described) | possible links: masses over described | verdict |"
    )
    rows = [
        f"| {o.arm}, seed {o.seed} | {o.held_out:.3f} | {o.held_out_possible:.3f} | "
        f"{o.links.least:.2f} to {o.links.most:.2f} | {o.links.total:.2f} | {o.links.moved:.3f} | "
        f"{o.links.true_least:.2f} to {o.links.true_most:.2f} | "
        f"{o.links.true_moved:.3f} ({o.described.true_moved:.3f}) | "
        f"{100 * o.links.mass_error:.1f} ({100 * o.described.mass_error:.1f}) | "
        f"{100 * o.links.inertia_error:.1f} ({100 * o.described.inertia_error:.1f}) | "
        f"{o.possible.least:.2g} to {o.possible.most:.2g} | {o.verdict} |"
        for o in outcomes
    ]
    blank = " |" * 11
    rows += [f"| {name}: {why} |{blank}" for name, why in missing.items()]
    return "\n".join([head, "| --- " * 12 + "|", *rows])
