"""A reward: what it pays for each answer, and of which true reward it is a proxy."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.catalog import choose, find
from playground.errors import UserError
from playground.posttraining.answer_space import AnswerSpace

PACKAGE = "playground.posttraining.rewards"


@dataclass(frozen=True)
class Reward:
    """A reward of the catalogue; `score` gives every answer of every prompt a number, `[p, w, w]`.

    `proxy_of` names the reward that is meant where this one only goes along with it; empty where it is meant itself.
    """

    name: str
    idea: str
    score: Callable[[AnswerSpace], Tensor]
    proxy_of: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[bool]:
        """True rewards come before proxies."""
        return (bool(self.proxy_of),)

    @property
    def true(self) -> "Reward":
        """The reward that is meant."""
        return find_reward(self.proxy_of) if self.proxy_of else self


def rewards() -> dict[str, Reward]:
    """Every reward by name."""
    return find(PACKAGE, Reward)


def find_reward(name: str) -> Reward:
    """One reward by its name or an alias."""
    return choose(PACKAGE, Reward, name, "reward")


def polarities(space: AnswerSpace) -> Tensor:
    """The polarity of every token `[v]` in the corpus: -1 negative, 0 neutral, 1 positive."""
    corpus = space.corpus
    if "word_polarity" not in corpus.labels:
        raise UserError(f"The words of {corpus.name} have no polarity, which this reward reads; choose reviews.")
    values = torch.tensor([{"negative": -1, "positive": 1}.get(n, 0) for n in corpus.label_names["word_polarity"]])
    labels = corpus.labels["word_polarity"].long()
    table = torch.zeros(len(corpus.tokenizer), dtype=torch.long)
    table[corpus.ids.long()[labels >= 0]] = values[labels[labels >= 0]]
    return table


def statement_polarity(space: AnswerSpace) -> Tensor:
    """The sum of the polarities of an answer's words, with "not" before a word turning it round, `[p, w, w]`."""
    polarity, turned = polarities(space), _turned_by_not(space)
    words = polarity[space.words]
    first = torch.where(turned[space.prompts[:, -1]][:, None], -words, words)  # [p, w]
    second = torch.where(turned[space.words][:, None], -words, words)  # [w, w]
    return first[:, :, None] + second


def prompt_polarity(space: AnswerSpace) -> Tensor:
    """The sum of the polarities of a prompt's words in the same way, `[p]`."""
    turned, words = _turned_by_not(space), polarities(space)[space.prompts]
    after_not = torch.cat([torch.zeros_like(words[:, :1], dtype=torch.bool), turned[space.prompts[:, :-1]]], dim=1)
    return torch.where(after_not, -words, words).sum(1)


def _turned_by_not(space: AnswerSpace) -> Tensor:
    """Which tokens `[v]` turn the polarity of the next one round."""
    return torch.tensor([word == "not" for word in space.corpus.tokenizer.words])
