"""The shape of a compiled body: points of its geoms, and its links as the numbers that `native.links` reads."""

from __future__ import annotations

import itertools
from typing import Any

import mujoco
import numpy as np

from surefoot.characters.links import KINDS, LEFT, RIGHT, Limbs, Link
from surefoot.native.limb_records import BIPED, CHAIN, LINK

_RIM = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)


def geom_points(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> tuple[np.ndarray, float]:
    """Points (n, 3) in world axes and a radius around them; the hull of these balls is the geom [m]."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    radius, local = 0.0, np.zeros((1, 3))
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        radius = size[0]
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        radius, local = size[0], np.array([[0.0, 0.0, size[1]], [0.0, 0.0, -size[1]]])
    elif kind == mujoco.mjtGeom.mjGEOM_BOX:
        local = np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * size
    elif kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        rings = [
            np.column_stack([np.cos(a) * np.cos(_RIM), np.cos(a) * np.sin(_RIM), np.full(16, np.sin(a))])
            for a in np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
        ]
        local = np.concatenate(rings) * size
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        rim = np.column_stack([size[0] * np.cos(_RIM), size[0] * np.sin(_RIM), np.full(16, size[1])])
        local = np.concatenate([rim, rim * (1.0, 1.0, -1.0)])
    elif kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        local = model.mesh_vert[first : first + count].astype(float)
    return data.geom_xpos[geom] + local @ data.geom_xmat[geom].reshape(3, 3).T, float(radius)


def solid_geoms(model: mujoco.MjModel, bodies: list[int]) -> list[int]:
    """Geoms of some bodies that collide."""
    wanted = np.isin(model.geom_bodyid, bodies) & ((model.geom_contype != 0) | (model.geom_conaffinity != 0))
    return [int(g) for g in np.flatnonzero(wanted)]


_LEVEL = 0.02  # [m] points so near to the height of a foot's lowest point belong to its sole
_STRAIGHT = 0.5  # [rad] to either side: range of a joint without limits when its sense of bending is looked for


def neutral_state(model: mujoco.MjModel, limbs: Limbs) -> mujoco.MjData:
    """A state of the body in its neutral posture in the character frame, with current kinematics."""
    data = mujoco.MjData(model)
    for joint, angle in limbs.neutral.items():
        data.qpos[model.joint(joint).qposadr[0]] = angle
    root = int(model.body_rootid[model.body(limbs.pelvis).id])
    address = model.jnt_qposadr[model.body_jntadr[root]]
    data.qpos[address + 3 : address + 7] = (1.0, 0.0, 0.0, 0.0)
    mujoco.mj_kinematics(model, data)
    turn, present = np.empty(4), np.empty(4)
    mujoco.mju_negQuat(present, data.body(limbs.pelvis).xquat)
    mujoco.mju_mulQuat(turn, np.asarray(limbs.rest.get(limbs.pelvis, (1.0, 0.0, 0.0, 0.0))), present)
    data.qpos[address + 3 : address + 7] = turn
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return data


def packed_limbs(model: mujoco.MjModel, limbs: Limbs) -> np.ndarray:
    """All numbers of a body's links, measured in its neutral posture, in the order `native.links.limbs_of` reads."""
    data = neutral_state(model, limbs)
    legs = [_leg(model, data, limbs, side) for side in (LEFT, RIGHT)]
    arms = [_arm(model, data, limbs, side) for side in (LEFT, RIGHT)]
    links = [_link(model, limbs, link) for link in limbs.links]
    parts = (_biped(model, data, limbs, legs), *legs, *arms, *links)
    return np.concatenate([np.atleast_1d(part).view(np.float64) for part in parts])


def _biped(model: mujoco.MjModel, data: mujoco.MjData, limbs: Limbs, legs: list[Any]) -> np.ndarray:
    head = np.zeros(1, BIPED)[0]
    pelvis = model.body(limbs.pelvis).id
    root = int(model.body_rootid[pelvis])
    head["links"], head["pelvis"], head["mass"] = len(limbs.links), pelvis, model.body_subtreemass[root]
    head["leg_length"] = np.mean([leg["reach"] + leg["depth"] for leg in legs])
    soles = [_sole(model, data, limbs, side) for side in (LEFT, RIGHT)]
    head["height"] = data.subtree_com[root, 2] - min(sole[:, 2].min() for sole in soles)
    ankles = [_anchor(model, data, limbs.require("ankle", side)) for side in (LEFT, RIGHT)]
    around = [sole - ankle for sole, ankle in zip(soles, ankles, strict=True)]
    head["ahead"] = np.mean([sole[:, 0].max() for sole in around])
    head["behind"] = -np.mean([sole[:, 0].min() for sole in around])
    head["half_width"] = np.mean([0.5 * np.ptp(sole[:, 1]) for sole in around])
    gain = limbs.root_gain
    head["root_kp"], head["root_kd"], head["root_limit"] = gain.kp, gain.kd, gain.limit
    head["w"], head["x"], head["y"], head["z"] = limbs.rest.get(limbs.pelvis, (1.0, 0.0, 0.0, 0.0))
    return np.array([head])


def _sole(model: mujoco.MjModel, data: mujoco.MjData, limbs: Limbs, side: int) -> np.ndarray:
    """(n, 3) the points on which a foot stands, in world axes [m]."""
    bodies = [model.body(name).id for name in limbs.soles[side]]
    found = [geom_points(model, data, geom) for geom in solid_geoms(model, bodies)]
    points = np.concatenate([np.column_stack([p[:, :2], p[:, 2] - radius]) for p, radius in found])
    return np.asarray(points[points[:, 2] < points[:, 2].min() + _LEVEL])


def _anchor(model: mujoco.MjModel, data: mujoco.MjData, link: Link) -> np.ndarray:
    return np.array(data.xanchor[model.joint(link.joints[0]).id])


def _lateral(model: mujoco.MjModel, data: mujoco.MjData, link: Link) -> int:
    """The hinge that bends a knee or an elbow: the most lateral one."""
    joints = [model.joint(name).id for name in link.joints]
    return int(max(joints, key=lambda j: abs(data.xaxis[j, 1])))


def _chain(
    model: mujoco.MjModel, data: mujoco.MjData, limbs: Limbs, kinds: tuple[str, str], side: int, end: np.ndarray
) -> Any:
    """The record of two links, which lead from the first anchor over the second to `end`."""
    chain = np.zeros(1, CHAIN)[0]
    upper, lower = (limbs.require(kind, side) for kind in kinds)
    first, second = _anchor(model, data, upper), _anchor(model, data, lower)
    hinge = _lateral(model, data, lower)
    axis = (-1.0 if lower.flipped else 1.0) * data.xaxis[hinge]
    chain["upper"], chain["lower"] = limbs.links.index(upper), limbs.links.index(lower)
    chain["end"] = chain["tip"] = -1.0
    for name, vector in (("a", second - first), ("b", end - second), ("n", axis)):
        for i, letter in enumerate("xyz"):
            chain[f"{name}{letter}"] = vector[i]
    chain["bend"], chain["most"] = _bend(model, limbs, hinge)
    chain["reach"] = _reach(second - first, end - second, axis, _room(model, limbs, hinge, lower.flipped))
    return chain


def _room(model: mujoco.MjModel, limbs: Limbs, hinge: int, flipped: bool) -> tuple[float, float]:
    """How far a hinge can turn from neutral in both senses about the chain's axis [rad]."""
    if not model.jnt_limited[hinge]:
        return -np.pi, np.pi
    low, high = model.jnt_range[hinge] - limbs.neutral.get(model.joint(hinge).name, 0.0)
    return (-high, -low) if flipped else (low, high)


def _reach(a: np.ndarray, b: np.ndarray, axis: np.ndarray, room: tuple[float, float]) -> float:
    """Length of a limb when its middle joint is as straight as it can be [m]."""
    along = (a @ axis) * (b @ axis)
    cosine, sine = a @ b - along, a @ np.cross(axis, b)
    straight = np.clip(np.arctan2(sine, cosine), *room)
    turned = along + cosine * np.cos(straight) + sine * np.sin(straight)
    return float(np.sqrt(a @ a + b @ b + 2.0 * turned))


def _bend(model: mujoco.MjModel, limbs: Limbs, hinge: int) -> tuple[float, float]:
    """The sense in which a hinge can turn farther from the neutral posture, and how far [rad]."""
    low, high = model.jnt_range[hinge] if model.jnt_limited[hinge] else (-_STRAIGHT, _STRAIGHT)
    present = limbs.neutral.get(model.joint(hinge).name, 0.0)
    sense, room = (1.0, high - present) if high - present >= present - low else (-1.0, present - low)
    return sense, room if model.jnt_limited[hinge] else np.pi


def _leg(model: mujoco.MjModel, data: mujoco.MjData, limbs: Limbs, side: int) -> Any:
    ankle = limbs.require("ankle", side)
    end = _anchor(model, data, ankle)
    chain = _chain(model, data, limbs, ("hip", "knee"), side, end)
    toe = limbs.find("toe", side)
    chain["end"], chain["tip"] = limbs.links.index(ankle), limbs.links.index(toe) if toe else -1.0
    chain["body"] = model.body(ankle.body).id
    sole = _sole(model, data, limbs, side)
    chain["depth"] = end[2] - sole[:, 2].min()
    chain["ball"] = (_anchor(model, data, toe)[0] if toe else sole[:, 0].max()) - end[0]
    body = data.body(ankle.body)
    chain["px"], chain["py"], chain["pz"] = body.xmat.reshape(3, 3).T @ (end - body.xpos)
    return chain


def _arm(model: mujoco.MjModel, data: mujoco.MjData, limbs: Limbs, side: int) -> Any:
    hand, shoulder, elbow = limbs.hands[side], limbs.find("shoulder", side), limbs.find("elbow", side)
    if hand is None or shoulder is None or elbow is None:
        none = np.zeros(1, CHAIN)[0]
        none["upper"] = none["lower"] = none["end"] = none["tip"] = -1.0
        return none
    wrist = limbs.find("wrist", side)
    last = data.body((wrist or elbow).body)
    chain = _chain(model, data, limbs, ("shoulder", "elbow"), side, last.xpos + last.xmat.reshape(3, 3) @ hand)
    chain["end"] = limbs.links.index(wrist) if wrist else -1.0
    chain["body"], (chain["px"], chain["py"], chain["pz"]) = last.id, hand
    return chain


def _link(model: mujoco.MjModel, limbs: Limbs, link: Link) -> Any:
    record = np.zeros(1, LINK)[0]
    body, base = model.body(link.body).id, model.body(link.base).id
    first = model.joint(link.joints[0]).id
    actuators = [model.actuator(name).id for name in link.joints]
    child = int(model.jnt_bodyid[first])
    root = int(model.body_rootid[child])
    record["body"], record["near"], record["child"], record["joint"] = body, base, child, first
    record["first"], record["count"] = actuators[0], len(actuators)
    record["at_pelvis"] = model.body_weldid[base] == model.body_weldid[model.body(limbs.pelvis).id]
    record["flip"] = -1.0 if link.flipped else 1.0
    record["kind"], record["side"] = KINDS.index(link.kind), link.side
    record["leg"] = link.side if link.kind in ("hip", "knee", "ankle", "toe") else -1.0
    below = model.body_subtreemass[child]
    record["distal_mass"] = model.body_subtreemass[root] - below if link.flipped else below
    for side, name in ((LEFT, "left_hand"), (RIGHT, "right_hand")):
        record[name] = float(_carries(limbs, link, side))
    record["w"], record["x"], record["y"], record["z"] = limbs.rest.get(link.body, (1.0, 0.0, 0.0, 0.0))
    record["bw"], record["bx"], record["by"], record["bz"] = limbs.rest.get(link.base, (1.0, 0.0, 0.0, 0.0))
    record["kp"], record["kd"], record["limit"] = link.gain.kp, link.gain.kd, link.gain.limit
    return record


def _carries(limbs: Limbs, link: Link, side: int) -> bool:
    """Whether a link is part of the chain from the pelvis to a hand."""
    hand = limbs.find("wrist", side) or limbs.find("elbow", side)
    by_body = {each.body: each for each in limbs.links}
    while hand is not None:
        if hand is link:
            return True
        hand = by_body.get(hand.base)
    return False
