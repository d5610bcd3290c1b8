"""The meshes an MJCF file names as assets, and what they weigh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

import numpy as np

from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import Body, Mesh, mesh_properties
from steelyard.pose import Pose
from steelyard.robot.geometry import MeshFile
from steelyard.robot.mesh_folder import MeshFolder
from steelyard.robot.mjcf.defaults import Defaults
from steelyard.robot.mjcf.settings import Compiler
from steelyard.robot.mjcf.solid import Weight
from steelyard.robot.xml import Element

_ONES = (1.0, 1.0, 1.0)
_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class MeshAsset:
    """One `<mesh>`.

    Attributes:
        name: what geoms call it.
        shape: its file and scale.
        pose: X_AF, the file's frame in the asset's; exact where the scale is the same along all axes.
        mesh: its triangles in the asset's frame; `None` where they cannot be had.
        inertia: what counts as its inertia, in MuJoCo's words.
    """

    name: str
    shape: MeshFile
    pose: Pose
    mesh: Mesh | None
    inertia: str

    def body(self, weight: Weight) -> Body | str:
        """What it weighs, in the asset's frame, or why that cannot be told.

        The volume counts that the mesh encloses. MuJoCo's `legacy` rule agrees unless the mesh folds back as
        seen from its centroid; there it counts some volume twice, see `surplus`.

        Args:
            weight: mass or density.

        Returns:
            The body, or the reason why there is none.
        """
        if self.inertia not in ("legacy", "exact"):
            return f"mesh '{self.name}' weighs by its {self.inertia} form, which is not modelled"
        if self.mesh is None:
            return f"mesh '{self.name}' cannot be read"
        try:
            # Absurd coordinates may overflow in the integrals; the result is then refused as not finite.
            with np.errstate(over="ignore", invalid="ignore"):
                return mesh_properties(self.mesh, mass=weight.mass, density=weight.density).body
        except InputError as error:
            return f"mesh '{self.name}' {error.message.removesuffix('.')}"

    @property
    def surplus(self) -> float:
        r"""Volume that MuJoCo's `legacy` rule counts beyond the enclosed one, relative, dimensionless.

        The faces and a point o span tetrahedra of signed volume V; the rule takes $\sum |V|$ for $|\sum V|$.
        It finds a centre of mass that way with the centroid of the surface as o, and the volume with that.
        """
        if self.mesh is None or self.inertia != "legacy":
            return 0.0
        corners = self.mesh.vertices[self.mesh.faces]
        with np.errstate(all="ignore"):
            sides = corners[:, 1:] - corners[:, :1]
            areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
            o = areas @ corners.mean(axis=1) / areas.sum()
            V = np.abs(np.linalg.det(corners - o))
            o = V @ (corners.sum(axis=1) + o) / (4.0 * V.sum())
            V = np.linalg.det(corners - o)
            return float(np.abs(V).sum() / abs(V.sum()) - 1.0)


class MeshAssets:
    """The `<mesh>` assets of one file by name."""

    def __init__(self, root: Element, compiler: Compiler, defaults: Defaults, folder: MeshFolder) -> None:
        """Note the assets and look for their files, so that those missing are reported at their line.

        Args:
            root: the `<mujoco>` element, includes expanded.
            compiler: says where mesh names start.
            defaults: the file's default classes.
            folder: where files are looked for.
        """
        self._folder = folder
        self._elements: dict[str, tuple[Element, str]] = {}
        self._read: dict[str, MeshAsset] = {}
        for section in root.all("asset"):
            for stated in section.all("mesh"):
                element = defaults.resolve(stated)
                file = _file_name(element.attributes.get("file", "").strip(), compiler)
                name = element.attributes.get("name", "").strip() or PurePosixPath(file).stem
                self._elements[name] = (element, file)
                if file:
                    folder.find(file, element.place)

    def asset(self, name: str, geom: Element) -> MeshAsset:
        r"""A mesh by name.

        With `refpos` p, `refquat` R and the scale S, a vertex v of the file is at $S\,R^T(v - p)$.

        Args:
            name: of the asset.
            geom: the element that names it.

        Returns:
            The asset.

        Raises:
            UnknownNameError: no such mesh; lists those that exist.
        """
        if name not in self._elements:
            raise UnknownNameError("mesh", name, self._elements, place=geom.place)
        if name not in self._read:
            self._read[name] = self._asset(name, *self._elements[name])
        return self._read[name]

    def _asset(self, name: str, element: Element, file: str) -> MeshAsset:
        scale = element.vector("scale", _ONES)
        w, x, y, z = element.numbers("refquat", 4) if "refquat" in element.attributes else (1.0, 0, 0, 0)
        R = Pose.from_quaternion((x, y, z, w)).rotation
        p = np.array(element.vector("refpos", _ZERO))
        S = np.array(scale)
        mesh = self._folder.read(MeshFile(file), element.place) if file else None
        if mesh is not None:
            mesh = Mesh((mesh.vertices - p) @ R * S, mesh.faces)
        inertia = element.attributes.get("inertia", "legacy")
        return MeshAsset(name, MeshFile(file or name, scale), Pose(R.T, -S * (R.T @ p)), mesh, inertia)


def _file_name(stated: str, compiler: Compiler) -> str:
    if not stated:
        return ""
    if compiler.strip_path:
        stated = PureWindowsPath(stated).name
    return f"{compiler.mesh_folder.rstrip('/')}/{stated}" if compiler.mesh_folder else stated
