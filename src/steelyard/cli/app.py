"""The `steelyard` command and its exit codes."""

from __future__ import annotations

import sys

import typer

from steelyard import __version__
from steelyard.cli import (
    campaign,
    compare,
    compile,
    demo,
    excite,
    identifiability,
    identify,
    inspect,
    joints,
    online,
    payload,
    replay,
    robots,
    sensitivity,
    simulate,
    validate,
)
from steelyard.cli.interruption import keep_interruptions
from steelyard.cli.output import HELPERS, complain
from steelyard.errors import InputError, SteelyardError

app = typer.Typer(
    name="steelyard",
    help="Weighs a robot with its own arm: identification that says which numbers can be known.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("robots")(robots.robots)
app.command("inspect")(inspect.inspect)
app.command("identifiability", cls=identifiability.BareRotors)(identifiability.identifiability)
app.command("excite")(excite.excite)
app.command("identify")(identify.identify)
app.command("validate")(validate.validate)
app.command("compare")(compare.compare)
app.command("replay")(replay.replay)
app.command("payload")(payload.payload)
app.command("sensitivity")(sensitivity.sensitivity)
app.command("joints")(joints.joints)
app.command("online")(online.online)
app.command("campaign")(campaign.campaign)
app.command("simulate")(simulate.simulate)
app.command("compile")(compile.compile_ahead)


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
    """Run the command: exit code 0 done, 1 verdict fail, 2 bad input, 3 no solution, 130 interrupted."""
    keep_interruptions()
    HELPERS.wanted = True
    try:
        app()
    except SteelyardError as error:
        complain(str(error))
        sys.exit(2 if isinstance(error, InputError) else 3)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; there is nobody left to tell.
        sys.stderr.close()
        sys.exit(0)
