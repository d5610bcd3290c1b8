"""What was found, as files others read: `result` writes the result folder of an identification.

`payload_asset` writes the asset of an object with its `object_mesh`; `draws` are models for domain
randomisation.
"""

from steelyard.export.draws import draw_models
from steelyard.export.object_mesh import ObjectMesh, object_mesh
from steelyard.export.payload_asset import write_object
from steelyard.export.result import base_of, parameter_classes, write_result

__all__ = [
    "ObjectMesh",
    "base_of",
    "draw_models",
    "object_mesh",
    "parameter_classes",
    "write_object",
    "write_result",
]
