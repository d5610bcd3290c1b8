"""A description with a closed kinematic loop is refused by every command that takes a robot."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import run

BODY = '<inertial pos=".1 0 0" mass="1" diaginertia=".1 .1 .1"/>'
FOUR_BAR = f"""<mujoco model="four_bar">
<worldbody><body name="crank"><joint name="j1" axis="0 1 0"/>{BODY}
<body name="coupler" pos=".3 0 0"><joint name="j2" axis="0 1 0"/>{BODY}</body></body></worldbody>
<equality>
<connect body1="coupler" anchor=".3 0 0"/>
</equality></mujoco>"""
COMMANDS = {
    "inspect": ("inspect", "ROBOT"),
    "repair": ("inspect", "ROBOT", "--repair", "FILE"),
    "identifiability": ("identifiability", "ROBOT"),
    "excite": ("excite", "ROBOT", "--out", "FILE"),
    "identify": ("identify", "ROBOT", "LOG", "--out", "OUT"),
    "validate": ("validate", "ROBOT", "LOG"),
    "payload": ("payload", "ROBOT", "--loaded", "LOG", "--out", "OUT"),
    "sensitivity": ("sensitivity", "ROBOT", "--out", "OUT"),
    "joints": ("joints", "ROBOT", "--out", "OUT"),
    "online": ("online", "ROBOT", "--payload", "PAYLOAD", "--out", "OUT"),
    "simulate": ("simulate", "ROBOT", "MOTION", "--out", "NEW"),
    "demo": ("demo", "--robot", "ROBOT", "--out", "OUT"),
    "campaign": ("campaign", "SPEC", "--out", "OUT"),
}


@pytest.fixture
def words(tmp_path: Path) -> dict[str, str]:
    """The files that commands ask for; what they hold does not matter, the robot comes first."""
    (tmp_path / "four_bar.xml").write_text(FOUR_BAR)
    (tmp_path / "log.csv").write_text("time,q_j1,q_j2,tau_j1,tau_j2\n0,0,0,0,0\n0.01,0,0,0,0\n")
    (tmp_path / "payload.json").write_text("{}")
    (tmp_path / "motion.json").write_text("{}")
    (tmp_path / "spec.toml").write_text(
        f'[campaign]\nkind = "monte-carlo"\nname = "m"\nseed = 1\n[robot]\nname = "{tmp_path}/four_bar.xml"\n'
    )
    names = {"ROBOT": "four_bar.xml", "LOG": "log.csv", "PAYLOAD": "payload.json", "NEW": "new.csv"}
    names |= {
        "MOTION": "motion.json",
        "SPEC": "spec.toml",
        "OUT": "out",
        "FILE": "out.json",
        "NEW": "new.csv",
    }
    return {word: str(tmp_path / name) for word, name in names.items()}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_loop_closed_by_an_equality_is_refused(command: str, words: dict[str, str]) -> None:
    line = [words.get(word, word) for word in COMMANDS[command]]
    finished = run(*line)
    assert finished.code == 2
    assert (
        "four_bar.xml:5: the constraint <connect> of 'coupler' closes a kinematic loop" in finished.complaint
    )
    assert 'Set active="false"' in finished.complaint
    assert finished.out == ""
