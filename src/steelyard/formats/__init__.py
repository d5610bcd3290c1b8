"""A robot with numbers as files that others read: URDF, MJCF and code; written, read back, compared.

`model_files` makes models that were read back; `urdf`, `mjcf` and `feedforward` are formats, made with
`xml_text`, and `usd` changes a stage; `read_back` has another tool read what was written and compares.
`folder` makes a folder appear whole or not at all, with the record of how it came about.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.formats.feedforward import feedforward_c, feedforward_python
    from steelyard.formats.folder import (
        KIND,
        RECORD_SCHEMA,
        RecordedStep,
        Written,
        record_document,
        require_free,
        versions,
        write_folder,
    )
    from steelyard.formats.mjcf import mjcf_text
    from steelyard.formats.model_files import mjcf_model, robot_with_parameters, urdf_model
    from steelyard.formats.read_back import (
        ReadBack,
        ReadBackError,
        check_patched_mjcf,
        check_urdf,
        load_judges,
    )
    from steelyard.formats.usd import USD_ENDINGS, patched_usd
    from steelyard.formats.xml_text import ModelText

__all__ = [
    "KIND",
    "RECORD_SCHEMA",
    "USD_ENDINGS",
    "ModelText",
    "ReadBack",
    "ReadBackError",
    "RecordedStep",
    "Written",
    "check_patched_mjcf",
    "check_urdf",
    "feedforward_c",
    "feedforward_python",
    "load_judges",
    "mjcf_model",
    "mjcf_text",
    "patched_usd",
    "record_document",
    "require_free",
    "robot_with_parameters",
    "urdf_model",
    "versions",
    "write_folder",
]

open_door(__name__)
