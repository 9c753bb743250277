"""A blind test: ten filmstrips of one body, five of captured walks and five simulated, in an order drawn by the seed.

The page shows them without names. Whoever looks writes down which ones are captured, and opens the key afterwards.
"""

from __future__ import annotations

import base64
import html
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from surefoot import skills
from surefoot.atomic_file import replace_file
from surefoot.characters.table import CharacterTable
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.lab.experiment import NO_CLIPS, Result, Setting, find_clip
from surefoot.lab.figures import stacked
from surefoot.lab.gait import find_strides
from surefoot.lab.gait_markers import GaitSignals
from surefoot.lab.gait_signals import signals_of
from surefoot.lab.replicas import seeded_generator
from surefoot.motions.body_parts import find_body_parts
from surefoot.motions.cleaning import clean
from surefoot.motions.clips import read_clip
from surefoot.motions.filmstrip import filmstrip
from surefoot.motions.motion import Motion, SimulatedScene
from surefoot.motions.motion_editing import resample
from surefoot.motions.retargeting import retarget, to_motion

BODY = "human"
CLIPS = ("07_01", "07_05", "136_21", "16_22", "Neutral_FW")  # straight on: a turn would tell a clip
SKILLS: tuple[tuple[str, dict[str, float]], ...] = (
    ("human/walk", {"speed": 1.3}), ("human/fast-walk", {}), ("human/captured-walk", {}),
    ("human/stylized-walk", {}), ("human/stepping-walk", {}),
)  # fmt: skip
"""Simulated walks of the same body, and what they are told."""
_SETTLE, _SHOWN, _FPS = 8.0, 4.0, 120.0  # [s], [s], frames per second
_FIGURES, _WIDTH, _HEIGHT = 9, 1500, 300  # of a filmstrip [px]


def run(result: Result, setting: Setting) -> None:
    """Draw the strips, mix them, and write the page and its key."""
    strips: dict[str, Image.Image] = {}
    scene = Simulation(BODY, f"{BODY}/stand").scene
    for name in setting.each(CLIPS, 0.0, 0.4):
        path = find_clip(setting, name)
        if path is None:
            result.add_missing(f"clip {name}", "a filmstrip", NO_CLIPS)
            continue
        strips[f"clip {name}"] = _strip(captured_walk(path, scene), result, f"clip {name}")
    for skill, told in setting.each(SKILLS, 0.4, 0.9):
        case = skill + "".join(f", {key} {value:g}" for key, value in told.items())
        if skill not in skills.names():
            result.add_missing(case, "a filmstrip", f"there is no skill {skill}")
            continue
        simulation = Simulation(BODY, skill)
        simulation.command(**told)
        simulation.step(round(_SETTLE / simulation.model.opt.timestep))
        motion = simulation.run(_SHOWN, _FPS)
        if simulation.fallen:
            result.add_row(case, "a filmstrip", f"falls after {simulation.fallen_at:.1f} s", "", False)
            continue
        strips[case] = _strip(motion, result, case)
    order = sorted(strips)
    seeded_generator(setting.seed, "blind").shuffle(order)
    page, key = (setting.figure_path(result.experiment, name) for name in ("page.html", "key.json"))
    if page is not None and key is not None:
        replace_file(page, page_of([strips[name] for name in order]).encode())
        replace_file(key, json.dumps({str(i + 1): name for i, name in enumerate(order)}, indent=1).encode())
        result.add_note("the page and its key", "page.html, key.json", "in the folder of --out")


def captured_walk(path: Path, scene: SimulatedScene) -> Motion:
    """A clip on the body of a scene, at the frame rate of the simulated walks."""
    clip = read_clip(path).motion
    parts, _ = find_body_parts(clip)
    cleaned = clean(clip, parts)
    table: CharacterTable = scene.table
    return resample(to_motion(retarget(cleaned.motion, parts, table), table, scene), _FPS)


def one_stride(signals: GaitSignals) -> tuple[float, float]:
    """Beginning and end of a stride of the left leg near the middle [s]."""
    strides = find_strides(signals)[0]
    if not strides:
        raise SurefootError("there is no whole stride of the left leg to show")
    stride = strides[len(strides) // 2]
    return float(signals.time[stride.first]), float(signals.time[stride.last])


def _strip(motion: Motion, result: Result, case: str) -> Image.Image:
    """A stride from the side and from the front, without a caption."""
    bare = replace(motion, scene=None) if not motion.contact_force.size else motion
    start, end = one_stride(signals_of(bare))
    motion = _from_origin(motion.select((motion.time >= start - 1e-6) & (motion.time <= end + 1e-6)))
    end = float(motion.time[-1])
    side, front = (
        filmstrip(motion, _FIGURES, view, start=0.0, end=end, width=_WIDTH, height=_HEIGHT, caption="")
        for view in ("side", "front")
    )  # type: ignore[misc]
    result.add_row(case, "a filmstrip", f"a stride of {end:.2f} s", "", True)
    return stacked([side, front])


def _from_origin(motion: Motion) -> Motion:
    """The motion begun at time 0 above the origin: neither clock nor place tells where it is from."""
    away = np.array([*motion.root_position[0, :2], 0.0])
    qpos = motion.qpos.copy()
    qpos[:, :2] -= away[:2]
    return replace(motion, time=motion.time - motion.time[0], root_position=motion.root_position - away, qpos=qpos)


def page_of(strips: list[Image.Image]) -> str:
    """A page that shows numbered strips and nothing of where they are from."""
    parts = []
    for i, strip in enumerate(strips):
        buffer = io.BytesIO()
        Image.fromarray(np.asarray(strip)).save(buffer, "PNG")  # pixels alone, without what a file may say of itself
        data = base64.b64encode(buffer.getvalue()).decode()
        parts.append(f'<h2>{i + 1}</h2><img alt="walk {i + 1}" src="data:image/png;base64,{data}">')
    told = html.escape(
        "Some of these strides were captured from people and drawn with this body, the others are simulated. "
        "Which ones are captured? Write their numbers down before you open key.json."
    )
    style = "body{font-family:sans-serif;max-width:1540px;margin:2em auto;color:#3d454f} img{width:100%}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Captured or simulated?</title>'
        f"<style>{style}</style><h1>Captured or simulated?</h1><p>{told}</p>{''.join(parts)}</html>\n"
    )
