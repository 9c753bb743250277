"""Reconstruction of a motion by sampling: which offsets of servo targets make a body do what a clip shows.

SAMCON (Liu, Yin, van de Panne, Shao, Xu 2010): time is cut into short windows. Every kept state is continued with
several samples of offsets, the body is simulated over the window, and of all that come out the states nearest to the
clip are kept. Here the samples' covariance follows those that were kept (Liu, Yin, Guo 2015), a sample begins with a
share of its parent's offsets, and where even the best is too far from the clip the search goes back some windows and
goes on from there with more samples, and wider ones.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from surefoot.atomic_file import replace_file
from surefoot.characters.table import CharacterTable
from surefoot.controllers.tracking.controller import joint_kind
from surefoot.lab.replicas import seeded_generator
from surefoot.lab.tracking_rows import TrackingRows
from surefoot.motions import quaternions as quat
from surefoot.motions.forward_kinematics import sole_depth_below_ankle, sole_points

SAMPLED = 2  # windows of the table that share a sample
_SPREAD = {"hip": 0.12, "knee": 0.12, "ankle": 0.15, "waist": 0.06, "neck": 0.02, "shoulder": 0.06, "elbow": 0.05,
           "wrist": 0.01}  # fmt: skip
"""[rad] standard deviation of the first samples by kind of joint."""
_INHERITED = 0.6  # share of its parent's offsets that a sample begins with
_LEARNED = 0.15  # weight of a window's kept samples in the covariance of the next ones
_FLOOR = 0.35  # of the first covariance, that is never lost
_BEFORE = 0.4  # weight of its parent's cost in a sample's
_LIMIT = 9.0  # cost of the best sample above which the search goes back; 1 is a good window
_BACK = 4  # sampled windows to go back, more with every attempt
_ATTEMPTS = 6
_JOINTS, _TURN, _PLACE, _HEIGHT, _LIMBS, _BALANCE = 0.14, 0.16, 0.12, 0.04, 0.07, 0.06  # [rad], [rad], [m] …
_SCUFF, _HIGH, _LOW, _MOVES = 0.01, 0.05, 0.025, 0.5  # [m] of a foot too low, [m], [m], [m/s]: see `_wanted_clearance`
_RATES, _VELOCITY, _SPIN, _OFFSETS = 2.5, 0.4, 1.5, 0.5  # [rad/s], [m/s], [rad/s], [rad]
_SAMPLE_TIME = 0.004  # [s] over which the speed of the center of mass is measured
_MOST = 0.9  # [rad] of a sample
_FALLEN = 1e6


@dataclass(frozen=True)
class Reconstruction:
    """A motion as the body did it.

    Attributes:
        qpos: (windows + 1, 7 + actuators) at the beginning of every window, as long as it lasted.
        qvel: (windows + 1, 6 + actuators).
        offsets: (windows, actuators) of the servos' targets [rad].
        costs: (windows,) 1 is good.
    """

    qpos: np.ndarray
    qvel: np.ndarray
    offsets: np.ndarray
    costs: np.ndarray


class _Goals:
    """Where the clip is at the end of every window: poses, limbs and balance, in the world."""

    def __init__(self, rows: TrackingRows, windows: int) -> None:
        """Compute them for so many windows from the beginning; those of a loop go round."""
        table, model, data = rows.table, rows.model, mujoco.MjData(rows.model)
        anatomy = rows.body.anatomy
        self.feet = [model.body(leg.foot).id for leg in (anatomy.left, anatomy.right)]
        ends = [*self.feet, *(model.body(s.name).id for s in rows.body.segments if s.name.endswith(("hand", "head")))]
        self.root, self.ends = model.body(anatomy.pelvis).id, np.array(ends)
        place, turn = np.zeros(2), 0.0
        qpos, qvel, limbs, capture, feet, axes = [], [], [], [], [], []
        for k in range(windows + 1):
            w = k % table.windows if table.loops else min(k, table.windows - 1)
            if k and w == 0 and table.loops:
                c, s = np.cos(turn), np.sin(turn)
                place = place + np.array([[c, -s], [s, c]]) @ table.travel
                turn += table.turn
            pose, rates = table.qpos[w].copy(), table.qvel[w].copy()
            about = quat.about_vertical(np.array([turn]))
            pose[:3] = quat.rotate(about, pose[None, :3])[0] + [*place, 0.0]
            pose[3:7] = quat.multiply(about, pose[None, 3:7])[0]
            rates[:3] = quat.rotate(about, rates[None, :3])[0]
            data.qpos[:7], data.qpos[rows.joints] = pose[:7], pose[7:]
            data.qvel[:6], data.qvel[rows.dofs] = rates[:6], rates[6:]
            mujoco.mj_forward(model, data)
            mujoco.mj_subtreeVel(model, data)
            com, velocity = data.subtree_com[self.root], data.subtree_linvel[self.root]
            qpos.append(pose)
            qvel.append(rates)
            limbs.append(data.xpos[self.ends] - data.xpos[self.root])
            capture.append(com[:2] + velocity[:2] * np.sqrt(com[2] / 9.81) - data.xpos[self.feet, :2])
            feet.append(data.xpos[self.feet].copy())
            axes.append(data.xmat[self.feet].reshape(-1, 3, 3).copy())
        self.qpos, self.qvel = np.array(qpos), np.array(qvel)
        self.limbs, self.capture = np.array(limbs), np.array(capture)
        self.clearance = _wanted_clearance(rows.body, np.array(feet), np.array(axes), table.window)


def _clearance(body: CharacterTable, ankles: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(n, 2) heights of the soles' lowest points above level ground [m].

    Args:
        body: whose feet they are.
        ankles: (n, 2, 3) their places.
        axes: (n, 2, 3, 3) their orientations.
    """
    return np.column_stack([
        ankles[:, side, 2] - sole_depth_below_ankle(body, side, axes[:, side]) for side in (0, 1)
    ])  # fmt: skip


def _wanted_clearance(body: CharacterTable, ankles: np.ndarray, axes: np.ndarray, window: float) -> np.ndarray:
    """(n, 2) how high the soles should be [m]: as in the clip up to `_HIGH`, and `_LOW` where a foot swings.

    A foot swings when no point of its sole rests. In the clip it may pass closer above the ground than a disturbed
    body can afford.
    """
    low = np.empty(ankles.shape[:2])
    for side in (0, 1):
        points = ankles[:, side, None] + np.einsum("nij,mj->nmi", axes[:, side], sole_points(body, side)[0])
        speed = np.linalg.norm(np.gradient(points[..., :2], window, axis=0), axis=2).min(axis=1)
        low[:, side] = np.where(speed > _MOVES, _LOW, 0.0)
    wanted: np.ndarray = np.minimum(np.maximum(_clearance(body, ankles, axes), low), _HIGH)
    return wanted


class Reconstructor:
    """Reconstructs the motion of a table from the state of its first window."""

    def __init__(self, rows: TrackingRows, windows: int, kept: int, seed: int = 0) -> None:
        """Prepare.

        Args:
            rows: of the table; as many as there are samples.
            windows: of the table, that are reconstructed from the beginning on; a loop's go round.
            kept: states that are kept of every window.
            seed: of the samples.
        """
        self.rows, self.kept, self.seed = rows, kept, seed
        self.count = -(-windows // SAMPLED)
        self.windows = self.count * SAMPLED
        self.goals = _Goals(rows, self.windows)
        spread = np.array([_SPREAD.get(joint_kind(joint), 0.05) for joint in rows.body.gains])
        self.first = np.diag(spread**2)
        weights = np.array([0.3 if joint_kind(j) in ("wrist", "neck", "elbow") else 1.0 for j in rows.body.gains])
        self.joint_weights = weights / weights.sum()

    def run(
        self, checkpoint: Path | None = None, report: Callable[[str, float], None] = lambda text, share: None
    ) -> Reconstruction:
        """Reconstruct as far as it goes.

        Args:
            checkpoint: file from which a stopped search resumes.
            report: called with what is done and the share of the work.
        """
        rows, n = self.rows, self.rows.n
        actuators = self.first.shape[0]
        rows.place(np.zeros(n, int))
        rows.population.batch.forward()
        begin = rows.states(np.arange(self.kept))
        qpos, qvel = rows.poses()
        layers = [_Layer.first(begin, qpos[: self.kept], qvel[: self.kept], actuators, self.first)]
        attempts, failed_at = 0, 0
        far: list[_Layer] = layers[:]
        if checkpoint is not None and checkpoint.exists():
            layers = _load_layers(checkpoint)
            far = layers[:]
            attempts = 0
        while len(layers) <= self.count:
            k = len(layers) - 1
            report(f"reconstruct {k * SAMPLED * rows.table.window:.1f} s", k / self.count)
            rng = seeded_generator(self.seed, "reconstruct", k, attempts)
            wider = 1.0 + 0.35 * attempts if k < failed_at else 1.0
            layer = self._step(layers[-1], k, rng, wider)
            layers.append(layer)
            if len(layers) > len(far):
                far = layers[:]
            if layer.costs[0] > _LIMIT and attempts < _ATTEMPTS:
                attempts += 1
                failed_at = max(failed_at, k + 1)
                del layers[max(1, len(layers) - 1 - (_BACK + 2 * (attempts - 1))) :]
                continue
            if layer.costs[0] >= _FALLEN:
                break
            if k >= failed_at + 3:
                attempts = 0
            if checkpoint is not None and k % 10 == 9:
                _save_layers(layers, checkpoint)
        return self._trace(layers if len(layers) > self.count else far)

    def _step(self, before: _Layer, k: int, rng: np.random.Generator, wider: float) -> _Layer:
        """Continue the kept states by one sampled window."""
        rows, n = self.rows, self.rows.n
        alive = np.flatnonzero(before.costs < _FALLEN)
        share = np.exp(-0.5 * (before.costs[alive] - before.costs[alive].min()) / max(before.costs[alive].min(), 0.5))
        places = (np.arange(n) + rng.uniform()) / n * share.sum()
        parents = alive[np.searchsorted(np.cumsum(share), places).clip(0, len(alive) - 1)]
        factor = np.linalg.cholesky(before.covariance + 1e-9 * np.eye(len(before.covariance)))
        drawn = wider * rng.standard_normal((n, len(factor))) @ factor.T
        drawn[rng.uniform(size=n) < 0.5] *= 0.4  # half of the samples stay near
        offsets = np.clip(_INHERITED * before.offsets[parents] + drawn, -_MOST, _MOST)
        rows.restore(before.states[parents])
        rows.section("explore")[:] = offsets
        middle = []
        for part in range(SAMPLED):
            last = part == SAMPLED - 1
            tail = max(round(_SAMPLE_TIME / rows.model.opt.timestep), 1) if last else 0
            rows.population.step(rows.steps - tail)
            if last:
                com = rows.population.physics("subtree_com")[:, self.goals.root].copy()
                rows.population.step(tail)
                velocity = (rows.population.physics("subtree_com")[:, self.goals.root] - com) / (
                    tail * rows.model.opt.timestep
                )
            else:
                middle.append(rows.poses())
        costs = self._costs(SAMPLED * (k + 1), velocity, offsets)
        total = costs + _BEFORE * before.totals[parents]
        order = np.argsort(total, kind="stable")
        chosen = order[: self.kept]
        qpos, qvel = rows.poses()
        new = drawn[order[: max(self.kept // 2, 2)]]
        learned = new.T @ new / len(new)
        learned *= np.trace(self.first) / max(np.trace(learned), 1e-9)
        covariance = (1.0 - _LEARNED) * before.covariance + _LEARNED * learned
        mixed = _FLOOR * self.first + (1.0 - _FLOOR) * covariance
        return _Layer(
            rows.states(chosen), parents[chosen], offsets[chosen], costs[chosen], total[chosen] / (1.0 + _BEFORE),
            np.stack([*(q[chosen] for q, _ in middle), qpos[chosen]], axis=1),
            np.stack([*(v[chosen] for _, v in middle), qvel[chosen]], axis=1), mixed,
        )  # fmt: skip

    def _costs(self, k: int, velocity: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """(n,) how far the rows are from the clip at the end of a window of the table: 1 is good."""
        rows, goals = self.rows, self.goals
        qpos, qvel = rows.poses()
        xpos, com = rows.population.physics("xpos"), rows.population.physics("subtree_com")[:, goals.root]
        goal, moves = goals.qpos[k], goals.qvel[k]
        joints = ((qpos[:, 7:] - goal[7:]) ** 2) @ self.joint_weights / _JOINTS**2
        rates = ((qvel[:, 6:] - moves[6:]) ** 2) @ self.joint_weights / _RATES**2
        turn = quat.log(quat.multiply(qpos[:, 3:7], quat.inverse(goal[None, 3:7])))
        root = (turn**2).sum(axis=1) / _TURN**2
        place = ((qpos[:, :2] - goal[:2]) ** 2).sum(axis=1) / _PLACE**2 + (qpos[:, 2] - goal[2]) ** 2 / _HEIGHT**2
        speed = ((qvel[:, :3] - moves[:3]) ** 2).sum(axis=1) / _VELOCITY**2
        spin = ((qvel[:, 3:6] - moves[3:6]) ** 2).sum(axis=1) / _SPIN**2
        limbs = xpos[:, goals.ends] - xpos[:, goals.root, None] - goals.limbs[k]
        ends = (limbs**2).sum(axis=2).mean(axis=1) / _LIMBS**2
        capture = com[:, :2] + velocity[:, :2] * np.sqrt(np.maximum(com[:, 2:3], 0.1) / 9.81)
        off = capture[:, None] - xpos[:, goals.feet, :2] - goals.capture[k]
        balance = (off**2).sum(axis=2).mean(axis=1) / _BALANCE**2
        xmat = rows.population.physics("xmat").reshape(rows.n, -1, 3, 3)
        soles = _clearance(rows.body, xpos[:, goals.feet], xmat[:, goals.feet])
        scuffs = (np.maximum(goals.clearance[k] - soles, 0.0) ** 2).sum(axis=1) / _SCUFF**2
        effort = (offsets**2).mean(axis=1) / _OFFSETS**2
        found = (
            0.2 * joints + 0.1 * rates + 0.2 * root + 0.1 * place + 0.05 * speed + 0.05 * spin + 0.2 * ends
            + 0.2 * balance + 0.05 * effort + 0.1 * scuffs
        )  # fmt: skip
        bad = rows.fallen | ~np.isfinite(found)
        return np.where(bad, _FALLEN, found)

    def _trace(self, layers: list[_Layer]) -> Reconstruction:
        """The path that leads to the best state of the last layer."""
        index, qpos, qvel, offsets, costs = 0, [], [], [], []
        for layer in reversed(layers[1:]):
            qpos += list(layer.qpos[index][::-1])
            qvel += list(layer.qvel[index][::-1])
            offsets += [layer.offsets[index]] * SAMPLED  # on top of the table's own
            costs += [layer.costs[index]] * SAMPLED
            index = int(layer.parents[index])
        qpos.append(layers[0].qpos[0, -1])
        qvel.append(layers[0].qvel[0, -1])
        own = self.rows.table
        at = np.arange(len(offsets)) % own.windows if own.loops else np.arange(len(offsets)).clip(0, own.windows - 1)
        moved = np.array(offsets[::-1]) + own.offsets[at]
        return Reconstruction(np.array(qpos[::-1]), np.array(qvel[::-1]), moved, np.array(costs[::-1]))


@dataclass(frozen=True)
class _Layer:
    """The states that were kept at the end of a sampled window, the best one first."""

    states: np.ndarray
    parents: np.ndarray  # in the layer before
    offsets: np.ndarray
    costs: np.ndarray
    totals: np.ndarray
    qpos: np.ndarray  # (kept, SAMPLED, …) at the ends of the table's windows
    qvel: np.ndarray
    covariance: np.ndarray  # of the next samples

    @classmethod
    def first(
        cls, states: np.ndarray, qpos: np.ndarray, qvel: np.ndarray, actuators: int, covariance: np.ndarray
    ) -> _Layer:
        """The state in which everything begins."""
        n, nothing = len(states), np.zeros(len(states))
        return cls(
            states, np.zeros(n, int), np.zeros((n, actuators)), nothing, nothing, qpos[:, None], qvel[:, None],
            covariance,
        )  # fmt: skip


def _save_layers(layers: list[_Layer], path: Path) -> None:
    """Write a checkpoint: the states of the last layers alone, since the search goes back only so far."""
    content, arrays = io.BytesIO(), {}
    far = _BACK + 2 * _ATTEMPTS + 2
    for i, layer in enumerate(layers):
        for name, value in vars(layer).items():
            if name not in ("states", "covariance") or i >= len(layers) - far:
                arrays[f"{name}_{i}"] = value
    np.savez(content, **arrays)  # type: ignore[arg-type]
    replace_file(path, content.getvalue())


def _load_layers(path: Path) -> list[_Layer]:
    """Read a checkpoint."""
    found: list[_Layer] = []
    none = np.zeros((0, 0))
    with np.load(path) as file:
        while f"parents_{len(found)}" in file:
            i = len(found)
            found.append(
                _Layer(**{
                    name: file.get(f"{name}_{i}", none) for name in _Layer.__annotations__
                })
            )  # fmt: skip
    return found
