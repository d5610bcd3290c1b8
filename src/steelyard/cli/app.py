"""The `steelyard` command and its exit codes."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from steelyard import __version__
from steelyard.cli.interruption import keep_interruptions
from steelyard.cli.output import complain
from steelyard.errors import InputError, SteelyardError
from steelyard.files import NO_SPACE, unwritable

COMMANDS = {
    "demo": "Run the whole line on a simulated arm: design, run, identify, weigh what it holds.",
    "robots": "List the robots that ship with the package, and where their numbers come from.",
    "inspect": "Say what a robot description states and what is wrong with it.",
    "identifiability": "Say which parameters torques can tell: alone, in groups, or not at all.",
    "excite": "Design a motion, prove that it keeps every limit, and write it.",
    "identify": "Identify a robot from its logs, judge the model and write it.",
    "validate": "Judge a model by logs it need not come from.",
    "compare": "Say what moved between two results beyond what their intervals explain.",
    "patch": "Change a description in the numbers that were identified, and in nothing else.",
    "replay": "Make a result again from its record and compare every file.",
    "payload": "Weigh what the arm holds and write it as an asset.",
    "sensitivity": "Tabulate how noise, filters and motions spoil a payload's numbers.",
    "joints": "Drive one joint at a time in open loop, fit its model, and design feedforward and PD control.",
    "online": "Move a simulated robot along proven plans and learn what it holds, with guaranteed bounds.",
    "campaign": "Run all that a file describes; results of finished tasks are kept and never computed twice.",
    "simulate": "Run a motion on a simulated robot (MuJoCo) and write the log.",
    "view": "Look at a robot, a result or a motion in three dimensions.",
    "compile": "Compile every kernel now; the results are kept for later runs.",
}
"""Every command with its line in the list of `--help`; its module is loaded when it is called."""


class Commands(TyperGroup):
    """Commands that are loaded one by one: to list them, or to run one, takes no NumPy of the others."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of `COMMANDS`."""
        return [*COMMANDS, *(name for name in self.commands if name not in COMMANDS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, or what the list says of it where it is not loaded."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            return TyperCommand(cmd_name, help=COMMANDS[cmd_name])
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load the command that is called."""
        if args[0] in COMMANDS:
            self.load(args[0])
        return super().resolve_command(ctx, args)

    def load(self, name: str) -> None:
        """Import a command's module and make it a command."""
        module = import_module(f"steelyard.cli.{name}")
        alone = typer.Typer(add_completion=False, context_settings=SETTINGS)
        alone.command(name, cls=getattr(module, "COMMAND_CLASS", None))(getattr(module, name))
        self.commands[name] = get_command(alone)


SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="steelyard",
    cls=Commands,
    help="Weighs a robot with its own arm: identification that says which numbers can be known.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"steelyard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", help="Print the version and stop.", is_eager=True, callback=_version
    ),
) -> None:
    pass


def main() -> None:
    """Run the command.

    Exit code 0 done, 1 verdict fail, 2 bad input, 3 no solution, 130 interrupted, 143 asked to end.
    """
    keep_interruptions()
    try:
        app()
    except SteelyardError as error:
        complain(str(error))
        sys.exit(2 if isinstance(error, InputError) else 3)
    except (MemoryError, RecursionError) as error:
        # A net below the readers, which are to name the place: whatever got past them is no traceback either.
        what = "memory" if isinstance(error, MemoryError) else "depth"
        complain(f"{what}: the input asks for more than this machine gives. Give a smaller or simpler one.")
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; there is nobody left to tell.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        # Any file may be the one that a full disk no longer takes: a log, a lock, a temporary one.
        if error.errno not in NO_SPACE:
            raise
        complain(str(unwritable(error.filename or "A file", error)))
        sys.exit(2)
