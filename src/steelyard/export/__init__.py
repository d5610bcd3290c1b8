"""What was found, as files others read: `estimated_model` is what an estimate says.

`payload_asset` writes the asset of an object with its `object_mesh`; `controllers` states a load as the arm's
controller takes it; `draws` are models for domain randomisation. `actuator_cards` states servos as training
frameworks take them.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.export.actuator_cards import CARDS, actuator_cards
    from steelyard.export.controllers import (
        COM_DECIMALS,
        FOLDER,
        MASS_DECIMALS,
        SHEET,
        ControllerLoad,
        LoadBounds,
        controller_files,
        controller_names,
        rounded_outward,
    )
    from steelyard.export.draws import draw_models
    from steelyard.export.estimated_model import estimate_record, estimated_model
    from steelyard.export.object_mesh import ObjectMesh, fit_findings, object_mesh, placement_findings
    from steelyard.export.payload_asset import OBJECT_KIND, write_object

__all__ = [
    "CARDS",
    "COM_DECIMALS",
    "FOLDER",
    "MASS_DECIMALS",
    "OBJECT_KIND",
    "SHEET",
    "ControllerLoad",
    "LoadBounds",
    "ObjectMesh",
    "actuator_cards",
    "controller_files",
    "controller_names",
    "draw_models",
    "estimate_record",
    "estimated_model",
    "fit_findings",
    "object_mesh",
    "placement_findings",
    "rounded_outward",
    "write_object",
]

open_door(__name__)
