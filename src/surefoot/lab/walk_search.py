"""The search that found the walks and runs of the human: what may change, where it begins, and what it costs.

A step has four states: the weight is taken over, the leg swings through, it reaches ahead, and it waits for its
footstrike. Targets, durations, balance feedback, stiffness and push-off of every state are searched for by CMA-ES with
`gait_objective` as the cost; what is kept is the mean of the search.
"""

from __future__ import annotations

from collections.abc import Mapping

Bounds = Mapping[str, tuple[float, float]]

_TARGETS = {
    "swing_hip": (-0.3, 1.0), "swing_knee": (-1.6, 0.0), "swing_ankle": (-0.7, 0.6), "stance_knee": (-0.6, 0.0),
    "stance_ankle": (-0.8, 0.5),
}  # fmt: skip

WALK_BOUNDS: Bounds = {
    "states.0.duration": (0.04, 0.25),
    "states.1.duration": (0.08, 0.35),
    "states.2.duration": (0.03, 0.25),
    "states.*.torso": (-0.2, 0.1),
    "states.*.cd": (-0.2, 1.0),
    "states.*.cv": (0.0, 0.6),
    "states.*.cd_lateral": (0.0, 1.2),
    "states.*.cv_lateral": (0.0, 0.8),
    **{f"states.{i}.targets.{role}": span for i in range(4) for role, span in _TARGETS.items()},
    "states.*.targets.swing_hip_roll": (-0.12, 0.12),
    "states.0.targets.waist_yaw": (-0.25, 0.25),
    "states.2.targets.waist_yaw": (-0.25, 0.25),
    "states.3.targets.waist_yaw": (-0.25, 0.25),
    "states.2.push_off": (0.0, 0.15),
    "states.3.push_off": (0.0, 0.15),
    "states.0.trailing_push_off": (0.0, 0.15),
    **{f"states.{i}.stiffness.stance_ankle": (0.1, 2.0) for i in range(4)},
    **{f"states.{i}.stiffness.stance_knee": (0.3, 2.5) for i in (0, 1)},
    **{f"states.{i}.stiffness.swing_knee": (0.1, 2.0) for i in range(4)},
    "states.0.stiffness.swing_ankle": (0.1, 2.0),
    "gains.ankle.kp": (60.0, 500.0),
    "gains.ankle.kd": (5.0, 60.0),
    "gains.knee.kd": (10.0, 80.0),
    "gains.hip.kd": (10.0, 80.0),
    "gains.knee.kp": (150.0, 700.0),
    "gains.hip.kp": (150.0, 700.0),
    "states.*.feedback.stance_ankle.0": (-0.5, 1.0),
    "states.*.feedback.stance_ankle.1": (-0.5, 0.5),
    "states.*.feedback.stance_ankle_roll.0": (-1.0, 1.0),
    "states.*.feedback.stance_ankle_roll.1": (-0.6, 0.6),
    "ease": (0.0, 0.12),
}

_RUN_TARGETS = {
    "swing_hip": (-0.5, 1.5), "swing_knee": (-2.3, -0.1), "swing_ankle": (-0.6, 0.8), "stance_knee": (-1.6, 0.0),
    "stance_ankle": (-0.9, 0.7),
}  # fmt: skip
RUN_BOUNDS: Bounds = {
    **WALK_BOUNDS,
    "states.0.duration": (0.03, 0.2),
    "states.1.duration": (0.03, 0.2),
    "states.2.duration": (0.02, 0.2),
    "states.*.torso": (-0.35, 0.1),
    **{f"states.{i}.targets.{role}": span for i in range(4) for role, span in _RUN_TARGETS.items()},
    "states.1.push_off": (0.0, 0.15),
    "gains.knee.kp": (200.0, 1200.0),
    "gains.ankle.kp": (100.0, 800.0),
}
