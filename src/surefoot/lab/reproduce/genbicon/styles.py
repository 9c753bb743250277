"""§4.4, generalization across style: one law, many small files of curves.

A style counts if all its replicas walk on. Two styles are told apart by their mean cycles (RMSE of hip, knee and ankle
flexions and of the torso's pitch, `lab.gait_measures`), or by speed, step width or height of the feet: by a fifth of
the larger one. No leg may pass through the other, no foot may skate.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import Gait, foot_positions, leg_clearance, mean_cycle, measure_gait, style_difference
from surefoot.lab.reproduce.replica_walks import replica_population
from surefoot.motions.motion import Motion
from surefoot.skills import BIPED, load, names
from surefoot.skills.schema import Skill

BODY, OTHERS = "humanoid", ("ape", "robot")
REPLICAS = 5
ENOUGH = 18  # styles
DIFFERENT, FIFTH = 5.0, 0.2  # [deg] RMSE, and share of the larger one
LARGEST_SLIP = 0.1  # [m] slid per metre (or per second in place)
_ZERO, _STAND, _ORDINARY = f"{BIPED}/zero-walk", f"{BIPED}/stand", f"{BIPED}/walk"
_RECORDED, _FPS = 4.0, 100.0  # [s], frames per second
_ELSEWHERE = 20.0  # [s] on the other bodies


@dataclass(frozen=True)
class Style:
    """What the replicas of one style did."""

    kept: int
    gait: Gait  # of the first replica
    lift: float  # [m] of its ankles, from their lowest to their highest place
    slip: float  # of the worst replica
    clearance: float  # [m] between the legs, in the worst replica
    cycle: np.ndarray  # (phases, angles) of the first replica
    motion: Motion


def styles() -> list[Skill]:
    """All styles that walk; the zero gait has no style, and `flat-walk` stands for the ordinary walk."""
    found = [load(name) for name in names() if name.startswith(f"{BIPED}/") and name not in (_ZERO, _ORDINARY)]
    return [s for s in found if s.controller == "genbicon" and s.parameters.walks]


def told_apart(one: Style, other: Style) -> bool:
    """Whether two styles differ in their joint angles, or by a fifth in speed, step width or height of the feet."""
    if style_difference(one.cycle, other.cycle) >= DIFFERENT:
        return True
    pairs = (
        (one.gait.speed, other.gait.speed),
        (one.gait.step_width, other.gait.step_width),
        (one.lift, other.lift),
    )
    return any(abs(a - b) >= FIFTH * max(abs(a), abs(b)) for a, b in pairs)


def run(result: Result, setting: Setting) -> None:
    """Let every style walk, compare all pairs, and draw them."""
    seconds = 8.0 if setting.quick else 60.0
    skills = styles()
    setting.progress(f"{len(skills)} styles", 0.05)
    found = _walked(result, setting, skills, seconds)
    whole = {name: style for name, style in found.items() if style.kept == REPLICAS}
    fell = ", ".join(s.name for s in skills if s.name not in whole) or "none"
    result.add_row(f"styles of which {REPLICAS} of {REPLICAS} walk {seconds:g} s", "many",
                   f"{len(whole)} of {len(skills)}", f"styles (≥ {ENOUGH})", len(whole) >= ENOUGH)  # fmt: skip
    result.add_note("styles that fall", fell)
    _compare(result, whole)
    _judge(result, whole)
    setting.progress("standing, and other bodies", 0.8)
    _stand(result, setting, seconds)
    for body in OTHERS:
        _elsewhere(result, setting, skills, body)
    figures.save_contact_sheet(
        setting.figure_path(result.experiment, "styles.png"), {n: s.motion for n, s in found.items()}
    )


def _replicas(setting: Setting, skills: list[Skill], body: str, count: int) -> Population:
    """Replicas of each skill on a body, skill by skill."""
    return replica_population(
        skills, count, lambda case, k: (setting.seed, "style", body, skills[case].name, k),
        character=body, seed=setting.seed,
    )  # fmt: skip


def _walked(result: Result, setting: Setting, skills: list[Skill], seconds: float) -> dict[str, Style]:
    """Run all replicas and measure their last seconds; a style whose first replica fell or never cycles is missing."""
    population = _replicas(setting, skills, BODY, REPLICAS)
    population.run(seconds - _RECORDED, stop_fallen=True)
    motions = population.run(_RECORDED, fps=_FPS, stop_fallen=True)
    setting.progress("measuring", 0.7)
    found = {}
    for i, skill in enumerate(skills):
        own, fallen = motions[i * REPLICAS :][:REPLICAS], population.fallen_at[i * REPLICAS :][:REPLICAS]
        gaits = [measure_gait(m) for m, at in zip(own, fallen, strict=True) if np.isinf(at)]
        for k, at in enumerate(fallen):
            result.runs.append({"style": skill.name, "replica": k, "fallen_at": at})
        cycle = mean_cycle(own[0]) if np.isinf(fallen[0]) else None
        if cycle is None:
            continue
        lift = float(np.ptp(foot_positions(own[0])[:, :, 2], axis=0).mean())
        clearance = min(leg_clearance(m) for m, at in zip(own, fallen, strict=True) if np.isinf(at))
        slip = max(gait.slip for gait in gaits)
        found[skill.name] = Style(len(gaits), gaits[0], lift, slip, clearance, cycle, own[0])
        gait = gaits[0]
        result.add_note(
            f"{skill.name}: how it walks",
            f"{len(gaits)} of {REPLICAS}; {gait.speed:.2f} m/s, {gait.cadence:.2f} steps/s, width "
            f"{100 * gait.step_width:.0f} cm, feet lifted {100 * lift:.0f} cm, torso rolls {gait.roll:.0f}°, slip "
            f"{slip:.3f}, legs {100 * clearance:.1f} cm apart, peak torque {gait.peak_torque:.0f} N·m",
        )
    return found


def _compare(result: Result, found: dict[str, Style]) -> None:
    """All pairs of styles."""
    alike, by_angles, nearest = [], 0, (np.inf, "none")
    for a, b in combinations(found, 2):
        apart = style_difference(found[a].cycle, found[b].cycle)
        nearest = min(nearest, (apart, f"{a} / {b}"))
        by_angles += apart >= DIFFERENT
        if not told_apart(found[a], found[b]):
            alike.append(f"{a} / {b} {apart:.1f}°")
        result.runs.append({"style": a, "compared_with": b, "rmse_deg": apart})
    pairs = len(found) * (len(found) - 1) // 2
    result.add_row("pairs of styles told apart", "distinct", f"{pairs - len(alike)} of {pairs}",
                   f"pairs (≥ {DIFFERENT:g}° RMSE, or ≥ {100 * FIFTH:g} % in speed, width or height)",
                   pairs > 0 and not alike)  # fmt: skip
    result.add_note("pairs told apart by their joint angles alone", f"{by_angles} of {pairs}", "pairs")
    result.add_note("nearest pair", f"{nearest[1]} {nearest[0]:.1f}", "° RMSE over the cycle")
    if alike:
        result.add_note("alike", ", ".join(alike))


def _judge(result: Result, found: dict[str, Style]) -> None:
    """That they walk on their feet, and not through themselves."""
    slip, skating = max(((s.slip, n) for n, s in found.items()), default=(np.inf, "none"))
    result.add_row("most slip", "", f"{skating} {slip:.3f}", f"m/m (≤ {LARGEST_SLIP:g})", slip <= LARGEST_SLIP)
    gap, close = min(((s.clearance, n) for n, s in found.items()), default=(-np.inf, "none"))
    result.add_row("legs nearest to each other", "", f"{close} {100 * gap:.1f}", "cm (≥ 0)", gap >= 0.0)


def _stand(result: Result, setting: Setting, seconds: float) -> None:
    """The style that does not walk."""
    population = _replicas(setting, [load(_STAND)], BODY, REPLICAS)
    population.run(seconds, stop_fallen=True)
    steps = [int(row.report[0].steps) for row in population.rows]
    good = int(np.isinf(population.fallen_at).sum())
    ours = f"{good} of {REPLICAS} stand {seconds:g} s, {sum(steps)} steps taken"
    result.add_row("stand", "stands", ours, "", good == REPLICAS and not any(steps))


def _elsewhere(result: Result, setting: Setting, skills: list[Skill], body: str) -> None:
    """One replica of each style on another body."""
    seconds = 4.0 if setting.quick else _ELSEWHERE
    population = _replicas(setting, skills, body, 1)
    population.run(seconds, stop_fallen=True)
    up = np.isinf(population.fallen_at)
    fell = ", ".join(s.name for s, good in zip(skills, up, strict=True) if not good) or "none"
    result.add_note(f"the same files on the {body}", f"{up.sum()} of {len(skills)}",
                    f"walk {seconds:g} s; fell: {fell}")  # fmt: skip
    for skill, at in zip(skills, population.fallen_at, strict=True):
        result.runs.append({"style": skill.name, "body": body, "replica": 0, "fallen_at": at})
