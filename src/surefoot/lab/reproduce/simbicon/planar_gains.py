"""§7.3 in the plane: for which balance gains the walk goes on, as a map."""

from __future__ import annotations

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.simbicon.gaits import skill
from surefoot.lab.robustness import stable_range

_PRINTED = (2.2, 0.2)  # cd of states 1,3 and cv of states 0,2 in Table 1
_POSITION = np.round(np.arange(-1.0, 6.01, 0.4), 3)  # cd of states 1,3
_VELOCITY = np.round(np.arange(-0.2, 1.001, 0.05), 3)  # cv of states 0,2


def run(result: Result, setting: Setting) -> None:
    """Walk from the start state with every pair of gains."""
    cd, cv = (_POSITION[::3], _VELOCITY[::3]) if setting.quick else (_POSITION, _VELOCITY)
    grid = np.array([(d, v) for v in cv for d in cd])
    seconds = 10.0 if setting.quick else 20.0
    values = {"states.1.cd": grid[:, 0], "states.0.cv": grid[:, 1]}
    population = Population(len(grid), skill=skill("walk"), parameters=values)
    setting.progress(f"walking with {len(grid)} pairs of gains", 0.1)
    population.run(seconds, stop_fallen=True)
    lasted = np.minimum(population.fallen_at, seconds).reshape(len(cv), len(cd))
    walks = lasted >= seconds
    i, j = int(np.abs(cv - _PRINTED[1]).argmin()), int(np.abs(cd - _PRINTED[0]).argmin())
    near = walks[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]
    inside = bool(walks[i, j]) and bool(near.all())
    result.add_row(
        "the printed gains (cd 2.2, cv 0.2) lie inside", "stable", f"{near.sum()} of {near.size} around walk",
        f"map points, {seconds:g} s", inside,
    )  # fmt: skip
    result.add_note("stable range of cd of states 1,3 at cv 0.2", str(stable_range(cd, walks[i], j)))
    result.add_note("stable range of cv of states 0,2 at cd 2.2", str(stable_range(cv, walks[:, j], i)))
    result.add_note("share of the map that walks", f"{100 * walks.mean():.0f} %")
    for (d, v), fell in zip(grid, population.fallen_at, strict=True):
        result.runs.append({"cd_1_3": d, "cv_0_2": v, "fallen_at": fell})
    path = setting.figure_path(result.experiment, "map.png")
    figures.gain_map(path, cd, cv, lasted, _PRINTED, ("cd of states 1, 3", "cv of states 0, 2"))
