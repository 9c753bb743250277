"""The skills that the experiments of tracking share: each is made once of a clip and kept beside the results."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.characters import load as load_character
from surefoot.controllers.stylized import reference_sources
from surefoot.errors import SurefootError
from surefoot.lab.experiment import Setting, find_clip, make_folder
from surefoot.lab.pieces import fingerprint
from surefoot.lab.reproduce.stylized import mocap
from surefoot.lab.reproduce.tracking import authored_kneel as kneel
from surefoot.lab.tracking_skill import ClipOnBody, make_tracking_skill, repeats
from surefoot.motions.gait_cycle import step_in_place
from surefoot.motions.gait_search import find_gait_cycle
from surefoot.motions.retargeting import RetargetedClip
from surefoot.skills import load
from surefoot.skills.schema import Skill

BODY = "human"
CLIPS = (
    "07_01", "136_21", "07_05", "16_22", "08_07", "136_01", "136_09", "136_17", "91_19", "136_25", "113_18", "16_18",
    "69_17", "133_12", "120_13", "104_41", "132_55", "09_06", "38_03", "132_24", "104_11", "14_14", "131_04",
    "Neutral_FW",
)  # fmt: skip
LOOPED_WALKS = ("07_01", "136_21", "16_22", "09_06")
SUMO, KNEEL = "sumo", "kneel"  # are authored
_CYCLES, _RATE = 6.0, 120.0  # of a cycle that steps in place: cycles that are sampled, and frames a second


@dataclass(frozen=True)
class Case:
    """A clip, and how it is followed: `loops` None is decided by the clip; `in_place` takes its travel out."""

    stem: str
    loops: bool | None = None
    in_place: bool = False

    @property
    def name(self) -> str:
        """Of its skill."""
        return f"tracked-{self.stem.lower().replace('_', '-')}{'-in-place' if self.in_place else ''}"


def tracked(setting: Setting, case: Case, begin: float = 0.0, end: float = 1.0) -> Skill | None:
    """As `tracked_file`, the skill itself."""
    path = tracked_file(setting, case, begin, end)
    return None if path is None else load(path)


def tracked_file(setting: Setting, case: Case, begin: float = 0.0, end: float = 1.0) -> Path | None:
    """The file of a clip's skill, made if need be; None without the clip.

    Args:
        setting: of the experiment.
        case: which clip.
        begin: share of the experiment that is done before.
        end: share that is done afterwards.

    Raises:
        SurefootError: nothing could be made of the clip.
    """
    folder = (setting.out or Path(tempfile.gettempdir())) / "tracked"
    make_folder(folder)
    written = {SUMO: mocap.author, KNEEL: kneel.author}.get(case.stem)
    clip = folder / f"{case.stem}.bvh" if written else find_clip(setting, case.stem)
    if clip is None:
        return None
    if written and not clip.exists():
        written(clip)
    loops = _loops(clip, case)
    made_of = f"{fingerprint()} {loops} {setting.seed}".encode()
    path = folder / f"{case.name}-{hashlib.sha256(clip.read_bytes() + made_of).hexdigest()[:16]}.yaml"
    if not path.exists():
        make_tracking_skill(
            _on_body(clip, case, loops), path, case.name, case.stem, seed=setting.seed,
            report=lambda text, share: setting.progress(f"{case.stem}: {text}", begin + (end - begin) * share),
            folder=path.with_suffix(".search"),
        )  # fmt: skip
    return path


def _loops(clip: Path, case: Case) -> bool:
    """Whether a cycle of the clip is looped."""
    if case.in_place or case.loops is not None:
        return case.in_place or bool(case.loops)
    table = load_character(BODY)
    return repeats(reference_sources.retarget_file(clip, table), table)


def _on_body(clip: Path, case: Case, loops: bool) -> ClipOnBody:
    found = reference_sources.retarget_file(clip, load_character(BODY))
    return ClipOnBody(_in_place(found) if case.in_place else found, BODY, loops)


def _in_place(found: RetargetedClip) -> RetargetedClip:
    """Some cycles of a clip without its travel."""
    table = load_character(BODY)
    cycle = step_in_place(find_gait_cycle(found, table), table)
    return cycle.sampled(_CYCLES, _RATE)


def tried(setting: Setting, case: Case, begin: float, end: float) -> tuple[Skill | None, str]:
    """As `tracked`, and if there is no skill, why."""
    try:
        skill = tracked(setting, case, begin, end)
    except (SurefootError, np.linalg.LinAlgError) as error:
        return None, str(error)
    return skill, "" if skill else "no clip"
