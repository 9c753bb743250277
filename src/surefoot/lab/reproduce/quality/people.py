"""The report card of captured people: the bands that walks are judged by should hold where people are.

Six plain walks of four people, slow to fast, are measured as simulated walks are. Every measure that a clip can tell
has a row: its band has to contain the middle half of the clips. Where a clip is suspected of saying more about how it
was captured than about the person, a note says why; the row stays as it is measured.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.errors import SurefootError
from surefoot.lab.experiment import NO_CLIPS, Result, Setting, find_clip
from surefoot.lab.gait import BANDS, Band, GaitCard, gait_card
from surefoot.lab.gait_clips import clean_clip
from surefoot.lab.gait_picture import save_card
from surefoot.lab.gait_signals import signals_of
from surefoot.motions.clips import read_clip

# Plain walks of adults, and their cadence by autocorrelation of the ankles' distance [steps/min].
WALKS = {"07_01": 113.0, "07_05": 77.0, "136_21": 97.0, "16_22": 124.0, "16_18": 103.0, "Neutral_FW": 87.0}
RUNS = {"09_06": 160.0, "38_03": 160.0}
SAME_CADENCE = 0.03
FEWEST = 4  # clips of whose middle half something can be said
# What makes a measure of these clips doubtful; the rows do not take it into account.
DOUBTS = {
    "stance_knee": "CMU's skeletons read knees as bent: who stands at the end of clip 136_21 has 25 and 34 deg",
    "pelvis_list": "2 deg in the clip of an inertial suit, 11 to 15 deg in the five of CMU",
    "tremble": "noise of capture: the clip of an inertial suit has 1 %, those of CMU 5 to 13 %",
    "asymmetry": "a clip has one to three strides of each leg",
}


def run(result: Result, setting: Setting) -> None:
    """Measure the walks, and for comparison the runs."""
    cards = {name: _card(result, setting, name) for name in setting.each({**WALKS, **RUNS})}
    for name, cadence in {**WALKS, **RUNS}.items():
        card, case = cards[name], f"{name}: cadence"
        if card is None:
            result.add_missing(case, f"{cadence:.0f}")
        elif name in RUNS:
            result.add_note(f"{case}, of its most even stretch", f"{card.cadence:.0f}", "steps/min", f"{cadence:.0f}")
            result.add_row(
                f"{name}: leaves the ground", "a run", f"{100 * card.flight:.0f} %", "of the time", card.runs
            )
        else:
            result.add_row(case, f"{cadence:.0f}", f"{card.cadence:.1f}", "steps/min within 3 %",
                           abs(card.cadence / cadence - 1.0) <= SAME_CADENCE)  # fmt: skip
    known = [card for name in WALKS if (card := cards[name]) is not None]
    for name, band in BANDS.items():
        _judge(result, name, band, known)


def _card(result: Result, setting: Setting, name: str) -> GaitCard | None:
    """The card of a clip, with its picture; None if there is no such clip."""
    path = find_clip(setting, name)
    if path is None:
        return None
    try:
        motion = clean_clip(read_clip(path).motion)
        signals = signals_of(motion)
        card = gait_card(signals)
    except SurefootError as error:
        result.add_missing(f"{name}: is measured", reason=str(error))
        return None
    result.runs.append({"clip": name, **{key: getattr(card, key) for key in BANDS}})
    picture = setting.figure_path(result.experiment, f"{name}.png")
    if picture is not None:
        save_card(Path(picture), card, signals, motion, f"clip {name}")
    return card


def _judge(result: Result, name: str, band: Band, cards: list[GaitCard]) -> None:
    """A row: whether the band of a measure contains the middle half of the clips."""
    if band.walk is None:
        return
    values = np.array([getattr(card, name) for card in cards]) * band.scale
    values = values[np.isfinite(values)]
    people = f"{band.walk[0]:g} … {band.walk[1]:g}"
    if not len(values) and cards:
        result.add_note(band.label, "clips have no forces and no torques", band.unit, people)
        return
    if len(values) < FEWEST:
        result.add_missing(band.label, people, NO_CLIPS)
        return
    low, high = (round(float(q), band.digits) for q in np.quantile(values, (0.25, 0.75)))
    ours = f"{low:.{band.digits}f} … {high:.{band.digits}f} (all {values.min():.{band.digits}f} … "
    ours += f"{values.max():.{band.digits}f})"
    result.add_row(band.label, people, ours, band.unit, band.walk[0] <= low and high <= band.walk[1])
    if name in DOUBTS:
        result.add_note(f"{band.label}: doubtful in clips", DOUBTS[name])
