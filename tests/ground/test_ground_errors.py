"""Errors say place, sentence and remedy, carry their evidence, and are the builtin a caller expects."""

from __future__ import annotations

import pytest

from steelyard import errors
from steelyard.errors import SteelyardError, UnknownNameError, leading_to


def test_a_message_reads_place_sentence_remedy() -> None:
    error = SteelyardError("is empty.", place="log.csv:3", remedy="Record again.", evidence={"rows": 0})
    assert str(error) == "log.csv:3: is empty. Record again."
    assert (error.message, error.place, error.remedy) == ("is empty.", "log.csv:3", "Record again.")
    assert error.evidence == {"rows": 0}


def test_place_and_remedy_may_be_left_out() -> None:
    error = SteelyardError("went wrong.")
    assert str(error) == "went wrong."
    assert error.evidence == {}


def test_evidence_is_the_errors_own_copy() -> None:
    evidence = {"rows": 0}
    error = SteelyardError("is empty.", evidence=evidence)
    evidence["rows"] = 7
    assert error.evidence == {"rows": 0}


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.InputError, ValueError),
        (errors.ShapeError, ValueError),
        (errors.DescriptionError, ValueError),
        (errors.RecordingError, ValueError),
        (errors.NoSolutionError, RuntimeError),
        (errors.SolverError, RuntimeError),
    ],
)
def test_each_error_is_the_builtin_a_caller_expects(kind: type[SteelyardError], builtin: type) -> None:
    with pytest.raises(builtin, match=r"^here: no"):
        raise kind("no", place="here")
    assert issubclass(kind, SteelyardError)


def test_an_unknown_name_suggests_the_nearest_and_lists_all() -> None:
    error = UnknownNameError("joint", "elbwo", ["shoulder", "elbow", "wrist"], place="arm.toml")
    assert str(error) == (
        "arm.toml: unknown joint 'elbwo'. Did you mean 'elbow'? Valid: shoulder, elbow, wrist."
    )
    assert isinstance(error, LookupError)
    assert isinstance(error, errors.InputError)
    assert (error.kind, error.name, error.choices) == ("joint", "elbwo", ("shoulder", "elbow", "wrist"))


def test_an_unknown_name_unlike_any_other_gets_no_suggestion() -> None:
    assert "Did you mean" not in str(UnknownNameError("joint", "xyz", ["shoulder"]))
    assert str(UnknownNameError("joint", "xyz", iter(()))) == "unknown joint 'xyz'. Valid: none."


def test_an_error_is_led_to_its_file_once_and_an_option_stays_an_option() -> None:
    refused = pytest.raises(SteelyardError, match=r"^log\.csv: time: stands still\. Look\.$")
    with refused as caught, leading_to("log.csv"), leading_to("log.csv"):
        raise SteelyardError("stands still.", place="time", remedy="Look.")
    assert caught.value.place == "log.csv: time"
    with pytest.raises(SteelyardError, match=r"^--cutoff: "), leading_to("log.csv"):
        raise SteelyardError("must be positive.", place="--cutoff")
    with pytest.raises(UnknownNameError, match=r"^log\.csv: unknown joint 'x'"), leading_to("log.csv"):
        raise UnknownNameError("joint", "x", ["a"])
