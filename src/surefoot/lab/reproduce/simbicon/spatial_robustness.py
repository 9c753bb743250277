"""§7.2, "Robustness": pushes, unanticipated ground and other proportions in three dimensions.

Pushes: the largest recoverable ones in eight directions, at phase 0.1 of the cycle, for 0.4 s.

Ground: slopes and steps that the walk does not know of, and 20° uphill with a skill of its own. The edge lies 0.6 m
ahead of the start. A ground is passed if a replica has not fallen after 25 s and has then walked on for half a metre
beyond the edge or more.

Proportions: other thighs and other masses, without retuning. A body made with other proportions gets stronger servos
with its weight and the length of its legs. A heavier body would then walk just as before, which proves nothing: here
the servos keep the gains of the unchanged body. The same with the changed body's own gains is shown beside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from surefoot.characters import load as load_character
from surefoot.characters.builder import with_proportions
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import NOT_QUICK, Result, Setting
from surefoot.lab.gait_measures import mean_cycle, style_difference
from surefoot.lab.reproduce.replica_walks import highest_level
from surefoot.lab.reproduce.simbicon.gaits import REPLICAS, human, missing, replicas_from_start, skill, typical, upright
from surefoot.lab.reproduce.simbicon.table_gaits import UPHILL
from surefoot.lab.robustness import DIRECTIONS, NEEDED, PAPER_FORCES, at_strike, direction_thresholds, push_survivors_3d
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill

PRINTED, ROBUST = "walk-as-printed", "robust-walk"
_SUM, _WEAKEST = 0.85, 0.70  # of the paper's: all directions together, and each of them
_UNIT = "N per axis, 0.4 s"
WORDS = {
    (0, 1): "forwards", (1, 1): "forwards to the left", (1, 0): "to the left", (1, -1): "backwards to the left",
    (0, -1): "backwards", (-1, -1): "backwards to the right", (-1, 0): "to the right",
    (-1, 1): "forwards to the right",
}  # fmt: skip


def run_pushes(result: Result, setting: Setting) -> None:
    """Both walks, pushed after right foot strike as in the paper and, mirrored, after left foot strike."""
    skills = {name: walk for name in (PRINTED, ROBUST) if (walk := human(name))}
    for name in (PRINTED, ROBUST):
        if name not in skills:
            missing(result, f"{name} in all eight directions", "8", name)
    if setting.quick:
        _push_as_the_paper(result, setting, skills)
        return
    found: dict[str, np.ndarray] = {"the paper": np.array(PAPER_FORCES)}
    for i, (name, walk) in enumerate(skills.items()):
        for foot in (1, 0):

            def tick(share: float, label: str = name, start: float = 0.5 * i + 0.25 * (1 - foot)) -> None:
                setting.progress(f"pushing {label}", start + share / 4)

            label = f"human/{name}" + ("" if foot else ", mirrored")
            found[label], runs = direction_thresholds(walk, setting.seed, foot=foot, tick=tick)
            result.runs += [{"skill": name, "foot": foot} | run for run in runs]
    if PRINTED in skills:
        _bar_printed(result, found[f"human/{PRINTED}"])
    for label, levels in found.items():
        for way, ours, paper in zip(DIRECTIONS, levels, PAPER_FORCES, strict=True):
            if label == f"human/{ROBUST}":
                result.add_row(f"one walk, pushed {WORDS[way]}", f"{paper:g}", f"{ours:g}", _UNIT, ours >= paper)
            elif label != "the paper":
                result.add_note(f"{label}: {WORDS[way]}", f"{ours:g}", _UNIT, f"{paper:g}")
    figures.push_rose(setting.figure_path(result.experiment, "directions.png"), DIRECTIONS, found)


def _push_as_the_paper(result: Result, setting: Setting, skills: dict[str, Skill]) -> None:
    """A quick look: how many replicas survive the paper's force in each direction. Thresholds are not measured."""
    if PRINTED in skills:
        for what in ("sum of eight directions", "weakest direction"):
            result.add_missing(f"Table 1's walk as printed, {what}", reason=NOT_QUICK)
    for name, walk in setting.each(skills.items(), label="pushing human/{}"):
        kept = survivors_by_direction(result, walk, setting.seed, PAPER_FORCES)
        for way, count, paper in zip(DIRECTIONS, kept, PAPER_FORCES, strict=True):
            ours, unit = f"{count} of {REPLICAS} survive {paper:g}", f"{_UNIT} (≥ {NEEDED}; lower forces not tried)"
            if name == ROBUST:
                result.add_row(f"one walk, pushed {WORDS[way]}", f"{paper:g}", ours, unit, count >= NEEDED)
            else:
                result.add_note(f"human/{name}: {WORDS[way]}", ours, _UNIT, f"{paper:g}")


def survivors_by_direction(
    result: Result,
    skill: Skill,
    seed: int,
    forces: Sequence[float],
    character: str | None = None,
    commands: Mapping[str, float] | None = None,
) -> np.ndarray:
    """(8,) how many replicas survive one force [N per axis] in each direction, pushed after right foot strike."""
    start = at_strike(skill, seed, character=character, commands=commands)
    pushes = [(force * way[0], force * way[1]) for way, force in zip(DIRECTIONS, forces, strict=True)]
    cases = [(push, k) for push in pushes for k in range(REPLICAS)]
    alive = push_survivors_3d(skill, start, cases, character)
    for ((lateral, sagittal), k), survived in zip(cases, alive, strict=True):
        record = {"lateral": lateral, "sagittal": sagittal, "replica": k, "survived": int(survived)}
        result.runs.append({"skill": skill.name} | dict(commands or {}) | record)
    return np.asarray(alive.reshape(len(pushes), REPLICAS).sum(axis=1))


def _bar_printed(result: Result, levels: np.ndarray) -> None:
    shares, paper = levels / np.array(PAPER_FORCES), sum(PAPER_FORCES)
    total, weakest = float(levels.sum()), int(shares.argmin())
    result.add_row("Table 1's walk as printed, sum of eight directions", f"{paper:g}",
                   f"{total:g} = {100 * total / paper:.0f} %", f"{_UNIT} (≥ {100 * _SUM:g} %)",
                   total >= _SUM * paper)  # fmt: skip
    result.add_row("Table 1's walk as printed, weakest direction", f"{PAPER_FORCES[weakest]:g}",
                   f"{levels[weakest]:g} = {100 * shares[weakest]:.0f} %, {WORDS[DIRECTIONS[weakest]]}",
                   f"{_UNIT} (≥ {100 * _WEAKEST:g} %)", bool(shares[weakest] >= _WEAKEST))  # fmt: skip


EDGE, BEYOND, SECONDS = 0.6, 0.5, 25.0  # [m], [m], [s]
SLOPES, STEPS = (-6.0, -3.0, 3.0, 6.0, 10.0), (-5.0, 5.0)  # [deg], [cm]
_SLOPES_TRIED, _STEPS_TRIED = 20, 15  # [deg], [cm] at most, either way


def slope(degrees: float) -> str:
    """Describe level ground, then an endless slope."""
    return f"slope:{degrees:g},{EDGE:g}"


def step(centimetres: float) -> str:
    """Describe level ground, one step, level ground."""
    return f"steps:{EDGE:g},{centimetres / 100:g}"


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def run_terrain(result: Result, setting: Setting) -> None:
    """The tuned walk on all grounds, the limits of both walks, and the way uphill."""
    for i, name in enumerate((ROBUST, PRINTED)):
        skill = human(name)
        if skill is None:
            missing(result, f"{name} on slopes and steps", "gentle slopes, small steps", name)
            continue
        passes = _tried(result, setting, skill)
        setting.progress(f"{name} on slopes and steps", 0.05 + 0.4 * i)
        if name == "robust-walk":
            _bar(result, f"unanticipated slopes of {_listed(SLOPES)}°", passes, [slope(a) for a in SLOPES])
            _bar(result, f"unanticipated steps of {_listed(STEPS)} cm", passes, [step(h) for h in STEPS])
        if not setting.quick:
            _limits(result, setting, name, passes, 0.1 + 0.4 * i)
        _picture(result, setting, skill)
    _uphill(result, setting)


def _tried(result: Result, setting: Setting, skill: Skill) -> Callable[[str], int]:
    """How many replicas pass a ground; each ground is tried once."""
    known: dict[str, int] = {}

    def passes(terrain: str) -> int:
        if terrain not in known:
            count = 1 if setting.quick else REPLICAS
            population = replicas_from_start([skill], setting.seed, count, terrain)
            population.run(SECONDS, stop_fallen=True)
            over = np.isinf(population.fallen_at) & (population.qpos[:, 0] >= EDGE + BEYOND)
            known[terrain] = int(over.sum())
            for k in range(count):
                result.runs.append({
                    "skill": skill.name, "terrain": terrain, "replica": k, "fallen_at": population.fallen_at[k],
                    "x": float(population.qpos[k, 0]), "passed": bool(over[k]),
                })  # fmt: skip
        return known[terrain]

    return passes


def _bar(result: Result, case: str, passes: Callable[[str], int], grounds: list[str]) -> None:
    counts, needed = [passes(ground) for ground in grounds], 1 if result.quick else REPLICAS
    result.add_row(f"one tuned walk: {case}", "copes", ", ".join(map(str, counts)), f"of {needed} replicas pass each",
                   min(counts) == needed)  # fmt: skip


def _limits(result: Result, setting: Setting, name: str, passes: Callable[[str], int], begin: float) -> None:
    """The largest level such that it and all lower ones are passed by all replicas."""
    ways: tuple[tuple[str, str, Callable[[float], str], int, int], ...] = (
        ("slope up", "°", slope, 1, _SLOPES_TRIED), ("slope down", "°", slope, -1, _SLOPES_TRIED),
        ("step up", "cm", step, 1, _STEPS_TRIED), ("step down", "cm", step, -1, _STEPS_TRIED),
    )  # fmt: skip
    for i, (what, unit, ground, sign, highest) in enumerate(ways):
        setting.progress(f"{name}: {what}", begin + 0.08 * i)

        def passed(level: float, ground: Callable[[float], str] = ground, sign: int = sign) -> bool:
            return passes(ground(sign * level)) == REPLICAS

        best = highest_level([float(level) for level in range(1, highest + 1)], passed)
        result.add_note(f"{name}: largest {what}", f"{'≥ ' if best == highest else ''}{best:g}", unit)


def _uphill(result: Result, setting: Setting) -> None:
    seconds, skill = 6.0 if setting.quick else 60.0, human("uphill-walk")
    if skill is None:
        missing(result, "up a slope of 20°", "walks", "uphill-walk")
        return
    setting.progress("uphill", 0.95)
    population = replicas_from_start([skill], setting.seed, terrain=UPHILL)
    population.run(seconds, stop_fallen=True)
    kept = upright(population)[0]
    speed = float(np.median(population.qpos[:, 0])) / seconds
    result.add_row("up a slope of 20°", "walks", f"{kept} of {REPLICAS} walk {seconds:g} s, {speed:.2f} m/s",
                   "replicas", kept == REPLICAS)  # fmt: skip


def _picture(result: Result, setting: Setting, skill: Skill) -> None:
    for label, ground in (("slope", slope(6.0)), ("step", step(-5.0))):
        path = setting.figure_path(result.experiment, f"{skill.name}-{label}.png")
        if path:
            figures.save_filmstrip(path, Simulation(None, skill, ground).run(8.0))


_BODIES = {
    "femur +10 %": {"thigh_length": 1.10}, "femur +15 %": {"thigh_length": 1.15}, "femur −15 %": {"thigh_length": 0.85},
    "mass +20 %": {"mass": 1.20}, "mass −20 %": {"mass": 0.80},
}  # fmt: skip
_RECORDED = 5.0  # [s]


def run_proportions(result: Result, setting: Setting) -> None:
    """Table 1's walk on every body; how much its style changes is shown."""
    walk, seconds = skill("walk-as-printed", "human"), 6.0 if setting.quick else 60.0
    ours, usual, _ = _walked(result, setting, "unchanged", walk, {}, seconds, None)
    result.add_note("unchanged", ours)
    for case, proportions in setting.each(_BODIES.items(), 1.0 / (1 + len(_BODIES))):
        kept_gains = with_gains_of_the_unchanged_body(walk, proportions)
        ours, _, kept = _walked(result, setting, case, kept_gains, proportions, seconds, usual)
        paper = "maintains style and stability" if case == "femur +10 %" else "larger changes: robust"
        result.add_row(case, paper, ours, "with the gains of the unchanged body", kept == REPLICAS)
        if not setting.quick:
            own = f"{case}, with gains of its own"
            result.add_note(own, _walked(result, setting, own, walk, proportions, seconds, usual)[0])


def with_gains_of_the_unchanged_body(entry: Skill, proportions: Mapping[str, float]) -> Skill:
    """The skill with the servo gains that undo what other proportions add to the body's.

    Torque limits are lowered likewise; a body that is weaker than the unchanged one stays so.
    """
    table = load_character(entry.character)
    strength = with_proportions(table, proportions).strength / table.strength
    gains = {
        table.anatomy.kind(r): table.gains[j] for r, j in zip(table.anatomy.roles, table.anatomy.joints(0), strict=True)
    }
    changes: dict[str, float] = {}
    for place, gain in [(f"gains.{kind}", gain) for kind, gain in gains.items()] + [("torso_gain", table.torso_gain)]:
        changes |= {f"{place}.kp": gain.kp / strength, f"{place}.kd": gain.kd / strength}
        changes[f"{place}.limit"] = gain.limit / max(strength, 1.0)
    return with_parameters(entry, changes)


def _walked(
    result: Result,
    setting: Setting,
    case: str,
    entry: Skill,
    proportions: Mapping[str, float],
    seconds: float,
    usual: np.ndarray | None,
) -> tuple[str, np.ndarray | None, int]:
    """What the replicas on one body did: as text, the mean cycle of the first, and how many did not fall."""
    recorded = min(_RECORDED, 0.5 * seconds)
    population = replicas_from_start([entry], setting.seed, proportions=proportions)
    population.run(seconds - recorded, stop_fallen=True)
    motions = population.run(recorded, fps=200, stop_fallen=True)
    kept, gait, cycle = upright(population)[0], typical(motions), mean_cycle(motions[0])
    style = (
        "" if cycle is None or usual is None else f", {style_difference(cycle, usual):.1f}° RMSE from the usual style"
    )
    how = f", {gait.speed:.2f} m/s, width {100 * gait.step_width:.0f} cm" if gait else ""
    for k, fell in enumerate(population.fallen_at):
        result.runs.append({"case": case, "replica": k, "fallen_at": fell} | dict(proportions))
    words = case.replace("−", "minus ").replace("+", "plus ").replace("%", "").replace(",", "").split()
    path = setting.figure_path(result.experiment, f"{'-'.join(words)}.png")
    figures.save_filmstrip(path, motions[0], f"human/walk-as-printed, {case}")
    return f"{kept} of {REPLICAS} walk {seconds:g} s{how}{style}", cycle, kept
