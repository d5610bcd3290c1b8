"""What was found, as files others read: URDF, MJCF, SDF, JSON and code; written, read back, compared.

`result` writes the result folder of an identification and `payload_asset` the asset of an object. `urdf`,
`mjcf` and `feedforward` are formats; `read_back` has another tool read what was written and compares.
`draws` are models for domain randomisation, `folder` makes a folder appear whole or not at all.
"""

from steelyard.export.draws import draw_models
from steelyard.export.folder import record_document, require_free, versions, write_folder
from steelyard.export.model_files import robot_with_parameters
from steelyard.export.object_mesh import ObjectMesh, object_mesh
from steelyard.export.payload_asset import write_object
from steelyard.export.read_back import load_judges
from steelyard.export.result import write_result

__all__ = [
    "ObjectMesh",
    "draw_models",
    "load_judges",
    "object_mesh",
    "record_document",
    "require_free",
    "robot_with_parameters",
    "versions",
    "write_folder",
    "write_object",
    "write_result",
]
