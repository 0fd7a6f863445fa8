"""Whether the generator's loss and the discriminator's loss pull word vectors in opposite directions (DeBERTaV3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from playground.analysis.finding import Bars, Finding, Number, Table
from playground.analysis.instrument import Instrument, has_table
from playground.analysis.subject import Subject
from playground.answers import Answer, Replaced
from playground.knob import knob
from playground.models import LanguageModel

SHOWN = 12

SMALL = 0.05
"""A cosine this near to 0 is that of gradients that have little to do with each other."""


@dataclass(frozen=True)
class Settings:
    """How much text both losses are measured on."""

    texts: int = knob(64, 8, 512, unit="texts", why="More texts, less noise from the words that happen to be hidden.")


def has_generator(subject: Subject) -> str:
    """Its objective trains a generator and a network that detects its words."""
    if not subject.objective.proposes or not subject.model.shape.generator_ratio:
        return f"{subject.objective.name} trains no generator, so only one loss reaches the word vectors."
    return ""


def tables(model: LanguageModel) -> dict[str, nn.Parameter]:
    """The weights from which word vectors are made, by what reads them; one where both networks share it."""
    own = dict(model.named_parameters())
    if model.shape.tie_generator == "gradient-disentangled":
        return {"E_G": own["generator_token_embedding.weight"], "E_Δ": own["token_embedding.delta"]}
    if model.shape.tie_generator == "none":
        return {"generator": own["generator_token_embedding.weight"], "discriminator": own["token_embedding.weight"]}
    return {"shared": own["token_embedding.weight"]}


def gradients(loss: Tensor, weights: Sequence[Tensor]) -> list[Tensor]:
    """The gradient of a loss on each table `[v, d]`; 0 where it has none."""
    found = torch.autograd.grad(loss, weights, retain_graph=True, allow_unused=True)
    return [torch.zeros_like(w) if g is None else g for w, g in zip(weights, found, strict=True)]


def cosine(one: Tensor, other: Tensor) -> float:
    """The cosine of the angle between two gradients of one shape; 0 where one of them is 0."""
    return float(cosine_similarity(one.flatten(), other.flatten(), dim=0))


def measure(subject: Subject, settings: Settings) -> Finding:
    """Both gradients on every table, their cosine, and the words on which they are most opposed."""
    model, batch = subject.model, subject.batch(settings.texts)
    parts = [part for part in batch.with_auxiliary for _ in part.targets]
    answers = list(zip(parts, model(batch), strict=True))
    mlm = next(answer for part, answer in answers if part.is_generator)
    rtd = next(answer for _, answer in answers if isinstance(answer.target.kind, Replaced))
    by_table = tables(model)
    pulls = {name: gradients(_loss(answer), list(by_table.values())) for name, answer in (("MLM", mlm), ("RTD", rtd))}
    first, last = pulls["MLM"][0], pulls["RTD"][-1]
    found = cosine(first, last)
    columns = {
        "table": [name for _ in pulls for name in by_table],
        "loss": [loss for loss in pulls for _ in by_table],
        "gradient": [float(g.norm()) for each in pulls.values() for g in each],
    }
    sizes = Table(
        "Gradient of each loss on each table of word vectors", columns, Bars("table", "gradient", "loss"),
        unit="L2 norm", note="RTD counts with its weight. A 0 is exact.",
    )  # fmt: skip
    read = batch.tokens.ids[batch.tokens.valid].unique()
    words = Number(
        "words with opposed gradients", _opposed(first[read], last[read]), "share of the words", {"even": 0.5}
    )
    return Finding(
        _headline(found, len(by_table)),
        (Number("cosine of the two gradients", found, "", {"right angle": 0.0}), words),
        (sizes, _by_word(subject, first, last, read)),
    )


def _loss(answer: Answer) -> Tensor:
    return answer.target.weight * answer.mean()


def _opposed(one: Tensor, other: Tensor) -> float:
    """The share of rows whose gradients have a cosine below 0."""
    return float((cosine_similarity(one, other) < 0).float().mean())


def _by_word(subject: Subject, one: Tensor, other: Tensor, read: Tensor) -> Table:
    """The words whose gradients weigh most in the product of both, the most opposed first."""
    product = (one * other).sum(1)[read]
    chosen = product.abs().topk(min(SHOWN, len(read))).indices
    chosen = chosen[product[chosen].argsort()]
    each = cosine_similarity(one[read], other[read])[chosen]
    words = [subject.tokenizer.words[k] for k in read[chosen].tolist()]
    return Table(
        "The words that count most", {"word": words, "cosine": each.tolist()}, Bars("word", "cosine"),
        note="Below 0: the two losses pull this word's vector in opposite directions.",
    )  # fmt: skip


def _headline(found: float, tables: int) -> str:
    """What the cosine means, in words."""
    if abs(found) < SMALL:
        way = "nearly at right angles: a step for one loss hardly changes the other"
    else:
        way = "in opposite directions: a step for one loss raises the other" if found < 0 else "in similar directions"
    if tables == 1:
        return f"On the shared table the gradients of MLM and RTD are {way} (cosine {found:.3f})."
    return (
        "Each table has the gradient of one loss only, so there is no tug of war; on one table the two gradients would "
        f"be {way} (cosine {found:.3f})."
    )


TUG_OF_WAR = Instrument(
    name="tug of war",
    group="Training",
    question="Do the two losses of ELECTRA pull the word vectors in opposite directions?",
    source="arXiv:2111.09543, sec. 3.2; the cosine of the gradients is ours",
    measure=measure,
    needs=(has_generator, has_table),
    settings=Settings(),
)
