"""What `steelyard joints` says: one JSON document, or a table for people."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from steelyard.cli.joints_line import Modelled, ModelledJoint
from steelyard.cli.output import stdout
from steelyard.estimation import FirstOrderFit


def answer(done: Modelled) -> dict[str, Any]:
    """Everything a script may ask for; SI units, angles in rad, half widths of 95 % intervals."""
    design = done.design
    return {
        "robot": done.robot.name,
        "cycle": design.controller.cycle,
        "filter": design.controller.filter,
        "delay": done.delay.seconds,
        "delay_deviation": done.delay.deviation,
        "least_phase_margin": math.radians(done.request.margin),
        "joints": {
            name: _joint(joint)
            | {
                "coupled": done.coupled[j],
                "controller": {
                    "inertia": float(design.controller.inertia[j]),
                    "viscous": float(design.controller.viscous[j]),
                    "kp": float(design.controller.kp[j]),
                    "kv": float(design.controller.kv[j]),
                    "bandwidth": float(design.bandwidth[j]),
                    "largest_bandwidth": float(design.largest_bandwidth[j]),
                    "crossover": float(design.crossover[j]),
                    "phase_margin": float(design.phase_margin[j]),
                    "inertia_range": design.inertia_range[j].tolist(),
                },
            }
            for j, (name, joint) in enumerate(zip(done.robot.joint_names, done.joints, strict=True))
        },
        "failed": {name: str(error) for name, error in done.failed.items()},
    }


def _joint(joint: ModelledJoint) -> dict[str, Any]:
    arx = joint.arx
    return {
        "first_order": _fit(joint.fit),
        "first_order_without_friction": _fit(joint.plain),
        "arx": {
            "denominator": arx.denominator.tolist(),
            "numerator": arx.numerator.tolist(),
            "delay": arx.delay,
            "interval": arx.interval,
            "deviation": arx.deviation,
        },
        "experiments": [
            {"cycles": log.n, "digest": log.digest, "history": [step.to_json() for step in log.provenance]}
            for log in joint.recordings
        ],
    }


def _fit(fit: FirstOrderFit) -> dict[str, Any]:
    K, T, T_d = (float(x) for x in fit.half_widths)
    return {
        "gain": fit.model.gain,
        "gain_half_width": K,
        "time_constant": fit.model.time_constant,
        "time_constant_half_width": T,
        "dead_time": fit.model.dead_time,
        "dead_time_half_width": T_d,
        "inertia": fit.model.inertia,
        "inertia_half_width": fit.inertia_half_width,
        "viscous": fit.model.viscous,
        "viscous_half_width": fit.viscous_half_width,
        "coulomb": fit.coulomb,
        "stiffness": fit.stiffness,
        "covariance": fit.covariance.tolist(),
        "unexplained": fit.unexplained,
    }


def print_answer(done: Modelled, document: dict[str, Any]) -> None:
    """Models and gains joint by joint, and where they were written."""
    units = "K rad/s per N·m, T s, T_d ms, M̂ kg·m², D̂ N·m·s/rad, K_P 1/s², K_V 1/s; 95 % intervals"
    table = Table(
        title=f"{escape(done.robot.name)}: joints as first-order lags with dead time", caption=units
    )
    for head in ("joint", "K", "T", "T_d", "M̂", "D̂", "K_P", "K_V", "margin"):
        table.add_column(head, justify="left" if head == "joint" else "right", overflow="fold")
    for j, (joint, model) in enumerate(zip(done.robot.joints, done.joints, strict=True)):
        fit, design = model.fit, done.design
        K, T, T_d = (float(x) for x in fit.half_widths)
        table.add_row(
            escape(joint.name),
            _told(fit.model.gain, K),
            _told(fit.model.time_constant, T),
            _told(1e3 * fit.model.dead_time, 1e3 * T_d),
            _told(fit.model.inertia, fit.inertia_half_width),
            _told(fit.model.viscous, fit.viscous_half_width),
            f"{design.controller.kp[j]:.4g}",
            f"{design.controller.kv[j]:.3g}",
            f"{math.degrees(design.phase_margin[j]):.0f}°",
        )
    stdout.print(table)
    folder = Path(document["files"]["report.html"]).parent
    stdout.print(
        f"Torques arrive {1e3 * done.delay.seconds:.2f} ms after the reading they answer (standard deviation "
        f"{1e3 * done.delay.deviation:.2g} ms). Took {document['seconds']:.1f} s; written to {folder}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _told(value: float, half_width: float) -> str:
    """A number and its interval, with the decimals that the interval leaves."""
    if not 0.0 < half_width < math.inf:
        return f"{value:.4g}"
    decimals = max(1 - math.floor(math.log10(half_width)), 0)
    return f"{value:.{decimals}f}±{half_width:.{decimals}f}"
