"""`import steelyard as sy` offers every command and noun, and loads nothing before it is used."""

from __future__ import annotations

import ast
import builtins
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import steelyard as sy
from source_trees import SOURCE
from steelyard.cli.app import COMMANDS

WITHOUT_FUNCTION = {"compile"}
"""Commands about the installation, not about robots."""


def test_every_command_is_a_function_of_the_same_name() -> None:
    assert set(COMMANDS) - WITHOUT_FUNCTION <= set(sy.__all__)
    for name in set(COMMANDS) - WITHOUT_FUNCTION:
        assert inspect.isfunction(getattr(sy, name)), name


@pytest.mark.parametrize("name", [x for x in sy.__all__ if x != "__version__"])
def test_every_public_name_is_documented(name: str) -> None:
    value = getattr(sy, name)
    assert inspect.getdoc(value), name
    assert not inspect.ismodule(value), f"{name} is hidden by a room of the same name"


def test_every_public_name_stays_what_it_is_when_all_rooms_are_loaded() -> None:
    code = (
        "import pkgutil, importlib, inspect, steelyard as sy\n"
        "for found in pkgutil.iter_modules(sy.__path__):\n"
        "    if not found.name.startswith('_'): importlib.import_module(f'steelyard.{found.name}')\n"
        "hidden = [x for x in sy.__all__ if inspect.ismodule(getattr(sy, x))]\n"
        "assert not hidden, hidden\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_has_a_home() -> None:
    assert set(sy.__all__) == {"__version__", *sy._homes}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="weigh_everything"):
        _ = sy.weigh_everything


def test_importing_the_package_loads_nothing_else() -> None:
    heavy = "('numpy', 'numba', 'scipy', 'mujoco')"
    code = f"import sys, steelyard; dir(steelyard); print([x for x in sys.modules if x in {heavy}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_list_of_commands_and_the_version_load_no_numba() -> None:
    code = (
        "import sys; from steelyard.cli import main; sys.argv = ['steelyard', '{option}']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "assert not ({{'numba', 'numpy', 'scipy'}} & set(sys.modules))\n"
    )
    for option in ("--version", "--help"):
        subprocess.run(
            [sys.executable, "-c", code.format(option=option)], check=True, stdout=subprocess.DEVNULL
        )


@pytest.mark.parametrize("command", ["identify", "payload", "excite", "online"])
def test_the_help_of_a_command_loads_nothing_that_it_runs(command: str) -> None:
    code = (
        f"import sys; from steelyard.cli import main; sys.argv = ['steelyard', '{command}', '--help']\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "loaded = {'numba', 'scipy', 'mujoco'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "--out" in done.stdout


def _unknown(source: str, known: set[str]) -> set[str]:
    """Names in the annotations of workflows' parameters that mean nothing, to Python or to type checkers."""
    module = ast.parse(source)
    for node in module.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            stated = [x for x in node.body if isinstance(x, ast.ImportFrom)]
            known = known | {alias.asname or alias.name for x in stated for alias in x.names}
            assigned = [x for x in node.body if isinstance(x, ast.Assign)]
            known |= {target.id for x in assigned for target in x.targets if isinstance(target, ast.Name)}
    annotations = [
        argument.annotation
        for function in module.body
        if isinstance(function, ast.FunctionDef)
        and [ast.unparse(x) for x in function.decorator_list] == ["workflow"]
        for argument in (*function.args.args, *function.args.kwonlyargs)
        if argument.annotation is not None
    ]
    names = {x.id for annotation in annotations for x in ast.walk(annotation) if isinstance(x, ast.Name)}
    return names - known


@pytest.mark.parametrize("file", sorted((SOURCE / "workflows").glob("*.py")), ids=lambda file: file.stem)
def test_names_in_annotations_of_workflows_exist(file: Path) -> None:
    """Names that are missing at run time stand for anything (`options.parameters_of`), a slip as well."""
    module = import_module(f"steelyard.workflows.{file.stem}")
    assert _unknown(file.read_text(encoding="utf-8"), {*vars(builtins), *vars(module)}) == set()


def test_a_slip_in_an_annotation_of_a_workflow_is_noticed() -> None:
    source = (
        "if TYPE_CHECKING:\n    from steelyard.robot import Robot\n"
        "@workflow\ndef weigh(robot: Robot, *, m: Annotated[float, Optoin('Mass.')], tool: ToolGven): ...\n"
    )
    assert _unknown(source, {"Annotated", "float", "Option", "ToolGiven"}) == {"Optoin", "ToolGven"}


def test_an_identification_loads_no_room_that_it_does_not_use() -> None:
    unused = (
        "campaigns",
        "excitation",
        "limits",
        "motion",
        "payloads",
        "rollout",
        "safe_learning",
        "simulation",
    )
    code = (
        "import sys, steelyard.workflows.judged_estimate\n"
        f"print([x for x in {unused} if f'steelyard.{{x}}' in sys.modules],\n"
        "      [x for x in ('mujoco', 'pinocchio', 'jinja2', 'scipy.stats') if x in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"
