"""Functions for a notebook cell: `stage`, `table`, `train`, `compare`, `compress` and `inspect`."""

from IPython import get_ipython

from widgets.notebook import completion
from widgets.notebook.comparison import Compared, compare
from widgets.notebook.compression import CompressedModels, compress
from widgets.notebook.drawing import headless
from widgets.notebook.inspection import Inspected, Instruments, inspect
from widgets.notebook.picture import Picture, stage
from widgets.notebook.survey import Table, table
from widgets.notebook.training import Progress, Trained, train

__all__ = [
    "Compared", "CompressedModels", "Inspected", "Instruments", "Picture", "Progress", "Table", "Trained", "compare",
    "compress", "headless", "inspect", "stage", "table", "train",
]  # fmt: skip

if (shell := get_ipython()) is not None:
    completion.offer(shell)
