"""Regret: by how many nats a model's loss on each word is above that of the best possible prediction.

The best possible prediction knows the grammar, and of the text exactly the words that can reach the position which
predicts (the closure of the leak check), in their places, but never the word itself. On average over many words no
model that keeps to its attention mask can do better; one that sees its answer does.
"""

from collections import defaultdict
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.analysis.floor.automaton import Automaton, Start
from playground.analysis.floor.chart import ParseChart
from playground.analysis.floor.phenomena import AGREEMENT, RULES
from playground.answers import Answer, Target
from playground.batch import Action, Batch
from playground.leaks import known_positions
from playground.models import LanguageModel
from playground.objectives import Objective

GIVEN_AWAY = (Action.SCORED_AS_IS, Action.SAME_BY_LUCK)
"""A word that stands where it is asked for is no prediction."""


@dataclass(frozen=True)
class ScoredWord:
    """One predicted word: the number of its answer and of its score there, its row and position, and the question."""

    answer: int
    score: int
    row: int
    position: int
    target: str


@dataclass(frozen=True)
class Floor:
    """A batch and the best possible prediction of each of its k words: log chances `[k, v]`, the true words `[k]`.

    `shares` `[k, phenomena]` say what each word is an instance of; they sum to 1.
    """

    automaton: Automaton
    batch: Batch
    asked: tuple[ScoredWord, ...]
    best: Tensor
    words: Tensor
    shares: Tensor


@dataclass(frozen=True)
class Regret:
    """Nats above the best possible for each of k words, and for each phenomenon its share of them all.

    `total` is the mean of a word. `parts` are (nats, words) by phenomenon: their nats add up to those of all words.
    """

    floor: Floor
    losses: Tensor
    best: Tensor
    parts: dict[str, tuple[float, float]]

    @property
    def nats(self) -> Tensor:
        return self.losses - self.best

    @property
    def total(self) -> float:
        return float(self.nats.mean())

    @property
    def each(self) -> dict[str, float]:
        """The mean of a phenomenon where it occurs, in nats, the largest part of the total first."""
        ordered = sorted(self.parts.items(), key=lambda part: -part[1][0])
        return {name: nats / words for name, (nats, words) in ordered if words > 1e-9}

    @property
    def standard_error(self) -> float:
        """Of the mean, as if words were independent."""
        return float(self.nats.std() / len(self.nats) ** 0.5) if len(self.nats) > 1 else float("inf")


SEVERAL_TEXTS = frozenset(("pair", "translation", "distance"))
"""Needs of an objective whose rows are no stretch of the corpus."""


def reads_windows(objective: Objective) -> bool:
    """Whether the rows of an objective are stretches of the corpus, which begin at any word."""
    return not SEVERAL_TEXTS & set(objective.needs)


def floor_of(automaton: Automaton, batch: Batch, layers: int, start: Start = "window") -> Floor:
    """The best possible prediction of every word of the text that a batch asks for; raises `UserError`."""
    asked: list[ScoredWord] = []
    seen: list[Tensor] = []
    targets = [(part, target) for part in batch.with_auxiliary for target in part.targets]
    for number, (part, target) in enumerate(targets):
        for row in range(len(part.tokens.ids)) if names_words(target) else ():
            known = known_positions(part, target, max(1, layers), row).cpu()
            scores = target.loss_positions
            for score in (scores.rows == row).nonzero()[:, 0].tolist():
                reader = int(scores.positions[score])
                position = int(target.origin[row, reader])
                if position >= 0 and int(part.actions[row, position]) not in GIVEN_AWAY:
                    asked.append(ScoredWord(number, score, row, position, target.name))
                    seen.append(known[reader])
    sizes = batch.tokens.lengths.tolist()
    texts = [tuple(ids[:size].tolist()) for ids, size in zip(batch.tokens.ids, sizes, strict=True)]
    best = torch.zeros(len(asked), len(automaton.tokenizer), dtype=torch.float64)
    shares = torch.zeros(len(asked), len(automaton.phenomena), dtype=torch.float64)
    in_row: dict[int, list[int]] = defaultdict(list)
    for k, one in enumerate(asked):
        in_row[one.row].append(k)
    for row, numbers in in_row.items():
        chart = ParseChart(automaton, texts[row], start)
        positions = [asked[k].position for k in numbers]
        shares[numbers] = chart.phenomena()[positions]
        for k, position in zip(numbers, positions, strict=True):
            best[k] = chart.chances(position, seen[k][: len(texts[row])].tolist()).log()
    words = torch.tensor([texts[one.row][one.position] for one in asked], dtype=torch.long)
    return Floor(automaton, batch, tuple(asked), best, words, shares)


def names_words(target: Target) -> bool:
    """Whether the model's scores are those of every word of the vocabulary, for words of the text."""
    return target.kind.names_words and target.kind.plain


@torch.no_grad()
def regret(model: LanguageModel, floor: Floor) -> Regret:
    """How far a model, in evaluation mode, is above the best possible on a batch."""
    return regret_of(floor, model(floor.batch))


def regret_of(floor: Floor, answers: tuple[Answer, ...]) -> Regret:
    """The same from the model's answers to the batch."""
    logs = [answers[one.answer].scores[one.score] for one in floor.asked]
    chances = torch.stack(logs).double().log_softmax(-1).cpu()
    at = floor.words[:, None]
    losses, best = (-scores.gather(1, at)[:, 0] for scores in (chances, floor.best))
    return Regret(floor, losses, best, _parts(floor, chances, losses - best))


def _parts(floor: Floor, chances: Tensor, nats: Tensor) -> dict[str, tuple[float, float]]:
    """Nats and words of each phenomenon.

    At a verb that agrees, only the choice between singular and plural is agreement; the rest is which verb it is:
    log p(word) = log p(number) + log p(word given number).
    """
    names, agreement = floor.automaton.phenomena, set(AGREEMENT.values())
    number = _number_nats(floor, chances)
    parts: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for k, name in enumerate(names):
        share = floor.shares[:, k]
        own = number if name in agreement else nats
        parts[name][0] += float((share * own).sum())
        parts[name][1] += float(share.sum())
        if name in agreement:
            parts[RULES["Does"]][0] += float((share * (nats - number)).sum())
    return {name: (sums[0], sums[1]) for name, sums in parts.items()}


def _number_nats(floor: Floor, chances: Tensor) -> Tensor:
    """The regret in the number of a verb alone `[k]`; 0 where the true word is no verb that agrees."""
    nats = torch.zeros(len(floor.words), dtype=torch.float64)
    for words in floor.automaton.verbs.values():
        if bool(words.any()):
            right = words[floor.words]
            model, best = (scores[right][:, words].logsumexp(1) for scores in (chances, floor.best))
            nats[right] = best - model
    return nats
