"""Where a clip's joints are and how they are turned from an upright posture, found in the clip itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.motions import quaternions as quat
from surefoot.motions.clip_floor import Floor
from surefoot.motions.ends import rest_places
from surefoot.motions.motion import Motion
from surefoot.motions.parts import Limb, Parts
from surefoot.motions.places import world
from surefoot.motions.retarget_pose import matrices

_TILTED = np.radians(30.0)  # of a foot from its rest pose, from which on its flat pose is in doubt
_STEEP = 0.5  # least cosine between the spine or a leg of the rest pose and the vertical


@dataclass(frozen=True)
class FlatFoot:
    """A foot while it stands flat: its frame and its toes' in those of their joints, and the ball's height [m]."""

    frame: np.ndarray
    toe_frame: np.ndarray
    ball_height: float
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Posture:
    """World places (n, joints, 3) [m] and turns (n, joints, 4) away from an upright reference posture.

    `reference` (joints, 3) has the places in that posture, facing x.
    """

    places: np.ndarray
    turns: np.ndarray
    reference: np.ndarray
    notes: tuple[str, ...]

    def turn(self, joint: int) -> np.ndarray:
        """(n, 4) how a joint is turned."""
        return np.asarray(self.turns[:, joint])

    def frame(self, joint: int) -> np.ndarray:
        """(n, 3, 3) how a joint is turned."""
        return matrices(self.turns[:, joint])

    def span(self, one: int, other: int) -> float:
        """Distance of two joints [m]."""
        return float(np.median(np.linalg.norm(self.places[:, one] - self.places[:, other], axis=1)))

    def speed(self, motion: Motion, joint: int) -> np.ndarray:
        """(n,) of a joint [m/s]."""
        return np.asarray(np.linalg.norm(np.gradient(self.places[:, joint], motion.time, axis=0), axis=1))

    def flat_foot(self, limb: Limb, name: str, floor: Floor, side: int) -> FlatFoot:
        """What a foot is like while it stands still and low."""
        still, notes, toe_frame = floor.still[side], [], np.eye(3)
        up = np.median(self.frame(limb.ankle)[still, 2], axis=0)  # the vertical in the joint's frame
        up /= np.linalg.norm(up)
        if np.arccos(np.clip(up[2], -1.0, 1.0)) > _TILTED:
            notes.append(f"the {name} foot is never flat if the rest pose is right; its lowest pose is taken as flat")
        if limb.toe is None:
            return FlatFoot(_upright(up, np.array([1.0, 0.0, 0.0])), toe_frame, 0.0, tuple(notes))
        frame = _upright(up, self.reference[limb.toe] - self.reference[limb.ankle])
        relative = np.swapaxes(self.frame(limb.toe), 1, 2)[still] @ self.frame(limb.ankle)[still]
        left, _, right = np.linalg.svd(np.median(relative, axis=0) @ frame)
        ball = self.places[still, limb.toe]
        return FlatFoot(frame, left @ right, float(np.median(ball[:, 2] - floor.below(ball))), tuple(notes))


def posture_of(motion: Motion, parts: Parts) -> Posture:
    """Places and turns of all joints, from the rest pose if that is upright, else from the most upright frame."""
    skeleton = motion.skeleton
    places, turns = world(motion)
    reference, basis, notes = rest_places(skeleton), np.tile([1.0, 0.0, 0.0, 0.0], (len(skeleton.names), 1)), []
    if _uprightness(reference[None], parts)[0] < _STEEP:
        frame = int(np.argmax(_uprightness(places, parts)))
        reference, basis = places[frame], turns[frame]
        notes.append(f"the rest pose is not upright; the pose at {motion.time[frame]:.2f} s is taken for upright")
    side = reference[parts.left.hip] - reference[parts.right.hip]
    facing = quat.about_vertical(np.array([np.arctan2(-side[0], side[1])]))
    reference = quat.rotate(quat.inverse(facing), reference - reference[parts.pelvis])
    back = quat.multiply(quat.inverse(basis), facing)  # from the reference posture's axes to a joint's own
    return Posture(places, quat.continuous(quat.multiply(turns, back[None])), reference, tuple(notes))


def top_of(parts: Parts) -> int:
    """The joint at the upper end of the trunk."""
    if parts.neck:
        return parts.neck[0]
    return parts.head if parts.head is not None else parts.trunk[-1] if parts.trunk else parts.pelvis


def _uprightness(places: np.ndarray, parts: Parts) -> np.ndarray:
    """(n,) the least cosine between the vertical and the spine and the legs."""
    spine = [(parts.pelvis, top_of(parts))] if top_of(parts) != parts.pelvis else []
    bones = [*spine, *((limb.ankle, limb.hip) for limb in (parts.left, parts.right))]
    found = []
    for low, high in bones:
        bone = places[:, high] - places[:, low]
        found.append(bone[:, 2] / np.maximum(np.linalg.norm(bone, axis=1), 1e-9))
    return np.asarray(np.min(found, axis=0))


def _upright(up: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """(3, 3) whose z is up and whose x goes ahead as far as it can."""
    forward = ahead - (ahead @ up) * up
    forward /= np.linalg.norm(forward)
    return np.column_stack([forward, np.cross(up, forward), up])
