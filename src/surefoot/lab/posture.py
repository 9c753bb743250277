"""How a body in space carries itself while it runs in a population: what falls alone do not show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.motions.strikes import LOADED
from surefoot.population import Population

_SLICE = 0.02  # [s] between two looks
NARROW, ROLLED, TURNED = 0.06, 0.12, 0.03  # [m], [rad], [rad] what still looks like a person walking


@dataclass(frozen=True)
class Posture:
    """Measures (n,) of the rows of a population over a stretch of time."""

    width: np.ndarray  # [m] between the ankles across the heading, nearly the smallest; < 0 is crossed
    roll: np.ndarray  # [rad] largest of the torso
    turn: np.ndarray  # [rad] of the pelvis away from its heading, on average
    flight: np.ndarray  # share of the time with no foot loaded

    def costs(self) -> np.ndarray:
        """(n,) what crossing the legs, rolling and turning cost a search; 0 is none of them."""
        crossed = 10.0 * np.clip(NARROW - self.width, 0.0, 0.3)
        leaning = 4.0 * np.clip(self.roll - ROLLED, 0.0, 1.0)
        return np.asarray(crossed + leaning + np.clip(self.turn - TURNED, 0.0, 1.0))


def watch(population: Population, seconds: float) -> Posture:
    """Run a population of a body in space for some seconds, leaving out rows that fell, and watch it."""
    model, anatomy = population.scene.model, population.scene.table.anatomy
    left, right, pelvis, torso = (
        model.body(part).id for part in (anatomy.left.foot, anatomy.right.foot, anatomy.pelvis, anatomy.torso)
    )
    places, axes = population.batch.bind("xpos"), population.batch.bind("xmat")
    widths, rolls, turns, flights = [], [], [], []
    for _ in range(max(1, round(seconds / _SLICE))):
        population.run(_SLICE, stop_fallen=True)
        heading = np.array([row.report[0].heading for row in population.rows])
        yaw = np.arctan2(axes[:, pelvis, 3], axes[:, pelvis, 0])
        apart = places[:, left] - places[:, right]
        widths.append(apart[:, 1] * np.cos(yaw) - apart[:, 0] * np.sin(yaw))
        rolls.append(np.abs(np.arcsin(np.clip(axes[:, torso, 7], -1.0, 1.0))))
        turns.append(np.angle(np.exp(1j * (yaw - heading))))
        flights.append([bool((row.contact_force[:, 2] < LOADED).all()) for row in population.rows])
    return Posture(
        width=np.quantile(widths, 0.05, axis=0),
        roll=np.max(rolls, axis=0),
        turn=np.abs(np.mean(turns, axis=0)),
        flight=np.mean(flights, axis=0),
    )
