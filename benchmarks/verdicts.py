"""How often the verdicts of a comparison claim what is not there, and what lead they find.

All strategies of a table are the same (A/A), so that every claim is false: "better" or "worse" of one strategy against
the first at any number of labelled texts, or a winner. The share of tables with any claim must be at most 5 %. Then
other tests than the paired t-test are tried, those that would find more. At last a real base shows how large the
noise is.

    python benchmarks/verdicts.py [RUN] [--tables 1000]

RUN is the folder of a run, as printed by `playground train BERT`; without it the last part is left out.
"""

import argparse
from collections.abc import Callable
from statistics import median, stdev
from types import SimpleNamespace

import numpy as np
from numpy.random import Generator, default_rng
from scipy import special, stats

from playground.finetuning.comparing.compare import compare, judge_curve
from playground.finetuning.comparing.significance import LEVEL, POWER, power, smallest_lead
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.training import checkpoint

SEEDS, SHAPES = (2, 3, 5, 10), ((1, 1), (4, 1), (11, 1), (1, 6), (4, 3), (11, 6))
"""Numbers of seeds, and of strategies besides the first with numbers of labelled texts."""


def in_texts(rng: Generator, rows: tuple[int, ...], texts: int, noise: float = 0.0) -> np.ndarray:
    """Shares of right answers of runs that differ by so much in truth."""
    return rng.binomial(texts, np.clip(0.7 + noise * rng.normal(size=rows), 0, 1)) / texts


Law = Callable[[Generator, tuple[int, ...]], np.ndarray]
"""Accuracies `[sizes, strategies, seeds]`, whose last axis is paired."""

LAWS: dict[str, Law] = {
    "normal": lambda rng, rows: 0.7 + 0.03 * rng.normal(size=rows) + 0.05 * rng.normal(size=rows[-1]),
    "every second strategy thrice as noisy": lambda rng, rows: (
        0.7 + 0.02 * rng.normal(size=rows) * np.where(np.arange(rows[1]) % 2, 3, 1)[:, None]
    ),
    "500 texts": lambda rng, rows: in_texts(rng, rows, 500),
    "500 texts, and runs differ": lambda rng, rows: in_texts(rng, rows, 500, 0.03),
    "20 texts (ties)": lambda rng, rows: in_texts(rng, rows, 20),
    "nearly no variance": lambda rng, rows: 0.7 + (rng.random(rows) < 0.1) / 500,
    "all equal": lambda rng, rows: np.full(rows, 0.7),
}  # fmt: skip


def claims(law: Law, seeds: int, others: int, sizes: int, tables: int) -> float:
    """The share of tables of equal strategies in which anything is claimed."""
    rng, found = default_rng(0), 0
    for _ in range(tables):
        values = law(rng, (sizes, others + 1, seeds)).tolist()
        curve = {
            16 * 2**size: {f"s{k}": [SimpleNamespace(accuracy=value) for value in row] for k, row in enumerate(rows)}
            for size, rows in enumerate(values)
        }
        verdict, tables_by_size = judge_curve(curve)  # type: ignore[arg-type]
        larger = any(gap["larger"] for table in tables_by_size.values() for gap in table)
        found += larger or "larger than the noise" in verdict
    return found / tables


# other tests


def paired(values: np.ndarray, right: np.ndarray) -> np.ndarray:
    gaps = values[:, 1:] - values[:, :1]
    error = gaps.std(2, ddof=1) / gaps.shape[2] ** 0.5
    return 2 * stats.t.sf(abs(gaps.mean(2)) / (error + 1e-12), gaps.shape[2] - 1)


def pooled(values: np.ndarray, right: np.ndarray) -> np.ndarray:
    """One variance for all strategies (two-way analysis of variance)."""
    _, k, n = values.shape
    rest = values - values.mean(1, keepdims=True) - values.mean(2, keepdims=True) + values.mean((1, 2), keepdims=True)
    freedom = (k - 1) * (n - 1)
    error = ((rest**2).sum((1, 2)) / freedom * 2 / n) ** 0.5
    gaps = values[:, 1:].mean(2) - values[:, :1].mean(2)
    return 2 * stats.t.sf(abs(gaps) / error[:, None], freedom)


def moderated(values: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Variances drawn towards that of all gaps (Smyth 2004, empirical Bayes); moments by a search over a grid."""
    gaps = values[:, 1:] - values[:, :1]
    n, grid = gaps.shape[2], np.logspace(-1, 4, 400)
    free, squares = n - 1, gaps.var(2, ddof=1) + 1e-12
    logs = np.log(squares) - special.digamma(free / 2) + np.log(free / 2)
    spread = logs.var(1, ddof=1) - special.polygamma(1, free / 2) if gaps.shape[1] > 1 else np.zeros(len(gaps))
    prior = grid[abs(special.polygamma(1, grid / 2)[None] - np.maximum(spread, 0)[:, None]).argmin(1)]
    centre = np.exp(logs.mean(1) + special.digamma(prior / 2) - np.log(prior / 2))
    drawn = ((prior * centre)[:, None] + free * squares) / (prior[:, None] + free)
    return 2 * stats.t.sf(abs(gaps.mean(2)) / (drawn / n) ** 0.5, (prior + free)[:, None])


def flips_of_texts(values: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Signs of single texts of all seeds are flipped (its normal limit, McNemar's test)."""
    gaps = right[:, 1:].astype(int) - right[:, :1]
    return 2 * stats.norm.sf(abs(gaps.sum((2, 3))) / np.maximum(1, abs(gaps).sum((2, 3))) ** 0.5)


def mixed_model(values: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Texts within seeds: the variance between seeds is never below that of the texts alone."""
    gaps = right[:, 1:].astype(int) - right[:, :1]
    of_texts, between = gaps.var(3).mean(2) / gaps.shape[3], gaps.mean(3).var(2, ddof=1)
    n = gaps.shape[2]
    freedom = np.where(between > of_texts, n - 1, np.inf)
    size = abs(gaps.mean((2, 3))) / (np.maximum(between, of_texts) / n) ** 0.5
    return 2 * np.where(np.isinf(freedom), stats.norm.sf(size), stats.t.sf(size, n - 1))


TESTS = {
    "paired t-test (taken)": paired, "sign flips over texts": flips_of_texts,
    "mixed model, texts in seeds": mixed_model, "one variance for all": pooled, "moderated variances": moderated,
}  # fmt: skip


def tried(test: Callable[..., np.ndarray], seeds: int, others: int, noise: np.ndarray, lead: float) -> float:
    """The share of tables with a claim after Holm, or in which the first lead is found, where there is one."""
    rng, tables, texts = default_rng(1), 1000, 500
    truth = 0.7 + noise[None, :, None] * rng.normal(size=(tables, others + 1, seeds))
    truth[:, 1] += lead
    right = rng.random((tables, others + 1, seeds, texts), dtype=np.float32) < truth[..., None]
    p = test(right.mean(3), right)
    return float(((p[:, 0] if lead else p.min(1)) * others < LEVEL).mean())


def measured(run: str) -> None:
    """The noise of a real base: standard deviations over seeds of the gaps to full fine-tuning."""
    saved, found = checkpoint.load(run), []
    names = ("full", "feature-based", "gradual unfreezing", "LoRA", "L2-SP")
    for task in ("sentiment", "topic", "acceptability", "entailment"):
        spec = ComparisonSpec(run, task, names, seeds=12)
        *_, made = compare(spec.start(saved), saved.tokenizer, spec)
        right = {name: [o.accuracy for o in some] for name, some in made.outcomes.items()}
        gaps = [stdev(a - b for a, b in zip(right[name], right["full"], strict=True)) for name in names[1:]]
        found += gaps
        print(f"| {task} | " + " | ".join(f"{gap:.3f}" for gap in gaps) + " |")
    print(f"median {median(found):.3f}, from {min(found):.3f} to {max(found):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?")
    parser.add_argument("--tables", type=int, default=1000)
    given = parser.parse_args()
    shapes = [f"{others} x {sizes}" for others, sizes in SHAPES]
    for seeds in SEEDS:
        print(f"\n{seeds} seeds: share of tables with any claim (others x numbers of labels: {', '.join(shapes)})")
        for name, law in LAWS.items():
            print(f"| {name} | " + " | ".join(f"{claims(law, seeds, *shape, given.tables):.3f}" for shape in SHAPES))
    equal, unequal = np.full(5, 0.03), np.array([0.06, 0.02, 0.02, 0.06, 0.02])
    print("\nother tests, 5 strategies: any claim (equal noise, unequal noise), a lead of 0.1 found")
    for name, test in TESTS.items():
        cells = [tried(test, seeds, 4, *law) for seeds in (3, 5) for law in ((equal, 0), (unequal, 0), (equal, 0.1))]
        print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells))
    print(f"\na lead of two standard deviations is found (1, 4, 11 comparisons), and the lead found in {POWER:.0%}")
    for seeds in (2, 3, 5, 8, 10):
        found = [f"{power(2, seeds, number):.2f}, {smallest_lead(seeds, number):.1f}" for number in (1, 4, 11)]
        print(f"| {seeds} | " + " | ".join(found))
    if given.run:
        measured(given.run)


if __name__ == "__main__":
    main()
