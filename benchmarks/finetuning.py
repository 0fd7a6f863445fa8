"""Forty fine-tuning runs (8 strategies x 5 seeds, sentiment) three ways, and what each strategy gains, in one run.

"Plain" freezes by a learning rate of 0: everything is read anew in every step, the gradient of every weight is
computed and the optimiser visits every weight. "Frozen" is this project without keeping anything: no gradient and no
optimiser state where nothing learns. "Kept" is what `compare` does: what lies below all that learns is read once per
text. The three sides take turns trial by trial and the figure is the median over the seeds of the ratios; absolute
seconds depend on the machine and its load, ratios hold; seconds are those of the processor.

After that all trials are run whole, in turns: one by one as "plain", by `compare` in one process, by `compare` with a
process for every core, the start of the workers included, and by `compare` stacked, which is meant for a GPU. Beside
the clock stands the processor time of the busiest process, which is what the clock would show on an idle machine. Then
come the largest difference between weights that were stacked and weights that were not, and the order of forgetting.

    python benchmarks/finetuning.py [RUN] [--seeds 5] [--steps 80] [--train-size 64] [--workers N] [--only PART]

RUN is the folder of a run, as printed by `playground train BERT`; without it an untrained model of the same shape is
used, whose steps cost the same.
"""

import argparse
import os
import sys
import threading
import time
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch
from torch.nn.functional import cross_entropy

from playground.corpora import open_corpus
from playground.finetuning import Base, find_strategy, find_task
from playground.finetuning.comparing.compare import compare
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.run.base import from_checkpoint, replace_model
from playground.finetuning.run.measure import Result
from playground.finetuning.run.stacked import alike, tune_together
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, _draw, parameters, started
from playground.finetuning.run.tune import tune
from playground.finetuning.strategy.head import new_head
from playground.models.adapters import attach
from playground.rng import generator
from playground.training import checkpoint
from playground.training.data import BatchSampler
from playground.training.train_state import TrainState
from playground.zoo import find_entry

STRATEGIES = (
    "feature-based", "layer mix", "full", "gradual unfreezing", "chain-thaw", "top layer only", "ULMFiT", "adapters",
)  # fmt: skip


def untrained():
    """A base that has learnt nothing, and its tokenizer."""
    corpus, entry = open_corpus("world"), find_entry("RoBERTa")
    learner = TrainState.new(entry, corpus.tokenizer.words, 0, torch.device("cpu"))
    feed = BatchSampler.of(corpus, entry.recipe.seq_len, entry.recipe.batch_size, 0, learner.device)
    return Base(learner, feed.evaluation(), lambda: feed.windows), corpus.tokenizer


def plain(base, strategy, train, test, setting, seed):
    """The same trial as a first script would write it: freezing is a rate of 0, everything is read in every step."""
    model = started(base.learner.model, strategy.fresh, seed)
    head = new_head(model, train.answer, seed, strategy.head)
    extras = [attach(kind, model, generator(seed, "extra", kind.name)) for kind in strategy.adapters]
    groups = parameters(model, head, {e.kind.name: e.modules for e in extras})
    plan = strategy.plan(tuple(groups), setting.steps)
    optimiser = torch.optim.AdamW([{"params": list(p), "lr": 0.0} for p in groups.values()], betas=(0.9, 0.98))
    base.learner.evaluate(base.held_out)
    for step in range(setting.steps):
        for group, rate in zip(optimiser.param_groups, (strategy.rate * plan[:, step]).tolist(), strict=True):
            group["lr"] = rate
        drawn = _draw(train, setting.batch_size, seed, step)
        known = dict(enumerate(model.hidden_states(drawn.tokens)))
        cross_entropy(head(known, drawn), drawn.labels).backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
    with torch.no_grad():
        head(dict(enumerate(model.hidden_states(test.tokens))), test).argmax(1)
    base.learner.evaluate(base.held_out)


def timed(work, clock=time.process_time):
    """Seconds of a piece of work, of this processor or by the clock."""
    began = clock()
    work()
    return clock() - began


def by_the_clock(base, tokenizer, task, setting, asked):
    """All trials whole, in turns: one by one as a first script would, and by `compare` in one process or several."""
    chosen = [find_strategy(name) for name in STRATEGIES]
    found = {}

    def one_by_one():
        test = task.load(tokenizer, 500, 0, "test")
        for seed in range(asked.seeds):
            train = task.load(tokenizer, asked.train_size, seed, "train")
            for strategy in chosen:
                plain(base, strategy, train, test, setting, seed)

    def ours(workers, way):
        spec = ComparisonSpec(
            task=task.name, strategies=STRATEGIES, train_sizes=(asked.train_size,), seeds=asked.seeds,
            steps=setting.steps, workers=workers, parallelism=way,
        )  # fmt: skip
        *_, last = compare(base, tokenizer, spec)
        found[workers, way] = {
            name: [(o.accuracy, o.forgetting, o.moved) for o in some] for name, some in last.outcomes.items()
        }

    ways = {
        "one by one, frozen by rate 0": one_by_one,
        "compare, 1 process": lambda: ours(1, "processes"),
        f"compare, {asked.workers} processes": lambda: ours(asked.workers, "processes"),
        "compare, stacked": lambda: ours(1, "vmap"),
    }
    spent = {name: [] for name in ways}
    for turn in range(asked.rounds):
        for name in list(ways)[:: -1 if turn % 2 else 1]:
            spent[name].append(measured(ways[name]))
            print(f"  {name}: {said(spent[name][-1])}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    print(f"\n{len(chosen) * asked.seeds} trials whole, {asked.rounds} rounds in turns (load {os.getloadavg()[0]:.1f})")
    print(f"{'':<32} {'clock s':>8} {'times':>6} {'processor s':>12} {'busiest s':>10} {'times':>6}")
    [first, *_] = spent.values()
    for name, some in spent.items():
        clock, whole, busiest = (median(values) for values in zip(*some, strict=True))
        gains = [median(a[k] / b[k] for a, b in zip(first, some, strict=True)) for k in (0, 2)]
        print(f"{name:<32} {clock:8.1f} {gains[0]:6.2f} {whole:12.1f} {busiest:10.1f} {gains[1]:6.2f}")
    same = found[1, "processes"] == found[asked.workers, "processes"]
    print(f"the same numbers in one process and in {asked.workers}, to the last bit: {same}")


def said(spent):
    """What a piece of work took, in words."""
    return "{:.1f} s by the clock, {:.1f} s of all processors, {:.1f} s of the busiest".format(*spent)


def measured(work):
    """Seconds by the clock, of all processes together, and of the busiest one: its clock on an idle machine."""
    seconds, done = {}, threading.Event()

    def look():
        while not done.wait(0.05):
            seconds.update(processor_seconds())

    before, began, watcher = processor_seconds(), time.perf_counter(), threading.Thread(target=look)
    watcher.start()
    work()
    clock = time.perf_counter() - began
    seconds.update(processor_seconds())
    done.set()
    watcher.join()
    each = [used - before.get(process, 0.0) for process, used in seconds.items()]
    return clock, sum(each), max(each)


def processor_seconds():
    """Seconds of the processor that this process and those beneath it have used, by process (Linux)."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = path.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        number = int(path.parent.name)
        parents[number], used[number] = int(rest[1]), (int(rest[11]) + int(rest[12])) / os.sysconf("SC_CLK_TCK")
    mine = {os.getpid()}
    while more := {p for p, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return {process: used[process] for process in mine if process in used}


def same_whichever_way(base, tokenizer, task, setting, asked):
    """The largest difference of any parameter between trials that are stacked and trials apart, in float64."""
    torch.set_default_dtype(torch.float64)
    exact = replace(base, learner=replace_model(base.learner, deepcopy(base.learner.model).double()), memory={})
    test, few = task.load(tokenizer, 64, 0, "test"), replace(setting, steps=min(20, setting.steps))
    farthest, begun, begin = 0.0, [], Finetuner.__init__

    def beginning(self, *given):
        begin(self, *given)
        begun.append(self)

    Finetuner.__init__ = beginning
    stacks = {}
    for strategy in map(find_strategy, STRATEGIES):
        stacks.setdefault(alike(strategy, few), []).append(strategy)
    for chosen in stacks.values():
        trials = [
            (s, task.load(tokenizer, asked.train_size, seed, "train"), test, seed) for seed in (0, 1) for s in chosen
        ]
        begun.clear()
        list(tune_together(exact, trials, few))
        for stacked, (strategy, train, _, seed) in zip(begun[:], trials, strict=True):
            list(tune(exact, strategy, train, test, few, seed))
            pairs = [pair for g, ps in begun[-1].groups.items() for pair in zip(ps, stacked.groups[g], strict=True)]
            farthest = max(farthest, *(float((a - b).detach().abs().max()) for a, b in pairs))
    Finetuner.__init__ = begin
    torch.set_default_dtype(torch.float32)
    print(f"\nlargest difference of a parameter, stacked or apart, {few.steps} steps in float64: {farthest:.1e}")


RATHER_MUCH = 2e-2
"""A high rate, five times the usual."""

FORGETTING = ("EWC", "L2-SP", "adapters", "ULMFiT", "discriminative rates", "chain-thaw", "gradual unfreezing", "full")


def forgetting(base, tokenizer, task, setting, asked):
    """The order of forgetting, three seeds."""
    high = replace(find_strategy("full"), name="full, high rate", rate=RATHER_MUCH)
    chosen = [*map(find_strategy, FORGETTING), high]
    spec = ComparisonSpec(task=task.name, train_sizes=(asked.train_size,), seeds=3, steps=setting.steps)
    *_, last = compare(base, tokenizer, spec, chosen=chosen)
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
    given.add_argument("--train-size", type=int, default=64)
    given.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    given.add_argument("--rounds", type=int, default=1, help="how often all trials are run whole, each way")
    given.add_argument("--only", choices=("trials", "clock", "same", "forgetting"))
    asked = given.parse_args()
    torch.set_num_threads(1)
    if asked.run:
        saved = checkpoint.load(asked.run)
        base, tokenizer = from_checkpoint(saved), saved.tokenizer
    else:
        base, tokenizer = untrained()
    task, setting = find_task("sentiment"), FinetuneConfig(steps=asked.steps)
    parts = {"trials": trial_by_trial, "clock": by_the_clock, "same": same_whichever_way, "forgetting": forgetting}
    for name, part in parts.items():
        if asked.only in (None, name):
            part(base, tokenizer, task, setting, asked)


def trial_by_trial(base, tokenizer, task, setting, asked):
    """What each strategy gains by real freezing and by keeping, in turns."""
    test = task.load(tokenizer, 500, 0, "test")
    frozen_base, kept_base = replace(base, memory={}), replace(base, memory={})
    seconds = {name: ([], [], []) for name in STRATEGIES}
    right = {name: [] for name in STRATEGIES}
    for seed in range(asked.seeds):
        train = task.load(tokenizer, asked.train_size, seed, "train")
        for name in STRATEGIES:
            strategy = find_strategy(name)

            def trial(base, setting, strategy=strategy, train=train, seed=seed, name=name):
                *_, last = tune(base, strategy, train, test, setting, seed)
                assert isinstance(last, Result)
                right[name].append(last.accuracy)

            ways = (
                lambda s=strategy, t=train, k=seed: plain(base, s, t, test, setting, k),
                lambda do=trial: do(frozen_base, replace(setting, keeps=False)),
                lambda do=trial: do(kept_base, setting),
            )
            order = (0, 1, 2) if seed % 2 else (2, 1, 0)
            for way in order:
                seconds[name][way].append(timed(ways[way]))
    print(f"{'strategy':<20} {'plain s':>8} {'frozen':>8} {'kept':>8} {'plain/frozen':>14} {'plain/kept':>11}")
    for name, ways in seconds.items():
        gains = [median(a / b for a, b in zip(ways[0], other, strict=True)) for other in ways[1:]]
        print(f"{name:<20} {''.join(f'{median(way):8.2f} ' for way in ways)}{gains[0]:14.2f} {gains[1]:11.2f}")
    one, two, three = (sum(sum(ways[k]) for ways in seconds.values()) for k in range(3))
    print(f"{'all trials':<20} {one:8.1f} {two:8.1f} {three:8.1f} {one / two:14.2f} {one / three:11.2f}")
    apart = max(abs(a - b) for values in right.values() for a, b in zip(values[::2], values[1::2], strict=True))
    print(f"largest difference in accuracy between frozen and kept: {apart:.4f}")


if __name__ == "__main__":
    main()
