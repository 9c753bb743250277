"""Makes an untuned skill from a captured gait cycle: the cycle, a start state and first gains."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.imitation.law import COMMANDS
from surefoot.errors import SurefootError
from surefoot.motions import quaternions as quat
from surefoot.motions.gait_cycle import GaitCycle, Span
from surefoot.skills import files
from surefoot.skills.schema import SCHEMA_VERSION

_DIGITS = 5
_SOON = 1e-4  # [cycles] over which speeds are measured
_STIFF: dict[str, tuple[float, float]] = {
    "knee": (1000.0, 60.0), "shoulder": (150.0, 15.0), "elbow": (100.0, 10.0), "neck": (100.0, 10.0),
    "wrist": (20.0, 2.0),
}  # fmt: skip
"""kp [N·m/rad] and kd [N·m·s/rad] by kind of joint: tracking wants high gains. Limits are the body's own."""
FIRST_GUESS: dict[str, Any] = {
    "cd": 0.8, "cv": 0.1, "cd_lateral": 0.7, "cv_lateral": 0.15, "clearance": 0.1, "tuck": 0.4, "tempo": 0.96,
    "earliest": 0.6, "catch_up": 2.0, "support": 2.0, "speed": 0.0,
    "feedback": {"stance_ankle": [-0.5, -0.3], "stance_ankle_roll": [0.0, -0.3]},
    "offsets": {"swing_hip_roll": -0.05, "swing_ankle": 0.15, "stance_knee": 0.05, "stance_ankle": -0.1},
}  # fmt: skip
"""Where a search begins: between what was found for walks of two people."""


def skill_from_gait(
    cycle: GaitCycle, table: CharacterTable, name: str, summary: str, clip: str, credit: str = "",
    in_place: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The document of a skill that follows a captured cycle.

    Args:
        cycle: gait cycle of the table's character.
        table: the character.
        name: name of the skill.
        summary: what it does, in one line.
        clip: name of the clip's file, without its suffix.
        credit: text that the clip's licence asks for.
        in_place: whether the clip's travel was removed.

    Returns:
        A valid skill document, before any tuning.

    Raises:
        SurefootError: a foot never lifts or never stands, or both land together.
    """
    lands = landings(cycle)
    begins = on_left_foot(cycle, lands)
    joints = {joint: _rounded(cycle.joints[joint]) for joint in table.gains if joint in cycle.joints}
    document = {
        "schema": SCHEMA_VERSION, "name": name, "character": table.name, "controller": "imitation",
        "summary": summary, "credit": credit, "clip": clip, "in_place": in_place,
        "provenance": {"source": f"made of the clip {clip} by surefoot imitate"}, "commands": list(COMMANDS),
        "start": start_of(cycle, table, begins),
        "parameters": {
            "cycle": {
                "period": round(cycle.period, _DIGITS), "travel": _rounded(cycle.travel[:2]),
                "turn": round(float(cycle.turn), _DIGITS), "lands": _rounded(np.array(lands)),
                "stays": _rounded(np.array(stays(cycle, lands))),
                "root": {axis: _rounded(series) for axis, series in cycle.root.items()}, "joints": joints,
            },
            "begins": round(begins, _DIGITS), "gains": _gains(table), **copy.deepcopy(FIRST_GUESS),
        },
    }  # fmt: skip
    files.validate(document, name)
    return document


def _gains(table: CharacterTable) -> dict[str, dict[str, float]]:
    kinds = {table.anatomy.kind(role) for role in table.anatomy.roles}
    return {kind: {"kp": kp, "kd": kd} for kind, (kp, kd) in _STIFF.items() if kind in kinds}


def landings(cycle: GaitCycle) -> tuple[float, float]:
    """Phases at which the left and the right foot land: the beginnings of their longest contacts."""
    found = []
    for side, spans in zip(("left", "right"), cycle.contacts, strict=True):
        standing = [span for span in spans if 0.0 < span[1] - span[0] < 0.999]
        if not standing:
            always = bool(spans)
            raise SurefootError(f"the {side} foot {'never lifts' if always else 'never stands'}: nothing to step with")
        longest: Span = max(standing, key=lambda span: span[1] - span[0])
        found.append(longest[0] % 1.0)
    apart = (found[1] - found[0]) % 1.0
    if not 0.1 < apart < 0.9:
        raise SurefootError(f"both feet come down together (phases {found[0]:.2f} and {found[1]:.2f}): not a walk")
    return found[0], found[1]


def stays(cycle: GaitCycle, lands: tuple[float, float]) -> tuple[float, float]:
    """How long each foot stays on the ground after the other has landed [cycles]."""
    found = []
    for spans, other in zip(cycle.contacts, reversed(lands), strict=True):
        left = [b - a - (other - a) % 1.0 for a, b in spans if (other - a) % 1.0 < b - a]
        found.append(min(max(left, default=0.0), 0.3))
    return found[0], found[1]


def on_left_foot(cycle: GaitCycle, lands: tuple[float, float]) -> float:
    """The phase in the middle of the time that the right leg swings, or of its step if its foot drags."""
    step = (lands[1] - lands[0]) % 1.0
    grid = np.arange(0.0, step, 0.005)
    lifted = [not any((lands[0] + g - a) % 1.0 < b - a for a, b in cycle.contacts[1]) for g in grid]
    middle = float(grid[lifted].mean()) if any(lifted) else 0.5 * step
    return (lands[0] + middle) % 1.0


def start_of(cycle: GaitCycle, table: CharacterTable, begins: float) -> dict[str, Any]:
    """The state at a phase at which the right leg swings."""
    phase, rate = np.array(begins), 1.0 / cycle.period
    angles, rates = cycle.angles_at(phase), cycle.rates(phase)
    root = cycle.root_at(begins + np.array([0.0, _SOON]))
    moves = {axis: float(values[1] - values[0]) / _SOON * rate for axis, values in root.items()}
    yaw, roll, pitch, spin = _turns(cycle, root)
    roles = dict(zip(table.anatomy.roles, table.anatomy.joints(1), strict=True))
    limits = table.hinges
    return {
        "swing": "right", "speed": round(float(cycle.travel[0]) * rate + moves["surge"], _DIGITS),
        "sideways": round(float(cycle.travel[1]) * rate + moves["sway"], _DIGITS),
        "climb": round(moves["height"], _DIGITS), "torso": round(pitch, _DIGITS),
        "torso_rate": round(-float(spin[1]), _DIGITS), "roll": round(roll, _DIGITS),
        "roll_rate": round(float(spin[0]), _DIGITS), "yaw": round(yaw, _DIGITS),
        "yaw_rate": round(float(spin[2]), _DIGITS),
        "joints": {
            role: round(float(np.clip(angles[joint], limits[joint].low, limits[joint].high)), _DIGITS)
            for role, joint in roles.items() if joint in angles
        },
        "rates": {role: round(float(rates[joint]), _DIGITS) for role, joint in roles.items() if joint in rates},
    }  # fmt: skip


def _turns(cycle: GaitCycle, root: dict[str, np.ndarray]) -> tuple[float, float, float, np.ndarray]:
    """Yaw, roll and pitch of the root, as a start tells them, and its spin (3,) [rad/s], of two close moments."""
    upright = quat.about_vertical(root["yaw"] + cycle.turn * np.array([0.0, _SOON]))
    turned = quat.rotate_about_own_axis(quat.rotate_about_own_axis(upright, 1, root["pitch"]), 0, root["roll"])
    spin = quat.log(quat.multiply(turned[1], quat.inverse(turned[0]))) / (_SOON * cycle.period)
    yaw, roll, forward = quat.euler_angles(turned, (2, 0, 1))[0]
    return float(yaw), float(roll), -float(forward), spin


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), _DIGITS) for value in values]
