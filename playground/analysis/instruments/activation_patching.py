"""States of one sentence put into another (causal tracing, arXiv:2202.05262, sec. 2; arXiv:2004.12265)."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.analysis.cloze import MASK, gap_of, log_chances, with_gap
from playground.analysis.finding import Bars, Finding, Matrix, Number, Table
from playground.analysis.instrument import Instrument, has_residual_states, scores_words
from playground.analysis.subject import Subject
from playground.analysis.words.vectors import id_of
from playground.batch import Batch, Tokens, token_strings
from playground.corpora import pick
from playground.errors import UserError
from playground.knob import knob
from playground.models.taps import answering, head_names, tapped


@dataclass(frozen=True)
class Settings:
    """Two sentences of one length with one gap each, or none: then both are made of a held-out sentence."""

    clean: str = knob("", why=f"A sentence with {MASK} for the word to be predicted; empty: a held-out sentence.")
    corrupted: str = knob("", why="The same with another word or more; read only with a sentence of your own.")
    answer: str = knob("", why="The word whose probability is followed in your sentence; empty: the likeliest.")


@dataclass(frozen=True)
class Pair:
    """Two texts `[1, t]` with a gap at `position` `[1]`, and the id of the answer."""

    clean: Tokens
    corrupted: Tokens
    position: Tensor
    answer: int


def measure(subject: Subject, settings: Settings) -> Finding:
    """How much of the lost log-probability comes back with each state, and each head, of the clean sentence."""
    model, pair = subject.model, _typed(subject, settings) if settings.clean.strip() else _chosen(subject)
    clean, corrupted = (with_gap(model.shape, text, pair.position) for text in (pair.clean, pair.corrupted))
    best, worst = (float(log_chances(model, each)[0, pair.answer]) for each in (clean, corrupted))
    lost = best - worst
    if abs(lost) < 1e-6:
        raise UserError(
            "Both sentences give the answer the same probability, so nothing can be restored; change more words."
        )
    words = _labels(corrupted, clean)
    subject.count(1, "pair of sentences")
    network = answering(model)
    layers = [f"{network}layer{k + 1}" for k in range(model.shape.layers)]
    states = (_patched(subject, pair, clean, layers, len(words)) - worst) / lost
    heads = list(head_names(model, network))
    each = [(float(_whole(subject, pair, clean, head)) - worst) / lost for head in heads]
    grid = {
        "layer": [layer for layer in layers for _ in words],
        "position": words * len(layers),
        "restored": states.flatten().tolist(),
    }
    layer, position = divmod(int(states[:-1].argmax() if len(layers) > 1 else states.argmax()), len(words))
    word = subject.tokenizer.words[pair.answer]
    said = " / ".join(_said(text, pair.position) for text in (pair.clean, pair.corrupted))
    top = max(range(len(heads)), key=lambda k: each[k])
    return Finding(
        f"The state of {words[position]!r} after {layers[layer]} restores {float(states[layer, position]):.0%} of the "
        f"log-probability that {word!r} lost; {heads[top]} restores the most of all heads, {each[top]:.0%}.",
        (Number("log-probability lost", lost, "nats", {"clean": best, "corrupted": worst}),),
        (
            Table("States of the clean sentence patched into the corrupted one", grid,
                  Matrix("layer", "position", "restored"), "share of the loss restored", note=said),
            Table("Heads of the clean sentence patched into the corrupted one", {"head": heads, "restored": each},
                  Bars("head", "restored"), "share of the loss restored", {"all": 1.0}),
        ),
    )  # fmt: skip


def _patched(subject: Subject, pair: Pair, clean: Batch, layers: list[str], positions: int) -> Tensor:
    """The log-probability of the answer with one state of the clean sentence, `[layers, n]`; a row for a position."""
    model, rows = subject.model, torch.zeros(positions, dtype=torch.long)
    batch = with_gap(model.shape, pick(pair.corrupted, rows), pair.position[rows])
    own = torch.eye(positions, dtype=torch.bool)[..., None]
    found = []
    with torch.no_grad(), tapped(model, *layers) as taps:
        log_chances(model, clean)
        known = dict(taps.values)
        for layer in layers:
            taps.restore()
            taps.change(layer, lambda value, layer=layer: torch.where(own, known[layer], value))
            found.append(log_chances(model, batch)[:, pair.answer])
    return torch.stack(found)


def _whole(subject: Subject, pair: Pair, clean: Batch, head: str) -> Tensor:
    """The log-probability of the answer with all that a head gathers in the clean sentence."""
    model = subject.model
    with torch.no_grad(), tapped(model, head) as taps:
        log_chances(model, clean)
        taps.change(head, taps[head])
        return log_chances(model, with_gap(model.shape, pair.corrupted, pair.position))[0, pair.answer]


def _typed(subject: Subject, settings: Settings) -> Pair:
    (clean, position), (corrupted, other) = (gap_of(s, subject.tokenizer) for s in (settings.clean, settings.corrupted))
    if clean.ids.shape != corrupted.ids.shape or not torch.equal(position, other):
        raise UserError(
            f"The sentences have {clean.ids.shape[1]} and {corrupted.ids.shape[1]} tokens and gaps at "
            f"{int(position) + 1} and {int(other) + 1}; write two of one length with {MASK} at the same position."
        )
    likeliest = int(log_chances(subject.model, with_gap(subject.model.shape, clean, position))[0].argmax())
    return Pair(clean, corrupted, position, id_of(subject, settings.answer) if settings.answer.strip() else likeliest)


def _chosen(subject: Subject) -> Pair:
    """A held-out sentence with the gap and the one other word, out of all, that change the true word's chance most."""
    text = subject.sentence()
    length = text.ids.shape[1]
    gap, other = (~torch.eye(length, dtype=torch.bool)).nonzero(as_tuple=True)
    rows = pick(text, torch.zeros(len(gap), dtype=torch.long))
    strange = subject.corpus.ids[subject.tokenizer.specials.is_word(subject.corpus.ids)]
    drawn = strange[torch.randint(len(strange), (len(gap),), generator=subject.rng("strange words"))].long()
    changed = replace(rows, ids=rows.ids.scatter(1, other[:, None], drawn[:, None]))
    true = text.ids[0][gap][:, None]
    shape = subject.model.shape
    before, after = (log_chances(subject.model, with_gap(shape, each, gap)).gather(1, true) for each in (rows, changed))
    most = int((before - after).argmax())
    return Pair(text, pick(changed, torch.tensor([most])), gap[most : most + 1], int(true[most]))


def _labels(corrupted: Batch, clean: Batch) -> list[str]:
    """The words at each position, both where they differ."""
    each = [token_strings(b.inputs.ids[0], b.inputs.valid[0], b.tokens.vocabulary) for b in (clean, corrupted)]
    return [f"{k + 1} {a}" if a == b else f"{k + 1} {a}/{b}" for k, (a, b) in enumerate(zip(*each, strict=True))]


def _said(text: Tokens, position: Tensor) -> str:
    words = token_strings(text.ids[0], text.valid[0], text.vocabulary)
    return " ".join(MASK if k == int(position) else word for k, word in enumerate(words))


ACTIVATION_PATCHING = Instrument(
    name="activation patching",
    group="Intervene",
    question="Which states and heads carry the information that decides the prediction?",
    source="arXiv:2202.05262, sec. 2, with another word instead of noise; arXiv:2004.12265",
    measure=measure,
    rows=("V27",),
    needs=(
        scores_words,
        has_residual_states,
    ),
    settings=Settings(),
)
