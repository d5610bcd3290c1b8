"""Steelyard weighs a robot with its own arm: identification that says which numbers can be known.

    import steelyard as sy

    fit = sy.identify("ur10e.urdf", ["a.csv", "b.csv"], holdout="c.csv")
    print(fit)
    fit.model.links["forearm_link"].mass

Every command is a function of the same name and options: it takes objects or paths, prints nothing, and
returns a result whose `document` is what the command prints with `--json`. What a name needs is loaded when
it is first used.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

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
    from steelyard.workflows.servo_identification import ServoIdentification as ServoIdentification
    from steelyard.workflows.simulate import simulate as simulate
    from steelyard.workflows.validate import validate as validate
    from steelyard.workflows.view import view as view
    from steelyard.workflows.weighed_payload import Payload as Payload

__all__ = [
    "Finding",
    "Identification",
    "Model",
    "Motion",
    "Payload",
    "Recording",
    "Robot",
    "RobotDriver",
    "ServoIdentification",
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
    "view",
]

open_door(__name__)
