"""What a campaign is about, made again in every worker from one document: robot, model, loop, audit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from steelyard.campaign.identification.settings import Settings
from steelyard.campaign.robot_document import robot_of
from steelyard.consistency import AllPoseProof, PoseDomain
from steelyard.control import LoopSettings, loop_of
from steelyard.errors import InputError, UnknownNameError
from steelyard.estimation import PossibleLinks, possible_links
from steelyard.identifiability import MinimalModel, minimal_model
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, clearance_of
from steelyard.link_frames import modified_dh_frames, urdf_frames
from steelyard.reduction import SYMMETRIC, LinkRule, Reduction, fixed
from steelyard.robot import Robot
from steelyard.rollout import ClosedLoop

_LUMPED = fixed(dict.fromkeys(PARAMETER_NAMES, 0.0))


@dataclass(frozen=True, eq=False)
class Subject:
    """A robot with the model, the controller and the questions of a campaign.

    Attributes:
        settings: what was asked.
        robot: as described.
    """

    settings: Settings
    robot: Robot

    @cached_property
    def model(self) -> MinimalModel:
        """The model whose parameters are sought."""
        layout = layout_of(self.robot, list(self.settings.drive))
        if self.settings.reduce == "none" and not self.settings.lumped:
            return minimal_model(self.robot, layout)
        for link in self.settings.lumped:
            if link not in layout.links:
                raise UnknownNameError("moving link", link, layout.links, place="model.lumped")
        frames = (modified_dh_frames if self.settings.frames == "mdh" else urdf_frames)(self.robot)
        usual = SYMMETRIC if self.settings.reduce == "products" else LinkRule()
        rules = dict.fromkeys(layout.links, usual) | dict.fromkeys(self.settings.lumped, _LUMPED)
        return minimal_model(self.robot, layout, Reduction(layout, frames, rules))

    @cached_property
    def control(self) -> LoopSettings:
        """The law that follows the motions, and its delay."""
        return loop_of(self.settings.controller, self.robot)

    @cached_property
    def loop(self) -> ClosedLoop:
        """The closed loop as the refinement simulates it."""
        law, cycle = self.control.controller, self.control.cycle
        if cycle is None:
            raise InputError("is missing.", place="controller.cycle", remedy="State the control cycle, s.")
        settings = self.settings
        return ClosedLoop(law, cycle, self.control.delay, settings.scheme, settings.steps_per_cycle)

    @cached_property
    def limits(self) -> MotionLimits:
        """What motions must respect."""
        layout = layout_of(self.robot)
        clearance = clearance_of(self.robot)
        return MotionLimits(self.robot, clearance, layout, layout.complete_nominal(), 0.0)

    @cached_property
    def links(self) -> PossibleLinks:
        """Base parameters of links that can exist, rotors of at least the stated inertia."""
        return possible_links(self.model, rotor_floor=self.settings.least_rotor)

    @cached_property
    def proof(self) -> AllPoseProof:
        """What certificates of all models of the campaign share."""
        return AllPoseProof.prepare(self.model)

    @cached_property
    def domain(self) -> PoseDomain:
        """The poses that are audited beside all poses."""
        if not self.settings.domain:
            return PoseDomain.every(self.robot)
        turns = np.array([joint.kind.rotates for joint in self.robot.joints])
        lower, upper = np.where(turns, np.radians(self.settings.domain), self.settings.domain)
        return PoseDomain(lower, upper)


def subject_document(settings: Settings, robot: Mapping[str, Any]) -> dict[str, Any]:
    """What workers need: what was asked, and the robot's whole description, so that they need no file.

    Args:
        settings: what was asked.
        robot: document of the robot.

    Returns:
        A document that `subject_of` reads.
    """
    return {"settings": asdict(settings), "robot": robot}


def subject_of(document: Mapping[str, Any]) -> Subject:
    """The subject of a document; a worker makes each only once.

    Args:
        document: of `subject_document`.

    Returns:
        The subject.
    """
    return _subject(json.dumps(document, sort_keys=True))


@lru_cache(maxsize=4)
def _subject(text: str) -> Subject:
    document = json.loads(text)
    given = {k: _frozen(v) for k, v in document["settings"].items()}
    return Subject(Settings(**given), robot_of(document["robot"]))


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
