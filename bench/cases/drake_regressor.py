"""The torque regressor by Drake's automatic differentiation with respect to inertial parameters."""

from __future__ import annotations

import numpy as np
from pydrake.autodiffutils import AutoDiffXd, ExtractGradient, InitializeAutoDiff
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    MultibodyForces_,
    RevoluteJoint,
    SpatialInertia,
    SpatialInertia_,
    UnitInertia_,
)

from steelyard.robot import Robot


def drake_plant(robot: Robot) -> MultibodyPlant:
    """A Drake plant with the joints of an arm of revolute joints and unit bodies."""
    plant = MultibodyPlant(0.0)
    bodies = [plant.world_body()]
    for joint, link in zip(robot.joints, robot.links, strict=True):
        body = plant.AddRigidBody(link.name, SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        pose = RigidTransform(RotationMatrix(joint.placement.rotation), joint.placement.translation)
        parent = bodies[joint.parent + 1].body_frame()
        at = plant.AddFrame(FixedOffsetFrame(f"{joint.name}_frame", parent, pose))
        plant.AddJoint(RevoluteJoint(joint.name, at, body.body_frame(), joint.axis))
        bodies.append(body)
    plant.mutable_gravity_field().set_gravity_vector(robot.gravity)
    plant.Finalize()
    return plant


def torque_by_parameters(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Derivative of tau in phi, shape (N, nv, 10 nb): torques are linear in phi, so this is Y."""
    plant = drake_plant(robot).ToAutoDiffXd()
    context = plant.CreateDefaultContext()
    phi = InitializeAutoDiff(np.concatenate([link.body.parameters for link in robot.links]))[:, 0]
    for i, link in enumerate(robot.links):
        m, hx, hy, hz, xx, xy, yy, xz, yz, zz = phi[10 * i : 10 * i + 10]
        unit = UnitInertia_[AutoDiffXd](xx / m, yy / m, zz / m, xy / m, xz / m, yz / m)
        inertia = SpatialInertia_[AutoDiffXd](m, np.array([hx / m, hy / m, hz / m]), unit, True)
        plant.GetBodyByName(link.name).SetSpatialInertiaInBodyFrame(context, inertia)
    Y = np.empty((len(q), robot.nv, phi.size))
    for n in range(len(q)):
        plant.SetPositions(context, q[n].astype(AutoDiffXd))
        plant.SetVelocities(context, v[n].astype(AutoDiffXd))
        forces = MultibodyForces_[AutoDiffXd](plant)
        plant.CalcForceElementsContribution(context, forces)
        tau = plant.CalcInverseDynamics(context, a[n].astype(AutoDiffXd), forces)
        Y[n] = ExtractGradient(tau)
    return Y
