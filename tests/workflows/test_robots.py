"""`steelyard.robots` from Python: the same as the command."""

from __future__ import annotations

from cli.running import run
from steelyard.workflows.robots import robots
from steelyard.zoo import ZOO


def test_the_list_is_that_of_the_command_and_of_the_zoo() -> None:
    found = robots()
    assert found.document == run("robots", "--json").document
    assert found.names == tuple(ZOO)
    assert [entry.name for entry in found] == list(ZOO)
    assert found["panda"].nv == 7
    assert "\n" not in repr(found)
    assert len(str(found).splitlines()) == len(found) == len(ZOO)
