"""The search that makes an imitated clip walk as people do: with push-off, at a speed, judged by the gait card.

Tracking a clip's angles alone gives no push-off: the servo of the ankle only yields. So the same clip is first followed
frame by frame (da Silva 2008), whose quadratic program finds the ankles' torques; averaged over the steps they become
the skill's feed-forward table. Then CMA-ES searches for the skill's numbers with `gait_objective` as the cost, falls
after small pushes among it, and its mean is kept. It begins with an imitation that walks already: from a first guess
every candidate falls, and the card has nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter1d

from surefoot.characters.table import CharacterTable
from surefoot.errors import SurefootError
from surefoot.lab.gait_objective import GaitObjective
from surefoot.lab.imitation_search import BOUNDS
from surefoot.lab.parameter_tuning import tune
from surefoot.motions.foot_contacts import footstrikes
from surefoot.motions.motion import Motion
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill

FED = ("ankle",)  # kinds of joints whose torques are fed forward: the knees of a followed clip are bent more than ours
_KNOTS = 21  # of a table over a step
_SMOOTH = 1.0  # [knots]
_FEWEST = 4  # steps that are averaged

WALK_BOUNDS: Mapping[str, tuple[float, float]] = {
    **{name: span for name, span in BOUNDS.items() if name not in ("drift", "torso_roll")},
    "offsets.swing_knee": (-0.25, 0.4), "offsets.stance_knee": (-0.25, 0.4), "offsets.swing_hip": (-0.3, 0.3),
    "offsets.swing_ankle": (-0.3, 0.4), "offsets.stance_ankle": (-0.35, 0.35), "torso": (-0.25, 0.25),
    "tempo": (0.9, 1.15), "gains.knee.kp": (150.0, 1000.0), "gains.knee.kd": (10.0, 80.0),
    "gains.ankle.kp": (60.0, 500.0), "gains.ankle.kd": (4.0, 60.0), "feedforward_share": (0.0, 1.2),
}  # fmt: skip
"""What may change: also stiffness, knees that the clip's skeleton bends too much, and how much is fed forward."""
_BEGIN = {"gains.ankle.kp": 150.0, "gains.ankle.kd": 15.0, "feedforward_share": 0.1}
_PUSHES = ((40.0, 0.0), (-30.0, 0.0), (0.0, 25.0))  # [N]
_SIGMA, _CANDIDATES = 0.05, 14


def torques_over_step(motion: Motion, table: CharacterTable, after: float) -> dict[str, list[float]]:
    """Torques of roles over a step from footstrike to footstrike [N·m]: the median of all steps, smoothed.

    Args:
        motion: a simulated walk.
        table: its character.
        after: steps count from here on [s].

    Raises:
        SurefootError: there are too few steps.
    """
    order, share = list(table.gains), np.linspace(0.0, 1.0, _KNOTS)
    strikes = [(frame, leg) for frame, leg in footstrikes(motion) if motion.time[frame] >= after]
    steps = [(a, b, leg) for (a, leg), (b, other) in pairwise(strikes) if other != leg]
    if len(steps) < _FEWEST:
        raise SurefootError(f"torques are averaged over at least {_FEWEST} steps; the followed clip takes {len(steps)}")
    found = {}
    for i, role in enumerate(table.anatomy.roles):
        if table.anatomy.kind(role) in FED:
            columns = [motion.torque[a : b + 1, order.index(table.anatomy.joints(1 - leg)[i])] for a, b, leg in steps]
            sampled = [np.interp(share, np.linspace(0.0, 1.0, len(column)), column) for column in columns]
            smooth = gaussian_filter1d(np.median(sampled, axis=0), _SMOOTH, mode="nearest")
            found[role] = [round(float(value), 1) for value in smooth]
    return found


def search_captured_walk(
    skill: Skill,
    speed: float,
    *,
    generations: int,
    seed: int = 0,
    threads: int = 0,
    checkpoint: Path | None = None,
    report: Callable[[str, float], None] = lambda text, share: None,
) -> Skill:
    """Search for the numbers with which a captured gait walks as people do.

    Args:
        skill: a captured gait that walks, with its feed-forward torques.
        speed: to walk at [m/s].
        generations: of the search.
        seed: of the search.
        threads: 0 is all cores.
        checkpoint: a stopped search resumes from this file.
        report: called after every generation with what is done and the share of the work.
    """
    objective = GaitObjective(speed, pushes=_PUSHES, tried=1, replicas=2, settle=2.2, measured=3.0)
    return tune(
        with_parameters(skill, _BEGIN), WALK_BOUNDS, [objective], generations=generations, seed=seed, sigma=_SIGMA,
        popsize=_CANDIDATES, threads=threads, checkpoint=checkpoint, keep_mean=True,
        report=lambda generation, best: report(
            f"like people, generation {generation}, best cost {best:.1f}", generation / generations
        ),
    ).skill  # fmt: skip
