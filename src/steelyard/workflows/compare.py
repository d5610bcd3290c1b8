"""Say what moved between two results beyond what their intervals explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from steelyard.progress import Progress
from steelyard.workflows.options import Option, workflow

if TYPE_CHECKING:
    from steelyard.workflows.comparison import Compared, ResultComparison


@workflow
def compare(
    first: Annotated[
        Compared, Option("A result folder, or a description of its robot.", argument=True, metavar="A")
    ],
    second: Annotated[Compared, Option("Another; one of the two is a result.", argument=True, metavar="B")],
    *,
    level: Annotated[
        float,
        Option("Probability that nothing is named which did not move.", default=True, least=0.0, most=1.0),
    ] = 0.95,
    progress: Progress | None = None,
) -> ResultComparison:
    """Say what moved between two results beyond what their intervals explain.

    The verdict is `warn` where something moved and `pass` where nothing did; the exit code is 0 for both: a
    change is no failure. The numbers of a description count as exact.

    Args:
        first: a result: an identification, a model, or a folder; or a description of its robot.
        second: another; one of the two is a result.
        level: probability that nothing is named which did not move, dimensionless.
        progress: told what is done.

    Returns:
        What moved, and how far the torques are apart.

    Raises:
        InputError: they are not of one robot, or neither is a result.
    """
    from steelyard.workflows.comparison import result_comparison

    return result_comparison(first, second, level=level)
