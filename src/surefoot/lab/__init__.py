"""Measures of gaits, robustness, tuning, skills made from clips, benchmarks, and the reproduction of the papers."""
