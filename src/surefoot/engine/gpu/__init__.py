"""Populations on a GPU: the laws that run inside MuJoCo's step, around the physics of `mujoco_warp`."""
