"""An asset moves as the true object does; one made from its mesh and weight alone does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from export.object_material import box_mesh, weighted_box, write_obj
from steelyard.export.object_mesh import object_mesh
from steelyard.export.payload_asset import write_object
from steelyard.pose import Pose
from steelyard.simulation.object_trials import run_trial, standard_trials

SIDES = (0.10, 0.06, 0.04)
POSE = Pose.from_rpy((0.3, 0.1, -0.4), (0.02, 0.0, 0.05))
TRUTH = weighted_box(SIDES, 0.5, 0.3, (0.03, 0.01, 0.0)).moved(POSE)


@pytest.mark.parametrize("name", ["drop", "push", "swing"])
def test_the_measured_asset_moves_like_the_object_and_the_uniform_one_does_not(
    tmp_path: Path, name: str
) -> None:
    mesh = object_mesh(write_obj(tmp_path / "it.obj", box_mesh(SIDES)), pose=POSE)
    uniform = mesh.surface.properties(mass=TRUTH.mass).body
    for folder, body in (("measured", TRUTH), ("uniform", uniform)):
        write_object(tmp_path / folder, body, mesh=mesh)
    asset = tmp_path / "measured" / "object.xml"
    trial = standard_trials(asset)[name]
    truth = run_trial(asset, trial, body=TRUTH)
    measured, naive = (run_trial(tmp_path / f / "object.xml", trial) for f in ("measured", "uniform"))
    same, other = measured.compared_with(truth), naive.compared_with(truth)
    assert same.largest_position < 1e-6
    assert same.largest_angle < 1e-6
    assert other.largest_position > 1e-3
    assert other.largest_angle > 0.1
    if name == "swing":
        assert measured.swing_period() == pytest.approx(truth.swing_period(), rel=1e-9)
        assert abs(naive.swing_period() / truth.swing_period() - 1) > 0.005
