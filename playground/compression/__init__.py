"""Compression: a fine-tuned model made smaller, measured by three meters, and saved."""

import playground.compression.methods  # noqa: F401 (first, else the package takes the place of the function below)
from playground.compression.method import (
    FAMILIES,
    Compressed,
    Method,
    Pipeline,
    TaskData,
    find_method,
    methods,
    read_pipeline,
)

__all__ = ["FAMILIES", "Compressed", "Method", "Pipeline", "TaskData", "find_method", "methods", "read_pipeline"]
