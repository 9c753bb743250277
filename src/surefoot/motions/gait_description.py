"""How a gait cycle moves, in numbers and in words: walk, run, hop or jump, where to, how fast, and what is peculiar.

A gait with flights is a run, a hop on one foot, or a jump on both. In a flight no foot stands, both soles are above the
ground, and the centre of mass falls nearly freely: feet that are only quick or badly seen do not make a flight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.motions.floor_fit import GRAVITY
from surefoot.motions.forward_kinematics import segment_poses, sole_depth_below_ankle
from surefoot.motions.gait_cycle import GaitCycle
from surefoot.motions.gait_search import strides_in

_STILL, _ASKEW = 0.12, 0.5  # [m/s] below which a gait is on the spot; share of a direction that is worth a word
_TURN = np.radians(8.0)  # [rad/s]
_LEAN, _CROUCH, _STEP_HIGH, _WIDE, _NARROW = np.radians(12.0), np.radians(45.0), 0.55, 0.28, 0.05
_PHASES = np.arange(0.0, 1.0, 0.01)
_FRAMES, _HARMONICS = 200, 10  # of the height of the centre of mass over a cycle
_FALLING = 0.5  # [g] a centre of mass that falls faster than this share of free fall may be in flight
_IN_FLIGHT = 0.1  # share of the cycle that must be spent so
_CLEAR = 0.006  # [m] by which the lower sole must be above the ground at some time
_TOGETHER = 0.08  # of a cycle: feet that land within it land together

Kind = Literal["walk", "run", "hop", "jump"]
_VERBS: dict[Kind, tuple[str, str]] = {  # what it does, and what is counted
    "walk": ("walks", "steps"), "run": ("runs", "steps"), "hop": ("hops", "hops"), "jump": ("jumps", "jumps"),
}  # fmt: skip


@dataclass(frozen=True)
class GaitManner:
    """How a gait moves.

    Attributes:
        kind: with flights it is a run, a hop on one foot or a jump on both feet, without a walk.
        foot: the one that is hopped on, or nothing.
        cadence: steps, hops or jumps per minute.
        velocity: (2,) forward and to the left [m/s].
        steepest: the largest downward acceleration of the centre of mass [g].
    """

    kind: Kind
    foot: str
    cadence: float
    velocity: np.ndarray
    steepest: float

    @property
    def speed(self) -> float:
        """Over the ground [m/s]."""
        return float(np.linalg.norm(self.velocity))

    @property
    def counted(self) -> str:
        """What the cadence counts."""
        return _VERBS[self.kind][1]


def gait_manner(cycle: GaitCycle, table: CharacterTable) -> GaitManner:
    """Measure how a gait moves.

    Args:
        cycle: of the character.
        table: the character.
    """
    falls, flies, bounces = _flight(cycle, table)
    velocity, anatomy = cycle.travel[:2] / cycle.period, table.anatomy
    steps = 2 * strides_in(_difference(cycle.joints[anatomy.left.joints[0]], cycle.joints[anatomy.right.joints[0]]))
    kind, foot, count = _kind(cycle, bounces, steps) if flies else ("walk", "", steps)
    return GaitManner(kind, foot, 60.0 * count / cycle.period, velocity, falls)


def _difference(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    found = np.zeros(max(len(one), len(other), 3))
    found[: len(one)] += one
    found[: len(other)] -= other
    return found


def _flight(cycle: GaitCycle, table: CharacterTable) -> tuple[float, bool, int]:
    """The largest downward acceleration of the centre of mass [g], whether there are flights, its rises per cycle."""
    played = cycle.without_travel().sampled(1.0, _FRAMES / cycle.period)
    frames = slice(0, _FRAMES)
    angles = {name: values[frames] for name, values in played.angles.items()}
    at = segment_poses(table, angles, played.root_position[frames], played.root_rotation[frames])
    mass = sum(part.mass for part in table.segments)
    height = sum(part.mass / mass * (at[part.name][0] + at[part.name][1] @ np.asarray(part.com)) for part in
                 table.segments)[:, 2]  # fmt: skip
    waves = np.fft.rfft(height)
    rates = 2.0 * np.pi * np.arange(len(waves)) / cycle.period
    waves[_HARMONICS + 1 :] = 0.0
    acceleration = np.fft.irfft(-(rates**2) * waves, len(height)) / GRAVITY
    soles = [
        at[leg.foot][0][:, 2] - sole_depth_below_ankle(table, side, at[leg.foot][1])
        for side, leg in enumerate((table.anatomy.left, table.anatomy.right))
    ]
    falling = ~played.contacts[frames].any(axis=1) & (acceleration < -_FALLING)
    clear = np.min(soles, axis=0)[falling].max(initial=-np.inf) > _CLEAR
    bounces = 1 + int(np.abs(waves[1:]).argmax())
    return -float(acceleration.min()), bool(clear and falling.mean() > _IN_FLIGHT), bounces


def _kind(cycle: GaitCycle, bounces: int, steps: int) -> tuple[Kind, str, int]:
    """What a gait with flights is, the foot of a hop, and its landings per cycle.

    Args:
        cycle: of the gait.
        bounces: how often the centre of mass rises in a cycle: in a hop once for each landing of its foot.
        steps: per cycle, if it is a run.
    """
    lands = [sorted(start % 1.0 for start, end in foot if end - start < 1.0) for foot in cycle.contacts]
    if len(lands[0]) > 0 and len(lands[1]) > 0:
        apart = np.abs((np.array(lands[0])[:, None] - np.array(lands[1])[None] + 0.5) % 1.0 - 0.5)
        if len(lands[0]) == len(lands[1]) and apart.min(axis=1).max() < _TOGETHER:
            return "jump", "", len(lands[0])
        return "run", "", steps
    for own, other, name in ((0, 1, "left"), (1, 0, "right")):
        if not cycle.contacts[other] and len(lands[own]) == bounces:
            return "hop", name, len(lands[own])
    return "run", "", steps


def describe_gait(cycle: GaitCycle, table: CharacterTable) -> str:
    """Describe a gait in one line: what it is, direction, speed, cadence and what is peculiar about it.

    Args:
        cycle: of the character.
        table: the character.
    """
    manner = gait_manner(cycle, table)
    words = [_direction(manner), f"{manner.speed:.2f} m/s", f"{manner.cadence:.0f} {manner.counted}/min"]
    turn = cycle.turn / cycle.period
    if abs(turn) > _TURN:
        words.append(f"turning {'left' if turn > 0 else 'right'} by {abs(np.degrees(turn)):.0f}°/s")
    played = cycle.without_travel().sampled(1.0, 100.0 / cycle.period)
    at = segment_poses(table, played.angles, played.root_position, played.root_rotation)
    legs = (table.anatomy.left, table.anatomy.right)
    upward = at[table.anatomy.torso][1][:, :, 2]
    lean = float(np.degrees(np.arctan2(upward[:, 0], upward[:, 2]).mean()))
    if abs(np.radians(lean)) > _LEAN:
        words.append(f"trunk bent {'forward' if lean > 0 else 'back'} by {abs(lean):.0f}°")
    knees = [name for name, hinge in table.hinges.items() if "knee" in name and hinge.plane == 0]
    bend = min(float(np.abs(cycle.angles_at(_PHASES)[name]).min()) for name in knees)
    if bend > _CROUCH / 2.0:
        words.append(f"knees never straighter than {np.degrees(bend):.0f}°")
    lift = max(float(at[leg.shin][0][:, 2].max()) for leg in legs) / float(at[legs[0].thigh][0][:, 2].max())
    if lift > _STEP_HIGH + 0.2:
        words.append("knees lifted high")
    if table.root == "planar":
        return ", ".join(words)
    apart = float((at[legs[0].foot][0][:, 1] - at[legs[1].foot][0][:, 1]).mean())
    if apart > _WIDE:
        words.append(f"feet {apart:.2f} m apart")
    elif apart < _NARROW:
        words.append("feet on one line" if apart > -_NARROW else "legs crossed")
    return ", ".join(words)


def _direction(manner: GaitManner) -> str:
    verb = _VERBS[manner.kind][0]
    on = f" on the {manner.foot} foot" if manner.foot else " on both feet" if manner.kind == "jump" else ""
    if manner.speed < _STILL:
        return f"{'steps' if manner.kind == 'walk' else verb} on the spot{on}"
    ahead, left = manner.velocity / manner.speed
    along = "forward" if ahead > 0.0 else "backwards"
    across = "to the left" if left > 0.0 else "to the right"
    if abs(left) < _ASKEW:
        return f"{verb} {along}{on}"
    return f"{verb} {across}{on}" if abs(ahead) < _ASKEW else f"{verb} {along} and {across}{on}"
