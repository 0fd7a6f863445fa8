"""Post-training against the exact optimum: where each method ends, how fast, and what a proxy does to the true reward.

python benchmarks/posttraining.py [--seeds 5] [--only NAME ...]
"""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from statistics import fmean

import torch

from playground.corpora import open_corpus
from playground.finetuning.run.base import Base, base_of
from playground.posttraining import (
    AnswerSpace,
    Measured,
    PostTraining,
    draw_prompts,
    find_method,
    find_reward,
    post_train,
    setting_of,
)
from playground.posttraining.answer_space import enumerate_answers
from playground.rng import generator
from playground.training.events import Started
from playground.training.loop import Run, train
from playground.training.store.ready_made import ready_made

PRETRAINING_STEPS, PROMPTS, PROMPT_LEN = 60, 8, 7

ARMS = {
    "DPO": ("DPO", "grammatical"),
    "DPO, sampled labels": ("DPO(preferences=sampled)", "grammatical"),
    "DPO, pairs of the reference": ("DPO(answers_from=reference)", "grammatical"),
    "SFT on the optimum": ("SFT", "grammatical"),
    "SFT on the grammar": ("SFT(demonstrations=grammar)", "grammatical"),
    "GRPO": ("GRPO", "grammatical"),
    "GRPO, KL corrected": ("GRPO(use_bias_correction_kl=yes)", "grammatical"),
    "GRPO, unscaled": ("GRPO(scale_rewards=none)", "grammatical"),
    "GRPO, KL corrected, unscaled": ("GRPO(use_bias_correction_kl=yes, scale_rewards=none)", "grammatical"),
    "DPO, positive": ("DPO", "positive"),
    "DPO, proxy": ("DPO", "positive words"),
    "GRPO, proxy": ("GRPO", "positive words"),
}
"""The method and the reward of each arm."""


def started() -> tuple[Base, AnswerSpace]:
    """A language model after few steps, and prompts."""
    corpus = open_corpus("reviews")
    made = ready_made("LM", corpus.name, steps=PRETRAINING_STEPS)
    events = train(Run(made.entry, corpus, 0, steps=made.steps, evaluate_every=made.steps))
    learner = next(event for event in events if isinstance(event, Started)).learner
    for _ in events:
        pass
    return base_of(learner, corpus), draw_prompts(corpus, PROMPTS, PROMPT_LEN, generator(0, "prompts"))


def enumeration_time(base: Base, space: AnswerSpace, words: int) -> float:
    """The median of five times to score all answers of one prompt made of so many words, in seconds."""
    regular = space.corpus.tokenizer.specials.words
    one = AnswerSpace(space.corpus, space.prompts[:1], torch.cat([space.words, regular]).unique()[:words])
    times = []
    for _ in range(5):
        began = time.perf_counter()
        enumerate_answers(base.learner.model.eval(), one)
        times.append(time.perf_counter() - began)
    return sorted(times)[2]


def arm(base: Base, space: AnswerSpace, name: str, seeds: int) -> Iterator[tuple[list[Measured], float]]:
    """The events of each seed, and all its seconds, measuring included."""
    method, reward = ARMS[name]
    setting = None
    for seed in range(seeds):
        run = PostTraining(base, space, find_reward(reward), find_method(method), seed)
        setting, began = setting or setting_of(run), time.perf_counter()
        yield [*post_train(run, setting)], time.perf_counter() - began


def row(name: str, results: Sequence[tuple[list[Measured], float]]) -> str:
    """One line of the table: means over the seeds, and the worst KL."""
    first, last = [events[0] for events, _ in results], [events[-1] for events, _ in results]
    ends = [event.kl_to_optimum for event in last]
    forgetting = fmean(event.forgetting or 0.0 for event in last)
    true, proxy = ([fmean(getattr(e, k) for e in es) for es in (first, last)] for k in ("true_reward", "proxy_reward"))
    best = fmean(max(event.true_reward for event in events) for events, _ in results)
    return (
        f"| {name} | {fmean(e.kl_to_optimum for e in first):.2f} | {fmean(ends):.3f} ({max(ends):.3f}) "
        f"| {fmean(e.kl_to_reference for e in last):.3f} | {proxy[0]:.3f} → {proxy[1]:.3f} "
        f"| {true[0]:.3f} → {true[1]:.3f} ({best:.3f}) | {forgetting:+.2f} | {fmean(s for _, s in results):.0f} |"
    )


def main() -> None:
    """Print the time of an enumeration, and a table of the arms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[*ARMS], choices=[*ARMS])
    given = parser.parse_args()
    base, space = started()
    print(f"load {os.getloadavg()[0]:.1f}, {torch.get_num_threads()} threads")
    for words in (len(space.words), 237):
        print(f"{words**2:,} answers of one prompt: {enumeration_time(base, space, words):.3f} s")
    print("| method | KL to optimum before | after (worst seed) | KL to reference | reward | true reward (best) "
          "| forgetting | s a seed |\n|---|---|---|---|---|---|---|---|")  # fmt: skip
    for name in given.only:
        print(row(name, [*arm(base, space, name, given.seeds)]), flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
