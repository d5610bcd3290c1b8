"""What was found, as files others read: `result` writes the result folder of an identification.

`payload_asset` writes the asset of an object with its `object_mesh`; `controllers` states a load as the arm's
controller takes it; `draws` are models for domain randomisation.
"""

from steelyard.export.controllers import (
    COM_DECIMALS,
    CONVENTIONS,
    FOLDER,
    MASS_DECIMALS,
    SHEET,
    ControllerFiles,
    ControllerLoad,
    LoadBounds,
    controller_files,
    controller_names,
    rounded_outward,
)
from steelyard.export.draws import draw_models
from steelyard.export.object_mesh import ObjectMesh, object_mesh
from steelyard.export.payload_asset import write_object
from steelyard.export.result import base_of, parameter_classes, write_result

__all__ = [
    "COM_DECIMALS",
    "CONVENTIONS",
    "FOLDER",
    "MASS_DECIMALS",
    "SHEET",
    "ControllerFiles",
    "ControllerLoad",
    "LoadBounds",
    "ObjectMesh",
    "base_of",
    "controller_files",
    "controller_names",
    "draw_models",
    "object_mesh",
    "parameter_classes",
    "rounded_outward",
    "write_object",
    "write_result",
]
