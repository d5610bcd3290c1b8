"""What `bench/frozen.py` runs: one line of words for each case, and the files that these words name.

All cases share one folder and run in this order. A case writes below its own name, and says which cases
must have run before it. Nothing here knows more of Steelyard than its command line.
"""

from __future__ import annotations

import json
import math
import random
import shlex
from dataclasses import dataclass
from pathlib import Path

TESTS = 1
"""Short, and the same on every machine but for last bits: also part of the reference for the tests."""
QUICK = 2
"""Short."""


@dataclass(frozen=True)
class Case:
    """One command.

    Attributes:
        name: the first word is the command; files are written below this name.
        words: all that follows `steelyard`; `OUT` stands for the name.
        after: cases whose files it reads.
        quick: `TESTS`, `QUICK` or 0 for a case that is neither.
        shared: whether it reads logs or descriptions beside the repository.
    """

    name: str
    words: str
    after: tuple[str, ...] = ()
    quick: int = 0
    shared: bool = False

    @property
    def told(self) -> list[str]:
        """The words one by one."""
        return [word.replace("OUT", self.name) for word in shlex.split(self.words)]

    @property
    def command(self) -> str:
        """The command that it runs."""
        return self.told[0]


def inputs() -> dict[str, str]:
    """Every file that cases read and no case writes, by its name."""
    two, panda = ("joint1", "joint2"), tuple(f"panda_joint{k}" for k in range(1, 8))
    home = (0.0, -0.4, 0.0, -1.9, 0.0, 1.7, 0.4)
    return {
        "one.json": _motion(("joint1",), (0.2,), 1.0, 1),
        "two.json": _motion(two, (0.3, 0.5), 1.0, 1),
        "two_other.json": _motion(two, (0.1, 0.4), 0.9, 2),
        "panda.json": _motion(panda, home, 0.3, 1),
        "panda_other.json": _motion(panda, home, 0.25, 2),
        "load.json": _body(0.3, (0.0, 0.01, 0.02), 5e-4),
        "heavy.json": _body(1.2, (0.01, 0.02, 0.06), 3e-3),
        "pd.toml": 'law = "pd"\nkp = 2000.0\nkd = 80.0\n',
        "law.toml": 'law = "ff-pd"\ninertia = [1.5, 0.6]\nviscous = 0.1\nkp = 400.0\nkv = 40.0\n'
        "cycle = 0.001\n",
        "scene.toml": '[[obstacle]]\nname = "post"\nshape = "box"\nsize = [0.1, 0.1, 0.1]\n'
        "position = [1.2, 0, 0.4]\n",
        "limits.toml": "velocity = 2.0\nacceleration = 10.0\ntorque = 40.0\n",
        "poses.csv": _poses(),
        "arm.urdf": ARM,
        "heavier.urdf": ARM.replace('mass value="2"', 'mass value="2.4"'),
        "bare.urdf": BARE,
        "broken.urdf": "<robot",
        "arm.urdf.xacro": XACRO,
        "arm.xml": MJCF,
        "four_bar.xml": FOUR_BAR,
        "box.obj": BOX,
        "arm.json": _motion(two, (0.3, 0.5), 0.8, 3),
        "small.csv": "time,q_joint1,q_joint2,tau_joint1,tau_joint2\n0,0,0,0,0\n0.01,0,0,0,0\n",
        "study.toml": STUDY,
        "identification.toml": IDENTIFICATION,
        "wrong.toml": STUDY.replace("trials = 2", "trails = 2"),
    }


def _motion(joints: tuple[str, ...], offset: tuple[float, ...], swing: float, seed: int) -> str:
    """A Fourier series of 4 s whose amplitudes fall with frequency, as `simulate` reads it."""
    rng = random.Random(seed)  # the same numbers by every version of Python
    waves = {
        which: [[round(swing * rng.uniform(-1.0, 1.0) / k, 6) for k in range(1, 5)] for _ in joints]
        for which in ("sine", "cosine")
    }
    about = {"family": "fourier", "joints": joints, "period": 4.0, "offset": offset}
    return json.dumps(about | waves | {"schema": 1})


def _body(mass: float, com: tuple[float, float, float], inertia: float) -> str:
    return json.dumps({"mass": mass, "com": com, "inertia": [inertia, 0, inertia, 0, 0, inertia]})


def _poses() -> str:
    """Forty poses of a two-link arm at rest, with torques of about its own weight."""
    rng = random.Random(5)
    lines = ["time,q_joint1,q_joint2,tau_joint1,tau_joint2"]
    for k in range(40):
        q1, q2 = rng.uniform(-2.0, 2.0), rng.uniform(-2.0, 2.0)
        outer = 9.81 * 0.8 * 0.75 * math.sin(q1 + q2)
        inner = outer + 9.81 * (0.6 * 0.5 + 0.8) * math.sin(q1)
        noise = 0.01 * rng.uniform(-1.0, 1.0)
        lines.append(f"{k},{q1:.9f},{q2:.9f},{inner + noise:.9f},{outer - noise:.9f}")
    return "\n".join(lines) + "\n"


LINK = (
    '<link name="{name}"><inertial><origin xyz="0 0 {com}"/><mass value="{mass}"/>'
    '<inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial></link>\n'
)
JOINT = (
    '<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="0 0 {z}"/><axis xyz="{axis}"/>'
    '<limit lower="-3" upper="3" velocity="6" effort="60"/></joint>\n'
)
ARM = (
    '<robot name="arm">\n<link name="base"/>\n'
    + LINK.format(name="upper", com="0.2", mass="3", i="0.05")
    + LINK.format(name="lower", com="0.15", mass="2", i="0.02")
    + JOINT.format(name="joint1", parent="base", child="upper", z="0", axis="0 1 0")
    + JOINT.format(name="joint2", parent="upper", child="lower", z="0.4", axis="1 0 0")
    + "</robot>\n"
)
BARE = (
    '<robot name="bare">\n<link name="a"/>\n<link name="b"/>\n'
    + '<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>\n</robot>\n'
)
XACRO = ARM.replace(
    '<robot name="arm">\n',
    '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
    '<xacro:arg name="weight" default="2"/>\n',
).replace('mass value="2"', 'mass value="$(arg weight)"')
MJCF = """<mujoco model="arm">
<worldbody>
<body name="upper"><joint name="joint1" axis="0 1 0" range="-170 170" damping="0.4" armature="0.02"/>
<inertial pos="0 0 0.2" mass="3" diaginertia="0.05 0.05 0.01"/>
<body name="lower" pos="0 0 0.4"><joint name="joint2" axis="1 0 0" range="-170 170" frictionloss="0.3"/>
<inertial pos="0 0 0.15" mass="2" diaginertia="0.02 0.02 0.005"/></body></body>
</worldbody>
<actuator><motor joint="joint1" ctrlrange="-60 60"/><motor joint="joint2" ctrlrange="-60 60"/></actuator>
</mujoco>
"""
FOUR_BAR = MJCF.replace(
    "<actuator>", '<equality><connect body1="lower" anchor="0 0 .3"/></equality><actuator>'
)
BOX = (
    "".join(f"v {x} {y} {z}\n" for x in (-0.03, 0.03) for y in (-0.03, 0.03) for z in (0, 0.1))
    + "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
)
STUDY = """[campaign]
kind = "monte-carlo"
name = "two links"
seed = 3

[robot]
name = "two_link"

[study]
trials = 2
sensors = ["industrial"]
noise = [0.1, 1]
motions = [1]
duration = 3.0
methods = ["ols", "wls"]
drive = ["viscous", "coulomb", "offset", "rotor"]
"""
IDENTIFICATION = """[campaign]
kind = "identification"
name = "two links"
seed = 1

[robot]
name = "two_link"

[model]
drive = ["viscous", "rotor"]

[plant]
sensor = "industrial"

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

[report]
joints = [1]
compared = ["AP03", "PA03"]
"""

COMMANDS = (
    *("robots", "inspect", "identifiability", "excite", "simulate", "identify", "validate", "compare"),
    *("patch", "replay", "payload", "sensitivity", "joints", "online", "campaign", "demo"),
)
"""Every command but `compile`, which answers with times."""
CONSTANTS = "--torque-constant 14.87,13.26,11.13,10.62,11.03,11.47"
UR10E = "data/ur10e/ur10e.urdf data/ur10e/ur-20_02_12-40sec_12harm.csv"
LOADS = "--loaded loaded.csv --empty empty.csv"
FEW = "--trials 1 --count 1 --noise q=1e-5"
FAST = "--harmonics 2 --period 4 --rounds 1"
PLAIN = "--method wls --drive viscous,coulomb --cutoff 10"
ONE = "online one_link --payload load.json --tool none --floor none --plans 1 --budget 3 --json"

CASES = (
    *(Case(f"help-{name}", f"{name} --help") for name in COMMANDS),
    Case("help", "--help"),
    # What descriptions state.
    Case("robots", "robots --json", quick=TESTS),
    Case("robots-text", "robots"),
    Case("inspect-panda", "inspect panda --json", quick=TESTS),
    Case("inspect-text", "inspect ur10e"),
    Case(
        "inspect-locked",
        "inspect panda --lock panda_joint7=0.5 --tool-frame panda_link6 --gravity 1,2,-3.5 --json",
        quick=TESTS,
    ),
    Case("inspect-urdf", "inspect arm.urdf --limits limits.toml --velocity joint1=1.5 --json", quick=TESTS),
    Case("inspect-xacro", "inspect arm.urdf.xacro --arg weight=2.5 --json", quick=TESTS),
    Case("inspect-mjcf", "inspect arm.xml --json", quick=TESTS),
    Case("inspect-bare", "inspect bare.urdf --json", quick=TESTS),
    Case("inspect-repair", "inspect bare.urdf --repair OUT.urdf --fill-mass 2 --json", quick=TESTS),
    *(Case(f"inspect-{name}", f"inspect {name} --json") for name in ("cheetah3", "so101", "crane_x7_hand")),
    # What can be known.
    Case("identifiability-exact", "identifiability puma560 --exact --json"),
    Case("identifiability-rotors", "identifiability puma560 --rotors --json"),
    Case(
        "identifiability-armature", "identifiability scara --rotors armature --gravity none --json", quick=1
    ),
    Case("identifiability-measured", "identifiability panda --measured panda_joint1,panda_joint2 --json"),
    Case("identifiability-base", "identifiability cheetah3_leg --floating --measured base --json"),
    Case("identifiability-static", "identifiability puma560 --static --json", quick=TESTS),
    Case("identifiability-symbolic", "identifiability two_link --symbolic --json", quick=TESTS),
    Case("identifiability-symbolic-text", "identifiability rr_perpendicular --symbolic"),
    Case("identifiability-reduced", "identifiability crane_x7 --reduce products --frames mdh --json"),
    Case("identifiability-drive", "identifiability panda --drive viscous,coulomb,offset,rotor --json"),
    Case("identifiability-xacro", "identifiability arm.urdf.xacro --json", quick=TESTS),
    Case("identifiability-lock", "identifiability panda --lock panda_joint7=0 --json"),
    # Motions.
    Case("excite-fourier", f"excite two_link --out OUT.json {FAST} --floor none --json", quick=QUICK),
    Case("excite-text", f"excite two_link --out OUT.json {FAST} --floor none"),
    Case("excite-spline", "excite two_link --out OUT.json --family spline --pieces 4 --rounds 1 --json"),
    Case(
        "excite-primitives",
        "excite one_link --out OUT.json --family primitives --motion-name AP03 --floor none --json",
        quick=TESTS,
    ),
    Case("excite-chosen", "excite one_link --out OUT.json --family primitives --floor none --json"),
    Case("excite-scene", f"excite panda --out OUT.json {FAST} --scene scene.toml --tool none --json"),
    Case(
        "excite-payload",
        f"excite panda --out OUT.json {FAST} --for payload --payload load.json --tool box.obj --json",
    ),
    Case(
        "excite-planned",
        "excite panda --out OUT.json --for payload --planned excite-scene.json --payload load.json "
        "--tool none --json",
        after=("excite-scene",),
    ),
    Case(
        "excite-after",
        f"excite two_link --out OUT.json {FAST} --after train.csv --criterion d --floor none --json",
        after=("simulate-train",),
    ),
    Case("excite-jerk", f"excite two_link --out OUT.json {FAST} --floor none --jerk 50 --start free --json"),
    Case("excite-mjcf", f"excite arm.xml --out OUT.json {FAST} --floor none --criterion a --json"),
    Case(
        "excite-range",
        f"excite two_link --out OUT.json {FAST} --floor none --parameter-range 0.1 --limits limits.toml "
        "--json",
    ),
    # Logs.
    Case("simulate-train", "simulate two_link two.json --out train.csv --sensor industrial --json", quick=1),
    Case(
        "simulate-other",
        "simulate two_link two_other.json --out other.csv --sensor industrial --json",
        quick=1,
    ),
    Case("simulate-ideal", "simulate two_link two.json --out OUT.npz --rate 100 --json", quick=TESTS),
    Case("simulate-parquet", "simulate two_link two.json --out OUT.parquet --sensor low-cost --json"),
    Case("simulate-pd", "simulate two_link two.json --out OUT.csv --controller pd.toml --rate 200 --json"),
    Case(
        "simulate-law",
        "simulate two_link two.json --out OUT.csv --controller law.toml --sensor low-cost --json",
        quick=TESTS,
    ),
    Case(
        "simulate-law-other",
        "simulate two_link two_other.json --out OUT.csv --controller law.toml --sensor low-cost --json",
        quick=TESTS,
    ),
    Case(
        "simulate-backlash",
        "simulate one_link one.json --out OUT.csv --backlash 0.002 --sensor low-cost --json",
    ),
    Case(
        "simulate-empty",
        "simulate panda panda.json --out empty.csv --sensor industrial --rate 200 --json",
        quick=TESTS,
    ),
    Case(
        "simulate-loaded",
        "simulate panda panda.json --out loaded.csv --sensor industrial --rate 200 --seed 1 "
        "--payload heavy.json --json",
        quick=TESTS,
    ),
    Case(
        "simulate-elsewhere",
        "simulate panda panda_other.json --out elsewhere.csv --sensor industrial --rate 200 --json",
    ),
    Case("simulate-urdf", "simulate arm.urdf arm.json --out OUT.csv --sensor industrial --rate 200 --json"),
    Case("simulate-mjcf", "simulate arm.xml arm.json --out OUT.csv --sensor industrial --rate 200 --json"),
    Case("simulate-scene", "simulate panda panda.json --out OUT.csv --rate 50 --scene scene.toml --json"),
    # Models.
    Case(
        "identify-auto",
        "identify two_link train.csv --holdout other.csv --out OUT --json",
        ("simulate-train", "simulate-other"),
        quick=TESTS,
    ),
    Case("identify-text", "identify two_link train.csv --out OUT", ("simulate-train",)),
    Case(
        "identify-wls",
        f"identify two_link train.csv --holdout other.csv --out OUT {PLAIN} --json",
        ("simulate-train", "simulate-other"),
        quick=TESTS,
    ),
    *(
        Case(
            f"identify-{method}",
            f"identify two_link train.csv --holdout other.csv --out OUT --method {method} --json",
            ("simulate-train", "simulate-other"),
            quick=TESTS * (method == "momentum"),
        )
        for method in ("ols", "huber", "ridge", "bounded", "lmi", "entropic", "cholesky", "momentum")
    ),
    Case(
        "identify-iv",
        "identify two_link train.csv --holdout other.csv --motion two.json --method iv --out OUT --json",
        ("simulate-train", "simulate-other"),
    ),
    Case(
        "identify-iv-loop",
        "identify two_link simulate-law.csv --holdout simulate-law-other.csv --method iv --motion two.json "
        "--controller law.toml --drive viscous,coulomb --cutoff 40 --out OUT --json",
        ("simulate-law", "simulate-law-other"),
    ),
    Case(
        "identify-clie",
        "identify two_link simulate-law.csv --holdout simulate-law-other.csv --method clie "
        "--controller law.toml --drive viscous,coulomb --cutoff 40 --out OUT --json",
        ("simulate-law", "simulate-law-other"),
    ),
    Case(
        "identify-static", "identify two_link poses.csv --static --drive offset --method ols --out OUT --json"
    ),
    Case(
        "identify-draws",
        "identify two_link train.csv --draws 2 --seed 3 --total-mass 1.5 --mass link1=0.7 --out OUT --json",
        ("simulate-train",),
    ),
    Case(
        "identify-known-moment",
        "identify two_link train.csv --method wls --torque-constant-error 0.2 "
        "--known-moment joint2=3.8~0.02@0.4,0.3 --out OUT --json",
        ("simulate-train",),
    ),
    Case(
        "identify-drive",
        "identify two_link train.csv --drive viscous,coulomb,offset,rotor,load --strength 2 "
        "--prior-error 0.2 --out OUT --json",
        ("simulate-train",),
    ),
    Case(
        "identify-mjcf",
        "identify arm.xml simulate-mjcf.csv --out OUT --json",
        ("simulate-mjcf",),
    ),
    Case(
        "identify-xacro",
        "identify arm.urdf.xacro simulate-urdf.csv --arg weight=2.2 --rotor joint1=0.01 --out OUT --json",
        ("simulate-urdf",),
    ),
    Case(
        "identify-prior",
        "identify arm.urdf simulate-urdf.csv --prior heavier.urdf --torque-sign joint1=1,joint2=1 "
        "--out OUT --json",
        ("simulate-urdf",),
    ),
    Case(
        "identify-panda",
        "identify panda empty.csv --holdout elsewhere.csv --out OUT --json",
        ("simulate-empty", "simulate-elsewhere"),
    ),
    Case(
        "identify-ur10e",
        f"identify {UR10E} --holdout data/ur10e/ur-20_02_10-30sec_12harm.csv {CONSTANTS} --out OUT --json",
        shared=True,
    ),
    Case(
        "identify-lwr4",
        "identify data/kuka_lwr4/kuka_lwr4.urdf data/kuka_lwr4/measurements_1.csv "
        "--holdout data/kuka_lwr4/measurements_2.csv --out OUT --json",
        shared=True,
    ),
    Case(
        "identify-panda-log",
        "identify data/panda_gaz/panda.urdf data/panda_gaz/trajectory_1.csv --lock panda_finger_joint1=0 "
        "--out OUT --json",
        shared=True,
    ),
    Case(
        "identify-bag",
        "identify data/ur10_panda_unisa/ur10_robot.urdf data/ur10_panda_unisa/ur10_exciting_trajectory.db3 "
        "--out OUT --json",
        shared=True,
    ),
    Case(
        "identify-xmate7p",
        "identify data/xmate7p/XM7p.urdf data/xmate7p/traj1.csv --holdout data/xmate7p/traj2.csv "
        "--draws 2 --out OUT --json",
        shared=True,
    ),
    Case(
        "identify-xmate7p-wls",
        "identify data/xmate7p/XM7p.urdf data/xmate7p/traj1.csv --holdout data/xmate7p/traj2.csv "
        "--method wls --out OUT --json",
        shared=True,
    ),
    # Judgement.
    Case(
        "validate-result",
        "validate identify-wls other.csv --json",
        ("identify-wls", "simulate-other"),
        quick=TESTS,
    ),
    Case(
        "validate-report",
        "validate identify-auto/model.urdf other.csv train.csv --out OUT --json",
        ("identify-auto", "simulate-other"),
    ),
    Case("validate-described", "validate two_link train.csv --cutoff 20", ("simulate-train",)),
    Case("validate-wrong", "validate heavier.urdf simulate-urdf.csv --json", ("simulate-urdf",)),
    Case(
        "validate-ur10e",
        f"validate data/ur10e/ur10e.urdf data/ur10e/ur-20_02_10-30sec_12harm.csv {CONSTANTS} --cutoff 8 "
        "--json",
        shared=True,
    ),
    Case(
        "compare-results",
        "compare identify-ols identify-momentum --json",
        ("identify-ols", "identify-momentum"),
    ),
    Case("compare-described", "compare identify-auto two_link --json", ("identify-auto",), quick=TESTS),
    Case("compare-level", "compare identify-prior heavier.urdf --level 0.5", ("identify-prior",)),
    Case("patch-urdf", "patch heavier.urdf identify-prior --out OUT.urdf --json", ("identify-prior",)),
    Case("patch-mjcf", "patch arm.xml identify-mjcf", ("identify-mjcf",)),
    Case("replay-identify", "replay identify-wls --json", ("identify-wls",), quick=TESTS),
    Case("replay-kept", "replay identify-draws --out OUT --json", ("identify-draws",)),
    # What the arm holds.
    Case(
        "payload-empty",
        f"payload panda {LOADS} --out OUT --json",
        ("simulate-empty", "simulate-loaded"),
        quick=TESTS,
    ),
    Case(
        "payload-arm",
        "payload panda --loaded loaded.csv --empty elsewhere.csv --way arm --out OUT --json",
        ("simulate-loaded", "simulate-elsewhere"),
    ),
    Case(
        "payload-model",
        "payload panda --loaded loaded.csv --model identify-panda --out OUT --json",
        ("simulate-loaded", "identify-panda"),
    ),
    Case(
        "payload-described",
        "payload panda --loaded loaded.csv --model panda --grasp 0,0,0.1 --method huber --point lmi "
        "--mesh box.obj --truth heavy.json --out OUT --json",
        ("simulate-loaded",),
    ),
    Case(
        "payload-bounds",
        "payload panda --loaded loaded.csv --torque-error 0.01,0.2 --model-error 0.001 --acceleration 20 "
        "--heaviest 5 --extent 0.3 --out OUT --json",
        ("simulate-loaded",),
    ),
    Case(
        "payload-momentum",
        "payload panda --loaded loaded.csv --method momentum --window 0.2 --point cholesky --out OUT",
        ("simulate-loaded",),
    ),
    Case(
        "payload-ur10e",
        "payload data/ur10e/ur10e.urdf --loaded data/ur10e/ur-20_02_19_14harm50secLoad.csv "
        f"--empty data/ur10e/ur-20_02_19_14harm50sec.csv {CONSTANTS} --out OUT --json",
        shared=True,
    ),
    Case(
        "sensitivity",
        f"sensitivity two_link --out OUT {FEW} --motions sinusoid --filters none,clean --json",
        quick=TESTS,
    ),
    Case("sensitivity-panda", f"sensitivity panda --out OUT {FEW} --seed 2 --payload heavy.json --json"),
    # Single joints.
    Case(
        "joints",
        "joints scara --lock joint1=0 --lock joint2=0 --gravity none --seed 3 --out OUT --json",
        quick=TESTS,
    ),
    Case(
        "joints-logs",
        "joints scara --lock joint1=0 --lock joint2=0 --gravity none --inertia-range 0.5,2 --out OUT "
        + " ".join(
            f"--log joints/experiments/{name}" for name in (f"{k}_{n}.npz" for k in (1, 2) for n in (1, 2, 3))
        )
        + " --json",
        ("joints",),
    ),
    # Live and many.
    Case("online", f"{ONE} --seed 4 --out OUT", quick=QUICK),
    Case("online-robust", f"{ONE} --law robust --seed 5 --model-error 0.02"),
    Case("replay-online", "replay online --json", ("online",)),
    Case("campaign-trials", "campaign study.toml --out OUT --workers 1 --json", quick=TESTS),
    Case("campaign-identification", "campaign identification.toml --out OUT --workers 1 --json"),
    Case(
        "campaign-again", "campaign study.toml --out campaign-trials --workers 1 --json", ("campaign-trials",)
    ),
    Case("demo", "demo --robot one_link --out OUT --json", quick=QUICK),
    Case("demo-locked", "demo --robot two_link --lock joint1=0.3 --seed 2 --out OUT"),
    Case("demo-panda", "demo --out OUT --json"),
    # Input that is refused.
    *(
        Case(f"refused-{name}", words, quick=TESTS)
        for name, words in {
            "robots": "robots --yes",
            "nothing": "nonsense",
            "zoo": "inspect pandda",
            "urdf": "inspect broken.urdf",
            "absent": "inspect missing.urdf",
            "loop": "inspect four_bar.xml",
            "gravity": "inspect panda --gravity 1,2",
            "lock": "inspect panda --lock panda_joint1=5",
            "frame": "inspect panda --tool-frame nowhere",
            "arg": "inspect arm.urdf --arg weight=2",
            "measured": "identifiability panda --measured elbow",
            "drive": "identifiability panda --drive viscos",
            "excite": f"excite two_link --out OUT.json {FAST} --criterion best",
            "start": f"excite two_link --out OUT.json {FAST} --start 50,0",
            "scene": f"excite two_link --out OUT.json {FAST} --scene missing.toml",
            "motion": "simulate panda two.json --out OUT.csv",
            "ending": "simulate two_link two.json --out OUT.xlsx",
            "sensor": "simulate two_link two.json --out OUT.csv --sensor laser",
            "method": "identify two_link small.csv --method magic --out OUT",
            "log": "identify two_link nowhere.csv --out OUT",
            "short": "identify two_link small.csv --out OUT",
            "constants": "identify two_link small.csv --torque-constant 1,x --out OUT",
            "shape": "identify two_link small.csv --drive stribeck --out OUT",
            "known": "identify two_link small.csv --mass foo=3 --out OUT",
            "validate": "validate nobody small.csv",
            "compare": "compare ur10e ur10e",
            "patch": "patch arm.urdf nowhere",
            "replay": "replay data.json",
            "payload": "payload panda --loaded small.csv --out OUT",
            "way": "payload two_link --loaded small.csv --way magic --out OUT",
            "sensitivity": "sensitivity panda --noise q=a --out OUT",
            "motions": "sensitivity panda --motions waltz --out OUT",
            "joints": "joints scara --sensor laser --out OUT",
            "posture": "joints scara --posture 1,2 --out OUT",
            "online": "online one_link --payload missing.json",
            "law": "online one_link --payload load.json --law magic",
            "campaign": "campaign wrong.toml --out OUT",
            "demo": "demo --robot nobody --out OUT",
            "seed": "demo --seed -1 --out OUT",
        }.items()
    ),
)


def write_inputs(folder: Path, shared: Path) -> None:
    """Put all input files into a folder, and a link to the logs beside the repository where they are."""
    for name, text in inputs().items():
        (folder / name).write_text(text)
    if shared.is_dir():
        (folder / "data").symlink_to(shared.resolve(), target_is_directory=True)
