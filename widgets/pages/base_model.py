"""The base model of the Transfer and the Compress page: which run it is of, and how far that is."""

from typing import Any

import panel_material_ui as pmui

from widgets.pages.layout import FIELD
from widgets.state.app import Store
from widgets.theme import say


def base_choice(store: Store) -> Any:
    """Whose model it is; runs that came meanwhile are offered when a page is opened."""
    base = pmui.Select.from_param(store.transfer.param.base, options=store.bases(), **FIELD)

    def renew(*_: Any) -> None:
        offered = store.bases()
        chosen = store.transfer.base if store.transfer.base in offered.values() else ""
        base.param.update(options=offered, value=chosen)

    store.param.watch(renew, ["page", "built"])
    store.train.param.watch(renew, "session")
    return base


def describe_base(store: Store) -> str:
    """The run whose model is chosen and its step, or what is missing."""
    session, trouble = store.base, say(store.train.trouble, "trouble")
    if session is None or not session.rows:
        missing = say(f"None yet. Train {store.train.entry} on {store.train.corpus_name} first.", "notice")
        return trouble or missing
    step = session.rows[-1].step
    name = f"{session.run.entry.name} on {session.run.corpus.name}, step {step} of {session.run.last}"
    pauses = session.state == "running" and session is not store.awaited_base
    return trouble + say(name) + say("Starting a comparison pauses its training." if pauses else "", "quiet")
