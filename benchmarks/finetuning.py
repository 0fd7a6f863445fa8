"""Forty fine-tuning runs (8 strategies x 5 seeds, sentiment) three ways, and what each strategy gains, in one run.

"Plain" freezes by a learning rate of 0: everything is read anew in every step, the gradient of every weight is
computed and the optimiser visits every weight. "Frozen" is this project without keeping anything: no gradient and no
optimiser state where nothing learns. "Kept" is what `compare` does: what lies below all that learns is read once per
text. The three sides take turns lane by lane and the figure is the median over the seeds of the ratios; absolute
seconds depend on the machine and its load, ratios hold; seconds are those of the processor.

After that all lanes are run whole: one by one as "plain", then by `compare` in one process, then by `compare` with a
worker for every core, by the clock, the start of the workers included. The last table is the order of forgetting.

    python benchmarks/finetuning.py [RUN] [--seeds 5] [--steps 80] [--labels 64] [--workers N] [--only PART]

RUN is the folder of a run, as printed by `playground train BERT`; without it an untrained model of the same shape is
used, whose steps cost the same.
"""

import argparse
import os
import time
from dataclasses import replace
from statistics import median

import torch
from torch.nn.functional import cross_entropy

from playground.corpora import open_corpus
from playground.finetuning import Base, compare, find_strategy, find_task
from playground.finetuning.base import from_checkpoint
from playground.finetuning.head import new_head
from playground.finetuning.tune import Outcome, Setting, _draw, parameters, started, tune
from playground.models.extras import plug
from playground.seeds import generator
from playground.training import checkpoint
from playground.training.feed import Feed
from playground.training.learner import Learner
from playground.zoo import find_entry

STRATEGIES = (
    "feature-based", "layer mix", "full", "gradual unfreezing", "chain-thaw", "top layer only", "ULMFiT", "adapters",
)  # fmt: skip


def untrained():
    """A base that has learnt nothing, and its tokenizer."""
    corpus, entry = open_corpus("world"), find_entry("BERT")
    learner = Learner.new(entry, corpus.tokenizer.words, 0, torch.device("cpu"))
    feed = Feed.of(corpus, entry.recipe.window, entry.recipe.batch, 0, learner.device)
    return Base(learner, feed.evaluation(), lambda: feed.windows), corpus.tokenizer


def plain(base, strategy, train, test, setting, seed):
    """The same lane as a first script would write it: freezing is a rate of 0, everything is read in every step."""
    model = started(base.learner.model, strategy.fresh, seed)
    head = new_head(model, train.answer, seed, strategy.head)
    extras = [plug(kind, model, generator(seed, "extra", kind.name)) for kind in strategy.extras]
    groups = parameters(model, head, {e.kind.name: e.modules for e in extras})
    plan = strategy.plan(tuple(groups), setting.steps)
    optimiser = torch.optim.AdamW([{"params": list(p), "lr": 0.0} for p in groups.values()], betas=(0.9, 0.98))
    base.learner.evaluate(base.held_out)
    for step in range(setting.steps):
        for group, rate in zip(optimiser.param_groups, (strategy.rate * plan[:, step]).tolist(), strict=True):
            group["lr"] = rate
        drawn = _draw(train, setting.batch, seed, step)
        known = dict(enumerate(model.levels(drawn.tokens)))
        cross_entropy(head(known, drawn), drawn.labels).backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
    with torch.no_grad():
        head(dict(enumerate(model.levels(test.tokens))), test).argmax(1)
    base.learner.evaluate(base.held_out)


def timed(work, clock=time.process_time):
    """Seconds of a piece of work, of this processor or by the clock."""
    began = clock()
    work()
    return clock() - began


def by_the_clock(base, tokenizer, task, setting, asked):
    """All lanes whole: one by one as a first script would, then by `compare` in one process and in several."""
    chosen = [find_strategy(name) for name in STRATEGIES]

    def one_by_one():
        test = task.load(tokenizer, 500, 0, "test")
        for seed in range(asked.seeds):
            train = task.load(tokenizer, asked.labels, seed, "train")
            for strategy in chosen:
                plain(base, strategy, train, test, setting, seed)

    def ours(workers):
        *_, last = compare(
            base, tokenizer, task, chosen, labels=asked.labels, seeds=asked.seeds, setting=setting, workers=workers
        )
        found[workers] = {
            name: [(o.accuracy, o.forgetting, o.moved) for o in some] for name, some in last.outcomes.items()
        }

    found = {}
    first = timed(one_by_one, time.perf_counter)
    print(f"\n{len(chosen) * asked.seeds} lanes by the clock (load {os.getloadavg()[0]:.1f}, {asked.workers} workers)")
    print(f"{'one by one, frozen by rate 0':<44} {first:8.1f} s")
    for workers in sorted({1, asked.workers}):
        seconds = timed(lambda w=workers: ours(w), time.perf_counter)
        print(
            f"{f'compare, {workers} process' + 'es' * (workers > 1):<44} {seconds:8.1f} s {first / seconds:8.2f} times"
        )
    same = all(values == found[1] for values in found.values())
    print(f"the same numbers whichever way: {same}")


RATHER_MUCH = 2e-2
"""A high rate, five times the usual."""

FORGETTING = ("EWC", "L2-SP", "adapters", "ULMFiT", "discriminative rates", "chain-thaw", "gradual unfreezing", "full")


def forgetting(base, tokenizer, task, setting, asked):
    """The order of forgetting, three seeds."""
    high = replace(find_strategy("full"), name="full, high rate", rate=RATHER_MUCH)
    chosen = [*map(find_strategy, FORGETTING), high]
    *_, last = compare(base, tokenizer, task, chosen, labels=asked.labels, seeds=3, setting=setting)
    ranked = sorted(last.facts()["strategies"], key=lambda s: s["forgetting"]["mean"])
    print("\nforgetting in nats, least first (in brackets: extra modules plugged in)")
    for s in ranked:
        mean, sd, inside = s["forgetting"]["mean"], s["forgetting"]["sd"], s["plugged_in"]["mean"]
        print(f"{s['name']:<22} {mean:+.3f} ± {sd:.3f} ({inside:+.3f})   accuracy {s['accuracy']['mean']:.3f}")


def main():
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("run", nargs="?")
    given.add_argument("--seeds", type=int, default=5)
    given.add_argument("--steps", type=int, default=80)
    given.add_argument("--labels", type=int, default=64)
    given.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    given.add_argument("--only", choices=("lanes", "clock", "forgetting"))
    asked = given.parse_args()
    torch.set_num_threads(1)
    if asked.run:
        saved = checkpoint.load(asked.run)
        base, tokenizer = from_checkpoint(saved), saved.tokenizer
    else:
        base, tokenizer = untrained()
    task, setting = find_task("sentiment"), Setting(steps=asked.steps)
    parts = {"lanes": lane_by_lane, "clock": by_the_clock, "forgetting": forgetting}
    for name, part in parts.items():
        if asked.only in (None, name):
            part(base, tokenizer, task, setting, asked)


def lane_by_lane(base, tokenizer, task, setting, asked):
    """What each strategy gains by real freezing and by keeping, in turns."""
    test = task.load(tokenizer, 500, 0, "test")
    frozen_base, kept_base = replace(base, memory={}), replace(base, memory={})
    seconds = {name: ([], [], []) for name in STRATEGIES}
    right = {name: [] for name in STRATEGIES}
    for seed in range(asked.seeds):
        train = task.load(tokenizer, asked.labels, seed, "train")
        for name in STRATEGIES:
            strategy = find_strategy(name)

            def lane(base, setting, strategy=strategy, train=train, seed=seed, name=name):
                *_, last = tune(base, strategy, train, test, setting, seed)
                assert isinstance(last, Outcome)
                right[name].append(last.accuracy)

            ways = (
                lambda s=strategy, t=train, k=seed: plain(base, s, t, test, setting, k),
                lambda do=lane: do(frozen_base, replace(setting, keeps=False)),
                lambda do=lane: do(kept_base, setting),
            )
            order = (0, 1, 2) if seed % 2 else (2, 1, 0)
            for way in order:
                seconds[name][way].append(timed(ways[way]))
    print(f"{'strategy':<20} {'plain s':>8} {'frozen':>8} {'kept':>8} {'plain/frozen':>14} {'plain/kept':>11}")
    for name, ways in seconds.items():
        gains = [median(a / b for a, b in zip(ways[0], other, strict=True)) for other in ways[1:]]
        print(f"{name:<20} {''.join(f'{median(way):8.2f} ' for way in ways)}{gains[0]:14.2f} {gains[1]:11.2f}")
    one, two, three = (sum(sum(ways[k]) for ways in seconds.values()) for k in range(3))
    print(f"{'all lanes':<20} {one:8.1f} {two:8.1f} {three:8.1f} {one / two:14.2f} {one / three:11.2f}")
    apart = max(abs(a - b) for values in right.values() for a, b in zip(values[::2], values[1::2], strict=True))
    print(f"largest difference in accuracy between frozen and kept: {apart:.4f}")


if __name__ == "__main__":
    main()
