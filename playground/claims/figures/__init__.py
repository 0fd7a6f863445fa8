"""Figures that several claims read and no instrument has, a module for each subject."""
