"""The shape of the house: files hold whole concepts, and a public name means one thing."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

from source_trees import SOURCE, nodes, tree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from reached import Module, Reach, read_module, unreached

ROOM_OF_ITS_OWN = 300
"""Lines from which on a file stands on its own whoever imports it."""

STANDS_ALONE = {
    "steelyard.cli.compile": "a command; `output` starts it as a helper",
    "steelyard.cli.kernels": "a call of every kernel, all of which it loads: `compile --help` waits for none",
    "steelyard.cli.stage_table": "what a terminal shows of a campaign: `campaign --help` waits for none",
    "steelyard.control.adaptive_payload": "a law of the textbook",
    "steelyard.enclosure.bodies": "the motion of bodies over intervals, below their torques",
    "steelyard.estimation.momentum": "a method of the textbook",
    "steelyard.estimation.servo.segments": "pieces of logs simulated from starts of their own, and their sum",
    "steelyard.formats.urdf": "a file format",
    "steelyard.recording.bags.mcap": "a file format",
    "steelyard.recording.bags.sqlite_bag": "a file format",
    "steelyard.recording.bags.topic_series": "one topic of a bag",
    "steelyard.signals.periodic": "periods of a motion, found and averaged",
    "steelyard.robot.descriptions.source_edits": "changes of a text that keep the rest of it, whoever asks",
    "steelyard.inertia.scene_mesh": "file formats, by libraries that an extra brings",
    "steelyard.limits.decomposition": "how a mesh is cut, and why its pieces hold it: proofs rest on it",
    "steelyard.simulation.wrist": "a force-torque sensor, which tests of weighing read without a run",
    "steelyard.workflows.guaranteed_payload": "guaranteed bounds of a payload, beside its estimate",
}
"""Shorter files with one importer beside them, and why each is a concept a reader looks for by name."""

SAME_NAME: dict[str, str] = {}
"""Public names that two modules may define, and why."""

WITHOUT_USER = {
    "steelyard.control.joint_model.JointModel.frequency_response": "what `sampled_response` is compared with",
    "steelyard.dynamics.passivity.passivity_regressor": "by which tests judge tubes and control laws",
    "steelyard.dynamics.friction.write_reference_friction": "friction in it",
    "steelyard.rollout.servo.ServoSensitivities": "a run with its derivatives, all at once",
    "steelyard.rollout.servo.servo_sensitivities": "what tests compare with differences of whole runs",
}
"""Public definitions that no command, page, paper, benchmark or example reaches, and why they stay."""


def _name(file: Path) -> str:
    parts = ["steelyard", *file.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {_name(file): file for file in sorted(SOURCE.rglob("*.py"))}


def _imported(file: Path) -> set[str]:
    found = set()
    for node in nodes(file):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            inner = names & set(FILES)
            found |= inner
            if inner != names:
                found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(FILES)


def _importers() -> dict[str, set[str]]:
    """Importers of every module; a front door gathers its folder and does not count."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, file in FILES.items():
        if file.name != "__init__.py":
            for module in _imported(file) - {name}:
                found[module].add(name)
    return found


def _is_template(file: Path) -> bool:
    """Code that is compiled anew for each robot is copied file by file."""
    return "\nA template" in (ast.get_docstring(tree(file)) or "")


def test_no_file_is_the_private_half_of_another() -> None:
    """One whose only importer sits in its own folder belongs into it, unless it stands on its own."""
    importers = _importers()
    doors = {module for file in FILES.values() if file.name == "__init__.py" for module in _imported(file)}
    halves = {}
    for name, file in FILES.items():
        users = importers[name]
        at_home = {user for user in users if user.rpartition(".")[0] == name.rpartition(".")[0]}
        # What a front door offers has users in other rooms, who come through the door.
        if file.name == "__init__.py" or _is_template(file) or name in doors or name in STANDS_ALONE:
            continue
        if len(users) == 1 and at_home == users:
            lines = len(file.read_text(encoding="utf-8").splitlines())
            if lines < ROOM_OF_ITS_OWN:
                halves[name] = f"{lines} lines, only used by {users.pop()}"
    assert not halves, "\n".join(f"{name}: {why}" for name, why in halves.items())


def test_files_that_stand_alone_exist() -> None:
    assert set(STANDS_ALONE) <= set(FILES)


def test_public_names_are_unique_in_the_package() -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    for name, file in FILES.items():
        for node in tree(file).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(name)
    twice = {name: sorted(where) for name, where in homes.items() if len(where) > 1}
    assert {name: where for name, where in twice.items() if name not in SAME_NAME} == {}
    assert set(SAME_NAME) <= set(twice), "a name is excused that has one meaning"


def test_every_public_definition_has_a_user() -> None:
    """Give it one, through a command or a method shown in docs/python.md, or delete it with its tests."""
    idle = {f"{x.module}.{x.name}": f"line {x.line}" for x in unreached()}
    assert {name: line for name, line in idle.items() if name not in WITHOUT_USER} == {}
    assert set(WITHOUT_USER) <= set(idle), "a definition is excused that has a user"


def test_what_nobody_names_is_noticed() -> None:
    """Through a front door, by a table, by a dot and by a text all count as naming; `__all__` does not."""
    sources = {
        "steelyard.room": "from steelyard.room.file import Noun, idle, named\n__all__ = ['idle']",
        "steelyard.room.file": (
            "TABLE = {'a': by_table}\n"
            "def by_table(): ...\n"
            "def named(noun): return TABLE[noun.dotted()]\n"
            "def idle(): return Noun().only_by_idle()\n"
            "class Noun:\n"
            "    def dotted(self): return getattr(self, 'by_text')\n"
            "    def by_text(self): ...\n"
            "    def only_by_idle(self): ...\n"
        ),
    }
    modules: dict[str, Module] = {name: read_module(name, ast.parse(text)) for name, text in sources.items()}
    reach = Reach(modules)
    user = ast.parse("from steelyard.room import Noun, named\nnamed(Noun())")
    reach.todo.append((read_module("user", user), user))
    reach.run()
    counted = {x.name for x in modules["steelyard.room.file"].definitions.values() if x.counted}
    assert counted - {name for _, name in reach.reached} == {"idle", "Noun.only_by_idle"}


def test_questions_of_a_stranger_are_answered_by_files_that_hold_the_answer() -> None:
    text = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = text.split("### Where is …?")[1].split("\n## ")[0].splitlines()
    answers = [line.split("|")[2] for line in rows if line.startswith("|")][2:]
    assert len(answers) >= 10
    for answer in answers:
        for path in re.findall(r"`([\w/]+\.py)`", answer):
            assert (SOURCE / path).is_file(), path
        for name, path in re.findall(r"`(\w+)` in `([\w/]+\.py)`", answer):
            assert re.search(rf"\b{name}\b", (SOURCE / path).read_text(encoding="utf-8")), (name, path)
