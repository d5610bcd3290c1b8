"""Every example runs as a user would run it, and says what it promises."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PAPERS = EXAMPLES.parent / "papers"
FILES = sorted([*EXAMPLES.glob("*.py"), *PAPERS.glob("*.py")])
TABLE_5_2 = {"m2", "m1*G1 + m2*G2", "m1*cx1", "m1*cz1", "m2*cx2", "m2*cz2", "m2*G2"}
"""Lumped parameters of the two-link arm in Lambert (2023); (5.6) leaves one of them out."""


@cache
def printed(file: Path) -> str:
    """What an example prints, and the pages that it leaves in its folder."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(file)], capture_output=True, text=True, timeout=300, cwd=folder
        )
        pages = [page.read_text(encoding="utf-8") for page in sorted(Path(folder).glob("*.html"))]
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return "\n".join((done.stdout, *pages))


def lumped_parameters() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lumped_parameters", EXAMPLES / "lumped_parameters.py")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def terms(expression: str) -> frozenset[tuple[str, ...]]:
    """A sum of products as text, whatever the order."""
    bare = re.sub(r"[()\s]", "", expression)
    return frozenset(tuple(sorted(product.split("*"))) for product in bare.split("+"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_example_runs(file: Path) -> None:
    assert printed(file).strip()


@pytest.mark.parametrize("paper", ["001", "003"])
def test_the_figures_that_the_index_of_papers_promises_are_drawn(paper: str) -> None:
    file = PAPERS / f"paper_{paper}_figures.py"
    index = (EXAMPLES.parent / "docs" / "papers.md").read_text(encoding="utf-8")
    items = re.findall(rf"^\| ([^|]+) \|.*`[^`]*{file.name}`", index, re.M)
    assert items
    text = printed(file)
    assert [item for item in items if item not in text] == []
    assert text.count("<polyline") >= 7 * len([item for item in items if item.startswith("Fig.")])


def test_every_way_gives_the_same_data_matrix() -> None:
    text = printed(EXAMPLES / "lumped_parameters.py")
    differences = [float(x) for x in re.findall(r"differs from torque_regressor by (\S+?)(?:;|\n)", text)]
    assert len(differences) == 6
    assert max(differences) < 1e-13


def test_lumping_by_coefficients_gives_the_redundant_set_of_the_paper() -> None:
    text = printed(EXAMPLES / "lumped_parameters.py")
    found = re.search(r"two_link: 7 lumped parameters, (.*)", text).group(1).split(", ")
    assert {terms(each) for each in found} == {terms(each) for each in TABLE_5_2}
    assert "torques determine 6 combinations" in text
    change = re.search(r"no torque shows this change: +(.*)", text).group(1).split(", ")
    changes = {terms(each.rpartition(" ")[0]): float(each.rpartition(" ")[2]) for each in change}
    assert changes == {terms("m2"): 1, terms("m1*G1 + m2*G2"): -1, terms("m1*cz1"): 1}


def drake_equations(n: int) -> tuple[list[Any], list[Any], list[Any]]:
    """Parameters, states and torques of n hanging rods in Drake's symbols, (m, cx, cz, G) unknown."""
    symbolic = pytest.importorskip("pydrake.symbolic", reason="Drake is not installed")
    from pydrake.math import RigidTransform
    from pydrake.multibody import tree
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    body = plant.world_body()
    for k in range(1, n + 1):
        rod = plant.AddRigidBody(f"rod{k}", tree.SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        place = RigidTransform(np.array([0.0, 0.0, -1.0 if k > 1 else 0.0]))
        hook = plant.AddFrame(tree.FixedOffsetFrame(f"hook{k}", body.body_frame(), place))
        plant.AddJoint(tree.RevoluteJoint(f"joint{k}", hook, rod.body_frame(), np.array([0.0, 1.0, 0.0])))
        body = rod
    plant.Finalize()
    model = plant.ToSymbolic()
    context = model.CreateDefaultContext()
    E = symbolic.Expression
    theta = []
    for k in range(1, n + 1):
        m, cx, cz, G = of = [symbolic.Variable(f"{letter}{k}") for letter in ("m", "cx", "cz", "G")]
        theta += of
        # The two moments that the plane hides may be any numbers.
        G_SS = tree.UnitInertia_[E](E(1.0), E(G), E(1.0))
        M = tree.SpatialInertia_[E](E(m), [E(cx), E(0.0), E(cz)], G_SS, skip_validity_check=True)
        model.GetBodyByName(f"rod{k}").SetSpatialInertiaInBodyFrame(context, M)
    q, v, a = (symbolic.MakeVectorVariable(n, letter) for letter in "qva")
    model.SetPositions(context, q)
    model.SetVelocities(context, v)
    forces = tree.MultibodyForces_[E](model)
    model.CalcForceElementsContribution(context, forces)
    torque = model.CalcInverseDynamics(context, np.array([E(x) for x in a]), forces)
    return theta, [*q, *v, *a], list(torque)


@pytest.mark.parametrize("n", [1, 2])
def test_drake_lumps_the_same_parameters_into_the_same_matrix(n: int) -> None:
    """Its `DecomposeLumpedParameters` is what the paper used."""
    symbolic = pytest.importorskip("pydrake.symbolic", reason="Drake is not installed")
    theta, names, torque = drake_equations(n)
    W, alpha, rest = symbolic.DecomposeLumpedParameters(torque, theta)
    assert all(str(each) == "0" for each in rest)
    theirs = {terms(str(each)): column for each, column in zip(alpha, W.T, strict=True)}
    example = lumped_parameters()
    states = np.random.default_rng(0).uniform(-2.0, 2.0, (5, 3 * n))
    ours, lumped = example.by_decomposition(example.equations_of_motion(n), states)
    assert {terms(str(each)) for each in lumped} == set(theirs)
    for state, matrix in zip(states, ours, strict=True):
        at = dict(zip(names, state, strict=True))
        for each, column in zip(lumped, matrix.T, strict=True):
            judge = [entry.Evaluate(at) for entry in theirs[terms(str(each))]]
            np.testing.assert_allclose(column, judge, rtol=0, atol=1e-12)
