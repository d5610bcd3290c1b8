"""A scene in a browser, by Viser: turned round, its joints moved by sliders, its motion played."""

from __future__ import annotations

import io
import logging
import threading
import time
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, MissingExtraError
from steelyard.inertia import Mesh
from steelyard.pose import Pose
from steelyard.viewer.bodies import Role, Source, ViewBody
from steelyard.viewer.playback import Playback
from steelyard.viewer.surfaces import surface_of
from steelyard.viewer.view_scene import ViewScene

if TYPE_CHECKING:
    import viser

Kind = Literal["viser", "html"]
COLOURS: dict[str, tuple[int, int, int]] = {
    "visual": (205, 208, 214),
    "collision": (150, 170, 200),
    "described": (58, 110, 190),
    "estimated": (225, 120, 30),
    "obstacle": (170, 120, 110),
}
"""Red, green and blue of what is drawn; those of the two sources stay apart for eyes that see no red."""
POINT = 0.008
"""Radius of a centre of mass over the size of the picture, dimensionless."""
OPACITY = 0.5
"""Of shapes at first: what lies inside them is what there is to see."""
SOLID = 0.45
"""Opacity of ellipsoids."""
FRAMES_PER_SECOND = 30.0
"""Of playing, Hz."""
UNLIMITED = np.pi
"""How far a slider goes where a joint has no limit, rad or m."""
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")
"""Choices of how fast a motion is played, times its own speed."""


class ViserWindow:
    """A server that shows a scene until it is closed."""

    def __init__(self, scene: ViewScene, *, host: str = "127.0.0.1", port: int = 8080) -> None:
        """Start it.

        Args:
            scene: what is shown.
            host: who may look: 127.0.0.1 for this machine alone, 0.0.0.0 for everyone who reaches it.
            port: where it listens; the next free one where that is taken, any for 0.

        Raises:
            MissingExtraError: Viser is not installed.
            InputError: the address cannot be listened on.
        """
        self._server = _server(scene.title, host, port)
        self._drawing = _Drawing(self._server, scene)
        self._ended = threading.Event()
        _Panel(self._server, self._drawing, self._ended)

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        host = str(self._server.get_host())
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
        return f"http://{shown}:{self._server.get_port()}"

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of everything in the scene."""
        return self._drawing.nodes

    def wait(self) -> None:
        """Return when it was closed."""
        while not self._ended.wait(0.5):
            pass

    def close(self) -> None:
        """Stop the server; a second time does nothing."""
        if not self._ended.is_set():
            self._ended.set()
            with redirect_stdout(io.StringIO()):
                self._server.stop()


def viser_recording(scene: ViewScene, kind: Kind = "viser") -> bytes:
    """A scene and its motion for a browser without a server.

    Args:
        scene: what is shown.
        kind: `viser`, for Viser's own player, or `html`, one page that opens by itself.

    Returns:
        The content of the file.

    Raises:
        MissingExtraError: Viser is not installed.
    """
    server = _server(scene.title, "127.0.0.1", 0)
    try:
        serializer = server.get_scene_serializer()
        drawing = _Drawing(server, scene)
        if scene.playback is not None:
            played = scene.playback
            frames = scene.frames(played.q)
            for k, pause in enumerate(np.diff(played.time, append=played.time[-1])):
                drawing.place(frames[k])
                serializer.insert_sleep(float(pause))
        return serializer.as_html().encode() if kind == "html" else bytes(serializer.serialize())
    finally:
        with redirect_stdout(io.StringIO()):
            server.stop()


def _viser() -> Any:
    try:
        import viser
    except ImportError as error:
        raise MissingExtraError("a view in the browser", "viser", "view") from error
    return viser


def _server(title: str, host: str, port: int) -> viser.ViserServer:
    library = _viser()
    # Browsers open connections that they never use; the server would print a traceback for each of them.
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    try:
        # Viser says on standard output where it listens, which is for `cli` to print.
        with redirect_stdout(io.StringIO()):
            server: viser.ViserServer = library.ViserServer(host=host, port=port, label=title, verbose=False)
            return server
    except (OSError, OverflowError) as error:
        raise InputError(
            f"cannot listen on {host}, port {port}: {error}.", place="--port", remedy="Choose another."
        ) from error


class _Drawing:
    """The scene graph: a frame for the base and each link, and on it whatever the link has."""

    def __init__(self, server: viser.ViserServer, scene: ViewScene) -> None:
        self.scene, self._server = scene, server
        self._handles: dict[str, Any] = {}
        self._groups: dict[str, list[Any]] = {}
        self._frames: dict[int, Any] = {}
        self.roles: list[Role] = [
            role for role in ("visual", "collision") if any(_merged(b, role) for b in scene.bodies)
        ]
        server.scene.set_up_direction("+z")
        for body in scene.bodies:
            self._body(body)
        for name, mesh in scene.obstacles:
            self._mesh(f"/scene/{_safe(name)}", mesh, "obstacle", "obstacles", opacity=0.8)
        if scene.floor is not None:
            self._floor(scene.floor)
        self._camera()
        self.place(scene.frames(scene.q[None])[0])

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(self._handles)

    def place(self, frames: Array) -> None:
        """Move the links to homogeneous matrices of shape (L, 4, 4)."""
        with self._server.atomic():
            for k, handle in self._frames.items():
                handle.wxyz, handle.position = _wxyz(frames[k, :3, :3]), frames[k, :3, 3]

    def show(self, group: str, visible: bool) -> None:
        for handle in self._groups.get(group, ()):
            handle.visible = visible

    def fade(self, opacity: float) -> None:
        for role in self.roles:
            for handle in self._groups[role]:
                handle.opacity = opacity if opacity < 1.0 else None

    def on_click(self, tell: Any) -> None:
        """Call with the body whose shape or ellipsoid is clicked."""
        for body in self.scene.bodies:
            for name, handle in self._handles.items():
                if name.startswith(f"{_node(body)}/") and not name.endswith("/name"):
                    handle.on_click(lambda _, body=body: tell(body))

    def _body(self, body: ViewBody) -> None:
        node = _node(body)
        frame = self._server.scene.add_frame(
            node, show_axes=False, axes_length=0.08 * self.scene.extent, axes_radius=0.003 * self.scene.extent
        )
        self._keep(node, frame, "frames")
        self._frames[body.frame] = frame
        for role in self.roles:
            if (mesh := _merged(body, role)) is not None:
                first = role == self.roles[0]
                self._mesh(f"{node}/{role}", mesh, role, role, opacity=OPACITY, visible=first)
        radius = POINT * self.scene.extent
        for mass in body.masses:
            source = mass.source
            if mass.ellipsoid is not None and (mass.ellipsoid.semi_axes > 0.0).all():
                self._mesh(f"{node}/{source}", surface_of(mass.ellipsoid), source, source, opacity=SOLID)
            ball = self._server.scene.add_icosphere(
                f"{node}/{source}_com", radius=radius, color=COLOURS[source], position=mass.com
            )
            self._keep(f"{node}/{source}_com", ball, f"{source} com")
        if body.masses:
            where = body.masses[-1].com
            label = self._server.scene.add_label(f"{node}/name", body.name, position=where, visible=False)
            self._keep(f"{node}/name", label, "names")

    def _mesh(
        self, node: str, mesh: Mesh, colour: str, group: str, *, opacity: float, visible: bool = True
    ) -> None:
        handle = self._server.scene.add_mesh_simple(
            node,
            mesh.vertices.astype(np.float32),
            mesh.faces.astype(np.uint32),
            color=COLOURS[colour],
            opacity=opacity,
            flat_shading=colour in ("visual", "collision", "obstacle"),
            side="double",
            cast_shadow=False,
            visible=visible,
        )
        self._keep(node, handle, group)

    def _floor(self, floor: Pose) -> None:
        grid = self._server.scene.add_grid(
            "/scene/floor",
            width=4.0 * self.scene.extent,
            height=4.0 * self.scene.extent,
            cell_size=0.1,
            section_size=0.5,
            plane_opacity=0.0,
            wxyz=_wxyz(floor.rotation),
            position=floor.translation,
        )
        self._keep("/scene/floor", grid, "floor")

    def _keep(self, node: str, handle: Any, group: str) -> None:
        self._handles[node] = handle
        self._groups.setdefault(group, []).append(handle)

    def _camera(self) -> None:
        lower, upper = self.scene.reach
        middle = 0.5 * (lower + upper)
        camera = self._server.initial_camera
        away = np.array([1.0, -1.0, 0.45])
        camera.look_at = middle
        camera.position = middle + 1.35 * self.scene.extent * away / np.linalg.norm(away)


class _Panel:
    """Sliders, tables and figures beside the scene."""

    def __init__(self, server: viser.ViserServer, drawing: _Drawing, ended: threading.Event) -> None:
        self._server, self._drawing, self._ended = server, drawing, ended
        self._scene = drawing.scene
        self._q = self._scene.q.copy()
        gui = server.gui
        gui.configure_theme(control_width="large", show_logo=False, show_share_button=False)
        gui.set_panel_label(self._scene.title)
        if self._scene.playback is not None:
            with gui.add_folder("Motion"):
                self._motion(self._scene.playback)
        with gui.add_folder("Show"):
            self._switches()
        with gui.add_folder("Links"):
            gui.add_markdown(link_table(self._scene))
            chosen = gui.add_markdown("Click a link to read its numbers.")
        drawing.on_click(lambda body: setattr(chosen, "content", link_card(body)))
        if self._scene.robot is not None:
            with gui.add_folder("Joints", expand_by_default=self._scene.playback is None):
                self._joints()
        if self._scene.findings:
            with gui.add_folder("Findings", expand_by_default=False):
                gui.add_markdown("\n".join(f"- {_plain(str(x))}" for x in self._scene.findings[:50]))

    def _switches(self) -> None:
        gui, drawing = self._server.gui, self._drawing
        if drawing.roles:
            shapes = gui.add_dropdown("Shapes", (*drawing.roles, "none"), initial_value=drawing.roles[0])
            opacity = gui.add_slider("Opacity", 0.05, 1.0, 0.05, OPACITY)

            @shapes.on_update
            def _(_: Any) -> None:
                for role in drawing.roles:
                    drawing.show(role, shapes.value == role)

            @opacity.on_update
            def _(_: Any) -> None:
                drawing.fade(opacity.value)

        for source in self._scene.sources:
            self._switch(f"Inertia {source}", source, True)
            self._switch(f"Centres {source}", f"{source} com", True)
        self._switch("Names", "names", False)
        axes = gui.add_checkbox("Link frames", False)

        @axes.on_update
        def _(_: Any) -> None:
            for handle in drawing._groups["frames"]:
                handle.show_axes = axes.value

    def _switch(self, label: str, group: str, value: bool) -> None:
        box = self._server.gui.add_checkbox(label, value)

        @box.on_update
        def _(_: Any) -> None:
            self._drawing.show(group, box.value)

    def _joints(self) -> None:
        robot, place = self._scene.robot, 0
        assert robot is not None
        for joint in robot.joints:
            if joint.nq == 1:
                lower, upper = joint.limits.lower, joint.limits.upper
                low = lower if np.isfinite(lower) else min(-UNLIMITED, self._q[place])
                high = upper if np.isfinite(upper) else max(UNLIMITED, self._q[place])
                start = float(np.clip(self._q[place], low, high))
                if high > low:
                    self._slider(joint.name, low, high, start, place)
            place += joint.nq

    def _slider(self, name: str, low: float, high: float, start: float, place: int) -> None:
        slider = self._server.gui.add_slider(name, low, high, (high - low) / 1000.0, start)

        @slider.on_update
        def _(_: Any) -> None:
            self._q[place] = slider.value
            self._drawing.place(self._scene.frames(self._q[None])[0])

    def _motion(self, played: Playback) -> None:
        gui, uplot = self._server.gui, _viser().uplot
        frames = self._scene.frames(played.q)
        playing = gui.add_checkbox("Play", True)
        slider = gui.add_slider("Time [s]", 0.0, float(played.time[-1]), 0.001, 0.0)
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        readout = gui.add_markdown(motion_readout(played, 0))
        for kind, unit, values in _figures(played):
            # `uplot` draws no more lines than there are colours that differ.
            gui.add_uplot(
                data=(played.time, *(np.ascontiguousarray(column) for column in values.T)),
                series=(
                    uplot.Series(label="time [s]"),
                    *(
                        uplot.Series(label=name, stroke=_LINES[i % len(_LINES)], width=1)
                        for i, name in enumerate(played.joints)
                    ),
                ),
                scales={"x": uplot.Scale(time=False)},
                title=f"{kind} [{unit}]",
                aspect=2.0,
            )

        @slider.on_update
        def _(_: Any) -> None:
            k = played.sample(slider.value)
            self._drawing.place(frames[k])
            readout.content = motion_readout(played, k)

        def play() -> None:
            last = time.monotonic()
            while not self._ended.wait(1.0 / FRAMES_PER_SECOND):
                now = time.monotonic()
                if playing.value:
                    after = slider.value + float(speed.value) * (now - last)
                    setattr(slider, "value", after % float(played.time[-1]))  # noqa: B010 - typed as read-only
                last = now

        threading.Thread(target=play, name="playback", daemon=True).start()


_LINES = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#17becf")


def _figures(played: Playback) -> list[tuple[str, str, Array]]:
    if played.torque is None:
        return [("Speed, share of its limit", "%", 100.0 * _finite(played.shares["velocity"]))]
    limited = np.isfinite(played.effort).all()
    shares = (
        [("Torque, share of its limit", "%", 100.0 * _finite(played.shares["torque"]))] if limited else []
    )
    return [("Torque", "N·m or N", played.torque), *shares]


def _finite(values: Array) -> Array:
    return np.asarray(np.where(np.isfinite(values), values, 0.0))


def link_table(scene: ViewScene) -> str:
    """What the links weigh, as Markdown.

    Args:
        scene: what is shown.

    Returns:
        A table with a row for each body that has a mass, and their sum.
    """
    sources = scene.sources
    if not sources:
        return "Nothing is said about masses."
    head = "| link | " + " | ".join(f"{source}, kg" for source in sources) + " |"
    lines = [head, "| --- |" + " ---: |" * len(sources)]
    for body in scene.bodies:
        if body.masses:
            cells = [_mass(body, source) for source in sources]
            lines.append(f"| {_plain(body.name)} | {' | '.join(cells)} |")
    total = " | ".join(f"{scene.mass(source):.3f}" for source in sources)
    return "\n".join([*lines, f"| all | {total} |"])


def _mass(body: ViewBody, source: Source) -> str:
    mass = body.mass(source)
    if mass is None:
        return "–"
    if mass.interval95 is None:
        return f"{mass.mass:.3f}"
    return f"{mass.mass:.3f} ± {0.5 * (mass.interval95[1] - mass.interval95[0]):.3f}"


def link_card(body: ViewBody) -> str:
    """All numbers of one body, as Markdown.

    Args:
        body: the body.

    Returns:
        Its mass, centre of mass and ellipsoid, by source.
    """
    lines = [f"**{_plain(body.name)}**"]
    for mass in body.masses:
        com = ", ".join(f"{1e3 * x:.1f}" for x in mass.com)
        text = f"{mass.source}: {_mass(body, mass.source)} kg, centre at ({com}) mm"
        if mass.ellipsoid is None:
            text += f"; {_plain(mass.reason)}"
        else:
            text += f", ellipsoid {' × '.join(f'{2e3 * x:.0f}' for x in mass.ellipsoid.semi_axes)} mm"
        lines.append(f"- {text}")
    return "\n".join(lines)


def motion_readout(played: Playback, sample: int) -> str:
    """What the motion asks of the joints at one instant, as Markdown.

    Args:
        played: the motion.
        sample: index of the pose.

    Returns:
        A table by joint: torque, and the share of each limit that is used.
    """
    kinds = list(played.shares)
    lines = [
        f"**{played.time[sample]:.2f} s** of {played.time[-1]:.4g} s",
        "",
        "| joint | torque | " + " | ".join(f"{kind} %" for kind in kinds) + " |",
        "| --- | ---: |" + " ---: |" * len(kinds),
    ]
    for i, name in enumerate(played.joints):
        torque = "–" if played.torque is None else f"{played.torque[sample, i]:.1f}"
        shares = [_percent(float(played.shares[kind][sample, i])) for kind in kinds]
        lines.append(f"| {_plain(name)} | {torque} | {' | '.join(shares)} |")
    if played.clearance is not None:
        near = f"Least distance {1e3 * played.clearance[sample]:.0f} mm: {_plain(played.nearest[sample])}."
        lines += ["", near]
    return "\n".join(lines)


def _percent(share: float) -> str:
    text = f"{100.0 * share:.0f}"
    return f"**{text}**" if share > 1.0 else text


def _plain(text: str) -> str:
    """A name that means nothing to Markdown: names come from files that may be hostile."""
    return "".join(f"\\{x}" if x in "\\`*_{}[]<>()#+-.!|~$&" else x for x in text if x.isprintable())


def _node(body: ViewBody) -> str:
    return f"/bodies/{_safe(body.name)}"


def _safe(name: str) -> str:
    return name.replace("/", "|")


def _wxyz(rotation: Array) -> Array:
    x, y, z, w = Pose(rotation, np.zeros(3)).quaternion
    return np.array([w, x, y, z])


def _merged(body: ViewBody, role: Role) -> Mesh | None:
    """All surfaces of one role as one mesh; None where there are none."""
    meshes = [surface.mesh for surface in body.surfaces if surface.role == role]
    if not meshes:
        return None
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]),
    )
