"""The corpus on disk: every case in a folder of its own, with its companions, and secrets just outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hostile.csv_traps import csv_traps
from hostile.mjcf_traps import mjcf_traps
from hostile.mutations import TABLE, XML
from hostile.seeds import COMPANIONS, NAMES, SEEDS
from hostile.urdf_traps import urdf_traps
from hostile.xacro_traps import xacro_traps

SECRET = "swordfish-7431"
# Whoever runs as root may read everything.
ODD = ("folder", "pipe", "loop", "dangling", "device", "too large", *(["unreadable"] if os.geteuid() else []))
TRAPS = {"urdf": urdf_traps, "mjcf": mjcf_traps, "xacro": xacro_traps, "csv": csv_traps}


@dataclass(frozen=True)
class Case:
    """One hostile file: what kind it is, what was done to it, and where it lies."""

    kind: str
    made_by: str
    path: Path


def texts(seed: int, rounds: int) -> Iterator[tuple[str, str, bytes]]:
    """Kind, origin and content of every file; the same for the same seed, and no content twice."""
    seen: set[bytes] = set()
    for kind, traps in TRAPS.items():
        for name, content in traps().items():
            seen.add(content)
            yield kind, name, content
    rng = np.random.default_rng(seed)
    for kind, text in SEEDS.items():
        mutations = TABLE if kind == "csv" else XML
        seen.add(text.encode())
        for _ in range(rounds):
            for name, mutate in mutations.items():
                content = mutate(rng, text.encode())
                made_by = name
                # A second wound in half of the cases: what slips through one check meets the next.
                if content and rng.random() < 0.5:
                    other = list(mutations)[rng.integers(len(mutations))]
                    content, made_by = mutations[other](rng, content + b" "), f"{name}, {other}"
                if content not in seen:
                    seen.add(content)
                    yield kind, made_by, content


def grow(folder: Path, *, seed: int = 4, rounds: int = 6) -> list[Case]:
    """Write the corpus.

    Args:
        folder: an empty folder.
        seed: of the fuzzer.
        rounds: how often each mutation is applied to each seed file.

    Returns:
        The cases.
    """
    for name in ("secret.obj", "secret.xml", "secret.txt", "secret.yaml", "secret.dtd"):
        (folder / name).write_text(SECRET)
    cases = []
    for number, (kind, made_by, content) in enumerate(texts(seed, rounds)):
        home = folder / f"{number:04d}-{kind}"
        home.mkdir()
        for name, companion in COMPANIONS[kind].items():
            (home / name).write_text(companion)
        path = home / NAMES[kind]
        path.write_bytes(content)
        if ".obj" in made_by:
            (home / "link.obj").symlink_to(folder / "secret.obj")
            (home / "loop.obj").symlink_to(home / "loop.obj")
            (home / "folder.obj").mkdir()
            os.mkfifo(home / "pipe.obj")
        cases.append(Case(kind, made_by, path))
    return cases + _odd_files(folder)


def _odd_files(folder: Path) -> list[Case]:
    """Names of descriptions and logs that are no regular files."""
    cases = []
    for kind, name in NAMES.items():
        for what in ODD:
            home = folder / f"odd-{kind}-{what.replace(' ', '-')}"
            home.mkdir()
            path = home / name
            match what:
                case "folder":
                    path.mkdir()
                case "pipe":
                    os.mkfifo(path)
                case "loop":
                    path.symlink_to(path)
                case "dangling":
                    path.symlink_to(home / "nowhere")
                case "device":
                    path.symlink_to("/dev/zero")
                case "unreadable":
                    path.write_text(SEEDS[kind])
                    path.chmod(0)
                case "too large":
                    with path.open("wb") as file:
                        file.truncate(65 * 2**20)
            cases.append(Case(kind, what, path))
    return cases
