"""Replicas: the same run from slightly other states, since single runs lie."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from surefoot.population import Population
from surefoot.scene import Scene

ANGLE, RATE, SPEED = 0.02, 0.1, 0.05  # [rad], [rad/s], [m/s] half-widths of the uniform noise
PHASE = 0.02  # of the cycle


def generator(seed: int, *labels: object) -> np.random.Generator:
    """Random numbers that depend on the seed and on what they are for, and on nothing else."""
    text = "/".join(map(str, labels)).encode()
    return np.random.default_rng([seed, zlib.crc32(text)])


def disturb(population: Population, rngs: Sequence[np.random.Generator]) -> None:
    """Change every row's present state as replicas do, with the feet as far from the ground as before."""
    for i, rng in enumerate(rngs):
        disturb_state(population.scenes[i], population.qpos[i], population.qvel[i], rng)


def disturb_state(scene: Scene, qpos: np.ndarray, qvel: np.ndarray, rng: np.random.Generator) -> None:
    """Add replica noise to one state, in place."""
    model, joints = scene.model, list(scene.table.gains)
    clearance = scene.clearance(qpos)
    for joint in joints:
        named = model.joint(joint)
        low, high = named.range if model.jnt_limited[named.id] else (-np.inf, np.inf)
        angle = qpos[named.qposadr[0]] + rng.uniform(-ANGLE, ANGLE)
        qpos[named.qposadr[0]] = np.clip(angle, low, high)
        qvel[named.dofadr[0]] += rng.uniform(-RATE, RATE)
    qvel[0] += rng.uniform(-SPEED, SPEED)
    height = 1 if scene.table.root == "planar" else 2
    qpos[height] += clearance - scene.clearance(qpos)
