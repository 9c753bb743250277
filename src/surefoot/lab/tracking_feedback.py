"""Learns the feedback of a tracking skill: what displacements of targets bring a disturbed body back to its motion.

Finite differences of whole windows give linear models of what happens from the beginning of one to that of the next,

    e' = A e + B u + c,

with e the difference from the window's state and u the displacement. A linear regulator of these models gives each
window's feedback matrix, and corrects its offsets for c, which is what a reconstruction leaves open: where a loop was
closed, and what other physics steps change. The motion then moves to where the feedback keeps it, or, while it does not
stay up, to where the models say that it would go; there the next round begins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.tracking.controller import joint_kind
from surefoot.controllers.tracking.table import ROOT, TrackingTable
from surefoot.lab.replicas import ANGLE, RATE, SPEED, seeded_generator
from surefoot.lab.tracking_rows import TrackingRows
from surefoot.lab.tracking_states import displaced, in_first_cycle, whole_table

# deviations at which a state costs 1: position, height, rotation, velocity, spin; joints and their rates
_PLACE, _HEIGHT, _TURN, _VELOCITY, _SPIN, _JOINTS, _RATES = 1.0, 0.05, 0.12, 0.3, 1.2, 0.25, 4.0
_EFFORT = {"hip": 0.12, "knee": 0.12, "ankle": 0.15, "waist": 0.08, "neck": 0.03, "shoulder": 0.08, "elbow": 0.06,
           "wrist": 0.02}  # fmt: skip
"""[rad] displacement that costs 1 by kind of joint."""
_SMALL, _SMALL_RATE, _SMALL_MOVE = 0.05, 0.1, 0.2  # steps of finite differences, in what costs 1
_FARTHEST = 0.4  # root mean square of the weighted differences by which states are moved at most
_CORRECTION = 0.25  # [rad] by which offsets change in a round at most
_HELD = 60  # windows for which the last pose of a motion that does not loop is held, for its regulator
_RECOVERS, _DISTURBED = 30, 16  # windows in which a pushed row must not fall, and of which the first are looked at
_TAME = 0.92  # share of the models of disturbed states that are used: those with the smallest norms
_ROUNDS_BACK = 8  # cycles over which a loop's regulator is computed


def difference_weights(body: CharacterTable) -> np.ndarray:
    """(ROOT + 2 · actuators,) weights of differences: one that is weighted to 1 costs 1."""
    kinds = [joint_kind(joint) for joint in body.gains]
    minor = np.array([0.3 if kind in ("wrist", "neck", "elbow", "shoulder") else 1.0 for kind in kinds])
    weights = 1.0 / np.array(
        [*[_PLACE] * 2, _HEIGHT, *[_TURN] * 3, *[_VELOCITY] * 3, *[_SPIN] * 3, *[_JOINTS] * len(kinds),
         *[_RATES] * len(kinds)]
    )  # fmt: skip
    weights[ROOT:] *= np.tile(np.sqrt(minor), 2)
    return weights


@dataclass(frozen=True)
class Trial:
    """How replicas followed a table.

    Attributes:
        survived: (n,) share of the time that each stayed up.
        pushed: (n,) the same of replicas that were pushed on the way.
        joints: root mean square difference of the joints from the clip while they were up [rad].
        turn: the same of the root's rotation from the windows' own [rad].
        place: the same of the root's place from the windows' own, as far as the leash goes [m].
    """

    survived: np.ndarray
    pushed: np.ndarray
    joints: float
    turn: float
    place: float

    @property
    def score(self) -> float:
        """Large is good: first of all, all stay up."""
        up = float(self.survived.mean()) + float((self.pushed >= 1.0).mean())
        return up - 0.3 * self.joints - 0.1 * self.turn - 0.02 * min(self.place, 2.0)


@dataclass
class FeedbackLearner:
    """Learns on rows of one table.

    Attributes:
        rows: of the table that is learned.
        seed: of disturbances.
        effort: factor of the costs of displacements: more of it gives gentler feedback.
    """

    rows: TrackingRows
    seed: int = 0
    effort: float = 1.0

    def __post_init__(self) -> None:
        """Weights of states and displacements."""
        self.scale = difference_weights(self.rows.body)
        self.reach = np.array([_EFFORT.get(joint_kind(joint), 0.05) for joint in self.rows.body.gains])

    # --------------------------------------------------------------------------------------- differences

    def differences(self, table: TrackingTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The models of all windows around their own states: A, B and c of weighted states and displacements."""
        windows = np.arange(table.windows)
        a, b, ends = self._models(table, windows, np.zeros((table.windows, len(self.scale))))
        return a, b, ends

    def disturbed(
        self, table: TrackingTable, size: float, rng: np.random.Generator, count: int = 4
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where pushed rows come to that recover: windows (m,), and the differences from them (m, …).

        Args:
            table: that they follow.
            size: of the largest kick [m/s].
            rng: of kicks.
            count: of differences in a window, at most.
        """
        rows = self.rows
        rows.follow(table)
        begin = rng.integers(0, table.windows if table.loops else max(table.windows - table.held, 1), rows.n)
        rows.place(begin)
        rows.section("explore")[:] = 0.0
        kick, way = rng.uniform(0.3 * size, size, rows.n), rng.uniform(-np.pi, np.pi, rows.n)
        rows.qvel[:, 0] += kick * np.cos(way)
        rows.qvel[:, 1] += kick * np.sin(way)
        seen = []
        for _ in range(_RECOVERS):
            rows.population.step(rows.steps)
            seen.append(rows.section("error").copy())
        found: list[list[np.ndarray]] = [[] for _ in range(table.windows)]
        for k, errors in enumerate(seen[:_DISTURBED]):
            for row in np.flatnonzero(~rows.fallen):
                w = begin[row] + k
                found[w % table.windows if table.loops else min(w, table.windows - 1)].append(errors[row])
        chosen = [(w, some[i]) for w, some in enumerate(found) for i in rng.permutation(len(some))[:count]]
        errors = np.array([error for _, error in chosen]).reshape(-1, len(self.scale))
        return np.array([w for w, _ in chosen], dtype=int), errors

    def models_of(
        self, table: TrackingTable, windows: np.ndarray, errors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Models around disturbed states, without the wildest: the windows (m,) they are of, A and B.

        Args:
            table: whose feedback answers the differences.
            windows: (m,) in which the states are.
            errors: (m, …) their differences from the windows' own.
        """
        a, b, _ = self._models(table, windows, errors)
        size = np.linalg.norm(a, 2, axis=(1, 2))
        tame = size <= np.quantile(size, _TAME)
        return windows[tame], a[tame], b[tame]

    def _models(
        self, table: TrackingTable, windows: np.ndarray, errors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A, B and where it ends of some states, by finite differences, each (m, …)."""
        rows, d, actuators = self.rows, len(self.scale), len(self.reach)
        answers = np.einsum("kij,kj->ki", table.gains[windows], errors).clip(-1.0, 1.0)
        rows.follow(replace(table, gains=np.zeros_like(table.gains)))
        count = 2 * (d + actuators) + 1
        size = np.full(d, _SMALL)
        size[6:ROOT] = size[ROOT + actuators :] = _SMALL_RATE
        steps = np.concatenate([size / self.scale, _SMALL_MOVE * self.reach])
        ends = np.empty((len(windows), count, d))
        pairs = [(k, i) for k in range(len(windows)) for i in range(count)]
        for first in range(0, len(pairs), rows.n):
            some = np.array(pairs[first : first + rows.n])
            state, change = np.zeros(rows.n, int), np.full(rows.n, count - 1)
            state[: len(some)], change[: len(some)] = some.T
            rows.place(windows[state])
            e, u = errors[state].copy(), answers[state].copy()
            for r, i in enumerate(change):
                which, sign = i // 2, 1.0 - 2.0 * (i % 2)
                if i < 2 * d:
                    e[r, which] += sign * steps[which]
                elif i < count - 1:
                    u[r, which - d] += sign * steps[which]
            rows.displace(e, windows[state])
            rows.section("explore")[:] = u
            rows.population.step(rows.steps + 1)  # the next window's comparison is made when it begins
            ends[some[:, 0], some[:, 1]] = (rows.section("error") * self.scale)[: len(some)]
        rows.section("explore")[:] = 0.0
        slopes = (ends[:, 0:-1:2] - ends[:, 1:-1:2]) / 2.0
        a = np.swapaxes(slopes[:, :d] / size[None, :, None], 1, 2)
        b = np.swapaxes(slopes[:, d:] / _SMALL_MOVE, 1, 2)
        return a, b, ends[:, -1]

    def centered(self, table: TrackingTable, cycles: int = 4) -> TrackingTable:
        """The table with the states and displacements of an undisturbed run, if it lasts; else the same table."""
        rows = self.rows
        rows.follow(table)
        rows.place(np.zeros(rows.n, int))
        rows.section("explore")[:] = 0.0
        total, n = table.windows * cycles if table.loops else table.windows, table.windows
        qpos, qvel, offsets = [], [], []
        for _ in range(total):
            pose, rates = rows.poses()
            qpos.append(pose[0])
            qvel.append(rates[0])
            rows.population.step(rows.steps, [0])
            offsets.append(rows.section("wanted")[0].copy())
            if rows.fallen[0]:
                return table
        last = [np.array(values[-n:]) for values in (qpos, qvel, offsets)]
        own = in_first_cycle(table, last[0], last[1], cycles - 1 if table.loops else 0)
        return whole_table(table, *own, last[2])

    def planned(
        self, table: TrackingTable, models: tuple[np.ndarray, np.ndarray, np.ndarray], base: np.ndarray
    ) -> TrackingTable:
        """A regulated table with its states where the models say that it will go.

        Args:
            table: regulated.
            models: A, B and c of weighted differences.
            base: (windows, actuators) offsets from which displacements count.
        """
        a, b, c = models
        moves = (table.offsets - base) / self.reach
        gains = table.gains / self.reach[None, :, None] / self.scale[None, None, :]
        error, found = np.zeros(len(self.scale)), np.zeros((table.windows, len(self.scale)))
        for _ in range(_ROUNDS_BACK if table.loops else 1):
            for k in range(table.windows):
                found[k] = error
                error = a[k] @ error + b[k] @ (gains[k] @ error + moves[k]) + c[k]
        size = np.sqrt((found**2).mean(axis=1).max())
        found *= min(1.0, _FARTHEST / max(size, 1e-9))
        qpos, qvel = displaced(table.qpos, table.qvel, table.headings, found / self.scale)
        answered = np.einsum("kij,kj->ki", gains, found) * self.reach
        return replace(table, qpos=qpos, qvel=qvel, offsets=table.offsets + answered)

    # ----------------------------------------------------------------------------------------- regulator

    def regulated(
        self, table: TrackingTable, models: tuple[np.ndarray, np.ndarray, np.ndarray], base: np.ndarray,
        others: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    ) -> TrackingTable:  # fmt: skip
        """The table with the feedback and the corrected offsets of a linear regulator.

        With models of disturbed states too, the regulator is the best on average where each window's model is any one
        of them by chance (multiplicative noise): contacts come early or late, and gains that rely on one model fail.

        Args:
            table: whose windows the models are of.
            models: A, B and c.
            base: (windows, actuators) offsets from which displacements count.
            others: windows, A and B of disturbed states.
        """
        own_a, own_b, c = models
        d, windows = len(self.scale), table.windows
        sets = [(own_a[k : k + 1], own_b[k : k + 1]) for k in range(windows)]
        if others is not None:
            at, a, b = others
            sets = [
                (np.concatenate([one, a[at == k]]), np.concatenate([other, b[at == k]]))
                for k, (one, other) in enumerate(sets)
            ]
        effort = self.effort * np.eye(len(self.reach))
        value, slope = np.eye(d), np.zeros(d)
        gains, moves = np.zeros((windows, len(self.reach), d)), np.zeros((windows, len(self.reach)))
        backwards = list(range(windows - 1, -1, -1))
        order = backwards * _ROUNDS_BACK if table.loops else [windows - 1] * (_HELD if table.held else 0) + backwards
        for k in order:
            a, b = sets[k]
            right = np.swapaxes(b, 1, 2) @ value
            inner = effort + (right @ b).mean(axis=0)
            gains[k] = -np.linalg.solve(inner, (right @ a).mean(axis=0))
            moves[k] = -np.linalg.solve(inner, right.mean(axis=0) @ c[k] + b.mean(axis=0).T @ slope)
            closed, off = a + b @ gains[k], c[k] + b @ moves[k]
            slope = (np.swapaxes(closed, 1, 2) @ (off @ value + slope)[..., None]).mean(axis=0)[:, 0]
            slope += self.effort * gains[k].T @ moves[k]
            value = np.eye(d) + (np.swapaxes(closed, 1, 2) @ value @ closed).mean(axis=0)
            value += self.effort * gains[k].T @ gains[k]
            value = 0.5 * (value + value.T)
        gains = gains * self.reach[None, :, None] * self.scale[None, None, :]
        moves = np.clip(moves * self.reach, -_CORRECTION, _CORRECTION)
        return replace(table, gains=gains, offsets=base + moves)

    # ---------------------------------------------------------------------------------------------- trial

    def trial(self, table: TrackingTable, seconds: float, kick: float, replicas: int = 16) -> Trial:
        """Follow a table from its beginning in slightly different states.

        Args:
            table: to follow.
            seconds: how long a loop is followed; any other motion, to its end.
            kick: largest change of velocity of those that are pushed; the smallest is half of it [m/s].
            replicas: how many; three times as many more are pushed.
        """
        rows = self.rows
        chosen = np.arange(min(4 * replicas, rows.n))
        pushed = chosen >= len(chosen) // 4
        rng = seeded_generator(self.seed, "trial")
        rows.follow(table)
        rows.place(np.zeros(rows.n, int))
        rows.section("explore")[:] = 0.0
        rows.qpos[:, rows.joints] += rng.uniform(-ANGLE, ANGLE, (rows.n, len(rows.joints)))
        rows.qvel[:, rows.dofs] += rng.uniform(-RATE, RATE, (rows.n, len(rows.dofs)))
        rows.qvel[:, 0] += rng.uniform(-SPEED, SPEED, rows.n)
        long = seconds if table.loops else table.duration
        count, lasted = round(long / table.window), np.zeros(len(chosen))
        when, ways = rng.integers(0, max(count // 2, 1), rows.n), rng.uniform(-np.pi, np.pi, rows.n)
        kicks = rng.uniform(0.5 * kick, kick, rows.n)[:, None]
        joints, turns, places, looked = 0.0, 0.0, 0.0, 0
        for k in range(count):
            up = chosen[~rows.fallen[chosen]]
            if not len(up):
                break
            now = up[pushed[up] & (when[up] == k)]
            rows.qvel[now, :2] += kicks[now] * np.column_stack([np.cos(ways[now]), np.sin(ways[now])])
            rows.population.step(rows.steps, up)
            up = up[~rows.fallen[up]]
            lasted[up] += 1.0
            calm, w = up[~pushed[up]], k % table.windows
            error = rows.section("error")[calm]
            pose = table.qpos[w, 7:] + error[:, ROOT : ROOT + len(rows.joints)]
            joints += float(((pose - table.clip[w, 7:]) ** 2).mean(axis=1).sum())
            turns += float((error[:, 3:6] ** 2).sum())
            places += float((error[:, :2] ** 2).sum())
            looked += len(calm)
        errors = (float(np.sqrt(v / max(looked, 1))) for v in (joints, turns, places))
        return Trial(lasted[~pushed] / count, lasted[pushed] / count, *errors)
