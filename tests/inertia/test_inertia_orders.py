"""Other tools' numbers: each order round-trips, and the tools installed here read them as we mean them."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import PARAMETER_NAMES, MujocoPrincipal, from_order
from steelyard.inertia.body import random_body
from steelyard.inertia.orders import ORDERS

SHAPES = ("solid", "planar", "rod", "point", "massless")


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
def test_every_order_is_a_permutation_and_is_read_by_name(tool):
    assert sorted(ORDERS[tool]) == sorted(PARAMETER_NAMES)
    phi = np.random.default_rng(0).normal(size=(4, 3, 10))
    theirs = np.stack([phi[..., PARAMETER_NAMES.index(name)] for name in ORDERS[tool]], axis=-1)
    np.testing.assert_array_equal(from_order(theirs, tool), phi)


def test_pinocchio_order_is_the_identity():
    body = random_body(np.random.default_rng(1))
    theirs = pin.Inertia(body.mass, body.com, body.inertia).toDynamicParameters()
    np.testing.assert_allclose(from_order(theirs, "pinocchio"), body.parameters, atol=1e-15)


@pytest.mark.parametrize("tool", ["idyntree", "opensymoro"])
def test_tools_that_walk_the_tensor_row_by_row_build_the_same_tensor(tool):
    """Both fill the symmetric tensor with xx, xy, xz, yy, yz, zz (`asVector`; `DynParams.inertia`)."""
    body = random_body(np.random.default_rng(3))
    I_o = pin.Inertia(body.mass, body.com, body.inertia).matrix()[3:, 3:]
    six, first = I_o[np.triu_indices(3)], body.parameters[:4]
    values = [*first, *six] if tool == "idyntree" else [*six, *first[1:], first[0]]
    np.testing.assert_allclose(from_order(values, tool), body.parameters, atol=1e-14)


def test_spatial_v2_writes_the_moments_before_the_products():
    """As `inertiaVecToMat` of spatial_v2_extended assembles them from a(5) ... a(10)."""
    body = random_body(np.random.default_rng(2))
    T = pin.Inertia(body.mass, body.com, body.inertia).matrix()[3:, 3:]
    a = [*body.parameters[:4], T[0, 0], T[1, 1], T[2, 2], T[1, 2], T[0, 2], T[0, 1]]
    np.testing.assert_allclose(from_order(a, "spatial_v2"), body.parameters, atol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_principal_form_round_trips(shape):
    rng = np.random.default_rng(4)
    for _ in range(10):
        body = random_body(rng, shape=shape)
        back = MujocoPrincipal.from_body(body).to_body()
        assert back.mass == body.mass
        np.testing.assert_allclose(back.com, body.com, atol=1e-16)
        np.testing.assert_allclose(back.inertia, body.inertia, atol=1e-15)


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
    theirs = pin.Inertia(body.mass, body.com, body.inertia).matrix()
    np.testing.assert_allclose(M, theirs, atol=1e-12)


def test_principal_moments_are_written_as_mujoco_compiles_them():
    body = random_body(np.random.default_rng(7))
    six = body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    model = compiled(body.mass, body.com, f'fullinertia="{words(six)}"')
    np.testing.assert_allclose(body_of(model).inertia, body.inertia, atol=1e-9)
    written = MujocoPrincipal.from_body(body)
    np.testing.assert_allclose(model.body_inertia[1], written.diaginertia, rtol=1e-9)
    assert written.iquat[0] >= 0
    assert np.linalg.norm(written.iquat) == pytest.approx(1.0)


def test_an_unknown_tool_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="Did you mean 'idyntree'"):
        from_order(np.zeros(10), "idyntre")


def test_a_zero_quaternion_is_refused():
    with pytest.raises(InputError, match="iquat: must not be all zeros"):
        MujocoPrincipal(1.0, np.zeros(3), np.zeros(4), np.ones(3))
