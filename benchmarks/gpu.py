"""What a GPU gives: a step beside the CPU's and beside a plain loop over the transformers library's model, in turns.

    PYTHONPATH=. python benchmarks/gpu.py steps [--sizes XS,S,M] [--lines "BERT MLM,GPT LM"]
    PYTHONPATH=. python benchmarks/gpu.py seeds [--seeds 64]
    PYTHONPATH=. python benchmarks/gpu.py strategies [--seeds 5]

Seconds are by the clock, from an idle device to an idle device; a figure is the median over the rounds. The plain loop
is what a first script writes: the library's collator on the CPU, its batch sent to the device, a forward and a backward
pass, gradients clipped, a fused AdamW. `seeds` trains so many seeds of BERT's MLM as one stack, and one after another
by our loop and by the plain one. `strategies` compares eight strategies over the seeds, apart and stacked, on the CPU
and on the GPU.
"""

import argparse
import platform
import time
from statistics import median

import torch
from finetuning import STRATEGIES
from torch.nn.utils import clip_grad_norm_
from training import LINES, SIZES, Ours, peer, quiet, text

from playground.corpora import open_corpus
from playground.devices import describe
from playground.finetuning import Base
from playground.finetuning.comparing.compare import compare
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.training.data import BatchSampler
from playground.training.parallel.stacked_seeds import SeedStack
from playground.training.train_state import TrainState
from playground.zoo import find_entry
from playground.zoo.preset import FAST

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")


class Plain:
    """A plain loop over the library's model on a device."""

    def __init__(self, name, size, corpus, precision, device):
        model, self.collate, _ = peer(name, SIZES[size], corpus)
        self.model, self.device, self.half = model.to(device).train(), device, precision != "float32"
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True)
        self.rows = corpus.ids[: len(corpus.ids) // SIZES[size]["window"] * SIZES[size]["window"]]
        self.rows, self.batch, self.at = self.rows.view(-1, SIZES[size]["window"]).tolist(), SIZES[size]["batch"], 0

    def steps(self, number):
        for _ in range(number):
            rows = [self.rows[(self.at + k) % len(self.rows)] for k in range(self.batch)]
            self.at += self.batch
            batch = {
                key: value.to(self.device) for key, value in self.collate([{"input_ids": r} for r in rows]).items()
            }
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
                loss = self.model(**batch)["loss"]
            loss.backward()
            clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimiser.step()
            self.optimiser.zero_grad(set_to_none=True)


class Seeds:
    """Several seeds of ours on a GPU as one stack."""

    def __init__(self, name, size, corpus, seeds):
        self.states = [Ours(name, SIZES[size], corpus, device=GPU, seed=seed).course for seed in range(seeds)]
        SeedStack(self.states)

    def steps(self, number):
        for _ in range(number):
            for state in self.states:
                for _ in state.step():
                    pass


def seconds(work, count):
    """Seconds by the clock of one of so many repetitions."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    work(count)
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / count


def in_turns(sides, rounds, counts):
    """The median seconds of a step of each side; the order turns from round to round."""
    for name, side in sides.items():
        side.steps(min(counts[name], 3))
    times = {name: [] for name in sides}
    for number in range(rounds):
        for name in sorted(sides, reverse=bool(number % 2)):
            times[name].append(seconds(sides[name].steps, counts[name]))
    return {name: median(values) for name, values in times.items()}


def steps(asked):
    print(
        "| objective | size | CPU ms | GPU ms | times | plain, GPU ms | times | GPU bf16 ms | plain bf16 ms | times |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for size in asked.sizes.split(","):
        corpus = text(SIZES[size]["words"])
        for title in asked.lines.split(","):
            name = LINES[title]
            sides = {
                "cpu": Ours(name, SIZES[size], corpus), "gpu": Ours(name, SIZES[size], corpus, device=GPU),
                "half": Ours(name, SIZES[size], corpus, "bfloat16", GPU),
                "plain": Plain(name, size, corpus, "float32", GPU),
                "plain half": Plain(name, size, corpus, "bfloat16", GPU),
            }  # fmt: skip
            found = in_turns(sides, asked.rounds, dict.fromkeys(sides, 30) | {"cpu": 3 if size == "M" else 10})
            ms = {side: f"{1000 * value:.2f}" for side, value in found.items()}
            times = [found[a] / found[b] for a, b in (("cpu", "gpu"), ("plain", "gpu"), ("plain half", "half"))]
            cells = [
                title, size, ms["cpu"], ms["gpu"], f"{times[0]:.1f}", ms["plain"], f"{times[1]:.2f}", ms["half"],
                ms["plain half"], f"{times[2]:.2f}",
            ]  # fmt: skip
            print("| " + " | ".join(cells) + " |", flush=True)


def seeds(asked):
    print(f"| size | {asked.seeds} seeds, one stack, ms | apart ms | times | plain ms | times |")
    print("|---|---|---|---|---|---|")
    for size in asked.sizes.split(","):
        corpus = text(SIZES[size]["words"])
        sides = {
            "stack": Seeds("RoBERTa", size, corpus, asked.seeds),
            "apart": Ours("RoBERTa", SIZES[size], corpus, device=GPU),
            "plain": Plain("RoBERTa", size, corpus, "float32", GPU),
        }
        found = in_turns(sides, asked.rounds, {"stack": 5, "apart": 30, "plain": 30})
        whole = {name: value * (1 if name == "stack" else asked.seeds) for name, value in found.items()}
        cells = [f"{1000 * whole[name]:.1f}" for name in ("stack", "apart", "plain")]
        gains = [f"{whole[name] / whole['stack']:.1f}" for name in ("apart", "plain")]
        print(f"| {size} | {cells[0]} | {cells[1]} | {gains[0]} | {cells[2]} | {gains[1]} |", flush=True)


def strategies(asked):
    corpus, entry = open_corpus("world"), FAST(find_entry("RoBERTa"))
    print("| device | trials | seconds |\n|---|---|---|")
    for device, way in ((CPU, "processes"), (GPU, "processes"), (GPU, "vmap")):
        learner = TrainState.new(entry, corpus.tokenizer.words, 0, device)
        feed = BatchSampler.of(corpus, entry.recipe.seq_len, entry.recipe.batch_size, 0, device)
        base = Base(learner, feed.evaluation(), lambda feed=feed: feed.windows)
        spec = ComparisonSpec(
            task="sentiment", strategies=STRATEGIES, train_sizes=(64,), seeds=asked.seeds, steps=80, workers=1,
            parallelism=way,
        )  # fmt: skip

        def whole(_, base=base, spec=spec):
            *_, result = compare(base, corpus.tokenizer, spec)
            assert result.outcomes

        print(
            f"| {describe(device)} | {'stacked' if way == 'vmap' else 'apart'} | {seconds(whole, 1):.1f} |", flush=True
        )


def main():
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("part", choices=("steps", "seeds", "strategies"))
    given.add_argument("--sizes", default="XS,S,M")
    given.add_argument("--lines", default="BERT MLM,GPT LM,XLNet PLM,T5 spans")
    given.add_argument("--rounds", type=int, default=5)
    given.add_argument("--seeds", type=int, default=5)
    asked = given.parse_args()
    quiet()
    print(f"{describe(GPU)}, {platform.processor() or platform.machine()}, torch {torch.__version__}")
    {"steps": steps, "seeds": seeds, "strategies": strategies}[asked.part](asked)


if __name__ == "__main__":
    main()
