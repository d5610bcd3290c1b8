"""`campaign` called from Python: the answer of the command, from a file or what was read from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaigns.test_identification import written as identification
from campaigns.test_monte_carlo import written as study
from cli.running import run
from steelyard.archive import to_document
from steelyard.campaigns import CampaignEvent, Happening, Spec, TaskGraph
from steelyard.errors import InputError
from steelyard.progress import ProgressStep
from steelyard.report.campaign import campaign_content_of
from steelyard.workflows.campaign import campaign
from steelyard.workflows.campaign_result import CampaignResult
from steelyard.zoo import zoo_robot


class Notes:
    """An observer that writes everything down."""

    def __init__(self) -> None:
        self.tasks = 0
        self.ended: list[str] = []

    def planned(self, graph: TaskGraph) -> None:
        self.tasks = len(graph)

    def happened(self, event: CampaignEvent) -> None:
        if event.what in (Happening.DONE, Happening.FROM_STORE):
            self.ended.append(event.task)


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """As JSON, without the time it took."""
    found: dict[str, Any] = json.loads(json.dumps(to_document(document)))
    del found["seconds"]
    return found


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[CampaignResult, Notes, list[ProgressStep], Path]:
    folder = tmp_path_factory.mktemp("campaign")
    notes, said = Notes(), list[ProgressStep]()
    spec = Spec.read(study(folder, ("[0.1, 1, 10]", "[1]"), ('"ols", "wls"', '"ols"')))
    result = campaign(spec, out=folder / "out", workers=1, observer=notes, progress=said.append)
    return result, notes, said, folder


def test_the_command_goes_on_where_python_ended_and_answers_the_same(
    done: tuple[CampaignResult, Notes, list[ProgressStep], Path],
) -> None:
    result, _, _, folder = done
    again = run("campaign", folder / "study.toml", "--out", folder / "out", "--workers", 1, "--json")
    assert list(result.document) == list(again.document)
    assert plain(result.document) == plain(again.document)
    told = run("campaign", folder / "study.toml", "--out", folder / "out", "--workers", 1)
    assert told.out.split() == str(result).split()


def test_who_listens_hears_of_every_task(
    done: tuple[CampaignResult, Notes, list[ProgressStep], Path],
) -> None:
    result, notes, said, _ = done
    assert notes.tasks == len(result.outcome.ends)
    assert sorted(notes.ended) == sorted(result.outcome.ends)
    assert said[0].message == f"study: {notes.tasks} tasks"
    shares = [step.share for step in said if step.share is not None]
    assert shares == pytest.approx([(k + 1) / notes.tasks for k in range(notes.tasks)])


def test_the_result_says_how_it_ended_in_a_line(
    done: tuple[CampaignResult, Notes, list[ProgressStep], Path],
) -> None:
    result = done[0]
    tasks = len(result.outcome.ends)
    assert repr(result) == f"<CampaignResult study: pass, {tasks} of {tasks} tasks done>"
    assert (result.verdict, result.failed, result.content) == ("pass", 0, None)
    assert set(result.files) == {"campaign.json", "runs.parquet", "trials.parquet", "table.parquet"}


@pytest.fixture(scope="module")
def identified(tmp_path_factory: pytest.TempPathFactory) -> tuple[CampaignResult, Path]:
    folder = tmp_path_factory.mktemp("identification")
    return campaign(identification(folder), out=folder / "out", workers=1), folder


def test_an_identification_is_the_commands_own(identified: tuple[CampaignResult, Path]) -> None:
    ours, folder = identified
    theirs = run("campaign", ours.spec.path, "--out", folder / "out", "--workers", 1, "--json")
    assert plain(ours.document) == plain(theirs.document)
    assert ours.content is not None
    assert ours.verdict == ours.content.verdict.status
    assert Path(ours.files["report.html"]).is_file()
    assert str(ours).startswith("two_link, two links: ")


def test_the_page_draws_the_joints_that_the_file_names_or_every_one(
    identified: tuple[CampaignResult, Path],
) -> None:
    result = identified[0]
    assert result.answer is not None
    (predicted,) = result.answer["validated"].values()
    robot = zoo_robot("two_link")
    for named, places in (([1], [0]), ([2], [1]), ([], [0, 1])):
        answer = result.answer | {"settings": result.answer["settings"] | {"traced": named}}
        content = campaign_content_of(result.spec, result.outcome, answer)
        joints = tuple(robot.joint_names[place] for place in places)
        assert content.joints == joints
        assert content.units == ("N·m",) * len(joints)
        (trace,) = content.traces
        np.testing.assert_array_equal(trace.measured, predicted["measured"][:, places])
        assert [curves.joints for curves in content.commands] == [joints] * 2


def test_processes_here_and_a_cluster_are_refused_together(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--workers, --cluster"):
        campaign(study(tmp_path), out=tmp_path / "out", workers=1, cluster="tcp://127.0.0.1:1")
