"""`playground posttrain`: post-train a causal language model, measured against the exact optimum."""

import argparse
import sys
from collections.abc import Iterator
from typing import TypedDict

from tqdm import tqdm

from playground.cli.options import Parser, common_options, number_of, pairs, refuse_unused, say, whole
from playground.corpora import Corpus, open_corpus
from playground.finetuning.run.base import Base, from_checkpoint
from playground.folders import run_folder
from playground.method import MethodFacts, method_facts
from playground.posttraining import (
    Comparison,
    Method,
    PostTraining,
    compare,
    find_method,
    find_reward,
    methods,
    open_space,
    rewards,
    small_base,
)
from playground.posttraining.facts import PosttrainFacts
from playground.posttraining.method import Trained
from playground.posttraining.reference import PRETRAINING_STEPS
from playground.training import checkpoint


class RewardFacts(TypedDict):
    """A reward of the catalogue."""

    name: str
    aliases: tuple[str, ...]
    idea: str
    proxy_of: str
    """The reward that is meant; empty where it is this one."""


class CatalogueFacts(TypedDict):
    """What `--list` prints."""

    methods: list[MethodFacts]
    rewards: list[RewardFacts]


FACTS = (PosttrainFacts, CatalogueFacts)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, posttrain)
    option = command.add_argument
    option("base", nargs="?", type=run_folder, default="", metavar="RUN", help="a run of LM; without one LM is trained")
    option("--list", action="store_true", help="list methods and rewards, and do nothing else")
    option("--method", default="DPO", metavar="NAME", help="SFT, DPO, GRPO or best of n")
    option("--reward", default="grammatical", metavar="NAME", help="what is paid for an answer")
    option("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE", help="a knob of the method")
    option("--seeds", type=number_of(), default=1, metavar="K", help="runs, from --seed on")
    option("--steps", type=number_of(), default=PostTraining.steps, metavar="N")
    option("--prompts", type=number_of(), default=8, metavar="N", help="beginnings of held-out texts")
    option("--prompt", action="append", metavar="TEXT", help="a prompt of your own; repeat it for several")
    option("--corpus", default="reviews", metavar="NAME", help="the corpus of prompts and answers")
    option("--pretraining-steps", type=whole, default=PRETRAINING_STEPS, metavar="N", help="of the LM without RUN")


def posttrain(given: argparse.Namespace) -> int:
    """Run the seeds and print the last event of each, or list the catalogue."""
    if given.list:
        refuse_unused(given, "--list does nothing else", *given.typed.keys() - {"list", "json"})
        return say(given, catalogue(), _listed())
    refuse_unused(given, "the prompts are typed", *(["prompts"] if given.prompt else []))
    refuse_unused(given, "a run is named", *(["pretraining_steps"] if given.base else []))
    method = find_method(given.method).turn(pairs(given.settings, "The knob"))
    if not isinstance(method.step, Trained):
        refuse_unused(given, f"{method.name} is exact and trains nothing", "steps", "seeds", "seed")
    reward, corpus = find_reward(given.reward), open_corpus(given.corpus)
    space = open_space(corpus, given.prompts, given.prompt)
    base = open_base(given.base, corpus, given.pretraining_steps)
    seeds = range(given.seed, given.seed + given.seeds)
    comparisons = compare(base, space, reward, [method], seeds, given.steps)
    [facts] = with_bar(comparisons, method, given.seeds * given.steps).facts
    return say(given, facts, table(facts))


def open_base(run: str, corpus: Corpus, steps: int) -> Base:
    """The run that is named, or an LM of the corpus after so many steps, which is trained once and kept."""
    return from_checkpoint(checkpoint.load(run)) if run else small_base(corpus.name, steps)


def with_bar(comparisons: Iterator[Comparison], method: Method, steps: int) -> Comparison:
    """The last of the comparisons, with a bar of progress on standard error where the method takes `steps`."""
    trains = isinstance(method.step, Trained)
    with tqdm(total=steps, desc="post-training", unit="step", file=sys.stderr, disable=not trains) as bar:
        for comparison in comparisons:
            bar.update(round(comparison.progress * steps) - bar.n)
    return comparison


def table(facts: PosttrainFacts) -> list[str]:
    """The first and the last event of each seed, then the answers to the first prompt."""
    lines = [
        f"{facts['method']} for the reward {facts['reward']} on {facts['corpus']}: {len(facts['prompts'])} prompts "
        f"with {facts['answers']:,} answers each",
        f"{'':<10} {'step':>6} {'KL to optimum':>14} {'KL to reference':>16} {'reward':>8} {'true reward':>12} "
        f"{'forgetting':>11} {'seconds':>8}",
    ]
    for seed in facts["seeds"]:
        trained = seed["events"][0]["step"] == 0
        for event in (seed["events"][0], seed["events"][-1]) if trained else seed["events"]:
            forgetting = "-" if event["forgetting"] is None else f"{event['forgetting']:+.3f}"
            lines.append(
                f"seed {seed['seed']:<5} {event['step']:>6} {event['kl_to_optimum']:>14.4f} "
                f"{event['kl_to_reference']:>16.4f} {event['proxy_reward']:>8.3f} {event['true_reward']:>12.3f} "
                f"{forgetting:>11} {event['seconds']:>8.1f}"
            )
    lines.append(f"{'optimum':<17} {0:>14.4f} {facts['optimum_kl']:>16.4f} {facts['optimum_reward']:>8.3f}")
    first = facts["prompts"][0]
    lines += [f"Answers to {first['prompt']!r} (reference, policy, optimum, reward):"]
    lines += [
        f"    {a['answer']:<28} {a['reference']:.4f} {a['policy']:.4f} {a['optimum']:.4f} {a['reward']:>5.2f}"
        for a in first["answers"]
    ]
    return lines


def catalogue() -> CatalogueFacts:
    """Methods and rewards as plain data."""
    return {
        "methods": [*map(method_facts, methods().values())],
        "rewards": [
            {"name": r.name, "aliases": r.aliases, "idea": r.idea, "proxy_of": r.proxy_of} for r in rewards().values()
        ],
    }  # fmt: skip


def _listed() -> list[str]:
    lines = ["Methods:"]
    for method in methods().values():
        lines += [f"{method.name}: {method.idea}", "    " + ", ".join(f"{k.name}={k.default}" for k in method.knobs)]
    proxies = {r.name: f" A proxy of {r.proxy_of}." if r.proxy_of else "" for r in rewards().values()}
    return [*lines, "Rewards:", *(f"{r.name}: {r.idea}{proxies[r.name]}" for r in rewards().values())]
