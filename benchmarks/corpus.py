"""What BERT learns from the default corpus in 1,500 steps (45 seconds on one idle core), by three measurements.

Sentiment from 64 labels against the same network untrained, a linear probe for parts of speech on every layer, and a
linear probe for the meaning of words that have two, against the static vector of the word.

Steps are counted, not seconds, so that a busy machine measures the same; the seconds of the processor are printed.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/corpus.py [--steps 1500] [--seeds 0 1 2]
"""

import argparse
import platform
from copy import deepcopy
from dataclasses import replace
from statistics import mean, pstdev
from time import process_time

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from playground.batch import Tokens
from playground.corpora import Corpus, open_corpus, pick
from playground.finetuning import find_strategy, find_task
from playground.finetuning.run.measure import Result
from playground.finetuning.run.trainer import Base, FinetuneConfig
from playground.finetuning.run.tune import tune
from playground.models.transformer import Stack
from playground.training import Run, Started, Stopped, train
from playground.training.data import BatchSampler
from playground.training.train_state import TrainState
from playground.zoo import find_entry

LABELS, TEST = 64, 512

MOST = {"train": 20_000, "held_out": 5_000}
"""Tokens that a probe is trained and tested on."""


def networks(corpus: Corpus, steps: int, seed: int) -> dict[str, TrainState]:
    """A BERT after so many steps, the rate falling to the last one, and the same before its first step."""
    entry = find_entry("RoBERTa")
    entry = replace(entry, recipe=replace(entry.recipe, steps=steps))
    events = train(Run(entry, corpus, seed, evaluate_every=10_000))
    started, began = next(events), process_time()
    assert isinstance(started, Started)
    fresh = deepcopy(started.learner)
    for event in events:
        if isinstance(event, Stopped):
            spent = process_time() - began
            print(
                f"seed {seed}: {event.step} steps, {spent:.0f} s of the processor, {event.seconds:.0f} s in all",
                flush=True,
            )
    return {"trained": started.learner, "untrained": fresh}


def sentiment(learner: TrainState, corpus: Corpus, seed: int) -> float:
    """Accuracy on unseen sentences after full fine-tuning with 64 labels."""
    task, recipe = find_task("sentiment"), learner.entry.recipe
    held_out = BatchSampler.of(corpus, recipe.seq_len, recipe.batch_size, 0, learner.device).evaluation()
    examples = (task.load(corpus.tokenizer, n, seed, split) for n, split in ((LABELS, "train"), (TEST, "test")))
    *_, outcome = tune(Base(learner, held_out), find_strategy("full"), *examples, FinetuneConfig(steps=120), seed)
    assert isinstance(outcome, Result)
    return outcome.accuracy


def states(learner: TrainState, tokens: Tokens) -> list[Tensor]:
    """What every position knows: its static vector, then after every block, `[b, t, d]` each."""
    found: list[Tensor] = []
    stack = learner.model.network.encoder
    hooks = [norm.register_forward_pre_hook(lambda _, given: found.append(given[0])) for norm in _below(stack)]
    top = learner.model.features(tokens)
    for hook in hooks:
        hook.remove()
    return [learner.model.token_embedding(tokens.ids), *found[1:], top]


def _below(stack: Stack) -> list[nn.Module]:
    """What each block does first; what it is given is what the block below it gave."""
    return [block.ln_1 for block in stack.layers]


def labelled(learner: TrainState, corpus: Corpus, label: str, part: str) -> tuple[list[Tensor], Tensor, Tensor]:
    """The states of the tokens that have a label, their labels and their words."""
    windows, most = corpus.windows(learner.entry.recipe.seq_len, part), MOST[part]
    count = (windows.labels[label] >= 0).sum(dim=1)
    rows = ((count > 0) & (count.cumsum(0) - count < most)).nonzero()[:, 0]
    with torch.no_grad():
        tokens = pick(windows, rows)
        layers = states(learner, tokens)
    there = tokens.labels[label] >= 0
    return [layer[there][:most] for layer in layers], tokens.labels[label][there][:most], tokens.ids[there][:most]


def probe(train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor]) -> float:
    """Accuracy of a logistic regression, trained on full batches."""
    (x, y), (x_test, y_test) = train, test
    middle, spread = x.mean(0), x.std(0) + 1e-6
    x, x_test = (x - middle) / spread, (x_test - middle) / spread
    weight = torch.zeros(x.shape[1] + 1, int(max(y.max(), y_test.max())) + 1, requires_grad=True)
    adam = torch.optim.Adam([weight], lr=0.02)
    one, one_test = torch.cat([x, x.new_ones(len(x), 1)], 1), torch.cat([x_test, x.new_ones(len(x_test), 1)], 1)
    for _ in range(400):
        adam.zero_grad()
        (cross_entropy(one @ weight, y) + 1e-4 * weight.square().sum()).backward()
        adam.step()
    return float(((one_test @ weight).argmax(1) == y_test).double().mean())


def probes(learner: TrainState, corpus: Corpus, label: str) -> list[float]:
    """A probe on the static vectors, then on every layer."""
    train_x, train_y, _ = labelled(learner, corpus, label, "train")
    test_x, test_y, _ = labelled(learner, corpus, label, "held_out")
    return [probe((a, train_y), (b, test_y)) for a, b in zip(train_x, test_x, strict=True)]


def majority(learner: TrainState, corpus: Corpus, label: str) -> float:
    """What one gets who knows the word and nothing else: the label that it has most often in training."""
    _, y, words = labelled(learner, corpus, label, "train")
    _, y_test, words_test = labelled(learner, corpus, label, "held_out")
    counts = torch.zeros(len(corpus.tokenizer), int(max(y.max(), y_test.max())) + 1)
    counts.index_put_((words, y), torch.ones(len(y)), accumulate=True)
    return float((counts[words_test].argmax(1) == y_test).double().mean())


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    given = parser.parse_args()
    torch.set_num_threads(1)
    corpus = open_corpus("world")
    print(f"Python {platform.python_version()}, torch {torch.__version__}, one thread, {given.steps} steps each, world")
    found: dict[str, list[float]] = {}
    for seed in given.seeds:
        both = networks(corpus, given.steps, seed)
        for name, network in both.items():
            found.setdefault(f"sentiment, {LABELS} labels, {name}", []).append(sentiment(network, corpus, seed))
        for label in ("pos", "sense"):
            found.setdefault(f"{label}: the word's usual label", []).append(majority(both["trained"], corpus, label))
            for name, network in both.items():
                for depth, share in enumerate(probes(network, corpus, label)):
                    layer = f"after layer {depth}" if depth else "static vector"
                    found.setdefault(f"{label}: {name}, {layer}", []).append(share)
        print("\n".join(f"  {name}: {shares[-1]:.1%}" for name, shares in found.items()), flush=True)
    for name, shares in found.items():
        print(f"{name:<40} {mean(shares):7.1%} ± {pstdev(shares):.1%}   {', '.join(f'{s:.1%}' for s in shares)}")


if __name__ == "__main__":
    main()
