"""What `surefoot simulate` does between parsing and printing."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import CommandError, OutputError
from surefoot.lab.measures import measure
from surefoot.lab.tune import value_of
from surefoot.motions import formats
from surefoot.motions.motion import Motion
from surefoot.motions.recorder import MAX_SECONDS
from surefoot.scene import Push
from surefoot.simulation import Simulation
from surefoot.skills import files, library_path, load, set_value, varied
from surefoot.skills.schema import Skill

_CHUNK = 1.0  # [s] between two ticks of the progress bar
_JUDGED = 5.0  # [s] at the end, over which the gait is measured


@dataclass(frozen=True)
class Options:
    """Everything the command line can say about one simulation."""

    skill: str
    character: str
    terrain: str
    seconds: float
    speed: float | None
    pushes: list[str]
    switches: list[str]
    proportions: dict[str, float]
    seed: int
    fps: float
    save: list[Path]


def simulate(options: Options, tick: Callable[[str, float], None]) -> dict[str, Any]:
    """Run, save, and sum up."""
    if not 0.0 < options.seconds <= MAX_SECONDS:
        raise CommandError(f"seconds must be within 0 … {MAX_SECONDS:g}, got {options.seconds:g}")
    for path in options.save:
        check_writable(path)
    sim, events = _prepare(options)
    dt = sim.model.opt.timestep
    total, done = max(1, round(options.seconds / dt)), 0
    requests = [(round(at / dt), wanted) for at, wanted in events]
    parts: list[Motion] = []
    while done < total:
        for at, wanted in requests:
            if at == done:
                sim.switch(wanted)
        until = min(total, done + round(_CHUNK / dt), *[at for at, _ in requests if at > done])
        parts.append(sim.run((until - done) * dt, options.fps))
        done = until
        tick(f"simulating {sim.skill.name}", done / total)
    motion = joined(parts)
    for path in options.save:
        tick(f"writing {path.name}", 1.0)
        motion.save(path)
    return _summary(sim, motion, options)


def watch(options: Options) -> None:
    """Show it in MuJoCo's own viewer, in real time, until the window is closed."""
    try:
        import mujoco.viewer

        sim, events = _prepare(options)
        with mujoco.viewer.launch_passive(sim.model, sim.data) as window:
            begin = time.monotonic() - sim.time
            while window.is_running():
                for at, wanted in events:
                    if sim.time <= at < sim.time + 0.02:
                        sim.switch(wanted)
                sim.step(round(0.02 / sim.model.opt.timestep))
                window.sync()
                time.sleep(max(0.0, begin + sim.time - time.monotonic()))
    except (RuntimeError, ImportError, OSError) as error:
        raise CommandError(f"no viewer here: {str(error).splitlines()[0]}") from None


def joined(parts: list[Motion]) -> Motion:
    """Consecutive stretches as one motion; each begins with the frame the one before ended with."""
    first = parts[0]
    whole = {
        name: np.concatenate([getattr(p, name)[(i > 0) :] for i, p in enumerate(parts)])
        for name in first.arrays()
        if not name.startswith("skeleton")
    }
    return Motion(skeleton=first.skeleton, scene=first.scene, **whole)


def bounds_of(items: list[str]) -> dict[str, tuple[float, float]]:
    """Bounds of parameters written as PATH=LOW:HIGH."""
    found = {}
    for item in items:
        name, _, span = item.partition("=")
        low, _, high = span.partition(":")
        try:
            found[name] = (float(low), float(high))
        except ValueError:
            raise CommandError(f"a parameter is PATH=LOW:HIGH, got {item!r}") from None
    if not found:
        raise CommandError("name at least one --parameter PATH=LOW:HIGH to tune")
    return found


def check_bounds(skill: Skill, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Refuse a search whose parameters or bounds the schema would refuse, before it begins."""
    for path, (low, high) in bounds.items():
        if not low < high:
            raise CommandError(f"{path}: a range takes low < high, got {low:g}:{high:g}")
        value_of(skill, path)
        for value in (low, high):
            varied(skill, {path: value})


def tuned_name(path: Path) -> str:
    """The name a skill gets from its file's."""
    if path.suffix not in (".yaml", ".yml"):
        raise OutputError(f"cannot write {path}: a skill file ends with .yaml")
    return re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:60] or "tuned"


def write_tuned(source: str, values: Mapping[str, float], path: Path) -> None:
    """Write a tuned skill as a file: the beginning's document with the new numbers, comments kept."""
    begin = load(source)
    origin = Path(source) if source.endswith((".yaml", ".yml")) else library_path(begin.full_name)
    document = files.read(origin)[1]
    document["name"] = tuned_name(path)
    document["provenance"]["source"] = f"tuned from {begin.full_name} by surefoot tune"
    document["provenance"].pop("changed", None)
    for name, value in values.items():
        set_value(document, name, round(value, 5))
    files.validate(document, str(path))
    files.write(document, path)


def _prepare(options: Options) -> tuple[Simulation, list[tuple[float, Skill]]]:
    switches = [_switch(text) for text in options.switches]
    sim = Simulation(
        options.character, options.skill, options.terrain, options.seed, proportions=options.proportions,
        skills=[name for _, name in switches],
    )  # fmt: skip
    if options.speed is not None:
        sim.command(speed=options.speed)
    for text in options.pushes:
        sim.scene.add_push(sim.memory, _push(text), 0.0)
    return sim, [(at, sim.scene.find(name)) for at, name in switches]


def _push(text: str) -> Push:
    try:
        start, fx, fy, fz, duration = (float(part) for part in text.split(","))
    except ValueError:
        raise CommandError(f"a push is T,FX,FY,FZ,DURATION, got {text!r}") from None
    return Push((fx, fy, fz), duration, start)


def _switch(text: str) -> tuple[float, str]:
    at, _, name = text.partition(":")
    try:
        when = float(at)
    except ValueError:
        when = math.nan
    if not (math.isfinite(when) and when >= 0.0 and name):
        raise CommandError(f"a switch is T:SKILL, got {text!r}")
    return round(when, 6), name


def check_writable(path: Path) -> None:
    """Refuse a file that could not be saved, before any work is done."""
    if path.suffix.lower() not in formats.suffixes():
        raise OutputError(f"cannot save as {path.suffix or path.name!r}; valid: {', '.join(formats.suffixes())}")
    check_place(path)


def check_place(path: Path) -> None:
    """Refuse a path that is a folder or lies in none."""
    try:
        if not path.parent.is_dir():
            raise OutputError(f"cannot write {path}: no such folder")
        if path.is_dir():
            raise OutputError(f"cannot write {path}: it is a folder")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def _summary(sim: Simulation, motion: Motion, options: Options) -> dict[str, Any]:
    late = motion.time >= motion.time[-1] - _JUDGED
    names = [n for n in motion.arrays() if not n.startswith("skeleton")]
    end = Motion(skeleton=motion.skeleton, scene=motion.scene, **{n: getattr(motion, n)[late] for n in names})
    gait = measure(end) if not sim.fallen and len(end) > 2 else None
    found = {
        "skill": sim.skill.full_name,
        "terrain": options.terrain,
        "seconds": round(sim.time, 6),
        "fallen_at": round(sim.fallen_at, 4) if sim.fallen else None,
        "fall_cause": sim.fall_cause if sim.fallen else None,
        "distance": float(motion.root_position[-1, 0] - motion.root_position[0, 0]),
        "speed": gait.speed if gait else None,
        "cadence": gait.cadence if gait else None,
        "step_length": gait.step_length if gait else None,
        "torso_sway_deg": gait.sway if gait else None,
        "flight": gait.flight if gait else None,
        "cost_of_transport": gait.cost_of_transport if gait else None,
        "slip": gait.slip if gait else None,
        "peak_torque": float(sim.memory.report[0].peak_torque),
        "saved": [str(path) for path in options.save],
    }
    return {name: _finite(value) for name, value in found.items()}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
