"""Stylized locomotion (da Silva, Abe, Popović 2008): balance of a three-link model, style by a quadratic programme."""
