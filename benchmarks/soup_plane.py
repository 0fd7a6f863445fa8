"""How long all models between two fine-tuned ones take, one by one and stacked, and whether their mean is better.

The base is the model of MLM that comes with the package. First the 21 x 21 models of the instrument `soup plane` are
measured as it measures them, one by one. Then the pass over the texts of one task alone: one model after another, and
stacks of models with `torch.func.vmap` over their weights; both take turns, and the figure is the median of the ratios.
At last, over seeds, the named models, of one task learned from two sets of texts and of two tasks, and the paired
verdict of a comparison on the soups against the models that are in them. All seconds are those of the processor.

    python benchmarks/soup_plane.py [--seeds 5] [--rounds 5] [--threads 1]
"""

import argparse
import time
from dataclasses import replace
from statistics import fmean, median

import torch
from torch import nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from playground.finetuning import find_task
from playground.finetuning.comparing.significance import judge
from playground.finetuning.instruments.soup_plane import ENDS, Settings, soup_plane
from playground.finetuning.run.base import base_of
from playground.rng import generator
from playground.training.own_text import corpus_of
from playground.training.store import bundled

SENTIMENT, TOPIC = find_task("sentiment"), find_task("topic")


def base_in_package():
    """The bundled model of MLM with all of its held-out text."""
    saved = bundled.load("MLM").saved
    return replace(base_of(saved.learner, corpus_of(saved)), tokenizer=saved.tokenizer)


def spent(act):
    """Seconds of the processor, and what it made."""
    began = time.process_time()
    made = act()
    return time.process_time() - began, made


class Scores(nn.Module):
    """The scores of a task's unseen texts as one module, whose weights can be exchanged."""

    def __init__(self, plane):
        super().__init__()
        self.model, self.task = plane.carrier, plane.tasks[0]

    def forward(self):
        return self.task.scores(self.model, self.task.test)


@torch.no_grad()
def stacked(plane, size):
    """The scores of so many models at once."""
    module = Scores(plane)
    names = [f"model.{name}" for name, _ in plane.carrier.named_parameters()]
    models = [plane.at(k / size, 0.5) for k in range(size)]
    stack = {name: torch.stack(values) for name, values in zip(names, zip(*models, strict=True), strict=True)}
    with sdpa_kernel(SDPBackend.MATH):  # the others cannot be mapped over
        return spent(lambda: vmap(lambda parts: functional_call(module, parts, ()))(stack))


@torch.no_grad()
def one_by_one(plane, size):
    """The same, one after another."""
    task, models = plane.tasks[0], [plane.at(k / size, 0.5) for k in range(size)]
    return spent(lambda: torch.stack([task.scores(plane.put(model), task.test) for model in models]))


def main():
    """Measure and print."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("seeds", 5), ("rounds", 5), ("threads", 1)):
        ask.add_argument(f"--{name}", type=int, default=default)
    asked = ask.parse_args()
    torch.set_num_threads(asked.threads)
    base, settings = base_in_package(), Settings()
    seconds, plane = spent(lambda: soup_plane(base, (SENTIMENT, TOPIC), settings, 0))
    low, high = ENDS
    at = [low + (high - low) * k / (settings.points - 1) for k in range(settings.points)]
    began = time.perf_counter()
    grid, points = spent(lambda: list(plane.grid(at)))
    clock = time.perf_counter() - began
    print(f"two models are fine-tuned in {seconds:.1f} s; {len(points)} models on two times {settings.texts} texts and")
    print(f"{len(base.measured.ids)} rows of pre-training text: {grid:.1f} s ({clock:.1f} s by the clock)")
    print("\nmodels in a stack   one by one, ms each   stacked, ms each   times   largest difference")
    for size in (7, 21, 63):
        turns = [(one_by_one(plane, size), stacked(plane, size)) for _ in range(asked.rounds)]
        (plain, first), (other, second) = turns[0]
        apart = float((first - second).abs().max())
        plain, other = (median(pair[k][0] for pair in turns) / size * 1000 for k in (0, 1))
        times = median(one[0] / two[0] for one, two in turns)
        print(f"{size:17}   {plain:19.1f}   {other:16.1f}   {times:5.2f}   {apart:.0e}")
    for tasks in ((SENTIMENT, SENTIMENT), (SENTIMENT, TOPIC)):
        found = {}
        for seed in range(asked.seeds):
            plane = soup_plane(base, tasks, settings, seed)
            for name, weights in plane.marked(generator(seed, "DARE")).items():
                found.setdefault(name, []).append(plane.point(weights))
        print(f"\n{tasks[0].name} and {tasks[1].name}, mean of {asked.seeds} seeds")
        for name, several in found.items():
            each = [fmean(column) for column in zip(*(point.accuracies for point in several), strict=True)]
            forgotten = fmean(point.forgetting for point in several)
            accuracies = " ".join(f"{value:.3f}" for value in each)
            inside = fmean(point.inside for point in several)
            print(f"{name:<18} {accuracies}   forgetting {forgotten:+.2f}   in the plane {inside:.2f}")
        values = {name: [fmean(point.accuracies) for point in several] for name, several in found.items()}
        pairs = [(one, end) for one in ("uniform soup", "greedy soup") for end in ("first", "second")]
        for pair, verdict in judge(values, pairs).items():
            print(f"{' against '.join(pair)}, mean over the tasks: {verdict['difference']:+.3f}, {verdict['said']}")


if __name__ == "__main__":
    main()
