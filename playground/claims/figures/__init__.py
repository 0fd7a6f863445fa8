"""Figures that several claims read and no instrument measures."""
