"""Disks that fill up while a command writes: it says so in one sentence, and leaves nothing half written.

Half of the cases let no file grow beyond a drawn size, which is the system's own refusal in the middle of a
write; in the others there is no space left from a drawn operation on, be it a new file, a flush or a move.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from errno import EFBIG, ENOSPC
from pathlib import Path

import numpy as np

from attacks.attack import Attack, Outcome
from attacks.child import Ended, Plan, run_here
from attacks.commands import COMMANDS, Command, broken_promises, leftovers, reference
from tables import Bound, Study

BAD_INPUT, NO_SOLUTION = 2, 3
SMALLEST, LARGEST = 100.0, 3e5
"""Limits of a file's size, bytes; below, not even the system's own semaphores can be made."""


@dataclass(frozen=True)
class FullDisk:
    """One attempt: a command, whether it replaces an earlier result, and when there is no space left.

    Attributes:
        command: what is run.
        earlier: whether it replaces an earlier result.
        largest: of its files, bytes; 0 where operations fail instead.
        moment: the share of its operations that succeed.
    """

    command: Command
    earlier: bool
    largest: int
    moment: float


def drawn(seed: int) -> FullDisk:
    """The attempt of a seed."""
    rng = np.random.default_rng(seed)
    command = COMMANDS[int(rng.integers(len(COMMANDS)))]
    earlier, by_size = bool(rng.integers(2)), bool(rng.integers(2))
    largest = int(np.exp(rng.uniform(*np.log([SMALLEST, LARGEST])))) if by_size else 0
    return FullDisk(command, earlier, largest, float(rng.random()))


def case(seed: int) -> Outcome:
    """Run a command on a disk that fills up, look at what it says and leaves, and run it again."""
    disk = drawn(seed)
    command, earlier = disk.command, disk.earlier
    known = reference(command.name)
    if disk.largest:
        plan, cause = Plan(largest=disk.largest), os.strerror(EFBIG)
    else:
        plan, cause = Plan(full=1 + int(disk.moment * known.writes)), os.strerror(ENOSPC)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "here")
        if earlier:
            shutil.copytree(known.earlier, folder)
        else:
            folder.mkdir()
        words = command.line(folder, *(["--force"] if command.forced and earlier else []))
        ended = run_here(words, folder, plan)
        left = leftovers(folder)
        wrong = [f"on a full disk: {what}" for what in broken_promises(command, folder, earlier=earlier)]
        wrong += _manners(command, ended, cause, Path(home), left)
        again = run_here(words, folder, Plan())
        refused = again.code == BAD_INPUT and "--force" in again.stderr and not earlier
        if refused:
            again = run_here([*words, "--force"], folder, Plan())
        if again.code not in command.codes:
            wrong.append(f"run again it ends with {again.code}: {again.stderr[-300:]}")
    return {
        "command": command.name,
        "earlier": earlier,
        "limit": f"{plan.largest} bytes" if disk.largest else f"operation {plan.full} of {known.writes}",
        "code": ended.code,
        "full": cause in ended.stderr,
        "said": ended.stderr[-300:].replace(home, ""),
        "asked_for_force": refused,
        "violations": wrong,
    }


def _manners(command: Command, ended: Ended, cause: str, home: Path, left: int) -> list[str]:
    """What is wrong with how it ended."""
    wrong = [f"{left} unfinished files are left"] if left else []
    if "Traceback" in ended.stderr:
        wrong.append(f"it prints a traceback: {ended.stderr[-300:]}")
    elif ended.code in (BAD_INPUT, NO_SOLUTION) and ended.code not in command.codes:
        lines = [line for line in ended.stderr.splitlines() if line.startswith("error:")]
        sentence = " ".join(ended.stderr.split())
        if len(lines) != 1 or cause not in sentence:
            wrong.append(f"it does not say that there is no space: {ended.stderr[-300:]}")
        elif str(home) not in sentence.replace(" ", "") and "tmp" not in sentence:
            wrong.append(f"it does not name the file: {ended.stderr[-300:]}")
    elif ended.code not in (*command.codes, BAD_INPUT):
        wrong.append(f"it ends with {ended.code}: {ended.stderr[-300:]}")
    if ended.orphans:
        wrong.append("processes that it has started outlive it")
    return wrong


def judge(outcomes: list[Outcome]) -> Study:
    """Count what was broken."""
    broken = [item for item in outcomes if item["violations"]]
    full = [item for item in outcomes if item["full"]]
    codes = Counter(str(item["code"]) for item in full)
    lines = [f"- seed {item['seed']}, {item['command']}: {'; '.join(item['violations'])}" for item in broken]
    rows = [
        f"| {command.name} | {len(of)} | {sum(item['full'] for item in of)} "
        f"| {sum(item['earlier'] for item in of)} | {sum(item['asked_for_force'] for item in of)} "
        f"| {sum(bool(item['violations']) for item in of)} |"
        for command in COMMANDS
        if (of := [item for item in outcomes if item["command"] == command.name])
    ]
    columns = ("tried", "said the disk is full", "over an earlier result", "then asked for --force")
    return Study(
        "Disks that fill up",
        f"{len(outcomes)} commands on disks that fill up, of which {len(full)} met the end of the space and "
        f"said so (exit codes: {', '.join(f'{code} {n} times' for code, n in sorted(codes.items()))}); the "
        "others had written all before it.",
        (
            Bound("promises broken", len(broken), 0),
            Bound("commands that met a full disk", len(full), 0.5 * len(outcomes), atmost=False),
        ),
        table="\n".join(
            [f"| command | {' | '.join(columns)} | broken |", "| --- " * 6 + "|", *rows, "", *lines]
        ),
    )


ATTACK = Attack("full_disk", "commands on disks that fill up", 80, case, judge, limit=300.0)
