"""A motion known in closed form: Fourier series with their exact derivatives, as a recording."""

from __future__ import annotations

import numpy as np

from steelyard.recording import Recording

JOINTS = ("shoulder", "elbow")
AMPLITUDE = {1: (0.8, -0.5), 2: (0.3, 0.4), 5: (0.05, 0.08)}
PHASE = {1: (0.3, 1.1), 2: (-0.7, 0.2), 5: (2.0, 0.9)}


def series(time, derivative=0, period=4.0):
    """Both joints' positions or a derivative of them, shape (N, 2)."""
    total = np.zeros((len(time), 2))
    for harmonic, amplitude in AMPLITUDE.items():
        w = 2.0 * np.pi * harmonic / period
        # The derivative of sin(x) is sin(x + π/2).
        phase = np.outer(w * np.asarray(time), np.ones(2)) + PHASE[harmonic] + 0.5 * np.pi * derivative
        total += np.asarray(amplitude) * w**derivative * np.sin(phase)
    return total + (0.2 if derivative == 0 else 0.0)


def torque(time, period=4.0):
    """A linear model's torque: inertia, damping and stiffness of each joint."""
    q, v, a = (series(time, k, period) for k in range(3))
    return 1.5 * a + 0.7 * v + 4.0 * q


def motion(time, period=4.0, noise=0.0, seed=0, **channels):
    """A recording of that motion with q, v and tau; white noise on q where wanted."""
    rng = np.random.default_rng(seed)
    q = series(time, 0, period) + noise * rng.standard_normal((len(time), 2))
    fields = {"q": q, "v": series(time, 1, period), "tau": torque(time, period), **channels}
    return Recording(JOINTS, time, **fields)


def uniform_time(interval, duration):
    return interval * np.arange(round(duration / interval) + 1)
