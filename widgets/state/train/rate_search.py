"""The search for a learning rate."""

from collections.abc import Callable

from playground.training.lr_finder import LRFinderResult, TriedRate, find_rate
from widgets.state.job import as_trouble
from widgets.state.train.store import TrainStore

TRIES = 60  # steps of a search for a learning rate


@as_trouble
def look_for_rate(train: TrainStore) -> None:
    """Try rates from low to high with a copy of the model, so that the run itself is not touched."""
    session = train.session
    if session is not None and session.learner is not None and session.state != "failed":
        forked = session.fork()
        start = forked.run, forked.learner
    else:
        start = train.next_run(), None
    tried: list[TriedRate] = []
    train.tried = tried

    def search(report: Callable[[int, int], None]) -> LRFinderResult | None:
        for found in find_rate(*start, steps=TRIES):
            if isinstance(found, LRFinderResult):
                return found
            tried.append(found)
            report(len(tried), TRIES)
        return None

    train.search.begin(search)
