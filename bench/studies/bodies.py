"""The verdict on a body against the definition, over many bodies at all scales and in the ugly region."""

from __future__ import annotations

import numpy as np

from steelyard.inertia import check_body, nearest_consistent, pseudo_inertia
from steelyard.inertia.body import random_body
from tables import Bound, Study

BODIES = 20000
SHAPES = ("solid", "planar", "rod", "point", "massless")


def run() -> Study:
    """Consistent if and only if the pseudo-inertia is positive semidefinite; projections are consistent."""
    rng = np.random.default_rng(20260102)
    disagreements = inconsistent = silent = 0
    counts = dict.fromkeys(("possible", "impossible", "within round-off"), 0)
    for k in range(BODIES):
        shape = SHAPES[k % len(SHAPES)]
        mass, size = 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-3, 1)
        body = random_body(rng, shape=shape, mass=(mass, mass), size=size)
        phi = body.parameters.copy()
        if k % 2:
            scale = np.array([mass, *[mass * size] * 3, *[mass * size**2] * 6])
            phi += 10.0 ** rng.uniform(-9, 0) * scale * rng.normal(size=10)
        answer = check_body(phi)
        # The definition, with lengths measured in the body's own size so that entries are comparable.
        S = np.diag([1 / size] * 3 + [1.0])
        eigenvalues = np.linalg.eigvalsh(S @ pseudo_inertia(phi) @ S)
        relative = eigenvalues[0] / np.abs(eigenvalues).max() if eigenvalues.any() else 0.0
        if abs(relative) < 1e-11:
            counts["within round-off"] += 1
        else:
            counts["possible" if relative > 0 else "impossible"] += 1
            disagreements += int(answer.consistent != (relative > 0))
        silent += int(answer.consistent == bool(answer.reasons))
        inconsistent += int(not check_body(nearest_consistent(phi)).consistent)
    return Study(
        "Which bodies can exist",
        f"{BODIES} bodies of mass 1 g to 1 t and size 1 mm to 10 m: {counts}. Half are solid, planar, "
        "rod-like, point-like or massless; the others are such bodies disturbed by 1e-9 to 1 of their size.",
        (
            Bound("verdicts that contradict the pseudo-inertia", disagreements, 0),
            Bound("verdicts without reason, or reasons without verdict", silent, 0),
            Bound("nearest bodies that are impossible", inconsistent, 0),
        ),
    )
