"""The files a corpus grows from: each is good, small, and touches most of what its reader knows."""

from __future__ import annotations

INERTIAL = (
    '<inertial><origin xyz="0.1 0 0.05" rpy="0 0 0.2"/><mass value="1.5"/>'
    '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="-0.002" izz="0.025"/></inertial>'
)

URDF = f"""<?xml version="1.0" encoding="utf-8"?>
<!-- three joints, one of them a follower -->
<robot name="gripper">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"><collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision></link>
  <link name="arm">
    {INERTIAL}
    <collision><origin xyz="0 0 0.1"/>
      <geometry><mesh filename="arm.obj" scale="0.1 0.1 0.1"/></geometry></collision>
    <visual><geometry><cylinder radius="0.05" length="0.4"/></geometry><material name="grey"/></visual>
  </link>
  <link name="left">{INERTIAL}<collision><geometry><sphere radius="0.2"/></geometry></collision></link>
  <link name="right">{INERTIAL}</link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/>
    <origin xyz="0 0 0.4" rpy="1.5707963267948966 0 0.3"/><axis xyz="0 0 1"/>
    <limit lower="-2.5" upper="2.5" velocity="3" effort="40"/><dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="finger" type="prismatic">
    <parent link="arm"/><child link="left"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" velocity="0.2" effort="20"/>
  </joint>
  <joint name="follower" type="prismatic">
    <parent link="arm"/><child link="right"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.04" velocity="0.2" effort="20"/>
    <mimic joint="finger" multiplier="1" offset="0"/>
  </joint>
  <joint name="mount" type="fixed"><parent link="left"/><child link="tip"/><origin xyz="0 0 0.1"/></joint>
</robot>
"""

MJCF = """<mujoco model="arm">
  <compiler angle="degree" meshdir="." autolimits="true" eulerseq="xyz"/>
  <option gravity="0 0 -9.81"/>
  <include file="part.xml"/>
  <default>
    <joint damping="0.5" armature="0.01"/>
    <default class="small"><joint frictionloss="0.1"/><geom density="500"/></default>
  </default>
  <asset><mesh name="arm" file="arm.obj" scale="0.1 0.1 0.1"/></asset>
  <worldbody>
    <body name="upper" pos="0 0 0.4" quat="0.7071068 0.7071068 0 0">
      <joint name="shoulder" type="hinge" axis="0 0 1" range="-120 120"/>
      <inertial pos="0.1 0 0" mass="2" diaginertia="0.02 0.03 0.04"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/>
      <body name="lower" pos="0.3 0 0" childclass="small" euler="0 90 0">
        <joint name="elbow" type="slide" axis="1 0 0" range="0 0.2"/>
        <geom name="shell" type="mesh" mesh="arm"/>
        <body name="wrist" pos="0.2 0 0">
          <joint name="roll" type="hinge" axis="0 1 0"/><geom type="sphere" size="0.05"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="shoulder" gear="10" ctrlrange="-5 5"/></actuator>
</mujoco>
"""
MJCF_PART = '<mujoco><option timestep="0.002"/></mujoco>\n'

XACRO = """<?xml version="1.0"?>
<robot name="chain" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="part.xacro"/>
  <xacro:arg name="prefix" default="a_"/>
  <xacro:property name="length" value="0.3"/>
  <xacro:property name="mass" value="${2 * length + 0.4}"/>
  <xacro:macro name="segment" params="name parent mass:=1.0 *origin">
    <link name="$(arg prefix)${name}">
      <inertial><mass value="${mass}"/>
        <inertia ixx="${mass * length**2 / 12}" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="${0.01 + 0.005}"/>
      </inertial>
    </link>
    <joint name="${name}_joint" type="revolute">
      <parent link="${parent}"/><child link="$(arg prefix)${name}"/>
      <xacro:insert_block name="origin"/><axis xyz="0 ${sin(pi / 2)} 0"/>
      <limit lower="${-pi}" upper="${pi}" velocity="${speed}" effort="30"/>
    </joint>
  </xacro:macro>
  <link name="base"/>
  <xacro:segment name="one" parent="base" mass="${mass}"><origin xyz="0 0 ${length}"/></xacro:segment>
  <xacro:if value="${length > 0.2}">
    <xacro:segment name="two" parent="a_one"><origin xyz="0 0 ${length}" rpy="${pi/2} 0 0"/></xacro:segment>
  </xacro:if>
  <xacro:unless value="true"><link name="never"/></xacro:unless>
</robot>
"""
XACRO_PART = (
    '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="speed" value="2.5"/></robot>\n'
)

CSV = "time,q_1,q_2,v_1,v_2,tau_1,tau_2,note\n" + "".join(
    f"{k / 100:.2f},{0.1 * k:.3f},{-0.05 * k:.3f},{10.0:.1f},{-5.0:.1f},{k % 7 - 3},{k % 5 - 2.5},ok\n"
    for k in range(40)
)

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

SEEDS = {"urdf": URDF, "mjcf": MJCF, "xacro": XACRO, "csv": CSV}
NAMES = {"urdf": "robot.urdf", "mjcf": "robot.xml", "xacro": "robot.urdf.xacro", "csv": "log.csv"}
COMPANIONS = {
    "urdf": {"arm.obj": OBJ},
    "mjcf": {"arm.obj": OBJ, "part.xml": MJCF_PART},
    "xacro": {"part.xacro": XACRO_PART},
    "csv": {},
}
