"""The same seeds and comparisons on a Dask cluster (extra `cluster`); Dask is imported only when it is used."""

from playground.cluster.sweep import connected, lanes, train_on

__all__ = ["connected", "lanes", "train_on"]
