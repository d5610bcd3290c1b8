"""Commands made from workflows: every option is declared once, in the signature of the function it calls.

Not called `command`: a module of that name would hide the function `steelyard.cli.command`, which
starts the program, as soon as it is loaded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, Protocol, TypeVar, Union, get_args, get_origin

import typer

from steelyard.cli.output import JsonOption, announce_compilation, listening, print_json
from steelyard.workflows.options import option_of, parameters_of


class Answer(Protocol):
    """What every workflow returns."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""


A = TypeVar("A", bound=Answer)


def workflow_command(
    workflow: Callable[..., A], show: Callable[[A], None], code: Callable[[A], int] = lambda answer: 0
) -> Callable[..., None]:
    """Make the function of a command.

    Args:
        workflow: what it calls; parameters annotated with an `Option` become options, by their own names.
        show: prints an answer for people.
        code: the exit code of an answer.

    Returns:
        A function for Typer, of the workflow's name, which prints the answer or, with `--json`, its document.
    """

    def run(**given: Any) -> None:
        as_json = given.pop("json")
        announce_compilation(workflow.__name__)
        with listening() as progress:
            answer = workflow(**given, progress=progress)
        if as_json:
            print_json(answer.document)
        else:
            show(answer)
        if exit_code := code(answer):
            raise typer.Exit(exit_code)

    parameters = [
        typed for parameter in parameters_of(workflow).values() if (typed := _typed(parameter)) is not None
    ]
    parameters.append(
        inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JsonOption)
    )
    run.__name__ = workflow.__name__
    run.__doc__ = _help(workflow)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _typed(parameter: inspect.Parameter) -> inspect.Parameter | None:
    """A parameter as Typer takes it; None where the command line has none for it."""
    option = option_of(parameter.annotation)
    if option is None:
        return None
    absent = parameter.default is inspect.Parameter.empty
    default = inspect.Parameter.empty if absent or option.required else parameter.default
    said: dict[str, Any] = {"help": option.help, "metavar": option.metavar, "show_default": option.default}
    if option.least is not None or option.most is not None:
        said |= {"min": option.least, "max": option.most}
    if option.argument:
        about = typer.Argument(**said)
    else:
        about = typer.Option(*([] if option.flag is None else [option.flag]), **said)
    plain: Any = option.kind or _plain(get_args(parameter.annotation)[0])
    if option.repeated:
        plain = list[plain]
    if default is None:
        plain = plain | None
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[plain, about],
    )


def _plain(kind: Any) -> type:
    """The type that the command line turns text into: bool, int or float where nothing else is taken."""
    taken = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    kinds = [x for x in taken if x is not type(None)]
    return kinds[0] if len(kinds) == 1 and kinds[0] in (bool, int, float) else str


def _help(workflow: Callable[..., object]) -> str:
    """The docstring up to its sections, which speak of Python."""
    text = inspect.getdoc(workflow) or ""
    for section in ("\n\nArgs:", "\n\nReturns:", "\n\nRaises:"):
        text = text.partition(section)[0]
    return text
