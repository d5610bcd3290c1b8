"""A motion, tried on a simulated robot: what its log would be."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from steelyard.arrays import Array, read_only_view
from steelyard.control import ComputedTorque, Controller
from steelyard.errors import InputError, UnknownNameError
from steelyard.motion import Motion
from steelyard.recording import Recording, Step
from steelyard.robot import Robot
from steelyard.simulate.plant import Plant

SENSORS = ("ideal",)
"""Names of the sensor presets."""
SLOWEST_CONTROL = 1000.0
"""Lowest rate of the controller, Hz; a slower log takes every second, third, … cycle."""
BANDWIDTH = 20.0
"""Natural frequency of the default controller's error, critically damped, rad/s."""


def simulate(
    robot: Robot,
    motion: Motion,
    *,
    controller: Controller | None = None,
    sensor: str = "ideal",
    rate: float = 1000.0,
    rng: np.random.Generator | None = None,
    duration: float | None = None,
) -> Recording:
    r"""Run a motion on a simulated robot and record it.

    The arm starts at rest where the motion starts. The controller sees the true state; its torque is held
    over each of its cycles, which are as long as the log's or an integer part of it, at most 1 ms.

    The preset `ideal` adds no noise. Each row holds the state at one instant, the torque that the controller
    commands there, and the acceleration that MuJoCo's forward dynamics answers, friction applied as a
    generalised force; so $Y(q, v, a)\,\phi = \tau$ holds in every row to round-off for the nominal
    parameters $\phi$. The references are logged as well.

    Args:
        robot: the robot; every moving link must state a possible inertial.
        motion: the reference, for the robot's joints in their order.
        controller: what follows it; None for computed torque with the description as its model and both poles
            of the error at `BANDWIDTH`.
        sensor: name of the preset.
        rate: samples per second, Hz.
        rng: source of the sensors' noise; `ideal` draws nothing.
        duration: how long, s; None for the motion's own duration.

    Returns:
        The recording, with q, v, a, tau and the references.

    Raises:
        UnknownNameError: no such preset.
        InputError: the motion or the controller is for other joints, or an option is out of range.
        DescriptionError: the robot cannot be simulated.
        NoSolutionError: the simulation diverged.
    """
    if sensor not in SENSORS:
        raise UnknownNameError("sensor preset", sensor, SENSORS)
    length = motion.duration if duration is None else duration
    _check_options(rate, length)
    _check_joints(robot, "motion", motion.joints)
    plant = Plant(robot)
    law = _default_controller(robot) if controller is None else controller
    _check_joints(robot, "controller", law.joints)
    samples = math.floor(length * rate * (1.0 + 1e-12)) + 1
    cycles = max(1, math.ceil(SLOWEST_CONTROL / rate * (1.0 - 1e-12)))
    _check_cycle(law, 1.0 / (rate * cycles))
    step = Step(
        "simulate",
        {
            "robot": robot.digest,
            "motion": motion.digest,
            "controller": dict(law.settings),
            "sensor": sensor,
            "rate": float(rate),
            "duration": float(length),
            "seed": _seed(rng),
            "mujoco": mujoco.__version__,
        },
    )
    return _closed_loop(plant, motion, law, samples, cycles, rate, step)


def _check_cycle(controller: Controller, cycle: float) -> None:
    if controller.cycle is not None and abs(controller.cycle - cycle) > 1e-9 * cycle:
        raise InputError(
            f"the law is made for cycles of {controller.cycle:g} s, but the plant runs it every {cycle:g} s.",
            place="controller",
            remedy="Choose the log's rate or the law's cycle so that they agree.",
        )


def tracking_error(recording: Recording) -> Array:
    r"""How well the references were followed: $\sqrt{\mathrm{mean}_k\,(q_{ref} - q)^2}$ per joint.

    Args:
        recording: a recording with position references.

    Returns:
        Root mean square position errors, shape (nj,), rad or m.

    Raises:
        InputError: the recording has no position references.
    """
    if recording.q_ref is None:
        raise InputError("has no position references (columns qref_).", place="recording")
    return np.asarray(np.sqrt(np.mean((recording.q_ref - recording.q) ** 2, axis=0)))


def _closed_loop(
    plant: Plant, motion: Motion, controller: Controller, samples: int, cycles: int, rate: float, step: Step
) -> Recording:
    """Run the loop and record every `cycles`-th of its cycles."""
    nv = plant.robot.nv
    cycle = 1.0 / (rate * cycles)
    reference = motion.sample(np.arange((samples - 1) * cycles + 1) / (rate * cycles))
    q, v, a, tau = np.empty((4, samples, nv))
    model = (controller.tree, controller.numbers, controller.gains)
    memory = np.array(controller.memory)
    plant.place(reference.q[0], np.zeros(nv))
    for k in range(len(reference.q)):
        at, speed = read_only_view(plant.q), read_only_view(plant.v)
        torque = np.empty(nv)
        controller.step(*model, memory, at, speed, reference.q[k], reference.v[k], reference.a[k], torque)
        if k % cycles == 0:
            row = k // cycles
            q[row], v[row], tau[row] = at, speed, torque
            a[row] = plant.acceleration(torque)
        if k + 1 < len(reference.q):
            plant.advance(torque, cycle)
    return Recording(
        plant.robot.joint_names,
        np.arange(samples) / rate,
        q=q,
        v=v,
        a=a,
        tau=tau,
        q_ref=reference.q[::cycles],
        v_ref=reference.v[::cycles],
        a_ref=reference.a[::cycles],
        provenance=(step,),
    )


def _default_controller(robot: Robot) -> ComputedTorque:
    return ComputedTorque.nominal(robot, kp=BANDWIDTH**2, kd=2.0 * BANDWIDTH)


def _check_options(rate: float, duration: float) -> None:
    if not (math.isfinite(rate) and rate > 0.0):
        raise InputError(f"must be positive and finite, got {rate} Hz.", place="rate")
    if not (math.isfinite(duration) and duration * rate >= 1.0):
        raise InputError(
            f"must be finite and hold at least one interval of {1.0 / rate:g} s, got {duration} s.",
            place="duration",
        )


def _check_joints(robot: Robot, what: str, joints: tuple[str, ...]) -> None:
    if joints != robot.joint_names:
        raise InputError(
            f"it is for the joints {list(joints)}, but '{robot.name}' has {list(robot.joint_names)}.",
            place=what,
        )


def _seed(rng: np.random.Generator | None) -> object:
    """What the generator was seeded with, as far as it knows."""
    sequence = None if rng is None else rng.bit_generator.seed_seq
    entropy = getattr(sequence, "entropy", None)
    return list(entropy) if isinstance(entropy, (tuple, list)) else entropy
