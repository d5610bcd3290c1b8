"""What a person turns round and looks at: a robot, what it weighs, and how it moves.

`view_scene` says what is shown, without any library that draws: `bodies` (links with surfaces and masses),
`surfaces` (shapes as triangles), `playback` (a motion with torques and shares of the limits). `viser_window`
draws it in a browser and `rerun_file` writes it for Rerun; each is the one door to its library.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.viewer.bodies import ViewSurface, held_object, view_bodies
    from steelyard.viewer.playback import playback_of
    from steelyard.viewer.rerun_file import write_rerun
    from steelyard.viewer.view_scene import ViewScene
    from steelyard.viewer.viser_window import ViserWindow, viser_recording

__all__ = [
    "ViewScene",
    "ViewSurface",
    "ViserWindow",
    "held_object",
    "playback_of",
    "view_bodies",
    "viser_recording",
    "write_rerun",
]

open_door(__name__)
