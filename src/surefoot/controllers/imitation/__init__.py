"""SIMBICON from motion capture: follows a captured gait cycle (Yin, Loken, van de Panne 2007, §5)."""
