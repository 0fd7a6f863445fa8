"""Trained models as Hugging Face folders, and Hugging Face folders as models."""

from playground.interop.family import Family, families
from playground.interop.folder import Opened, export, open_folder

__all__ = ["Family", "Opened", "export", "families", "open_folder"]
