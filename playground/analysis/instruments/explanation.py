"""Is attention an explanation? Permuted weights, and attention beside gradients (arXiv:1902.10186, sec. 4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import scipy
import torch
from torch import Generator, Tensor

from playground.analysis.cloze import log_chances, with_gap
from playground.analysis.finding import Finding, Number, Scatter, Table
from playground.analysis.gradients import leaf_of, states_of
from playground.analysis.instrument import Instrument, has_residual_states, has_table, scores_words
from playground.analysis.subject import SENTENCES, Subject
from playground.batch import Batch, token_strings
from playground.knob import knob
from playground.models import LanguageModel
from playground.models.taps import answering, head_names, tapped


@dataclass(frozen=True)
class Settings:
    """How many sentences are read, and how often their weights are permuted."""

    count: int = knob(60, 5, 400, unit="sentences", why="One word of each is predicted.")
    shuffles: int = knob(20, 2, 100, unit="permutations", why="The change is the median over them, as in the paper.")


def permuted(weights: Tensor, rng: Generator) -> Tensor:
    """The weights of each query permuted among the keys that it may attend to, `[b, n, m]`."""
    closed = weights == 0
    noise = torch.rand(weights.shape, generator=rng).masked_fill(closed, 2.0)
    positions = closed.long().argsort(dim=-1, stable=True)
    return torch.zeros_like(weights).scatter(-1, positions, weights.gather(-1, noise.argsort(-1)))


def measure(subject: Subject, settings: Settings) -> Finding:
    """The change of the prediction under permuted weights, and Kendall's tau of attention with gradients."""
    model, tokens = subject.model, subject.sentences(settings.count)
    subject.count(len(tokens.ids), SENTENCES, settings.count)
    position = (torch.rand(len(tokens.ids), generator=subject.rng("gaps")) * tokens.lengths).long()
    batch = with_gap(model.shape, tokens, position)
    chances = log_chances(model, batch).exp()
    change = _change(subject, batch, chances, settings.shuffles)
    taus = torch.tensor(list(_taus(model, batch)), dtype=torch.float64)
    known = taus[~taus.isnan()]
    still = float((change < 0.1).float().mean())
    words = [token_strings(ids, valid, tokens.vocabulary) for ids, valid in zip(tokens.ids, tokens.valid, strict=True)]
    said = list(map(" ".join, words))
    columns = {"probability of its answer": chances.amax(1).tolist(), "change": change.tolist(), "sentence": said}
    mean = float(known.mean()) if len(known) else float("nan")
    return Finding(
        f"With permuted attention weights {still:.0%} of the predictions stay nearly the same; attention and "
        f"gradients rank the words with a correlation of {mean:.2f}.",
        (
            Number("median change of the prediction", float(change.quantile(0.5)), "total variation distance",
                   {"no change": 0.0, "all of it": 1.0}),
            Number("attention against gradients", mean, "Kendall's rank correlation",
                   {"chance": 0.0, "the same order": 1.0}),
        ),
        (
            Table("Permuted weights", columns, Scatter("probability of its answer", "change", "sentence"),
                  note="Each point is a sentence; its change is the median total variation distance."),
            Table("Attention against gradients", {"sentence": said, "rank correlation": taus.tolist()}),
        ),
    )  # fmt: skip


@torch.no_grad()
def _change(subject: Subject, batch: Batch, chances: Tensor, shuffles: int) -> Tensor:
    """The median total variation distance `[b]` over permutations of all weights of the encoder."""
    model, rng = subject.model, subject.rng("permutations")
    heads = head_names(model, answering(model))
    names = [f"{head}.weights" for head in heads if not head.startswith("decoder")]
    with tapped(model, *names) as taps:
        for name in names:
            taps.change(name, lambda weights: permuted(weights, rng))
        found = [(log_chances(model, batch).exp() - chances).abs().sum(1) / 2 for _ in range(shuffles)]
    return torch.stack(found).quantile(0.5, dim=0)


def _taus(model: LanguageModel, batch: Batch) -> Iterator[float]:
    """Kendall's tau of attention and gradients for each sentence: the last layer's weights, averaged over heads.

    The query is the gap; where a decoder answers, it is the mean over all words of the encoder.
    """
    weights = model.attention(batch)["encoder"][-1].mean(1)  # [b, n, m]
    slopes, target = _slopes(model, batch), batch.targets[0]
    for row in range(len(weights)):
        queries = batch.inputs.valid[row] if target.at_decoder else target.loss_mask[row]
        looks = weights[row][queries].mean(0)
        seen = looks > 0
        pair = looks[seen].numpy(), slopes[row][seen].numpy()
        yield float(scipy.stats.kendalltau(*pair).statistic) if int(seen.sum()) > 2 else float("nan")  # type: ignore[attr-defined]


def _slopes(model: LanguageModel, batch: Batch) -> Tensor:
    """The size of the gradient of the likeliest answer's log-probability by each word vector, `[b, m]`."""
    [target], leaf = batch.targets, leaf_of(model, batch.inputs)
    with torch.enable_grad():
        hidden = states_of(model, batch, target, leaf)[target.loss_mask]
        scores = model.score(hidden, "vocabulary", model.network_of(batch)).log_softmax(-1)
        [slope] = torch.autograd.grad(scores.amax(-1).sum(), leaf)
    return slope.norm(dim=-1)


EXPLANATION = Instrument(
    name="attention as explanation",
    group="Attention heads",
    question="Do the attention weights explain the prediction?",
    source="arXiv:1902.10186, sec. 4; there one layer of attention, here all heads of the encoder",
    measure=measure,
    rows=("V38",),
    needs=(scores_words, has_residual_states, has_table),
    settings=Settings(),
)
