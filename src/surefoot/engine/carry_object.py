"""A crate in the hands of a body that steps, and its mass, which may change while it runs (Kenwright §6.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from surefoot.controllers.stepping import law as stepping
from surefoot.engine.scene import Scene
from surefoot.errors import CommandError, UnknownNameError
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import Skill
from surefoot.terrains.props import Crate, body_names

_SIDES = ("left", "right")


def hold_crate(scene: Scene, data: mujoco.MjData, row: userdata.Row, skill: Skill, crate: str | None) -> None:
    """Put a crate into the hands, level and moving with them, and close the grips; the law counts its mass.

    None opens all grips.
    """
    if crate is None:
        _let_go(scene, data, row, skill)
        return
    stepper, model = _stepper(row, skill), scene.model
    grips = _grips(scene, crate)
    mujoco.mj_kinematics(model, data)
    hands, speeds = np.array([data.site(f"hand_{side}").xpos for side in _SIDES]), np.zeros((2, 6))
    for side, speed in zip(_SIDES, speeds, strict=True):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, model.site(f"hand_{side}").id, speed, 0)
    across = hands[0] - hands[1]
    yaw = math.atan2(-across[0], across[1])
    c, s = math.cos(yaw), math.sin(yaw)
    handles = np.mean([model.site(f"{crate}_{side}").pos for side in _SIDES], axis=0)
    place, rate = int(model.joint(crate).qposadr[0]), int(model.joint(crate).dofadr[0])
    data.qpos[place : place + 3] = hands.mean(axis=0) - np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ handles
    data.qpos[place + 3 : place + 7] = math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw)
    data.qvel[rate : rate + 6] = *speeds[:, 3:].mean(axis=0), 0.0, 0.0, 0.0
    data.qacc_warmstart[rate : rate + 6] = 0.0
    _let_go(scene, data, row, skill)
    data.eq_active[grips] = 1
    body = model.body(crate)
    stepper.load_body, stepper.load_mass = body.id, body.mass[0]


def _let_go(scene: Scene, data: mujoco.MjData, row: userdata.Row, skill: Skill) -> None:
    """Open all grips; the law carries nothing."""
    stepper = _stepper(row, skill)
    for crate in _with_handles(scene):
        data.eq_active[_grips(scene, crate)] = 0
    stepper.load_body = stepper.load_mass = 0.0


def set_crate_mass(scene: Scene, row: userdata.Row, skill: Skill, crate: str, mass: float) -> None:
    """Give a crate another mass [kg], evenly spread; a law that carries it counts it."""
    if crate not in _crates(scene):
        raise UnknownNameError("crate", crate, list(_crates(scene)))
    _change(scene, crate, mass)
    if skill.controller == "stepping":
        stepper = _stepper(row, skill)
        if stepper.load_mass > 0.0 and stepper.load_body == scene.model.body(crate).id:
            stepper.load_mass = mass


def crate_masses(scene: Scene) -> tuple[float, ...]:
    """Of all crates [kg]: the model's part of a moment."""
    return tuple(float(scene.model.body(crate).mass[0]) for crate in _crates(scene))


def set_crate_masses(scene: Scene, kept: Sequence[float]) -> None:
    """Give all crates the masses they had [kg]."""
    for crate, mass in zip(_crates(scene), kept, strict=False):
        if scene.model.body(crate).mass[0] != mass:
            _change(scene, crate, mass)


def _change(scene: Scene, crate: str, mass: float) -> None:
    """Write all that a model knows of a crate's mass, as if it had been built with it."""
    model, alone = scene.model, mujoco.MjSpec()
    replace(_crates(scene)[crate], mass=mass).build(alone.worldbody, crate, 1.0, scene.terrain)
    made, body = alone.compile(), model.body(crate).id
    dofs = slice(int(model.body_dofadr[body]), int(model.body_dofadr[body] + made.nv))
    for name in ("body_mass", "body_subtreemass", "body_inertia", "body_invweight0"):
        getattr(model, name)[body] = getattr(made, name)[1]
    for name in ("dof_M0", "dof_invweight0"):
        getattr(model, name)[dofs] = getattr(made, name)
    model.body_subtreemass[0] = model.body_mass.sum()


def _crates(scene: Scene) -> dict[str, Crate]:
    return {name: prop for name, prop in body_names(scene.terrain.props) if isinstance(prop, Crate)}


def _with_handles(scene: Scene) -> list[str]:
    return [name for name, crate in _crates(scene).items() if crate.handles]


def _grips(scene: Scene, crate: str) -> list[int]:
    """Numbers of the grips between the hands and a crate's handles."""
    known = _with_handles(scene)
    if not known or not scene.model.neq:
        raise CommandError(
            "there is nothing to hold: a body with hands holds a crate with handles, "
            "with_props(terrain, [Crate(handles=((0, 0.2, 0), (0, -0.2, 0)))])"
        )
    if crate not in known:
        raise UnknownNameError("crate with handles", crate, known)
    return [scene.model.eq(f"grip_{side}{crate.removeprefix('crate')}").id for side in _SIDES]


def _stepper(row: userdata.Row, skill: Skill) -> Any:
    if skill.controller != "stepping":
        raise CommandError(f"{skill.full_name} cannot hold a crate; skills of controller stepping can")
    return python_impl(stepping.stepper_of)(row.memory)[0]
