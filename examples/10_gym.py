"""An agent's view of a walk: 32 walkers at once, and a search for the two numbers that earn the most.

Needs Gymnasium: pip install 'surefoot[gym]'. An action is within -1 … 1; here it stands for parameters of the skill.
Usage: python 10_gym.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import surefoot.gym as sg

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

actions = sg.Parameters({"states.0.cv": (0.0, 0.5), "states.1.cd": (1.0, 3.5)})
env = sg.SurefootVectorEnv(32, "planar/walk", actions=actions, reward=sg.Tracking(speed=1.0), time_limit=3.0)
print(f"an action has {len(env.action_names)} elements: {', '.join(env.action_names)}")
print(f"an observation has {len(env.observation_names)}, the first is {env.observation_names[0]}")

rng, mean, width, table = np.random.default_rng(0), np.zeros(2), np.ones(2), []
for generation in range(3):
    tried = np.clip(mean + width * rng.standard_normal((32, 2)), -1.0, 1.0)  # one action a row, kept for its episode
    env.reset(seed=0)
    earned, going = np.zeros(32), np.ones(32, bool)
    while going.any():
        _, rewards, terminated, truncated, _ = env.step(tried)
        earned += going * rewards
        going &= ~(terminated | truncated)  # the next step would begin the row anew
    best = np.argsort(earned)[-8:]
    mean, width = tried[best].mean(axis=0), tried[best].std(axis=0)
    table.append([generation, earned.mean(), earned.max(), *mean])
    print(f"generation {generation}: {earned.mean():.0f} on average, {earned.max():.0f} at best")

np.savetxt(folder / "search.csv", table, delimiter=",", header="generation,mean,best,cv,cd", comments="")
print("wrote", folder / "search.csv")
