"""The best possible prediction of single words of a sentence, or why it is not known."""

from collections.abc import Collection, Iterable

import torch
from torch import Tensor

from playground.analysis.cloze import words_seen
from playground.analysis.floor.automaton import automaton_of
from playground.analysis.floor.chart import ParseChart
from playground.analysis.subject import Subject
from playground.errors import UserError


def best_possible(
    subject: Subject, ids: Tensor, positions: Iterable[int], hidden: Collection[int] = ()
) -> tuple[Tensor | None, str]:
    """The chances `[k, v]` in the grammar at some positions of a sentence `[t]`, given the words that the model sees.

    The `hidden` words are known to nobody. Where the grammar cannot say, the second part is the reason.
    """
    words, shape = tuple(ids.tolist()), subject.model.shape
    try:
        chart = ParseChart(automaton_of(subject.corpus), words, gaps=frozenset(hidden))
    except UserError as error:
        return None, str(error)
    seen = {at: [s and k not in hidden for k, s in enumerate(words_seen(shape, at, len(words)))] for at in positions}
    return torch.stack([chart.chances(at, known) for at, known in seen.items()]), ""
