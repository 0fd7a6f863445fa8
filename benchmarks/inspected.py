"""What instruments find in trained models of the zoo, beside what a feasibility study with other code had found.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/inspected.py [--seeds 0 1 2] [--steps 1000]

A masked, a left-to-right and a permutation language model learn the default corpus and that of senses; the first two
also those of agreement and of facts. One row for each number: mean and standard deviation over the seeds. Steps are
counted, so a busy machine finds the same.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import mean, stdev

import torch

from playground.analysis.finding import Finding, plain
from playground.analysis.instrument import instrument_named
from playground.analysis.subject import Subject
from playground.corpora import open_corpus
from playground.objectives import find_objective
from playground.training import Run, Started, train
from playground.training.observe.subjects import of_learner
from playground.zoo import entry_named

ENTRIES = {
    "MLM": entry_named("RoBERTa"),
    "LM": entry_named("GPT"),
    "PLM": replace(entry_named("XLNet"), objective=find_objective("PLM")),  # single texts instead of pairs
}

Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Measurement:
    """An instrument, which of its numbers are printed, and its settings where they are not the defaults."""

    instrument: str
    numbers: Callable[[Finding], Numbers]
    settings: Mapping[str, object] | None = None

    def look(self, subject: Subject) -> Numbers:
        """The numbers of a subject; none where the instrument cannot measure it."""
        instrument = instrument_named(self.instrument)
        if instrument.missing(subject):
            return {}
        return self.numbers(instrument.look(subject, replace(instrument.settings, **self.settings or {})))


def named(finding: Finding) -> Numbers:
    """All numbers by name."""
    return {number.name: number.value for number in finding.numbers}


def column(value: str, of: tuple[str, ...], rows: Mapping[str, str]) -> Callable[[Finding], Numbers]:
    """The values of some rows of the first table, by the columns `of`; a row is taken where a column is as said."""

    def taken(finding: Finding) -> Numbers:
        columns = {name: plain(values) for name, values in finding.tables[0].columns.items()}
        kept = [k for k in range(len(finding.tables[0])) if all(columns[c][k] == v for c, v in rows.items())]
        return {", ".join(str(columns[c][k]) for c in of): columns[value][k] for k in kept}

    return taken


def both_probes(finding: Finding) -> Numbers:
    """Part of speech and sense at each level."""
    return {
        key: value
        for probe in ("part of speech", "sense")
        for key, value in column("accuracy", ("probe", "level"), {"probe": probe})(finding).items()
    }


HOMOGRAPHS = {"task": "part of speech of homographs", "count": 1500}

MEASUREMENTS = {
    "world": (
        Measurement("two masks", named),
        Measurement("probing classifier", column("accuracy", ("level",), {"probe": "task"}), HOMOGRAPHS),
        Measurement("odd one out", named),
    ),
    "senses": (Measurement("part of speech and sense by level", both_probes),),
    "agreement": (Measurement("agreement", named),),
    "facts": (Measurement("facts", column("P@1", ("mentions",), {"wording": "both together"})),),
}

LEVELS = ("embeddings", "layer 1", "layer 2")

STUDY = {
    ("two masks: impossible pairs, both at once", "MLM"): 0.83,
    ("two masks: impossible pairs, one after the other", "MLM"): 0.08,
    ("two masks: impossible pairs, one after the other", "LM"): 0.003,
    ("two masks: impossible pairs, one after the other", "PLM"): 0.052,
    **{
        (f"part of speech and sense by level: sense, {level}", model): share
        for model, shares in {
            "MLM": (0.667, 0.952, 0.978),
            "LM": (0.667, 0.908, 0.905),
            "PLM": (0.667, 0.98, 0.98),
        }.items()
        for level, share in zip(LEVELS, shares, strict=True)
    },
    **{
        (f"probing classifier: {level}", model): share
        for model, shares in {"MLM": (0.56, 0.68, 0.83), "LM": (0.58, 0.71, 0.70)}.items()
        for level, share in zip(LEVELS, shares, strict=True)
    },
    ("agreement: 0 attractors", "LM"): 0.79,
    ("agreement: 1 attractor", "LM"): 0.61,
    ("agreement: 2 attractors", "LM"): 0.46,
}
"""Means of the study: another grammar, 500 steps, and only the words that its probes could be asked about."""


def trained(model: str, corpus_name: str, seed: int, steps: int) -> Subject:
    """An entry after so many steps on a corpus, the rate falling to the last one."""
    entry, corpus = ENTRIES[model], open_corpus(corpus_name)
    entry = replace(entry, recipe=replace(entry.recipe, steps=steps))
    started, *_ = train(Run(entry, corpus, seed=seed, steps=steps, evaluate_every=steps))
    assert isinstance(started, Started)
    return of_learner(started.learner, corpus)


def main() -> None:
    """Train, look, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--corpora", nargs="+", default=list(MEASUREMENTS))
    given = parser.parse_args()
    torch.set_num_threads(1)
    print("| measurement | model | mean ± sd | study |\n|---|---|---|---|")
    for corpus in given.corpora:
        for model in ENTRIES if corpus in ("world", "senses") else ("MLM", "LM"):
            shares: dict[str, list[float]] = defaultdict(list)
            for seed in given.seeds:
                subject = trained(model, corpus, seed, given.steps)
                for each in MEASUREMENTS[corpus]:
                    for name, value in each.look(subject).items():
                        shares[f"{each.instrument}: {name}"].append(value)
            for name, values in shares.items():
                spread = f" ± {stdev(values):.3f}" if len(values) > 1 else ""
                known = STUDY.get((name, model))
                print(
                    f"| {name} | {model} | {mean(values):.3f}{spread} | {'' if known is None else known} |", flush=True
                )


if __name__ == "__main__":
    main()
