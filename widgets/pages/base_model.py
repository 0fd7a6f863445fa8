"""The base model of the Transfer and the Compress page: which run it is of, and how far that is."""

from typing import Any

import panel_material_ui as pmui

from widgets.pages.layout import FIELD
from widgets.state.app import Store
from widgets.state.stage.model import has_learned
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
    if session is None or session.learner is None or not has_learned(session.learner, session.run.corpus):
        missing = say(f"None yet. Train {store.train.entry} on {store.train.corpus_name} first.", "notice")
        return trouble or missing
    step = session.learner.step
    how_far = f"step {step} of {session.run.last}" if step else "as it was imported"
    name = f"{session.run.entry.title} on {session.run.corpus.name}, {how_far}"
    pauses = session.state == "running" and session is not store.awaited_base
    return trouble + say(name) + say("Starting a comparison pauses its training." if pauses else "", "quiet")
