"""What runs a character: the callback inside the physics step, scenes, simulations, populations, tasks."""
