"""The search that makes an imitated clip walk as people do: with push-off, at a speed, judged by the gait card.

Tracking a clip's angles alone gives no push-off, and a search that begins with a clip finds no walk at all: every
candidate falls, and the card has nothing to say. So it begins with a walk that passes the card, the plain walk of the
same body, recorded: its angles are the first targets, and the torques of its knees and ankles the first feed-forward
table. Then the targets slide towards the clip's, generation by generation, while CMA-ES keeps the walk up.

What shall be like the clip is the motion, not the targets: soft servos lag behind them. So the targets of hips, knees
and ankles may move off in their first harmonics, and the motion's distance from the clip is part of the cost, besides
`gait_objective` with small pushes. The search's mean is kept.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d

from surefoot.characters.table import CharacterTable
from surefoot.controllers.imitation.captured_gait import skill_from_gait
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, SurefootError
from surefoot.lab.gait import POINTS, GaitCard
from surefoot.lab.gait_objective import FELL, WALK, GaitObjective, Wish
from surefoot.lab.imitation_search import BOUNDS
from surefoot.lab.parameter_tuning import tune
from surefoot.motions.foot_contacts import footstrikes
from surefoot.motions.gait_cycle import GaitCycle, mix_cycles
from surefoot.motions.gait_search import find_gait_cycle
from surefoot.motions.motion import Motion
from surefoot.motions.retargeting import RetargetedClip
from surefoot.skills import files, set_document_value

PLAIN_WALKS = {"human": "human/walk"}  # by body: a walk that passes the card, told its speed
FED = ("knee", "ankle")  # kinds of joints whose torques are fed forward
_SHIFTED = ("hip", "knee", "ankle")  # kinds of joints whose targets may move off the clip's
_HARMONICS = 3  # by so many harmonics
_SAMPLES, _SMOOTH, _KNOTS = 21, 0.6, 7  # of a torque over a step; smoothing in samples; what is left of them
_FEWEST = 4  # steps that are averaged
_SETTLE, _RECORDED, _FPS = 8.0, 8.0, 250.0  # [s], [s], [1/s] of the plain walk
_ACCURACY = float(np.radians(0.7))  # of its cycle
_BEARS = 20.0  # [N] from which on a foot stands

_LARGEST = {"stance_knee": (-110.0, 60.0), "stance_ankle": (-220.0, 60.0), "swing_knee": (-80.0, 80.0),
            "swing_ankle": (-40.0, 40.0)}  # fmt: skip
WALK_BOUNDS: Mapping[str, tuple[float, float]] = {
    **{name: span for name, span in BOUNDS.items() if name not in ("drift", "torso_roll")},
    "offsets.swing_knee": (-0.25, 0.4), "offsets.stance_knee": (-0.25, 0.4), "offsets.swing_hip": (-0.3, 0.3),
    "offsets.swing_ankle": (-0.3, 0.4), "offsets.stance_ankle": (-0.35, 0.35), "torso": (-0.25, 0.25),
    "offsets.swing_ankle_roll": (-0.15, 0.15), "offsets.waist_yaw": (-0.15, 0.15), "tempo": (0.9, 1.15),
    "earliest": (0.6, 0.98), "overrun": (0.0, 0.2), "reach": (0.0, 6.0),
    "gains.hip.kp": (150.0, 900.0), "gains.hip.kd": (15.0, 90.0), "gains.knee.kp": (150.0, 1000.0),
    "gains.knee.kd": (10.0, 80.0), "gains.ankle.kp": (60.0, 500.0), "gains.ankle.kd": (4.0, 60.0),
    **{f"feedforward.{role}.{knot}": span for role, span in _LARGEST.items() for knot in range(_KNOTS)},
}  # fmt: skip
"""What may change of a skill: also stiffness, and what is fed forward."""
_TARGETS: Mapping[str, tuple[float, float]] = {
    f"targets.{kind}.{k}": (-0.25, 0.25) if k < 3 else (-0.15, 0.15)  # [rad]; the mean and the first harmonic move more
    for kind in _SHIFTED
    for k in range(2 * _HARMONICS + 1)
}
_FIRST_GUESS: Mapping[str, Any] = {
    "gains": {"ankle": {"kp": 227.0, "kd": 25.0}, "knee": {"kp": 266.0, "kd": 41.0}, "hip": {"kp": 300.0, "kd": 30.0}},
    "offsets": {
        name.removeprefix("offsets."): 0.0 for name in WALK_BOUNDS if name.startswith("offsets.")
    },
    "feedback": {"stance_ankle": [0.37, -0.06], "stance_ankle_roll": [-0.46, -0.25]},
    "clearance": 0.05, "tuck": 0.2, "tempo": 1.0, "cd": 0.06, "cv": 0.17, "cd_lateral": 0.47, "cv_lateral": 0.29,
    "support": 1.0, "reach": 1.0, "overrun": 0.02, "earliest": 0.85, "handoff": 0.0, "torso": 0.0,
}  # fmt: skip
"""Gains and feedback of the plain walk itself."""
_WISHES = {
    **WALK, "score": Wish(0.0, 7.8, 0.8, 4.0), "toe_off_pitch": Wish(-70.0, -40.0, 3.0, 2.0),
    "work": Wish(0.0, 0.2, 0.012, 2.0), "trunk_roll": Wish(0.0, 3.5, 1.5, 2.0), "slip": Wish(0.0, 0.012, 0.003, 3.0),
    "step_width": Wish(0.05, 0.15, 0.02),
}  # fmt: skip
_NEAR_CLIP = Wish(0.0, 7.0, 1.0, 1.5)  # [deg]
_WORST_WALK = 0.495 * FELL  # no walk costs as much as a fall
_PUSHES = ((40.0, 0.0), (-30.0, 0.0), (0.0, 25.0))  # [N]
_SIGMA, _CANDIDATES = 0.03, 32
CLIP_SHARE = 0.4  # of the clip in the targets, in the end: with more of it a walk misses the bars of people
_OWN_UNTIL, _SLID_AT = 0.25, 0.5  # shares of the search: until then the walk's own targets, from then on CLIP_SHARE


@dataclass(frozen=True)
class PlainWalk:
    """The cycle of a plain walk, and the torques of `FED` roles over a step of it [N·m]."""

    cycle: GaitCycle
    torques: Mapping[str, Sequence[float]]


def record_plain_walk(character: str, speed: float) -> PlainWalk:
    """Record the plain walk of a body.

    Args:
        character: name of the body.
        speed: told to the walk [m/s].

    Raises:
        CommandError: the body has no plain walk.
    """
    if character not in PLAIN_WALKS:
        raise CommandError(
            f"no plain walk of {character} to begin with: a walk at a speed is made for {', '.join(PLAIN_WALKS)}"
        )
    sim = Simulation(character, PLAIN_WALKS[character])
    sim.command(speed=speed)
    sim.run(_SETTLE)
    motion, table = sim.run(_RECORDED, fps=_FPS), sim.scene.table
    angles = {name: motion.qpos[:, int(sim.model.joint(name).qposadr[0])] for name in table.gains}
    clip = RetargetedClip(
        motion.time - motion.time[0], angles, motion.qpos[:, :3], motion.qpos[:, 3:7],
        motion.contact_force[:, :2, 2] > _BEARS, 1.0, (),
    )  # fmt: skip
    cycle = find_gait_cycle(clip, table, _ACCURACY).symmetrized(table)
    return PlainWalk(cycle, torques_over_step(motion, table, 0.0))


def torques_over_step(motion: Motion, table: CharacterTable, after: float) -> dict[str, list[float]]:
    """Torques of roles over a step from footstrike to footstrike [N·m]: the median of all steps, smoothed.

    Args:
        motion: a simulated walk.
        table: its character.
        after: steps count from here on [s].

    Raises:
        SurefootError: there are too few steps.
    """
    order, share = list(table.gains), np.linspace(0.0, 1.0, _SAMPLES)
    strikes = [(frame, leg) for frame, leg in footstrikes(motion) if motion.time[frame] >= after]
    steps = [(a, b, leg) for (a, leg), (b, other) in pairwise(strikes) if other != leg]
    if len(steps) < _FEWEST:
        raise SurefootError(f"torques are averaged over at least {_FEWEST} steps; the walk takes {len(steps)}")
    found = {}
    for i, role in enumerate(table.anatomy.roles):
        if table.anatomy.kind(role) in FED:
            columns = [motion.torque[a : b + 1, order.index(table.anatomy.joints(1 - leg)[i])] for a, b, leg in steps]
            sampled = [np.interp(share, np.linspace(0.0, 1.0, len(column)), column) for column in columns]
            smooth = gaussian_filter1d(np.median(sampled, axis=0), _SMOOTH, mode="nearest")
            found[role] = [round(float(v), 1) for v in np.interp(np.linspace(0.0, 1.0, _KNOTS), share, smooth)]
    return found


def curves_of(cycle: GaitCycle) -> dict[str, np.ndarray]:
    """(POINTS,) angles of the left leg over a stride from its footstrike [deg], as a gait card tells them."""
    at = max(cycle.contacts[0], key=lambda span: span[1] - span[0])[0] + np.linspace(0.0, 1.0, POINTS)
    angles, pitch = cycle.angles_at(at), cycle.root_at(at)["pitch"]
    return {
        "thigh": np.degrees(angles["left_hip"] - pitch), "knee": -np.degrees(angles["left_knee"]),
        "ankle": np.degrees(angles["left_ankle"]),
    }  # fmt: skip


@dataclass(frozen=True)
class CapturedWalkObjective(GaitObjective):
    """Cost of a gait that also has to move like a clip.

    Attributes:
        clip: curves of the clip, see `curves_of`.
    """

    clip: Mapping[str, np.ndarray] = field(default_factory=dict)

    def cost_of_card(self, card: GaitCard) -> float:
        """Cost of what a card says, and of the distance of its curves from the clip's."""
        return min(super().cost_of_card(card) + _NEAR_CLIP.cost(self.distance(card)), _WORST_WALK)

    def distance(self, card: GaitCard) -> float:
        """Root mean square distance of a card's curves from the clip's, of both legs [deg]."""
        squares = [((card.curves[name] - curve[:, None])[:-1] ** 2).mean() for name, curve in self.clip.items()]
        return float(np.sqrt(np.mean(squares)))


def clip_share(generation: int, generations: int) -> float:
    """The share of the clip in the targets of a generation."""
    done = (generation / generations - _OWN_UNTIL) / (_SLID_AT - _OWN_UNTIL)
    return CLIP_SHARE * min(max(done, 0.0), 1.0)


@dataclass(frozen=True)
class CapturedWalk:
    """Skills between a plain walk and a clip.

    Attributes:
        plain: where the search begins.
        clip: the clip's cycle, symmetrized.
        table: the character.
        about: name, summary, clip's name and credit of the skill.
    """

    plain: PlainWalk
    clip: GaitCycle
    table: CharacterTable
    about: tuple[str, str, str, str]

    def document(self, share: float, values: Mapping[str, float]) -> dict[str, Any]:
        """The document of a skill.

        Args:
            share: of the clip in the targets.
            values: by parameter, of `WALK_BOUNDS` and of the targets' harmonics.
        """
        cycle = self._shifted(mix_cycles(self.plain.cycle, self.clip, share), values)
        found = skill_from_gait(cycle, self.table, *self.about)
        torques = {role: list(self.plain.torques[role]) for role in _LARGEST}
        found["parameters"] |= copy.deepcopy(dict(_FIRST_GUESS)) | {"feedforward": torques}
        for name, value in values.items():
            if name not in _TARGETS:
                set_document_value(found, name, round(value, 4))
        return found

    def _shifted(self, cycle: GaitCycle, values: Mapping[str, float]) -> GaitCycle:
        """A cycle whose legs' targets move off by their first harmonics; the right leg is half a cycle later."""
        joints, count = dict(cycle.joints), 2 * _HARMONICS + 1
        later = np.array([1.0, *(sign for h in range(1, _HARMONICS + 1) for sign in [(-1.0) ** h] * 2)])
        for kind in _SHIFTED:
            moved = np.array([values.get(f"targets.{kind}.{k}", 0.0) for k in range(count)])
            for side, sign in (("left", np.ones(count)), ("right", later)):
                series = np.zeros(max(len(joints[f"{side}_{kind}"]), count))
                series[: len(joints[f"{side}_{kind}"])] = joints[f"{side}_{kind}"]
                series[:count] += sign * moved
                joints[f"{side}_{kind}"] = series
        return replace(cycle, joints=joints)


def search_captured_walk(
    walk: CapturedWalk,
    speed: float,
    *,
    generations: int,
    seed: int = 0,
    threads: int = 0,
    checkpoint: Path | None = None,
    report: Callable[[str, float], None] = lambda text, share: None,
) -> dict[str, Any]:
    """Search for the numbers with which a captured gait walks as people do; returns the skill's document.

    Args:
        walk: a plain walk and the clip.
        speed: to walk at [m/s].
        generations: of the search.
        seed: of the search.
        threads: 0 is all cores.
        checkpoint: a stopped search resumes from this file.
        report: called after every generation with what is done and the share of the work.
    """
    name = walk.about[0]
    objective = CapturedWalkObjective(
        speed, wishes=_WISHES, pushes=_PUSHES, tried=1, replicas=1, settle=2.2, measured=2.6,
        clip=curves_of(walk.clip),
    )  # fmt: skip
    found = tune(
        files.validate(walk.document(0.0, {}), name), {**WALK_BOUNDS, **_TARGETS}, [objective], seed=seed,
        generations=generations, sigma=_SIGMA, popsize=_CANDIDATES, threads=threads, checkpoint=checkpoint,
        keep_mean=True,
        vary=lambda _, values, generation: files.validate(
            walk.document(clip_share(generation, generations), values), name
        ),
        report=lambda generation, best: report(
            f"like people, generation {generation}, best cost {best:.1f}", generation / generations
        ),
    )  # fmt: skip
    return walk.document(CLIP_SHARE, found.values)
