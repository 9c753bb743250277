"""Follows a motion that sampling has reconstructed, with linear feedback in every window (Liu 2010, 2012, 2016)."""
