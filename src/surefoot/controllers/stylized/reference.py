"""The motion that is followed: poses of a character over time, and how its feet bear (da Silva 2008, figure 4)."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from surefoot.atomic_file import replace_file
from surefoot.controllers.stylized.foot_contacts import FLAT, FREE, HEEL, TOE, foot_patches
from surefoot.controllers.stylized.multibody_dynamics import compiled
from surefoot.controllers.stylized.three_link import yaw_rotation
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.characters.table import CharacterTable

_SHIFT = 0.3  # [s] of standing before and after what a clip has
_LEVEL = 0.025  # [m] within which most ankles are while their feet lie on level ground
_TILTED = np.radians(7.0)  # of a sole, from which on it bears on an edge


class Swing(NamedTuple):
    """The swing that a moment lies in: which foot, when it lifted and when it strikes [s]; foot −1 for none."""

    foot: int
    lifted: float
    strikes: float


_NONE = Swing(-1, 0.0, np.inf)


class ReferenceFrame(NamedTuple):
    """The reference at one time: pose (nq,), rates and accelerations (nv,), how the feet bear and where they are."""

    pose: np.ndarray
    rates: np.ndarray
    accelerations: np.ndarray
    bearing: np.ndarray  # (2,) FREE, FLAT, TOE or HEEL
    ankles: np.ndarray  # (2, 3) [m]
    axes: np.ndarray  # (2, 3, 3) of the feet
    twists: np.ndarray  # (2, 6) velocities of the ankles [m/s] and spins of the feet [rad/s]
    com: np.ndarray  # (3,) [m]
    com_velocity: np.ndarray  # (3,) [m/s]


@compiled
def turn_moment(
    heading: float, pose: Any, rates: Any, accelerations: Any, ankles: Any, axes: Any, twists: Any, com: Any,
    com_velocity: Any,
) -> None:  # fmt: skip
    """Turn the parts of a moment about the vertical through the origin, in place."""
    c, s = np.cos(heading), np.sin(heading)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    c, s = np.cos(0.5 * heading), np.sin(0.5 * heading)
    w, x, y, z = pose[3], pose[4], pose[5], pose[6]
    pose[3], pose[4], pose[5], pose[6] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
    for vector in (pose[:3], rates[:3], accelerations[:3], com, com_velocity):
        vector[:] = turn @ vector
    for side in range(2):
        ankles[side], axes[side] = turn @ ankles[side], turn @ axes[side]
        twists[side, :3], twists[side, 3:] = turn @ twists[side, :3], turn @ twists[side, 3:]


@dataclass(frozen=True)
class Reference:
    """Moments at even times; a single one is held for ever, and one that loops goes on turned by `turn` [rad]."""

    poses: np.ndarray  # (n, nq)
    rates: np.ndarray  # (n, nv)
    accelerations: np.ndarray  # (n, nv)
    bearing: np.ndarray  # (n, 2)
    ankles: np.ndarray  # (n, 2, 3) [m]
    axes: np.ndarray  # (n, 2, 3, 3) of the feet
    twists: np.ndarray  # (n, 2, 6)
    com: np.ndarray  # (n, 3) [m]
    com_velocity: np.ndarray  # (n, 3) [m/s]
    timestep: float
    loops: bool
    turn: float = 0.0
    clip: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # (n, nq) what it was before it was adjusted

    @property
    def duration(self) -> float:
        """How long it lasts until it loops or is over [s]."""
        return len(self.poses) * self.timestep

    def index(self, clock: float) -> int:
        """The moment nearest to a time of its own [s]."""
        i = round(clock / self.timestep)
        return i % len(self.poses) if self.loops else min(max(i, 0), len(self.poses) - 1)

    def at(self, clock: float, heading: float = 0.0) -> ReferenceFrame:
        """The reference at a time of its own [s], turned to a heading [rad] about the origin."""
        i = self.index(clock)
        found = ReferenceFrame(
            self.poses[i].copy(), self.rates[i].copy(), self.accelerations[i].copy(), self.bearing[i],
            self.ankles[i].copy(), self.axes[i].copy(), self.twists[i].copy(), self.com[i].copy(),
            self.com_velocity[i].copy(),
        )  # fmt: skip
        if heading != 0.0:
            turn_moment(
                heading, found.pose, found.rates, found.accelerations, found.ankles, found.axes, found.twists,
                found.com, found.com_velocity,
            )  # fmt: skip
        return found

    def leaning(self, clock: float) -> float:
        """How much of the body the left foot is taken to bear: from 1 to 0 while both do, after one did."""
        return float(self._leaning[self.index(clock)])

    @cached_property
    def _leaning(self) -> np.ndarray:
        bears, n = self.bearing != FREE, len(self.poses)
        single = np.flatnonzero(bears.sum(axis=1) == 1)
        if not len(single):
            return np.full(n, 0.5)
        at, value = single.astype(float), bears[single, 0].astype(float)
        if self.loops:
            at, value = np.concatenate([at - n, at, at + n]), np.tile(value, 3)
        else:
            at = np.concatenate([[-_SHIFT / self.timestep], at, [n + _SHIFT / self.timestep]])
            value = np.concatenate([[0.5], value, [0.5]])
        return np.asarray(np.interp(np.arange(n), at, value))

    def swing(self, clock: float) -> Swing:
        """The swing that a time lies in."""
        return self._swings[self.index(clock)]

    @cached_property
    def is_level(self) -> bool:
        """Whether its feet lie flat at one height: what goes up or down by itself needs not be laid on the ground."""
        heights = self.ankles[..., 2][self.bearing == FLAT]
        return not len(heights) or float(np.ptp(np.percentile(heights, (10.0, 90.0)))) < _LEVEL

    def stride(self, swing: Swing, heading: float) -> np.ndarray:
        """(3,) from the stance ankle to the other where it lands, or is last [m], turned to a heading [rad]."""
        ahead = self.loops and swing.strikes > self.duration - 0.5 * self.timestep
        i = self.index(min(swing.strikes, 2.0 * self.duration))
        way = self.ankles[i, swing.foot] - self.ankles[i, 1 - swing.foot]
        return np.asarray(yaw_rotation(heading + (self.turn if ahead else 0.0)) @ way)

    @cached_property
    def _swings(self) -> list[Swing]:
        n, dt = len(self.poses), self.timestep
        found = [_NONE] * n
        if n == 1:
            return found
        free = self.bearing == FREE
        for i in range(n):
            if free[i].sum() != 1:
                continue
            foot, first, last = int(free[i].argmax()), i, i
            while free[(first - 1) % n, foot] and i - first < n and (self.loops or first > 0):
                first -= 1
            while free[(last + 1) % n, foot] and last - i < n and (self.loops or last < n - 1):
                last += 1
            ends = np.inf if last == n - 1 and not self.loops else (last + 1) * dt
            found[i] = Swing(foot, first * dt, ends)
        return found

    def save(self, path: Path) -> None:
        """Write a file of it."""
        replace_file(path, npz_bytes({f.name: np.asarray(getattr(self, f.name)) for f in fields(self)}))


def npz_bytes(arrays: dict[str, np.ndarray]) -> bytes:
    """What an npz file of arrays holds."""
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    return content.getvalue()


def load_reference(path: Path) -> Reference:
    """What `Reference.save` wrote."""
    wanted = {field.name for field in fields(Reference)}
    try:
        with np.load(path) as file:
            arrays: dict[str, Any] = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise SurefootError(f"no reference in {path}: {error}; surefoot follow makes one of a clip") from None
    if set(arrays) != wanted:
        raise SurefootError(
            f"{path} is no reference: it holds {', '.join(sorted(arrays))}, not {', '.join(sorted(wanted))}"
        )
    arrays |= {"timestep": float(arrays["timestep"]), "loops": bool(arrays["loops"]), "turn": float(arrays["turn"])}
    return Reference(**arrays)


def reference_from_poses(
    model: mujoco.MjModel, table: CharacterTable, poses: np.ndarray, contacts: np.ndarray, timestep: float,
    inside: slice | None = None, turn: float = 0.0,
) -> Reference:  # fmt: skip
    """A reference from coordinates (n, nq) at even times and which feet touch (n, 2).

    Args:
        model: of the character, things of the world after it.
        table: of the character.
        poses: smooth ones: accelerations are their second differences.
        contacts: of the left and the right foot.
        timestep: of the poses [s].
        inside: the frames of one cycle that loops, with at least one more on both sides; by default nothing loops.
        turn: of a cycle [rad].
    """
    nq, nv = poses.shape[1], model.nv - (model.nq - poses.shape[1])
    data, whole = mujoco.MjData(model), np.tile(model.qpos0, (len(poses), 1))
    whole[:, :nq] = poses
    rates, step, six = np.zeros((len(poses), model.nv)), np.zeros(model.nv), np.zeros(6)
    for i in range(len(poses)):
        a, b = max(i - 1, 0), min(i + 1, len(poses) - 1)
        mujoco.mj_differentiatePos(model, step, (b - a) * timestep, whole[a], whole[b])
        rates[i] = step
    accelerations = np.gradient(rates, timestep, axis=0)
    legs = (table.anatomy.left, table.anatomy.right)
    feet = [int(model.body(leg.foot).id) for leg in legs]
    soles = [foot_patches(model, table, side)[FLAT][0] for side in (0, 1)]
    root = int(model.body(table.anatomy.pelvis).id)
    axes, twists = np.zeros((len(poses), 2, 3, 3)), np.zeros((len(poses), 2, 6))
    ankles, com, bearing = np.zeros((len(poses), 2, 3)), np.zeros((len(poses), 3)), np.zeros((len(poses), 2), int)
    for i, pose in enumerate(whole):
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        ankles[i], com[i] = data.xpos[feet], data.subtree_com[int(model.body_rootid[root])]
        axes[i], data.qvel[:] = data.xmat[feet].reshape(2, 3, 3), rates[i]
        mujoco.mj_comVel(model, data)
        for side, foot in enumerate(feet):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, foot, six, 0)
            twists[i, side] = np.roll(six, 3)
        for side, sole in enumerate(soles):
            ahead = data.xmat[sole.body].reshape(3, 3)[2, 0]  # how much of the sole's length goes up
            tilt = np.arcsin(np.clip(ahead, -1.0, 1.0))
            kind = TOE if tilt < -_TILTED else HEEL if tilt > _TILTED else FLAT
            bearing[i, side] = kind if contacts[i, side] else FREE
    velocity = np.gradient(com, timestep, axis=0)
    cut = inside if inside is not None else slice(None)
    return Reference(
        poses[cut].copy(), rates[cut, :nv], accelerations[cut, :nv], bearing[cut], ankles[cut], axes[cut],
        twists[cut], com[cut], velocity[cut],
        timestep, inside is not None, turn,
    )  # fmt: skip


def held_pose(model: mujoco.MjModel, table: CharacterTable, pose: np.ndarray) -> Reference:
    """A pose (nq,), held on both feet."""
    found = reference_from_poses(model, table, np.tile(pose, (2, 1)), np.ones((2, 2), bool), 1.0)
    return Reference(
        found.poses[:1], found.rates[:1], found.accelerations[:1], np.full((1, 2), FLAT), found.ankles[:1],
        found.axes[:1],
        found.twists[:1], found.com[:1], found.com_velocity[:1], 1.0, True,
    )  # fmt: skip
