"""Steelyard weighs a robot with its own arm: identification that says which numbers can be known.

    import steelyard as sy

    fit = sy.identify("ur10e.urdf", ["a.csv", "b.csv"], holdout="c.csv")
    print(fit)
    fit.model.links["forearm_link"].mass

Every command is a function of the same name and options: it takes objects or paths, prints nothing, and
returns a result whose `document` is what the command prints with `--json`. What a name needs is loaded when
it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from steelyard.audit import Verdict as Verdict
    from steelyard.errors import SteelyardError as SteelyardError
    from steelyard.finding import Finding as Finding
    from steelyard.model import Model as Model
    from steelyard.motion import Motion as Motion
    from steelyard.recording import Recording as Recording
    from steelyard.recording import read as read
    from steelyard.robot import Robot as Robot
    from steelyard.safe_learning import RobotDriver as RobotDriver
    from steelyard.workflows.campaign import campaign as campaign
    from steelyard.workflows.compare import compare as compare
    from steelyard.workflows.demo import demo as demo
    from steelyard.workflows.excite import excite as excite
    from steelyard.workflows.given import load as load
    from steelyard.workflows.identifiability import identifiability as identifiability
    from steelyard.workflows.identification import Identification as Identification
    from steelyard.workflows.identify import identify as identify
    from steelyard.workflows.inspect import inspect as inspect
    from steelyard.workflows.inspect import repair as repair
    from steelyard.workflows.joints import joints as joints
    from steelyard.workflows.online import online as online
    from steelyard.workflows.patch import patch as patch
    from steelyard.workflows.payload import payload as payload
    from steelyard.workflows.replay import replay as replay
    from steelyard.workflows.robots import robots as robots
    from steelyard.workflows.sensitivity import sensitivity as sensitivity
    from steelyard.workflows.simulate import simulate as simulate
    from steelyard.workflows.validate import validate as validate
    from steelyard.workflows.weighed_payload import Payload as Payload

_ROOMS = {
    "steelyard.audit": ("Verdict",),
    "steelyard.errors": ("SteelyardError",),
    "steelyard.finding": ("Finding",),
    "steelyard.model": ("Model",),
    "steelyard.motion": ("Motion",),
    "steelyard.recording": ("Recording", "read"),
    "steelyard.robot": ("Robot",),
    "steelyard.safe_learning": ("RobotDriver",),
    "steelyard.workflows.campaign": ("campaign",),
    "steelyard.workflows.compare": ("compare",),
    "steelyard.workflows.demo": ("demo",),
    "steelyard.workflows.excite": ("excite",),
    "steelyard.workflows.given": ("load",),
    "steelyard.workflows.identifiability": ("identifiability",),
    "steelyard.workflows.identification": ("Identification",),
    "steelyard.workflows.identify": ("identify",),
    "steelyard.workflows.inspect": ("inspect", "repair"),
    "steelyard.workflows.joints": ("joints",),
    "steelyard.workflows.online": ("online",),
    "steelyard.workflows.patch": ("patch",),
    "steelyard.workflows.payload": ("payload",),
    "steelyard.workflows.replay": ("replay",),
    "steelyard.workflows.robots": ("robots",),
    "steelyard.workflows.sensitivity": ("sensitivity",),
    "steelyard.workflows.simulate": ("simulate",),
    "steelyard.workflows.validate": ("validate",),
    "steelyard.workflows.weighed_payload": ("Payload",),
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "Finding",
    "Identification",
    "Model",
    "Motion",
    "Payload",
    "Recording",
    "Robot",
    "RobotDriver",
    "SteelyardError",
    "Verdict",
    "__version__",
    "campaign",
    "compare",
    "demo",
    "excite",
    "identifiability",
    "identify",
    "inspect",
    "joints",
    "load",
    "online",
    "patch",
    "payload",
    "read",
    "repair",
    "replay",
    "robots",
    "sensitivity",
    "simulate",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'steelyard' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
