"""Experiments that judge motion by how people move."""
