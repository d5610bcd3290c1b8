"""A scene as a recording of Rerun: meshes and ellipsoids once, poses and torques along time."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from steelyard.errors import MissingExtraError
from steelyard.files import FilePath, write_bytes
from steelyard.inertia import Mesh
from steelyard.viewer.surfaces import surface_of
from steelyard.viewer.view_scene import ViewScene
from steelyard.viewer.viser_window import COLOURS, POINT

TIMELINE = "time"


def write_rerun(scene: ViewScene, path: FilePath) -> None:
    """Write an `.rrd` file.

    Args:
        scene: what is shown.
        path: the file; it is there whole or not at all.

    Raises:
        MissingExtraError: Rerun is not installed.
    """
    try:
        import rerun
    except ImportError as error:
        raise MissingExtraError("an .rrd file", "rerun-sdk", "rerun") from error
    with TemporaryDirectory() as folder:
        whole = Path(folder) / "scene.rrd"
        recording = rerun.RecordingStream("steelyard")
        recording.save(whole)
        _log(rerun, recording, scene)
        recording.flush()
        recording.disconnect()
        write_bytes(path, whole.read_bytes())


def _log(rr: Any, recording: Any, scene: ViewScene) -> None:
    recording.log("/", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for body in scene.bodies:
        node = f"bodies/{rr.escape_entity_path_part(body.name)}"
        for k, surface in enumerate(body.surfaces):
            recording.log(
                f"{node}/{surface.role}/{k}", _mesh(rr, surface.mesh, surface.role, 90), static=True
            )
        for mass in body.masses:
            colour = COLOURS[mass.source]
            if mass.ellipsoid is not None and (mass.ellipsoid.semi_axes > 0.0).all():
                solid = _mesh(rr, surface_of(mass.ellipsoid), mass.source, 140)
                recording.log(f"{node}/{mass.source}", solid, static=True)
            point = rr.Points3D([mass.com], radii=POINT * scene.extent, colors=[colour], labels=[body.name])
            recording.log(f"{node}/{mass.source}_com", point, static=True)
    for name, mesh in scene.obstacles:
        part = rr.escape_entity_path_part(name)
        recording.log(f"scene/{part}", _mesh(rr, mesh, "obstacle", 200), static=True)
    played = scene.playback
    frames = scene.frames(scene.q[None] if played is None else played.q)
    for body in scene.bodies:
        node, X = f"bodies/{rr.escape_entity_path_part(body.name)}", frames[:, body.frame]
        if played is None:
            pose = rr.Transform3D(translation=X[0, :3, 3], mat3x3=X[0, :3, :3])
            recording.log(node, pose, static=True)
            continue
        columns = rr.Transform3D.columns(translation=X[:, :3, 3], mat3x3=X[:, :3, :3])
        recording.send_columns(node, [rr.TimeColumn(TIMELINE, duration=played.time)], columns)
    if played is None:
        return
    series = {f"share/{kind}": np.where(np.isfinite(x), x, 0.0) for kind, x in played.shares.items()}
    if played.torque is not None:
        series["torque"] = played.torque
    for kind, values in series.items():
        for i, joint in enumerate(played.joints):
            node = f"series/{kind}/{rr.escape_entity_path_part(joint)}"
            columns = rr.Scalars.columns(scalars=values[:, i])
            recording.send_columns(node, [rr.TimeColumn(TIMELINE, duration=played.time)], columns)


def _mesh(rr: Any, mesh: Mesh, colour: str, opacity: int) -> Any:
    return rr.Mesh3D(
        vertex_positions=mesh.vertices.astype(np.float32),
        triangle_indices=mesh.faces.astype(np.uint32),
        albedo_factor=(*COLOURS[colour], opacity),
    )
