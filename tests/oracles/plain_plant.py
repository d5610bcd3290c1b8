"""The simulated robot in plain Python: MuJoCo stepped by its own integrator, everything else in NumPy.

Slow and short, to judge the compiled loop: friction at the end of a step, play, sensors, late commands.
"""

from __future__ import annotations

import math

import mujoco
import numpy as np

from steelyard.arrays import Array
from steelyard.control import Controller
from steelyard.drive import stribeck_column
from steelyard.motion import MotionSample
from steelyard.robot import Robot
from steelyard.simulation import SensorPreset
from steelyard.simulation.mujoco_model import mujoco_model
from steelyard.simulation.sensor import RobotSample

STEP = 0.5e-3


def smallest_sum(A: Array, r: Array, c: Array) -> Array:
    """The x with the least x'Ax/2 - r'x + c'|x|: coordinate descent, then the exact answer of its signs."""
    x = np.zeros(len(r))
    last = np.full(len(r), np.inf)
    while np.abs(x - last).max() > 1e-13 * np.abs(x).max():
        last = x.copy()
        for j in range(len(r)):
            y = r[j] - A[j] @ x + A[j, j] * x[j]
            # A force that equals the friction to round-off does not move the joint.
            x[j] = math.copysign(max(abs(y) - c[j], 0.0), y) / A[j, j] if abs(y) > c[j] * (1 + 1e-12) else 0.0
    free = x != 0.0
    x[free] = np.linalg.solve(A[np.ix_(free, free)], (r - c * np.sign(x))[free])
    return x


class PlainPlant:
    """An arm whose state is MuJoCo's."""

    def __init__(self, robot: Robot, gap: float = 0.0) -> None:
        self.model = mujoco_model(robot)
        self.data = mujoco.MjData(self.model)
        self.dof = np.array([int(self.model.joint(f"joint{i}").dofadr[0]) for i in range(robot.nv)])
        terms = ("viscous", "coulomb", "offset", "rotor", "stribeck", "asymmetric", "load")
        self.Fv, self.Fc, self.Fo, self.Ia, self.Fs, self.Fa, self.Fl = (
            np.array([joint.drive.value(term) or 0.0 for joint in robot.joints]) for term in terms
        )
        shapes = [joint.drive.stribeck_shape for joint in robot.joints]
        self.shape = np.array([(1.0, 1.0) if s is None else (s.velocity, s.exponent) for s in shapes]).T
        self.gap = gap
        self.encoder = np.zeros(robot.nv)

    @property
    def q(self) -> Array:
        return np.array(self.data.qpos[self.dof])

    @property
    def v(self) -> Array:
        return np.array(self.data.qvel[self.dof])

    def place(self, q: Array) -> None:
        self.data.qpos[self.dof], self.data.qvel[:] = q, 0.0
        self.encoder = self.q

    def dry(self, v: Array) -> Array:
        fade = np.where(v == 0.0, 1.0, np.abs(stribeck_column(v, *self.shape)))
        return self.Fc + self.Fs * fade

    def mass_and_bias(self) -> tuple[Array, Array]:
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)
        M = np.empty((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M[np.ix_(self.dof, self.dof)], np.array(self.data.qfrc_bias[self.dof])

    def acceleration(self, tau: Array) -> Array:
        v = self.v
        slope = self.Fv + self.Fa * np.sign(v)
        f = tau - slope * v - self.dry(v) * np.sign(v) - self.Fo
        M, b = self.mass_and_bias()
        friction = np.zeros(len(v))
        for _ in range(200):
            a = np.linalg.solve(M, f - friction - b)
            friction = self.Fl * np.sign(v) * np.abs(M @ a - self.Ia * a + b)
        self.data.qfrc_applied[self.dof] = f - friction
        mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qacc[self.dof])

    def advance(self, tau: Array, duration: float) -> None:
        steps = max(1, math.ceil(duration / STEP * (1.0 - 1e-9)))
        h = self.model.opt.timestep = duration / steps
        for _ in range(steps):
            (M, b), v, load = self.mass_and_bias(), self.v, np.zeros(len(self.Fl))
            f = tau - self.Fo - b
            A = M + h * np.diag(self.Fv + self.Fa * np.sign(v))
            for _ in range(16 if self.Fl.any() else 1):  # each round leaves a share F_l of the error
                dry = self.dry(v) + self.Fl * np.abs(load)
                end = smallest_sum(A, M @ v + h * f, h * dry)
                change = (end - v) / h
                load = M @ change - self.Ia * change + b
            self.data.qfrc_applied[self.dof] = M @ change + b
            mujoco.mj_step(self.model, self.data)
            held = self.dof[(end == 0.0) & (self.dry(end) + self.Fl > 0.0)]
            self.data.qvel[held] = 0.0
            self.encoder = np.clip(self.encoder, self.q - 0.5 * self.gap, self.q + 0.5 * self.gap)


def plain_run(
    plant: PlainPlant,
    law: Controller,
    reference: MotionSample,
    limits: Array,
    preset: SensorPreset,
    specimen: RobotSample,
    rng: np.random.Generator,
    turning: Array,
    scale: Array,
) -> dict[str, Array]:
    """The log of a run; `scale` is the effort limit that the preset's shares refer to."""
    h, memory = 1.0 / preset.rate, np.array(law.memory)
    step = preset.encoder * np.where(turning, 1.0, preset.travel_per_radian)
    log: dict[str, list[Array]] = {name: [] for name in ("q", "v", "tau", "a", "current")}
    plant.place(reference.q[0])
    sent: list[tuple[float, Array]] = []
    at = speed = np.zeros(0)
    for k in range(len(reference.q)):
        if preset.truth:
            at, speed = plant.q, plant.v
        else:
            before, last = at, speed
            at = step * np.rint(plant.encoder / step) if preset.encoder else plant.encoder
            moved = at - before if k else np.zeros(len(at))
            speed = (preset.velocity_lag * (last if k else 0.0) + moved) / (preset.velocity_lag + h)
        tau = np.empty(len(at))
        given = [np.array(x) for x in (at, speed, reference.q[k], reference.v[k], reference.a[k])]
        for x in given:
            x.flags.writeable = False
        law.step(law.tree, law.numbers, law.gains, memory, *given, tau)
        tau = np.clip(tau, -limits, limits)
        late = preset.delay + (preset.jitter * rng.uniform(-1.0, 1.0) if preset.jitter else 0.0)
        sent.append((k * h + late, tau))
        arrived = [command for time, command in sent if time <= k * h + 1e-9 * h]
        acting = arrived[-1] if arrived else sent[0][1]
        log["q"].append(at)
        log["v"].append(speed)
        if preset.truth:
            log["tau"].append(tau)
            log["a"].append(plant.acceleration(tau))
        else:
            noise = specimen.noise * rng.standard_normal(len(tau)) if specimen.noise.any() else 0.0
            seen, quantum = acting + specimen.bias + noise, preset.torque_quantum * scale
            if preset.current_at_limit:
                constant = scale / preset.current_at_limit
                log["current"].append(
                    preset.current_quantum * np.rint(seen / constant / preset.current_quantum)
                )
                seen = constant * log["current"][-1]
            log["tau"].append(quantum * np.rint(seen / quantum) if quantum.any() else seen)
        if k + 1 < len(reference.q):
            soon = [(t, c) for t, c in sent if k * h + 1e-9 * h < t < (k + 1) * h - 1e-9 * h]
            changes = [(k * h, acting), *soon]
            ends = [time for time, _ in soon] + [(k + 1) * h]
            for (start, command), end in zip(changes, ends, strict=True):
                plant.advance(specimen.gain * command, end - start)
    return {name: np.array(rows) for name, rows in log.items() if rows}
