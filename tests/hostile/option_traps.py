"""Options that ask for terabytes or for ever, documents beside the robot, and descriptions too large."""

from __future__ import annotations

import json
import struct

import numpy as np

from hostile.attempts import ANY, REFUSED, Attempt, Content, attempts, lazily
from hostile.documents import DIGITS, ESCAPE, json_traps, mutated, toml_traps
from hostile.good import CAMPAIGN, COLUMNS, CONTROLLER, LIMITS, MOTION, PAYLOAD, PRIOR, SCENE, csv, log
from hostile.mutations import flip_bytes, poison_number, poison_value, repeat_line, truncate
from hostile.seeds import OBJ

EXCITE = ("excite", "two_link", "--out", "motion.json", "--budget", "1")
IDENTIFY = ("identify", "two_link", "log.csv", "--out", "out")
SIMULATE = ("simulate", "two_link", "motion.json", "--out", "log.csv")
ONLINE = ("online", "two_link", "--payload", "load.json", "--out", "run", "--plans", "1")
MOTION_FILE = {"motion.json": json.dumps(MOTION)}
LOAD = {"load.json": json.dumps(PAYLOAD)}
BODY = (
    '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="9"/>'
STAR = 80
"""Joints of a robot whose links all hang on its base."""


def option_traps() -> list[Attempt]:
    """Numbers of options that are far out."""

    def one(
        name: str,
        words: tuple[str, ...],
        option: str,
        value: str,
        files: dict[str, Content] | None = None,
    ) -> Attempt:
        return Attempt("option", name, (*words, option, value), files or {}, named=(option.strip("-"),))

    logged: dict[str, Content] = {"log.csv": csv(*log())}
    sensitivity = ("sensitivity", "two_link", "--out", "out")
    moved: dict[str, Content] = dict(MOTION_FILE)
    loaded: dict[str, Content] = dict(LOAD)
    traps = [one(f"period_{x}", EXCITE, "--period", x) for x in ("1e9", "1e300", "nan", "-1", "0")]
    traps += [one(f"harmonics_{x}", EXCITE, "--harmonics", x) for x in ("1000000", "0", "-1", DIGITS)]
    spline = (*EXCITE, "--family", "spline")
    traps += [one(f"pieces_{x}", spline, "--pieces", x) for x in ("1000000", "0")]
    traps += [one(f"rate_{x}", EXCITE, "--rate", x) for x in ("nan", "1e300", "0", "-1", "inf")]
    traps += [
        one(f"sim_rate_{x}", SIMULATE, "--rate", x, moved) for x in ("1e12", "nan", "1e300", "0", "inf")
    ]
    traps += [
        one(f"online_cycle_{x}", ONLINE, "--cycle", x, loaded) for x in ("0", "nan", "-1", "1e-12", "inf")
    ]
    traps += [one(f"sens_count_{x}", sensitivity, "--count", x) for x in ("1000000000", "0", DIGITS)]
    traps += [one("sens_trials", sensitivity, "--trials", "1000000000")]
    traps += [one(f"sens_rate_{x}", sensitivity, "--rate", x) for x in ("1e12", "nan", "0")]
    traps += [one("draws", IDENTIFY, "--draws", "1000000000", logged)]
    traps += [one(f"cutoff_{x}", IDENTIFY, "--cutoff", x, logged) for x in ("nan", "0", "-1", "inf")]
    traps += [one("seed_big", IDENTIFY, "--seed", DIGITS, logged)]
    star: dict[str, Content] = {"star.urdf": _star(STAR)}
    traps += [Attempt("option", "exact_star", ("identifiability", "star.urdf", "--exact"), star, ANY)]
    chain: dict[str, Content] = {"chain.urdf": _chain(1000)}
    traps += [Attempt("option", "chain1000", ("identifiability", "chain.urdf"), chain, named=("links",))]
    escaped = ("identify", ESCAPE, "log.csv", "--out", "out")
    traps += [Attempt("option", "robot_esc", escaped, logged)]
    traps += [Attempt("option", "robot_long", ("inspect", "x" * 5000))]
    traps += [Attempt("option", "out_long", ("identify", "two_link", "log.csv", "--out", "x" * 5000), logged)]
    return traps


def document_traps(*, seed: int, rounds: int) -> list[Attempt]:
    """Documents that commands take beside the robot: payload, prior, scene, limits, columns, controller."""
    rng = np.random.default_rng(seed)
    logged: dict[str, Content] = {"log.csv": csv(*log())}
    cases: tuple[tuple[str, str, dict[str, object], tuple[str, ...], dict[str, Content]], ...] = (
        ("payload", "load.json", PAYLOAD, (*SIMULATE, "--payload", "load.json"), dict(MOTION_FILE)),
        ("prior", "prior.json", PRIOR, (*ONLINE, "--prior", "prior.json"), dict(LOAD)),
        ("scene", "scene.json", SCENE, (*SIMULATE, "--scene", "scene.json"), dict(MOTION_FILE)),
        ("limits", "limits.json", LIMITS, (*SIMULATE, "--limits", "limits.json"), dict(MOTION_FILE)),
        ("columns", "map.json", COLUMNS, (*IDENTIFY, "--columns", "map.json"), logged),
    )  # fmt: skip
    traps: list[Attempt] = []
    for kind, name, good, words, files in cases:
        # A map of columns that no log has is told at the log.
        place = () if kind == "columns" else (name,)
        traps += attempts(kind, words, name, json_traps(good), files=files, named=place)
        for k in range(rounds):
            made_by, other = mutated(rng, good)
            # What a fuzzer makes of a prior may be driven for a minute; its reader is what is tried here.
            if kind != "prior":
                traps.append(Attempt(kind, f"{k}: {made_by}", words, {**files, name: json.dumps(other)}, ANY))
    words = (*SIMULATE, "--payload", "load.json")
    values = {
        "tiny": {**PAYLOAD, "mass": 1e-300, "inertia": [1e-300, 0.0, 1e-300, 0.0, 0.0, 1e-300]},
        "com1e30": {**PAYLOAD, "com": [1e30, 0.0, 0.0]},
        "mass1e300": {**PAYLOAD, "mass": 1e300},
        "inertia1e300": {**PAYLOAD, "inertia": [1e300, 0.0, 1e300, 0.0, 0.0, 1e300]},
    }
    contents = {name: json.dumps(value) for name, value in values.items()}
    traps += attempts("payload", words, "load.json", contents, files=MOTION_FILE, named=("load.json",))
    words = (*SIMULATE, "--controller", "law.toml")
    traps += attempts("controller", words, "law.toml", toml_traps(CONTROLLER), files=MOTION_FILE, named=("law.toml",))  # fmt: skip # noqa: E501
    traps += attempts(
        "controller", words, "law.toml", _fuzzed(CONTROLLER, rng, rounds), files=MOTION_FILE, codes=ANY
    )
    laws = {
        "kp1e300": CONTROLLER.replace("100.0", "1e300"),
        "law_esc": CONTROLLER.replace('"pd"', '"\\u001b[2J"'),
        "kp_int": CONTROLLER.replace("100.0", str(10**400)),
        "cycle_0": CONTROLLER + "cycle = 0\n",
    }
    traps += attempts("controller", words, "law.toml", laws, files=MOTION_FILE, codes=frozenset({2, 3}))
    traps += attempts("scene", (*SIMULATE, "--scene", "scene.toml"), "scene.toml",
                      {f"toml {name}": x for name, x in toml_traps("schema = 1\n").items()},
                      files=MOTION_FILE, named=("scene.toml",))  # fmt: skip
    return traps


def _fuzzed(text: str, rng: np.random.Generator, rounds: int) -> dict[str, Content]:
    """A text with a number, a quote or a line damaged, by what was done."""
    wounds = (poison_number, poison_value, truncate, repeat_line, flip_bytes)
    chosen = [wounds[rng.integers(len(wounds))] for _ in range(rounds)]
    return {f"{k}: {wound.__name__}": wound(rng, text.encode()) for k, wound in enumerate(chosen)}


def campaign_traps(*, seed: int, rounds: int) -> list[Attempt]:
    """Descriptions of campaigns."""
    words = ("campaign", "spec.toml", "--out", "out", "--workers", "1")
    contents = {
        "noise_1e300": CAMPAIGN.replace("noise = [1.0]", "noise = [1e300]"),
        "noise_many": CAMPAIGN.replace("noise = [1.0]", f"noise = {[1.0 + k for k in range(100_001)]}"),
        "seed_big": CAMPAIGN.replace("seed = 3", f"seed = {10**30}"),
        "seed_digits": CAMPAIGN.replace("seed = 3", f"seed = {DIGITS}"),
        "motion_big": CAMPAIGN.replace("motions = [1]", f"motions = [{10**30}]"),
        "name_nl": CAMPAIGN.replace('"small"', '"a\\nb\\u001b[2J"'),
        "name_long": CAMPAIGN.replace('"small"', f'"{"x" * 5000}"'),
        "redos": CAMPAIGN + "\n[" + " " * 50_000 + "x\n" + "a" * 50_000 + "\n",
        "redos key": CAMPAIGN
        + '\nnote = """\n'
        + "a." * 30_000
        + "\n"
        + "a"
        + " " * 60_000
        + "x\n"
        + '"""\n',
        "redos header": CAMPAIGN + '\nnote = """\n' + ("[" + " " * 20_000 + "x\n") * 10 + '"""\n',
        "trials_big": CAMPAIGN.replace("trials = 1", "trials = 1000000000000"),
        "duration_big": CAMPAIGN.replace("duration = 1.0", "duration = 1e300"),
    }
    traps = attempts("campaign", words, "spec.toml", contents, named=("spec.toml",))
    fuzzed = _fuzzed(CAMPAIGN, np.random.default_rng(seed), rounds)
    traps += attempts("campaign", words, "spec.toml", fuzzed, codes=ANY)
    documents = {f"document {name}": content for name, content in toml_traps(CAMPAIGN).items()}
    return traps + attempts("campaign", words, "spec.toml", documents, named=("spec.toml",))


def _star(joints: int) -> str:
    links = "".join(f'<link name="l{k}">{BODY}</link>' for k in range(joints))
    bones = "".join(
        f'<joint name="j{k}" type="revolute"><parent link="base"/><child link="l{k}"/>'
        f'<origin xyz="{k} 0 {k % 3}"/><axis xyz="{k % 2} {1 - k % 2} 0"/>'
        f"{LIMIT}</joint>"
        for k in range(joints)
    )
    return f'<robot name="star"><link name="base"/>{links}{bones}</robot>'


def _chain(joints: int) -> str:
    links = "".join(f'<link name="l{k}">{BODY}</link>' for k in range(joints + 1))
    bones = "".join(
        f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>'
        f'<origin xyz="0 0 0.1"/><axis xyz="0 1 0"/>{LIMIT}</joint>'
        for k in range(joints)
    )
    return f'<robot name="chain">{links}{bones}</robot>'


def _meshed(mesh: str, name: str = "part") -> str:
    return _chain(2).replace(
        "</link>", f'<collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>', 1
    ).replace('name="chain"', f'name="{name}"')  # fmt: skip


def _ball(points: int) -> str:
    """An OBJ file of so many points on a sphere, all of them on its hull."""
    k = np.arange(points) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * k / points), np.pi * (1.0 + 5.0**0.5) * k
    at = 0.05 * np.column_stack((np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)))
    rows = "".join(f"v {x:.9f} {y:.9f} {z:.9f}\n" for x, y, z in at)
    return rows + "f 1 2 3\n"


def _stl(count: int, stated: int | None = None, value: float | None = None) -> bytes:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype="<f4")
    if value is not None:
        corners[1, 1] = value
    face = bytes(12) + corners.tobytes() + bytes(2)
    return bytes(80) + struct.pack("<I", count if stated is None else stated) + face * count


def description_traps() -> list[Attempt]:
    """Robots that are too long, meshes that are too fine, tools that are none."""
    excite = ("excite", "robot.urdf", "--out", "motion.json", "--budget", "1", "--acceleration", "5")
    both = _chain(2).replace('"chain"', f'"{"x" * 5000}"').replace('"j1"', f'"{"y" * 5000}"')
    # Fine, but a mesh: it is used, in time and without a table of its distances.
    ball: dict[str, Content] = {"robot.urdf": _meshed("many.obj"), "many.obj": lazily(lambda: _ball(60_000))}
    far = {"robot.urdf": _meshed("x" * 5000)}
    traps = [
        Attempt("urdf-excite", "chain3000", excite, {"robot.urdf": _chain(3000)}, named=("chain", "memory")),
        Attempt("mesh-excite", "many.obj", excite, ball, ANY - REFUSED),
        Attempt("urdf", "longname mesh", ("inspect", "robot.urdf", "--json"), far, ANY),
        Attempt("urdf", "longname robot and joint", excite, {"robot.urdf": both}, ANY),
    ]
    tools: dict[str, Content] = {
        "lie_count.stl": _stl(2, stated=2**31),
        "nan.stl": _stl(2, value=float("nan")),
        "empty.stl": b"",
        "text.stl": "this is not a mesh",
        "obj_index.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9999999999\n",
        "flat.obj": "v 0 0 0\nv 1e300 0 0\nv 0 1e300 0\nf 1 2 3\n",
        "deep.xyz": OBJ,
    }
    for name, content in tools.items():
        traps.append(Attempt("mesh-tool", name, (*EXCITE, "--tool", name), {name: content}, named=(name,)))
    return traps
