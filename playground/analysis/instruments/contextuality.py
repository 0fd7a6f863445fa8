"""How contextual states are, where senses stand, and in how many dimensions (arXiv:1909.00512, arXiv:1906.02715)."""

from dataclasses import dataclass
from math import isnan, nan

import torch
from torch import Tensor

from playground.analysis.finding import Curve, Finding, Matrix, Number, Scatter, Table, melt
from playground.analysis.instrument import Instrument, reads_sentences
from playground.analysis.instruments.levels_of_sense import ambiguous
from playground.analysis.probing.classifier import split_items
from playground.analysis.probing.items import Items
from playground.analysis.probing.reading import both_states, probing_items, probing_texts
from playground.analysis.probing.task import find_probing_task
from playground.analysis.subject import Subject
from playground.analysis.words.contexts import contextuality, participation_ratio, silhouette, subspace_curve
from playground.analysis.words.vectors import in_a_plane
from playground.batch import Tokens
from playground.errors import UserError
from playground.knob import knob

FEWEST, MOST = 5, 40
"""Occurrences of a word that counts, and how many of them are compared."""

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Dimensions of the subspaces that are tried, besides all."""

ENOUGH = 0.95
"""Share of the accuracy with all dimensions from which a subspace suffices."""


@dataclass(frozen=True)
class Settings:
    """How much text is read."""

    count: int = knob(500, 60, 4000, unit="sentences", why="More sentences, more occurrences of each word.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """Anisotropy, self-similarity, similarity within sentences and the first component, by level."""
    tokens = probing_texts(subject, settings.count).tokens
    levels = [level.cpu() for level in subject.states(tokens)]
    found = [contextuality(level, tokens, FEWEST, MOST, subject.rng("random words")) for level in levels]
    of = {
        "random words (anisotropy)": [one.anisotropy for one in found],
        "one word in several sentences": [one.self_similarity for one in found],
        "a word and its sentence": [one.sentence_similarity for one in found],
        "one word, less anisotropy": [one.adjusted_self_similarity for one in found],
        "variance in the first component": [one.explained for one in found],
    }
    columns = melt("level", subject.levels, "value", of, "of")
    used = [participation_ratio(level[tokens.maskable]) for level in levels]
    sizes = {"level": list(subject.levels), "dimensions": used}
    return Finding(
        f"The self-similarity of a word is {found[0].self_similarity:.2f} at {subject.levels[0]} "
        f"and {found[-1].self_similarity:.2f} at {subject.levels[-1]}.",
        (
            Number("self-similarity less anisotropy", found[-1].adjusted_self_similarity, "cosine",
                   {"embeddings": found[0].adjusted_self_similarity}),
            Number("anisotropy", found[-1].anisotropy, "cosine", {"embeddings": found[0].anisotropy}),
            Number("dimensions used", used[-1], "participation ratio", {"width": levels[-1].shape[-1]}),
        ),
        (Table("Similarity by level", columns, Curve("level", "value", "of"), "mean cosine or share"),
         Table("Dimensions used by level", sizes, Curve("level", "dimensions"), "participation ratio of variances")),
    )  # fmt: skip


@dataclass(frozen=True)
class SenseSettings:
    """Which word is shown, and of how much text."""

    word: str = knob("", why="Empty: the most frequent ambiguous word.")
    count: int = knob(1500, 150, 4000, unit="sentences", why="More sentences have more of the few ambiguous words.")


def measure_senses(subject: Subject, settings: SenseSettings) -> Finding:
    """The silhouette of the gold senses of each word by level, of the model and of a random encoder; one word drawn."""
    texts, items = probing_items(subject, find_probing_task("sense"), settings.count)
    words = _ambiguous_words(items)
    own, random = both_states(subject, texts.tokens)
    subject.count(len(words), "words with several senses")
    curves = {
        name: [_mean_silhouette(items, words, level, texts.tokens) for level in levels]
        for name, levels in (("model", own), ("random encoder", random))
    }
    columns = melt("level", subject.levels, "silhouette", curves, "of")
    best = max(range(len(own)), key=lambda k: curves["model"][k])
    shown = _chosen(subject, words, settings.word)
    beside = {"random encoder": curves["random encoder"][best], "embeddings": curves["model"][0]}
    return Finding(
        f"The senses of {len(words)} words are clustered best at {subject.levels[best]}: "
        f"a silhouette of {curves['model'][best]:.2f}.",
        (Number("silhouette", curves["model"][best], "from -1 to 1", beside),),
        (Table("Silhouette of gold senses", columns, Curve("level", "silhouette", "of"), "mean over words",
               {"no clusters": 0.0}),
         *(_cloud(subject, texts.tokens, items, shown, k, level) for k, level in enumerate(own) if k in (0, best))),
    )  # fmt: skip


def _ambiguous_words(items: Items) -> dict[int, Tensor]:
    """The items of each word that has two senses at least twice each."""
    found = {}
    for word in items.types.unique().tolist():
        rows = (items.types == word).nonzero()[:, 0]
        counts = torch.bincount(items.labels[rows])
        if int((counts >= 2).sum()) >= 2:
            found[word] = rows
    if not found:
        raise UserError("No word occurs in two senses, twice in each, in these sentences. Choose more sentences.")
    return found


def _mean_silhouette(items: Items, words: dict[int, Tensor], level: Tensor, tokens: Tokens) -> float:
    x = items.features(level, tokens)
    each = [silhouette(x[rows], items.labels[rows]) for rows in words.values()]
    return sum(each) / len(each)


def _chosen(subject: Subject, words: dict[int, Tensor], name: str) -> int:
    spelt = {subject.tokenizer.words[word]: word for word in words}
    if name and name not in spelt:
        raise UserError(
            f"{name!r} does not have two senses in these sentences; these words do: {', '.join(sorted(spelt))}."
        )
    return spelt[name] if name else max(words, key=lambda word: len(words[word]))


def _cloud(subject: Subject, tokens: Tokens, items: Items, word: int, number: int, level: Tensor) -> Table:
    """All occurrences of a word on the first two principal axes of a level."""
    few = items.pick((items.types == word).nonzero()[:, 0])
    points = in_a_plane(few.features(level, tokens))
    spelt = subject.tokenizer.words
    columns = {
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        "sentence": [
            " ".join(spelt[k] for k in tokens.ids[row, : int(tokens.lengths[row])].tolist()) for row in few.rows
        ],
        "sense": [few.names[k] for k in few.labels.tolist()],
    }
    return Table(f"{spelt[word]} at {subject.levels[number]}", columns, Scatter("x", "y", "sentence", "sense"))


def measure_subspace(subject: Subject, settings: SenseSettings) -> Finding:
    """Accuracy of the sense probe at the top level in few dimensions: trained for senses, principal, random."""
    texts, items = probing_items(subject, find_probing_task("sense"), settings.count)
    x = items.features(subject.states(texts.tokens)[-1].cpu(), texts.tokens)
    split = split_items(items, subject.seed)
    width = x.shape[1]
    sizes = [*(size for size in SIZES if size < width), width]
    scores = subspace_curve(x, items.labels, split, sizes, subject.rng("subspace"))
    columns = melt("dimensions", sizes, "accuracy", {k: [one[k] for one in scores] for k in scores[0]}, "space")
    full = scores[-1]["principal"]
    enough = next((n for n, one in zip(sizes, scores, strict=True) if one["trained"] >= ENOUGH * full), nan)
    which = "No subspace" if isnan(enough) else f"A subspace of {enough} dimensions"
    return Finding(
        f"{which} trained for senses keeps {ENOUGH:.0%} of the accuracy with all {width} dimensions.",
        (Number("dimensions that suffice", enough, "dimensions", {"width": width}),),
        (Table("Sense probe by dimensions", columns, Curve("dimensions", "accuracy", "space"), "share right",
               {"all dimensions": full}, "Trained: linear discriminants, not the paper's probe of distances."),),
    )  # fmt: skip


def learns_positions(subject: Subject) -> str:
    """It has a vector for each position."""
    shape = subject.model.shape
    if shape.kind == "static":
        return "Static vectors do not read positions, so there are no position vectors."
    return "" if shape.positions == "learned" else f"The positions of this model are {shape.positions}, not learned."


@torch.no_grad()
def measure_positions(subject: Subject, settings: object) -> Finding:
    """The cosines of all pairs of learned position vectors."""
    length = subject.held_out.ids.shape[1]
    subject.count(length, "positions")
    halves = "second_" if subject.model.shape.second_positions == "concatenated" else ""
    table = subject.model.network.get_parameter(f"{halves}position_embedding.weight")[:length].cpu()
    unit, positions = torch.nn.functional.normalize(table, dim=-1), torch.arange(length)
    cosines = unit @ unit.T
    near = float(cosines.diagonal(1).mean())
    far = float(cosines[(positions[:, None] - positions).abs() > length // 2].mean())
    columns = {
        "position": positions.repeat_interleave(length).numpy(),
        "other": positions.repeat(length).numpy(),
        "cosine": cosines.flatten().numpy(),
    }
    return Finding(
        f"Vectors of neighbouring positions have a cosine of {near:.2f}, of distant ones {far:.2f}.",
        (Number("neighbouring positions", near, "mean cosine", {"more than half the text apart": far}),),
        (Table("Similarity of position vectors", columns, Matrix("position", "other", "cosine"), "cosine"),),
    )


CONTEXTUALITY = Instrument(
    name="how contextual",
    group="Words",
    question="How much does the vector of a word change with its sentence?",
    source="arXiv:1909.00512",
    measure=measure,
    rows=("V22", "V23"),
    needs=(reads_sentences,),
    settings=Settings(),
)

SENSE_CLUSTERS = Instrument(
    name="sense clusters",
    group="Words",
    question="Do the occurrences of an ambiguous word form a cluster for each sense?",
    source="arXiv:1906.02715, sec. 4",
    measure=measure_senses,
    rows=("V22",),
    needs=(ambiguous,),
    settings=SenseSettings(),
)

SENSE_SUBSPACE = Instrument(
    name="sense subspace",
    group="Words",
    question="How many dimensions are enough to tell the senses apart?",
    source="after arXiv:1906.02715, sec. 4",
    measure=measure_subspace,
    rows=("V23",),
    needs=(reads_sentences, ambiguous),
    settings=SenseSettings(),
)

POSITION_VECTORS = Instrument(
    name="position vectors",
    group="Words",
    question="Are the vectors of neighbouring positions similar?",
    source="arXiv:1810.04805, sec. 3",
    measure=measure_positions,
    rows=("V54",),
    needs=(learns_positions,),
)
