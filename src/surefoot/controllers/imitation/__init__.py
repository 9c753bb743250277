"""imitation."""
