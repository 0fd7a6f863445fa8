"""Whether the generator's loss and the discriminator's loss pull word vectors in opposite directions (DeBERTaV3)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from playground.analysis.finding import Bars, Curve, Finding, Number, Table
from playground.analysis.instrument import Instrument, has_table
from playground.analysis.predictions import with_generator_of
from playground.analysis.subject import Subject
from playground.answers import Answer, Replaced, total_loss
from playground.corpora import pick
from playground.knob import knob
from playground.models import LanguageModel
from playground.models.model import make_model, with_merged_embeddings
from playground.optimisers import AdamW

SHOWN, POINTS, ROWS, RATE = 12, 12, 32, 1e-3
"""Words of the table, points of a curve after its start, and texts and learning rate of a step of further training."""

SMALL = 0.05
"""A cosine this near to 0 is that of gradients that have little to do with each other."""


@dataclass(frozen=True)
class Settings:
    """How much text both losses are measured on, and how copies of the model train on."""

    texts: int = knob(64, 8, 512, unit="texts", why="More texts, less noise from the words that happen to be hidden.")
    steps: int = knob(60, 0, 1000, unit="steps", why="How far copies of the model train on; 0 for no curve.")


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


def pulls_of(subject: Subject, texts: int) -> Mapping[str, list[Tensor]]:
    """The gradients of both losses on every table of `tables`; that of MLM is on the first one, of RTD on the last."""
    model, batch = subject.model, subject.batch(texts)
    parts = [part for part in batch.with_auxiliary for _ in part.targets]
    answers = list(zip(parts, model(batch), strict=True))
    mlm = next(answer for part, answer in answers if part.is_generator)
    rtd = next(answer for _, answer in answers if isinstance(answer.target.kind, Replaced))
    weights = list(tables(model).values())
    return {"MLM": gradients(_loss(mlm), weights), "RTD": gradients(_loss(rtd), weights)}


def measure(subject: Subject, settings: Settings) -> Finding:
    """Both gradients on every table, their cosine now and as training goes on, and the words that are most opposed."""
    batch, by_table = subject.batch(settings.texts), tables(subject.model)
    pulls = pulls_of(subject, settings.texts)
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
        (sizes, _by_word(subject, first, last, read), *_courses(subject, settings)),
    )


def shared_as(model: LanguageModel, way: str) -> LanguageModel:
    """A copy that answers the same and whose generator shares what `way` says, one of those of `tie_generator`.

    Two tables cannot become one that answers the same; from a shared table every way but "all" can be reached.
    """
    made = make_model(replace(model.shape, tie_generator=way), model.token_embedding.num_embeddings, torch.Generator())
    state, own = with_merged_embeddings(model).state_dict(), {}
    for name in made.state_dict():
        plain = name.replace(".delta", ".weight")
        theirs = plain.replace("token_embedding", "generator_token_embedding").replace("network.", "generator.")
        ours = name.replace("generator_token_embedding", "token_embedding").replace("generator.", "network.")
        if plain == name:
            own[name] = state.get(name, state.get(ours))
        else:
            own[name] = state[plain] - state.get(theirs, state[plain])
    made.load_state_dict(own)
    return made.to(model.token_embedding.weight.device).eval()


def _courses(subject: Subject, settings: Settings) -> Iterator[Table]:
    """The cosine while copies of the model train on, each with another way of sharing the word vectors."""
    if not settings.steps:
        return
    own = subject.model.shape.tie_generator
    ways = dict.fromkeys((own, *(() if own == "all" else ("none", "gradient-disentangled"))))
    found = [(way, *point) for k, way in enumerate(ways) for point in _course(subject, settings, way, k, len(ways))]
    names, steps, cosines = zip(*found, strict=True)
    columns = {"step": list(steps), "cosine": list(cosines), "generator shares": [WAYS[name] for name in names]}
    yield Table(
        "Cosine over further steps", columns, Curve("step", "cosine", "generator shares"), lines={"right angle": 0.0},
        note="Copies train on from this model, on the same texts with the same gaps; the model stays as it was. Only "
        "where the table is shared do both gradients reach the same weights.",
    )  # fmt: skip


WAYS = {
    "none": "nothing", "table": "the word vectors", "embeddings": "all embeddings",
    "gradient-disentangled": "gradient-disentangled", "all": "every layer",
}  # fmt: skip


def _course(subject: Subject, settings: Settings, way: str, number: int, ways: int) -> Iterator[tuple[int, float]]:
    """The step and the cosine at a few steps of AdamW from the model, without dropout."""
    model, every = shared_as(subject.model, way), max(1, settings.steps // POINTS)
    subject = replace(subject, model=model, objective=with_generator_of(subject.objective, model))
    rows = subject.corpus.windows(subject.held_out.ids.shape[1])
    optimiser = AdamW(model.parameters(), lr=RATE)
    for step in range(settings.steps + 1):
        if step % every == 0 or step == settings.steps:
            pulls = pulls_of(subject, settings.texts)
            yield step, cosine(pulls["MLM"][0], pulls["RTD"][-1])
        if step == settings.steps:
            return
        rng = subject.rng("tug of war", step)
        texts = pick(rows, torch.randint(len(rows.ids), (min(ROWS, len(rows.ids)),), generator=rng))
        optimiser.zero_grad()
        total_loss(model(subject.objective.batch(texts, rng)))[0].backward()
        optimiser.step()
        subject.report(number * settings.steps + step, ways * settings.steps)


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
    rows=("O76",),
    needs=(has_generator, has_table),
    settings=Settings(),
)
