"""§7.2, "Motion capture imitation": seven controllers that follow captured gaits (figure 8)."""

from __future__ import annotations

import numpy as np
from PIL import Image

from surefoot.engine.simulation import Simulation
from surefoot.lab.clip_skills import PAPER_TOLERANCE, ClipSource, GaitClip, measure_walk, read_gait_clip, untuned_skills
from surefoot.lab.experiment import NO_CLIPS, Result, Setting, find_clip
from surefoot.lab.figures import save_image
from surefoot.lab.reproduce.simbicon.gaits import human
from surefoot.motions.filmstrip import filmstrip
from surefoot.motions.painter import View
from surefoot.motions.retargeting import to_motion
from surefoot.skills.schema import Skill

SEVEN = {
    "in place, normal": "captured-in-place", "in place, wide stance": "captured-wide-stance",
    "in place, bent trunk": "captured-bent-trunk", "in place, high knees": "captured-high-knees",
    "forward": "captured-forward", "backwards": "captured-backwards", "sideways": "captured-sideways",
}  # fmt: skip
"""The paper's controllers, and our skills for them."""
REPLICAS, SECONDS = 5, 60.0
_SETTLE, _SHOWN = 8.0, 2.0  # [s] of the filmstrips


def run(result: Result, setting: Setting) -> None:
    """Each of the seven against the cleaned cycle of its clip."""
    kept, alike = 0, 0
    for i, (word, name) in enumerate(SEVEN.items()):
        setting.progress(word, i / len(SEVEN))
        skill = human(name)
        if skill is None:
            result.add_row(word, "walks", f"there is no human/{name}", "", False)
            continue
        found = _clip(setting, skill)
        cycle = untuned_skills(found, skill.name)[1] if found else skill.parameters.cycle
        done = measure_walk(skill, cycle, 8.0 if setting.quick else SECONDS, REPLICAS, setting.seed)
        kept += done.stays_up
        up = sum(at > done.seconds for at in done.fallen_at)
        result.add_row(f"{word}: walks", "walks", f"{up} of {REPLICAS} walk {done.seconds:g} s", "replicas", done.stays_up)
        seen = done.seen[0]
        figures = (
            f"joints {np.degrees(done.error):.1f}°, worst of the legs {np.degrees(done.worst_leg):.1f}°, "
            f"cadence × {done.cadence:.3f}, travel {100 * done.travel_error:.0f} % off"
        )
        result.runs.append({
            "case": word, "skill": name, "clip": skill.clip if hasattr(skill, "clip") else "",  # type: ignore[attr-defined]
            "joint_rmse_deg": np.degrees(done.error), "worst_leg_deg": np.degrees(done.worst_leg),
            "cadence": done.cadence, "travel_error": done.travel_error, "width": seen.width,
            "torso_deg": np.degrees(seen.tilt),
        })  # fmt: skip
        limits = (
            f"(≤ {np.degrees(PAPER_TOLERANCE.joints):.0f}°, {np.degrees(PAPER_TOLERANCE.leg):.0f}°, {100 * PAPER_TOLERANCE.cadence:.0f} %, "
            f"{100 * PAPER_TOLERANCE.travel:.0f} %)"
        )
        if found is None:
            result.partial = True
            result.add_row(f"{word}: like its clip", "mimics", NO_CLIPS, limits, False)
            result.add_note(f"{word}: against the cycle in the skill", figures)
            continue
        alike += done.stays_up and done.is_alike
        result.add_row(f"{word}: like its clip", "mimics", figures, limits, done.is_alike)
        result.add_note(f"{word}: step width", f"{seen.width:.2f} m, the clip's {seen.wanted_width:.2f}", "m")
        result.add_note(f"{word}: torso in the world", f"{np.degrees(seen.tilt):.1f}", "° off the clip's")
        _draw(setting, word, found, skill)
    result.add_row("controllers that walk and are like their clips", "7", f"{alike}", "of 7", alike == len(SEVEN))


def _clip(setting: Setting, skill: Skill) -> GaitClip | None:
    path = find_clip(setting, getattr(skill, "clip", ""))
    return read_gait_clip(ClipSource(path, in_place=getattr(skill, "in_place", False))) if path else None


def _draw(setting: Setting, word: str, found: GaitClip, skill: Skill) -> None:
    """The clip above, what the controller does below, from the side and from the front (figure 8)."""
    path = setting.figure_path("simbicon/mocap", f"{skill.name}.png")
    if path is None:
        return
    simulation = Simulation(skill=skill)
    simulation.step(round(_SETTLE / simulation.model.opt.timestep))
    ours = simulation.run(_SHOWN)
    clip = to_motion(found.cycle.played(_SHOWN / found.cycle.period), found.table)
    views: tuple[View, ...] = ("side", "front")
    strips = [
        filmstrip(motion, view=view, caption=f"{word}: {label}")
        for view in views for motion, label in ((clip, "the clip's cycle"), (ours, "simulated"))
    ]  # fmt: skip
    sheet = Image.new("RGB", (max(s.width for s in strips), sum(s.height for s in strips)), "white")
    at = 0
    for strip in strips:
        sheet.paste(strip, (0, at))
        at += strip.height
    save_image(sheet, path)
