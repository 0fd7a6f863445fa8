"""What compression keeps and costs: half the layers by distillation, every method at its defaults, and sharing's clock.

1. The default base is distilled into half its layers on sentiment, 64 labels, with five seeds: seconds of the processor
   for all seeds, and the share of the score above chance that is kept. The goal is less than 60 seconds on two cores,
   that is 120 of the processor, and at least 95 %.
2. Every method at its defaults with some seeds: what is kept, bytes, operations, and seconds as a share of the
   uncompressed model's in the same round.
3. ALBERT's contradiction: parameters, operations and seconds of a model whose layers share their weights.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/compression.py RUN [--seeds 5] [--only half|methods|sharing]

RUN is the folder of `playground train RoBERTa --out RUN`.
"""

import argparse
import os
import time
from collections.abc import Sequence
from copy import deepcopy

import torch

from playground.compression import find_method, methods
from playground.compression.classifier import Classifier, reshaped
from playground.compression.compare import Compression, CompressionSpec, compress
from playground.compression.meters import latencies, operations
from playground.compression.method import Compressed, TaskData
from playground.compression.report import kept_in_words
from playground.finetuning import find_task
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.run.base import from_checkpoint
from playground.finetuning.strategy.head import new_head
from playground.models import LanguageModel
from playground.training import checkpoint

FIRST_SEED = 100
"""No default of a method was chosen by these seeds."""

HALF = ("soft targets", "PKD", "DistilBERT", "TinyBERT", "MiniLM", "Theseus", "layer dropping", "small from scratch")


def run(path: str, pipelines: Sequence[str], seeds: int) -> tuple[Compression, float]:
    """The comparison and the seconds of the processor that it took."""
    saved, began = checkpoint.load(path), time.process_time()
    spec = CompressionSpec(path, "sentiment", tuple(pipelines), seeds, FIRST_SEED)
    *_, last = compress(from_checkpoint(saved), saved.tokenizer, spec, task=find_task("sentiment"))
    return last, time.process_time() - began


def half(path: str, seeds: int) -> None:
    """Each way to half the layers on its own, so that its seconds are known."""
    print(f"half the layers, {seeds} seeds")
    print("| pipeline | kept (95 % interval) | processor, s, all seeds |\n|---|---|---|")
    for line in HALF:
        made, seconds = run(path, [line], seeds)
        kept = made.kept(line)
        print(f"| {line} | {kept_in_words(kept)} | {seconds:.0f} |", flush=True)


def every(path: str, seeds: int) -> None:
    """All methods side by side, at most twelve at a time."""
    print(
        "| method | accuracy | kept | parameters | bytes | operations | seconds at 1 | seconds at 32 |\n"
        + "|---" * 8
        + "|"
    )
    names = list(methods())
    for first in range(0, len(names), 11):
        made, _ = run(path, names[first : first + 11], seeds)
        for row in made.facts(path, "")["pipelines"][min(first, 1) :]:
            shares = [f"{each['share']:.2f}" for each in row["latency"].values()]
            cells = [row["name"], f"{row['accuracy']['mean']:.3f} ± {row['accuracy']['sd']:.3f}",
                     kept_in_words(row["kept"]), f"{row['parameters']:,}", f"{row['bytes']:,.0f}",
                     f"{row['operations']:,.0f}", *shares]  # fmt: skip
            print(f"| {' | '.join(cells)} |", flush=True)


def sharing(path: str) -> None:
    """Untrained models of 2 to 8 layers: what sharing changes by each meter."""
    saved, task = checkpoint.load(path), find_task("sentiment")
    base = from_checkpoint(saved)
    texts = task.load(saved.tokenizer, 64, 0, "train")
    step = find_method("layer sharing(steps=0)").step
    print("| layers | parameters | operations | seconds at 1 | seconds at 32 |\n" + "|---" * 5 + "|")
    for layers in (2, 4, 8):
        whole = _deep(base.learner.model, layers, texts)
        data = TaskData(base, task, texts, texts, 0)
        shared = step.apply(Compressed.whole(whole).copy(), data, torch.Generator()).classifier
        count = [sum(p.numel() for p in c.parameters()) for c in (whole, shared)]
        products = [operations(c, texts) for c in (whole, shared)]
        took = latencies({"whole": whole, "shared": shared}, texts)["shared"]
        print(f"| {layers} | {count[1] / count[0]:.2f} | {products[1] / products[0]:.2f} | {took[1]['share']:.2f} | "
              f"{took[32]['share']:.2f} |", flush=True)  # fmt: skip


def _deep(model: LanguageModel, layers: int, texts: Dataset) -> Classifier:
    """The base's layers used again up to a depth, each with weights of its own."""
    model = deepcopy(model)
    made = Classifier(model, new_head(model, texts.answer, 0))
    stack = model.network.encoder
    stack.blocks = torch.nn.ModuleList(deepcopy(stack.blocks[k % len(stack.blocks)]) for k in range(layers))
    reshaped(made, layers=layers)
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=("half", "methods", "sharing"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, torch {torch.__version__}")
    parts = {"half": lambda: half(given.run, given.seeds), "methods": lambda: every(given.run, given.seeds),
             "sharing": lambda: sharing(given.run)}  # fmt: skip
    for name, part in parts.items():
        if given.only in (None, name):
            part()
