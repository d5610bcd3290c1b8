"""Random MJCF text that spells the same thing in as many ways as the format has."""

from __future__ import annotations

import numpy as np

SEQUENCES = ("xyz", "XYZ", "zyx", "zxZ", "XyZ")
SHAPES = ("sphere", "capsule", "cylinder", "box", "ellipsoid")


class RandomMjcf:
    """Draws one file: trees with anchors, frames, classes, several joints on a body, geoms for inertia."""

    def __init__(self, rng: np.random.Generator, *, free: bool = False) -> None:
        self._rng = rng
        self._degrees = bool(rng.random() < 0.5)
        self._count = 0
        self._free = free

    def text(self) -> str:
        rng = self._rng
        settings = {"angle": "degree" if self._degrees else "radian", "eulerseq": str(rng.choice(SEQUENCES))}
        if rng.random() < 0.2:
            settings |= {"boundmass": "0.5", "boundinertia": "0.01"}
        if rng.random() < 0.2:
            settings["settotalmass"] = "7.5"
        if rng.random() < 0.2:
            settings["inertiagrouprange"] = "0 2"
        if rng.random() < 0.2:
            settings["inertiafromgeom"] = "true"
        bodies = "".join(self._body(0, top=True) for _ in range(rng.integers(1, 4)))
        return (
            f"<mujoco><compiler {_attributes(settings)}/>"
            f'<option gravity="{self._words(5 * rng.standard_normal(3))}"/>'
            '<default><joint armature="0.3"/><geom density="700"/>'
            '<default class="stiff"><joint damping="0.7" axis="0 1 0"/><geom quat="1 2 3 4"/>'
            f'<default class="inner"><joint armature="0.1" {self._anchor()}/><geom mass="0.4"/></default>'
            "</default></default>"
            f"<worldbody>{bodies}</worldbody></mujoco>"
        )

    def _body(self, depth: int, *, top: bool = False) -> str:
        rng = self._rng
        self._count += 1
        name = f"b{self._count}"
        inside = self._joints(name, top) + self._inertia()
        if depth < 4:
            inside += "".join(self._body(depth + 1) for _ in range(rng.integers(0, 3 if depth < 2 else 2)))
        chosen = rng.choice(["", "", 'childclass="stiff"', 'childclass="inner"'])
        body = f'<body name="{name}" {self._place()} {chosen}>{inside}</body>'
        return self._framed(body)

    def _framed(self, inside: str) -> str:
        if self._rng.random() < 0.25:
            chosen = self._rng.choice(["", "", 'childclass="stiff"'])
            return f"<frame {self._place()} {chosen}>{self._framed(inside)}</frame>"
        return inside

    def _joints(self, body: str, top: bool) -> str:
        rng = self._rng
        if top and self._free:
            return f'<freejoint name="{body}_free"/>'
        draw = rng.random()
        if draw < 0.15 and not top:
            return ""
        if draw < 0.3:
            plain = 'damping="0" armature="0"'
            ball = f'<joint name="{body}_ball" type="ball" {plain} {self._anchor()}/>'
            return self._joint(f"{body}_first") * int(rng.integers(2)) + ball
        return "".join(self._joint(f"{body}_{k}") for k in range(rng.choice([1, 1, 2, 3])))

    def _joint(self, name: str) -> str:
        rng = self._rng
        given = [f'type="{rng.choice(["hinge", "hinge", "slide"])}"']
        if rng.random() < 0.7:
            given.append(f'axis="{self._words(rng.standard_normal(3))}"')
        if rng.random() < 0.6:
            given.append(self._anchor())
        if rng.random() < 0.4:
            given.append(f'ref="{rng.uniform(-1, 1) * (50 if self._degrees else 1)!r}"')
        if rng.random() < 0.5:
            given.append(f'damping="{rng.uniform(0, 2)!r}"')
        if rng.random() < 0.3:
            given.append(f'class="{rng.choice(["main", "stiff", "inner"])}"')
        return self._framed(f'<joint name="{name}" {" ".join(given)}/>')

    def _inertia(self) -> str:
        rng = self._rng
        if rng.random() < 0.5:
            return self._geom() + "".join(
                self._framed(self._geom(group=int(rng.integers(6)))) for _ in range(rng.integers(0, 3))
            )
        geoms = "".join(self._geom() for _ in range(rng.integers(0, 2)))
        a, b = rng.uniform(0.1, 0.5, 2)
        pos, mass = self._words(0.2 * rng.standard_normal(3)), f'mass="{rng.uniform(0.5, 3)!r}"'
        if rng.random() < 0.5:
            tensor = f'diaginertia="{self._words((a, b, rng.uniform(abs(a - b), a + b)))}" {self._turn()}'
        else:
            R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
            full = R @ np.diag([a, b, rng.uniform(abs(a - b), a + b)]) @ R.T
            tensor = f'fullinertia="{self._words(full[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])}"'
        return f'<inertial pos="{pos}" {mass} {tensor}/>{geoms}'

    def _geom(self, group: int = 0) -> str:
        rng = self._rng
        given = [f'type="{(kind := rng.choice(SHAPES))}"', f'size="{self._words(rng.uniform(0.05, 0.3, 3))}"']
        if kind != "sphere" and rng.random() < 0.3:
            given.append(f'fromto="{self._words(rng.standard_normal(6))}"')
        else:
            given.append(self._place())
        if rng.random() < 0.3:
            given.append(f'mass="{rng.uniform(0.1, 2)!r}"')
        if rng.random() < 0.2:
            given.append('density="300"')
        return f'<geom group="{group}" {" ".join(given)}/>'

    def _place(self) -> str:
        return f'pos="{self._words(0.4 * self._rng.standard_normal(3))}" {self._turn()}'

    def _anchor(self) -> str:
        return f'pos="{self._words(0.3 * self._rng.standard_normal(3))}"'

    def _turn(self) -> str:
        rng = self._rng
        unit = 180 / np.pi if self._degrees else 1.0
        spelled = {
            "": "",
            "quat": f'quat="{self._words(rng.standard_normal(4))}"',
            "axisangle": f'axisangle="{self._words((*rng.standard_normal(3), unit * rng.uniform(-3, 3)))}"',
            "euler": f'euler="{self._words(unit * rng.uniform(-3, 3, 3))}"',
            "quarters": f'euler="{self._words(unit * np.pi / 2 * rng.integers(-2, 3, 3))}"',
            "xyaxes": f'xyaxes="{self._words(rng.standard_normal(6))}"',
            "zaxis": f'zaxis="{self._words(rng.standard_normal(3))}"',
            "down": 'zaxis="0 0 -1"',
        }
        return spelled[str(rng.choice(list(spelled)))]

    def _words(self, values: object) -> str:
        return " ".join(repr(float(value)) for value in np.ravel(values))


def _attributes(values: dict[str, str]) -> str:
    return " ".join(f'{key}="{value}"' for key, value in values.items())
