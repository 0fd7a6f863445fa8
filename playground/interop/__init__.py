"""Trained models as Hugging Face folders, and Hugging Face folders as models."""

from playground.interop.family import Family, families
from playground.interop.folder import OpenedFolder, export, open_folder

__all__ = ["Family", "OpenedFolder", "export", "families", "open_folder"]
