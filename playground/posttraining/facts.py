"""Runs of post-training as plain data, as `playground posttrain --json` prints them."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from playground.finetuning.report.page import csv_text
from playground.posttraining.method import Method, Setting
from playground.posttraining.optimum import FrontierPoint
from playground.posttraining.reward import Reward
from playground.posttraining.run import Measured


class MeasuredFacts(TypedDict):
    """The policy after a step, as exact means over the prompts; KL in nats."""

    step: int
    """The step; for best of n the number of draws."""
    loss: float | None
    """That of the step before; null where nothing was trained."""
    kl_to_optimum: float
    kl_to_reference: float
    true_reward: float
    """The reward that is meant."""
    proxy_reward: float
    """The reward that is trained; the true reward again where that is trained."""
    pretraining_loss: float | None
    """On held-out text, in nats."""
    forgetting: float | None
    """Its rise since the first event, in nats."""
    kl_bound: float | None
    """log n - (n - 1) / n for best of n, else null."""
    seconds: float


class SeedFacts(TypedDict):
    """The events of one seed."""

    seed: int
    events: list[MeasuredFacts]


class ChanceFacts(TypedDict):
    """An answer and its chances."""

    answer: str
    reference: float
    policy: float
    """After the last step of the first seed."""
    optimum: float
    reward: float
    """What is trained."""
    true_reward: float


class PromptFacts(TypedDict):
    """A prompt and the likeliest answers of the optimum, the reference and the policy."""

    prompt: str
    answers: list[ChanceFacts]


class PosttrainFacts(TypedDict):
    """A run of post-training."""

    method: str
    """With the knobs that are not as in the catalogue."""
    reward: str
    true_reward: str
    """The name of the reward that is meant."""
    corpus: str
    answers: int
    """How many answers each prompt has."""
    optimum_reward: float
    """The mean reward of the exact optimum."""
    optimum_kl: float
    """The KL of the exact optimum to the reference, in nats."""
    frontier: list[FrontierPoint]
    seeds: list[SeedFacts]
    prompts: list[PromptFacts]


def facts_of(
    reward: Reward, method: Method, setting: Setting, seeds: Mapping[int, Sequence[Measured]]
) -> PosttrainFacts:
    """One method with the events of its seeds; the answers are those of the last event of the first seed."""
    [point] = setting.optimum.frontier([method.step.beta])
    first, *_ = seeds.values()
    return {
        "method": str(method), "reward": reward.name, "true_reward": reward.true.name,
        "corpus": setting.space.corpus.name, "answers": setting.space.count,
        "optimum_reward": point.reward, "optimum_kl": point.kl,
        "frontier": list(setting.optimum.frontier()),
        "seeds": [{"seed": seed, "events": [*map(event_facts, events)]} for seed, events in seeds.items()],
        "prompts": [prompt_facts(setting, first[-1], k) for k in range(len(setting.space.prompts))],
    }  # fmt: skip


def table_csv(facts: Sequence[PosttrainFacts]) -> str:
    """The events of all methods and seeds as CSV, a row for each."""
    events = [(each["method"], seed["seed"], e) for each in facts for seed in each["seeds"] for e in seed["events"]]
    names = MeasuredFacts.__annotations__
    rows = [(method, seed, *(event[name] for name in names)) for method, seed, event in events]
    return csv_text([("method", "seed", *names), *rows])


def event_facts(event: Measured) -> MeasuredFacts:
    """An event without its tensors."""
    return MeasuredFacts(**{name: getattr(event, name) for name in MeasuredFacts.__annotations__})


def prompt_facts(setting: Setting, event: Measured, prompt: int, number: int = 3) -> PromptFacts:
    """The likeliest answers to a prompt, with their chances."""
    policies = {
        "optimum": setting.optimum.log_probs, "reference": setting.reference.joint, "policy": event.log_probs,
    }  # fmt: skip
    best = dict.fromkeys(i for p in policies.values() for i in p[prompt].topk(min(number, p.shape[1])).indices.tolist())
    answers: list[ChanceFacts] = [
        {
            "answer": setting.space.answer_text(i), "reward": float(setting.rewards[prompt, i]),
            "true_reward": float(setting.true_rewards[prompt, i]),
            "reference": float(policies["reference"][prompt, i].exp()),
            "policy": float(policies["policy"][prompt, i].exp()),
            "optimum": float(policies["optimum"][prompt, i].exp()),
        }
        for i in best
    ]  # fmt: skip
    return {"prompt": setting.space.prompt_text(prompt), "answers": answers}
