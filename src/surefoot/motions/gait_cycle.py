"""One averaged cycle of a gait: Fourier series of its joints and its root over the phase (SIMBICON §5).

`step_in_place` makes a gait step on the spot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.characters.table import SAGITTAL, CharacterTable
from surefoot.motions import fourier
from surefoot.motions import quaternions as quat
from surefoot.motions.clip_leg_ik import leg_bones_of, level_foot_above_ground, solve_leg
from surefoot.motions.forward_kinematics import segment_poses
from surefoot.motions.motion_editing import travel_on_arc
from surefoot.motions.retargeting import RetargetedClip, hinge_angles_of
from surefoot.motions.signals import smoothstep

Span = tuple[float, float]
_EVEN = ("surge", "height", "pitch")  # unchanged by a mirror; sway, roll and yaw are reversed
_FRAMES, _HARMONICS = 120, 8  # of a cycle that steps in place


@dataclass(frozen=True)
class GaitCycle:
    """Joints and root over a phase of 0 … 1; at phase 0.25 the right hip is flexed most.

    The root is given in a frame that travels and turns evenly; its x is where the body faces on average.
    """

    period: float  # [s]
    joints: dict[str, np.ndarray]  # coefficients as in `fourier` [rad]
    root: dict[str, np.ndarray]  # of surge, sway, height [m] and roll, pitch, yaw [rad]; pitch is positive forward
    travel: np.ndarray  # (3,) per cycle [m]: forward and left at its beginning, up
    turn: float  # per cycle [rad], to the left
    contacts: tuple[tuple[Span, ...], tuple[Span, ...]]  # phases in which left and right foot stand; ends may be > 1
    residuals: dict[str, float]  # [rad] root mean square deviation of the clip from each joint's series
    asymmetry: float  # [rad] of legs and trunk from their mirror image half a cycle later
    symmetric: bool
    window: Span  # [s] of the clip
    mismatch: float  # of the clip with itself one period later: 0 is exact, 1 unrelated
    notes: tuple[str, ...]

    @property
    def residual(self) -> float:
        """Mean of the joints' residuals [rad]."""
        return float(np.mean(list(self.residuals.values())))

    def angles_at(self, phase: float | np.ndarray) -> dict[str, np.ndarray]:
        """Joint angles [rad] at phases, of their shape."""
        return {name: _at(series, phase) for name, series in self.joints.items()}

    def rates(self, phase: float | np.ndarray) -> dict[str, np.ndarray]:
        """Joint speeds [rad/s] at phases, of their shape."""
        return {name: _at(fourier.derivative(series), phase) / self.period for name, series in self.joints.items()}

    def root_at(self, phase: float | np.ndarray) -> dict[str, np.ndarray]:
        """The root in its moving frame [m, rad] at phases, of their shape."""
        return {name: _at(series, phase) for name, series in self.root.items()}

    def without_travel(self) -> GaitCycle:
        """The cycle without travel and turn, as on a treadmill."""
        return replace(self, travel=np.zeros(3), turn=0.0, notes=(*self.notes, "its travel and turn were removed"))

    def symmetrized(self, table: CharacterTable) -> GaitCycle:
        """The mean of the cycle and its mirror image half a cycle later.

        Args:
            table: the character.
        """
        joints, hinges = dict(self.joints), table.hinges
        for left, right in zip(table.anatomy.left.joints, table.anatomy.right.joints, strict=True):
            mean = _mixed(self.joints[left], fourier.shifted(self.joints[right], 0.5))
            joints |= {left: mean, right: fourier.shifted(mean, 0.5)}
        for name in table.anatomy.middle:
            sign = 1.0 if hinges[name].plane == SAGITTAL else -1.0
            joints[name] = _mixed(self.joints[name], sign * fourier.shifted(self.joints[name], 0.5))
        signs = {name: 1.0 if name in _EVEN else -1.0 for name in self.root}
        root = {name: _mixed(c, signs[name] * fourier.shifted(c, 0.5)) for name, c in self.root.items()}
        right_spans = tuple((a + 0.5 - np.floor(a + 0.5), b + 0.5 - np.floor(a + 0.5)) for a, b in self.contacts[0])
        return replace(
            self, joints=joints, root=root, travel=self.travel * [1.0, 0.0, 1.0], turn=0.0, asymmetry=0.0,
            symmetric=True, contacts=(self.contacts[0], right_spans),
        )  # fmt: skip

    def sampled(self, cycles: float = 2.0, fps: float = 60.0) -> RetargetedClip:
        """Frames of the cycle from phase 0 on, starting at the origin.

        Args:
            cycles: how many.
            fps: frames per second.
        """
        time = np.arange(0.0, cycles * self.period + 1e-9, 1.0 / fps)
        done = time / self.period
        root, turn = self.root_at(done % 1.0), self.turn * done
        strayed = np.exp(1j * turn) * (root["surge"] + 1j * root["sway"])
        path = self._speed() * travel_on_arc(done, turn) + strayed
        height = root["height"] + self.travel[2] * done
        tilt = quat.multiply(quat.about_axis(1, root["pitch"]), quat.about_axis(0, root["roll"]))
        rotation = quat.multiply(quat.about_vertical(turn + root["yaw"]), tilt)
        stands = [np.any([(done - a) % 1.0 < b - a for a, b in foot] or [done < 0.0], axis=0) for foot in self.contacts]
        position = np.column_stack([path.real, path.imag, height])
        return RetargetedClip(
            time, self.angles_at(done % 1.0), position, quat.make_continuous(rotation), np.column_stack(stands), 1.0,
            self.notes,
        )  # fmt: skip

    def _speed(self) -> complex:
        """Travel per cycle along the path, as if there were no turn [m]."""
        one = complex(travel_on_arc(np.array([1.0]), np.array([self.turn]))[0])
        return complex(self.travel[0], self.travel[1]) / one if abs(one) > 1e-6 else 0j


def mix_cycles(one: GaitCycle, other: GaitCycle, share: float) -> GaitCycle:
    """A cycle between two of one character.

    Args:
        one: with what is told of a clip, which the mixture keeps.
        other: of the same joints.
        share: of the other one, 0 … 1.
    """
    contacts = []
    for a, b in zip(one.contacts, other.contacts, strict=True):
        (begin, end), (later, until) = (max(spans, key=lambda span: span[1] - span[0]) for spans in (a, b))
        length = (1.0 - share) * (end - begin) + share * (until - later)
        lands = (begin + share * ((later - begin + 0.5) % 1.0 - 0.5)) % 1.0  # the short way round the cycle
        contacts.append(((lands, lands + length),))
    return replace(
        one, period=(1.0 - share) * one.period + share * other.period,
        travel=(1.0 - share) * one.travel + share * other.travel, turn=(1.0 - share) * one.turn + share * other.turn,
        joints={name: _mixed(series, other.joints[name], share) for name, series in one.joints.items()},
        root={name: _mixed(series, other.root[name], share) for name, series in one.root.items()},
        contacts=(contacts[0], contacts[1]),
    )  # fmt: skip


def root_in_moving_frame(
    found: RetargetedClip, inside: np.ndarray, period: float
) -> tuple[dict[str, np.ndarray], np.ndarray, float]:
    """The root in a frame that travels and turns evenly.

    Args:
        found: a clip.
        inside: (frames,) which of its frames count.
        period: of the cycle [s].

    Returns:
        Surge, sway, height [m], roll, pitch, yaw [rad] of these frames, each (n,); the travel (3,) [m] and the turn
        [rad] per cycle.
    """
    time = (found.time[inside] - found.time[inside][0]) / period  # [cycles]
    rotation, place = found.root_rotation[inside], found.root_position[inside]
    heading = quat.yaw(quat.make_continuous(rotation))
    level = quat.multiply(quat.about_vertical(-heading), rotation)
    pitch = np.arcsin(np.clip(2.0 * (level[:, 0] * level[:, 2] - level[:, 1] * level[:, 3]), -1.0, 1.0))
    roll = 2.0 * np.arctan2(level[:, 1], level[:, 0])
    waves, later = fourier.basis(time, 3), np.interp(time + 1.0, time, np.arange(len(time)), right=np.nan)
    both = np.flatnonzero(np.isfinite(later))  # frames that have a frame one cycle later

    def gained(values: np.ndarray) -> np.ndarray:
        return np.asarray(np.interp(later[both], np.arange(len(time)), values) - values[both])

    turn = float(gained(heading).mean())
    start = float(fourier.fit(time, heading - turn * time, 3)[0])
    way, climb = turn * time, float(gained(place[:, 2]).mean())
    path = np.exp(-1j * start) * (place[:, 0] + 1j * place[:, 1])
    total = np.concatenate([[0.0], np.cumsum(0.5 * (heading[1:] + heading[:-1]) * np.diff(time))])
    steps = np.exp(1j * (start - gained(total))) * (gained(path.real) + 1j * gained(path.imag))  # from mean headings
    travel = complex(steps.mean()) * np.exp(0.5j * turn)
    speed = travel / complex(travel_on_arc(np.array([1.0]), np.array([turn]))[0])
    rest = path - speed * travel_on_arc(time, turn * time)
    design = np.column_stack([np.ones(len(time)), np.exp(1j * way)[:, None] * waves[:, 1:]])
    origin = np.linalg.lstsq(design, rest)[0][0]
    strayed = np.exp(-1j * way) * (rest - origin)
    root = {
        "surge": strayed.real, "sway": strayed.imag, "height": place[:, 2] - climb * (time - time.mean()),
        "roll": roll, "pitch": pitch, "yaw": heading - way - start,
    }  # fmt: skip
    return root, np.array([travel.real, travel.imag, 0.0]), turn


def _at(series: np.ndarray, phase: float | np.ndarray) -> np.ndarray:
    return fourier.evaluate(series, np.ravel(phase)).reshape(np.shape(phase))


def _mixed(one: np.ndarray, other: np.ndarray, share: float = 0.5) -> np.ndarray:
    """A series between two, which may differ in their numbers of harmonics."""
    found = np.zeros(max(len(one), len(other)))
    found[: len(one)] += (1.0 - share) * one
    found[: len(other)] += share * other
    return found


def step_in_place(cycle: GaitCycle, table: CharacterTable) -> GaitCycle:
    """Make a gait step on the spot.

    With `GaitCycle.without_travel` the feet slide as on a treadmill. Here each foot stays where it stands and comes
    down where it was lifted; the legs are bent to follow.

    Args:
        cycle: of the character.
        table: the character.
    """
    still = cycle.without_travel()
    played = still.sampled(cycles=1.0, fps=_FRAMES / cycle.period)
    frames = slice(0, _FRAMES)
    angles = {name: values[frames] for name, values in played.angles.items()}
    phase, place, turn = np.arange(_FRAMES) / _FRAMES, played.root_position[frames], played.root_rotation[frames]
    at = segment_poses(table, angles, place, turn)
    wanted = {name: frame for name, (_, frame) in at.items()}
    for side, (spans, leg) in enumerate(zip(cycle.contacts, (table.anatomy.left, table.anatomy.right), strict=True)):
        bones = leg_bones_of(table, side)
        goal = at[leg.foot][0] - stance_slide(phase, spans)[:, None] * cycle.travel
        hip = at[leg.thigh][0]
        thigh, shank = solve_leg(bones, at[leg.thigh][1], goal - hip)
        ankle = hip + thigh @ bones.knee + shank @ bones.ankle
        foot = level_foot_above_ground(table, side, at[leg.foot][1], ankle[:, 2])
        wanted |= {leg.thigh: thigh, leg.shin: shank, leg.foot: foot}
    root = at[table.anatomy.pelvis][1]
    found, said = hinge_angles_of(table, root, wanted)
    parts = {name for leg in (table.anatomy.left, table.anatomy.right) for name in (leg.thigh, leg.shin, leg.foot)}
    legs = {hinge.name for part in table.segments for hinge in part.hinges if part.name in parts}
    joints = {
        name: fourier.fit(phase, found[name], _HARMONICS) if name in legs else c for name, c in cycle.joints.items()
    }
    return replace(still, joints=joints, notes=(*still.notes, "its feet step on the spot", *said))


def stance_slide(phase: np.ndarray, spans: tuple[Span, ...]) -> np.ndarray:
    """(n,) how far a foot of an evenly travelling body is ahead of the middle of its stance [cycles of travel].

    It falls evenly while the foot stands and comes back smoothly in its swing. It is 0 for a foot that never or always
    stands.
    """
    if len(spans) != 1 or not 0.0 < spans[0][1] - spans[0][0] < 1.0:
        return np.zeros(len(phase))
    start, length = spans[0][0], spans[0][1] - spans[0][0]
    since = (phase - start) % 1.0
    back = smoothstep((since - length) / (1.0 - length))
    return np.where(since < length, 0.5 * length - since, length * (back - 0.5))
