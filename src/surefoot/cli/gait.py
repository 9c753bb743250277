"""`surefoot gait`: the gait report card of a skill, a motion-capture clip or a saved motion."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from surefoot.cli.clip_commands import Asf, Fps, Scale, Up
from surefoot.cli.options import Json
from surefoot.cli.terminal import Bar, print_card, screen
from surefoot.errors import CommandError, OutputError

if TYPE_CHECKING:
    from surefoot.lab.gait import GaitCard
    from surefoot.lab.gait_markers import GaitSignals
    from surefoot.motions.motion import Motion

_SETTLE = 5.0  # [s] before a simulated gait is measured
_FPS = 250.0
_CLIPS, _MOTIONS = (".bvh", ".amc"), (".npz",)


class _Measured(NamedTuple):
    """What was measured; a card and its signals are None of what fell."""

    name: str
    motion: Motion
    signals: GaitSignals | None
    card: GaitCard | None
    fallen_at: float | None = None
    fall_cause: str | None = None


def gait(
    source: Annotated[str, typer.Argument(help="A skill, a .bvh or .amc clip, or an .npz that was saved.")],
    character: Annotated[str | None, typer.Option(help="Body of a skill; by default the skill's own.")] = None,
    speed: Annotated[float | None, typer.Option(help="Speed that a skill is told, in m/s.")] = None,
    seconds: Annotated[float, typer.Option(help="How long a skill is measured, after 5 s.")] = 12.0,
    start: Annotated[float | None, typer.Option(help="Measure a clip or a motion from here on, in s.")] = None,
    end: Annotated[float | None, typer.Option(help="Measure a clip or a motion up to here, in s.")] = None,
    asf: Asf = None,
    scale: Scale = None,
    up: Up = None,
    fps: Fps = None,
    save: Annotated[Path | None, typer.Option(help="Draw the card as a .png.")] = None,
    as_json: Json = False,
) -> int:
    """Measure how a walk or a run compares with people's; mark what lies outside of their bands."""
    from surefoot.cli.simulate import check_place

    if save is not None:
        if save.suffix.lower() != ".png":
            raise OutputError(f"a card cannot be drawn as {save.suffix or save.name!r}; valid: .png")
        check_place(save)
    suffix = Path(source).suffix.lower()
    _check_options(
        suffix in _CLIPS, suffix in _MOTIONS, {"character": character, "speed": speed},
        {"start": start, "end": end}, {"asf": asf, "scale": scale, "up": up, "fps": fps},
    )  # fmt: skip
    with Bar(hidden=as_json) as tick:
        if suffix in _CLIPS:
            found = _of_clip(Path(source), start, end, asf, scale, up, fps)
        elif suffix in _MOTIONS:
            found = _of_motion(Path(source), start, end)
        else:
            found = _of_skill(source, character, speed, seconds, tick)
        if save is not None and found.card is not None and found.signals is not None:
            from surefoot.lab.gait_picture import save_card

            tick(f"drawing {save.name}", 1.0)
            save_card(save, found.card, found.signals, found.motion, found.name)
    if as_json:
        sys.stdout.write(json.dumps(_as_json(found, save)) + "\n")
    else:
        _print(found, save)
    return 0 if found.card is not None else 1


def _check_options(
    clip: bool, motion: bool, of_skills: dict[str, Any], of_files: dict[str, Any], of_clips: dict[str, Any]
) -> None:
    """Refuse options that say nothing about what is measured."""
    for options, fit, what in (
        (of_skills, not clip and not motion, "skills"), (of_files, clip or motion, "clips and saved motions"),
        (of_clips, clip, "clips"),
    ):  # fmt: skip
        given = [f"--{name}" for name, value in options.items() if value is not None]
        if given and not fit:
            raise CommandError(f"{', '.join(given)} can be said of {what} only")


def _of_clip(
    path: Path, start: float | None, end: float | None, asf: Path | None, scale: float | None, up: str | None,
    fps: float | None,
) -> _Measured:  # fmt: skip
    from surefoot.lab.gait import gait_card
    from surefoot.lab.gait_clips import clean_clip
    from surefoot.lab.gait_signals import signals_of
    from surefoot.motions.clips import read_clip

    motion = clean_clip(read_clip(path, asf=asf, scale=scale, up=up, fps=fps).motion)
    signals = signals_of(motion, start, end)
    return _Measured(path.stem, motion, signals, gait_card(signals))


def _of_motion(path: Path, start: float | None, end: float | None) -> _Measured:
    from surefoot.lab.gait import gait_card
    from surefoot.lab.gait_signals import signals_of
    from surefoot.motions.motion import load

    motion = load(path)
    signals = signals_of(motion, start, end)
    return _Measured(path.stem, motion, signals, gait_card(signals))


def _of_skill(
    name: str, character: str | None, speed: float | None, seconds: float, tick: Callable[[str, float], None]
) -> _Measured:
    from surefoot.cli.simulate import joined
    from surefoot.engine.recorder import MAX_SECONDS
    from surefoot.engine.scene import Setup
    from surefoot.engine.simulation import Simulation
    from surefoot.lab.gait import gait_card
    from surefoot.lab.gait_signals import check_body, signals_of

    if not 1.0 <= seconds <= MAX_SECONDS:
        raise CommandError(f"seconds must be within 1 … {MAX_SECONDS:g}, got {seconds:g}")
    sim = Simulation.from_setup(Setup(name if character else _full_name(name), character))
    check_body(sim.scene.table)
    if speed is not None:
        sim.command(speed=speed)
    tick(f"simulating {sim.skill.name}", 0.0)
    sim.step(round(_SETTLE / sim.model.opt.timestep))
    parts, left = [sim.run(min(1.0, seconds), _FPS)], seconds - 1.0
    while left > 1e-9 and not sim.fallen:
        tick(f"simulating {sim.skill.name}", 1.0 - left / seconds)
        parts.append(sim.run(min(1.0, left), _FPS))
        left -= 1.0
    motion = joined(parts)
    if sim.fallen:
        return _Measured(sim.skill.full_name, motion, None, None, float(sim.fallen_at), sim.fall_cause)
    signals = signals_of(motion)
    return _Measured(sim.skill.full_name, motion, signals, gait_card(signals))


def _full_name(name: str) -> str:
    """The skill of a plain name: the human's, or that of the only other body in space that has one."""
    from surefoot import skills

    own = [full for full in skills.names() if full.endswith(f"/{name}") and not full.startswith("planar")]
    return next((full for full in own if full.startswith("human/")), own[0] if len(own) == 1 else name)


def _print(found: _Measured, save: Path | None) -> None:
    if found.card is None or found.signals is None:
        told = f"{found.name} fell after {found.fallen_at:.2f} s ({found.fall_cause}): nothing is measured"
        screen.print(told, highlight=False)
        return
    card, time = found.card, found.signals.time
    screen.print(
        f"[bold]{found.name}[/bold]  {'a run' if card.runs else 'a walk'}, measured over {card.strides} strides, both "
        f"legs' counted, {time[0]:.2f} … {time[-1]:.2f} s",
        highlight=False,
    )
    print_card(card)
    if save is not None:
        screen.print(f"drawn to {save}", highlight=False)


def _as_json(found: _Measured, save: Path | None) -> dict[str, Any]:
    from surefoot.lab.gait import BANDS, card_rows

    card, measures = found.card, dict[str, Any]()
    if card is not None:
        for row in card_rows(card):
            band = BANDS[row.name]
            value, limits = getattr(card, row.name) * band.scale, band.run if card.runs else band.walk
            measures[row.name] = {
                "value": value if math.isfinite(value) else None, "unit": band.unit,
                "people": None if limits is None else list(limits), "inside": row.inside,
            }  # fmt: skip
    return {
        "source": found.name,
        "fallen_at": found.fallen_at,
        "fall_cause": found.fall_cause,
        "kind": None if card is None else "run" if card.runs else "walk",
        "start": None if found.signals is None else float(found.signals.time[0]),
        "end": None if found.signals is None else float(found.signals.time[-1]),
        "strides": 0 if card is None else card.strides,
        "measures": measures,
        "saved": str(save) if save is not None and card is not None else None,
    }
