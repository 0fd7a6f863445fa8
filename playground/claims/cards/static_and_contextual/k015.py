"""Distributional vectors predict taxonomic properties well and fail on attributive ones, which texts leave unsaid."""

import torch

from playground.analysis.words.vectors import nearest
from playground.claims import Arm, Claim, Lab, alike, higher
from playground.corpora.tinyworld.presets.kinds import COLOURS, TAXONOMY
from playground.objectives.ops.cooccurrence import cooccurrence, dense, factors, ppmi

KIND = {thing: kind for kinds in TAXONOMY.values() for kind, things in kinds.items() for thing in things.split()}


def shared(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of the 3 nearest things with the same kind or colour, from 0 by chance to 1, from counts of reports."""
    trait, _, report = arm.figure.partition(", ")
    corpus, value = lab.corpus(arm), KIND if trait == "kind" else COLOURS
    of_report = corpus.labels["report"] == corpus.label_names["report"].index(report)
    table = dense(cooccurrence(corpus.ids[of_report], corpus.tokenizer.specials), len(corpus.tokenizer))
    vectors, things = factors(ppmi(table), 16), {corpus.tokenizer.encode_word(thing)[0]: thing for thing in KIND}
    hits, guesses = [], []
    for number, thing in things.items():
        others = torch.tensor([other for other in things if other != number])
        near = nearest(vectors[[number]], vectors, others, 3)[0][0].tolist()
        hits += [value[things[other]] == value[thing] for other in near]
        guesses += [value[things[other]] == value[thing] for other in others.tolist()]
    chance = sum(guesses) / len(guesses)
    return (sum(hits) / len(hits) - chance) / (1 - chance)


K015 = Claim(
    title="Dogs are animals, but swans are white?",
    source="Qiu et al., sec. 3.3.1; Rubinstein et al. 2015, P15-2119",
    prediction="From reports without the obvious, the nearest things share the kind but not the colour; from reports "
    "that say everything they share the colour more often.",
    otherwise="The colour is known without being stated, or the kind is not known.",
    common=Arm("GloVe", corpus="kinds", steps=0),
    arms={
        f"{trait}, {short}": {"figure": f"{trait}, {report}"}
        for report, short in (("the unusual", "unsaid"), ("all", "said"))
        for trait in ("kind", "colour")
    },
    rules=(
        higher("kind, unsaid", 0.0, by=0.25, exact=True), alike("colour, unsaid", 0.0, within=0.1, exact=True),
        higher("colour, said", "colour, unsaid", by=0.25, exact=True),
    ),
    compute=shared,
    unit="(0 is chance, 1 is always)",
    scale="Seventeen things in generated reports. Vectors are PPMI with 16 singular values, without training, so there "
    "is no chance in it; the paper has vectors of real text and a classifier.",
    seeds=1,
)  # fmt: skip
