"""What a helper makes ahead is what its command runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from steelyard.cli.app import COMMANDS
from steelyard.cli.warm_up import KERNELS, NEEDED

ASKED = """
import sys
from steelyard import compiled
asked, load = [], compiled._MachineCode.load_overload
def noted(self, signature, context):
    if not compiled._compiling:
        asked.append(self._file(signature, context).name)
    return load(self, signature, context)
compiled._MachineCode.load_overload = noted
file = sys.argv.pop(1)
try:
    {call}
finally:
    open(file, "w").write(" ".join(asked))
"""
MAIN = "from steelyard.cli import main; main()"
HELP = "from steelyard.cli.warm_up import _help; import os; _help(os.getppid(), sys.argv[1:])"


def asked_for(folder: Path, call: str, *words: str) -> set[str]:
    """The machine code that a process loads or makes."""
    file = folder / "asked.txt"
    command = [sys.executable, "-c", ASKED.format(call=call), str(file), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(file.read_text().split())


def test_the_demo_uses_what_its_helper_makes(tmp_path: Path) -> None:
    used = asked_for(tmp_path, MAIN, "demo", "--out", "demo")
    for kernel in NEEDED["demo"]:
        made = asked_for(tmp_path, HELP, kernel)
        assert made & used, f"'{kernel}' is not what the demo runs"


def test_the_lists_name_commands_and_kernels_that_exist() -> None:
    assert set(NEEDED) <= set(COMMANDS)
    assert {kernel for kernels in NEEDED.values() for kernel in kernels} <= set(KERNELS)
