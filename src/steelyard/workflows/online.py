"""Move a simulated robot along proven plans and learn what it holds, with guaranteed bounds."""

from __future__ import annotations

import time
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from steelyard import __version__
from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.files import FilePath, require_writable
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS, Body
from steelyard.limits import Scene
from steelyard.progress import Progress, say
from steelyard.report import LiveObserver, LiveView, online_content_of, online_head_of, online_page
from steelyard.robot import read_payload
from steelyard.safe_learning import (
    BROKEN,
    CHECK,
    DONE,
    GoalCost,
    MuJoCoDriver,
    OnlineRun,
    ProcessWorker,
    Replanner,
    SensorErrors,
    SyncWorker,
    WeightedCosts,
    published_bounds,
    run_online,
    violations_of,
    write_run,
)
from steelyard.uncertainty import PayloadBox, Theorem13
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    FloorGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Numbers,
    Option,
    RobotGiven,
    ToolFrameGiven,
    ToolGiven,
    TorqueGiven,
    VelocityGiven,
    workflow,
)
from steelyard.workflows.safe_learning import EXTENT, LearningTask, learning_task
from steelyard.workflows.theorem13 import theorem13_document, theorem13_line

PAGE = "report.html"


@dataclass(frozen=True, eq=False, repr=False)
class SafeLearning:
    """A run in which a robot learned its load, and what it broke.

    Attributes:
        task: what the loop was told.
        run: every cycle, every plan with its proof, and what was known when.
        truth: the load's ten numbers in the frame it is held in, of which the loop was told nothing, shape
            (10,), SI.
        violations: promises that were broken, in sentences.
        theorem13: what Theorem 13 says of the same log; None where something assumed is not so.
        seconds: what preparing the run and the run itself took, how long the robot moved, and the slowest
            answer and check of a proof on the way, s.
        files: what was written, by kind.
    """

    task: LearningTask
    run: OnlineRun
    truth: Array
    violations: tuple[str, ...]
    theorem13: Theorem13 | None
    seconds: Mapping[str, float]
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Whether all that was promised was kept: `pass`, `warn` or `fail`.

        It fails where a promise or an assumption was broken or a proof was refused, and warns where something
        that could hit is not part of the proofs.
        """
        plans, checked = self.run.record.proofs
        outcome = self.run.record.outcome
        if self.violations or outcome == BROKEN or not self.contains_truth or checked < plans:
            return "fail"
        return "warn" if self.task.uncovered else "pass"

    @property
    def sentence(self) -> str:
        """How the run ended."""
        record, alarm = self.run.record, self.run.record.alarm
        if alarm is not None and alarm.kind == CHECK:
            return f"At {alarm.time:.3f} s: {alarm.sentence}"
        if alarm is not None:
            return f"At {alarm.time:.3f} s something assumed was found not to be so: {alarm.sentence}"
        if record.outcome == DONE:
            return "Every plan was driven as it was proven, and the robot is at rest."
        return record.events[-1].sentence if record.events else "The robot stopped."

    @property
    def box(self) -> PayloadBox:
        """What the load can be in the end."""
        return self.run.record.box

    @property
    def bounds(self) -> dict[str, dict[str, Any]]:
        """Lower and upper end and unit of each of the load's ten numbers, by name, SI."""
        ends = zip(
            PARAMETER_NAMES, self.box.lower.tolist(), self.box.upper.tolist(), PARAMETER_UNITS, strict=True
        )
        return {name: {"lower": low, "upper": high, "unit": unit} for name, low, high, unit in ends}

    @property
    def contains_truth(self) -> bool:
        """Whether the last bounds hold the load."""
        return bool(((self.box.lower <= self.truth) & (self.truth <= self.box.upper)).all())

    @property
    def certified(self) -> bool:
        """Whether every move was proven, with all that could hit as part of the proofs."""
        proven = all(driven.move.certificate is not None for driven in self.run.record.moves)
        return proven and not self.task.uncovered

    @property
    def segments(self) -> list[dict[str, Any]]:
        """What was driven, in order.

        Start and length in s, whether it was a plan or a brake, the condition number of the load's regressor
        along it, and how many candidates could not be proven before it.
        """
        cycle = self.task.setting.cycle
        return [
            {
                "start": driven.first * cycle,
                "seconds": driven.cycles * cycle,
                "kind": driven.kind,
                "cond": driven.move.condition,
                "refused": len(driven.move.refused),
            }
            for driven in self.run.record.moves
        ]

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        record = self.run.record
        plans, checked = record.proofs
        known = [k for k in record.knowledge if k.rows > 0]
        return {
            "verdict": self.verdict,
            "outcome": record.outcome,
            "sentence": self.sentence,
            "assumed": list(self.task.assumed),
            "uncovered": list(self.task.uncovered),
            "segments": self.segments,
            "certified": self.certified,
            "plans": plans,
            "plans_checked": checked,
            "violations": list(self.violations),
            "bounds": self.bounds,
            "theorem13": theorem13_document(self.theorem13),
            "frame": self.task.setting.arm.held.frame,
            "contains_truth": self.contains_truth,
            "rows": known[-1].rows if known else 0,
            "events": [f"{event.time:.3f} s: {event.sentence}" for event in record.events],
            "seconds": dict(self.seconds),
            "files": dict(self.files),
        }

    @cached_property
    def page(self) -> str:
        """The run as one self-contained HTML document."""
        return online_page(
            online_content_of(
                self.run,
                online_head_of(self.task.setting, self.task.start, self.truth),
                sentence=self.sentence,
                published=self.theorem13,
                violations=self.violations,
                uncovered=self.task.uncovered,
            )
        )

    def save(self, folder: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write the run, which `replay` repeats, and its page.

        Args:
            folder: where; made where it does not exist.
            force: whether a folder that holds something may be written into.

        Returns:
            What was written, by kind.

        Raises:
            InputError: the folder holds something, or cannot be written to.
        """
        out = Path(folder)
        _require_empty(out, force=force)
        record, cycles = write_run(self.run, out, page=(PAGE, self.page))
        return {"record": str(record), "cycles": str(cycles), "report": str(out / PAGE)}

    def __repr__(self) -> str:
        ends = self.bounds["m"]
        mass = f"{ends['lower']:.4g} to {ends['upper']:.4g} kg"
        return f"<SafeLearning {self.task.robot.name}: {self.verdict}, {mass}>"

    def __str__(self) -> str:
        return "\n".join((f"{self.task.robot.name}: {self.verdict}.", *self.lines))

    @property
    def lines(self) -> list[str]:
        """The run in words: how it ended, bounds beside the truth, proofs, and what they leave out."""
        lines = [self.sentence]
        for (name, ends), true in zip(self.bounds.items(), self.truth.tolist(), strict=True):
            bounds = f"[{ends['lower']:.4g}, {ends['upper']:.4g}] {ends['unit']}"
            lines.append(f"  {name:>4} in {bounds}, true {true:.4g}")
        if self.theorem13 is not None:
            lines.append(theorem13_line(self.theorem13))
        plans, checked = self.run.record.proofs
        lines.append(
            f"{plans} plans, {len(self.run.record.moves)} segments over {self.seconds['robot']:.2f} s, all "
            f"proven; the proofs of {checked} were checked by other means; "
            f"slowest answer {self.seconds['slowest_answer']:.2f} s; {len(self.violations)} violations."
        )
        return lines + [f"Not part of the proofs: {words}" for words in self.task.uncovered]


@workflow
def online(
    robot: RobotGiven,
    *,
    payload: Annotated[
        Body | FilePath,
        Option("What the simulated robot holds (JSON); the loop is not told.", metavar="PATH"),
    ],
    scene: Annotated[
        Scene | FilePath | None, Option("What stands around the robot (TOML or JSON).", metavar="PATH")
    ] = None,
    floor: FloorGiven = "base",
    tool: ToolGiven = None,
    law: Annotated[
        str, Option("The robust law: robust (ARMOUR's), clamped or componentwise.", default=True)
    ] = "clamped",
    out: Annotated[
        FilePath | None,
        Option("Folder for the log and the page of the run.", metavar="PATH", default="none is kept"),
    ] = None,
    prior: Annotated[
        PayloadBox | FilePath | None,
        Option(
            "Intervals that hold the load (JSON: lower, upper).",
            metavar="PATH",
            default="any body in a ball about the tool frame",
        ),
    ] = None,
    heaviest: Annotated[
        float | None,
        Option(
            "Largest mass of a load in that ball, kg.",
            default="3, or what the weakest joint bears if less",
        ),
    ] = None,
    extent: Annotated[float, Option("Radius of that ball, m.", default=True)] = EXTENT,
    start: Annotated[
        Numbers | None,
        Option("Where the robot stands, rad or m.", metavar="Q,…", default="nominal posture"),
    ] = None,
    goal: Annotated[
        Numbers | None, Option("Where the robot is to go, rad or m; it learns on the way.", metavar="Q,…")
    ] = None,
    excite: Annotated[
        float,
        Option(
            "With --goal: what one of log cond of the load's regressor counts beside one rad² of distance to "
            "the goal.",
            default=True,
            least=0.0,
        ),
    ] = 0.1,
    torque_error: Annotated[
        Numbers,
        Option("Relative and absolute error of measured torques, N·m.", metavar="R,A", default=True),
    ] = "0.025,0.1",
    velocity_error: Annotated[
        float, Option("Largest error of measured velocities, rad/s or m/s.", default=True)
    ] = 5e-4,
    torque_delay: Annotated[
        float, Option("By how much logged torques may be early or late, s.", default=True, least=0.0)
    ] = 0.0,
    model_error: Annotated[
        float, Option("Share by which the robot's parameters may be off.", default=True)
    ] = 0.05,
    rotor: Annotated[
        Numbers | None,
        Option(
            "Inertia of the joints' rotors at the output, kg·m².",
            metavar="I|I,…",
            default="the description's, or as heavy as a tube needs",
        ),
    ] = None,
    radius: Annotated[
        float | None, Option("Radius of the tube around the plan, rad/s.", default="by V_M = 1 mJ")
    ] = None,
    reach: Annotated[float, Option("How far a joint may go in one plan, rad or m.", default=True)] = 1.2,
    cycle: Annotated[float, Option("Length of a control cycle, s.", default=True)] = 1e-3,
    plans: Annotated[int, Option("Largest number of plans to drive.", default=True, least=1)] = 4,
    budget: Annotated[float, Option("Time for finding a plan and its proof, s.", default=True)] = 0.3,
    seed: Annotated[int, Option("Seed of searches and sensors.", default=True, least=0)] = 0,
    real_time: Annotated[
        bool,
        Option("Let the simulated robot's clock be the wall's; answers can be late.", flag="--real-time"),
    ] = False,
    live: Annotated[bool, Option("Show the run in a browser while it goes on.", flag="--live")] = False,
    force: ForceGiven = False,
    gravity: GravityGiven = None,
    lock: LockGiven = None,
    tool_frame: ToolFrameGiven = None,
    argument: ArgumentsGiven = None,
    limits: LimitsGiven = None,
    velocity: VelocityGiven = None,
    acceleration: AccelerationGiven = None,
    torque: TorqueGiven = None,
    progress: Progress | None = None,
) -> SafeLearning:
    """Move a simulated robot along proven plans and learn what it holds, with guaranteed bounds.

    Every plan is proven, with its stop, for all that robot and load can be, and its proof is checked by
    another program; exit code 1 if a promise was broken, a proof refused or an assumption is not so, 3 if no
    first plan could be proven and checked. The verdict is `warn` where something that could hit is not part
    of the proofs.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        payload: body that the simulated robot holds at its tool frame, or its file; the loop is not told.
        scene: what stands around the robot, or its file.
        floor: `base` for level with the base frame, `none`, or its height above the base, m.
        tool: mesh of tool and load in the tool frame, m; `none` where they add no shape.
        law: the robust law: `robust` (ARMOUR's), `clamped` or `componentwise`.
        out: folder for the log and the page; None to write nothing.
        prior: intervals that hold the load, or their file; None for any body in a ball about the tool frame.
        heaviest: largest mass of a load in that ball, kg; None for 3, or what the weakest joint
            bears if less.
        extent: radius of that ball, m.
        start: where the robot stands, rad or m; None for its nominal posture.
        goal: where the robot is to go, rad or m; None to learn and nothing else.
        excite: what one of log cond of the load's regressor counts beside one rad² of distance to the goal,
            dimensionless.
        torque_error: relative and absolute error of measured torques, dimensionless and N·m.
        velocity_error: largest error of measured velocities, rad/s or m/s.
        torque_delay: by how much logged torques may be early or late, s.
        model_error: share by which the robot's parameters may be off, dimensionless.
        rotor: inertia of the joints' rotors at the output, one for all or one each, kg·m²; None for the
            description's, or as heavy as a tube needs.
        radius: radius ε of the tube around the plan, rad/s; None for that of V_M = 1 mJ.
        reach: how far a joint may go in one plan, rad or m.
        cycle: length of a control cycle, s.
        plans: largest number of plans to drive.
        budget: time for finding a plan and its proof, s.
        seed: seed of searches and sensors.
        real_time: whether the simulated robot's clock is the wall's, and answers can be late.
        live: whether to show the run in a browser while it goes on.
        force: whether a folder that holds something may be written into.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        argument: values of xacro arguments, by name.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        progress: told what is assumed and done.

    Returns:
        The run, what it learned and what it broke.

    Raises:
        InputError: something given is not usable; nothing is written.
        NoSolutionError: no robust law follows for the robot, or no first plan was proven and checked, so the
            robot did not move.
    """
    if out is not None:
        _require_empty(Path(out), force=force)
    begin = time.perf_counter()
    task = learning_task(
        robot,
        scene=scene,
        floor=floor,
        tool=tool,
        law=law,
        prior=prior,
        heaviest=heaviest,
        extent=extent,
        start=start,
        goal=goal,
        torque_error=torque_error,
        velocity_error=velocity_error,
        torque_delay=torque_delay,
        model_error=model_error,
        rotor=rotor,
        radius=radius,
        reach=reach,
        cycle=cycle,
        seed=seed,
        gravity=gravity,
        lock=lock,
        tool_frame=tool_frame,
        argument=argument,
        limits=limits,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
    )
    body = payload if isinstance(payload, Body) else read_payload(payload)
    for sentence in task.assumed:
        say(sentence)
    viewer = _Viewer(task, body.parameters, wanted=live)
    try:
        learned = _driven(
            task,
            body,
            viewer,
            plans=plans,
            budget=budget,
            excite=excite,
            seed=seed,
            real_time=real_time,
            begin=begin,
        )
        if live:
            viewer.finish(learned.page)
    finally:
        viewer.finish("")
    return learned if out is None else replace(learned, files=learned.save(out, force=True))


def _driven(
    task: LearningTask,
    body: Body,
    viewer: _Viewer,
    *,
    plans: int,
    budget: float,
    excite: float,
    seed: int,
    real_time: bool,
    begin: float,
) -> SafeLearning:
    """Prepare, drive and judge; `begin` is when preparation began, s of the wall's clock."""
    setting = task.setting
    mind = Replanner.exciting(setting, budget=budget)
    if task.goal is not None:
        costs = ((1.0, GoalCost(task.goal)), (excite, Replanner.exciting(setting).cost))
        mind = Replanner(setting, WeightedCosts(costs), budget)
    say("Preparing: everything is compiled and tried once before the robot moves.")
    mind.warm_up(task.start)
    errors = setting.errors
    sensors = SensorErrors(
        float(errors.torque_relative[0]), errors.torque_absolute, errors.velocity, errors.position, "even"
    )
    link = MuJoCoDriver(
        task.robot.with_body("payload", body),
        task.start,
        cycle=setting.cycle,
        errors=sensors,
        rng=np.random.default_rng(seed),
        wall_clock=real_time,
    )
    thinker = ProcessWorker(mind)
    guard = ProcessWorker(mind) if real_time else SyncWorker(mind)
    try:
        # After the processes have been made: a live view has threads, and a fork copies only one.
        observer = viewer.opened()
        moving = time.perf_counter()
        run = run_online(
            setting,
            link,
            thinker,
            task.start,
            guard=guard,
            most_plans=plans,
            patience=0.0 if real_time else None,
            until_settled=task.goal is None,
            seed=seed,
            onlooker=observer,
        )
    finally:
        thinker.close()
        guard.close()
    done = time.perf_counter()
    broken = violations_of(run, link, body.parameters)
    knowledge = run.record.knowledge
    seconds = {
        "preparation": moving - begin,
        "run": done - moving,
        "robot": len(run.cycles.commands) * setting.cycle,
        # The last answer is of a robot at rest, and takes its time.
        "slowest_answer": max((known.seconds for known in knowledge[1:-1]), default=0.0),
        "slowest_check": max((known.check_seconds for known in knowledge), default=0.0),
    }
    return SafeLearning(task, run, body.parameters, broken, published_bounds(run), seconds)


class _Viewer:
    """The browser that shows a run while it goes on, or nobody."""

    def __init__(self, task: LearningTask, truth: Array, *, wanted: bool) -> None:
        self._task, self._truth, self._wanted = task, truth, wanted
        self._observer: LiveObserver | None = None

    def opened(self) -> LiveObserver | None:
        """Serve the page and open it; returns who is told what happens."""
        if self._wanted:
            head = online_head_of(self._task.setting, self._task.start, self._truth)
            view = LiveView(head, version=__version__)
            url = view.start()
            say(f"Live view: {url}")
            webbrowser.open(url)
            self._observer = LiveObserver(view, self._task.start, self._task.setting.tube.kr)
        return self._observer

    def finish(self, page: str) -> None:
        """Leave the page of the finished run to open browsers, and stop serving."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.finish(page)


def _require_empty(out: Path, *, force: bool) -> None:
    """Refuse a folder that holds something, unless it may be replaced, or that cannot be written to."""
    if out.exists() and not out.is_dir():
        raise InputError("is not a folder.", place="--out")
    if not force and out.is_dir() and any(out.iterdir()):
        raise InputError(f"'{out}' is not empty.", place="--out", remedy="Name another, or say --force.")
    require_writable(out)
