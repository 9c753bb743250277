"""What the shape of a skeleton says where its names do not: legs, arms and a head by how its chains hang."""

from __future__ import annotations

import numpy as np

from surefoot.motions.motion import Motion
from surefoot.motions.places import chain, world

_LONG = 0.6  # of a limb's longest bone: what its two long bones have at least
_LIKE = 0.75  # least ratio of two limbs' lengths
_ASIDE = 0.02  # [m] two hips are apart sideways at least for their side to be told


class Shape:
    """A motion's chains from its root, with how high their ends mostly are."""

    def __init__(self, motion: Motion) -> None:
        self.skeleton = motion.skeleton
        self.places, _ = world(motion)
        self.heights = np.median(self.places[..., 2], axis=0)  # (joints,)
        self.lengths = np.linalg.norm(motion.skeleton.offsets, axis=1)
        parents = set(motion.skeleton.parents.tolist())
        self.leaves = [j for j in range(len(self.lengths)) if j not in parents]

    def below(self, top: int, joint: int) -> list[int]:
        """The joints from under `top` down to one."""
        whole = chain(self.skeleton, joint)
        return whole[whole.index(top) + 1 :]

    def meeting(self, a: int, b: int) -> int:
        """The lowest joint that two joints hang from, or are."""
        return [x for x, y in zip(chain(self.skeleton, a), chain(self.skeleton, b), strict=False) if x == y][-1]

    def legs(self) -> list[list[int | None]] | None:
        """Hip, knee, ankle and toe of the two chains that reach lowest, in no order."""
        low = sorted(self.leaves, key=lambda j: self.heights[j])
        for second in low[1:]:
            top = self.meeting(low[0], second)
            own, other = (self.lengths[self.below(top, j)].sum() for j in (low[0], second))
            if min(own, other) < _LIKE * max(own, other):
                continue
            found = [self._jointed(top, j) for j in (low[0], second)]
            high = self.heights[top] - self.heights[[low[0], second]].max()
            if all(found) and high > 0.5 * self.lengths[self.below(top, second)].sum():
                return [f for f in found if f]
        return None

    def arms(self, used: set[int], chest_above: int) -> list[list[int | None]] | None:
        """Collar, shoulder, elbow and wrist of the two longest like chains that hang from above the pelvis."""
        best: tuple[float, list[list[int | None]]] | None = None
        free = [j for j in self.leaves if not used & set(chain(self.skeleton, j)[1:]) and j not in used]
        for i, a in enumerate(free):
            for b in free[i + 1 :]:
                top = self.meeting(a, b)
                own, other = (float(self.lengths[self.below(top, j)].sum()) for j in (a, b))
                if top == chest_above or min(own, other) < _LIKE * max(own, other):
                    continue
                found = [self._jointed(top, j) for j in (a, b)]
                if all(found) and (best is None or own + other > best[0]):
                    best = (own + other, [self._with_collar(top, f) for f in found if f])
        return None if best is None else best[1]

    def left_first(self, one: list[int | None], other: list[int | None], forward: np.ndarray) -> bool:
        """Whether the first of two limbs is the left one of a body that faces (n, 2) `forward`."""
        across = self.places[:, one[0], :2] - self.places[:, other[0], :2]
        return bool(np.median(forward[:, 0] * across[:, 1] - forward[:, 1] * across[:, 0]) > 0.0)

    def forward(self, legs: list[list[int | None]]) -> tuple[np.ndarray, str]:
        """(n, 2) where the feet point, else where it goes, else where the rest pose faces; and which it was."""
        feet = [self.places[:, leg[3], :2] - self.places[:, leg[2], :2] for leg in legs if leg[3] is not None]
        if feet and np.median(np.linalg.norm(sum(feet), axis=1)) > _ASIDE:
            return np.asarray(sum(feet)), "the feet point"
        gone = self.places[-1, 0, :2] - self.places[0, 0, :2]
        if np.linalg.norm(gone) > 1.0:
            return np.tile(gone, (len(self.places), 1)), "it goes"
        return np.tile([1.0, 0.0], (len(self.places), 1)), "the file's forward axis points"

    def _jointed(self, top: int, leaf: int) -> list[int | None] | None:
        """First, middle and last joint of the last two long bones under `top`, and what comes next."""
        joints = self.below(top, leaf)
        lengths = self.lengths[joints]
        if len(joints) < 3:
            return None
        long = [i for i in range(1, len(joints)) if lengths[i] > _LONG * lengths[1:].max()]
        if len(long) < 2:
            return None
        first, second = long[-2:]  # a collar bone may be as long as they are, a hand or a foot is not
        after = [j for i, j in enumerate(joints) if i > second and lengths[i] > 0.0]
        return [joints[first - 1], joints[first], joints[second], after[0] if after else None]

    def _with_collar(self, top: int, joints: list[int | None]) -> list[int | None]:
        shoulder = joints[0]
        before = [j for j in self.below(top, int(shoulder or 0)) if j != shoulder]
        return [before[-1] if before else None, *joints[:3]]
