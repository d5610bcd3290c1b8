"""An identification campaign from its file to its page, judged by the arm that made the logs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cli.running import Run, run
from steelyard.campaigns import Spec, plan
from steelyard.dynamics import inverse_dynamics, mass_matrix
from steelyard.errors import InputError, UnknownNameError
from steelyard.identifiable import minimal_model
from steelyard.layout import layout_of
from steelyard.model import ResultFolder
from steelyard.zoo import zoo_robot

SPECS = Path(__file__).resolve().parents[2] / "specs"
SMALL = """
[campaign]
kind = "identification"
name = "two links"
seed = 1

[robot]
name = "two_link"

[model]
drive = ["viscous", "rotor"]

[plant]
sensor = "{sensor}"

[controller]
law = "ff-pd"
inertia = [2.0, 0.6]
viscous = 0.5
kp = 400.0
kv = 40.0
cycle = 0.001
delay = 0.001

[motions]
identify = ["AP03", "PA03"]
validate = ["V01"]

[sampling]
intervals_ms = [20, 40]
representative_ms = 40

[stages]
{stages}

[report]
joints = [1]
compared = ["AP03", "PA03"]
"""


def written(folder: Path, sensor: str = "industrial", stages: str = "") -> Path:
    path = folder / "small.toml"
    path.write_text(SMALL.format(sensor=sensor, stages=stages))
    return path


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    folder = tmp_path_factory.mktemp("campaign")
    done = run("campaign", written(folder), "--out", folder / "out", "--workers", 1, "--json")
    assert done.code == 0, done.err
    return folder / "out", done


def test_every_run_is_refined_and_proven(campaign: tuple[Path, Run]) -> None:
    found = campaign[1].document
    assert (found["runs"], found["done"], found["failed"], found["certified"]) == (4, 4, 0, 4)
    assert found["representative"] in ("AP03@40", "PA03@40")
    assert found["final"]["proven"]
    # Dry friction is no part of the model, and the torque meter's noise is 0.3 % of the effort limit.
    largest = max(joint.limits.effort for joint in zoo_robot("two_link").joints)
    assert found["validation"]["V01"]["loop"]["final"]["rmse"] < 0.01 * largest


def test_the_final_model_is_near_the_robot_that_made_the_logs(campaign: tuple[Path, Run]) -> None:
    found = campaign[1].document["final"]
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ["viscous", "rotor"])
    model = minimal_model(robot, layout)
    beta = np.array([found["parameters"][name] for name in model.names])
    q = np.random.default_rng(0).uniform(-3, 3, (50, 2))
    ours = np.asarray(mass_matrix(robot, layout, model.standard(beta), q))
    theirs = np.asarray(mass_matrix(robot, layout, layout.complete_nominal(), q))
    assert np.abs(ours - theirs).max() < 0.05 * np.abs(theirs).max()
    # What is proven of all poses holds at these.
    assert np.linalg.eigvalsh(ours).min() >= found["bound"]


def test_page_and_tables_are_written(campaign: tuple[Path, Run]) -> None:
    out = campaign[0]
    page = (out / "report.html").read_text()
    assert "PA03" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    record = pq.read_table(out / "record.parquet").to_pylist()
    assert [row["run"] for row in record] == ["AP03@20", "AP03@40", "PA03@20", "PA03@40"]
    cloud = pq.read_table(out / "cloud.parquet")
    assert cloud.num_rows == 3 * 4
    assert {path.suffix for path in (out / "store").rglob("*.*")} == {".npz"}


def test_the_accepted_model_is_written_and_has_its_torques(campaign: tuple[Path, Run]) -> None:
    out, done = campaign
    stored = ResultFolder.read(out / "model")
    assert not stored.findings
    robot = zoo_robot("two_link")
    model = minimal_model(robot, layout_of(robot, ["viscous", "rotor"]))
    assert stored.layout.names == model.layout.names
    beta = np.array([done.document["final"]["parameters"][name] for name in model.names])
    q, v, a = np.random.default_rng(0).uniform(-2, 2, (3, 20, 2))
    ours = inverse_dynamics(robot, model.layout, stored.parameters.values, q, v, a)
    theirs = inverse_dynamics(robot, model.layout, model.standard(beta), q, v, a)
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * np.abs(theirs).max())
    assert {"model/model.urdf", "model/model.xml", "model/feedforward.py"} <= set(done.document["files"])
    for link, stated in zip(robot.links, stored.parameters.values[:20:10], strict=True):
        assert link.body is not None
        assert 0.2 * link.body.mass < stated < 5.0 * link.body.mass, "nobody builds links of tons"


def test_starting_again_computes_nothing_and_changing_a_stage_keeps_the_logs(
    campaign: tuple[Path, Run], tmp_path: Path
) -> None:
    out = campaign[0]
    before = (out / "journal.jsonl").read_text().split("\n")
    again = run("campaign", written(tmp_path), "--out", out, "--workers", 1, "--json")
    assert again.document["final"] == campaign[1].document["final"]
    assert [x for x in (out / "journal.jsonl").read_text().split("\n") if x] == [x for x in before if x]
    changed = written(tmp_path, stages='start = "projected"\nsteps = "free"\nsharing = "independent"')
    other = run("campaign", changed, "--out", out, "--workers", 1, "--json")
    assert other.document["runs"] == 4
    keys = [json.loads(x)["key"] for x in (out / "journal.jsonl").read_text().split("\n") if x]
    tasks = [json.loads(x)["task"] for x in (out / "journal.jsonl").read_text().split("\n") if x]
    assert len(set(keys)) == len(keys)
    # The subject holds the stages, so what takes it is new; nothing was computed twice under one key.
    assert tasks.count("refine.AP03") == 1
    assert tasks.count("refine.AP03@20") == 1


@pytest.mark.parametrize("name", ["specs/crane_x7.toml", "papers/paper_004/crane_x7_paper.toml"])
def test_the_paper_is_a_file(name: str) -> None:
    planned = plan(Spec.read(SPECS.parent / name))
    kinds = [task.kind for task in planned.graph.tasks.values()]
    assert kinds.count("record") == 43
    assert kinds.count("ols") == kinds.count("start") == 160
    assert kinds.count("refine") == (40 if name.startswith("specs") else 160)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "two_link"', 'name = "no_such_robot"', "no_such_robot"),
        ('identify = ["AP03", "PA03"]', 'identify = ["XX01"]', "XX01"),
        ("intervals_ms = [20, 40]", "intervals_ms = [20, 20]", "different"),
        ("intervals_ms = [20, 40]", "intervals_ms = [-20, 40]", "positive"),
        ("representative_ms = 40", "representative_ms = 30", "none of the intervals"),
        ('law = "ff-pd"', 'law = "magic"', "magic"),
        ('sensor = "industrial"', 'sensor = "telepathy"', "telepathy"),
        ("[report]", "[report]\ncolour = 1", "colour"),
    ],
)
def test_what_does_not_exist_is_refused_before_anything_runs(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = written(tmp_path)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises((InputError, UnknownNameError), match=said):
        plan(Spec.read(path))
