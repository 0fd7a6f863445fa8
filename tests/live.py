"""The stage as a notebook shows it, of any state."""

from widgets.animation import StageWidget
from widgets.notebook.picture import alone
from widgets.state.stage.store import StageStore


def live_widget(store: StageStore) -> StageWidget:
    widget = StageWidget(record=alone(store))
    widget.follow(store, lambda: alone(store))
    return widget
