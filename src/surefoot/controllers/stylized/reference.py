"""The motion that is followed: poses of a character over time, and how its feet bear (da Silva 2008, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from surefoot.atomic_file import replace_file
from surefoot.controllers.stylized.contact_patches import FLAT, FREE, reference_contact_modes
from surefoot.controllers.stylized.multibody_dynamics import compiled
from surefoot.controllers.stylized.reference_balancing import LegKinematics, pose_rates
from surefoot.controllers.stylized.three_link import yaw_rotation
from surefoot.errors import OutputError, SurefootError
from surefoot.motions.npz import load_arrays, npz_bytes

if TYPE_CHECKING:
    from surefoot.characters.table import CharacterTable

_SHIFT = 0.3  # [s] of standing before and after a motion that does not loop
_LEVEL = 0.025  # [m] within which most ankles are while their feet lie on level ground


class Swing(NamedTuple):
    """The swing that a time lies in: which foot, when it lifted and when it strikes [s]; foot −1 for none."""

    foot: int
    lifted: float
    strikes: float


_NONE = Swing(-1, 0.0, np.inf)


class ReferenceFrame(NamedTuple):
    """The reference at one time: the pose, how it moves, how the feet bear and where they are."""

    pose: np.ndarray  # (nq,)
    rates: np.ndarray  # (nv,)
    accelerations: np.ndarray  # (nv,)
    bearing: np.ndarray  # (2,) FREE, FLAT, TOE or HEEL
    ankles: np.ndarray  # (2, 3) [m]
    axes: np.ndarray  # (2, 3, 3) orientations of the feet
    twists: np.ndarray  # (2, 6) velocities of the ankles [m/s] and spins of the feet [rad/s]
    com: np.ndarray  # (3,) [m]
    com_velocity: np.ndarray  # (3,) [m/s]


@compiled
def turn_frame(
    heading: float, pose: np.ndarray, rates: np.ndarray, accelerations: np.ndarray, bearing: np.ndarray,
    ankles: np.ndarray, axes: np.ndarray, twists: np.ndarray, com: np.ndarray, com_velocity: np.ndarray,
) -> None:  # fmt: skip
    """Turn the parts of a frame about the vertical through the origin, in place."""
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
    """A motion to be followed: frames at even times.

    The arrays hold the fields of a `ReferenceFrame` for n frames. A single frame is held for ever.

    Attributes:
        timestep: between frames [s].
        loops: whether it goes on after its end, from where it ended.
        turn: by which each loop is turned against the one before [rad].
        clip: (n, nq) the retargeted clip before it was adjusted, if it was made from one.
    """

    poses: np.ndarray
    rates: np.ndarray
    accelerations: np.ndarray
    bearing: np.ndarray
    ankles: np.ndarray
    axes: np.ndarray
    twists: np.ndarray
    com: np.ndarray
    com_velocity: np.ndarray
    timestep: float
    loops: bool
    turn: float = 0.0
    clip: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def duration(self) -> float:
        """How long it lasts until it loops or ends [s]."""
        return len(self.poses) * self.timestep

    def index(self, clock: float) -> int:
        """The frame nearest to a time of the reference [s]."""
        i = round(clock / self.timestep)
        return i % len(self.poses) if self.loops else min(max(i, 0), len(self.poses) - 1)

    @cached_property
    def _frames(self) -> list[np.ndarray]:
        return [getattr(self, one.name) for one in fields(self)[: len(ReferenceFrame._fields)]]

    def at(self, clock: float, heading: float = 0.0) -> ReferenceFrame:
        """A copy of the frame at a time of the reference.

        Args:
            clock: [s].
            heading: by which it is turned about the vertical through the origin [rad].
        """
        i = self.index(clock)
        frame = ReferenceFrame(*[values[i].copy() for values in self._frames])
        if heading != 0.0:
            turn_frame(heading, *frame)
        return frame

    def left_support_share(self, clock: float) -> float:
        """How much of the body the left foot carries at a time [s]: it goes from 1 to 0 while both feet bear."""
        return float(self._left_shares[self.index(clock)])

    @cached_property
    def _left_shares(self) -> np.ndarray:
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
        """The swing that a time [s] lies in."""
        return self._swings[self.index(clock)]

    @cached_property
    def is_level(self) -> bool:
        """Whether its flat feet are all at one height: only such a reference is adapted to uneven ground."""
        heights = self.ankles[..., 2][self.bearing == FLAT]
        return not len(heights) or float(np.ptp(np.percentile(heights, (10.0, 90.0)))) < _LEVEL

    def stride(self, swing: Swing, heading: float) -> np.ndarray:
        """(3,) from the stance ankle to where the swing ankle lands, or ends [m], turned to a heading [rad]."""
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
        """Write an npz file that `load_reference` reads.

        Args:
            path: of the file; a skill's `reference` names it.
        """
        replace_file(path, npz_bytes({one.name: np.asarray(getattr(self, one.name)) for one in fields(self)}))


def load_reference(path: Path) -> Reference:
    """Read a reference that `Reference.save` wrote.

    Args:
        path: of the npz file.

    Raises:
        SurefootError: the file cannot be read, or is no reference.
    """
    wanted = {one.name for one in fields(Reference)}
    try:
        arrays: dict[str, Any] = dict(load_arrays(path, "a reference"))
    except OutputError as error:
        raise SurefootError(f"{error}; surefoot follow makes one from a clip") from None
    if set(arrays) != wanted:
        raise SurefootError(
            f"{path} is no reference: it holds {', '.join(sorted(arrays))}, not {', '.join(sorted(wanted))}"
        )
    wrong = _what_is_wrong(arrays)
    if wrong:
        raise SurefootError(f"{path} is no reference: {wrong}; surefoot follow makes one from a clip")
    arrays |= {"timestep": float(arrays["timestep"]), "loops": bool(arrays["loops"]), "turn": float(arrays["turn"])}
    return Reference(**arrays)


def _what_is_wrong(arrays: dict[str, np.ndarray]) -> str:
    """Why the arrays of a file are no reference, or nothing: kinds of numbers and shapes."""
    for name, table in arrays.items():
        if table.dtype.kind not in "fiub" or not np.isfinite(table).all():
            return f"{name} does not hold finite numbers"
    for name in ("timestep", "loops", "turn"):
        if arrays[name].size != 1:
            return f"{name} is not one number"
    count = len(np.atleast_1d(arrays["poses"]))
    shapes = {
        "bearing": (count, 2), "ankles": (count, 2, 3), "axes": (count, 2, 3, 3), "twists": (count, 2, 6),
        "com": (count, 3), "com_velocity": (count, 3),
    }  # fmt: skip
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            return f"{name} has shape {arrays[name].shape}, not {shape}"
    for name in ("poses", "rates", "accelerations"):
        if arrays[name].ndim != 2 or len(arrays[name]) != count or not count:
            return f"{name} has shape {arrays[name].shape}, not a row for each of {max(count, 1)} frames"
    if arrays["rates"].shape != arrays["accelerations"].shape:
        return "rates and accelerations differ in shape"
    if arrays["clip"].size and arrays["clip"].shape != arrays["poses"].shape:
        return f"clip has shape {arrays['clip'].shape}, not that of poses"
    return "" if float(arrays["timestep"]) > 0.0 else "its time step is not positive"


def reference_from_poses(
    model: mujoco.MjModel, table: CharacterTable, poses: np.ndarray, contacts: np.ndarray, timestep: float,
    cycle: slice | None = None, turn: float = 0.0,
) -> Reference:  # fmt: skip
    """Make a reference from poses at even times.

    Args:
        model: of the character, with objects of the world after it.
        table: of the character.
        poses: (n, nq) smooth ones: accelerations are their second differences.
        contacts: (n, 2) when the left and the right foot bear.
        timestep: of the poses [s].
        cycle: the frames of one cycle that loops, with at least one more on both sides; by default nothing loops.
        turn: of a cycle [rad].
    """
    rates, legs = pose_rates(model, poses, timestep), LegKinematics(model, table)
    nv, feet = model.nv - (model.nq - poses.shape[1]), legs.feet_over_time(poses)
    frames = ReferenceFrame(
        poses, rates[:, :nv], np.gradient(rates, timestep, axis=0)[:, :nv],
        reference_contact_modes(feet.axes, contacts), feet.ankles, feet.axes, legs.foot_twists(poses, rates), feet.com,
        np.gradient(feet.com, timestep, axis=0),
    )  # fmt: skip
    kept = ReferenceFrame(*(values[slice(None) if cycle is None else cycle].copy() for values in frames))
    return Reference(*kept, timestep, cycle is not None, turn)


def held_pose(model: mujoco.MjModel, table: CharacterTable, pose: np.ndarray) -> Reference:
    """Make a reference of one pose (nq,), held on both feet."""
    found = reference_from_poses(model, table, np.tile(pose, (2, 1)), np.ones((2, 2), bool), 1.0, slice(0, 1))
    return replace(found, bearing=np.full((1, 2), FLAT))
