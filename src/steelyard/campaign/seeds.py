"""Random numbers of a task's own."""

from __future__ import annotations

import hashlib

import numpy as np

from steelyard.errors import InputError


def task_seed(seed: int, name: str) -> int:
    """The seed of a task, independent of those of all others.

    It depends on the campaign's seed and the task's name alone: adding a trial or a method changes no other.

    Args:
        seed: of the campaign, not negative.
        name: of the task.

    Returns:
        128 bits, for `numpy.random.default_rng`.

    Raises:
        InputError: the seed is negative.
    """
    if seed < 0:
        raise InputError(f"must not be negative, got {seed}.", place="seed")
    words = np.frombuffer(hashlib.sha256(name.encode()).digest(), dtype="<u4")
    child = np.random.SeedSequence(seed, spawn_key=tuple(int(word) for word in words))
    return int.from_bytes(child.generate_state(4, np.uint32).astype("<u4").tobytes(), "little")
