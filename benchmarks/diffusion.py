"""Masked diffusion: one loss under four names, the noise of its estimates, and blocks from LM to diffusion.

`python benchmarks/diffusion.py` trains small models on the corpus everyday; two minutes on one core.
"""

import os
import time
from dataclasses import replace
from statistics import fmean, stdev

import torch

from playground.analysis.lattice import lattice_of
from playground.analysis.predictions import one_row, sentence_of
from playground.answers import total_loss
from playground.corpora import Corpus, open_corpus
from playground.models import LanguageModel
from playground.objectives import Objective, find_objective
from playground.rng import generator
from playground.training import Evaluated, Run, Started, train
from playground.training.train_state import TrainState
from playground.zoo.entry import entry_for

STEPS, DRAWS, BLOCKS, WORDS = 600, 2000, (1, 2, 4, 8, 16), 9


def trained(objective: Objective, corpus: Corpus) -> tuple[TrainState, float]:
    """A small model of an objective after some steps, and its held-out loss."""
    entry, learner, held_out = entry_for(objective), None, float("nan")
    run = Run(replace(entry, recipe=replace(entry.recipe, steps=STEPS)), corpus, steps=STEPS)
    for event in train(run):
        if isinstance(event, Started):
            learner = event.learner
        elif isinstance(event, Evaluated):
            held_out = event.held_out
    assert learner is not None
    return learner, held_out


@torch.no_grad()
def estimates(model: LanguageModel, objective: Objective, ids: list[int], corpus: Corpus) -> list[float]:
    """The loss of a sentence, in nats, for many draws of time and hidden words."""
    tokens, rng = one_row(ids, corpus.tokenizer), generator(0)
    return [float(total_loss(model(objective.batch(tokens, rng)))[0]) * len(ids) for _ in range(DRAWS)]


def in_seconds(model: LanguageModel, ids: list[int], corpus: Corpus) -> str:
    """How long all masks of a sentence and its best, worst and mean order take."""
    began = time.perf_counter()
    lattice = lattice_of(model, ids, corpus.tokenizer)
    read = time.perf_counter()
    orders = (lattice.best_order().nats, lattice.any_order(), lattice.worst_order().nats)
    solved = time.perf_counter()
    nats = ", ".join(f"{nats:.1f}" for nats in orders)
    return (
        f"  {1 << len(ids):,} masks in {read - began:.2f} s, best, mean, worst order ({nats}) in {solved - read:.2f} s"
    )


def one_sum(model: LanguageModel, objective: Objective, ids: list[int], corpus: Corpus) -> None:
    """Print one loss of a sentence under its names, its orders, and the noise of its estimates."""
    lattice = lattice_of(model, ids, corpus.tokenizer)
    whole = lattice.any_order()
    print(f"a sentence of {len(ids)} words: any order {whole:.6f} nats")
    for name in ("mask_predict", "masked_diffusion"):
        print(f"  {name}: relative difference {abs(getattr(lattice, name)() / whole - 1):.1e}")
    orders = {
        "best order": lattice.best_order(), "worst": lattice.worst_order(),
        "left to right": lattice.in_order(range(len(ids))),
    }  # fmt: skip
    print(f"  MLM at 15 %: {lattice.masked_at(0.15):.3f};", {name: round(o.nats, 3) for name, o in orders.items()})
    for draw in ("time", "count"):
        found = estimates(model, objective.turn({"draw": draw}), ids, corpus)
        print(f"  draw={draw}: mean {fmean(found):.2f}, standard deviation of one draw {stdev(found):.2f}")


def main() -> None:
    torch.set_num_threads(1)
    print(f"load {os.getloadavg()[0]:.1f}")
    corpus, diffusion = open_corpus("everyday"), find_objective("masked diffusion")
    learner, held_out = trained(diffusion, corpus)
    print(f"masked diffusion: held-out loss {held_out:.3f} nats a word")
    model, text = learner.model.eval(), corpus.ids[corpus.held_out_from :].tolist()
    one_sum(model, diffusion, sentence_of(corpus).ids[0].tolist()[:WORDS], corpus)
    for words in (8, 10, 12):
        print(f"the first {words} words of held-out text:")
        print(in_seconds(model, text[:words], corpus))
    for size in BLOCKS:
        objective = find_objective("block diffusion").turn({"block_size": size})
        print(f"blocks of {size}: held-out loss {trained(objective, corpus)[1]:.3f} nats a word")
    print(f"LM: held-out loss {trained(find_objective('LM'), corpus)[1]:.3f} nats a word")


if __name__ == "__main__":
    main()
