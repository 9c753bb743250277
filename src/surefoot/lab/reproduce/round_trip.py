"""Round trips: files of others and our own through a motion and back, and two formats of the same takes compared."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.lab.experiment import CLIPS_VARIABLE, Result, Setting, clips_folder
from surefoot.motions import acclaim, bvh
from surefoot.motions import quaternions as quat
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion

WALKS = (("planar", "walk"), ("human", "walk-as-printed"))
SECONDS = 5.0
EVEN, UNEVEN = 100.0, 120.0  # frames per second that fall on physics steps, and that fall between them
REPLAY, TWINS, CHANNEL = 1e-4, 1e-3, 1e-6  # [rad], [units], [units and degrees] of an AMC file: six digits are printed
# Joints of CMU's skeletons whose places agree; in the BVH files everything above lacks the thorax bone's length.
SAME = {
    "root": "Hips", "lhipjoint": "LHipJoint", "lfemur": "LeftUpLeg", "ltibia": "LeftLeg", "lfoot": "LeftFoot",
    "ltoes": "LeftToeBase", "rhipjoint": "RHipJoint", "rfemur": "RightUpLeg", "rtibia": "RightLeg",
    "rfoot": "RightFoot", "rtoes": "RightToeBase", "lowerback": "LowerBack", "upperback": "Spine", "thorax": "Spine1",
}  # fmt: skip


@dataclass(frozen=True)
class Trip:
    """How a BVH file came back: the worst value's error, in units of its last printed digit, and what else changed."""

    values: int
    worst: float
    changed: str

    @property
    def exact(self) -> bool:
        """Whether it would be printed as it was."""
        return self.worst < 0.5 and not self.changed


def run(result: Result, setting: Setting) -> None:
    """Our own motions first; what needs clips is marked as not run without them."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for i, (character, skill) in enumerate(WALKS[: 1 if setting.quick else None]):
            setting.progress(f"{character} {skill}", 0.02 + 0.1 * i)
            _own(result, character, skill, scratch / "own.bvh")
        clips = clips_folder(setting)
        if clips is None:
            result.partial = True
            missing = f"not run: {CLIPS_VARIABLE} does not name a folder of clips"
            result.add_row("BVH → motion → BVH", "", missing, "as printed", False)
            result.add_row("ASF/AMC → motion → AMC", "", missing, f"within {CHANNEL:g}", False)
            result.add_row("ASF/AMC against BVH", "", missing, f"within {TWINS:g} units", False)
            return
        _foreign(result, setting, sorted(clips.rglob("*.bvh")), clips, scratch / "foreign.bvh")
        setting.progress("ASF/AMC", 0.9)
        _pairs(result, clips, scratch / "own.amc")


def _own(result: Result, character: str, skill: str, path: Path) -> None:
    found = {}
    for fps in (EVEN, UNEVEN):
        motion = Simulation(character, skill).run(SECONDS, fps=fps)
        bvh.save(motion, path)
        found[fps] = replayed(motion, bvh.load(path))
    angle, place = found[EVEN]
    result.add_note(
        f"{character} {skill} → BVH → replay at {UNEVEN:g} frames per second, which no physics step falls on",
        f"{found[UNEVEN][0]:.1e} rad", "the file's frames lie between ours",
    )  # fmt: skip
    result.add_row(f"{character} {skill} → BVH → replay", "",
                   f"{angle:.1e} rad, {place:.1e} m at {EVEN:g} frames per second", f"within {REPLAY:g} rad",
                   angle <= REPLAY)  # fmt: skip


def replayed(motion: Motion, back: Motion) -> tuple[float, float]:
    """Largest angle [rad] and distance [m] between a file's bodies and the simulated ones, frame by frame."""
    if motion.scene is None or len(back) != len(motion):
        return np.inf, np.inf
    model, data = motion.scene.model, mujoco.MjData(motion.scene.model)
    places, turns = world_poses(back)
    bodies = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) for name in back.skeleton.names]
    angle = place = 0.0
    for now, qpos in enumerate(motion.qpos):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        off = quat.log(quat.multiply(quat.inverse(turns[now]), data.xquat[bodies]))
        angle = max(angle, float(np.linalg.norm(off, axis=-1).max()))
        place = max(place, float(np.linalg.norm(places[now] - data.xpos[bodies], axis=-1).max()))
    return angle, place


def _foreign(result: Result, setting: Setting, files: list[Path], clips: Path, scratch: Path) -> None:
    trips: dict[str, Trip] = {}
    for i, path in enumerate(files):
        setting.progress(path.name, 0.2 + 0.7 * i / len(files))
        name = path.relative_to(clips).as_posix()
        try:
            trips[name] = bvh_trip(path, scratch)
        except SurefootError as error:
            trips[name] = Trip(0, np.inf, str(error))
        result.runs.append({"file": name, "values": trips[name].values, "worst": f"{trips[name].worst:.2g}"})
    lost = [f"{name}: {trip.changed or f'{trip.worst:.2g} digits'}" for name, trip in trips.items() if not trip.exact]
    worst = max((trip.worst for trip in trips.values()), default=np.inf)
    result.add_row(
        "BVH → motion → BVH", "",
        f"{len(trips) - len(lost)} of {len(trips)} files exact, {sum(t.values for t in trips.values())} values, "
        f"worst {worst:.1e} of the last digit" + "".join(f"; {each}" for each in lost[:3]),
        "as printed", bool(trips) and not lost,
    )  # fmt: skip


def bvh_trip(path: Path, scratch: Path) -> Trip:
    """Read a file, write it, read it again, and bring it back to its own channels."""
    bvh.save(bvh.load(path, up="z", forward="x"), scratch, up="z", forward="x")
    back, file, again = bvh.load(scratch, up="z", forward="x"), bvh.parse_file(path), bvh.parse_file(scratch)
    if len(back) != len(file.values) or [(j.name, j.parent) for j in file.joints] != [
        (j.name, j.parent) for j in again.joints
    ]:
        return Trip(file.values.size, np.inf, "other joints or frames")
    changed = "the frame time" if abs(again.frame_time - file.frame_time) > 1e-9 * file.frame_time else ""
    if max(np.abs(a.offset - b.offset).max() for a, b in zip(file.joints[1:], again.joints[1:], strict=True)) > 1e-8:
        changed = "an offset"
    worst = 0.0
    for i, joint in enumerate(file.joints):
        turns = [c for c, name in enumerate(joint.channels) if name.endswith("rotation")]
        own = file.values[:, joint.column : joint.column + len(joint.channels)]
        if len(turns) == 3:
            found = quat.euler_angles(back.rotations[:, i], ["xyz".index(joint.channels[c][0]) for c in turns])
            ways = [np.degrees(way) - own[:, turns] for way in (found, quat.other_euler_solution(found))]
            errors = [np.abs(off - 360.0 * np.round(off / 360.0)).max(axis=1) for off in ways]
            worst = max(worst, float(np.minimum(*errors).max()))
        elif turns:
            changed = f"joint {joint.name}, which has not three rotations"
        if i == 0:
            moves = [(c, "xyz".index(name[0])) for c, name in enumerate(joint.channels) if name.endswith("position")]
            for c, axis in moves:
                worst = max(worst, float(np.abs(back.root_position[:, axis] - own[:, c]).max()))
    return Trip(file.values.size, worst * 10.0 ** printed_decimals(path), changed)


def printed_decimals(path: Path) -> int:
    """Most digits after the point in a file's last frame."""
    words = path.read_text().rstrip().rsplit("\n", 1)[-1].split()
    return max((len(word.partition(".")[2]) for word in words), default=0)


def _pairs(result: Result, clips: Path, scratch: Path) -> None:
    """Every AMC file with the skeleton that its take's name begins with, against the BVH of the same name."""
    errors, apart, taken = [0.0], [0.0], 0
    for path in sorted(clips.rglob("*.amc")):
        skeleton, twin = path.with_name(f"{path.stem.split('_')[0]}.asf"), next(clips.rglob(f"{path.stem}.bvh"), None)
        if not skeleton.is_file() or twin is None:
            continue
        taken += 1
        motion = acclaim.load(path, skeleton)
        scratch.write_text(acclaim.amc_text(motion, skeleton))
        table = acclaim.read_asf(skeleton)
        off = acclaim.read_amc(path, table)[0] - acclaim.read_amc(scratch, table)[0]
        errors.append(float(np.abs(off - 360.0 * np.round(off / 360.0)).max()))
        apart.append(twins_apart(motion, bvh.load(twin)))
    result.add_row("ASF/AMC → motion → AMC", "", f"{taken} takes, worst value off by {max(errors):.1e}",
                   f"within {CHANNEL:g}", taken > 0 and max(errors) <= CHANNEL)  # fmt: skip
    result.add_row("ASF/AMC against BVH", "", f"{taken} takes, root, legs and trunk off by {max(apart):.1e} units",
                   f"within {TWINS:g} units", taken > 0 and max(apart) <= TWINS)  # fmt: skip


def twins_apart(motion: Motion, twin: Motion) -> float:
    """Largest difference of a coordinate of root, legs or trunk [file units]; the BVH has a T-pose first."""
    if len(twin) != len(motion) + 1 or not set(SAME.values()) <= set(twin.skeleton.names):
        return np.inf
    places, theirs = world_poses(motion)[0], world_poses(twin)[0][1:]
    own = [motion.skeleton.names.index(name) for name in SAME]
    other = [twin.skeleton.names.index(name) for name in SAME.values()]
    return float(np.abs(places[:, own] - theirs[:, other]).max())
