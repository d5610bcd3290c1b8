r"""The sensor presets by name, and where their numbers come from.

`ideal`, `industrial` and `low-cost` are what the project promises its targets for. What their short
descriptions leave open is decided here and in `SensorPreset`:

- A step of the 12-bit encoder changes the backward difference by 1.5 rad/s, so `low-cost` smooths it with a
  lag of 2 ms, the pseudo-differentiation of paper 004 (section III, T_f = 0.002 s).
- Its torque constant is the joint's limit over 1.73 A: seven of the CRANE-X7's eight servos have 2.3179 N·m/A
  (paper 004, section III-A) and a limit of 4 N·m (the arm's public description). The constant scales with the
  robot, the current does not. The 2.69 mA are those servos' current unit.
- Its hidden Coulomb friction is 0.01 to 0.08 N·m at the size of a CRANE-X7, whose smallest and largest limits
  are 4 and 10 N·m: 0.01/4 to 0.08/10 of the limit.
- Its 1.5 ms pass from the reading to the arrival of the command; holding the command comes on top.
- `crane-x7` is the robot of paper 004 (section III) alone, with its eight axes: the torque constants of its
  XM430-W350 and, at joint 2, XM540-W270 servos, and about 0.9 ms from the reading of all encoders to the
  arrival of the currents, which with the hold of a 1 ms cycle makes the paper's dead time of about 1.5 ms.
  The jitter is an assumption; more of it would sometimes delay a command by one more cycle.
- A slide's encoder sits on a shaft that moves it by 10 mm per radian, an assumption.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from steelyard.errors import UnknownNameError
from steelyard.simulate.sensor import SensorPreset

IDEAL = SensorPreset(name="ideal", truth=True)
"""No noise: logs the acceleration and the torque of one forward-dynamics evaluation."""

INDUSTRIAL = SensorPreset(
    name="industrial",
    encoder=1e-5,
    torque_noise=0.003,
    torque_bias=0.001,
    torque_quantum=0.0002,
    delay=1e-3,
    torque_limits=True,
)
"""A fine encoder and a torque meter."""

LOW_COST = SensorPreset(
    name="low-cost",
    encoder=2.0 * math.pi / 4096,
    velocity_lag=2e-3,
    current_at_limit=1.73,
    current_quantum=2.69e-3,
    gain_error=0.02,
    coulomb_least=0.0025,
    coulomb_most=0.008,
    delay=1.5e-3,
    jitter=0.3e-3,
    torque_limits=True,
)
"""A 12-bit encoder and an ammeter."""

CRANE_X7 = SensorPreset(
    name="crane-x7",
    encoder=2.0 * math.pi / 4096,
    velocity_lag=2e-3,
    torque_constants=(2.3179, 3.1317, *(2.3179,) * 6),
    current_quantum=2.69e-3,
    delay=0.9e-3,
    jitter=0.1e-3,
    torque_limits=True,
)
"""The CRANE-X7 of paper 004 with its hand axis."""

SENSORS: Mapping[str, SensorPreset] = MappingProxyType(
    {preset.name: preset for preset in (IDEAL, INDUSTRIAL, LOW_COST, CRANE_X7)}
)
"""The presets by name."""


def sensor_preset(sensor: str | SensorPreset) -> SensorPreset:
    """Look a preset up.

    Args:
        sensor: its name, or the preset itself.

    Returns:
        The preset.

    Raises:
        UnknownNameError: no such preset; lists those that exist.
    """
    if isinstance(sensor, SensorPreset):
        return sensor
    if sensor not in SENSORS:
        raise UnknownNameError("sensor preset", sensor, SENSORS)
    return SENSORS[sensor]
