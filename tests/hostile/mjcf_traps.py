"""MJCF that no fuzzer finds by chance: includes and assets elsewhere, a billion copies."""

from __future__ import annotations

from hostile.seeds import MJCF
from hostile.traps import PATHS, replaced, xml_traps


def mjcf_traps() -> dict[str, bytes]:
    """Content by name."""
    traps = xml_traps(MJCF, "mujoco")
    traps |= replaced(MJCF, 'file="arm.obj"', {f"mesh {p[:30]!r}": f'file="{p}"' for p in PATHS})
    traps |= replaced(
        MJCF, 'file="part.xml"', {f"include {p[:30]!r}": f'file="{p}"' for p in (*PATHS, "robot.xml")}
    )
    traps |= replaced(
        MJCF,
        'meshdir="."',
        {f"meshdir {d!r}": f'meshdir="{d}"' for d in ("..", "/", "/etc", "~", "\\\\host")},
    )
    count = "1000000000"
    traps |= replaced(
        MJCF,
        "<worldbody>",
        {
            "a billion replicas": f'<worldbody><replicate count="{count}"><body name="r"/></replicate>',
            "a billion beads": f'<worldbody><composite type="cable" count="{count} 1 1" size="1"/>',
            "attached model": '<asset><model name="m" file="../secret.xml"/></asset><worldbody>',
            "plugin": '<extension><plugin plugin="x.y"/></extension><worldbody>',
            "texture outside": '<asset><texture type="2d" file="/etc/passwd"/></asset><worldbody>',
            "height field outside": '<asset><hfield name="h" file="../secret.obj"/></asset><worldbody>',
            "unknown class": '<worldbody><body childclass="nowhere"/>',
            "free body in a body": "<worldbody><body><body><freejoint/></body></body>",
            "zero quaternion": '<worldbody><body quat="0 0 0 0"/>',
            "four joints on one body": "<worldbody><body>" + '<joint type="ball"/>' * 4 + "</body>",
        },
    )
    return traps
