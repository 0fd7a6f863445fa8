"""Figures that several claims read and that no instrument, task or run has."""
