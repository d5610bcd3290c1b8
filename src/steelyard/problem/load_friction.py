r"""What could be known of a robot whose friction grows with the load.

$$\tau = r + D\,\delta + F_l\,|r| \operatorname{sign}(v), \qquad r = Y\phi_{links}$$

is a function of the rigid torque r, of the linear drive δ and of $F_l$. The links appear through r alone, so
the combinations of links are those of a robot without drives, and every drive term stands for itself: where
friction grows with the load it shows a rotor apart from the link it turns, which torques without such
friction never do. Joints without it, whose $F_l$ is fixed at zero, are those of a robot with linear drives.
How well a given motion shows it is for the estimator to say.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.arrays import read_only
from steelyard.identifiability import BaseParameters, restricted
from steelyard.layout import Layout
from steelyard.problem.structure import structure_of
from steelyard.robot import Robot


def without_load(layout: Layout) -> Layout:
    """The same parameters without the friction that grows with the load.

    Args:
        layout: the parameters.

    Returns:
        The layout without `load`; itself where it has none.
    """
    return _with_drive(layout, tuple(term for term in layout.drive if term != "load"))


def load_base(robot: Robot, layout: Layout) -> BaseParameters:
    """The combinations of parameters that torques could determine, load friction among them.

    Args:
        robot: the robot.
        layout: its parameters, with the term `load`; where that is fixed, a joint has none.

    Returns:
        The combinations of links, and of drives of joints without load friction, that torques determine; then
        every free drive term of the others.
    """
    linear = without_load(layout)
    free = [x for x in layout.parameters if x.term in layout.drive and not x.fixed]
    loaded = {x.owner for x in free if x.term == "load"}
    apart = [x.name for x in free if x.owner in loaded]
    held = linear.fixing({name: 0.0 for name in apart if name in linear.names})
    structure = structure_of(robot, held)
    found = structure.base if held.free.all() else restricted(structure).base
    places = np.array([layout.index(held.names[k]) for k in np.flatnonzero(held.free)], dtype=np.int64)
    drive = np.array([layout.index(name) for name in apart], dtype=np.int64)
    K = np.zeros((found.count + len(drive), layout.size))
    K[: found.count, places] = found.matrix
    K[found.count + np.arange(len(drive)), drive] = 1.0
    return BaseParameters(
        (*found.names, *apart),
        read_only(K),
        read_only(np.concatenate([places[found.columns], drive])),
        found.smallest_kept,
        found.largest_dropped,
    )


def _with_drive(layout: Layout, drive: tuple[str, ...]) -> Layout:
    if drive == layout.drive:
        return layout
    links = 10 * len(layout.links)
    kept = [x for k, x in enumerate(layout.parameters) if k < links or x.term in drive]
    return replace(
        layout,
        parameters=tuple(kept),
        drive=drive,
        stribeck=layout.stribeck if "stribeck" in drive else (),
    )
