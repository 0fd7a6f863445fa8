"""Is attention an explanation? Permuted weights, and attention beside gradients (arXiv:1902.10186, sec. 4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from scipy.stats import kendalltau
from torch import Generator, Tensor

from playground.analysis.cloze import log_chances, with_gap
from playground.analysis.finding import Finding, Number, Scatter, Table
from playground.analysis.gradients import leaf_of, states_of
from playground.analysis.instrument import Instrument, has_residual_states, has_table
from playground.analysis.subject import Subject
from playground.batch import Batch, Tokens, token_strings
from playground.knob import knob
from playground.models import LanguageModel
from playground.models.taps import answering, head_names


@dataclass(frozen=True)
class Settings:
    """How much is read, and how often it is shuffled."""

    count: int = knob(60, 5, 400, unit="sentences", why="One word of each is predicted.")
    shuffles: int = knob(20, 2, 100, unit="permutations", why="The change is the median over them, as in the paper.")


def permuted(weights: Tensor, rng: Generator) -> Tensor:
    """The weights of each query dealt out anew among the keys that it may attend to, `[b, n, m]`."""
    closed = weights == 0
    noise = torch.rand(weights.shape, generator=rng).masked_fill(closed, 2.0)
    places = closed.long().argsort(dim=-1, stable=True)
    return torch.zeros_like(weights).scatter(-1, places, weights.gather(-1, noise.argsort(-1)))


def measure(subject: Subject, settings: Settings) -> Finding:
    """The change of the prediction under permuted weights, and Kendall's tau of attention with gradients."""
    model, tokens = subject.model, subject.sentences(settings.count)
    place = (torch.rand(len(tokens.ids), generator=subject.rng("gaps")) * tokens.lengths).long()
    example = with_gap(model.shape, tokens, place)
    chances = log_chances(model, example)
    change = _change(subject, example, chances.exp(), settings.shuffles)
    taus = torch.tensor(list(_taus(model, tokens, place)), dtype=torch.float64)
    known = taus[~taus.isnan()]
    still = float((change < 0.1).float().mean())
    sure = chances.amax(1).exp()
    words = [token_strings(ids, valid, tokens.vocabulary) for ids, valid in zip(tokens.ids, tokens.valid, strict=True)]
    said = list(map(" ".join, words))
    columns = {"probability of its answer": sure.tolist(), "change": change.tolist(), "sentence": said}
    mean = float(known.mean()) if len(known) else float("nan")
    return Finding(
        f"With all attention weights permuted {still:.0%} of the predictions stay nearly the same; attention and "
        f"gradients order the words with a rank correlation of {mean:.2f}.",
        (
            Number("median change of the prediction", float(change.median()), "total variation distance",
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
def _change(subject: Subject, example: Batch, chances: Tensor, shuffles: int) -> Tensor:
    """The median total variation distance `[b]` over permutations of all weights of the encoder."""
    model, rng = subject.model, subject.rng("permutations")
    heads = head_names(model, answering(model))
    names = [f"{head}.weights" for head in heads if not head.startswith("decoder")]
    with model.tapped(*names) as taps:
        for name in names:
            taps.change(name, lambda weights: permuted(weights, rng))
        found = [(log_chances(model, example).exp() - chances).abs().sum(1) / 2 for _ in range(shuffles)]
    return torch.stack(found).median(0).values


def _taus(model: LanguageModel, tokens: Tokens, places: Tensor) -> Iterator[float]:
    """Of each sentence, how alike the last layer's mean attention and the gradients order its words."""
    example = with_gap(model.shape, tokens, places)
    weights = _last_weights(model, example)
    slopes = _slopes(model, example)
    question = example.questions[0]
    for row in range(len(tokens.ids)):
        at = example.stream_of(question)
        query = int(question.loss_mask[row].nonzero()[0])
        looks = (
            weights[row, min(query, weights.shape[1] - 1)]
            if at is example.inputs
            else weights[row][example.inputs.valid[row]].mean(0)
        )
        seen = looks > 0
        pair = looks[seen].numpy(), slopes[row][seen].numpy()
        yield float(kendalltau(*pair).statistic) if int(seen.sum()) > 2 else float("nan")  # type: ignore[attr-defined]


@torch.no_grad()
def _last_weights(model: LanguageModel, example: Batch) -> Tensor:
    """The mean over heads of the last layer of the encoder, `[b, n, m]`."""
    return model.attention(example)["encoder"][-1].mean(1)


def _slopes(model: LanguageModel, example: Batch) -> Tensor:
    """The size of the gradient of the likeliest answer's log-probability by each word vector, `[b, m]`."""
    [question], leaf = example.questions, leaf_of(model, example.inputs)
    with torch.enable_grad():
        hidden = states_of(model, example, question, leaf)[question.loss_mask]
        scores = model.score(hidden, "vocabulary", model.network_of(example)).log_softmax(-1)
        [slope] = torch.autograd.grad(scores.amax(-1).sum(), leaf)
    return slope.norm(dim=-1)


EXPLANATION = Instrument(
    name="attention as explanation",
    group="Attention",
    question="Do the attention weights explain the prediction?",
    source="arXiv:1902.10186, sec. 4; there one layer of attention, here all heads of the encoder",
    measure=measure,
    rows=("V38",),
    needs=(has_residual_states, has_table),
    settings=Settings(),
)
