"""§3.2, §3.3: two choices of regulation variables, two of perturbations; diagonal and full Jacobian.

The paper reports that stance hip and swing hip can be used, without saying with which variables. A swing hip has next
to no effect on the up-vector within a step here: what happens is printed. A swing-COM that is the same at the end of
every step leaves the speed free to run away, as a pendulum's does; with it the speed is held, by the paper's own law
(§6.2). What happens without is printed.
"""

from __future__ import annotations

import numpy as np

from surefoot.lab.experiment import Result, Setting
from surefoot.lab.learned_step_model import cycle_records
from surefoot.lab.reproduce.limit_cycle.marches import Changes, begun, gaits, is_fair, march, note, quality, upright

SECONDS, EACH = 120.0, 2  # [s], replicas with either Jacobian
COM: Changes = {
    "regulation.variable": "swing-com", "regulation.forward": 0.017, "regulation.lateral": -0.217,
    "regulation.recentre": 0.0,
}  # fmt: skip
HELD: Changes = {"speed.usual": 0.2, "speed.bias": 0.02, "speed.slope": -0.12, "speed.integral": 0.0}
SWING: Changes = {"regulation.perturbed": "swing-hip"}
CASES: dict[str, Changes] = {
    "stance hip, up-vector": {},
    "stance hip, swing-COM": {**COM, **HELD, "speed.gain": 0.3},
    "swing hip, swing-COM": {**COM, **HELD, "speed.gain": 0.1, **SWING},
    "swing hip, up-vector": SWING,
}
FREE: dict[str, Changes] = {
    "stance hip, swing-COM": COM,
    "swing hip, swing-COM": {**COM, **SWING, "regulation.lateral": -0.225},
}
_BARRED = 3  # the first so many have to walk
_JACOBIANS = ("diagonal", "full")


def run(result: Result, setting: Setting) -> None:
    """All combinations at once, with either Jacobian."""
    seconds, replicas = (12.0, 1) if setting.quick else (SECONDS, EACH)
    setting.progress("combinations", 0.05)
    cases = [(name, kind) for name in CASES for kind in _JACOBIANS]
    population = begun(
        [march({**CASES[name], "regulation.jacobian": kind}) for name, kind in cases], setting.seed, "combinations",
        replicas,
    )  # fmt: skip
    population.run(3.0, stop_fallen=True)
    first = [[float(c[n]) for n in _ENTRIES] for c in cycle_records(population)]
    found, _ = gaits(population, seconds - 3.0)
    cycles = cycle_records(population)
    for i, name in enumerate(CASES):
        kept = {}
        for j, kind in enumerate(_JACOBIANS):
            at = replicas * (len(_JACOBIANS) * i + j)
            mine = found[at : at + replicas]
            kept[kind] = all(map(is_fair, mine))
            note(result, f"{name}, {kind}", population, at, mine)
            jacobian = np.array(first[at]).reshape(2, 2)
            result.add_note(
                f"{name}, {kind} Jacobian", f"{upright(population, at, replicas)}; {quality(population, at, mine)}",
                f"J after 3 s {np.array2string(jacobian, precision=2, suppress_small=True).replace(chr(10), '')}; "
                f"{sum(int(c.singular) for c in cycles[at : at + replicas])} singular steps",
            )  # fmt: skip
        if i < _BARRED:
            ways = " and ".join(kind for kind in _JACOBIANS if kept[kind]) or "neither"
            result.add_row(
                f"{name}, {seconds:g} s", "leads to stable walks", f"with the Jacobian: {ways}",
                f"all {replicas} replicas walk on with one of them", any(kept.values()),
            )  # fmt: skip
    setting.progress("no speed held", 0.9)
    free = begun([march(change) for change in FREE.values()], setting.seed, "free", 1)
    free.run(min(seconds, 60.0), stop_fallen=True)
    for i, name in enumerate(FREE):
        result.add_note(f"{name}, no speed held, {min(seconds, 60.0):g} s", upright(free, i, 1))


_ENTRIES = ("forward_by_pitch", "forward_by_roll", "lateral_by_pitch", "lateral_by_roll")
