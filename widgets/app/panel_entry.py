"""The app as a script for `panel serve`, which JupyterLab's tile runs."""

import torch

from widgets.app.main import app

torch.set_num_threads(1)
app().servable()
