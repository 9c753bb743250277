"""A gait in words: where it goes, how fast, and what is peculiar about it."""

from __future__ import annotations

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.motions.gait_cycle import GaitCycle
from surefoot.motions.retarget_pose import places

_STILL, _ASKEW = 0.12, 0.5  # [m/s] below it is on the spot; the share of a direction that is worth a word
_TURN = np.radians(8.0)  # [rad/s]
_LEAN, _CROUCH, _STEP_HIGH, _WIDE, _NARROW = np.radians(12.0), np.radians(45.0), 0.55, 0.28, 0.05
_PHASES = np.arange(0.0, 1.0, 0.01)


def manner(cycle: GaitCycle, table: CharacterTable) -> str:
    """One line about a cycle of a character."""
    speed = cycle.travel[:2] / cycle.period
    words = [_direction(speed), f"{np.linalg.norm(speed):.2f} m/s", f"{120.0 / cycle.period:.0f} steps/min"]
    turn = cycle.turn / cycle.period
    if abs(turn) > _TURN:
        words.append(f"turning {'left' if turn > 0 else 'right'} by {abs(np.degrees(turn)):.0f}°/s")
    played = cycle.in_place().played(1.0, 100.0 / cycle.period)
    at = places(table, played.angles, played.root_position, played.root_rotation)
    legs = (table.anatomy.left, table.anatomy.right)
    upward = at[table.anatomy.torso][1][:, :, 2]
    lean = float(np.degrees(np.arctan2(upward[:, 0], upward[:, 2]).mean()))
    if abs(np.radians(lean)) > _LEAN:
        words.append(f"trunk bent {'forward' if lean > 0 else 'back'} by {abs(lean):.0f}°")
    knees = [name for name, hinge in table.hinges.items() if "knee" in name and hinge.plane == 0]
    bend = min(float(np.abs(cycle.at(_PHASES)[name]).min()) for name in knees)
    if bend > _CROUCH / 2.0:
        words.append(f"knees never straighter than {np.degrees(bend):.0f}°")
    lift = max(float(at[leg.shin][0][:, 2].max()) for leg in legs) / float(at[legs[0].thigh][0][:, 2].max())
    if lift > _STEP_HIGH + 0.2:
        words.append("knees lifted high")
    apart = float((at[legs[0].foot][0][:, 1] - at[legs[1].foot][0][:, 1]).mean())
    if apart > _WIDE:
        words.append(f"feet {apart:.2f} m apart")
    elif apart < _NARROW:
        words.append("feet on one line" if apart > -_NARROW else "legs crossed")
    return ", ".join(words)


def _direction(speed: np.ndarray) -> str:
    if float(np.linalg.norm(speed)) < _STILL:
        return "steps on the spot"
    ahead, left = speed / np.linalg.norm(speed)
    along = "forward" if ahead > 0.0 else "backwards"
    across = "to the left" if left > 0.0 else "to the right"
    if abs(left) < _ASKEW:
        return f"walks {along}"
    return f"walks {across}" if abs(ahead) < _ASKEW else f"walks {along} and {across}"
