"""Other tools' numbers: each order round-trips, and the tools installed here read them as we mean them."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import (
    ORDERS,
    PARAMETER_NAMES,
    Body,
    DrakeInertia,
    MujocoInertial,
    MujocoPrincipal,
    from_order,
    random_body,
    rotational_inertia,
    spatial_inertia,
    to_order,
)

SHAPES = ("solid", "planar", "rod", "point", "massless")
FOREIGN = (MujocoInertial, MujocoPrincipal, DrakeInertia)


def words(values):
    return " ".join(repr(float(v)) for v in values)


def compiled(mass, pos, extra):
    xml = f"""<mujoco><worldbody><body><freejoint/>
      <inertial mass="{mass!r}" pos="{words(pos)}" {extra}/></body></worldbody></mujoco>"""
    return mujoco.MjModel.from_xml_string(xml)


def body_of(model):
    return MujocoPrincipal(
        model.body_mass[1], model.body_ipos[1], model.body_iquat[1], model.body_inertia[1]
    ).to_body()


@pytest.mark.parametrize("tool", ORDERS)
def test_every_order_is_a_permutation_and_round_trips(tool):
    assert sorted(ORDERS[tool]) == sorted(PARAMETER_NAMES)
    phi = np.random.default_rng(0).normal(size=(4, 3, 10))
    np.testing.assert_array_equal(from_order(to_order(phi, tool), tool), phi)
    for place, name in enumerate(ORDERS[tool]):
        np.testing.assert_array_equal(to_order(phi, tool)[..., place], phi[..., PARAMETER_NAMES.index(name)])


def test_pinocchio_order_is_the_identity():
    body = random_body(np.random.default_rng(1))
    theirs = pin.Inertia(body.mass, body.com, body.inertia).toDynamicParameters()
    np.testing.assert_allclose(from_order(theirs, "pinocchio"), body.parameters, atol=1e-15)


def test_spatial_v2_order_builds_the_same_spatial_inertia_with_the_angular_part_first():
    """As `inertiaVecToMat` of spatial_v2_extended assembles it from a(1) ... a(10)."""
    phi = random_body(np.random.default_rng(2)).parameters
    a = to_order(phi, "spatial_v2")
    rotational = np.array([[a[4], a[9], a[8]], [a[9], a[5], a[7]], [a[8], a[7], a[6]]])
    swapped = np.roll(spatial_inertia(phi), (3, 3), axis=(0, 1))
    np.testing.assert_array_equal(swapped[:3, :3], rotational)
    skew = np.array([[0, -a[3], a[2]], [a[3], 0, -a[1]], [-a[2], a[1], 0]])
    np.testing.assert_array_equal(swapped[:3, 3:], skew)


@pytest.mark.parametrize("tool", ["idyntree", "opensymoro"])
def test_tools_that_walk_the_tensor_row_by_row_build_the_same_tensor(tool):
    """Both fill the symmetric tensor with xx, xy, xz, yy, yz, zz (`asVector`; `DynParams.inertia`)."""
    phi = random_body(np.random.default_rng(3)).parameters
    values = to_order(phi, tool)
    six = values[4:] if tool == "idyntree" else values[:6]
    T = np.zeros((3, 3))
    T[np.triu_indices(3)] = six
    np.testing.assert_array_equal(T + np.triu(T, 1).T, rotational_inertia(phi))


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_foreign_form_round_trips(kind, shape):
    rng = np.random.default_rng(4)
    for _ in range(10):
        body = random_body(rng, shape=shape)
        back = kind.from_body(body).to_body()
        assert back.mass == body.mass
        np.testing.assert_allclose(back.com, body.com, atol=1e-16)
        np.testing.assert_allclose(back.inertia, body.inertia, atol=1e-15)


def test_mujoco_reads_our_full_inertia_as_the_same_body():
    rng = np.random.default_rng(5)
    for _ in range(5):
        body = random_body(rng)
        written = MujocoInertial.from_body(body)
        model = compiled(written.mass, written.pos, f'fullinertia="{words(written.fullinertia)}"')
        back = body_of(model)
        assert back.mass == pytest.approx(body.mass)
        np.testing.assert_allclose(back.com, body.com, atol=1e-12)
        np.testing.assert_allclose(back.inertia, body.inertia, atol=1e-9)


def test_mujoco_has_the_same_mass_matrix_from_our_principal_form():
    """Judged by dynamics, not by reading the fields back: a free body at rest in the identity pose."""
    body = random_body(np.random.default_rng(6))
    written = MujocoPrincipal.from_body(body)
    model = compiled(
        written.mass,
        written.ipos,
        f'quat="{words(written.iquat)}" diaginertia="{words(written.diaginertia)}"',
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    M = np.zeros((6, 6))
    mujoco.mj_fullM(model, data, M)
    np.testing.assert_allclose(M, spatial_inertia(body.parameters), atol=1e-12)


def test_principal_moments_are_written_as_mujoco_compiles_them():
    body = random_body(np.random.default_rng(7))
    full = MujocoInertial.from_body(body)
    model = compiled(full.mass, full.pos, f'fullinertia="{words(full.fullinertia)}"')
    written = MujocoPrincipal.from_body(body)
    np.testing.assert_allclose(model.body_inertia[1], written.diaginertia, rtol=1e-9)
    assert written.iquat[0] >= 0
    assert np.linalg.norm(written.iquat) == pytest.approx(1.0)


def test_drake_unit_inertia_is_about_the_origin_and_per_mass():
    """A point mass of 2 kg at (1, 2, 3) m: Drake's G is that of a unit mass there."""
    point = DrakeInertia.from_body(Body(2.0, [1.0, 2.0, 3.0], np.zeros((3, 3))))
    np.testing.assert_array_equal(point.unit_inertia, [13.0, 10.0, 5.0, -2.0, -3.0, -6.0])


def test_drake_cannot_hold_a_massless_rotor():
    with pytest.raises(InputError, match="massless body with an inertia"):
        DrakeInertia.from_body(Body(0.0, np.zeros(3), np.eye(3)))


def test_an_unknown_tool_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="Did you mean 'idyntree'"):
        to_order(np.zeros(10), "idyntre")


def test_a_zero_quaternion_is_refused():
    with pytest.raises(InputError, match="iquat: must not be all zeros"):
        MujocoPrincipal(1.0, np.zeros(3), np.zeros(4), np.ones(3))
