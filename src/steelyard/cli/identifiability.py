"""`steelyard identifiability`: which numbers of a robot torques can ever tell, and which they cannot."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer
from typer.core import TyperCommand

from steelyard.cli.identifiability_answer import Answer, floating_answer, partial_answer, proven_answer
from steelyard.cli.identifiability_table import print_answer
from steelyard.cli.output import JsonOption, announce_compilation, print_json
from steelyard.cli.robot_argument import (
    ArgumentOption,
    GravityOption,
    LockOption,
    RobotArgument,
    given_robot,
)
from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError, UnknownNameError
from steelyard.identifiability import structural_identifiability
from steelyard.layout import Layout, layout_of
from steelyard.link_frames import modified_dh_frames, urdf_frames
from steelyard.reduction import Reduction, symmetric_links
from steelyard.robot import Robot, Rotor, rotor_name, spin_only, with_rotors

ROTORS = ("gyroscopic", "armature")
FRAMES = {"urdf": urdf_frames, "mdh": modified_dh_frames}
GENERIC_RATIO = 5.0
"""Gear ratio of a rotor whose own is not known: the count is the same for any but 0 and 1."""


class BareRotors(TyperCommand):
    """A command in which `--rotors` may stand without a word, and then means the gyroscopic ones."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write the word out that was left out."""
        written: list[str] = []
        for k, word in enumerate(args):
            written.append(word)
            if word == "--rotors" and (k + 1 == len(args) or args[k + 1] not in ROTORS):
                written.append(ROTORS[0])
        return list(super().parse_args(ctx, written))


COMMAND_CLASS = BareRotors


def identifiability(
    robot: RobotArgument,
    floating: Annotated[bool, typer.Option("--floating", help="Let the base move freely.")] = False,
    drive: Annotated[
        str, typer.Option(metavar="LIST", help="Drive terms at every joint, such as viscous,coulomb,offset.")
    ] = "",
    rotors: Annotated[
        str | None,
        typer.Option(
            metavar="[gyroscopic|armature]",
            help="Rotors: bodies of their own that spin (also without a word), or plain armatures Ia·a.",
            show_default=False,
        ),
    ] = None,
    measured: Annotated[
        str | None,
        typer.Option(
            metavar="JOINTS|base",
            help="Joints whose torque is measured, between commas; or base for the base wrench alone.",
            show_default="all joints",
        ),
    ] = None,
    static: Annotated[bool, typer.Option("--static", help="Measured at rest only.")] = False,
    reduce: Annotated[
        str | None,
        typer.Option(metavar="products", help="Take products of inertia as zero.", show_default=False),
    ] = None,
    frames: Annotated[
        str, typer.Option(metavar="urdf|mdh", help="Frames in which --reduce holds; mdh: modified DH.")
    ] = "mdh",
    exact: Annotated[bool, typer.Option("--exact", help="Rational arithmetic: a proof.")] = False,
    symbolic: Annotated[
        bool, typer.Option("--symbolic", help="Groupings as formulas in the link lengths.")
    ] = False,
    gravity: GravityOption = None,
    lock: LockOption = None,
    argument: ArgumentOption = None,
    json: JsonOption = False,
) -> None:
    """Say which parameters of a robot can be known from its torques: alone, in groups, or not at all.

    Angles that were rounded in the description are read as what they mean, and both counts are given.
    """
    announce_compilation("identifiability")
    if exact and symbolic:
        raise InputError("goes without --symbolic, which is exact already.", place="--exact")
    if reduce not in (None, "products"):
        raise UnknownNameError("reduction", str(reduce), ["products"], place="--reduce")
    if frames not in FRAMES:
        raise UnknownNameError("kind of frames", frames, FRAMES, place="--frames")
    if rotors not in (None, *ROTORS):
        raise UnknownNameError("kind of rotors", str(rotors), ROTORS, place="--rotors")
    answers = []
    for snap in (True, False):
        described = given_robot(robot, gravity, lock, arguments=argument, snap=snap, floating=floating)
        asked, layout = _question(described, drive, rotors)
        plain = structural_identifiability(described, layout_of(described), static=static)
        reduction = symmetric_links(layout, FRAMES[frames](asked)) if reduce else None
        if measured is not None:
            _refuse_together("--measured", exact=exact, symbolic=symbolic, reduce=reduce)
            chosen = _measured(measured)
            answers.append(partial_answer(asked, layout, plain, chosen, static, forgiving=not snap))
        elif not snap:
            answers.append(floating_answer(asked, layout, plain, static, reduction, forgiving=True))
        elif exact or symbolic:
            answers.append(proven_answer(asked, layout, plain, static, reduction, symbolic=symbolic))
        else:
            answers.append(floating_answer(asked, layout, plain, static, reduction))
    document = _document(asked, answers[0], answers[1], reduction)
    if json:
        print_json(document)
    else:
        print_answer(answers[0], document)


def _question(robot: Robot, drive: str, rotors: str | None) -> tuple[Robot, Layout]:
    """The robot and the parameters that are asked about."""
    terms = [word.strip() for word in drive.split(",") if word.strip()]
    names = [term.name for term in ALL_TERMS]
    for term in terms:
        if term not in names:
            raise UnknownNameError("drive term", term, names, place="--drive")
    if rotors == "armature" and "rotor" not in terms:
        terms.append("rotor")
    if rotors != "gyroscopic":
        return robot, layout_of(robot, terms)
    if "rotor" in terms:
        raise InputError(
            "a rotor is either a body of its own or an armature.",
            place="--drive",
            remedy="Leave out 'rotor', or write --rotors armature.",
        )
    driven = [joint.name for joint in robot.joints if joint.nv == 1]
    geared = with_rotors(robot, {name: Rotor(GENERIC_RATIO) for name in driven})
    layout = layout_of(geared, terms)
    friction = {f"{rotor_name(name)}.{term}": 0.0 for name in driven for term in terms}
    return geared, layout.fixing(spin_only(driven) | friction)


def _rotor_notes(robot: Robot) -> list[str]:
    if not any(link.endswith("/rotor") for link in robot.link_names):
        return []
    return [
        f"Gear ratios are taken as {GENERIC_RATIO:g} and rotors as parallel to their joints: the count is "
        "that of any ratio but 0 and 1, the coefficients of rotors are not."
    ]


def _measured(text: str) -> list[str] | str:
    return "base" if text == "base" else [word.strip() for word in text.split(",") if word.strip()]


def _refuse_together(option: str, **others: object) -> None:
    for name, value in others.items():
        if value:
            raise InputError(f"does not go with {option}.", place=f"--{name}")


def _document(robot: Robot, answer: Answer, unsnapped: Answer, reduction: Reduction | None) -> dict[str, Any]:
    return {
        "robot": robot.name,
        "nv": robot.nv,
        "parameters": len(answer.names),
        "identifiable": answer.count,
        "identifiable_unsnapped": unsnapped.count,
        "bodies": answer.bodies,
        "groupings": answer.groupings,
        "exact": answer.exact,
        "gap": {"kept": answer.kept, "dropped": answer.dropped},
        "doubtful": answer.doubtful,
        "frames": None if reduction is None else reduction.frames.name,
        "gravity": bool(np.any(robot.gravity)),
        "notes": [*answer.notes, *_rotor_notes(robot)],
    }
