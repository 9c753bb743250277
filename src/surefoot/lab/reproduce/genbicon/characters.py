"""§4.4, "Generalization across characters": one controller and one style for four bodies, no number changed."""

from __future__ import annotations

from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.genbicon.walks import (
    SETTLED,
    SKILL,
    SPEED_ERROR,
    Walk,
    begun,
    farthest,
    grouped,
    quality,
    upright,
    walked,
)
from surefoot.motions.motion import Motion

CHARACTERS, SPEEDS = ("humanoid", "robot", "ape", "strider"), (-0.5, 0.0, 0.5, 1.0)  # [m/s]
SECONDS = 60.0


def run(result: Result, setting: Setting) -> None:
    """Every body at every speed, all with the same skill file."""
    speeds = SPEEDS[2:3] if setting.quick else SPEEDS
    for i, character in enumerate(CHARACTERS):
        setting.progress(character, (i + 0.1) / len(CHARACTERS))
        groups, motions = at_speeds(result, setting, character, character, speeds)
        kept = [v for v, walks in zip(speeds, groups, strict=True) if all(w.keeps(v) for w in walks)]
        result.row(
            character, "no tuning by character", f"{len(kept)} of {len(speeds)} speeds: {described(speeds, groups)}",
            f"{', '.join(f'{v:g}' for v in speeds)} m/s (± {SPEED_ERROR:g}), all replicas", len(kept) == len(speeds),
        )  # fmt: skip
        for speed, walks in zip(speeds, groups, strict=True):
            result.show(f"{character} at {speed:g} m/s: how it walks", quality(walks))
        shown = motions[speeds.index(0.5) * (len(motions) // len(speeds))]
        path = setting.figure_path(result.experiment, f"{character}.png")
        figures.strip(path, shown, f"{character}, {SKILL}, 0.5 m/s")
    result.show("skill of all four", f"biped/{SKILL}")


def at_speeds(
    result: Result, setting: Setting, name: str, character: str, speeds: tuple[float, ...]
) -> tuple[list[list[Walk]], list[Motion]]:
    """Walks of a body at some speeds, replicas of each, and the motions of their ends."""
    seconds, settled = (9.0, 5.0) if setting.quick else (SECONDS, SETTLED)
    walks, motions = walked(begun([{"speed": v} for v in speeds], setting.seed, character), seconds, settled)
    groups = grouped(walks)
    for speed, group in zip(speeds, groups, strict=True):
        result.runs += [
            {"character": name, "speed": speed, "replica": k} | walk.record() for k, walk in enumerate(group)
        ]
    return groups, motions


def described(speeds: tuple[float, ...], groups: list[list[Walk]]) -> str:
    """What was measured at each speed."""
    return ", ".join(
        f"{farthest((w.speed for w in walks), v):.2f} m/s"
        + ("" if all(w.is_fair for w in walks) else f" [{upright(walks)}]")
        for v, walks in zip(speeds, groups, strict=True)
    )
