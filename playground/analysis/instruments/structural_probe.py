"""The structural probe, and trees without supervision beside it (Hewitt and Manning 2019, N19-1419)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.analysis.finding import Curve, Finding, Matrix, Number, Table, Tree, columns_of
from playground.analysis.instrument import Instrument, attends, labels
from playground.analysis.probing.classifier import split_by
from playground.analysis.probing.reading import both_states, probing_texts
from playground.analysis.subject import Subject
from playground.analysis.trees.gold import GoldTrees, chain_uuas, gold_trees, predicted_edges, rooted, uuas
from playground.analysis.trees.structural import (
    TreeScores,
    fit_depths,
    fit_distances,
    score_depths,
    score_distances,
    squared_distances,
    standardised,
)  # fmt: skip
from playground.analysis.trees.unsupervised import attention_costs, plain_attention
from playground.batch import Tokens
from playground.corpora import pick
from playground.errors import UserError
from playground.knob import knob

DRAWN = 4
"""Sentences whose trees are drawn: the longest of those tested."""


@dataclass(frozen=True)
class Settings:
    """The rank of the map, how much text, and how long it is fitted."""

    rank: int = knob(16, 1, 128, unit="dimensions", why="The dimensions of the space that the map leads into.")
    count: int = knob(400, 60, 2000, unit="sentences", why="More sentences, smaller errors, more seconds.")
    steps: int = knob(120, 3, 1000, unit="gradient steps", why="Steps of training for a map.")


Part = tuple[Tensor, GoldTrees]
"""The rows of some sentences, and their trees."""


def trees_of(subject: Subject, count: int) -> tuple[Tokens, Part, Part]:
    """Sentences with one gold tree each: all, those to fit on, and those to test on."""
    tokens = probing_texts(subject, count).tokens
    names = subject.corpus.label_names.get("pos", ())
    gold = gold_trees(tokens, names.index("PUNCT") if "PUNCT" in names else -1)
    if len(gold.heads) < 6:
        raise UserError(f"{len(gold.heads)} of these sentences are trees; the probe needs 6. Choose more sentences.")
    split = split_by(torch.arange(len(gold.heads)), subject.seed)
    train, test = (
        (rows, GoldTrees(pick(gold.tokens, rows), gold.heads[rows], gold.counted[rows]))
        for rows in (split.train.nonzero()[:, 0], split.test.nonzero()[:, 0])
    )
    subject.count(len(test[0]), "trees tested")
    return gold.tokens, train, test


def measure(subject: Subject, settings: Settings) -> Finding:
    """Fit distances at every level of the model and of a random encoder; depths at the level of the best distances."""
    tokens, (train_rows, train), (test_rows, test) = trees_of(subject, settings.count)
    own, random = both_states(subject, tokens)
    scored: dict[str, list[TreeScores]] = {}
    maps: list[Tensor] = []
    for name, levels in (("structural probe", own), ("structural probe, random encoder", random)):
        for k, level in enumerate(levels):
            x, y = standardised(level[train_rows], level[test_rows], train.tokens.valid)
            found = fit_distances(x, train, settings.rank, subject.rng("structural probe", k), settings.steps)
            maps.append(squared_distances(y @ found))
            scored.setdefault(name, []).append(score_distances(maps[-1], test))
    scored["no probe: plain distances"] = [score_distances(squared_distances(level[test_rows]), test) for level in own]
    best = max(range(len(own)), key=lambda k: scored["structural probe"][k].uuas)
    x, y = standardised(own[best][train_rows], own[best][test_rows], train.tokens.valid)
    depth_map = fit_depths(x, train, settings.rank, subject.rng("depth probe"), settings.steps)
    depth = score_depths((y @ depth_map).square().sum(-1), test)
    one, other = (scored[f"structural probe{of}"][best] for of in ("", ", random encoder"))
    chain = chain_uuas(test)
    beside = {"random encoder": other.uuas, "embeddings": scored["structural probe"][0].uuas, "chain": chain,
              "no probe": scored["no probe: plain distances"][best].uuas}  # fmt: skip
    return Finding(
        f"A map of rank {settings.rank} at {subject.levels[best]} recovers {one.uuas:.2f} of the gold arcs "
        f"(chain of neighbours {chain:.2f}, random encoder {other.uuas:.2f}).",
        (
            Number("UUAS", one.uuas, "share of gold arcs", beside),
            Number("Spearman of distances", one.spearman, "", {"random encoder": other.spearman}),
            Number("roots found", depth.root, "share of sentences"),
            Number("Spearman of depths", depth.spearman),
        ),
        (_levels(subject, scored, chain), _lengths(one, other), _drawn(test, maps[best])),
    )


def _levels(subject: Subject, scored: dict[str, list[TreeScores]], chain: float) -> Table:
    rows = [
        (level, one.uuas, one.spearman, name)
        for name, scores in scored.items()
        for level, one in zip(subject.levels, scores, strict=True)
    ]
    columns = columns_of(("level", "UUAS", "Spearman", "trees"), rows)
    note = "UUAS leaves punctuation out. Unlike the paper: labels of our grammar, full batches, a rate that falls."
    return Table("Gold arcs found, by level", columns, Curve("level", "UUAS", "trees"), "share", {"chain": chain}, note)


def _lengths(one: TreeScores, other: TreeScores) -> Table:
    """Spearman's correlation of distances by the length of a sentence."""
    rows = [
        (n, s, name)
        for name, scores in (("model", one), ("random encoder", other))
        for n, s in scores.by_length.items()
    ]
    columns = columns_of(("length", "Spearman", "of"), rows)
    return Table("Spearman of distances by length", columns, Curve("length", "Spearman", "of"))


def _drawn(gold: GoldTrees, distances: Tensor) -> Table:
    """Predicted and gold trees of a few sentences."""
    rows = []
    for number, row in enumerate(gold.tokens.lengths.argsort(descending=True, stable=True)[:DRAWN].tolist()):
        length, heads = int(gold.tokens.lengths[row]), gold.heads[row].tolist()
        edges = predicted_edges(distances[row], gold.counted[row])
        root = next(k for k in range(length) if heads[k] < 0)
        words = [gold.tokens.vocabulary[k] for k in gold.tokens.ids[row, :length].tolist()]
        trees = zip(words, rooted(edges, root, length), heads[:length], strict=True)
        rows += [(*each, f"sentence {number + 1}") for each in trees]
    columns = columns_of(("word", "head", "gold", "sentence"), rows)
    note = "The predicted tree is undirected; it is drawn from the gold root."
    return Table("Predicted and gold trees", columns, Tree("word", "head", "gold", "sentence"), note=note)


def measure_attention(subject: Subject, settings: Settings) -> Finding:
    """Maximum spanning trees over the weights of each head; the best head is chosen on one part, tested on another."""
    tokens, (train_rows, train), (test_rows, test) = trees_of(subject, settings.count)
    costs = attention_costs(plain_attention(subject.model, tokens))
    heads = [(layer, head) for layer in range(costs.shape[0]) for head in range(costs.shape[1])]
    chosen = {at: uuas(costs[at][train_rows], train) for at in heads}
    best = max(heads, key=lambda at: chosen[at])
    found, chain = uuas(costs[best][test_rows], test), chain_uuas(test)
    mean = uuas(costs.mean((0, 1))[test_rows], test)
    columns = {
        "layer": [f"layer {layer + 1}" for layer, _ in heads],
        "head": [head + 1 for _, head in heads],
        "UUAS": [chosen[at] for at in heads],
    }
    note = "On the sentences on which the best head is chosen."
    table = Table("Gold arcs in the spanning tree of each head", columns, Matrix("layer", "head", "UUAS"),
                  "share of gold arcs", {"chain": chain_uuas(train)}, note)  # fmt: skip
    return Finding(
        f"The best head, {best[1] + 1} of layer {best[0] + 1}, finds {found:.2f} of the gold arcs; "
        f"the chain of neighbours finds {chain:.2f}.",
        (Number("UUAS of the best head", found, "share of gold arcs", {"chain": chain, "mean of all heads": mean}),),
        (table, _drawn(test, costs[best][test_rows])),
    )


@dataclass(frozen=True)
class AttentionSettings:
    """How much text is read."""

    count: int = knob(200, 60, 2000, unit="sentences", why="More sentences, smaller errors, more seconds.")


STRUCTURAL_PROBE = Instrument(
    name="structural probe",
    group="Probes",
    question="Is there a linear map under which distances between states are distances in the syntax tree?",
    source="Hewitt and Manning 2019, N19-1419",
    measure=measure,
    rows=("V06", "V10"),
    needs=(labels("pos", "head"),),
    settings=Settings(),
)

ATTENTION_TREES = Instrument(
    name="trees in attention",
    group="Probes",
    question="Do the strongest attention weights of a head form the syntax tree?",
    source="after arXiv:1906.04341 and arXiv:1911.12246",
    measure=measure_attention,
    rows=("V10",),
    needs=(attends, labels("pos", "head")),
    settings=AttentionSettings(),
)
