"""Table 1 and §7.2: the gaits of the plane and the manually designed motions in space, each for 60 s.

In the plane twelve gaits go on from their start states, in all replicas.

In space there are nine motions. A walk stays up by walking: its feet are set down more than 5 cm apart (signed: crossed
feet count as negative), it keeps its heading within 5° and its trunk rolls by less than 8°, each in the worst replica.
Heading drift is the largest difference between the yaw of the pelvis, averaged over 2 s, and the commanded heading,
from 10 s on.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from surefoot.lab import figures, gait_measures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import Gait, measure_gait, smoothed, track_heading
from surefoot.lab.reproduce.replica_walks import LARGEST_SLIP
from surefoot.lab.reproduce.simbicon.gaits import (
    REPLICAS,
    RUNNING,
    TABLE_1,
    as_printed,
    human,
    missing,
    replicas_from_start,
    skill,
    typical,
    upright,
)
from surefoot.motions.foot_contacts import footstrikes
from surefoot.motions.motion import Motion
from surefoot.skills.schema import Skill

_SLOWEST_PLANAR = {"run": 1.0, "fast-run": 2.5}  # [m/s]
_FLIGHT_PLANAR = 0.02  # share of the time that counts as flight phases
_MOST_CHANGED = 4


def run_planar(result: Result, setting: Setting) -> None:
    """Run every gait and every changed gait's printed form."""
    seconds = 10.0 if setting.quick else 60.0
    skills = {name: skill(name) for name in TABLE_1}
    changed = [name for name in TABLE_1 if skills[name].provenance.changed]
    tried = [*skills.values(), *(as_printed(name) for name in changed)]
    population = replicas_from_start(tried, setting.seed)
    setting.progress("running all gaits", 0.1)
    population.run(seconds - 5.0, stop_fallen=True)
    setting.progress("recording their last seconds", 0.8)
    motions = population.run(5.0, fps=200, stop_fallen=True)
    survived = upright(population)
    gaits = [typical(motions[i * REPLICAS : (i + 1) * REPLICAS]) for i in range(len(tried))]
    for i, name in enumerate(TABLE_1):
        _judge_planar(result, name, skills[name], survived[i], gaits[i], seconds)
        path = setting.figure_path(result.experiment, f"{name}.png")
        figures.save_filmstrip(path, motions[i * REPLICAS], skills[name].full_name)
    for i, name in enumerate(changed, start=len(TABLE_1)):
        ours = f"{survived[i]} of {REPLICAS}"
        result.add_note(f"{name} as printed: replicas that go {seconds:g} s", ours, "runs", "goes")
    for i, entry in enumerate(tried):
        for k in range(REPLICAS):
            fell, gait = population.fallen_at[i * REPLICAS + k], gaits[i]
            result.runs.append(
                {"skill": entry.name, "replica": k, "fallen_at": fell, "speed": gait.speed if gait else None}
            )
    worked = sum(row.holds for row in result.rows)
    result.add_row("gaits that hold", "12 of 12", f"{worked} of 12", "gaits", worked == len(TABLE_1))
    result.add_row("gaits with changed values", "0", str(len(changed)), f"gaits (≤ {_MOST_CHANGED})",
                   len(changed) <= _MOST_CHANGED)  # fmt: skip


def _judge_planar(result: Result, name: str, entry: Skill, survived: int, gait: Gait | None, seconds: float) -> None:
    ours = [f"{survived} of {REPLICAS} go {seconds:g} s"]
    good = survived == REPLICAS and gait is not None
    if gait is not None:
        ours.append(f"{gait.speed:.2f} m/s, {100 * gait.flight:.0f} % flight")
        good &= gait.slip <= LARGEST_SLIP
        good &= name not in RUNNING or gait.flight >= _FLIGHT_PLANAR
        good &= gait.speed >= _SLOWEST_PLANAR.get(name, -np.inf)
        good &= name != "backwards-walk" or gait.speed < -0.1
        result.add_note(
            f"{name}: how it moves",
            f"{gait.cadence:.2f} steps/s of {gait.step_length:.2f} m, sway {gait.sway:.1f}°, cost of transport "
            f"{gait.cost_of_transport:.2f}, slip {gait.slip:.3f}, peak torque {gait.peak_torque:.0f} N·m",
        )
    changes = entry.provenance.changed
    if changes:
        largest = max(changes, key=lambda c: abs(c.here - c.printed))
        ours.append(f"{len(changes)} values changed, most {largest.parameter} {largest.printed:g} → {largest.here:g}")
    result.add_row(name, "goes on", "; ".join(ours), "", good)


UPHILL = "incline:20"
MOTIONS = {
    "hop": "two-foot hop", "walk": "forward walk, style 1", "fast-walk": "forward walk, style 2",
    "high-knee-walk": "forward walk, style 3", "uphill-walk": "up a slope of 20°", "run": "forward run, style 1",
    "fast-run": "forward run, style 2", "cloud-hands": "sideways Tai Chi walk", "skip": "skipping",
}  # fmt: skip
FURTHER = ("walk-as-printed", "in-place-walk", "backwards-walk", "crouch-walk", "bent-walk", "stand")
FORWARD_WALKS = ("walk", "fast-walk", "high-knee-walk")
WALKS = (
    *FORWARD_WALKS,
    "walk-as-printed",
    "uphill-walk",
    "in-place-walk",
    "backwards-walk",
    "crouch-walk",
    "bent-walk",
)
TARGETS = ("swing_hip", "swing_knee", "swing_ankle", "stance_knee", "stance_ankle")
# Table 1, row "3D walk": cd and cv of both planes are 0.5 and 0.2, the torso is upright
TABLE_1_WALK = ((0.5, -1.1, 0.6, -0.05, 0.0), (-0.1, -0.05, 0.15, -0.1, 0.0))
_FLIGHT, _FLYING = 0.10, ("hop", "run", "fast-run")
_SLOWEST = {"uphill-walk": 0.2, "run": 2.0, "fast-run": 2.0}  # [m/s]
_FASTEST_WALK = 1.2  # [m/s] that one walk reaches at least
_NARROWEST, _DRIFT, _ROLL = 0.05, 5.0, 8.0  # [m], [deg], [deg]
_SKIPS = 0.95  # share of the foot strikes that fit L L R R
_DIFFERENT = 8.0  # [deg] between two styles
_SETTLE, _AVERAGED, _RECORDED = 10.0, 2.0, 5.0  # [s]


@dataclass(frozen=True)
class Found:
    """What the replicas of one skill did."""

    kept: int
    gait: Gait | None
    width: float  # [m] of the narrowest replica's mean step
    drift: float  # [deg] of the worst replica
    roll: float  # [deg] of the worst replica
    motions: list[Motion]

    @property
    def walks_well(self) -> bool:
        """Whether it walks as a walk does."""
        return self.width > _NARROWEST and self.drift < _DRIFT and self.roll < _ROLL


def run_spatial(result: Result, setting: Setting) -> None:
    """Run every motion and every further style that there is."""
    seconds = 6.0 if setting.quick else 60.0
    skills = {name: entry for name in (*MOTIONS, *FURTHER) if (entry := human(name))}
    level = [s for name, s in skills.items() if name != "uphill-walk"]
    found = _watched(result, setting, level, "flat", seconds)
    if "uphill-walk" in skills:
        found |= _watched(result, setting, [skills["uphill-walk"]], UPHILL, seconds)
    for name, paper in MOTIONS.items():
        if name in found:
            _judge(result, name, paper, found[name], seconds)
        else:
            missing(result, name, paper, name)
    worked = sum(row.holds for row in result.rows)
    result.add_row("motions that hold", "9", f"{worked} of {len(MOTIONS)}", "motions", worked == len(MOTIONS))
    _printed(result, skills["walk-as-printed"])
    speed, best = max(((f.gait.speed, n) for n, f in found.items() if n in WALKS and f.gait), default=(0.0, "none"))
    result.add_row("fastest walk", "", f"{best} {speed:.2f}", f"m/s (≥ {_FASTEST_WALK:g})", speed >= _FASTEST_WALK)
    _walks(result, {n: found[n] for n in WALKS if n in found})
    _compare(result, found)
    for name in FURTHER:
        if name in found:
            result.add_note(f"{name}, a further style", f"{found[name].kept} of {REPLICAS} go {seconds:g} s")
            result.add_note(f"{name}: how it moves", _how(found[name]))
        else:
            missing(result, f"{name}, a further style", "", name)


def _watched(result: Result, setting: Setting, skills: list[Skill], terrain: str, seconds: float) -> dict[str, Found]:
    """Run replicas of skills, watch their headings, record and draw their last seconds."""
    setting.progress(f"{len(skills)} skills on {terrain}", 0.85 if terrain == UPHILL else 0.05)
    settle = min(_SETTLE, 0.3 * seconds)
    recorded = min(_RECORDED, 0.3 * seconds)
    population = replicas_from_start(skills, setting.seed, terrain=terrain)
    population.run(settle, stop_fallen=True)
    yaws, _ = track_heading(population, seconds - settle - recorded)
    motions = population.run(recorded, fps=200, stop_fallen=True)
    wanted = np.array([row.report[0].heading for row in population.rows])
    drift = np.degrees(np.abs(smoothed(yaws, min(_AVERAGED, 0.5 * (seconds - settle - recorded))) - wanted)).max(axis=0)
    kept, found = upright(population), {}
    for i, entry in enumerate(skills):
        own = slice(i * REPLICAS, (i + 1) * REPLICAS)
        gaits = [measure_gait(m) for m in motions[own] if len(m) > 100]
        found[entry.name] = Found(
            kept[i], typical(motions[own]), min((g.step_width for g in gaits), default=0.0), float(drift[own].max()),
            max((g.roll for g in gaits), default=90.0), motions[own],
        )  # fmt: skip
        for k, fell in enumerate(population.fallen_at[own]):
            result.runs.append({"skill": entry.name, "terrain": terrain, "replica": k, "fallen_at": fell})
        for view in ("side", "front"):
            path = setting.figure_path(result.experiment, f"{entry.name}-{view}.png")
            figures.save_filmstrip(path, motions[i * REPLICAS], entry.full_name, view)
    return found


def _judge(result: Result, name: str, paper: str, found: Found, seconds: float) -> None:
    """The row of one motion: that it goes on, and what makes it what it is called."""
    gait, good = found.gait, found.kept == REPLICAS
    ours, bars = [f"{found.kept} of {REPLICAS} go {seconds:g} s"], []
    if gait is None:
        result.add_row(name, paper, ours[0], "", False)
        return
    sideways = f", {gait.sideways:.2f} m/s to the left" if name == "cloud-hands" else ""
    ours.append(f"{gait.speed:.2f} m/s{sideways}, {100 * gait.flight:.0f} % flight")
    good &= gait.slip <= LARGEST_SLIP
    if name in _SLOWEST:
        bars.append(f"≥ {_SLOWEST[name]:g} m/s")
        good &= gait.speed >= _SLOWEST[name]
    if name in _FLYING:
        bars.append(f"flight ≥ {100 * _FLIGHT:g} %")
        good &= gait.flight >= _FLIGHT
    if name in WALKS:
        bars.append("a walk")
        good &= found.walks_well
    if name == "cloud-hands":
        bars.append("more sideways than ahead")
        good &= abs(gait.sideways) > abs(gait.speed)
    if name == "skip":
        share = min(skipping_share([foot for _, foot in footstrikes(m)]) for m in found.motions)
        ours.append(f"{100 * share:.0f} % of strikes fit L L R R")
        bars.append(f"≥ {100 * _SKIPS:g} %")
        good &= share >= _SKIPS
    result.add_row(name, paper, "; ".join(ours), ", ".join(bars), good)
    result.add_note(f"{name}: how it moves", _how(found))


def _how(found: Found) -> str:
    gait = found.gait
    if gait is None:
        return "not at all"
    return (
        f"{gait.cadence:.2f} steps/s of {gait.step_length:.2f} m, width {100 * found.width:.1f} cm (narrowest "
        f"{100 * gait.narrowest:.1f}), drift {found.drift:.1f}°, roll {found.roll:.1f}°, cost of transport "
        f"{gait.cost_of_transport:.2f}, slip {gait.slip:.3f}, peak torque {gait.peak_torque:.0f} N·m"
    )


def skipping_share(feet: list[int]) -> float:
    """Share of foot strikes that fit L L R R: each foot is the other than that two strikes before."""
    fits = [one != other for one, other in zip(feet, feet[2:], strict=False)]
    return sum(fits) / len(fits) if fits else 0.0


def _printed(result: Result, walk: Skill) -> None:
    """Whether the file's walk is that of Table 1, number for number."""
    parameters, off = walk.parameters, []
    ends = (parameters.states[0].duration == 0.3, parameters.states[1].until == "contact")
    if len(parameters.states) != 2 or not parameters.mirrored or not all(ends) or walk.provenance.changed:
        off.append("its states or their endings")
    for i, (state, targets) in enumerate(zip(parameters.states, TABLE_1_WALK, strict=False)):
        here = (state.cd, state.cv, state.cd_lateral, state.cv_lateral, state.torso)
        printed = (0.5, 0.2, 0.5, 0.2, 0.0)
        if here != printed or state.targets != dict(zip(TARGETS, targets, strict=True)):
            off.append(f"state {i}")
    ours = f"other than printed: {', '.join(off)}" if off else "as printed"
    result.add_row("the numbers of human/walk-as-printed", 'Table 1, row "3D walk"', ours, "", not off)


def _walks(result: Result, found: dict[str, Found]) -> None:
    """All walks, those of further styles too, judged as walks."""
    good = [name for name, f in found.items() if f.walks_well and f.kept == REPLICAS]
    worst = (min(f.width for f in found.values()), max(f.drift for f in found.values()))
    roll = max(f.roll for f in found.values())
    result.add_row(
        "walks, further styles included, that neither cross their legs, turn nor roll", "",
        f"{len(good)} of {len(found)}; worst: width {100 * worst[0]:.1f} cm, drift {worst[1]:.1f}°, roll {roll:.1f}°",
        f"walks (> {100 * _NARROWEST:g} cm, < {_DRIFT:g}°, < {_ROLL:g}°)", len(good) == len(found),
    )  # fmt: skip


def _compare(result: Result, found: dict[str, Found]) -> None:
    """RMSE between mean cycles of the first replicas (`gait_measures` says what exactly is compared)."""
    cycles = {n: c for n in WALKS if n in found and (c := gait_measures.mean_cycle(found[n].motions[0])) is not None}
    apart = {pair: gait_measures.style_difference(cycles[pair[0]], cycles[pair[1]]) for pair in combinations(cycles, 2)}
    styled = {pair: value for pair, value in apart.items() if set(pair) <= set(FORWARD_WALKS)}
    ours = ", ".join(f"{a} / {b} {value:.1f}°" for (a, b), value in styled.items()) or "fewer than two walk"
    good = len(styled) == 3 and min(styled.values()) >= _DIFFERENT
    result.add_row("three styles of forward walk differ", "3 styles", ours, f"RMSE over the cycle (≥ {_DIFFERENT:g}°)",
                   good)  # fmt: skip
    for pair, value in apart.items():
        result.runs.append({"skill": pair[0], "compared_with": pair[1], "rmse_deg": value})
        if pair not in styled:
            result.add_note(f"{pair[0]} and {pair[1]} differ by", f"{value:.1f}", "° RMSE over the cycle")
