"""How to load the asset beside the page: a few lines for each simulator."""

from __future__ import annotations

from html import escape

from steelyard.report.payload_content import PayloadContent
from steelyard.report.safe_text import marked_up

MUJOCO = """\
import mujoco

scene = mujoco.MjSpec()  # or mujoco.MjSpec.from_file("scene.xml")
place = scene.worldbody.add_frame(pos=[0, 0, 1])
scene.attach(mujoco.MjSpec.from_file("object.xml"), frame=place, prefix="held_")
model = scene.compile()
"""
PINOCCHIO = """\
import pinocchio

model = pinocchio.buildModelFromUrdf("object.urdf")
body = model.inertias[1]  # in the payload's frame
# on an arm: arm.inertias[joint] += placement.act(body)
"""
GAZEBO = """\
<!-- in a world; or, with ROS: ros2 run ros_gz_sim create -file object.sdf -z 1 -->
<include>
  <uri>file:///path/to/object.sdf</uri>
  <pose>0 0 1 0 0 0</pose>
</include>
"""
SNIPPETS = {
    "object.xml": ("MuJoCo", MUJOCO),
    "object.urdf": ("Pinocchio, and whatever else reads URDF", PINOCCHIO),
    "object.sdf": ("Gazebo", GAZEBO),
}
"""Title and text by the file that is loaded."""


def loading_section(content: PayloadContent) -> str:
    """The snippets of the models that are there, and the other files.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no model is written.
    """
    parts = [
        f'<h3>{title}</h3>\n<div class="scroll" tabindex="0" role="region" aria-label="{title}">'
        f"<pre><code>{escape(text)}</code></pre></div>\n"
        for file, (title, text) in SNIPPETS.items()
        if file in content.files
    ]
    if not parts:
        return ""
    listed = ", ".join(f"<code>{marked_up(file)}</code>" for file in content.files)
    return (
        "<p>The models stand beside this page, in the payload’s frame. A mesh is found by its name, so keep "
        f"the files together: {listed}.</p>\n{''.join(parts)}"
    )
