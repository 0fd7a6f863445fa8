"""The best possible prediction against samples of the generator, trained models and leaks, with the time it takes.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/floor.py samples [--sentences 1000000] [--presets reviews ...]
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/floor.py honest [--steps 300] [--seeds 5] [--rows 1000]
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/floor.py leaks [--steps 300]
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/floor.py time

`samples` counts what fills the most frequent contexts, to the left alone and on both sides, and prints the largest
distance from the exact chance in standard errors. `honest` trains five entries on three corpora and prints the mean
regret on held-out rows, which must not be below -0.01 nats; `leaks` does the same for the five leaking constructions of
published code, which must be. Steps are counted, so a busy machine finds the same; seconds are those of the processor.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import sqrt
from random import Random
from time import process_time

import torch

from playground.analysis.floor.automaton import automaton
from playground.analysis.floor.chart import ParseChart
from playground.analysis.floor.regret import Regret, floor_of, reads_windows, regret
from playground.analysis.lattice import MOST, lattice_of
from playground.corpora import Corpus, open_corpus, pick
from playground.corpora.tinyworld.tasks.draw import write_words
from playground.corpora.tinyworld.vocabulary import vocabulary
from playground.objectives import find_objective
from playground.objectives.arrange import ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.see import SeeAll
from playground.rng import derive, generator
from playground.training import Run, Started, train
from playground.training.train_state import TrainState
from playground.zoo import entry_for, find_entry
from playground.zoo.entry import Entry

PRESETS = ("reviews", "agreement", "facts")
ENTRIES = ("GPT", "RoBERTa", "XLNet", "BART", "ELMo")
CONTEXTS, TRIED = 40, 20_000
"""Contexts of each kind that are counted, and sentences among which the most frequent are looked for."""

Context = tuple[tuple[int, ...], tuple[int, ...]]


def sentences(preset: str, seed: int) -> Iterator[tuple[int, ...]]:
    """Sentences of the generator without end, as ids."""
    random, tokenizer = Random(derive(seed, "floor", preset)), vocabulary(preset)
    ids = {word: number for number, word in enumerate(tokenizer.words)}
    while True:
        words: list[int] = []
        for word in write_words(preset, "Document", random):
            words.append(ids[word.lower()])
            if word in (".", "?"):
                yield tuple(words)
                words = []


def contexts_of(sentence: tuple[int, ...]) -> Iterator[tuple[bool, Context, int]]:
    """Every word with what stands to its left, and with what stands on both sides."""
    for position, word in enumerate(sentence):
        yield False, (sentence[:position], ()), word
        yield True, (sentence[:position], sentence[position + 1 :]), word


def samples(preset: str, number: int) -> None:
    """Count the words that fill frequent contexts, and compare with their exact chances."""
    text, frequent = sentences(preset, 0), Counter()
    for _ in range(TRIED):
        frequent.update((kind, context) for kind, context, _ in contexts_of(next(text)))
    kinds = [Counter({key: n for key, n in frequent.items() if key[0] == kind}) for kind in (False, True)]
    wanted = {key for counts in kinds for key, _ in counts.most_common(CONTEXTS)}
    found: dict[tuple[bool, Context], Counter] = defaultdict(Counter)
    text = sentences(preset, 1)
    for _ in range(number):
        for kind, context, word in contexts_of(next(text)):
            if (kind, context) in wanted:
                found[kind, context][word] += 1
    distances, strange, rules = [], 0, automaton(preset)
    for (_, (before, after)), counts in found.items():
        total, position = counts.total(), len(before)
        chart = ParseChart(rules, (*before, next(iter(counts)), *after))
        for word, chance in enumerate(
            chart.chances(position, [True] * position + [False] + [True] * len(after)).tolist()
        ):
            spread = total * chance * (1 - chance)
            strange += chance == 0 and counts[word] > 0
            if spread >= 5:
                distances.append(abs(counts[word] - total * chance) / sqrt(spread))
    print(
        f"{preset}: {number:,} sentences, {len(found)} contexts, {len(distances)} words; largest distance "
        f"{max(distances):.2f} standard errors, {sum(d > 2 for d in distances) / len(distances):.1%} above 2; "
        f"{strange} words of chance 0",
        flush=True,
    )


def above(entry: Entry, corpus: Corpus, steps: int, seed: int, rows: int) -> tuple[Regret, float]:
    """The regret of a model after so many steps on held-out rows, and the seconds of the sums for one row."""
    entry = replace(entry, recipe=replace(entry.recipe, steps=steps))
    for event in train(Run(entry, corpus, seed=seed, steps=steps, evaluate_every=steps)):
        if isinstance(event, Started):
            learner = event.learner
    text = corpus.windows(entry.recipe.seq_len, "held_out")
    text = pick(text, torch.arange(min(rows, len(text.ids))))
    began = process_time()
    floor = floor_of(
        automaton(corpus.name), learner.objective.batch(text, generator(seed, "floor")), entry.model.layers
    )
    seconds = (process_time() - began) / len(text.ids)
    learner.model.eval()
    return regret(learner.model, floor), seconds


def on_windows(entry: Entry) -> Entry:
    """The entry on single stretches of text: permutation language modelling where it reads pairs of them."""
    return entry if reads_windows(entry.objective) else replace(entry, objective=find_objective("PLM"))


def show(name: str, found: Regret, seconds: float) -> None:
    """One line: the mean regret, its error, what costs most, and the seconds of the sums for one row."""
    first, *_ = found.each.items()
    print(
        f"{name}: {found.total:+.3f} ± {found.standard_error:.3f} nats on {len(found.losses)} words; most: {first[0]} "
        f"{first[1]:.2f}; {seconds:.3f} s a row",
        flush=True,
    )


def leaking() -> dict[str, Entry]:
    """The five leaking constructions in four layers; two layers learn to use the last one only in 600 steps."""
    plm, lm = find_objective("PLM"), find_objective("LM")
    objectives = {
        "both sides, next word": replace(lm, stages=(ShiftRight(), SeeAll(), AskNext())),
        "prefix asked for itself": find_objective("seq2seq LM").turn({"loss_on": "all"}),
        "one stream that sees itself": plm.turn({"streams": "one that sees itself"}),
        "one stream blind to itself": plm.turn({"streams": "one blind to itself"}),
        "an order that turns round": plm.turn({"streams": "an order that turns round"}),
    }
    entries = {name: entry_for(objective) for name, objective in objectives.items()}
    return {name: replace(entry, model=replace(entry.model, layers=4)) for name, entry in entries.items()}


def times() -> None:
    """Seconds of the processor: the automaton, a row of 32 words from one side and from both, a lattice of 12 words."""
    for preset in (*PRESETS, "world"):
        began = process_time()
        rules = automaton(preset)
        built, row = process_time() - began, open_corpus(preset).windows(32, "held_out").ids[0].tolist()
        marks = [process_time()]
        for make in (ParseChart.next_words, ParseChart.two_sided):
            make(ParseChart(rules, tuple(row), "window"))
            marks.append(process_time())
        left, both = marks[1] - marks[0], marks[2] - marks[1]
        print(
            f"{preset}: {rules.states:,} states, {len(rules.source):,} arcs, built in {built:.2f} s; 32 words from the "
            f"left in {left:.3f} s, from both sides in {both:.3f} s",
            flush=True,
        )
    corpus = open_corpus("world")
    learner = TrainState.new(find_entry("RoBERTa"), corpus.tokenizer.words, 0, torch.device("cpu"))
    began = process_time()
    lattice = lattice_of(learner.model.eval(), corpus.ids[:MOST].tolist(), corpus.tokenizer)
    read = process_time()
    lattice.best_order(), lattice.worst_order(), lattice.any_order()
    print(f"lattice of {MOST} words: {read - began:.2f} s to read, {process_time() - read:.3f} s for the orders")


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("samples", "honest", "leaks", "time"))
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--presets", nargs="+", default=PRESETS)
    parser.add_argument("--entries", nargs="+", default=ENTRIES)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000)
    given = parser.parse_args()
    if given.part == "samples":
        for preset in given.presets:
            samples(preset, given.sentences)
    elif given.part == "time":
        times()
    elif given.part == "leaks":
        for name, entry in leaking().items():
            show(name, *above(entry, open_corpus("reviews"), given.steps, 0, min(given.rows, 64)))
    else:
        for preset in given.presets:
            for name in given.entries:
                for seed in range(given.seeds):
                    found = above(on_windows(find_entry(name)), open_corpus(preset), given.steps, seed, given.rows)
                    show(f"{preset}, {name}, seed {seed}", *found)


if __name__ == "__main__":
    main()
