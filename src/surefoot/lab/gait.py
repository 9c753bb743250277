"""The gait report card: how a walk or a run compares with people's, from positions and loads.

The same code measures simulated gaits and captured clips. Every measure has the band within which healthy adults move,
so that a clip checks the bands and a simulated gait is judged by them. The gait profile score is the root mean square
distance of the curves of thigh, knee, ankle and foot pitch over a stride from their published means.

Norms: adult level walking at natural cadence after Winter, *The Biomechanics and Motor Control of Human Gait* (1991),
and Perry, *Gait Analysis* (1992), read off at the knots of `NORMS`. The two sources and the reading agree to about 2°,
and adults differ from each other by 4 to 6° (one standard deviation), so scores below about 5° mean nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from surefoot.errors import SurefootError
from surefoot.lab.gait_markers import GRAVITY, GaitSignals
from surefoot.lab.gait_signals import signals_of
from surefoot.motions.motion import Motion
from surefoot.motions.signals import frame_time, true_spans

POINTS = 101  # of a curve over a stride: 0 … 100 %
CURVES = ("thigh", "knee", "ankle", "foot_pitch")
_TREMBLE = 7.0, 25.0  # [Hz] faster than any voluntary part of a gait
_SLOWEST = 0.2  # [Hz] of what counts as motion of joints at all
_HEAD_BAND = 10.0  # [Hz] above which the acceleration of the head is noise of capture
_MIDDLE = 0.4, 0.6  # of the stance
_LOADING, _TERMINAL = (0.0, 0.4), (0.6, 1.0)  # parts of the stance in which the two force peaks lie
_SHORT, _LONG = 0.6, 1.6  # [usual strides] shorter and longer ones are stumbles or missed footstrikes
_IN_TURN = 0.2, 0.8  # [strides] after a foot's footstrike the other one strikes
_FLIES = 0.02  # share of the time in the air from which on a gait is a run

# Knots over a stride from footstrike to footstrike: percent, degrees.
NORMS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "thigh": ((0, 22), (20, 12), (40, -8), (50, -16), (60, -7), (80, 21), (90, 26)),
    "knee": ((0, 4), (15, 20), (40, 6.5), (60, 34), (73, 61), (90, 20), (98, 3)),
    "ankle": ((0, 0), (7, -5), (20, 4), (45, 10), (55, -4), (62, -19), (75, -5), (85, 0)),
}


def norm_curves() -> dict[str, np.ndarray]:
    """(POINTS,) published mean of every curve over a stride of level walking [deg]."""
    at, found = np.linspace(0.0, 100.0, POINTS), dict[str, np.ndarray]()
    for name, knots in NORMS.items():
        percent, degrees = np.array([*knots, (100.0, knots[0][1])]).T
        found[name] = CubicSpline(percent, degrees, bc_type="periodic")(at)
    found["foot_pitch"] = found["ankle"] - found["knee"] + found["thigh"]
    return found


@dataclass(frozen=True)
class Band:
    """A measure of the card: its unit, how it is printed, and where healthy adults lie in a walk and in a run."""

    label: str
    unit: str
    digits: int
    walk: tuple[float, float] | None = None
    run: tuple[float, float] | None = None
    scale: float = 1.0  # from SI units to the printed one


@dataclass(frozen=True)
class GaitCard:
    """Measures of a gait; NaN where the motion cannot tell (a clip has no forces).

    Angles in degrees, shares as fractions, everything else in SI units; forces in body weights.
    """

    speed: float  # along the heading
    cadence: float  # [steps/min]
    step_length: float
    walk_ratio: float  # [m/(steps/min)]
    strike_knee: float
    loading_knee: float  # largest flexion in the first 30 % of the stride
    stance_knee: float  # in the middle of the stance
    swing_knee: float
    thigh_range: float
    strike_pitch: float  # of the foot, when it takes load
    toe_off_pitch: float  # when the load leaves it
    plantarflexion: float  # smallest ankle angle of the stride
    ankle_power: float  # [W/kg] largest of one ankle
    ankle_share: float  # of the positive work
    lean: float  # of the trunk, forward
    sway: float  # half the peak-to-peak lean within a stride
    trunk_roll: float  # half the peak to peak
    pelvis_turn: float  # peak to peak
    pelvis_list: float  # peak to peak
    arm_swing: float  # peak to peak of the upper arm
    double_support: float  # share of the time with both feet on the ground
    flight: float  # share of the time with none
    com_rise: float  # [m] peak to peak of the centre of mass within a step
    first_peak: float
    valley: float
    second_peak: float
    work: float  # positive joint work ÷ (weight · distance)
    hip_torque: float  # [N·m/kg] largest flexion or extension
    knee_torque: float
    ankle_torque: float
    slip: float  # [m/step] under load, pivoting included
    clearance: float  # [m] of the toes in the middle of the swing
    step_width: float
    head_acceleration: float  # [m/s²] rms
    tremble: float  # share of the power of the joint speeds at 7 … 25 Hz
    asymmetry: float  # rms difference of the left and the right leg's mean curves
    drift: float  # [deg] change of the heading from the first second to the last
    score: float  # gait profile score
    strides: int  # whole strides it was measured over
    curves: Mapping[str, np.ndarray]  # (POINTS, 2) mean stride of each leg; `load` in body weights if known

    @property
    def runs(self) -> bool:
        """Whether it is a run: both feet are in the air for some of the time."""
        return self.flight > _FLIES


NAN = float("nan")
BANDS: Mapping[str, Band] = {
    "speed": Band("speed", "m/s", 2, (0.9, 1.7), (1.8, 5.0)),
    "cadence": Band("cadence", "steps/min", 0, (88, 126), (150, 190)),
    "step_length": Band("step length", "m", 2, (0.55, 0.85), (0.65, 1.6)),
    "walk_ratio": Band("walk ratio", "m/(step/min)", 4, (0.0055, 0.0075)),
    "strike_knee": Band("knee at footstrike", "deg", 0, (0, 25), (5, 30)),
    "loading_knee": Band("knee at loading", "deg", 0, (10, 35), (30, 55)),
    "stance_knee": Band("knee at mid-stance", "deg", 0, (2, 25), (25, 55)),
    "swing_knee": Band("knee in swing", "deg", 0, (55, 75), (70, 130)),
    "thigh_range": Band("range of the thigh", "deg", 0, (35, 68), (45, 110)),
    "strike_pitch": Band("foot pitch at strike", "deg", 0, (8, 33), (-20, 30)),
    "toe_off_pitch": Band("foot pitch at toe-off", "deg", 0, (-75, -35), (-90, -35)),
    "plantarflexion": Band("plantarflexion", "deg", 0, (-30, -8), (-40, -8)),
    "ankle_power": Band("ankle power", "W/kg", 1, (1.5, 5.0), (5.0, 20.0)),
    "ankle_share": Band("ankle's share of work", "%", 0, (25, 60), (25, 60), 100.0),
    "lean": Band("trunk lean", "deg", 1, (-6, 7), (-3, 15)),
    "sway": Band("trunk sway", "deg", 1, (0, 4), (0, 7)),
    "trunk_roll": Band("trunk roll", "deg", 1, (0, 5), (0, 8)),
    "pelvis_turn": Band("pelvis turn", "deg", 1, (4, 16), (5, 25)),
    "pelvis_list": Band("pelvis list", "deg", 1, (3, 14), (3, 16)),
    "arm_swing": Band("arm swing", "deg", 0, (15, 70), (20, 110)),
    "double_support": Band("double support", "%", 0, (12, 30), (0, 0), 100.0),
    "flight": Band("flight", "%", 0, (0, 2), (15, 50), 100.0),
    "com_rise": Band("rise of the COM", "cm", 1, (2.5, 6.0), (6.0, 11.0), 100.0),
    "first_peak": Band("first force peak", "BW", 2, (0.95, 1.4), (1.5, 3.0)),
    "valley": Band("force valley", "BW", 2, (0.6, 0.95)),
    "second_peak": Band("second force peak", "BW", 2, (0.95, 1.3)),
    "work": Band("work ÷ mgd", "", 2, (0.05, 0.22), (0.1, 0.35)),
    "hip_torque": Band("hip torque", "N·m/kg", 1, (0.4, 1.4), (1.0, 4.0)),
    "knee_torque": Band("knee torque", "N·m/kg", 1, (0.3, 1.2), (1.5, 4.5)),
    "ankle_torque": Band("ankle torque", "N·m/kg", 1, (1.0, 2.0), (1.5, 4.0)),
    "slip": Band("slip", "cm/step", 1, (0, 1.5), (0, 2.5), 100.0),
    "clearance": Band("toe clearance", "cm", 1, (0.5, 8.0), (2.0, 40.0), 100.0),
    "step_width": Band("step width", "cm", 0, (3, 18), (-2, 14), 100.0),
    "head_acceleration": Band("head acceleration", "m/s²", 1, (0.5, 3.5), (3.0, 12.0)),
    "tremble": Band("tremble", "%", 1, (0, 8), (0, 12), 100.0),
    "asymmetry": Band("left–right difference", "deg", 1, (0, 6), (0, 10)),
    "drift": Band("heading drift", "deg", 1, (-10, 10), (-10, 10)),
    "score": Band("gait profile score", "deg", 1, (0, 11)),
}


@dataclass(frozen=True)
class CardRow:
    """One line of a printed card; `inside` is None where there is no value or no band."""

    name: str
    label: str
    unit: str
    value: str
    band: str
    inside: bool | None


def card_rows(card: GaitCard) -> list[CardRow]:
    """The card as lines: value, human band, and whether it lies within."""
    found = []
    for name, band in BANDS.items():
        value, limits = getattr(card, name) * band.scale, band.run if card.runs else band.walk
        known = np.isfinite(value)
        found.append(CardRow(
            name, band.label, band.unit, f"{value + 0.0:.{band.digits}f}" if known else "–",
            "–" if limits is None else f"{limits[0]:g} … {limits[1]:g}",
            None if limits is None or not known else bool(limits[0] <= round(value, band.digits) <= limits[1]),
        ))  # fmt: skip
    return found


def gait_card(source: Motion | GaitSignals) -> GaitCard:
    """Measure a walk or a run.

    Args:
        source: a simulated or captured motion of 60 frames a second or more, or signals; at least one stride of each
            leg. Forces are sharpest if a simulation is recorded at 250 frames a second or more.

    Raises:
        SurefootError: it is too short, has too few frames a second, or the feet do not step in turn.
    """
    signals = signals_of(source) if isinstance(source, Motion) else source
    strides = find_strides(signals)
    if not all(strides):
        raise SurefootError(_too_short(signals, strides))
    _check_turns(signals, strides)
    curves = {
        name: np.degrees(_mean_curves(getattr(signals, name), strides))
        for name in ("thigh", "knee", "ankle", "foot_pitch")
    }
    if signals.load is not None:
        curves["load"] = _mean_curves(signals.load, strides)
    time, each = signals.time, [stride for leg in strides for stride in leg]
    first, last = min(stride.first for stride in each), max(stride.last for stride in each)
    window = slice(first, last + 1)
    duration = float(time[last] - time[first])
    period = _period(signals, float(np.median([time[stride.last] - time[stride.first] for stride in each])))
    speed, sideways = _velocity(signals, first, last)
    cadence, step_length = 120.0 / period, 0.5 * period * float(np.hypot(speed, sideways))
    knees = curves["knee"]
    steps = duration / (0.5 * period)
    return GaitCard(
        speed=speed, cadence=cadence, step_length=step_length, walk_ratio=step_length / cadence,
        strike_knee=float(knees[0].mean()), loading_knee=float(knees[:31].max(axis=0).mean()),
        stance_knee=_mid_stance_knee(signals, strides), swing_knee=float(knees[50:].max(axis=0).mean()),
        thigh_range=float(np.ptp(curves["thigh"], axis=0).mean()),
        strike_pitch=_at_events(signals, strides, first=True), toe_off_pitch=_at_events(signals, strides, first=False),
        plantarflexion=float(curves["ankle"].min(axis=0).mean()),
        **_trunk(signals, strides, window),
        double_support=_share(np.all(signals.stands, axis=1), each),
        flight=_share(~np.any(signals.stands, axis=1), each),
        **_forces(signals, strides),
        **_effort(signals, window, float(np.hypot(speed, sideways)) * duration),
        slip=NAN if signals.slip is None else float((signals.slip[last] - signals.slip[first]).sum()) / steps,
        clearance=_clearance(signals, strides), step_width=_step_width(signals, strides),
        tremble=_tremble(signals.joint_speed[window], frame_time(time)),
        asymmetry=float(np.sqrt(np.mean([np.mean((curves[n][:, 0] - curves[n][:, 1]) ** 2) for n in CURVES]))),
        drift=_drift(signals, window), score=profile_score(curves), strides=len(each), curves=curves,
    )  # fmt: skip


def mean_card(cards: Iterable[GaitCard]) -> GaitCard:
    """The mean of several cards, measure by measure; strides are added."""
    all_cards = list(cards)
    if not all_cards:
        raise SurefootError("the mean of no cards is not defined: measure at least one gait")
    values = {
        f.name: float(np.mean([getattr(c, f.name) for c in all_cards]))
        for f in fields(GaitCard) if f.name not in ("strides", "curves")
    }  # fmt: skip
    curves = {n: np.mean([c.curves[n] for c in all_cards], axis=0) for n in all_cards[0].curves}
    return GaitCard(**values, strides=sum(c.strides for c in all_cards), curves=curves)


def profile_score(curves: Mapping[str, np.ndarray]) -> float:
    """Root mean square distance of the mean curves of both legs from the norm [deg] (Baker et al. 2009).

    Args:
        curves: (POINTS, 2) of `CURVES` [deg].
    """
    norms = norm_curves()
    squares = [((curves[name][:-1] - norms[name][:-1, None]) ** 2).mean() for name in CURVES]
    return float(np.sqrt(np.mean(squares)))


@dataclass(frozen=True)
class Stride:
    """A stride of one leg, in frames.

    It lasts from footstrike to footstrike or, where a short clip holds no such stride, from toe-off to toe-off.
    """

    first: int
    last: int
    strike: int  # first frame under load
    off: int  # last frame under load

    @property
    def swing(self) -> tuple[int, int]:
        """The frame at which the foot leaves the ground and that at which it strikes."""
        return (self.off, self.last) if self.strike == self.first else (self.first, self.strike)


Strides = tuple[list[Stride], list[Stride]]


def find_strides(signals: GaitSignals) -> Strides:
    """The strides of the left and of the right leg; those much longer or shorter than usual are left out."""
    return _strides_of(signals, 0), _strides_of(signals, 1)


def _strides_of(signals: GaitSignals, leg: int) -> list[Stride]:
    count, spans = len(signals.time), true_spans(signals.stands[:, leg])
    strikes, offs = [a for a, _ in spans if a > 0], [b for _, b in spans if b < count]
    found = [
        Stride(a, b, a, next((off for off in offs if a < off <= b), b) - 1) for a, b in pairwise(strikes)
    ] or [
        Stride(a, b, next(strike for strike in strikes if a <= strike < b), b - 1) for a, b in pairwise(offs)
    ]  # fmt: skip
    lengths = [float(signals.time[stride.last] - signals.time[stride.first]) for stride in found]
    usual = float(np.median(lengths)) if found else 0.0
    return [stride for stride, long in zip(found, lengths, strict=True) if _SHORT * usual < long < _LONG * usual]


def _period(signals: GaitSignals, usual: float) -> float:
    """Mean time of a stride [s], from footstrike to footstrike and from toe-off to toe-off, given the usual one."""
    if np.isfinite(signals.stride_time):
        return signals.stride_time
    count, times = len(signals.time), list[float]()
    for leg in (0, 1):
        spans = true_spans(signals.stands[:, leg])
        for frames in ([a for a, _ in spans if a > 0], [b for _, b in spans if b < count]):
            times += [float(long) for long in np.diff(signals.time[frames]) if _SHORT < long / usual < _LONG]
    return float(np.mean(times))


def _mean_curves(values: np.ndarray, strides: Strides) -> np.ndarray:
    """(POINTS, 2) mean of (n, 2) values over the strides of each leg, from footstrike to footstrike."""
    share, frames = np.linspace(0.0, 1.0, POINTS), np.arange(len(values))

    def curve(stride: Stride, leg: int) -> np.ndarray:
        long = stride.last - stride.first
        at = stride.strike + share * long
        return np.asarray(np.interp(np.where(at > stride.last, at - long, at), frames, values[:, leg]))

    return np.stack([np.mean([curve(stride, leg) for stride in strides[leg]], axis=0) for leg in (0, 1)], axis=1)


def _velocity(signals: GaitSignals, first: int, last: int) -> tuple[float, float]:
    """Mean speed of the centre of mass along the heading, and to the left [m/s]."""
    rate = np.gradient(signals.com[:, :2], signals.time, axis=0)[first : last + 1]
    c, s = np.cos(signals.heading[first : last + 1]), np.sin(signals.heading[first : last + 1])
    return float((rate[:, 0] * c + rate[:, 1] * s).mean()), float((rate[:, 1] * c - rate[:, 0] * s).mean())


def _too_short(signals: GaitSignals, strides: Strides) -> str:
    """What is missing of a gait that cannot be measured."""
    lacking = [name for name, found in zip(("left", "right"), strides, strict=True) if not found]
    strikes = [sum(1 for a, _ in true_spans(signals.stands[:, leg]) if a > 0) for leg in (0, 1)]
    return (
        f"a gait is measured over at least one stride of each leg, from footstrike to footstrike; in these "
        f"{signals.time[-1] - signals.time[0]:.2f} s the left foot strikes {strikes[0]} times and the right one "
        f"{strikes[1]} times, which makes no whole stride of the {' and of the '.join(lacking)} leg"
    )


def _check_turns(signals: GaitSignals, strides: Strides) -> None:
    """Refuse feet that do not strike in turn.

    Raises:
        SurefootError: in most strides the other foot does not strike in the middle, as in hops.
    """
    inside = []
    for leg in (0, 1):
        other = [a for a, _ in true_spans(signals.stands[:, 1 - leg]) if a > 0]
        for stride in strides[leg]:
            phases = [(a - stride.strike) / (stride.last - stride.first) % 1.0 for a in other]
            near = [stride.first - 1 <= a <= stride.last + 1 for a in other]
            inside.append(any(n and _IN_TURN[0] < p < _IN_TURN[1] for n, p in zip(near, phases, strict=True)))
    if np.mean(inside) < 0.5:
        raise SurefootError(
            "the feet do not strike in turn: a walk or a run is measured, in which each foot strikes about in the "
            "middle between two footstrikes of the other; hops and gallops are not"
        )


def _share(flags: np.ndarray, strides: list[Stride]) -> float:
    """Mean share of the strides in which flags (n,) are true."""
    return float(np.mean([flags[stride.first : stride.last].mean() for stride in strides]))


def _mid_stance_knee(signals: GaitSignals, strides: Strides) -> float:
    """Mean flexion of the knee in the middle fifth of the stances [deg]."""
    found = []
    for leg in (0, 1):
        for stride in strides[leg]:
            a, n = stride.strike, stride.off - stride.strike
            found.append(signals.knee[a + int(_MIDDLE[0] * n) : a + int(_MIDDLE[1] * n) + 1, leg].mean())
    return float(np.degrees(np.mean(found)))


def _at_events(signals: GaitSignals, strides: Strides, first: bool) -> float:
    """Mean pitch of the feet in the first, or in the last, frame under load [deg]."""
    pitch = [
        signals.foot_pitch[stride.strike if first else stride.off, leg]
        for leg in (0, 1) for stride in strides[leg]
    ]  # fmt: skip
    return float(np.degrees(np.mean(pitch)))


def _range_per_stride(values: np.ndarray, strides: Strides) -> float:
    """Mean over all strides of the peak to peak of values (n,)."""
    return float(np.mean([np.ptp(values[s.first : s.last + 1]) for leg in strides for s in leg]))


def _trunk(signals: GaitSignals, strides: Strides, window: slice) -> dict[str, float]:
    arm, head = NAN, NAN
    if signals.upper_arm is not None:
        arm = float(np.mean([_range_per_stride(np.degrees(signals.upper_arm[:, s]), strides) for s in (0, 1)]))
    if signals.head_place is not None:
        dt = frame_time(signals.time)
        smooth = signals.head_place
        if len(smooth) > 30:
            smooth = sosfiltfilt(butter(2, _HEAD_BAND, fs=1.0 / dt, output="sos"), smooth, axis=0)
        acceleration = np.gradient(np.gradient(smooth, dt, axis=0), dt, axis=0)[window]
        head = float(np.sqrt((acceleration**2).sum(axis=1).mean()))
    return {
        "lean": float(np.degrees(signals.trunk_lean[window].mean())),
        "sway": 0.5 * _range_per_stride(np.degrees(signals.trunk_lean), strides),
        "trunk_roll": 0.5 * _range_per_stride(np.degrees(signals.trunk_roll), strides),
        "pelvis_turn": _range_per_stride(np.degrees(signals.pelvis_turn), strides),
        "pelvis_list": _range_per_stride(np.degrees(signals.pelvis_list), strides),
        "arm_swing": arm,
        "head_acceleration": head,
        "com_rise": _range_per_stride(signals.com[:, 2], strides),
    }


def _forces(signals: GaitSignals, strides: Strides) -> dict[str, float]:
    """Means over all stances of the two peaks of a foot's vertical force and of the valley between [body weights]."""
    if signals.load is None:
        return {"first_peak": NAN, "valley": NAN, "second_peak": NAN}
    found = []
    for leg in (0, 1):
        for stride in strides[leg]:
            load = signals.load[stride.strike : stride.off + 1, leg]
            n = len(load)
            early, late = (load[int(p * n) : max(int(q * n), int(p * n) + 1)] for p, q in (_LOADING, _TERMINAL))
            middle = load[int(0.3 * n) : max(int(0.7 * n), int(0.3 * n) + 1)]
            found.append((early.max(), middle.min(), late.max()))
    first, valley, second = np.mean(found, axis=0)
    return {"first_peak": float(first), "valley": float(valley), "second_peak": float(second)}


def _effort(signals: GaitSignals, window: slice, distance: float) -> dict[str, float]:
    """Work, power and torques of a simulated gait."""
    names = ("work", "ankle_power", "ankle_share", "hip_torque", "knee_torque", "ankle_torque")
    if signals.torque is None:
        return dict.fromkeys(names, NAN)
    torque, rate, mass = signals.torque[window], signals.joint_speed[window], signals.mass
    power = torque * rate
    positive = np.clip(power, 0.0, None).mean(axis=0)
    columns = {
        kind: [i for i, j in enumerate(signals.joints) if j.endswith(f"_{kind}")] for kind in ("hip", "knee", "ankle")
    }
    largest = {
        kind: float(np.abs(torque[:, own]).max(axis=0).mean()) / mass if own else NAN for kind, own in columns.items()
    }
    ankles, duration = columns["ankle"], float(signals.time[window][-1] - signals.time[window][0])
    return {
        "work": float(positive.sum()) * duration / (mass * GRAVITY * max(distance, 1e-9)),
        "ankle_power": float(power[:, ankles].max(axis=0).mean()) / mass if ankles else NAN,
        "ankle_share": float(positive[ankles].sum() / max(positive.sum(), 1e-9)) if ankles else NAN,
        **{f"{kind}_torque": value for kind, value in largest.items()},
    }


def _clearance(signals: GaitSignals, strides: Strides) -> float:
    """Mean least height of the toes in the middle of the swing above where they stand [m]."""
    found = []
    for leg in (0, 1):
        height = signals.toe_place[:, leg, 2]
        ground = float(np.median(height[signals.stands[:, leg]]))
        for stride in strides[leg]:
            a, b = stride.swing
            middle = height[a + int(0.3 * (b - a)) : max(a + int(0.8 * (b - a)), a + 1)]
            found.append(float(middle.min()) - ground if len(middle) else 0.0)
    return float(np.mean(found))


def _step_width(signals: GaitSignals, strides: Strides) -> float:
    """Mean distance of the ankles across the heading at footstrikes, negative if the legs are crossed [m]."""
    apart = signals.ankle_place[:, 0] - signals.ankle_place[:, 1]
    across = apart[:, 1] * np.cos(signals.heading) - apart[:, 0] * np.sin(signals.heading)
    return float(np.mean([across[stride.strike] for leg in strides for stride in leg]))


def _tremble(speeds: np.ndarray, dt: float) -> float:
    """Share of the power of joint speeds (n, joints) at 7 … 25 Hz."""
    if 1.0 / dt < 2.0 * _TREMBLE[1]:
        return NAN
    shaped = (speeds - speeds.mean(axis=0)) * np.hanning(len(speeds))[:, None]
    power = (np.abs(np.fft.rfft(shaped, axis=0)) ** 2).sum(axis=1)
    pace = np.fft.rfftfreq(len(speeds), dt)
    fast = (pace >= _TREMBLE[0]) & (pace <= _TREMBLE[1])
    counted = (pace >= _SLOWEST) & (pace <= _TREMBLE[1])
    return float(power[fast].sum() / max(power[counted].sum(), 1e-12))


def _drift(signals: GaitSignals, window: slice) -> float:
    heading = np.unwrap(signals.heading[window])
    second = max(1, round(min(1.0 / frame_time(signals.time), len(heading) / 2)))
    return float(np.degrees(heading[-second:].mean() - heading[:second].mean()))
