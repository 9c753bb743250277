"""§5.4, figure 15: after a push the feet uncross and turn to the facing direction, within three further steps."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from surefoot.engine.population import Population
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stepping.trials import CHARACTER, SETTLED, STAND, shoves, steps_of, upright

COUNT, STRONGEST, ANGLE, STEPS = 200, 100.0, 15.0, 3  # pushes, [N·s], [°], further steps
_AFTER, _LOOK = 12.0, 0.25  # [s]
_BALANCED = 0.1  # [m/s] of a body that has regained its balance


def run(result: Result, setting: Setting) -> None:
    """Push, wait until balance is regained, count the steps until the feet stand well."""
    count = 12 if setting.quick else COUNT
    each = [s for s in shoves(setting.seed, "comfort", 4 * count, SETTLED, SETTLED + 0.5) if s.impulse <= STRONGEST]
    each = each[:count]
    population = Population(len(each), CHARACTER, STAND, pushes=[[s.push()] for s in each], seed=setting.seed)
    population.run(max(s.start + s.duration for s in each))
    balanced = np.full(len(each), -1.0)  # steps taken when balance was regained
    for i in range(round(_AFTER / _LOOK)):
        population.run(_LOOK, stop_fallen=True)
        setting.progress("making itself comfortable", i * _LOOK / _AFTER)
        speed = np.array([math.hypot(r.report[0].velocity, r.report[0].lateral_velocity) for r in population.rows])
        balanced = np.where((balanced < 0.0) & (speed < _BALANCED), steps_of(population), balanced)
    crossed, turned = feet(population)
    further = steps_of(population) - balanced
    alive = upright(population)
    good = alive & ~crossed & (turned <= ANGLE) & (balanced >= 0.0) & (further <= STEPS)
    for i, shove in enumerate(each):
        result.runs.append({
            "impulse": shove.impulse, "direction": shove.direction, "upright": int(alive[i]),
            "crossed": int(crossed[i]), "turned": float(turned[i]), "further": float(further[i]),
        })  # fmt: skip
    result.add_row(
        f"after {len(each)} pushes of up to {STRONGEST:g} N·s", "no crossed legs at rest",
        f"{good.sum()} of {len(each)}", f"uncrossed, within {ANGLE:g}°, in ≤ {STEPS} further steps", bool(good.all()),
    )  # fmt: skip
    result.add_note("fell", f"{(~alive).sum()}", "")
    result.add_note("most further steps", f"{further[alive].max() if alive.any() else math.nan:.0f}", "")


def feet(population: Population) -> tuple[np.ndarray, np.ndarray]:
    """(n,) whether the feet are crossed, and the larger angle between a foot and the facing direction [°]."""
    model = population.scene.model
    data = mujoco.MjData(model)
    left, right = model.body("left_foot").id, model.body("right_foot").id
    crossed, turned = [], []
    for i, row in enumerate(population.rows):
        data.qpos[:] = population.qpos[i]
        mujoco.mj_kinematics(model, data)
        heading = float(row.report[0].heading)
        apart = data.xpos[left] - data.xpos[right]
        crossed.append(math.cos(heading) * apart[1] - math.sin(heading) * apart[0] <= 0.0)
        yaws = [math.atan2(data.xmat[foot, 3], data.xmat[foot, 0]) - heading for foot in (left, right)]
        turned.append(max(abs(math.degrees(math.remainder(yaw, 2.0 * math.pi))) for yaw in yaws))
    return np.array(crossed), np.array(turned)
