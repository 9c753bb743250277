"""Measuring: falls, replicas, gaits, thresholds, tuning, and the reproduction of the papers."""
