"""Which pairs of shapes are watched, and which cannot say anything and are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from steelyard.errors import UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.limits.parts import Part


@dataclass(frozen=True, eq=False)
class Pair:
    """Two shapes that must stay apart.

    Attributes:
        first: carried by a moving link.
        second: carried by another link, or standing still.
    """

    first: Part
    second: Part

    @property
    def name(self) -> str:
        """Both titles, such as `link5 – box 'table'`."""
        return f"{self.first.title} – {self.second.title}"

    @property
    def owners(self) -> frozenset[str]:
        """The names of both links or obstacles."""
        return frozenset((self.first.owner, self.second.owner))


def self_pairs(links: Sequence[Part], tool: Sequence[Part]) -> list[Pair]:
    """Pairs of the robot's own shapes, neighbours included, and of the tool with those of other links.

    Neighbours meet at their joint, and may meet elsewhere when it bends; which pairs touch because they are
    built so is for `clearance_of` to see.

    Args:
        links: shapes of its links and its base.
        tool: shapes it holds.

    Returns:
        The pairs; the first of each moves.
    """
    pairs = []
    for a, b in combinations(links, 2):
        if a.link != b.link:
            pairs.append(Pair(*sorted((a, b), key=lambda part: -part.link)))
    pairs += [Pair(held, part) for held in tool for part in links if part.link != held.link]
    return pairs


def scene_pairs(moving: Iterable[Part], scene: Sequence[Part]) -> list[Pair]:
    """Pairs of everything that moves with everything in the scene; the base stands still and has none.

    Args:
        moving: shapes of links and tool.
        scene: shapes of the scene.

    Returns:
        The pairs.
    """
    return [Pair(part, obstacle) for part in moving if part.link >= 0 for obstacle in scene]


def without(
    pairs: Sequence[Pair], ignore: Iterable[tuple[str, str]], choices: Sequence[str], findings: list[Finding]
) -> list[Pair]:
    """The pairs that were not asked to be left out.

    Args:
        pairs: pairs of shapes.
        ignore: pairs of names of links, obstacles or `tool`.
        choices: every name there is.
        findings: where to report what was left out.

    Returns:
        The rest.

    Raises:
        UnknownNameError: there is no such link or obstacle.
    """
    asked = {frozenset(names) for names in ignore}
    for name in sorted({name for names in asked for name in names} - set(choices)):
        raise UnknownNameError("link or obstacle", name, choices, place="ignore")
    for names in sorted(sorted(names) for names in asked):
        message = f"'{names[0]}' and '{names[-1]}' are not kept apart, as asked."
        findings.append(Finding(Severity.INFO, "ignored-pair", message))
    return [pair for pair in pairs if pair.owners not in asked]
