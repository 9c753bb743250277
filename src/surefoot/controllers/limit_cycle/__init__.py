"""limit_cycle."""
