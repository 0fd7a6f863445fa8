"""The app as a script for `panel serve`, which JupyterLab's tile runs."""

from widgets.app import app

app().servable()
