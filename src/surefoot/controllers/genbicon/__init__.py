"""GENBICON: generalized biped walking control (Coros, Beaudoin, van de Panne 2010)."""
