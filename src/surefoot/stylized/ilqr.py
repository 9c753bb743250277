"""Controls ū that make the three-link model follow a mapped reference (da Silva 2008, §3.2, after Li and Todorov 2004).

The first guess is what inverse dynamics asks of the hips, with a regulator about the reference: without one an inverted
pendulum falls within a step. What it asks of the ankle, within what a foot of that length can give, is taken as known:
a model on a point cannot follow a gait that uses it. Then torques and states are improved by iterated linear quadratic
regulators, with N·m² weighed low against rad²: high weights give up the reference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefoot.stylized.linear import Linear, Steps

CONTROL = 1e-6  # cost of 1 (N·m)² against 1 rad²; more than 1e-5 loses the reference
_ITERATIONS = 12
_GOOD = 1e-4  # relative improvement below which it has converged
_DAMPING = 1e-9
_WILD = 1e3  # [rad, rad/s] beyond which a trial is given up


class Followed(NamedTuple):
    """How a reference is followed: states (t + 1, n), controls (t, m), ankle torques (t, axes) [N·m], iterations."""

    states: np.ndarray
    controls: np.ndarray
    known: np.ndarray
    iterations: int


def ankle_and_hips(steps: Steps, reference: np.ndarray, ankle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First guesses [N·m]: (t, axes) of the ankle, within `ankle` (axes, 2: low, high), and (t, m) of the hips."""
    n, axes, dt = steps.link.model.nv, steps.link.axes, steps.link.model.opt.timestep
    rates = np.gradient(reference[:, n:], dt, axis=0)
    torques = np.array([steps.needed(x, a) for x, a in zip(reference[:-1], rates[:-1], strict=True)])
    return np.clip(torques[:, :axes], ankle[:, 0], ankle[:, 1]), torques[:, axes:]


def follow(steps: Steps, reference: np.ndarray, ankle: np.ndarray, limit: float = np.inf) -> Followed:
    """Controls for a reference (t + 1, n).

    Args:
        steps: of the three-link model.
        reference: mapped states at its time step.
        ankle: (axes, 2) lowest and highest torque of the ankle [N·m].
        limit: of every hip torque [N·m].
    """
    known, controls = ankle_and_hips(steps, reference, ankle)
    controls = np.clip(controls, -limit, limit)
    gains, _ = _improved(along(steps, reference, controls, known), reference, controls, reference)
    states, controls = _tried(steps, reference, controls, known, gains, np.zeros_like(controls), limit)
    cost = _cost(states, controls, reference)
    for iteration in range(1, _ITERATIONS + 1):
        system = along(steps, states, controls, known)
        gains, offsets = _improved(system, states, controls, reference)
        for share in (1.0, 0.5, 0.25, 0.1, 0.03):
            tried, moved = _tried(steps, states, controls, known, gains, share * offsets, limit)
            new = _cost(tried, moved, reference)
            if new < cost:
                break
        else:
            return Followed(states, controls, known, iteration)
        done = cost - new < _GOOD * cost
        states, controls, cost = tried, moved, new
        if done:
            return Followed(states, controls, known, iteration)
    return Followed(states, controls, known, _ITERATIONS)


def along(steps: Steps, states: np.ndarray, controls: np.ndarray, known: np.ndarray) -> Linear:
    """The LTV system along states (t + 1, n) and controls (t, m)."""
    found = [steps.linear(x, u, k) for x, u, k in zip(states[:-1], controls, known, strict=True)]
    return Linear(np.array([one.A for one in found]), np.array([one.B for one in found]))


def _next(steps: Steps, state: np.ndarray, control: np.ndarray, known: np.ndarray) -> np.ndarray:
    """A step; from a state that is lost already none is taken, and what follows is lost too."""
    if not np.abs(state).max() < _WILD:
        return np.full_like(state, np.inf)
    return steps.step(state, control, known)


def _tried(
    steps: Steps, states: np.ndarray, controls: np.ndarray, known: np.ndarray, gains: np.ndarray, offsets: np.ndarray,
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


def _improved(
    system: Linear, states: np.ndarray, controls: np.ndarray, reference: np.ndarray
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
