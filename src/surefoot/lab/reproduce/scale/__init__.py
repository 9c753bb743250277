"""Populations on a GPU, beside the same on a CPU."""
