"""`record.json`: how a result came about, so that it can be judged and repeated."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from steelyard.archive import to_document
from steelyard.layout import Layout
from steelyard.model import KIND, RECORD_SCHEMA
from steelyard.problem import Estimate
from steelyard.recording import Step
from steelyard.robot import Robot

_PACKAGES = ("steelyard", "numpy", "scipy", "numba", "pin", "mujoco", "clarabel", "highspy")


def record_document(
    robot: Robot,
    layout: Layout,
    files: Mapping[str, bytes],
    *,
    estimate: Estimate | None = None,
    steps: Sequence[Step] = (),
    seed: int | None = None,
    request: Mapping[str, object] | None = None,
    verdict: Mapping[str, object] | None = None,
    judges: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """The record of a result, as values JSON can hold.

    Args:
        robot: the robot.
        layout: the parameters asked about.
        files: the content of every other file of the result by name.
        estimate: where the values come from.
        steps: what was done, oldest first.
        seed: of everything random, or None where nothing was.
        request: the command that was given and the digests of its inputs, as values JSON can hold; with it
            the result can be made again.
        verdict: what is to be thought of the result, as values JSON can hold.
        judges: for each model, the programs that read it back and agree, by name.

    Returns:
        The document.
    """
    document: dict[str, object] = {
        "kind": KIND,
        "schema": RECORD_SCHEMA,
        "robot": {
            "name": robot.name,
            "source": robot.source,
            "digest": robot.digest,
            "locks": {held.name: held.position for held in robot.locks},
        },
        "drive": layout.drive,
        "steps": [{"action": s.action, "detail": s.detail, "digest": s.digest} for s in steps],
        "seed": seed,
        "versions": versions(),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    }
    if request is not None:
        document["request"] = request
    if judges is not None:
        document["read_back"] = {name: list(by) for name, by in judges.items()}
    if verdict is not None:
        document["verdict"] = verdict
    if estimate is not None:
        document["estimate"] = {
            "method": estimate.method,
            "samples": estimate.samples,
            "recordings": estimate.recordings,
            "detail": estimate.detail,
        }
    plain: dict[str, Any] = to_document(document)
    return plain


def versions() -> dict[str, str]:
    """Versions of everything that decides the bits of a result, by name."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
