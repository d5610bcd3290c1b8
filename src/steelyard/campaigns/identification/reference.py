"""Figures of somebody else that a campaign's page sets beside its own; no task sees them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from steelyard.campaigns.spec import MOST_BYTES, Section, Spec
from steelyard.document import parse_toml, read_text
from steelyard.errors import InputError

TIMES = ("median_run", "all_runs", "all_cores", "start_to_end")
"""Times that may be stated: median run, all runs, the campaign on all cores, from its start to its end."""
NOTES = ("times", "parameters", "held_out")
"""Tables of the page that may have a sentence or two beside them."""
MEASURES = ("rmse", "mne")
"""Errors on held-out motions: root mean square, N·m, and mean normalised, dimensionless."""


@dataclass(frozen=True)
class ReferenceRun:
    """What a reference states of one motion at one sampling interval.

    Attributes:
        condition: of the regressor, dimensionless; None where it is not stated.
        route: the stages it went through, such as `O-S-C`; empty where it is not stated.
        margin: smallest eigenvalue the projection asked for, kg·m² or kg; None where nothing was projected.
    """

    condition: float | None = None
    route: str = ""
    margin: float | None = None


@dataclass(frozen=True)
class CampaignReference:
    """Figures of a paper, a data sheet or an earlier campaign. All but the name may be missing.

    Attributes:
        name: whose they are, such as authors and year.
        noun: what heads of columns call it, such as `paper`.
        differs: why the two are not like for like, each in a few words; empty where they are.
        notes: what is to be said beside a table of the page, by one of `NOTES`.
        times: s, by one of `TIMES`.
        passed: how many least-squares answers were positive definite, and of how many, by interval in s.
        compared: runs by motion and interval in s.
        held_out: errors of the refined and of the accepted model, by held-out motion and one of `MEASURES`.
        parameters: values in the units of the model, by the reference's names, in the order of the model.
        digest: SHA-256 of the file of its own that states it; empty where the campaign's file does.
    """

    name: str
    noun: str = "reference"
    differs: tuple[str, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)
    passed: Mapping[float, tuple[int, int]] = field(default_factory=dict)
    compared: Mapping[tuple[str, float], ReferenceRun] = field(default_factory=dict)
    held_out: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    digest: str = ""

    def __post_init__(self) -> None:
        for name in ("notes", "times", "passed", "compared", "held_out", "parameters"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def motions(self) -> dict[str, str]:
        """The motions it has figures of, each with the table that names it."""
        compared = dict.fromkeys((motion for motion, _ in self.compared), "compared")
        return compared | dict.fromkeys(self.held_out, "held_out")


def campaign_reference(spec: Spec) -> CampaignReference | None:
    """Read what a campaign's page is to set beside its own figures.

    Args:
        spec: the campaign's file, with a table `[reference]` that states all, or names with `file`, seen from
            its own folder, a file that does.

    Returns:
        The reference; None where there is none.

    Raises:
        InputError: a name or a figure is missing, misspelt or out of range; the message says the line.
    """
    if not spec.content.has("reference"):
        return None
    given = spec.content.section("reference")
    if not given.has("file"):
        return _reference(given, "")
    path = spec.path.parent / given.text("file")
    given.refuse_others()
    text = read_text(path, most=MOST_BYTES)
    apart = Section(parse_toml(text, place=str(path)), str(path), text)
    return _reference(apart, hashlib.sha256(text.encode()).hexdigest())


def _reference(given: Section, digest: str) -> CampaignReference:
    times, notes = given.section("times"), given.section("notes")
    passed, compared = given.section("passed"), given.section("compared")
    held_out, parameters = given.section("held_out"), given.section("parameters")
    found = CampaignReference(
        name=given.text("name"),
        noun=given.text("noun", "reference"),
        differs=given.texts("differs", ()),
        notes={key: notes.text(key) for key in NOTES if notes.has(key)},
        times={key: _positive(times, key) for key in TIMES if times.has(key)},
        passed={_interval(passed, key): _share(passed, key) for key in passed.content},
        compared={
            (motion, _interval(runs, key)): _run(runs.section(key))
            for motion in compared.content
            for runs in (compared.section(motion),)
            for key in runs.content
        },
        held_out={motion: _errors(held_out.section(motion)) for motion in held_out.content},
        parameters={key: parameters.number(key) for key in parameters.content},
        digest=digest,
    )
    given.refuse_others()
    return found


def _positive(section: Section, key: str) -> float:
    value = section.number(key)
    if value <= 0.0:
        raise InputError(f"must be positive, got {value:g}.", place=section.place(key))
    return value


def _interval(section: Section, key: str) -> float:
    """The sampling interval (s) that a key states in ms."""
    try:
        interval = 1e-3 * float(key)
    except ValueError:
        interval = math.nan
    if not 0.0 < interval < math.inf:
        raise InputError("must be a sampling interval, ms.", place=section.place(key))
    return interval


def _share(section: Section, key: str) -> tuple[int, int]:
    """So many of so many."""
    counts = section.numbers(key)
    whole = all(count.is_integer() for count in counts)
    if len(counts) != 2 or not whole or not 0 <= counts[0] <= counts[1]:
        raise InputError("must be two whole numbers, how many of how many.", place=section.place(key))
    return int(counts[0]), int(counts[1])


def _run(section: Section) -> ReferenceRun:
    known: dict[str, Any] = {
        name: section.number(key, least=0.0)
        for key, name in (("cond", "condition"), ("margin", "margin"))
        if section.has(key)
    }
    return ReferenceRun(route=section.text("route") if section.has("route") else "", **known)


def _errors(section: Section) -> dict[str, tuple[float, float]]:
    """Errors on one held-out motion."""
    found = {}
    for key in MEASURES:
        if section.has(key):
            errors = section.numbers(key)
            if len(errors) != 2 or min(errors) < 0.0:
                raise InputError(
                    "must be two errors, of the refined and of the accepted model.", place=section.place(key)
                )
            found[key] = (errors[0], errors[1])
    return found
