"""Balance tailored to a reference: a linear time-varying regulator of the three-link model in every single support.

For each single support (da Silva 2008, §3.2) it holds the mapped states x̄, controls ū that follow them, and the gains K
of eq. 4. At run time u = ū + K Δx gives the accelerations a_b of the links' centers of mass (§4.2).

The controls ū come from iterated linear quadratic regulators (after Li and Todorov 2004). The first guess is what
inverse dynamics asks of the hips, with a regulator about the reference: without one an inverted pendulum falls within
a step. What it asks of the ankle, within what a foot of that length can give, is taken as known, because a model on a
point cannot follow a gait that uses its ankle. N·m² weigh little against rad²: high weights give up the reference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.atomic_file import replace_file
from surefoot.controllers.stylized.contact_patches import FREE
from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics, LinkComs
from surefoot.controllers.stylized.reference import Reference
from surefoot.controllers.stylized.three_link import (
    Joints,
    LinearSystem,
    ThreeLinkDynamics,
    ThreeLinkGroups,
    build_three_link,
    three_link_state,
)
from surefoot.errors import OutputError
from surefoot.motions import quaternions as quat
from surefoot.motions.npz import load_arrays, npz_bytes
from surefoot.reflexes.pendulum import GRAVITY


class Costs(NamedTuple):
    """Costs of one plane's squared errors: angles and rates of base, upper body, swing leg; and of torques."""

    angles: tuple[float, float, float]
    rates: tuple[float, float, float]
    controls: tuple[float, float]  # [(N·m)⁻²] of upper body and swing leg


@dataclass(frozen=True)
class Weights:
    """What errors and controls cost.

    Attributes:
        tracking: c of eq. 4, of errors on the way; the last error costs 1.
        pitch: in the sagittal plane.
        roll: in the frontal plane, which a planar body does not have.
    """

    tracking: float
    pitch: Costs
    roll: Costs

    @classmethod
    def uniform(cls, tracking: float = 0.1, rates: float = 1.0, control: float = 1.0) -> Weights:
        """The same weights for all links and planes.

        Args:
            tracking: c.
            rates: of squared rates [rad²/s²] against squared angles; the paper's figure 5 has 0, eq. 4 has 1.
            control: of squared torques [(N·m)⁻²]; the paper's 1 makes 0.1 rad cost what 0.1 N·m does.
        """
        costs = Costs((1.0, 1.0, 1.0), (rates, rates, rates), (control, control))
        return cls(tracking, costs, costs)

    def matrices(self, controls: int) -> tuple[np.ndarray, np.ndarray]:
        """Q of unit tracking cost and R, for 2 controls (planar) or 4."""
        planes = (self.pitch, self.roll)[: controls // 2]
        angles, rates, torques = (np.column_stack([plane[i] for plane in planes]).ravel() for i in range(3))
        return np.diag(np.concatenate([angles, rates])), np.diag(torques)


WEIGHTS = Weights.uniform(0.1, 1.0, 1e-5)  # c of eq. 4; its unit weight of torques is too much for N·m against rad
CONTROL = 1e-6  # cost of 1 (N·m)² against 1 rad² in the search for ū; more than 1e-5 loses the reference
_ITERATIONS = 12
_GOOD = 1e-4  # relative improvement below which it has converged
_DAMPING = 1e-9
_WILD = 1e3  # [rad, rad/s] beyond which a trial is given up
_SHORTEST = 4  # frames of a single support that is worth a policy
_ANKLE = (0.10, 0.04)  # [m] of a foot about its ankle, ahead and aside: torque it can give by body weight


def finite_horizon_lqr(system: LinearSystem, weights: Weights) -> np.ndarray:
    """(t, m, n) gains of eq. 4 for steps A (t, n, n), B (t, n, m)."""
    steps, n, m = len(system.A), system.A.shape[-1], system.B.shape[-1]
    Q, R = weights.matrices(m)
    P, gains = Q.copy(), np.zeros((steps, m, n))
    for t in range(steps - 1, -1, -1):
        A, B = system.A[t], system.B[t]
        gains[t] = -np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = weights.tracking * Q + A.T @ P @ (A + B @ gains[t])
        P = 0.5 * (P + P.T)
    return gains


class IlqrTrajectory(NamedTuple):
    """A followed reference: states (t + 1, n), controls (t, m), ankle torques (t, axes) [N·m], and iterations."""

    states: np.ndarray
    controls: np.ndarray
    ankle: np.ndarray
    iterations: int


def ilqr_track(
    dynamics: ThreeLinkDynamics, reference: np.ndarray, reach: np.ndarray, limit: float = np.inf
) -> IlqrTrajectory:
    """Find controls that follow a reference.

    Args:
        dynamics: the three-link model.
        reference: (t + 1, n) mapped states at its time step.
        reach: (axes,) largest torque of the ankle either way [N·m].
        limit: of every hip torque [N·m].
    """
    n, axes, dt = dynamics.link.model.nv, dynamics.link.axes, dynamics.link.model.opt.timestep
    rates = np.gradient(reference[:, n:], dt, axis=0)
    torques = np.array([
        dynamics.inverse_dynamics(x, a) for x, a in zip(reference[:-1], rates[:-1], strict=True)
    ])  # fmt: skip
    ankle, controls = np.clip(torques[:, :axes], -reach, reach), np.clip(torques[:, axes:], -limit, limit)
    gains, _ = _backward_pass(linearize_along(dynamics, reference, controls, ankle), reference, controls, reference)
    states, controls = _forward_pass(dynamics, reference, controls, ankle, gains, np.zeros_like(controls), limit)
    cost, iteration, done = _cost(states, controls, reference), 0, False
    while not done and iteration < _ITERATIONS:
        iteration += 1
        system = linearize_along(dynamics, states, controls, ankle)
        gains, offsets = _backward_pass(system, states, controls, reference)
        for share in (1.0, 0.5, 0.25, 0.1, 0.03):
            tried, moved = _forward_pass(dynamics, states, controls, ankle, gains, share * offsets, limit)
            new = _cost(tried, moved, reference)
            if new < cost:
                break
        else:
            break
        done = cost - new < _GOOD * cost
        states, controls, cost = tried, moved, new
    return IlqrTrajectory(states, controls, ankle, iteration)


def linearize_along(
    dynamics: ThreeLinkDynamics, states: np.ndarray, controls: np.ndarray, ankle: np.ndarray
) -> LinearSystem:
    """The linear time-varying system along states (t + 1, n) and controls (t, m)."""
    found = [dynamics.linearize(x, u, k) for x, u, k in zip(states[:-1], controls, ankle, strict=True)]
    return LinearSystem(np.array([one.A for one in found]), np.array([one.B for one in found]))


def _forward_pass(
    dynamics: ThreeLinkDynamics, states: np.ndarray, controls: np.ndarray, ankle: np.ndarray, gains: np.ndarray,
    offsets: np.ndarray, limit: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """States and controls of a rollout; once a state is wild, it and all that follow are infinite."""
    x, new_states, new_controls = states[0], [states[0]], []
    for t, u in enumerate(controls):
        wanted = u + offsets[t] + gains[t] @ (x - states[t]) if np.isfinite(x).all() else u
        new = np.clip(wanted, -limit, limit)
        x = dynamics.step(x, new, ankle[t]) if np.abs(x).max() < _WILD else np.full_like(x, np.inf)
        new_controls.append(new)
        new_states.append(x)
    return np.array(new_states), np.array(new_controls)


def _cost(states: np.ndarray, controls: np.ndarray, reference: np.ndarray) -> float:
    total = float(((states - reference) ** 2).sum() + CONTROL * (controls**2).sum())
    return total if np.isfinite(total) else np.inf


def _backward_pass(
    system: LinearSystem, states: np.ndarray, controls: np.ndarray, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gains (t, m, n) and offsets (t, m)."""
    steps, n, m = len(system.A), system.A.shape[-1], system.B.shape[-1]
    gains, offsets = np.zeros((steps, m, n)), np.zeros((steps, m))
    P, p = np.eye(n), states[-1] - reference[-1]
    for t in range(steps - 1, -1, -1):
        A, B = system.A[t], system.B[t]
        H = CONTROL * np.eye(m) + B.T @ P @ B + _DAMPING * np.eye(m)
        gains[t] = -np.linalg.solve(H, B.T @ P @ A)
        offsets[t] = -np.linalg.solve(H, B.T @ p + CONTROL * controls[t])
        p = states[t] - reference[t] + A.T @ (p + P @ B @ offsets[t])
        P = np.eye(n) + A.T @ P @ (A + B @ gains[t])
        P = 0.5 * (P + P.T)
    return gains, offsets


class SupportGains(NamedTuple):
    """The regulator of a single support that begins with frame `first` of the reference and goes on for t frames."""

    first: int
    stance: int
    heading: float  # [rad]
    states: np.ndarray  # (t + 1, n) x̄
    controls: np.ndarray  # (t, m) ū
    ankle: np.ndarray  # (t, axes) [N·m]
    K: np.ndarray  # (t, m, n)


@dataclass(frozen=True)
class BalancePolicy:
    """Regulators of all single supports of a reference of so many frames, with the models they belong to."""

    gains: tuple[SupportGains, ...]
    models: tuple[ThreeLinkDynamics, ...]
    frames: int

    def find(self, index: int) -> tuple[int, int] | None:
        """The regulator of a frame of the reference, and which of its steps; None in double support."""
        for i, one in enumerate(self.gains):
            step = (index - one.first) % self.frames
            if step < len(one.controls):
                return i, step
        return None

    def com_accelerations(self, which: tuple[int, int], coms: LinkComs, turned: float) -> np.ndarray:
        """(9,) a_b in the world [m/s²] for centers of mass seen from the stance ankle; the reference is `turned` [rad].

        `which` is what `find` returned.
        """
        one, model, step = self.gains[which[0]], self.models[which[0]], which[1]
        heading = one.heading + turned
        state = three_link_state(model.link, coms, heading)
        control = one.controls[step] + one.K[step] @ (state - one.states[step])
        return model.com_accelerations(state, control, one.ankle[step], heading).ravel()


def balance_policy(
    body: BodyDynamics, groups: Sequence[ThreeLinkGroups], reference: Reference, cache: Path | None = None
) -> BalancePolicy:
    """Make the policy of a reference, or read it from the cache if that fits; else write the cache.

    Args:
        body: of the character.
        groups: of both stance legs.
        reference: to be followed.
        cache: a file.
    """
    supports, n, key = _single_supports(reference), len(reference.poses), _key(body, reference)
    models = tuple(_model(body, groups[s], reference, (a + b) // 2 % n) for a, b, s in supports)
    names = SupportGains._fields[3:]
    if cache is not None and cache.is_file():
        file = _cached(cache)
        if str(file.get("key")) == key:
            kept = tuple(
                SupportGains(a, s, _heading(reference, (a + b) // 2), *(file[f"{name}_{i}"] for name in names))
                for i, (a, b, s) in enumerate(supports)
            )
            return BalancePolicy(kept, models, n)
    pairs = zip(supports, models, strict=True)
    found = tuple(_support_gains(body, groups[s], reference, a, b, s, model) for (a, b, s), model in pairs)
    if cache is not None:
        arrays = {f"{name}_{i}": getattr(one, name) for i, one in enumerate(found) for name in names}
        replace_file(cache, npz_bytes(arrays | {"key": np.array(key)}))
    return BalancePolicy(found, models, n)


def _cached(cache: Path) -> dict[str, np.ndarray]:
    """The arrays of a cache; none if it is damaged, for it is written anew then."""
    try:
        return load_arrays(cache, "a cached policy")
    except OutputError:
        return {}


def _single_supports(reference: Reference) -> list[tuple[int, int, int]]:
    """First frame, frame after the last (which may lie beyond a loop's end) and stance foot of single supports."""
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


def _heading(reference: Reference, frame: int) -> float:
    """Yaw of a frame's root [rad]; frames may lie beyond a loop's end."""
    if reference.poses.shape[1] == reference.rates.shape[1]:
        return 0.0  # in a plane
    loops, at = divmod(frame, len(reference.poses))
    return float(quat.yaw(reference.poses[at : at + 1, 3:7])[0]) + loops * reference.turn


def _set(body: BodyDynamics, reference: Reference, i: int) -> None:
    qpos, qvel = body.model.qpos0.copy(), np.zeros(body.model.nv)
    frame = reference.at(i * reference.timestep)
    qpos[: len(frame.pose)], qvel[: len(frame.rates)] = frame.pose, frame.rates
    body.set(qpos, qvel)


def _model(body: BodyDynamics, group: ThreeLinkGroups, reference: Reference, frame: int) -> ThreeLinkDynamics:
    _set(body, reference, frame)
    joints: Joints = "planar" if body.planar else "hinges"
    heading = _heading(reference, frame)
    return ThreeLinkDynamics(build_three_link(group, body.model, body.data, heading, joints, reference.timestep))


def _support_gains(
    body: BodyDynamics, group: ThreeLinkGroups, reference: Reference, first: int, last: int, stance: int,
    model: ThreeLinkDynamics,
) -> SupportGains:  # fmt: skip
    n, heading, states = len(reference.poses), _heading(reference, (first + last) // 2), []
    for i in range(first, last + 1):
        _set(body, reference, i % n)
        coms, _, _ = body.link_coms(group)
        states.append(three_link_state(model.link, coms, heading - i // n * reference.turn))
    wanted, weight = np.array(states), GRAVITY * float(body.model.body_mass[1:].sum())
    followed = ilqr_track(model, wanted, weight * np.array(_ANKLE[: model.link.axes]))
    system = linearize_along(model, followed.states, followed.controls, followed.ankle)
    gains = finite_horizon_lqr(system, WEIGHTS)
    return SupportGains(first, stance, heading, wanted, followed.controls, followed.ankle, gains)


def _key(body: BodyDynamics, reference: Reference) -> str:
    """What a policy depends on."""
    parts = (reference.poses, reference.rates, reference.bearing, body.model.body_mass, body.model.body_inertia)
    text = hashlib.sha256(repr((WEIGHTS, _ANKLE, mujoco.__version__)).encode())
    for part in parts:
        text.update(np.ascontiguousarray(part).tobytes())
    return text.hexdigest()
