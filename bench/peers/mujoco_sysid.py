"""`mujoco.sysid`: all links, friction and armatures by simulating windows of a log until they fit.

Nothing of Steelyard is imported here: it runs in the peer's own environment. The pseudo-inertia parameters
of versions 3.14 to 4.0.0 write a body that does not compile; the same numbers are written here as principal
moments instead.
"""

from __future__ import annotations

import time
from typing import Any

import mujoco
import numpy as np
from mujoco import sysid
from mujoco.sysid._src.model_modifier import pi_from_theta

STEP = 0.005
"""Time step of the simulation, s."""
WINDOW, SHORTEST = 0.5, 0.15
"""Length of a window that is simulated from its measured first state, and of the shortest one, s."""


class _OutOfTimeError(Exception):
    """The search is stopped from outside."""


def links(folder: str, seconds: float) -> dict[str, Any]:
    """Fit the log that `studies.real_peers` left in a folder.

    Args:
        folder: holds `model.xml`, the arm as believed beforehand with bodies `link<i>` and joints `joint<i>`,
            and `log.npz` with time, shape (N,), s, that starts anew where a log does, q, v and tau, shape
            (N, nv), and drive, shape (nv, 4), the friction, armature and offset that the search starts from,
            in the order viscous, coulomb, offset, rotor; all SI.
        seconds: of one core, after which the search is stopped and the best so far taken.

    Returns:
        Ten numbers of every link, shape (nv, 10), the drive's, shape (nv, 4), seconds and whether it settled.
    """
    spec = mujoco.MjSpec.from_file(f"{folder}/model.xml")
    spec.option.timestep = STEP
    with np.load(f"{folder}/log.npz") as log:
        t, q, v, tau, drive = (log[name] for name in ("time", "q", "v", "tau", "drive"))
    nv = q.shape[1]
    for k in range(nv):
        spec.add_actuator(
            name=f"motor{k}", target=f"joint{k}", trntype=mujoco.mjtTrn.mjTRN_JOINT
        ).set_to_motor()
    for kind, sensor in (("q", mujoco.mjtSensor.mjSENS_JOINTPOS), ("v", mujoco.mjtSensor.mjSENS_JOINTVEL)):
        for k in range(nv):
            spec.add_sensor(
                name=f"{kind}{k}", type=sensor, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=f"joint{k}"
            )
    model = spec.compile()
    initial, controls, measured = [], [], []
    for a, b in _windows(t):
        at = t[a:b] - t[a]
        initial.append(sysid.create_initial_state(model, q[a], v[a], np.zeros(0)))
        controls.append(sysid.TimeSeries(at, tau[a:b]))
        measured.append(sysid.TimeSeries.from_names(at, np.hstack([q[a:b], v[a:b]]), model))
    names = [f"window{k}" for k in range(len(initial))]
    sequences = sysid.ModelSequences("arm", spec, names, initial, controls, measured)
    parameters = sysid.ParameterDict()
    for k in range(nv):
        name = f"link{k}"
        parameters.add(
            sysid.body_inertia_param(
                spec, model, name, inertia_type=sysid.InertiaType.Pseudo, modifier=_body_writer(name)
            )
        )
    size = np.abs(tau).max(axis=0)
    for k in range(nv):
        least = np.array([0.0, 0.0, -size[k], 0.0])
        most = np.array([size[k], size[k], size[k], 10.0 * drive[k, 3] + 1e-3])
        start = np.clip(drive[k], least + 1e-3 * (most - least), most - 1e-3 * (most - least))
        parameters.add(sysid.Parameter(f"drive{k}", start, least, most, modifier=_drive_writer(k)))
    built: dict[bytes, Any] = {}

    def build(given: Any, spec: Any) -> Any:
        # The peer compiles once for each window; the model is the same.
        key = given.as_vector().tobytes()
        if key not in built:
            if len(built) > 4 * given.size:
                built.clear()
            built[key] = sysid.apply_param_modifiers(given, spec)
        return built[key]

    residual = sysid.build_residual_fn(models_sequences=[sequences], build_model=build, n_threads=1)
    best: tuple[float, np.ndarray] = (np.inf, parameters.as_vector())
    started = time.process_time()

    def watched(x: np.ndarray, given: Any) -> Any:
        nonlocal best
        answer = residual(x, given)
        if x.ndim == 1 or x.shape[1] == 1:
            squares = float(sum((r**2).sum() for r in answer[0]))
            if squares < best[0]:
                best = squares, np.array(x).reshape(-1)
        if time.process_time() - started > seconds:
            raise _OutOfTimeError
        return answer

    settled = True
    try:
        found, _ = sysid.optimize(
            initial_params=parameters, residual_fn=watched, optimizer="mujoco", verbose=False
        )
    except _OutOfTimeError:
        settled, found = False, parameters.copy()
        found.update_from_vector(best[1])
    took = time.process_time() - started
    fitted = sysid.apply_param_modifiers(found, spec.copy())
    return {
        "seconds": took,
        "settled": settled,
        "version": mujoco.__version__,
        "links": [_ten(fitted, f"link{k}") for k in range(nv)],
        "drive": [found[f"drive{k}"].value.tolist() for k in range(nv)],
    }


def _windows(t: np.ndarray) -> list[tuple[int, int]]:
    """First and last sample of every window, none of which reaches over a gap."""
    gaps = np.diff(t)
    interval = float(np.median(gaps))
    breaks = np.flatnonzero((gaps > 1.5 * interval) | (gaps < 0.0)) + 1
    long = max(2, round(WINDOW / interval))
    found = []
    for start, stop in zip([0, *breaks], [*breaks, t.size], strict=True):
        for a in range(start, stop, long):
            b = min(a + long, stop)
            if (b - a - 1) * interval >= SHORTEST:
                found.append((int(a), int(b)))
    return found


def _body_writer(name: str) -> Any:
    def write(spec: Any, given: Any) -> None:
        pi = pi_from_theta(given.value)
        m, c, about_origin = pi[0], pi[1:4] / pi[0], pi[4:].reshape(3, 3)
        S = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
        moments, R = np.linalg.eigh(about_origin + m * S @ S)
        if np.linalg.det(R) < 0.0:
            R[:, 0] *= -1.0
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, R.ravel())
        body = spec.body(name)
        body.explicitinertial = True
        body.mass, body.ipos, body.iquat, body.inertia = m, c, quaternion, moments
        body.fullinertia = np.full((6, 1), np.nan)

    return write


def _drive_writer(k: int) -> Any:
    def write(spec: Any, given: Any) -> None:
        joint, motor = spec.joint(f"joint{k}"), spec.actuator(f"motor{k}")
        viscous, coulomb, offset, rotor = given.value
        joint.damping = np.full_like(joint.damping, 0.0)
        joint.damping[0] = viscous
        joint.frictionloss, joint.armature = coulomb, rotor
        motor.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        motor.biasprm[0] = -offset

    return write


def _ten(model: Any, name: str) -> list[float]:
    """m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the body's origin."""
    body = model.body(name)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, body.iquat)
    R = R.reshape(3, 3)
    m, c = float(body.mass[0]), np.array(body.ipos)
    tensor = R @ np.diag(body.inertia) @ R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
    rows = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    return [m, *(m * c).tolist(), *(float(tensor[i, j]) for i, j in rows)]
