"""Bodies and states for tests of stylized locomotion, without a simulation around them."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.characters import builder
from surefoot.characters import load as load_character
from surefoot.characters.table import CharacterTable
from surefoot.controllers.stylized.three_link import ThreeLinkGroups
from surefoot.native.userdata import Sizes
from surefoot.terrains import load as load_terrain


def body(name: str) -> tuple[mujoco.MjModel, CharacterTable]:
    """A character's model on flat ground."""
    table = load_character(name)
    return builder.build(table, load_terrain("flat"), Sizes(len(table.gains), 2, 1, 4, 0, 0)).model, table


def generic_state(model: mujoco.MjModel, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A bent, tilted, moving state within all limits, near the ground."""
    rng, qpos = np.random.default_rng(seed), model.qpos0.copy()
    qvel = rng.uniform(-0.5, 0.5, model.nv)
    for joint in range(model.njnt):
        if model.jnt_limited[joint]:
            low, high = model.jnt_range[joint]
            at = model.jnt_qposadr[joint]
            qpos[at] = np.clip(rng.uniform(-0.4, 0.4), 0.9 * low, 0.9 * high)
    if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
        qpos[2] = 0.93
        turn = np.array([1.0, *rng.uniform(-0.15, 0.15, 3)])
        qpos[3:7] = turn / np.linalg.norm(turn)
    else:
        qpos[1], qpos[2] = 0.9, rng.uniform(-0.2, 0.2)
    return qpos, qvel


def at(model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray) -> mujoco.MjData:
    """Data of a state, with everything up to date."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(model, data)
    return data


def link_com_jacobian(groups: ThreeLinkGroups, model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """(9, nv) J_c of eq. 9a, summed over MuJoCo's own Jacobians of all bodies: an oracle for the compiled one."""
    found, one = np.zeros((9, model.nv)), np.empty((3, model.nv))
    for link, (bodies, masses) in enumerate(zip(groups.bodies, groups.masses, strict=True)):
        for body, mass in zip(bodies, masses, strict=True):
            mujoco.mj_jacBodyCom(model, data, one, None, int(body))
            found[3 * link : 3 * link + 3] += mass / masses.sum() * one
    return found
