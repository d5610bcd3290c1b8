"""Make a result again from its record, and compare it bit by bit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from steelyard.document import kind_of
from steelyard.errors import InputError
from steelyard.files import FilePath, file_digest
from steelyard.progress import Progress
from steelyard.workflows.options import ForceGiven, Option, workflow

if TYPE_CHECKING:
    from steelyard.workflows.record import RecordedRequest

RECORD = "record.json"
RUN = "run.json"
"""The record of a run of `steelyard online`."""


@dataclass(frozen=True, eq=False)
class Replay:
    """A result that was made again.

    Attributes:
        states: how each file stands to the one recorded: same, differs, missing or new.
        versions: what was and is installed, by package, where it is not the same.
        sentence: of a run of `steelyard online`, how its torques stand; empty for a result.
        same: whether nothing differs.
        cycles: of a run, how many control cycles were compared.
        seconds: what it took.
        files: what was kept, by name.
    """

    states: Mapping[str, str]
    versions: Mapping[str, list[str | None]]
    sentence: str = ""
    same: bool = True
    cycles: int = 0
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """`pass` where everything is the same, `fail` otherwise."""
        return "pass" if self.same else "fail"

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        if self.sentence:
            return {"verdict": self.verdict, "sentence": self.sentence, "cycles": self.cycles}
        return {"verdict": self.verdict, "files": dict(self.states), "versions": dict(self.versions)}

    @property
    def reason(self) -> str:
        """Why bits may differ."""
        if self.versions:
            return "the versions above differ"
        return "no version differs; another processor or number of threads rounds differently"

    def __repr__(self) -> str:
        differ = sum(state != "same" for state in self.states.values())
        return f"<Replay: {self.verdict}, {differ} of {len(self.states)} files differ>"

    def __str__(self) -> str:
        if self.sentence:
            return self.sentence
        lines = [f"{state:>8}  {name}" for name, state in self.states.items()]
        lines += [f"{name} was {then} and is {now}" for name, (then, now) in self.versions.items()]
        told = "pass: the same result, bit by bit" if self.same else f"fail: not the same bits: {self.reason}"
        return "\n".join([told, *lines])


@workflow
def replay(
    record: Annotated[
        FilePath,
        Option(
            "A record.json, or the folder of a result or of a run of `steelyard online`.",
            argument=True,
            metavar="RECORD",
        ),
    ],
    *,
    out: Annotated[
        FilePath | None,
        Option("Folder to keep the new result in.", metavar="PATH", default="none is kept"),
    ] = None,
    force: ForceGiven = False,
    progress: Progress | None = None,
) -> Replay:
    """Make a result again from its record and compare every file; exit code 1 if one differs.

    Paths are those that were given then: run it from the same folder. Inputs that changed are refused.

    Args:
        record: a `record.json`, or the folder of a result or of a run of `online`.
        out: folder to keep the new result in; None to keep none.
        force: whether an earlier result may be replaced.
        progress: told what is done.

    Returns:
        How each file stands to the one recorded.

    Raises:
        InputError: the record cannot be used, an input changed, or it was given as an object.
    """
    started, given = time.perf_counter(), Path(record)
    if (given / RUN).is_file():
        from steelyard.safe_learning import OnlineRun, replay_run

        if out is not None:
            raise InputError(
                "a run of `steelyard online` is compared in place; nothing is written.", place="--out"
            )
        again = replay_run(OnlineRun.read(given))
        seconds, cycles = time.perf_counter() - started, len(again.run.cycles.commands)
        return Replay({}, {}, again.sentence, again.same, cycles, seconds)
    from steelyard.formats import versions
    from steelyard.model import read_record

    path = given / RECORD if given.is_dir() else given
    before = read_record(path)
    asked = before.get("request")
    if not isinstance(asked, dict):
        raise InputError(
            "does not say what was asked for.", place=f"{path}: request", remedy="Identify anew."
        )
    then = before.get("versions", {})
    if not isinstance(then, dict):
        raise InputError(f"expected a table, got {kind_of(then)}.", place=f"{path}: versions")
    make = _carrier(asked, path)
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "result" if out is None else Path(out)
        make(folder, force)
        states = _difference(path, before, folder)
        files = (
            {} if out is None else {name: str(folder / name) for name in states if states[name] != "missing"}
        )
    now = versions()
    other = {name: [was, now.get(name)] for name, was in then.items() if now.get(name) != was}
    same = all(state == "same" for state in states.values())
    return Replay(states, other, "", same, 0, time.perf_counter() - started, files)


def _carrier(asked: Mapping[str, Any], path: Path) -> Callable[[Path, bool], object]:
    """What carries a recorded request out again into a folder, once its inputs are seen to be the same.

    Only the workflow that is asked for is loaded.
    """
    place, command = f"{path}: request", asked.get("command")
    request: RecordedRequest
    carry_out: Callable[..., object]
    if command == "payload":
        from steelyard.workflows.weighed_payload import PayloadRequest
        from steelyard.workflows.weighing import payload_of_request as carry_out

        request = PayloadRequest.of(asked, place)
    elif command == "sensitivity":
        from steelyard.workflows.sensitivity_study import SensitivityRequest
        from steelyard.workflows.sensitivity_study import sensitivity_of_request as carry_out

        request = SensitivityRequest.of(asked, place)
    elif command == "joints":
        from steelyard.workflows.joint_models import JointsRequest
        from steelyard.workflows.joint_models import joints_of_request as carry_out

        request = JointsRequest.of(asked, place)
    else:
        from steelyard.workflows.identify_request import IdentifyRequest
        from steelyard.workflows.judged_estimate import identification_of_request as carry_out

        request = IdentifyRequest.of(asked, place)
    request.require_unchanged(asked.get("inputs", {}), path, f"{place}.inputs")
    return lambda folder, force: carry_out(request, folder, force=force)


def _difference(path: Path, before: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """How each file of the new result stands to the one recorded: same, differs, missing or new."""
    from steelyard.workflows.record import LARGEST

    files = {str(file.relative_to(folder).as_posix()): file for file in folder.rglob("*") if file.is_file()}
    digests = {name: file_digest(file, most=LARGEST) for name, file in files.items()}
    recorded: dict[str, Any] = {**before["files"], RECORD: file_digest(path, most=LARGEST)}
    states = {}
    for name in sorted({*recorded, *digests}):
        if name not in digests:
            states[name] = "missing"
        elif name not in recorded:
            states[name] = "new"
        else:
            states[name] = "same" if digests[name] == recorded[name] else "differs"
    return states
