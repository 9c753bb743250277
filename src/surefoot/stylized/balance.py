"""Balance tailored to a reference: a linear time-varying regulator of the three-link model in every single support.

Of each stretch in which one foot bears (da Silva 2008, §3.2): the mapped states x̄, controls ū that follow them, and
gains K. At run time u = ū + K Δx gives the accelerations a_b of the links' centres of mass (§4.2).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from surefoot.atomic_file import replace_file
from surefoot.motions import quaternions as quat
from surefoot.stylized import ilqr, riccati
from surefoot.stylized.limbs_of_three import Groups
from surefoot.stylized.linear import Steps
from surefoot.stylized.patches import FREE
from surefoot.stylized.reference import Reference, packed
from surefoot.stylized.three_link import Joints, ThreeLink, build
from surefoot.stylized.three_link_state import Points, Simple, state_of

if TYPE_CHECKING:
    from surefoot.stylized.body_dynamics import BodyDynamics

WEIGHTS = riccati.Weights.alike(
    0.1, 1.0, 1e-5
)  # c of eq. 4; its unit weight of torques is too much for N·m against rad
_SHORTEST = 4  # moments of a single support that is worth a policy
_ANKLE = (0.10, 0.04)  # [m] of a foot about its ankle, ahead and aside: what torque it can give by body weight


class Gains(NamedTuple):
    """Of a single support that begins with moment `first`: x̄ (t + 1, n), ū (t, m), ankle torques (t, axes), K."""

    first: int
    stance: int
    heading: float
    states: np.ndarray
    controls: np.ndarray
    ankle: np.ndarray
    K: np.ndarray


@dataclass(frozen=True)
class Policy:
    """Regulators of all single supports of a reference, with the models they are of."""

    gains: tuple[Gains, ...]
    models: tuple[Simple, ...]
    moments: int

    def find(self, index: int) -> tuple[int, int] | None:
        """Which regulator a moment of the reference belongs to, and which of its steps; none where both feet bear."""
        for i, one in enumerate(self.gains):
            step = (index - one.first) % self.moments
            if step < len(one.controls):
                return i, step
        return None

    def accelerations(self, which: tuple[int, int], points: Points, turned: float) -> np.ndarray:
        """(9,) a_b in the world [m/s²], of points seen from the stance ankle in the world; `turned` by [rad]."""
        one, simple, step = self.gains[which[0]], self.models[which[0]], which[1]
        heading = one.heading + turned
        state = state_of(simple.link, points, heading)
        control = one.controls[step] + one.K[step] @ (state - one.states[step])
        return simple.accelerations(state, control, one.ankle[step], heading).ravel()


def policy(body: BodyDynamics, groups: list[Groups], reference: Reference, cache: Path | None = None) -> Policy:
    """The policy of a reference, read from a cache if it is there, else written to it."""
    stretches, n = _supports(reference), len(reference.poses)
    models = tuple(Simple(_model(body, groups[s], reference, a, b)) for a, b, s in stretches)
    key = _key(body, reference)
    if cache is not None and cache.is_file():
        with np.load(cache) as file:
            if str(file["key"]) == key:
                found = tuple(
                    Gains(a, s, _heading(reference, a, b), *(file[f"{name}_{i}"] for name in Gains._fields[3:]))
                    for i, (a, b, s) in enumerate(stretches)
                )
                return Policy(found, models, n)
    pairs = zip(stretches, models, strict=True)
    found = tuple(_gains(body, groups[s], reference, a, b, s, m.link) for (a, b, s), m in pairs)
    if cache is not None:
        arrays = {f"{name}_{i}": getattr(g, name) for i, g in enumerate(found) for name in Gains._fields[3:]}
        replace_file(cache, packed(arrays | {"key": np.array(key)}))
    return Policy(found, models, n)


def _supports(reference: Reference) -> list[tuple[int, int, int]]:
    """First moment, moment after the last (which may lie beyond a loop's end) and stance foot of single supports."""
    bears, n = reference.bearing != FREE, len(reference.poses)
    kind = np.where(bears.sum(axis=1) == 1, bears[:, 1].astype(int), -1)
    begin = 0
    if reference.loops and (kind != kind[0]).any():
        begin = int(np.flatnonzero(kind != np.roll(kind, 1))[0])
    found, i = list[tuple[int, int, int]](), begin
    while i < begin + n:
        j = i
        while j < begin + n and kind[j % n] == kind[i % n]:
            j += 1
        if kind[i % n] >= 0 and j - i >= _SHORTEST and (reference.loops or j <= n):
            found.append((i, j, int(kind[i % n])))
        i = j
    return found


def _heading(reference: Reference, first: int, last: int) -> float:
    if reference.poses.shape[1] == reference.rates.shape[1]:
        return 0.0  # in a plane
    loops, middle = divmod((first + last) // 2, len(reference.poses))
    return float(quat.yaw(reference.poses[middle : middle + 1, 3:7])[0]) + loops * reference.turn


def _set(body: BodyDynamics, reference: Reference, i: int) -> None:
    qpos, qvel = body.model.qpos0.copy(), np.zeros(body.model.nv)
    moment = reference.at(i * reference.timestep)
    qpos[: len(moment.pose)], qvel[: len(moment.rates)] = moment.pose, moment.rates
    body.set(qpos, qvel)


def _model(body: BodyDynamics, group: Groups, reference: Reference, first: int, last: int) -> ThreeLink:
    middle = ((first + last) // 2) % len(reference.poses)
    _set(body, reference, middle)
    yaw = 0.0 if body.planar else float(quat.yaw(reference.poses[middle : middle + 1, 3:7])[0])
    joints: Joints = "planar" if body.planar else "hinges"
    return build(group, body.model, body.data, yaw, joints, reference.timestep)


def seen(body: BodyDynamics, group: Groups) -> tuple[Points, np.ndarray, np.ndarray]:
    """The links' points seen from the stance ankle in the world's axes, J_c and J̇_c q̇, at the state `body` is in."""
    return body.centers(group, group.ankle)


def _gains(
    body: BodyDynamics, group: Groups, reference: Reference, first: int, last: int, stance: int, link: ThreeLink
) -> Gains:
    n, heading, states = len(reference.poses), _heading(reference, first, last), []
    for i in range(first, last + 1):
        beyond = i // n  # loops that it is ahead of the first
        _set(body, reference, i % n)
        points, _, _ = seen(body, group)
        states.append(state_of(link, points, heading - beyond * reference.turn))
    wanted, weight = np.array(states), 9.81 * float(body.model.body_mass[1:].sum())
    reach = weight * np.array(_ANKLE[: link.axes])
    followed = ilqr.follow(Steps(link), wanted, np.column_stack([-reach, reach]))
    system = ilqr.along(Steps(link), followed.states, followed.controls, followed.known)
    gains = riccati.finite(system, WEIGHTS)
    return Gains(first, stance, heading, wanted, followed.controls, followed.known, gains)


def _key(body: BodyDynamics, reference: Reference) -> str:
    """What a policy depends on."""
    parts = (reference.poses, reference.rates, reference.bearing, body.model.body_mass, body.model.body_inertia)
    text = hashlib.sha256(repr((WEIGHTS, _ANKLE, mujoco.__version__)).encode())
    for part in parts:
        text.update(np.ascontiguousarray(part).tobytes())
    return text.hexdigest()
