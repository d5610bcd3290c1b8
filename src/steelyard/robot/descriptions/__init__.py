"""Descriptions of robots: URDF, xacro and MJCF read, repaired, patched and written.

`load` chooses the reader by the kind of file: `urdf`, `xacro` or `mjcf`. `xml` reads the text defensively,
`meshes` finds the files it names, `repair` (by `source_edits`) makes it loadable for simulators, `patch` (by
the same) gives it other numbers, and `rounding` finds numbers that were rounded when they were written.
"""
