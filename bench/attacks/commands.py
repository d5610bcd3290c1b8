"""Every command that writes, small enough to be run hundreds of times, and what it promises of its files."""

from __future__ import annotations

import csv
import fcntl
import hashlib
import io
import json
import re
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from attacks.child import Ended, Plan, load, run_here

LOAD = {"mass": 0.3, "com": [0.0, 0.01, 0.02], "inertia": [0.001, 0.0, 0.001, 0.0, 0.0, 0.001]}
STUDY = """
[campaign]
kind = "monte-carlo"
name = "a small one"
seed = 1

[robot]
name = "one_link"

[study]
trials = 1
sensors = ["industrial"]
noise = [1.0]
motions = [1]
duration = 2.0
methods = ["ols", "wls"]
prior_error = 0.3
drive = ["viscous", "coulomb"]
"""
HIDDEN = re.compile(r"\.[0-9a-f]{16}\.tmp")
"""What a file or folder is called until it is complete."""


@dataclass(frozen=True)
class Command:
    """A command that writes.

    Attributes:
        name: of the command.
        words: the rest; `@NAME` is a file of the material, and `@out` is where it writes.
        other: words that make another result of the same kind, for an earlier one.
        out: name of the file or folder it writes.
        forced: whether an earlier result is replaced with --force only.
        atomic: whether its files are replaced all at once; otherwise one by one, each whole.
        codes: how it may end when it is left alone.
    """

    name: str
    words: tuple[str, ...]
    other: tuple[str, ...]
    out: str
    forced: bool = True
    atomic: bool = True
    codes: tuple[int, ...] = (0, 1)

    def line(self, folder: Path, *more: str) -> list[str]:
        """All words, writing into a folder."""
        named = {"@out": str(folder / self.out)}
        material = made_material()
        words = [
            named.get(word) or (str(material / word[1:]) if word[0] == "@" else word) for word in self.words
        ]
        return [self.name, *words, *more]


_MOTION = ("--budget", "20", "--period", "3", "--harmonics", "2", "--rounds", "1")
_LITTLE = ("--trials", "1", "--count", "1", "--filters", "none")
COMMANDS = (
    Command("simulate", ("two_link", "@motion.json", "--out", "@out"), ("--sensor", "low-cost"), "log.npz"),
    Command(
        "excite", ("two_link", "--out", "@out", *_MOTION, "--floor", "none"), ("--seed", "7"), "motion.json",
        atomic=False, codes=(0, 3),
    ),
    Command("identify", ("two_link", "@train.csv", "--out", "@out"), ("--method", "ols"), "result"),
    Command("validate", ("two_link", "@train.csv", "--out", "@out"), ("--cutoff", "4"), "report"),
    Command(
        "payload",
        ("panda", "--loaded", "@loaded.npz", "--empty", "@empty.npz", "--out", "@out"),
        ("--method", "ols"), "object",
    ),
    Command(
        "joints", ("two_link", "--gravity", "none", "--lock", "joint1=0", "--out", "@out"), ("--seed", "3"),
        "models",
    ),
    Command(
        "sensitivity",
        ("two_link", *_LITTLE, "--noise", "q=1e-5", "--out", "@out"), ("--seed", "3"), "study",
    ),
    Command("demo", ("--robot", "one_link", "--out", "@out"), ("--seed", "3"), "demo", False, False),
    Command("campaign", ("@study.toml", "--workers", "1", "--out", "@out"), (), "campaign", False, False),
    Command(
        "online",
        ("kinova_gen3_2f85", "--payload", "@load.json", "--plans", "1", "--budget", "1", "--out", "@out"),
        ("--seed", "3"), "learned", atomic=False,
    ),
)  # fmt: skip
BY_NAME = {command.name: command for command in COMMANDS}


@contextmanager
def _once(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder that several processes want; says whether it is to be filled."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        wanted = not (folder / "complete").is_file()
        if wanted:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        yield wanted
        (folder / "complete").touch()


@cache
def made_material() -> Path:
    """The folder with what the commands read, made once for all processes."""
    folder = Path(tempfile.gettempdir(), "material")
    with _once(folder) as wanted:
        if wanted:
            _make_material(folder)
    return folder


def _make_material(folder: Path) -> None:
    from steelyard.inertia import Body
    from steelyard.motion import random_fourier, write_motion
    from steelyard.recording import write
    from steelyard.simulation import simulate_motion
    from steelyard.zoo import zoo_robot

    (folder / "load.json").write_text(json.dumps(LOAD))
    (folder / "study.toml").write_text(STUDY)
    rng = np.random.default_rng(1)
    two, panda = zoo_robot("two_link"), zoo_robot("panda")
    motion = random_fourier(two, rng, period=4.0)
    write_motion(motion, folder / "motion.json")
    write(simulate_motion(two, motion, sensor="industrial", rng=rng), folder / "train.csv")
    held = Body(1.2, np.array([0.02, 0.0, 0.05]), np.diag([0.004, 0.004, 0.003]))
    motion = random_fourier(panda, rng, period=6.0)
    for name, robot in (("empty", panda), ("loaded", panda.with_body("held", held))):
        write(simulate_motion(robot, motion, sensor="industrial", rng=rng), folder / f"{name}.npz")


@dataclass(frozen=True)
class Reference:
    """A command left alone.

    Attributes:
        code: how it ended.
        operations: how many times it touched the disk at its output.
        writes: how many times it wrote, flushed or moved there.
        seconds: how long it took.
        earlier: folder with another result of it.
        names: of the files it leaves.
        telling: of those that differ from the other result's.
    """

    code: int
    operations: int
    writes: int
    seconds: float
    earlier: Path
    names: frozenset[str]
    telling: frozenset[str]


@cache
def reference(name: str) -> Reference:
    """What becomes of a command that is left alone, found out once for all processes."""
    command = BY_NAME[name]
    folder = Path(tempfile.gettempdir(), f"reference-{name}")
    with _once(folder) as wanted:
        if wanted:
            for kind, more in (("earlier", command.other), ("new", ())):
                (folder / kind).mkdir()
                ended = run_here(command.line(folder / kind, *more), folder / kind, Plan())
                if ended.code not in command.codes:
                    raise RuntimeError(f"{name} left alone ends with {ended.code}: {ended.stderr}")
            (folder / "ended.json").write_text(json.dumps(vars(ended)))
    ended = Ended(**json.loads((folder / "ended.json").read_text()))
    load(ended.modules)
    was, now = digests(folder / "earlier"), digests(folder / "new")
    telling = frozenset(file for file in now if now[file] != was.get(file))
    operations, writes = ended.operations, ended.writes
    return Reference(
        ended.code, operations, writes, ended.seconds, folder / "earlier", frozenset(now), telling
    )


def digests(folder: Path) -> dict[str, str]:
    """Every file below a folder that is not hidden, by its name there, with a digest of its content."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    names = {str(path.relative_to(folder)): path for path in files}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in names.items()
        if not any(HIDDEN.fullmatch(part) for part in Path(name).parts)
    }


def leftovers(folder: Path) -> int:
    """How many unfinished files and folders are left below a folder."""
    return sum(HIDDEN.fullmatch(path.name) is not None for path in folder.rglob("*"))


def broken_promises(command: Command, folder: Path, *, earlier: bool) -> list[str]:
    """What is wrong with the files that a command has left where it was stopped; nothing if all is well.

    Args:
        command: the command.
        folder: where it wrote.
        earlier: whether another result stood there before.
    """
    known = reference(command.name)
    found = digests(folder)
    wrong = [f"{name}: {why}" for name in sorted(found) if (why := _damage(folder / name))]
    wrong += [
        f"{record.relative_to(folder)}: tells of another {name}"
        for record in folder.rglob("record.json")
        if not any(HIDDEN.fullmatch(part) for part in record.parts)
        for name in _disowned(record)
    ]
    wrong += _disowned_certificates(folder)
    if not command.atomic:
        return wrong
    was = digests(known.earlier) if earlier else {}
    if found == was:
        return wrong
    if set(found) != known.names:
        where = "an earlier result" if earlier else "nothing"
        wrong.append(f"there was {where}, now there is {sorted(found) or 'nothing'}")
    elif kept := sorted(name for name in known.telling if found[name] == was.get(name)):
        wrong.append(f"a new result with {kept} of the earlier one")
    return wrong


def _disowned(record: Path) -> list[str]:
    """Files whose digests are not those that the record beside them states."""
    try:
        stated = json.loads(record.read_text()).get("files", {})
    except ValueError:
        return []
    return [
        name
        for name, digest in stated.items()
        if not (record.parent / name).is_file()
        or hashlib.sha256((record.parent / name).read_bytes()).hexdigest() != digest
    ]


def _disowned_certificates(folder: Path) -> list[str]:
    """Certificates and samples that are not of the motion they stand beside."""
    from steelyard.errors import InputError
    from steelyard.motion import read_motion

    wrong = []
    for file in folder.glob("*.certificate.json"):
        motion = file.with_name(file.name.replace(".certificate", ""))
        try:
            if json.loads(file.read_text())["motion"] != read_motion(motion).digest:
                wrong.append(f"{file.name}: certifies another motion than {motion.name}")
        except (InputError, ValueError, KeyError) as error:
            wrong.append(f"{file.name}: stands beside no motion: {error}")
    return wrong


def _damage(path: Path) -> str:
    """What is wrong with a file by itself; empty if it is whole."""
    try:
        _READERS.get(path.suffix, _read_text)(path)
    except Exception as error:
        return f"is not whole: {type(error).__name__}: {error}"
    return ""


def _read_npz(path: Path) -> None:
    with np.load(path, allow_pickle=False) as file:
        for name in file.files:
            file[name]


def _read_nothing(_: Path) -> None:
    """Of a lock or of what is appended to line by line nobody expects that it is whole."""


def _read_parquet(path: Path) -> None:
    import pyarrow.parquet

    pyarrow.parquet.read_table(path, use_threads=False)


def _read_csv(path: Path) -> None:
    text = path.read_text()
    if not text.endswith("\n") or len({len(row) for row in csv.reader(io.StringIO(text))}) != 1:
        raise ValueError("rows of unequal length")


def _read_html(path: Path) -> None:
    if not path.read_text().rstrip().endswith("</html>"):
        raise ValueError("the page does not end")


def _read_mjcf(path: Path) -> None:
    import mujoco

    mujoco.MjModel.from_xml_path(str(path))


def _read_yaml(path: Path) -> None:
    import yaml

    yaml.safe_load(path.read_text())


def _read_python(path: Path) -> None:
    compile(path.read_text(), path.name, "exec")


def _read_text(path: Path) -> None:
    if not path.read_text().endswith("\n"):
        raise ValueError("the last line does not end")


_READERS: dict[str, Callable[[Path], object]] = {
    ".json": lambda path: json.loads(path.read_text()),
    ".jsonl": _read_nothing,
    ".lock": _read_nothing,
    ".npz": _read_npz,
    ".parquet": _read_parquet,
    ".csv": _read_csv,
    ".html": _read_html,
    ".svg": ElementTree.parse,
    ".xml": _read_mjcf,
    ".urdf": ElementTree.parse,
    ".toml": lambda path: tomllib.loads(path.read_text()),
    ".yaml": _read_yaml,
    ".py": _read_python,
    ".log": _read_nothing,
}
