"""§5.3: a servo at the waist holds the torso upright in the world, and smooths its bobbing.

Both take their trials about no perturbation, as the paper's: about the mean of late ones, the march without the servo
falls.
"""

from __future__ import annotations

import numpy as np

from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import torso_pitch
from surefoot.lab.reproduce.limit_cycle.marches import REPLICAS, begun, gaits, march, note, upright
from surefoot.skills.schema import Skill

SECONDS, LEAST = 30.0, 0.5  # [s], share by which the range falls
ABOUT_NONE = {"regulation.recentre": 0.0}
WAIST = 0.3  # [rad] back, at which a waist without the servo is held: the pelvis is pitched forward by as much


def run(result: Result, setting: Setting) -> None:
    """The march without the servo and with it."""
    seconds = 12.0 if setting.quick else SECONDS
    setting.progress("without and with the servo", 0.1)
    population = begun([without_servo(), march(ABOUT_NONE)], setting.seed, "torso servo")
    found, motions = gaits(population, seconds)
    ranges = [float(np.degrees(np.ptp(torso_pitch(m)))) if g else np.nan for g, m in zip(found, motions, strict=True)]
    without, with_it = ranges[:REPLICAS], ranges[REPLICAS:]
    fell = 1.0 - np.max(with_it) / np.min(without)
    result.add_row(
        "range of the torso's pitch", "the servo smooths its bobbing",
        f"{np.min(without):.1f} … {np.max(without):.1f}° without, {np.min(with_it):.1f} … {np.max(with_it):.1f}° with",
        f"falls by {100 * fell:.0f} % at least (≥ {100 * LEAST:g} %)", bool(fell >= LEAST),
    )  # fmt: skip
    for label, at in (("without", 0), ("with", REPLICAS)):
        note(result, f"{label} the servo", population, at, found[at : at + REPLICAS])
        result.add_note(f"{label} the servo", upright(population, at))
        figures.save_filmstrip(
            setting.figure_path(result.experiment, f"{label}.png"), motions[at], f"{label} torso servo"
        )


def without_servo() -> Skill:
    """The march with its waist held as it is on average, in the pelvis' frame."""
    return march({**ABOUT_NONE, "torso_servo": False} | {f"states.{i}.targets.waist": WAIST for i in range(3)})
