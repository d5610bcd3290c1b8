"""What `view` shows of what it is given, and the server or file that shows it."""

from __future__ import annotations

import webbrowser
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.document import read_json
from steelyard.errors import DescriptionError, InputError
from steelyard.export import OBJECT_KIND
from steelyard.files import FilePath, is_regular, write_bytes
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, Mesh
from steelyard.limits import Scene, clearance_of
from steelyard.model import Model, is_result
from steelyard.motion import Motion, read_motion
from steelyard.pose import Pose
from steelyard.progress import say
from steelyard.robot import Box, Robot
from steelyard.viewer import (
    ViewScene,
    ViewSurface,
    ViserWindow,
    held_object,
    playback_of,
    view_bodies,
    viser_recording,
    write_rerun,
)
from steelyard.workflows.destination import make_folder, require_files
from steelyard.workflows.given import given_model, given_result, given_robot, stated_limits
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    FloorGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    PackagePathGiven,
    ToolFrameGiven,
    TorqueGiven,
    VelocityGiven,
)
from steelyard.workflows.surroundings import stated_floor

if TYPE_CHECKING:
    from steelyard.workflows.identification import Identification

ENDINGS = (".html", ".viser", ".rrd")
"""What a view is written as."""
OBJECT = "parameters.json"
OBJECT_MESHES = ("visual*.obj", "collision*.obj")


@dataclass(frozen=True, eq=False)
class View:
    """Something that is looked at; `with` closes it.

    Attributes:
        scene: what is shown.
        window: the server that shows it; None where it is not served.
        files: what was written, by kind.
    """

    scene: ViewScene = field(repr=False)
    window: ViserWindow | None = field(default=None, repr=False)
    files: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str | None:
        """Where a browser finds it; None where it is not served."""
        return None if self.window is None else self.window.url

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        return {**self.scene.document, "url": self.url, "files": dict(self.files)}

    def wait(self) -> None:
        """Return when it was closed; at once where it is not served."""
        if self.window is not None:
            self.window.wait()

    def close(self) -> None:
        """End the server."""
        if self.window is not None:
            self.window.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __str__(self) -> str:
        shown = self.scene
        masses = ", ".join(f"{shown.mass(source):.3f} kg {source}" for source in shown.sources)
        text = f"{shown.title}: {len(shown.bodies)} bodies, {masses or 'no mass stated'}"
        if shown.playback is not None:
            text += f", a motion of {shown.playback.time[-1]:.4g} s"
        for path in self.files.values():
            text += f"; written to {path}"
        return f"{text}." if self.url is None else f"{text}.\n{self.url}   (Ctrl-C ends it)"


def view_of(
    subject: Robot | Model | Identification | Motion | FilePath | None,
    *,
    robot: Robot | FilePath | None,
    motion: Motion | FilePath | None,
    scene: Scene | FilePath | None,
    floor: FloorGiven,
    clearance: bool,
    out: FilePath | None,
    serve: bool,
    port: int,
    host: str,
    browser: bool,
    force: ForceGiven,
    gravity: GravityGiven,
    lock: LockGiven,
    tool_frame: ToolFrameGiven,
    argument: ArgumentsGiven,
    package_path: PackagePathGiven,
    limits: LimitsGiven,
    velocity: VelocityGiven,
    acceleration: AccelerationGiven,
    torque: TorqueGiven,
) -> View:
    """Show something, by the arguments of `view`."""
    target = None if out is None else Path(out)
    if target is not None:
        if target.suffix.lower() not in ENDINGS:
            raise InputError(
                f"'{target.name}' has an ending that no view is written as.",
                place="--out",
                remedy=f"Choose one of {', '.join(ENDINGS)}.",
            )
        require_files([target], force=force)
    if _is_motion(subject):
        if motion is not None:
            raise InputError("a motion was given already.", place="--motion", remedy="Leave one of them out.")
        if robot is None:
            raise InputError("a motion needs the robot that makes it.", place="--robot", remedy="Name it.")
        subject, motion, robot = robot, subject, None  # type: ignore[assignment]
    if _is_object(subject):
        given = {"--robot": robot, "--motion": motion, "--scene": scene}
        for option, value in given.items():
            if value is not None:
                raise InputError("does not go with a weighed object.", place=option, remedy="Leave it out.")
        return _served(_object_scene(Path(subject)), target, serve, port, host, browser)  # type: ignore[arg-type]

    findings: list[Finding] = []
    stated = stated_limits(limits, velocity, acceleration, torque)
    looks: Robot | None = None
    estimate: Model | None = None
    if isinstance(subject, Robot) or (isinstance(subject, str | PathLike) and not is_result(subject)):
        if robot is not None:
            raise InputError(
                "goes with a motion or a result, not with a robot.", place="--robot", remedy="Leave it out."
            )
        found = given_robot(
            subject, gravity, lock, tool_frame, arguments=argument, stated=stated, package_path=package_path
        )
        try:
            model = Model.of_robot(found)
        except DescriptionError as error:
            model = None
            message = f"no torque is shown: {error.message}"
            findings.append(Finding(Severity.WARNING, "no-torque", message, error.place))
    else:
        model = given_model(given_result(subject), gravity, lock, stated=stated)  # type: ignore[arg-type]
        if tool_frame is not None:
            model.robot.frame(tool_frame)
        found, estimate = model.robot, model
        if robot is not None:
            looks = _looks(robot, model, argument, package_path)
    around = Scene() if scene is None else scene if isinstance(scene, Scene) else Scene.read(scene)
    ground = stated_floor(str(floor), found, around)
    playback = None
    if motion is not None:
        moving = read_motion(motion) if isinstance(motion, str | PathLike) else motion
        watched = None
        if clearance:
            say("Measuring distances along the motion.")
            # Its own shapes count: a URDF that was written by us has its capsules in pieces.
            arm = found if looks is None or looks.joint_names != found.joint_names else looks
            watched = clearance_of(arm, around, floor=ground)
        playback = playback_of(found, model, moving, watched)
    bodies = view_bodies(found, estimate, findings, looks=looks)
    top = None
    if ground is not None and isinstance(ground.obstacle.shape, Box):
        top = ground.obstacle.pose @ Pose(np.eye(3), np.array([0.0, 0.0, 0.5 * ground.obstacle.shape.z]))
    q = found.rest_pose if playback is None else playback.q[0]
    picture = ViewScene(found.name, found, bodies, q, around, top, playback, tuple(findings))
    return _served(picture, target, serve, port, host, browser)


def _served(scene: ViewScene, target: Path | None, serve: bool, port: int, host: str, browser: bool) -> View:
    if target is not None:
        make_folder(target.parent)
        ending = target.suffix.lower()
        if ending == ".rrd":
            write_rerun(scene, target)
        else:
            write_bytes(target, viser_recording(scene, "html" if ending == ".html" else "viser"))
        return View(scene, files={ending[1:]: str(target)})
    if not serve:
        return View(scene)
    window = ViserWindow(scene, host=host, port=port)
    if browser:
        webbrowser.open(window.url)
    return View(scene, window)


def _is_motion(subject: object) -> bool:
    if isinstance(subject, str | PathLike):
        return Path(subject).suffix.lower() == ".json"
    return not isinstance(subject, Robot | Model) and hasattr(subject, "sample")


def _is_object(subject: object) -> bool:
    """Whether it is the folder of a payload."""
    if not isinstance(subject, str | PathLike) or not is_regular(path := Path(subject) / OBJECT):
        return False
    document = read_json(path)
    return isinstance(document, dict) and document.get("kind") == OBJECT_KIND


def _object_scene(folder: Path) -> ViewScene:
    """A weighed object by itself, in the frame that its numbers are in."""
    document, place = read_json(folder / OBJECT), str(folder / OBJECT)
    try:
        xx, xy, yy, xz, yz, zz = (float(x) for x in document["inertia"])
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        body = Body(float(document["mass"]), np.array(document["com"], dtype=float), tensor)
        ends = document["numbers"]["m"]["interval95"]
        interval = None if ends is None else (float(ends[0]), float(ends[1]))
        name = str(document["name"])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"lacks a number of the object, or states it otherwise: {error}.",
            place=place,
            remedy="Weigh it again.",
        ) from error
    surfaces = [
        ViewSurface("visual" if "visual" in file else "collision", Mesh.read(folder / file))
        for file in sorted(path.name for pattern in OBJECT_MESHES for path in folder.glob(pattern))
        if is_regular(folder / file)
    ]
    return ViewScene(name, None, (held_object(name, body, surfaces, interval),), np.zeros(0))


def _looks(
    robot: Robot | FilePath, model: Model, argument: ArgumentsGiven, package_path: PackagePathGiven
) -> Robot:
    """The description whose shapes are shown, its joints locked as those of the result."""
    found = given_robot(robot, arguments=argument, package_path=package_path)
    held = {} if model.stored is None else model.stored.locks
    lock = {name: q.tolist() if len(q) > 1 else float(q[0]) for name, q in held.items()}
    lock = {name: q for name, q in lock.items() if name in found.joint_names}
    found = found.locked(lock) if lock else found
    if missing := [name for name in model.robot.link_names if name not in found.link_names]:
        raise InputError(
            f"has no moving link {', '.join(missing[:5])} of the result.",
            place="--robot",
            remedy="Give the description that was identified.",
        )
    return found
