"""`steelyard.identifiable` from Python: the same as the command, from a name or from a robot."""

from __future__ import annotations

from typing import Any

import pytest

from cli.running import run
from steelyard.archive import to_document
from steelyard.errors import InputError
from steelyard.workflows.identifiability import identifiability
from steelyard.zoo import zoo_robot


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ((), {}),
        (("--drive", "viscous,coulomb", "--static"), {"drive": ["viscous", "coulomb"], "static": True}),
        (("--rotors",), {"rotors": "gyroscopic"}),
        (("--measured", "joint2", "--gravity", "0,0,-9"), {"measured": ["joint2"], "gravity": [0, 0, -9]}),
        (("--exact", "--lock", "joint1=0.5"), {"exact": True, "lock": {"joint1": 0.5}}),
    ],
)  # fmt: skip
def test_names_and_robots_give_what_the_command_gives(
    words: tuple[str, ...], options: dict[str, Any]
) -> None:
    document = run("identifiability", "two_link", *words, "--json").document
    for robot in ("two_link", zoo_robot("two_link")):
        assert to_document(identifiability(robot, **options).document) == document


def test_the_answer_speaks_for_itself() -> None:
    found = identifiability("two_link")
    assert found.count == found.count_unsnapped == len(found.groupings)
    assert len(found.parameters) == len(found.classes) == 20
    assert repr(found) == f"<IdentifiableParameters of two_link: {found.count} of 20>"
    text = str(found).splitlines()
    assert text[0].startswith(f"two_link: {found.count} of 20 parameters")
    assert [row[0] for row in found.table[1:11]] == [line.split()[0] for line in text[2:12]]
    assert "Known only together:" in text
    assert [len(body["classes"]) for body in found.bodies] == [10, 10]


def test_options_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(InputError, match="--exact: goes without --symbolic"):
        identifiability("two_link", exact=True, symbolic=True)
