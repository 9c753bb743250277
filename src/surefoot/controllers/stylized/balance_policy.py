"""Linear quadratic regulators (da Silva 2008, eqs. 4–7): gains K with Δu = K Δx, over a stretch of time or for ever.

Controls ū that make the three-link model follow a mapped reference (da Silva 2008, §3.2, after Li and Todorov 2004).

The first guess is what inverse dynamics asks of the hips, with a regulator about the reference: without one an inverted
pendulum falls within a step. What it asks of the ankle, within what a foot of that length can give, is taken as known:
a model on a point cannot follow a gait that uses it. Then torques and states are improved by iterated linear quadratic
regulators, with N·m² weighed low against rad²: high weights give up the reference.

Balance tailored to a reference: a linear time-varying regulator of the three-link model in every single support.

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
from scipy.linalg import solve_discrete_are

from surefoot.atomic_file import replace_file
from surefoot.controllers.stylized.foot_contacts import FREE
from surefoot.controllers.stylized.multibody_dynamics import Points
from surefoot.controllers.stylized.reference import Reference, npz_bytes
from surefoot.controllers.stylized.three_link import (
    Joints,
    LinearSystem,
    ThreeLink,
    ThreeLinkDynamics,
    ThreeLinkForwardModel,
    ThreeLinkGroups,
    build_three_link,
    three_link_state,
)
from surefoot.motions import quaternions as quat

if TYPE_CHECKING:
    from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics


class Costs(NamedTuple):
    """What one plane's errors and controls cost: squared angles and rates of base, upper body, swing leg; torques."""

    angles: tuple[float, float, float]
    rates: tuple[float, float, float]
    controls: tuple[float, float]  # [(N·m)⁻²] of upper body and swing leg


@dataclass(frozen=True)
class Weights:
    """What errors and controls cost.

    Attributes:
        tracking: c of eq. 4, of errors on the way; the last error costs 1.
        pitch: in the sagittal plane.
        roll: in the plane across it, which a planar body has not.
    """

    tracking: float
    pitch: Costs
    roll: Costs

    @classmethod
    def alike(cls, tracking: float = 0.1, rates: float = 1.0, control: float = 1.0) -> Weights:
        """The same of all links and planes.

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


def infinite_horizon_lqr(system: LinearSystem, weights: Weights) -> np.ndarray:
    """(m, n) gains of eq. 6, with Q of unit tracking cost times c."""
    A, B = system
    Q, R = weights.matrices(B.shape[1])
    P = solve_discrete_are(A, B, weights.tracking * Q, R)
    return np.asarray(-np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A))


CONTROL = 1e-6  # cost of 1 (N·m)² against 1 rad²; more than 1e-5 loses the reference
_ITERATIONS = 12
_GOOD = 1e-4  # relative improvement below which it has converged
_DAMPING = 1e-9
_WILD = 1e3  # [rad, rad/s] beyond which a trial is given up


class IlqrTrajectory(NamedTuple):
    """How a reference is followed: states (t + 1, n), controls (t, m), ankle torques (t, axes) [N·m], iterations."""

    states: np.ndarray
    controls: np.ndarray
    known: np.ndarray
    iterations: int


def inverse_dynamics_guess(
    steps: ThreeLinkDynamics, reference: np.ndarray, ankle: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """First guesses [N·m]: (t, axes) of the ankle, within `ankle` (axes, 2: low, high), and (t, m) of the hips."""
    n, axes, dt = steps.link.model.nv, steps.link.axes, steps.link.model.opt.timestep
    rates = np.gradient(reference[:, n:], dt, axis=0)
    torques = np.array([steps.needed(x, a) for x, a in zip(reference[:-1], rates[:-1], strict=True)])
    return np.clip(torques[:, :axes], ankle[:, 0], ankle[:, 1]), torques[:, axes:]


def ilqr_track(
    steps: ThreeLinkDynamics, reference: np.ndarray, ankle: np.ndarray, limit: float = np.inf
) -> IlqrTrajectory:
    """Controls for a reference (t + 1, n).

    Args:
        steps: of the three-link model.
        reference: mapped states at its time step.
        ankle: (axes, 2) lowest and highest torque of the ankle [N·m].
        limit: of every hip torque [N·m].
    """
    known, controls = inverse_dynamics_guess(steps, reference, ankle)
    controls = np.clip(controls, -limit, limit)
    gains, _ = _backward_pass(linearize_along(steps, reference, controls, known), reference, controls, reference)
    states, controls = _forward_pass(steps, reference, controls, known, gains, np.zeros_like(controls), limit)
    cost = _cost(states, controls, reference)
    for iteration in range(1, _ITERATIONS + 1):
        system = linearize_along(steps, states, controls, known)
        gains, offsets = _backward_pass(system, states, controls, reference)
        for share in (1.0, 0.5, 0.25, 0.1, 0.03):
            tried, moved = _forward_pass(steps, states, controls, known, gains, share * offsets, limit)
            new = _cost(tried, moved, reference)
            if new < cost:
                break
        else:
            return IlqrTrajectory(states, controls, known, iteration)
        done = cost - new < _GOOD * cost
        states, controls, cost = tried, moved, new
        if done:
            return IlqrTrajectory(states, controls, known, iteration)
    return IlqrTrajectory(states, controls, known, _ITERATIONS)


def linearize_along(
    steps: ThreeLinkDynamics, states: np.ndarray, controls: np.ndarray, known: np.ndarray
) -> LinearSystem:
    """The LTV system along states (t + 1, n) and controls (t, m)."""
    found = [steps.linear(x, u, k) for x, u, k in zip(states[:-1], controls, known, strict=True)]
    return LinearSystem(np.array([one.A for one in found]), np.array([one.B for one in found]))


def _next(steps: ThreeLinkDynamics, state: np.ndarray, control: np.ndarray, known: np.ndarray) -> np.ndarray:
    """A step; from a state that is lost already none is taken, and what follows is lost too."""
    if not np.abs(state).max() < _WILD:
        return np.full_like(state, np.inf)
    return steps.step(state, control, known)


def _forward_pass(
    steps: ThreeLinkDynamics, states: np.ndarray, controls: np.ndarray, known: np.ndarray, gains: np.ndarray, offsets: np.ndarray,
    limit: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    x, new_states, new_controls = states[0], [states[0]], []
    for t, u in enumerate(controls):
        wanted = u + offsets[t] + gains[t] @ (x - states[t]) if np.isfinite(x).all() else u
        new = np.clip(wanted, -limit, limit)
        x = _next(steps, x, new, known[t])
        new_controls.append(new)
        new_states.append(x)
    return np.array(new_states), np.array(new_controls)


def _cost(states: np.ndarray, controls: np.ndarray, reference: np.ndarray) -> float:
    total = float(((states - reference) ** 2).sum() + CONTROL * (controls**2).sum())
    return total if np.isfinite(total) else np.inf


def _backward_pass(
    system: LinearSystem, states: np.ndarray, controls: np.ndarray, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gains (t, m, n) and offsets (t, m) of one backward pass."""
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


WEIGHTS = Weights.alike(0.1, 1.0, 1e-5)  # c of eq. 4; its unit weight of torques is too much for N·m against rad
_SHORTEST = 4  # moments of a single support that is worth a policy
_ANKLE = (0.10, 0.04)  # [m] of a foot about its ankle, ahead and aside: what torque it can give by body weight


class SupportGains(NamedTuple):
    """Of a single support that begins with moment `first`: x̄ (t + 1, n), ū (t, m), ankle torques (t, axes), K."""

    first: int
    stance: int
    heading: float
    states: np.ndarray
    controls: np.ndarray
    ankle: np.ndarray
    K: np.ndarray


@dataclass(frozen=True)
class BalancePolicy:
    """Regulators of all single supports of a reference, with the models they are of."""

    gains: tuple[SupportGains, ...]
    models: tuple[ThreeLinkForwardModel, ...]
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
        state = three_link_state(simple.link, points, heading)
        control = one.controls[step] + one.K[step] @ (state - one.states[step])
        return simple.accelerations(state, control, one.ankle[step], heading).ravel()


def balance_policy(
    body: BodyDynamics, groups: list[ThreeLinkGroups], reference: Reference, cache: Path | None = None
) -> BalancePolicy:
    """The policy of a reference, read from a cache if it is there, else written to it."""
    stretches, n = _single_supports(reference), len(reference.poses)
    models = tuple(ThreeLinkForwardModel(_model(body, groups[s], reference, a, b)) for a, b, s in stretches)
    key = _key(body, reference)
    if cache is not None and cache.is_file():
        with np.load(cache) as file:
            if str(file["key"]) == key:
                found = tuple(
                    SupportGains(
                        a, s, _heading(reference, a, b), *(file[f"{name}_{i}"] for name in SupportGains._fields[3:])
                    )
                    for i, (a, b, s) in enumerate(stretches)
                )
                return BalancePolicy(found, models, n)
    pairs = zip(stretches, models, strict=True)
    found = tuple(_gains(body, groups[s], reference, a, b, s, m.link) for (a, b, s), m in pairs)
    if cache is not None:
        arrays = {f"{name}_{i}": getattr(g, name) for i, g in enumerate(found) for name in SupportGains._fields[3:]}
        replace_file(cache, npz_bytes(arrays | {"key": np.array(key)}))
    return BalancePolicy(found, models, n)


def _single_supports(reference: Reference) -> list[tuple[int, int, int]]:
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


def _model(body: BodyDynamics, group: ThreeLinkGroups, reference: Reference, first: int, last: int) -> ThreeLink:
    middle = ((first + last) // 2) % len(reference.poses)
    _set(body, reference, middle)
    yaw = 0.0 if body.planar else float(quat.yaw(reference.poses[middle : middle + 1, 3:7])[0])
    joints: Joints = "planar" if body.planar else "hinges"
    return build_three_link(group, body.model, body.data, yaw, joints, reference.timestep)


def link_coms_from_ankle(body: BodyDynamics, group: ThreeLinkGroups) -> tuple[Points, np.ndarray, np.ndarray]:
    """The links' points seen from the stance ankle in the world's axes, J_c and J̇_c q̇, at the state `body` is in."""
    return body.centers(group, group.ankle)


def _gains(
    body: BodyDynamics,
    group: ThreeLinkGroups,
    reference: Reference,
    first: int,
    last: int,
    stance: int,
    link: ThreeLink,
) -> SupportGains:
    n, heading, states = len(reference.poses), _heading(reference, first, last), []
    for i in range(first, last + 1):
        beyond = i // n  # loops that it is ahead of the first
        _set(body, reference, i % n)
        points, _, _ = link_coms_from_ankle(body, group)
        states.append(three_link_state(link, points, heading - beyond * reference.turn))
    wanted, weight = np.array(states), 9.81 * float(body.model.body_mass[1:].sum())
    reach = weight * np.array(_ANKLE[: link.axes])
    followed = ilqr_track(ThreeLinkDynamics(link), wanted, np.column_stack([-reach, reach]))
    system = linearize_along(ThreeLinkDynamics(link), followed.states, followed.controls, followed.known)
    gains = finite_horizon_lqr(system, WEIGHTS)
    return SupportGains(first, stance, heading, wanted, followed.controls, followed.known, gains)


def _key(body: BodyDynamics, reference: Reference) -> str:
    """What a policy depends on."""
    parts = (reference.poses, reference.rates, reference.bearing, body.model.body_mass, body.model.body_inertia)
    text = hashlib.sha256(repr((WEIGHTS, _ANKLE, mujoco.__version__)).encode())
    for part in parts:
        text.update(np.ascontiguousarray(part).tobytes())
    return text.hexdigest()
