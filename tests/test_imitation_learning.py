"""What a captured gait learns: torques that take over from the feedback, and nothing of its balance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cfunc, types

from captured_gait import AS_IS, asked, begun, gait
from human_body import look
from surefoot.native.kernels import array_at, python_impl
from surefoot.reflexes.feedback_error import learn_from_step, lesson_of, lessons_size, visits_of
from surefoot.skills import with_parameters


def test_what_is_learned_does_not_know_of_the_balance() -> None:
    tables, torques = [], []
    for gains in ({}, {"cd": 0.0, "cv": 0.0, "cd_lateral": 0.0, "cv_lateral": 0.0, "feedback": {}, "support": 0.0}):
        sim, found = asked(with_parameters(gait(gains), {"learning.bins": 12}), (0.3, 0.1))
        tables.append(sim.memory.table.copy())
        torques.append(found)
    assert np.abs(tables[0]).max() > 1.0
    assert np.array_equal(tables[0], tables[1])
    assert np.abs(torques[0] - torques[1]).max() > 10.0


def test_softness_halves_the_tracking_and_leaves_the_answer_of_an_ankle() -> None:
    off = AS_IS | {"cd": 0.0, "cv": 0.0, "cd_lateral": 0.0, "cv_lateral": 0.0}

    def torques(softness: float, feedback: dict) -> np.ndarray:
        soft = {"learning.bins": 12, "learning.rate": 0.0, "reaction.softness": softness}
        sim = begun(with_parameters(gait(off | {"feedback": feedback}), soft))
        sim.data.qvel[:6] += (0.3, 0.1, 0.0, 0.2, -0.3, 0.1)
        sim.data.qpos[7:] += 0.05
        return look(sim)

    ankle = {"stance_ankle": [-1.0, -0.4], "stance_ankle_roll": [0.5, 0.6]}
    stiff, soft = torques(1.0, {}), torques(0.5, {})
    assert np.abs(stiff).min() > 1e-3
    assert soft == pytest.approx(0.5 * stiff, abs=1e-9)
    more = torques(1.0, ankle) - stiff
    assert np.abs(more).max() > 5.0
    assert torques(0.5, ankle) - soft == pytest.approx(more, abs=1e-9)


@cfunc(types.void(types.int64, *[types.int64] * 5, *[types.float64] * 3), error_model="numpy", _nrt=False)
def _absorb(address, size, channels, bins, side, channel, rate, limit, share):  # type: ignore[no-untyped-def]
    table = array_at(address, (size,), np.float64)
    lesson, visits = lesson_of(table, channels, bins, side, channel), visits_of(table, channels, bins, side)
    learn_from_step(lesson, visits, rate, limit, share)


@settings(max_examples=30, deadline=None)
@given(st.floats(-0.4, 0.4), st.floats(0.01, 1.0), st.integers(2, 30), st.floats(5.0, 500.0), st.floats(0.0, 1.0))
def test_torque_and_displacement_learn_together_so_that_their_sum_stays(
    error: float, rate: float, bins: int, limit: float, share: float
) -> None:
    """Of an error θd − θ that repeats: what the feedback gives up, the learned torque takes, until its limit.

    What share of the error the target does not adapt to goes on drawing towards it.
    """
    kp, channels, side, channel = 250.0, 3, 1, 2
    table = np.zeros(lessons_size(channels, bins))
    lesson, visits = (
        python_impl(lesson_of)(table, channels, bins, side, channel),
        python_impl(visits_of)(table, channels, bins, side),
    )
    for _ in range(6):
        feedback = kp * (error + lesson.shift)
        total = feedback + lesson.torque
        visits[:] = 3.0
        lesson.feedback[:], lesson.error[:] = 3.0 * feedback, -3.0 * error
        _absorb.ctypes(table.ctypes.data, len(table), channels, bins, side, channel, rate, limit, share)
        assert np.abs(lesson.torque).max() <= limit + 1e-9
        if np.abs(lesson.torque).max() < limit:
            assert kp * (error + lesson.shift) + lesson.torque == pytest.approx(
                total + rate * (1.0 - share) * kp * error, abs=1e-9
            )
        assert not lesson.feedback.any()
    others = table.copy()
    at = (side * (4 * channels + 1) + 4 * channel) * bins
    others[at : at + 4 * bins] = 0.0
    others[(side * (4 * channels + 1) + 4 * channels) * bins :] = 0.0
    assert not others.any()
