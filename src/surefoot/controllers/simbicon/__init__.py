"""simbicon."""
