"""Commands killed, ended or interrupted at random moments: no file is half there, and the next run works.

Two thirds of the moments are drawn among a command's operations on its output, of which the swap of an old
result for a new one takes a few, too short for a clock to hit. The others are drawn over the time that the
program takes from its start, half of them in its last fifth.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attacks.attack import Attack, Outcome
from attacks.child import Ended, Plan, run_apart, run_here
from attacks.commands import COMMANDS, Command, broken_promises, leftovers, reference
from tables import Bound, Study

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
BY_CLOCK = 1 / 3
LAST = 0.8
"""The share of its time after which a command is at its files."""
LAST_ONES = 5
"""Operations, at least, by which an earlier result is replaced."""
START = 1.5
"""How long the program takes to load, s."""
INTERRUPTED, TERMINATED = 130, 143


@dataclass(frozen=True)
class Kill:
    """One attempt.

    Attributes:
        command: what is stopped.
        number: the signal.
        earlier: whether it replaces an earlier result.
        by_clock: whether the moment is of its time rather than among its operations.
        moment: the share of its time, or of its operations, that it is left.
    """

    command: Command
    number: signal.Signals
    earlier: bool
    by_clock: bool
    moment: float


def drawn(seed: int) -> Kill:
    """The attempt of a seed."""
    rng = np.random.default_rng(seed)
    command = COMMANDS[int(rng.integers(len(COMMANDS)))]
    number = SIGNALS[int(rng.integers(len(SIGNALS)))]
    earlier, by_clock = bool(rng.integers(2)), bool(rng.random() < BY_CLOCK)
    least = LAST if by_clock and rng.integers(2) else 0.0
    return Kill(command, number, earlier, by_clock, float(rng.uniform(least, 1.0)))


def case(seed: int) -> Outcome:
    """Stop a command, look at what it left, and run it again."""
    kill = drawn(seed)
    command, number, earlier = kill.command, kill.number, kill.earlier
    known = reference(command.name)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "here")
        if earlier:
            shutil.copytree(known.earlier, folder)
        else:
            folder.mkdir()
        words = command.line(folder, *(["--force"] if command.forced and earlier else []))
        if kill.by_clock:
            seconds = kill.moment * (START + known.seconds)
            moment = f"{seconds:.2f} s"
            ended = run_apart(words, folder, number, seconds)
        else:
            # To remove what stood there before takes some more of them.
            operations = known.operations + (LAST_ONES if earlier else 0)
            operation = 1 + int(kill.moment * operations)
            moment = f"operation {operation} of about {operations}"
            ended = run_here(words, folder, Plan(signal=number, operation=operation))
        stopped = ended.code in (-number, INTERRUPTED, TERMINATED)
        wrong = [f"when stopped: {what}" for what in broken_promises(command, folder, earlier=earlier)]
        left = leftovers(folder)
        wrong += _manners(command, ended, number, left)
        again = run_here(words, folder, Plan())
        refused = again.code == 2 and "--force" in again.stderr and not earlier
        if refused:
            # What it left is whole and could be wanted; that it asks is no harm.
            again = run_here([*words, "--force"], folder, Plan())
        if again.code not in command.codes:
            wrong.append(f"run again it ends with {again.code}: {again.stderr[-300:]}")
        wrong += [f"run again: {what}" for what in broken_promises(command, folder, earlier=False)]
    return {
        "command": command.name,
        "signal": number.name,
        "earlier": earlier,
        "moment": moment,
        "stopped": stopped,
        "code": ended.code,
        "leftovers": left,
        "asked_for_force": refused,
        "violations": wrong,
    }


def _manners(command: Command, ended: Ended, number: int, left: int) -> list[str]:
    """What is wrong with how it ended."""
    wrong = []
    if ended.code is None:
        wrong.append("it does not end")
    elif ended.code not in (-number, INTERRUPTED, TERMINATED, *command.codes):
        wrong.append(f"it ends with {ended.code}: {ended.stderr[-300:]}")
    if "Traceback" in ended.stderr:
        wrong.append(f"it prints a traceback: {ended.stderr[-300:]}")
    if ended.orphans:
        wrong.append("processes that it has started outlive it")
    if left and number != signal.SIGKILL:
        wrong.append(f"{left} unfinished files are left after {signal.Signals(number).name}")
    return wrong


def judge(outcomes: list[Outcome]) -> Study:
    """Count what was broken."""
    broken = [item for item in outcomes if item["violations"]]
    stopped = Counter(item["signal"] for item in outcomes if item["stopped"])
    lines = [f"- seed {item['seed']}, {item['command']}: {'; '.join(item['violations'])}" for item in broken]
    rows = [
        f"| {command.name} | {len(of)} | {sum(item['stopped'] for item in of)} "
        f"| {sum(item['earlier'] for item in of)} | {sum(item['leftovers'] > 0 for item in of)} "
        f"| {sum(item['asked_for_force'] for item in of)} | {sum(bool(item['violations']) for item in of)} |"
        for command in COMMANDS
        if (of := [item for item in outcomes if item["command"] == command.name])
    ]
    columns = ("tried", "stopped", "over an earlier result", "left hidden files", "then asked for --force")
    head = f"| command | {' | '.join(columns)} | broken |"
    return Study(
        "Commands killed at random moments",
        f"{len(outcomes)} commands, of which {sum(stopped.values())} were stopped in time ("
        f"{', '.join(f'{count} by {name}' for name, count in sorted(stopped.items()))}); what is left must "
        "be whole, wholly old or wholly new, and the same command must work afterwards.",
        (
            Bound("promises broken", len(broken), 0),
            Bound("commands stopped in time", sum(stopped.values()), 0.5 * len(outcomes), atmost=False),
        ),
        table="\n".join([head, "| --- | --- | --- | --- | --- | --- | --- |", *rows, "", *lines]),
    )


ATTACK = Attack("kills", "commands killed, ended and interrupted", 80, case, judge, limit=300.0)
