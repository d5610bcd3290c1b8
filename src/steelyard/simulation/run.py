"""A motion, tried on a simulated robot: what its log would be, how well it was followed, what it ran into."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.budget import NUMBER, require_memory
from steelyard.control import ComputedTorque, Controller
from steelyard.errors import InputError, NoSolutionError
from steelyard.limits import Clearance
from steelyard.motion import Motion
from steelyard.recording import Recording, Step
from steelyard.robot import Robot
from steelyard.simulation.closed_loop import TorqueLimiter, closed_loop
from steelyard.simulation.mujoco_model import mujoco_model
from steelyard.simulation.plant import Plant
from steelyard.simulation.sensor import (
    SensorPreset,
    effort_limits,
    sensor_preset,
)
from steelyard.simulation.wrist import differenced_motion, read_wrist, wrist_wrench

# What a simulated arm would have run into.


def check_clearance_belongs(robot: Robot, clearance: Clearance) -> None:
    """Refuse a clearance that was made for another robot.

    Args:
        robot: the robot that runs.
        clearance: what it must keep apart.

    Raises:
        InputError: the robots differ.
    """
    if clearance.robot.digest != robot.digest:
        raise InputError(
            f"it is for another robot than '{robot.name}' as it runs here.",
            place="clearance",
            remedy="Make it with clearance_of(robot, scene).",
        )


def nearest_approach(clearance: Clearance, path: Array, cycle: float) -> dict[str, object]:
    """How close the arm came to anything, or where it would have struck.

    The plant knows no contact, so an arm that strikes has no log: what would follow is unknown.

    Args:
        clearance: the pairs that must stay apart.
        path: true positions at every cycle, shape (n, nv), rad or m.
        cycle: length of a cycle, s.

    Returns:
        The smallest distance in m under `distance`, its `pair` and its `time` in s; empty without pairs.

    Raises:
        NoSolutionError: a pair overlaps; names the first one, and when.
    """
    if not clearance.pairs:
        return {}
    distances = clearance.distances(path)
    struck = np.flatnonzero((distances < 0.0).any(axis=1))
    sample = int(struck[0]) if struck.size else int(np.argmin(distances.min(axis=1)))
    pair = int(np.argmin(distances[sample]))
    name, distance, time = clearance.names[pair], float(distances[sample, pair]), sample * cycle
    if struck.size:
        raise NoSolutionError(
            f"the arm strikes at {time:.4g} s: {name} overlap by {-1e3 * distance:.3g} mm.",
            place="simulation",
            remedy="Choose another motion, or move what stands in its way.",
            evidence={"time": time, "pair": name, "distance": distance},
        )
    return {"distance": distance, "pair": name, "time": time}


# How well a recorded motion followed its reference.


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


# The run, and its log

SLOWEST_CONTROL = 1000.0
"""Lowest rate of the controller, Hz; a slower log takes every second, third, … cycle."""
FURTHEST = 1e6
"""Furthest position of a motion, rad or m: beyond it an angle has no digits left behind its turns."""
_NUMBERS_A_CYCLE = 20
"""Numbers that a run keeps of a joint for each cycle: references, readings, torques, and copies of them."""
BANDWIDTH = 20.0
"""Natural frequency of the default controller's error, critically damped, rad/s."""


def simulate_motion(
    robot: Robot,
    motion: Motion,
    *,
    controller: Controller | None = None,
    sensor: str | SensorPreset = "ideal",
    rate: float | None = None,
    rng: np.random.Generator | None = None,
    duration: float | None = None,
    torque_limits: bool | None = None,
    backlash: ArrayLike = 0.0,
    clearance: Clearance | None = None,
    wrench: str | None = None,
) -> Recording:
    r"""Run a motion on a simulated robot and record it.

    The arm starts at rest where the motion starts. The controller's torque is held over each of its cycles.
    The references are logged as well.

    With `ideal` the controller sees the true state, in cycles that are as long as the log's or an integer
    part of it, at most 1 ms. Each row holds the state at one instant, the torque that the controller commands
    there, and the acceleration that MuJoCo's forward dynamics answers, friction applied as a generalised
    force; so $Y(q, v, a)\,\phi = \tau$ holds in every row to round-off for the nominal parameters $\phi$.

    With any other preset the controller sees what the sensors show, and so does the log: no true state and no
    acceleration. `SensorPreset` states what is done to each signal. Sensors and controller run at the
    preset's rate; a slower log holds every second, third, … row of the same run.

    Args:
        robot: the robot; every moving link must state a possible inertial.
        motion: the reference, for the robot's joints in their order.
        controller: what follows it; None for computed torque with the description as its model and both poles
            of the error at `BANDWIDTH`.
        sensor: name of a preset of `SENSORS`, or a preset.
        rate: samples per second, Hz; None for the preset's.
        rng: source of everything random, new from its seed if the seed in the recording's history is to give
            the same run again; `ideal` draws nothing.
        duration: how long, s; None for the motion's own duration.
        torque_limits: whether commands are clipped at the robot's effort limits, which the recording's
            history then tells, with the number of clipped cycles of each joint; None for the preset's choice:
            no for `ideal`, yes for `industrial` and `low-cost`.
        backlash: play between each joint and its encoder, see `PlayGear`, one for all or one each, shape ()
            or (nv,), rad or m; not for `ideal`, whose log is the truth. The recording's history tells it.
        clearance: what the arm must not strike, `clearance_of` it and a scene, watched at every cycle; the
            recording's history tells the nearest approach. None watches nothing.
        wrench: name of the link in whose frame a force-torque sensor sits, see `wrist_wrench`, which logs the
            wrench that the load exerts on it; None for no sensor.

    Returns:
        The recording, with q, v, tau, the references, and a (`ideal`) or current (`low-cost`); a sensor at
        the wrist adds the columns `wrench_<link>_fx` to `_mz`.

    Raises:
        UnknownNameError: no such preset.
        InputError: the motion or the controller is for other joints, an option is out of range, or a random
            preset has no generator.
        DescriptionError: the robot cannot be simulated, or lacks an effort limit that is needed.
        NoSolutionError: the simulation diverged, or the arm strikes something.
    """
    preset = sensor_preset(sensor)
    frequency = preset.rate if rate is None else rate
    length = motion.duration if duration is None else duration
    limited = preset.torque_limits if torque_limits is None else torque_limits
    _check_options(frequency, length)
    if clearance is not None:
        check_clearance_belongs(robot, clearance)
    _check_joints(robot, "motion", motion.joints)
    seed = _seed(rng)
    specimen = preset.drawn(robot, rng)
    plant = Plant(specimen.robot, backlash=backlash)
    play = np.any(backlash)
    if preset.truth and play:
        raise InputError(
            f"sensor preset '{preset.name}' logs the true state, which knows no play.",
            place="backlash",
            remedy="Choose another --sensor, such as industrial.",
        )
    law = _default_controller(robot) if controller is None else controller
    _check_joints(robot, "controller", law.joints)
    every = _cycles_per_sample(preset, frequency)
    require_memory(
        NUMBER * _NUMBERS_A_CYCLE * robot.nv * (length * frequency * every),
        f"a run of {length:g} s at {frequency * every:g} Hz",
        place=f"motion and rate of '{robot.name[:80]}'",
        remedy="Simulate a shorter motion, or state a lower --rate.",
    )
    samples = math.floor(length * frequency * (1.0 + 1e-12)) + 1
    _check_cycle(law, 1.0 / (frequency * every))
    limits = effort_limits(robot, "a run within torque limits") if limited else np.full(robot.nv, np.inf)
    limiter = TorqueLimiter(limits)
    reference = motion.sample(np.arange((samples - 1) * every + 1) / (frequency * every))
    _check_reach(reference.q, robot.joint_names)
    if wrench is not None:
        mujoco_model(robot, wrench)  # refuses a frame that no sensor can sit in, before anything runs
    cycle = 1.0 / (frequency * every)
    log = closed_loop(plant, law, reference, limiter, preset, specimen, rng, cycle, every)
    extra = {}
    if wrench is not None:
        v, a = (x[::every] for x in differenced_motion(log.path, cycle))
        q, v, a = (log.q, log.v, log.a) if log.a is not None else (log.path[::every], v, a)
        extra = read_wrist(preset, wrench, wrist_wrench(specimen.robot, wrench, q, v, a), rng)
    detail = {
        "robot": robot.digest,
        "motion": motion.digest,
        "controller": dict(law.settings),
        "sensor": preset.name,
        "rate": float(frequency),
        "duration": float(length),
        "seed": seed,
        "mujoco": mujoco.__version__,
    }
    if not preset.truth:
        detail["preset"] = preset.settings
    if clearance is not None:
        detail["nearest_approach"] = nearest_approach(clearance, log.path, cycle)
    if play:
        detail["backlash"] = np.broadcast_to(np.asarray(backlash, dtype=float), (robot.nv,)).tolist()
    if limited:
        detail["clipped_cycles"] = dict(zip(robot.joint_names, limiter.counts.tolist(), strict=True))
    return Recording(
        robot.joint_names,
        np.arange(samples) / frequency,
        q=log.q,
        v=log.v,
        a=log.a,
        tau=log.tau,
        current=log.current,
        q_ref=reference.q[::every],
        v_ref=reference.v[::every],
        a_ref=reference.a[::every],
        extra=extra,
        provenance=(Step("simulate", detail),),
    )


def _default_controller(robot: Robot) -> ComputedTorque:
    return ComputedTorque.nominal(robot, kp=BANDWIDTH**2, kd=2.0 * BANDWIDTH)


def _cycles_per_sample(preset: SensorPreset, rate: float) -> int:
    if preset.truth:
        return max(1, math.ceil(SLOWEST_CONTROL / rate * (1.0 - 1e-12)))
    cycles = round(preset.rate / rate)
    if cycles < 1 or abs(preset.rate / rate - cycles) > 1e-9 * cycles:
        raise InputError(
            f"is {rate:g} Hz, but the sensors of '{preset.name}' are read at {preset.rate:g} Hz.",
            place="rate",
            remedy=f"Use {preset.rate:g} Hz, or a half, a third, … of it.",
        )
    return cycles


def _check_cycle(controller: Controller, cycle: float) -> None:
    if controller.cycle is not None and abs(controller.cycle - cycle) > 1e-9 * cycle:
        raise InputError(
            f"the law is made for cycles of {controller.cycle:g} s, but the plant runs it every {cycle:g} s.",
            place="controller",
            remedy="Choose --rate, or the cycle in the controller's file, so that they agree.",
        )


def _check_options(rate: float, duration: float) -> None:
    if not (math.isfinite(rate) and rate > 0.0):
        raise InputError(f"must be positive and finite, got {rate} Hz.", place="rate")
    if not (math.isfinite(duration) and duration * rate >= 1.0):
        raise InputError(
            f"must be finite and hold at least one interval of {1.0 / rate:g} s, got {duration} s.",
            place="duration",
        )


def _check_reach(q: Array, joints: tuple[str, ...]) -> None:
    far = np.abs(q).max(axis=0)
    if not (far <= FURTHEST).all():
        joint = joints[int(np.argmax(~(far <= FURTHEST)))]
        raise InputError(
            f"takes joint '{joint}' beyond {FURTHEST:g} rad or m.",
            place="motion",
            remedy="No joint goes there; check the motion's coefficients.",
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
