"""`import steelyard as sy` offers every command and noun, and loads nothing before it is used."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import steelyard as sy
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
    assert set(sy.__all__) == {"__version__", *sy._HOMES}


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
