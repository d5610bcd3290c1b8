"""What was found, as files others read: URDF, MJCF, SDF, JSON and code; written, read back, compared.

`result` writes the result folder of an identification and `payload_asset` the asset of an object. `urdf`,
`mjcf` and `feedforward` are formats; `read_back` has another tool read what was written and compares.
`draws` are models for domain randomisation, `folder` makes a folder appear whole or not at all.
"""

from steelyard.export.draws import draw_models
from steelyard.export.feedforward import feedforward_c, feedforward_python
from steelyard.export.folder import record_document, require_free, versions, write_folder
from steelyard.export.mjcf import mjcf_text
from steelyard.export.model_files import mjcf_model, robot_with_parameters, urdf_model
from steelyard.export.object_mesh import ObjectMesh, object_mesh
from steelyard.export.payload_asset import write_object
from steelyard.export.read_back import ReadBackError, check_mjcf, check_urdf
from steelyard.export.result import write_result
from steelyard.export.urdf import edited_urdf, new_urdf

__all__ = [
    "ObjectMesh",
    "ReadBackError",
    "check_mjcf",
    "check_urdf",
    "draw_models",
    "edited_urdf",
    "feedforward_c",
    "feedforward_python",
    "mjcf_model",
    "mjcf_text",
    "new_urdf",
    "object_mesh",
    "record_document",
    "require_free",
    "robot_with_parameters",
    "urdf_model",
    "versions",
    "write_folder",
    "write_object",
    "write_result",
]
