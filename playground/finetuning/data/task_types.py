"""The forms of answer of the tasks, one class each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from playground.finetuning.data.dataset import About, AnswerForm, Dataset, Item, Layer, Pool, answered, share
from playground.finetuning.data.input_format import InputRow
from playground.finetuning.data.prompting import (
    Prompt,
    Prompts,
    choice_prompts,
    choice_scores,
    span_prompts,
    span_scores,
    written_prompts,
    written_scores,
)
from playground.models import LanguageModel
from playground.models.heads import infersent_features

CLOSED = -1e4
"""The score of a position where no span may begin or end; finite, so that two runs can be subtracted."""


@dataclass(frozen=True)
class Classes(AnswerForm):
    """One of several classes for a text; labels `[r]`."""

    names: tuple[str, ...]
    has_chance: ClassVar[bool] = True

    @property
    def scores(self) -> int:
        return len(self.names)

    @property
    def classes(self) -> tuple[str, ...]:
        return self.names


@dataclass(frozen=True)
class Abroad(Classes):
    """One of several classes for a text; labels `[r]` count on where a text is in the second language.

    The accuracy is that in the second language, where there is such a text.
    """

    metric: ClassVar[str] = "accuracy in the second language"

    def right(self, labels: Tensor) -> Tensor:
        return labels % self.scores

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        right, abroad = scores.argmax(dim=1) == labels % self.scores, labels >= self.scores
        home = {} if bool(abroad.all()) else {"accuracy in the first language": share(right[~abroad])}
        return {"accuracy": share(right[abroad] if bool(abroad.any()) else right), **home}


@dataclass(frozen=True)
class Marked(Classes):
    """One of several classes for the two marked words of a text."""

    about: ClassVar[About] = "marked"
    classes: ClassVar[tuple[str, ...]] = ()

    def positions(self, items: Sequence[Item], rows: Sequence[InputRow]) -> Tensor:
        both = zip(rows, items, strict=True)
        return torch.tensor([[row.start(k, word) for k, word in enumerate(item.marked)] for row, item in both])

    def read(self, head: Layer, hidden: Tensor, texts: Dataset, pool: Pool) -> Tensor:
        assert texts.positions is not None
        row = torch.arange(len(hidden), device=hidden.device)
        return head(infersent_features(*(hidden[row, texts.positions[:, k]] for k in (0, 1))))


@dataclass(frozen=True)
class OfEach(AnswerForm):
    """One of several classes for each of some things, with a classifier for each; a text is asked about one thing.

    Labels `[r]` are the number of the thing times the number of classes, plus the class (arXiv:1903.09588, sec. 2.2).
    """

    names: tuple[str, ...]
    things: tuple[str, ...]
    has_chance: ClassVar[bool] = True

    @property
    def scores(self) -> int:
        return len(self.things) * len(self.names)

    def pairs(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        each = scores.unflatten(1, (len(self.things), len(self.names)))
        asked = each[torch.arange(len(labels), device=labels.device), labels // len(self.names)]
        return asked, self.right(labels)

    def right(self, labels: Tensor) -> Tensor:
        return labels % len(self.names)


@dataclass(frozen=True)
class Choice(AnswerForm):
    """The right one of so many candidates; each is read with the context and gets one score; labels `[r]`."""

    number: int
    continued: ClassVar[bool] = True

    def read(self, head: Layer, hidden: Tensor, texts: Dataset, pool: Pool) -> Tensor:
        return head(pool(hidden, texts)).unflatten(0, (-1, texts.rows_each))[..., 0]

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The accuracy of choosing any candidate."""
        return 1 / self.number

    def prompts(self, prompt: Prompt, train: Dataset, test: Dataset) -> Prompts:
        return choice_prompts(prompt, train, test)

    def prompted(self, model: LanguageModel, prompt: Prompt, train: Dataset, test: Dataset) -> Tensor:
        return choice_scores(model, prompt, train, test)


@dataclass(frozen=True)
class Number(AnswerForm):
    """A number from 0 to `most`; labels `[r]`."""

    most: float
    metric: ClassVar[str] = "Pearson correlation (below 0 counts as 0)"

    def labels(self, items: Sequence[Item], rows: Sequence[InputRow]) -> Tensor:
        return torch.tensor([item.right for item in items], dtype=torch.float)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        return mse_loss(scores[:, 0], labels / self.most)

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        predicted = scores[:, 0].double()
        linear, ranked = pearson(predicted, labels.double()), pearson(ranks(predicted), ranks(labels.double()))
        return {"accuracy": max(0.0, linear), "Pearson": linear, "Spearman": ranked}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """A constant correlates with nothing."""
        return 0.0


@dataclass(frozen=True)
class Tags(AnswerForm):
    """One of several tags for every word; labels `[r, t]` at the first piece of each word, -1 elsewhere."""

    names: tuple[str, ...]
    about: ClassVar[About] = "words"
    metric: ClassVar[str] = "accuracy per word"
    varies: ClassVar[bool] = True

    @property
    def scores(self) -> int:
        return len(self.names)

    def labels(self, items: Sequence[Item], rows: Sequence[InputRow]) -> Tensor:
        """The tags; a text that was truncated loses those of the words that are gone."""
        tags = torch.full((len(rows), max(len(row.ids) for row in rows)), -1)
        for number, (item, row) in enumerate(zip(items, rows, strict=True)):
            words = row.starts[0][:-1]
            tags[number, words] = torch.tensor(item.right[: len(words)], dtype=torch.long)
        return tags

    def right(self, labels: Tensor) -> Tensor:
        return labels[labels >= 0]

    def pairs(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        return scores, labels.flatten()[answered(labels, len(scores))]

    def read(self, head: Layer, hidden: Tensor, texts: Dataset, pool: Pool) -> Tensor:
        return head(hidden.flatten(0, 1)[texts.answered])


@dataclass(frozen=True)
class TagsAbroad(Tags):
    """One of several tags for every word; labels count on where a text is in the second language, as in `Abroad`."""

    metric: ClassVar[str] = "accuracy per word in the second language"

    def right(self, labels: Tensor) -> Tensor:
        return labels[labels >= 0] % self.scores

    def pairs(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        scores, right = super().pairs(scores, labels)
        return scores, right % self.scores

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        return Abroad(self.names).measure(scores, labels[labels >= 0])


@dataclass(frozen=True)
class Mentions(Tags):
    """Tags that begin with B- and I- mark where a mention begins and continues; a whole mention is right or wrong.

    The measure is that of CoNLL-2003 (cs/0306050, sec. 2.3): F1 over mentions with the same words and kind.
    """

    metric: ClassVar[str] = "F1 of mentions"

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        predicted = labels.clone()
        predicted[labels >= 0] = scores.argmax(dim=1)
        found, right = self.mentions(predicted), self.mentions(labels)
        f1 = 2 * len(found & right) / max(1, len(found) + len(right))
        return {"accuracy": f1, "accuracy per word": share((predicted == labels)[labels >= 0])}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The most frequent tag is that of no mention, so it finds none."""
        return 0.0

    def mentions(self, tags: Tensor) -> set[tuple[int, int, int, str]]:
        """Row, first word, one after the last word, and kind of every mention."""
        mentions: set[tuple[int, int, int, str]] = set()
        for number, row in enumerate(tags.tolist()):
            names = [self.names[tag] for tag in row if tag >= 0]
            for start in (k for k, name in enumerate(names) if name.startswith("B-")):
                kind, end = names[start][2:], start + 1
                while end < len(names) and names[end] == f"I-{kind}":
                    end += 1
                mentions.add((number, start, end, kind))
        return mentions


@dataclass(frozen=True)
class KeySentence(Tags):
    """The one sentence of each text that matters most: each is scored at its special token, the best one wins."""

    metric: ClassVar[str] = "key sentence found"

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        rows = torch.full(labels.shape, float("-inf"), dtype=scores.dtype, device=scores.device)
        rows[labels >= 0] = scores[:, 1] - scores[:, 0]
        found = labels.gather(1, rows.argmax(dim=1, keepdim=True))[:, 0] == 1
        return {"accuracy": share(found), "accuracy per sentence": super().measure(scores, labels)["accuracy"]}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The share found by always naming the sentence that was the key most often in training."""
        return share(self._key(labels) == self._key(learnt).mode().values)

    def _key(self, labels: Tensor) -> Tensor:
        key = (labels == 1).float().argmax(dim=1, keepdim=True)
        return ((labels >= 0).cumsum(1).gather(1, key) - 1)[:, 0]


@dataclass(frozen=True)
class Span(AnswerForm):
    """First and last position of the answer within a text; labels `[r, 2]`.

    The scores `[r, t, 2]` are those of being the first and the last position; the best pair in order wins
    (BERT, arXiv:1810.04805, sec. 4.2). Exact match and F1 over positions are those of SQuAD (arXiv:1606.05250,
    sec. 6.1).
    """

    longest: int = 8
    scores: ClassVar[int] = 2
    about: ClassVar[About] = "words"
    metric: ClassVar[str] = "exact match"
    continued: ClassVar[bool] = True

    def labels(self, items: Sequence[Item], rows: Sequence[InputRow]) -> Tensor:
        """First and last position of each span of words, as far as the text was not truncated."""
        ends = []
        for item, row in zip(items, rows, strict=True):
            (first, length), starts = item.right, row.starts[-1]
            ends.append([row.start(-1, first), starts[min(first + length, len(starts) - 1)] - 1])
        return torch.tensor(ends)

    def positions(self, items: Sequence[Item], rows: Sequence[InputRow]) -> Tensor:
        """First and last position of the text that holds the answer."""
        return torch.tensor([[row.starts[-1][0], row.starts[-1][-1] - 1] for row in rows])

    def read(self, head: Layer, hidden: Tensor, texts: Dataset, pool: Pool) -> Tensor:
        assert texts.positions is not None
        position = torch.arange(texts.tokens.ids.shape[1], device=texts.positions.device)
        outside = (position < texts.positions[:, :1]) | (position > texts.positions[:, 1:])
        return head(hidden).masked_fill(outside[..., None], CLOSED)

    def pairs(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Each end is an answer, and each position a class."""
        return scores.transpose(1, 2).flatten(0, 1), labels.flatten()

    def best(self, scores: Tensor) -> Tensor:
        """First and last position `[r, 2]` of the best span that is in order and not too long."""
        width = scores.shape[1]
        pairs = scores[:, :, None, 0] + scores[:, None, :, 1]
        position = torch.arange(width, device=scores.device)
        length = position[None, :] - position[:, None]
        flat = pairs.masked_fill((length < 0) | (length >= self.longest), float("-inf")).flatten(1).argmax(1)
        return torch.stack([flat // width, flat % width], dim=1)

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        best = self.best(scores)
        common = (torch.minimum(best[:, 1], labels[:, 1]) - torch.maximum(best[:, 0], labels[:, 0]) + 1).clamp(min=0)
        lengths = (best[:, 1] - best[:, 0] + 1) + (labels[:, 1] - labels[:, 0] + 1)
        exact = share((best == labels).all(dim=1))
        return {"accuracy": exact, "exact match": exact, "F1": float((2 * common / lengths).double().mean())}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        spans, counts = learnt.unique(dim=0, return_counts=True)
        return share((labels == spans[counts.argmax()]).all(dim=1))

    def prompts(self, prompt: Prompt, train: Dataset, test: Dataset) -> Prompts:
        return span_prompts(prompt, train, test, self.longest)

    def prompted(self, model: LanguageModel, prompt: Prompt, train: Dataset, test: Dataset) -> Tensor:
        return span_scores(model, prompt, train, test, self.longest)


@dataclass(frozen=True)
class Writing(AnswerForm):
    """A text to be written word by word; labels `[r, t]` are the next tokens, -1 where there is nothing to write.

    Every word is predicted with the right words before it (teacher forcing). A text whose words are then all right is
    exactly one that greedy decoding would write, because each right word is what the next prediction would have read;
    so the exact match is that of greedy decoding.
    """

    about: ClassVar[About] = "written"
    metric: ClassVar[str] = "accuracy per written token, the right ones before it given"
    varies: ClassVar[bool] = True
    continued: ClassVar[bool] = True

    def right(self, labels: Tensor) -> Tensor:
        return labels[labels >= 0]

    def pairs(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        return scores, labels.flatten()[answered(labels, len(scores))]

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        right = torch.ones_like(labels, dtype=torch.bool)
        right[labels >= 0] = scores.argmax(dim=1) == labels[labels >= 0]
        whole = right.all(dim=1) & ((labels >= 0).sum(dim=1) > 1)  # its end alone is no text
        return {"accuracy": share(right[labels >= 0]), "exact match": share(whole)}

    def prompts(self, prompt: Prompt, train: Dataset, test: Dataset) -> Prompts:
        return written_prompts(prompt, train, test)

    def prompted(self, model: LanguageModel, prompt: Prompt, train: Dataset, test: Dataset) -> Tensor:
        return written_scores(model, prompt, train, test)


def pearson(one: Tensor, other: Tensor) -> float:
    """Pearson's correlation; 0 where one of them is constant."""
    one, other = one - one.mean(), other - other.mean()
    size = float(one.norm() * other.norm())
    return float(one @ other) / size if size > 0 else 0.0


def ranks(values: Tensor) -> Tensor:
    """The rank of every number among all; equal numbers share the mean of their ranks."""
    _, which, counts = values.unique(sorted=True, return_inverse=True, return_counts=True)
    last = counts.cumsum(0).double()
    return (last - (counts - 1) / 2)[which]
