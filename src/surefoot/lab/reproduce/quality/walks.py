"""Plain walks, speeds and runs, judged by the report card: disturbed replicas, each of which has to meet every bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from surefoot.engine.population import Population
from surefoot.errors import SurefootError
from surefoot.lab import clip_skills
from surefoot.lab.experiment import Result, Setting, find_clip
from surefoot.lab.gait import BANDS, GaitCard, gait_card
from surefoot.lab.gait_signals import record_signals
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.motions.clip_reading import ClipSource
from surefoot.skills import load

REPLICAS, SECONDS, SETTLED = 5, 30.0, 8.0  # [s] a replica walks, and from when on it is measured

Bars = Mapping[str, tuple[float, float]]
INFINITE = float("inf")
# lowest and highest value of every measure, in the units of `GaitCard`
WALK_BARS: Bars = {
    "score": (0.0, 9.0),
    "walk_ratio": (0.0055, 0.0075),
    "double_support": (0.12, 0.28),
    "strike_pitch": (8.0, INFINITE),
    "toe_off_pitch": (-INFINITE, -35.0),
    "stance_knee": (-INFINITE, 20.0),
    "first_peak": (0.0, 1.4),
    "work": (0.0, 0.22),
    "tremble": (0.0, 0.08),
    "lean": (-INFINITE, 7.0),
    "slip": (0.0, 0.015),
}
RUN_BARS: Bars = {
    "cadence": (150.0, 190.0),
    "stance_knee": (-INFINITE, 55.0),
    "com_rise": (0.06, 0.11),
    "flight": (0.15, 1.0),
    "arm_swing": (20.0, INFINITE),
}


@dataclass(frozen=True)
class PlainWalk:
    """A walk that is judged: what it is called, its skill and body, what it is told, and its bars."""

    label: str
    skill: str
    character: str | None = None
    commands: Mapping[str, float] = field(default_factory=dict)
    bars: Bars = field(default_factory=lambda: WALK_BARS)
    speed: tuple[float, float] = (1.2, 1.4)  # [m/s]


IMITATED = "human/captured-walk"
WALKS = (
    PlainWalk("SIMBICON", "human/walk", commands={"speed": 1.3}),
    PlainWalk(
        "GENBICON", "biped/walk", "humanoid", {"speed": 1.3}, {**WALK_BARS, "score": (0.0, 11.0)}
    ),
    PlainWalk("imitated", IMITATED),
    PlainWalk("followed", "human/stylized-walk"),
    PlainWalk(
        "stepping", "stepper/walk", commands={"speed": 0.8}, bars={**WALK_BARS, "score": (0.0, 11.0)},
        speed=(0.7, 0.9),
    ),
)  # fmt: skip
FAMILY, RUN = "human/walk", "human/run"  # the same gait, begun at a walk and at a run
SPEEDS = (0.4, 0.7, 1.0, 1.3, 1.6, 1.9)  # [m/s]
SPEED_ERROR = 0.03  # [m/s]
RUN_SPEEDS = (2.5, 3.2, 4.0)  # [m/s]
_RATIO_FROM = 0.7  # [m/s] from which on the walk ratio of people is constant
CHANGES = 20  # of the speed, each from one of the speeds to another
_WALK_FIRST, _WALK_AFTER, _REACHED, _ABOUT = 6.0, 12.0, 4.0, 0.1  # [s], [s], [s], [m/s]


def measured_replicas(
    walk: PlainWalk, setting: Setting, replicas: int = REPLICAS
) -> tuple[list[GaitCard | None], Population]:
    """Cards of disturbed replicas; None where one fell or does not step."""
    seconds, settled = (10.0, 5.0) if setting.quick else (SECONDS, SETTLED)
    population = Population(replicas, walk.character, [walk.skill] * replicas)
    perturb_population(population, [seeded_generator(setting.seed, "quality", walk.skill, k) for k in range(replicas)])
    if walk.commands:
        population.command(None, **walk.commands)
    population.run(settled, stop_fallen=True)
    cards: list[GaitCard | None] = []
    for signals in record_signals(population, seconds - settled):
        try:
            cards.append(None if signals is None else gait_card(signals))
        except SurefootError:
            cards.append(None)
    return cards, population


def failed_bars(card: GaitCard, bars: Bars) -> list[str]:
    """The measures of a card that miss their bar, in words."""
    found = []
    for name, (low, high) in bars.items():
        value, band = getattr(card, name), BANDS[name]
        if not low <= value <= high:
            found.append(f"{band.label} {value * band.scale:.{band.digits}f} {band.unit}".rstrip())
    return found


def judge(result: Result, case: str, cards: Sequence[GaitCard | None], bars: Bars, bar: str) -> bool:
    """Add a row that holds if every replica stays up and meets every bar; say what misses."""
    up = [card for card in cards if card is not None]
    missed: dict[str, list[str]] = {}
    for k, card in enumerate(cards):
        for text in ["fell or does not step"] if card is None else failed_bars(card, bars):
            missed.setdefault(text.split(" ")[0], []).append(f"replica {k}: {text}")
    holds = not missed
    worst = "; ".join(f"{texts[0]}{f' (and {len(texts) - 1} more)' if texts[1:] else ''}" for texts in missed.values())
    result.add_row(case, bar, f"{len(up)} of {len(cards)} walk" + (f"; misses: {worst}" if worst else ""), "", holds)
    return holds


def note_card(result: Result, case: str, cards: Sequence[GaitCard | None], bars: Bars) -> None:
    """Add the range of every judged measure over the replicas, and keep all measures as raw figures."""
    up = [card for card in cards if card is not None]
    for k, card in enumerate(cards):
        if card is not None:
            result.runs.append({"case": case, "replica": k} | {name: round(getattr(card, name), 5) for name in BANDS})
    for name in ("speed", "cadence", *bars):
        if up:
            band, values = BANDS[name], [getattr(card, name) * BANDS[name].scale for card in up]
            low, high = f"{min(values):.{band.digits}f}", f"{max(values):.{band.digits}f}"
            result.add_note(f"{case}: {band.label}", low if low == high else f"{low} … {high}", band.unit)


def run_walks(result: Result, setting: Setting) -> None:
    """The plain walk of every controller."""
    for walk in setting.each(WALKS, label="walks"):
        cards, _ = measured_replicas(walk, setting)
        bars = {"speed": walk.speed, **walk.bars}
        judge(result, f"{walk.label}: {walk.skill}", cards, bars, in_words(bars))
        note_card(result, walk.label, cards, bars)
    _likeness(result, setting)


def _likeness(result: Result, setting: Setting) -> None:
    """How near the imitated walk is to the clip as it was captured, if the clips are there."""
    skill = load(IMITATED)
    path = find_clip(setting, skill.clip)  # type: ignore[attr-defined]
    if path is None:
        return
    cycle = clip_skills.untuned_skills(clip_skills.read_gait_clip(ClipSource(path)), skill.name)[1]
    done = clip_skills.measure_walk(skill, cycle, 10.0 if setting.quick else SECONDS, REPLICAS, setting.seed)
    result.add_row(f"{IMITATED}: like its clip", str(clip_skills.PAPER_TOLERANCE), done.likeness, "", done.is_alike)


def in_words(bars: Bars) -> str:
    """The bars as a line of text."""
    texts = []
    for name, (low, high) in bars.items():
        band = BANDS[name]
        low, high = low * band.scale, high * band.scale
        limits = f"≤ {high:g}" if low <= 0.0 or not np.isfinite(low) else f"≥ {low:g}"
        if np.isfinite(low) and np.isfinite(high) and low > 0.0:
            limits = f"{low:g} … {high:g}"
        texts.append(f"{band.label} {limits}")
    return ", ".join(texts)


def run_speeds(result: Result, setting: Setting) -> None:
    """The family at every speed, and every change between two of them."""
    for speed in setting.each(SPEEDS, 0.0, 0.6, "{} m/s"):
        walk = PlainWalk(f"{speed:g} m/s", FAMILY, commands={"speed": speed})
        cards, _ = measured_replicas(walk, setting)
        bars: dict[str, tuple[float, float]] = {
            "speed": (speed - SPEED_ERROR, speed + SPEED_ERROR), "score": (0.0, 11.0),
        }  # fmt: skip
        if speed >= _RATIO_FROM:
            bars["walk_ratio"] = WALK_BARS["walk_ratio"]
        judge(result, f"told {speed:g} m/s", cards, bars, in_words(bars))
        note_card(result, f"{speed:g} m/s", cards, {**WALK_BARS, **bars})
    _changes(result, setting)


def _changes(result: Result, setting: Setting) -> None:
    """From every speed to every other one, in replicas that are told at different moments of a step."""
    pairs = list(permutations(SPEEDS, 2))
    count = 1 if setting.quick else CHANGES
    for i, (first, then) in enumerate(setting.each(pairs, 0.6, 1.0, "changes of speed")):
        population = Population(count, skill=[FAMILY] * count)
        rngs = [seeded_generator(setting.seed, "change", i, k) for k in range(count)]
        perturb_population(population, rngs)
        population.command(None, speed=first)
        population.run(_WALK_FIRST, stop_fallen=True)
        population.advance([rng.uniform(0.0, 1.1) for rng in rngs])
        population.command(None, speed=then)
        population.run(_WALK_AFTER - _REACHED, stop_fallen=True)
        before = population.qpos[:, :2].copy()
        population.run(_REACHED, stop_fallen=True)
        gone = np.hypot(*(population.qpos[:, :2] - before).T) / _REACHED
        good = np.isinf(population.fallen_at) & (np.abs(gone - then) <= _ABOUT)
        for k in range(count):
            result.runs.append({
                "case": f"{first:g} to {then:g}", "replica": k, "fallen_at": population.fallen_at[k],
                "reached": gone[k], "good": bool(good[k]),
            })  # fmt: skip
        result.add_row(f"from {first:g} to {then:g} m/s while walking", f"{count} of {count}", f"{int(good.sum())}",
                       f"stay up and go at the new speed (± {_ABOUT:g} m/s)", bool(good.all()))  # fmt: skip


def run_runs(result: Result, setting: Setting) -> None:
    """The family's runs."""
    for speed in setting.each(RUN_SPEEDS, label="{} m/s"):
        walk = PlainWalk(f"{speed:g} m/s", RUN, commands={"speed": speed})
        cards, _ = measured_replicas(walk, setting)
        bars = {"speed": (speed - 0.1, speed + 0.1), **RUN_BARS}
        judge(result, f"run at {speed:g} m/s", cards, bars, in_words(bars))
        note_card(result, f"{speed:g} m/s", cards, {**bars, "lean": (0.0, 15.0), "swing_knee": (0.0, 130.0)})
