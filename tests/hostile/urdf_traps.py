"""URDF that no fuzzer finds by chance: trees that are none, meshes elsewhere, followers of nobody."""

from __future__ import annotations

from hostile.seeds import URDF
from hostile.traps import PATHS, replaced, xml_traps


def urdf_traps() -> dict[str, bytes]:
    """Content by name."""
    joint = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/></joint>'
    link = '<link name="{0}"/>'
    trees = {
        "loop": "".join(link.format(x) for x in "ab") + joint.format(1, "a", "b") + joint.format(2, "b", "a"),
        "loop apart": "".join(link.format(x) for x in "abcd")
        + "".join(joint.format(k, *ends) for k, ends in enumerate(("ab", "cd", "dc"))),
        "own parent": link.format("a") + joint.format(1, "a", "a"),
        "two parents": "".join(link.format(x) for x in "abc")
        + "".join(joint.format(k, *ends) for k, ends in enumerate(("ab", "ac", "cb"))),
        "forest": "".join(link.format(k) for k in range(2000)),
        "no link": joint.format(1, "a", "b"),
        "nothing": "",
        "names of blanks": link.format(" ") + link.format("a") + joint.format(" ", " ", "a"),
        "long names": link.format("n" * 100_000) + link.format("a") + joint.format("j", "n" * 100_000, "b"),
        "markup in names": link.format("[/red]") + link.format("a") + joint.format("[/]", "[/red]", "a"),
        "chain of 400": "".join(link.format(k) for k in range(400))
        + "".join(joint.format(f"j{k}", k, k + 1) for k in range(399)),
    }
    traps = xml_traps(URDF, "robot")
    traps |= {name: f'<robot name="t">{tree}</robot>'.encode() for name, tree in trees.items()}
    traps |= replaced(URDF, "arm.obj", {f"mesh {path[:30]!r}": path for path in PATHS})
    mimic = '<mimic joint="finger" multiplier="1" offset="0"/>'
    traps |= replaced(
        URDF,
        mimic,
        {
            "mimics itself": '<mimic joint="follower"/>',
            "mimics nobody": '<mimic joint="nobody"/>',
            "mimics a fixed joint": '<mimic joint="mount"/>',
            "mimics by nothing": '<mimic joint="finger" multiplier="0"/>',
            "two mimics": mimic * 2,
        },
    )
    return traps
