"""What a law may read of the physics: views of `mjModel` and `mjData`, gathered in one tuple."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefoot.native import layout
from surefoot.native.kernels import array_at, array_kernel, block, kernel, records

ANATOMY = np.dtype([(n, "f8") for n in (
    "actuators", "feet", "roles", "side_roles", "hip_hinges", "knee", "ankle", "shoulder", "planar", "channels",
    "pelvis", "torso", "standing_height", "sole_depth", "mass", "up_x", "up_y", "up_z")])  # fmt: skip
"""Counts; where a side's knee, ankle and shoulder stand among its roles (−1: it has none); bodies; [m]; [kg];
where up is in the frame of the pelvis when it stands."""
GROUND, OTHER = -1.0, -2.0  # what a body is to the feet's owner; 0, 1, … are its feet
ELSEWHERE = -3.0  # a body that is not the character's: an obstacle, a ball

CONTACT = layout.contact_dtype()


class World(NamedTuple):
    """Current step's physics, in SI units and world axes unless said otherwise."""

    time: float
    dt: float
    qpos: Any  # (nq,)
    qvel: Any  # (nv,)
    xpos: Any  # (nbody, 3) body origins
    xmat: Any  # (nbody, 9) body axes
    xquat: Any  # (nbody, 4) the same as quaternions, w first
    xaxis: Any  # (njnt, 3) joint axes
    xipos: Any  # (nbody, 3) centres of mass
    cvel: Any  # (nbody, 6) angular, then linear velocity of the body's frame at its tree's COM
    subtree_com: Any  # (nbody, 3)
    rootid: Any  # (nbody,) top body of each body's tree
    mass: Any  # (nbody,) [kg]
    ctrl: Any  # (nu,) written by the law
    xfrc: Any  # (nbody, 6) force and torque at each body's COM, written by pushes
    actuator_force: Any  # (nu,) of the last solved step
    contact: Any  # (ncon,) mjContact
    efc_force: Any  # (nefc,)
    geom_body: Any  # (ngeom,)
    pyramidal: bool
    anatomy: Any  # (1,) ANATOMY
    part: Any  # (nbody,) foot index, GROUND, OTHER or ELSEWHERE
    leg: Any  # (2, 3) bodies of thigh, shin and foot of the left and the right leg
    dof: Any  # (actuators,) velocity address of each actuated joint
    qadr: Any  # (actuators,) position address of each actuated joint
    joint: Any  # (actuators,) number of each actuated joint
    damping: Any  # (actuators,) [N·m·s/rad] what the actuator damps by itself, implicitly
    role: Any  # (2, roles) actuator of each role, by which leg swings: 0 left, 1 right
    plane: Any  # (roles,) 0 sagittal, 1 coronal, 2 transverse
    outward: Any  # (2, roles) +1 where a positive roll or yaw of the role turns to the left, −1 where to the right
    channel: Any  # (roles,) what learns the role's torque, −1 if nothing does
    xanchor: Any  # (njnt, 3) where the joints are
    numeric: Any  # (nnumericdata,) the model's own numbers, among them the body's links


_M = {f: layout.offset("mjModel", f) for f in (
    "nq", "nv", "nu", "nbody", "njnt", "ngeom", "nuserdata", "nnumericdata", "opt.timestep", "opt.cone",
    "numeric_data", "body_rootid", "body_mass", "geom_bodyid")}  # fmt: skip
_D = {f: layout.offset("mjData", f) for f in (
    "ncon", "nefc", "time", "qpos", "qvel", "xpos", "xmat", "xquat", "xaxis", "xanchor", "xipos", "cvel", "subtree_com",
    "ctrl", "xfrc_applied", "actuator_force", "contact", "efc_force", "userdata")}  # fmt: skip

_NQ, _NV, _NU, _NBODY, _NJNT, _NGEOM = _M["nq"], _M["nv"], _M["nu"], _M["nbody"], _M["njnt"], _M["ngeom"]
_NUSERDATA, _NNUMERIC = _M["nuserdata"], _M["nnumericdata"]
_TIMESTEP, _CONE, _NUMERIC = _M["opt.timestep"], _M["opt.cone"], _M["numeric_data"]
_ROOTID, _MASS, _GEOM_BODY = _M["body_rootid"], _M["body_mass"], _M["geom_bodyid"]
_NCON, _NEFC, _TIME, _QPOS, _QVEL = _D["ncon"], _D["nefc"], _D["time"], _D["qpos"], _D["qvel"]
_XQUAT, _XAXIS, _XANCHOR = _D["xquat"], _D["xaxis"], _D["xanchor"]
_XPOS, _XMAT, _XIPOS, _CVEL, _COM = _D["xpos"], _D["xmat"], _D["xipos"], _D["cvel"], _D["subtree_com"]
_CTRL, _XFRC, _FORCE = _D["ctrl"], _D["xfrc_applied"], _D["actuator_force"]
_HEAD = ANATOMY.itemsize // 8
_CONTACT, _EFC_FORCE, _USERDATA = _D["contact"], _D["efc_force"], _D["userdata"]


@kernel
def _long(address: int) -> int:
    return array_at(address, (1,), np.int64)[0]  # type: ignore[no-any-return]


@kernel
def _int(address: int) -> int:
    return array_at(address, (1,), np.int32)[0]  # type: ignore[no-any-return]


@kernel
def _number(address: int) -> float:
    return array_at(address, (1,), np.float64)[0]  # type: ignore[no-any-return]


@array_kernel
def userdata_of(model: int, data: int) -> Any:
    """The whole `userdata` of a simulation, from the addresses of its `mjModel` and `mjData`."""
    return array_at(_long(data + _USERDATA), (_long(model + _NUSERDATA),), np.float64)


@kernel
def world_of(model: int, data: int, anatomy: int) -> World:
    """The views of one simulation; `anatomy` is where its table begins in the numeric data."""
    nbody, nu = _long(model + _NBODY), _long(model + _NU)
    numeric = array_at(_long(model + _NUMERIC), (_long(model + _NNUMERIC),), np.float64)
    table = records(numeric, anatomy, 1, ANATOMY)
    roles, actuators = int(table[0].roles), int(table[0].actuators)
    at = anatomy + _HEAD
    part = numeric[at : at + nbody]
    at += nbody
    leg = block(numeric, at, (2, 3))
    at += 6
    dof = numeric[at : at + actuators]
    at += actuators
    qadr = numeric[at : at + actuators]
    at += actuators
    joint = numeric[at : at + actuators]
    at += actuators
    damping = numeric[at : at + actuators]
    at += actuators
    role = block(numeric, at, (2, roles))
    at += 2 * roles
    plane = numeric[at : at + roles]
    at += roles
    outward = block(numeric, at, (2, roles))
    at += 2 * roles
    channel = numeric[at : at + roles]
    return World(
        _number(data + _TIME),
        _number(model + _TIMESTEP),
        array_at(_long(data + _QPOS), (_long(model + _NQ),), np.float64),
        array_at(_long(data + _QVEL), (_long(model + _NV),), np.float64),
        array_at(_long(data + _XPOS), (nbody, 3), np.float64),
        array_at(_long(data + _XMAT), (nbody, 9), np.float64),
        array_at(_long(data + _XQUAT), (nbody, 4), np.float64),
        array_at(_long(data + _XAXIS), (_long(model + _NJNT), 3), np.float64),
        array_at(_long(data + _XIPOS), (nbody, 3), np.float64),
        array_at(_long(data + _CVEL), (nbody, 6), np.float64),
        array_at(_long(data + _COM), (nbody, 3), np.float64),
        array_at(_long(model + _ROOTID), (nbody,), np.int32),
        array_at(_long(model + _MASS), (nbody,), np.float64),
        array_at(_long(data + _CTRL), (nu,), np.float64),
        array_at(_long(data + _XFRC), (nbody, 6), np.float64),
        array_at(_long(data + _FORCE), (nu,), np.float64),
        array_at(_long(data + _CONTACT), (_int(data + _NCON),), CONTACT),
        array_at(_long(data + _EFC_FORCE), (_int(data + _NEFC),), np.float64),
        array_at(_long(model + _GEOM_BODY), (_long(model + _NGEOM),), np.int32),
        _int(model + _CONE) == 0,
        table,
        part,
        leg,
        dof,
        qadr,
        joint,
        damping,
        role,
        plane,
        outward,
        channel,
        array_at(_long(data + _XANCHOR), (_long(model + _NJNT), 3), np.float64),
        numeric,
    )
