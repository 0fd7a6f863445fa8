"""Pretraining Playground: objectives, tiny models and training, each drawn from the tensors that train."""

__version__ = "0.1.0"
