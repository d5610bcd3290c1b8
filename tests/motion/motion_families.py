"""One motion of every family, ugly ones among them, for laws that hold for all."""

from __future__ import annotations

import numpy as np

from steelyard.motion import (
    AnyMotion,
    FourierMotion,
    SequenceMotion,
    SinusoidMotion,
    SplineMotion,
    in_sequence,
    pick_and_place,
    quintic,
    slowed,
)
from steelyard.motion.composition import SumMotion
from steelyard.motion.conditions import rest_to_rest
from steelyard.motion.spline import bezier

JOINTS = ("shoulder", "elbow", "slider")
ROBOT = "5" * 64


def fourier(seed: int, harmonics: int = 5, period: float = 4.0) -> FourierMotion:
    rng = np.random.default_rng(seed)
    offset, (a, b) = rng.standard_normal(3), rng.standard_normal((2, 3, harmonics))
    return FourierMotion(JOINTS, period, offset, a, b, robot=ROBOT)


def spline(seed: int, degree: int = 5, pieces: int = 7, duration: float = 4.0) -> SplineMotion:
    """With breaks at random, so that no two knot spans are equal."""
    rng = np.random.default_rng(seed)
    breaks = np.concatenate(([0.0], np.cumsum(rng.uniform(0.2, 1.0, pieces))))
    breaks *= duration / breaks[-1]
    breaks[-1] = duration
    return SplineMotion(JOINTS, breaks, rng.standard_normal((3, pieces + degree)), degree, ROBOT)


def sinusoid(seed: int, duration: float = 4.0) -> SinusoidMotion:
    rng = np.random.default_rng(seed)
    frequency = rng.uniform(1.0, 5.0, 3)
    return SinusoidMotion(
        JOINTS, duration, rng.standard_normal(3), [0.3, -0.3, 0.0], frequency, [0.0, 1.0, 7.0]
    )


def with_ramps(motion: AnyMotion, seconds: float) -> SequenceMotion:
    """From rest to the motion's first state, the motion, and from its last state to rest."""
    at = motion.sample([0.0, motion.duration])
    way = 0.5 * seconds * at.v
    first, last = (
        quintic(
            motion.joints,
            seconds,
            at.q[0] - way[0],
            at.q[0],
            end_velocity=at.v[0],
            end_acceleration=at.a[0],
            robot=motion.robot,
        ),
        quintic(
            motion.joints,
            seconds,
            at.q[1],
            at.q[1] + way[1],
            start_velocity=at.v[1],
            start_acceleration=at.a[1],
            robot=motion.robot,
        ),
    )
    return in_sequence([first, motion, last])


def families(seed: int = 0) -> dict[str, AnyMotion]:
    """One motion of every family and constructor."""
    rng = np.random.default_rng(seed)
    poses = rng.standard_normal((4, 3))
    times = [0.0, 0.7, 1.9, 2.5]
    return {
        "fourier": fourier(seed),
        "fourier at rest": rest_to_rest(fourier(seed, 9), poses[0]),
        "cubic spline": spline(seed, 3),
        "quintic spline": spline(seed, 5),
        "spline of degree 9": spline(seed, 9, 3),
        "bezier": bezier(JOINTS, 1.3, rng.standard_normal((3, 6))),
        "sinusoid": sinusoid(seed),
        "quintic": quintic(JOINTS, 0.8, poses[0], poses[1]),
        "cubic pick and place": pick_and_place(JOINTS, poses, times, degree=3),
        "quintic pick and place": pick_and_place(JOINTS, poses, times),
        "sum": SumMotion((fourier(seed), spline(seed), sinusoid(seed))),
        "sequence": with_ramps(sinusoid(seed), 0.9),
        "slowed": slowed(in_sequence([with_ramps(fourier(seed), 0.5)]), 2.7),
    }


NAMES = tuple(families())
