"""Methods of post-training side by side: one base, one reward, the same prompts and seeds, and what is seen of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import torch

from playground.errors import UserError
from playground.finetuning.run.base import Base
from playground.posttraining.answer_space import AnswerSpace
from playground.posttraining.facts import PosttrainFacts, facts_of
from playground.posttraining.method import Method, Setting
from playground.posttraining.optimum import mean_under
from playground.posttraining.reward import Reward
from playground.posttraining.run import Measured, PostTraining, post_train, setting_of

MEASURED = 16
"""How often a policy is measured, at most, from its first step to its last."""

RISE = 0.02
"""The least change of a mean reward that is called one."""

Runs = Mapping[str, Mapping[int, tuple[Measured, ...]]]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The events so far, by method and seed; only the last one of a run has its distribution and its rollout.

    `progress` is the share of the work that is done, from 0 to 1.
    """

    setting: Setting
    reward: Reward
    methods: tuple[Method, ...]
    runs: Runs
    steps: int
    progress: float = 0.0

    def values(self, figure: str, of_steps: bool = True) -> dict[str, dict[int, list[float]]]:
        """A figure of every method by step, with a value for each seed; empty for best of n where it is `of_steps`."""
        return {
            str(method): self._by_step(str(method), figure) if method.step.trains or not of_steps else {}
            for method in self.methods
        }

    def _by_step(self, name: str, figure: str) -> dict[int, list[float]]:
        found: dict[int, list[float]] = {}
        for events in self.runs[name].values():
            for event in events:
                if (value := getattr(event, figure)) is not None:
                    found.setdefault(event.step, []).append(value)
        return found

    def ends(self, name: str, figure: str) -> tuple[float, float]:
        """A figure of a method that has begun, at its first and at its last event: the means over the seeds."""
        first, *_, last = [*(found := [*self._by_step(name, figure).values()]), found[-1]]
        return fmean(first), fmean(last)

    def path(self, name: str) -> list[tuple[int, float, float]]:
        """Step, KL to the reference, and the reward that is trained, at every event: the means over the seeds."""
        rewards = self._by_step(name, "proxy_reward")
        return [(step, fmean(kl), fmean(rewards[step])) for step, kl in self._by_step(name, "kl_to_reference").items()]

    def last(self, name: str) -> Measured | None:
        """The last event of the first seed of a method."""
        events = next(iter(self.runs.get(name, {}).values()), ())
        return events[-1] if events else None

    @property
    def optimum_rewards(self) -> tuple[float, float]:
        """What the exact optimum earns: of the reward that is trained, and of the true one."""
        best, setting = self.setting.optimum.log_probs, self.setting
        return mean_under(best, setting.rewards), mean_under(best, setting.true_rewards)

    @property
    def facts(self) -> list[PosttrainFacts]:
        """Each method as `playground posttrain --json` prints it."""
        by_name = {str(method): method for method in self.methods}
        return [facts_of(self.reward, by_name[name], self.setting, seeds) for name, seeds in self.runs.items()]

    @property
    def headline(self) -> str:
        """How near each method is to the optimum, the nearest first, and which of them games the proxy."""
        names = [str(method) for method in self.methods if self.last(str(method)) is not None]
        if not names:
            return ""
        ends = {name: self.ends(name, "kl_to_optimum") for name in names}
        (nearest, (start, kl)), *others = sorted(ends.items(), key=lambda one: one[1][1])
        rest = "".join(f", {name} {kl:.3f}" for name, (_, kl) in others)
        verb = "ends" if self.progress == 1 else "is"
        said = f"{nearest} {verb} {kl:.3f} nats from the optimum{rest}; the reference is {start:.3f} from it."
        return " ".join([said, *filter(None, map(self._gamed, names))])

    def _gamed(self, name: str) -> str:
        """That a method games its proxy, where it does."""
        true, proxy = self.ends(name, "true_reward"), self.ends(name, "proxy_reward")
        if not self.reward.proxy_of or proxy[1] < proxy[0] + RISE or true[1] > true[0] - RISE:
            return ""
        return (
            f"{name} games the proxy (Goodhart's law): the proxy reward rises from {proxy[0]:.2f} to {proxy[1]:.2f}, "
            f"the true reward falls from {true[0]:.2f} to {true[1]:.2f}."
        )


def compare(
    base: Base, space: AnswerSpace, reward: Reward, methods: Sequence[Method], seeds: Sequence[int], steps: int
) -> Iterator[Comparison]:
    """All methods and seeds in turn, an event of each; what is known after every event.

    The methods share one setting, so all must have the same beta.
    """
    if not methods:
        raise UserError("No method is chosen; choose at least one, such as DPO.")
    if len(betas := {method.step.beta for method in methods}) > 1:
        raise UserError(f"The methods have different betas: {', '.join(map(str, sorted(betas)))}; give all the same.")
    every = max(1, round(steps / MEASURED))
    asked = {
        (str(method), seed): PostTraining(base, space, reward, method, seed, steps, every)
        for method in methods
        for seed in (seeds if method.step.trains else seeds[:1])
    }
    setting = setting_of(next(iter(asked.values())))
    going = {key: post_train(run, setting) for key, run in asked.items()}
    runs: dict[str, dict[int, tuple[Measured, ...]]] = {str(method): {} for method in methods}
    done = dict.fromkeys(asked, 0.0)
    while going:
        for (name, seed), events in [*going.items()]:
            event = next(events, None)
            if event is None:
                del going[name, seed]
                continue
            runs[name][seed] = (*map(_slim, runs[name].get(seed, ())), event)
            done[name, seed] = event.step / getattr(asked[name, seed].method.step, "n", steps)
            copied = {name: dict(seeds) for name, seeds in runs.items()}
            yield Comparison(setting, reward, tuple(methods), copied, steps, min(1.0, fmean(done.values())))


def _slim(event: Measured) -> Measured:
    return replace(event, log_probs=torch.zeros(0), rollout=None)
