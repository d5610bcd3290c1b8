"""Identified servos as actuators of training frameworks: Isaac Lab, mjlab, Genesis.

Each file is a small Python module with one entry a joint. What the frameworks call the numbers:

| servo | Isaac Lab, `DelayedPDActuatorCfg` | mjlab, `BuiltinPositionActuatorCfg` | Genesis |
| --- | --- | --- | --- |
| k_p, k_d | `stiffness`, `damping` | `stiffness`, `damping` | `set_dofs_kp`, `set_dofs_kv` |
| τ_max | `effort_limit` | `effort_limit` | `set_dofs_force_range` |
| I_a | `armature` | `armature` | `set_dofs_armature` |
| F_c | `friction`, `dynamic_friction` | `frictionloss` | `set_dofs_frictionloss` |
| F_v | `viscous_friction` | in `damping`, see below | `set_dofs_damping` |
| delay | `min_delay`, `max_delay`, in physics steps | `DelayedActuatorCfg`, in physics steps | none |

mjlab leaves the damping of a joint to its MJCF, which may state another: there F_v is added to `damping`,
which is the same torque as long as the limit does not hold. A delay is rounded to physics steps, whose length
the file asks for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from textwrap import dedent

from steelyard.drive import Servo

CARDS = "actuators"
"""Folder of the files inside that of a result."""
DIGITS = 6
"""Digits of the numbers, which no log determines better."""


def actuator_cards(robot: str, servos: Mapping[str, Servo], remarks: tuple[str, ...]) -> dict[str, str]:
    """The servos as files of the frameworks.

    Args:
        robot: its name.
        servos: by joint.
        remarks: what is said at the head of each file.

    Returns:
        Text by name of the file.
    """
    head = "\n".join(f"# {line}" for line in (f"Servos of {robot}; SI units.", *remarks))
    return {
        "isaaclab.py": f"{head}\n{_isaac_lab(servos)}",
        "mjlab.py": f"{head}\n{_mjlab(servos)}",
        "genesis.py": f"{head}\n{_genesis(servos)}",
    }


def _isaac_lab(servos: Mapping[str, Servo]) -> str:
    entries = []
    for joint, servo in servos.items():
        fields = {
            "joint_names_expr": repr([f"^{re.escape(joint)}$"]),
            "effort_limit": _number(servo.limit),
            "stiffness": _number(servo.stiffness),
            "damping": _number(servo.damping),
            "armature": _number(servo.armature),
            "friction": _number(servo.coulomb + servo.stribeck),
            "dynamic_friction": _number(servo.coulomb),
            "viscous_friction": _number(servo.viscous + servo.back_emf),
            "min_delay": f"round({_number(servo.delay)} / PHYSICS_STEP)",
            "max_delay": f"round({_number(servo.delay)} / PHYSICS_STEP)",
        }
        entries.append(_entry(joint, "DelayedPDActuatorCfg", fields))
    return dedent(
        """\
            # `friction` is N·m from Isaac Sim 5 on, with `dynamic_friction` and `viscous_friction` beside
            # it. Before, it was a share of the force in the joint: leave all three out there.
            from isaaclab.actuators import DelayedPDActuatorCfg

            PHYSICS_STEP = 0.005  # s, of your simulation: sim.dt

            """
    ) + _table("ACTUATORS", entries)


def _mjlab(servos: Mapping[str, Servo]) -> str:
    entries = []
    for joint, servo in servos.items():
        fields = {
            "target_names_expr": repr((f"^{re.escape(joint)}$",)),
            "stiffness": _number(servo.stiffness),
            "damping": _number(servo.damping + servo.viscous + servo.back_emf),
            "effort_limit": _number(servo.limit),
            "armature": _number(servo.armature),
            "frictionloss": _number(servo.coulomb),
        }
        inner = _call("BuiltinPositionActuatorCfg", fields, 2)
        late = f"round({_number(servo.delay)} / PHYSICS_STEP)"
        outer = {
            "base_cfg": inner,
            "delay_target": '"position"',
            "delay_min_lag": late,
            "delay_max_lag": late,
        }
        entries.append(f"    {joint!r}: {_call('DelayedActuatorCfg', outer, 1)},\n")
    return dedent(
        """\
            # Viscous friction stands in `damping`: set the joints' own damping to zero in the MJCF.
            from mjlab.actuator import BuiltinPositionActuatorCfg, DelayedActuatorCfg

            PHYSICS_STEP = 0.002  # s, of your simulation

            """
    ) + _table("ACTUATORS", entries)


def _genesis(servos: Mapping[str, Servo]) -> str:
    def column(name: str) -> str:
        return ", ".join(_number(getattr(servo, name)) for servo in servos.values())

    viscous = ", ".join(_number(servo.viscous + servo.back_emf) for servo in servos.values())
    limits = ", ".join(
        _number(servo.limit) if math.isfinite(servo.limit) else "1e9" for servo in servos.values()
    )
    delays = ", ".join(_number(servo.delay) for servo in servos.values())
    return dedent(
        f"""\
        # Genesis has no delay of a command: hold each command back yourself by DELAY.
        JOINTS = {list(servos)!r}
        DELAY = [{delays}]  # s


        def set_servos(robot):
            \"\"\"Give a Genesis entity these servos.\"\"\"
            dofs = [robot.get_joint(name).dofs_idx_local[0] for name in JOINTS]
            limits = [{limits}]
            robot.set_dofs_kp([{column("stiffness")}], dofs)
            robot.set_dofs_kv([{column("damping")}], dofs)
            robot.set_dofs_force_range([-limit for limit in limits], limits, dofs)
            robot.set_dofs_armature([{column("armature")}], dofs)
            robot.set_dofs_damping([{viscous}], dofs)
            robot.set_dofs_frictionloss([{column("coulomb")}], dofs)
        """
    )


def _number(value: float) -> str:
    return "None" if math.isinf(value) else f"{value:.{DIGITS}g}"


def _call(name: str, fields: Mapping[str, str], depth: int) -> str:
    pad = "    " * (depth + 1)
    inside = "".join(f"{pad}{field}={value},\n" for field, value in fields.items())
    return f"{name}(\n{inside}{'    ' * depth})"


def _entry(joint: str, name: str, fields: Mapping[str, str]) -> str:
    return f"    {joint!r}: {_call(name, fields, 1)},\n"


def _table(name: str, entries: list[str]) -> str:
    return f"{name} = {{\n{''.join(entries)}}}\n"
