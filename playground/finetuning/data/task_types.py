"""What a task asks for, one form of answer each: the scores it needs, their loss, and how good they are.

What `measure` calls "accuracy" is the task's main number, which `metric` names; it lies between 0 and 1.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

About = Literal["text", "marked", "words", "written"]
"""What one answer is about: a whole text, the marked words of it, each of its words, or each word that is written."""


class AnswerForm(Protocol):
    """A form of answer: `scores` numbers for each thing that it is about."""

    about: ClassVar[About]
    metric: ClassVar[str]

    @property
    def scores(self) -> int: ...

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor: ...

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]: ...

    def guess(self, learnt: Tensor, labels: Tensor) -> float: ...


@dataclass(frozen=True)
class Classes:
    """One of several classes for a text; labels `[r]`."""

    names: tuple[str, ...]
    about: ClassVar[About] = "text"
    metric: ClassVar[str] = "accuracy"

    @property
    def scores(self) -> int:
        return len(self.names)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(scores, labels)

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        return {"accuracy": share(scores.argmax(dim=1) == labels)}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The accuracy of whoever always names the class that was most frequent in training."""
        return share(labels == learnt.mode().values)


@dataclass(frozen=True)
class Abroad(Classes):
    """One of several classes for a text; labels `[r]` count on where a text is in the second language.

    The accuracy is that in the second language, where there is such a text.
    """

    metric: ClassVar[str] = "accuracy in the second language"

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(scores, labels % self.scores)

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        right, abroad = scores.argmax(dim=1) == labels % self.scores, labels >= self.scores
        home = {} if bool(abroad.all()) else {"accuracy in the first language": share(right[~abroad])}
        return {"accuracy": share(right[abroad] if bool(abroad.any()) else right), **home}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The accuracy of whoever always names the class that was most frequent in training."""
        return share(labels % self.scores == learnt.mode().values % self.scores)


@dataclass(frozen=True)
class Marked(Classes):
    """One of several classes for the two marked words of a text."""

    about: ClassVar[About] = "marked"


@dataclass(frozen=True)
class OfEach:
    """One of several classes for each of some things, with a classifier for each; a text is asked about one thing.

    Labels `[r]` are the number of the thing times the number of classes, plus the class (arXiv:1903.09588, sec. 2.2).
    """

    names: tuple[str, ...]
    things: tuple[str, ...]
    about: ClassVar[About] = "text"
    metric: ClassVar[str] = "accuracy"

    @property
    def scores(self) -> int:
        return len(self.things) * len(self.names)

    def asked(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The scores `[r, c]` of the classifier of the thing that each text is asked about."""
        each = scores.unflatten(1, (len(self.things), len(self.names)))
        return each[torch.arange(len(labels), device=labels.device), labels // len(self.names)]

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(self.asked(scores, labels), labels % len(self.names))

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        return {"accuracy": share(self.asked(scores, labels).argmax(dim=1) == labels % len(self.names))}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The accuracy of whoever always names the class that was most frequent in training."""
        return share(labels % len(self.names) == (learnt % len(self.names)).mode().values)


@dataclass(frozen=True)
class Number:
    """A number from 0 to `most`; labels `[r]`."""

    most: float
    about: ClassVar[About] = "text"
    metric: ClassVar[str] = "Pearson correlation (below 0 counts as 0)"

    @property
    def scores(self) -> int:
        return 1

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        return mse_loss(scores[:, 0], labels / self.most)

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        said = scores[:, 0].double()
        linear, ranked = pearson(said, labels.double()), pearson(ranks(said), ranks(labels.double()))
        return {"accuracy": max(0.0, linear), "Pearson": linear, "Spearman": ranked}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """A number that is always the same goes along with nothing."""
        return 0.0


@dataclass(frozen=True)
class Tags:
    """One of several tags for every word; labels `[r, t]` at the first piece of each word, -1 elsewhere."""

    names: tuple[str, ...]
    about: ClassVar[About] = "words"
    metric: ClassVar[str] = "accuracy per word"

    @property
    def scores(self) -> int:
        return len(self.names)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(scores, labels[labels >= 0])

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        return {"accuracy": share(scores.argmax(dim=1) == labels[labels >= 0])}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The accuracy of whoever gives every word the tag that was most frequent in training."""
        return share(labels[labels >= 0] == learnt[learnt >= 0].mode().values)


@dataclass(frozen=True)
class TagsAbroad(Tags):
    """One of several tags for every word; labels count on where a text is in the second language, as in `Abroad`."""

    metric: ClassVar[str] = "accuracy per word in the second language"

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(scores, labels[labels >= 0] % self.scores)

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        return Abroad(self.names).measure(scores, labels[labels >= 0])

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The accuracy of whoever gives every word the tag that was most frequent in training."""
        return Abroad(self.names).guess(learnt[learnt >= 0], labels[labels >= 0])


@dataclass(frozen=True)
class Mentions(Tags):
    """Tags that begin with B- and I- mark where a mention begins and goes on; a whole mention is right or wrong.

    The measure is that of CoNLL-2003 (cs/0306050, sec. 2.3): F1 over mentions with the same words and kind.
    """

    metric: ClassVar[str] = "F1 of mentions"

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        said = labels.clone()
        said[labels >= 0] = scores.argmax(dim=1)
        found, there = self.mentions(said), self.mentions(labels)
        f1 = 2 * len(found & there) / max(1, len(found) + len(there))
        return {"accuracy": f1, "accuracy per word": share((said == labels)[labels >= 0])}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """Whoever always gives the most frequent tag, which is that of no mention, finds none."""
        return 0.0

    def mentions(self, tags: Tensor) -> set[tuple[int, int, int, str]]:
        """Row, first word, one after the last word, and kind of every mention."""
        found: set[tuple[int, int, int, str]] = set()
        for number, row in enumerate(tags.tolist()):
            names = [self.names[tag] for tag in row if tag >= 0]
            starts = [k for k, name in enumerate(names) if name.startswith("B-")]
            for start in starts:
                kind, end = names[start][2:], start + 1
                while end < len(names) and names[end] == f"I-{kind}":
                    end += 1
                found.add((number, start, end, kind))
        return found


@dataclass(frozen=True)
class KeySentence(Tags):
    """The one sentence of each text that matters most: each is judged where its sign stands, the best wins."""

    metric: ClassVar[str] = "key sentence found"

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        rows = torch.full(labels.shape, float("-inf"), dtype=scores.dtype, device=scores.device)
        rows[labels >= 0] = scores[:, 1] - scores[:, 0]
        found = labels.gather(1, rows.argmax(dim=1, keepdim=True))[:, 0] == 1
        return {"accuracy": share(found), "accuracy per sentence": super().measure(scores, labels)["accuracy"]}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The share found by whoever always names the sentence that was the key most often in training."""
        return share(self._which(labels) == self._which(learnt).mode().values)

    def _which(self, labels: Tensor) -> Tensor:
        """The number of the key sentence of each text."""
        key = (labels == 1).float().argmax(dim=1, keepdim=True)
        return ((labels >= 0).cumsum(1).gather(1, key) - 1)[:, 0]


@dataclass(frozen=True)
class Span:
    """First and last place of the answer within a text; labels `[r, 2]`.

    The scores `[r, t, 2]` are those of being the first and the last place; the best pair in order wins
    (BERT, arXiv:1810.04805, sec. 4.2). Exact match and F1 over places are those of SQuAD (arXiv:1606.05250, sec. 6.1).
    """

    longest: int = 8
    about: ClassVar[About] = "words"
    metric: ClassVar[str] = "exact match"

    @property
    def scores(self) -> int:
        return 2

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        ends = (cross_entropy(scores[..., end], labels[:, end]) for end in (0, 1))
        return torch.stack(list(ends)).mean()

    def best(self, scores: Tensor) -> Tensor:
        """First and last place `[r, 2]` of the best span that is in order and not too long."""
        width = scores.shape[1]
        pairs = scores[:, :, None, 0] + scores[:, None, :, 1]
        place = torch.arange(width, device=scores.device)
        length = place[None, :] - place[:, None]
        flat = pairs.masked_fill((length < 0) | (length >= self.longest), float("-inf")).flatten(1).argmax(1)
        return torch.stack([flat // width, flat % width], dim=1)

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        said = self.best(scores)
        common = (torch.minimum(said[:, 1], labels[:, 1]) - torch.maximum(said[:, 0], labels[:, 0]) + 1).clamp(min=0)
        lengths = (said[:, 1] - said[:, 0] + 1) + (labels[:, 1] - labels[:, 0] + 1)
        exact = share((said == labels).all(dim=1))
        return {"accuracy": exact, "exact match": exact, "F1": float((2 * common / lengths).double().mean())}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The exact match of whoever always names the places that were most frequent in training."""
        spans, counts = learnt.unique(dim=0, return_counts=True)
        return share((labels == spans[counts.argmax()]).all(dim=1))


@dataclass(frozen=True)
class Choice:
    """The right one of so many candidates; each is read with the context and gets one score; labels `[r]`."""

    number: int
    about: ClassVar[About] = "text"
    metric: ClassVar[str] = "accuracy"

    @property
    def scores(self) -> int:
        return 1

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(scores, labels)

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        return {"accuracy": share(scores.argmax(dim=1) == labels)}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The accuracy of whoever picks any candidate."""
        return 1 / self.number


@dataclass(frozen=True)
class Writing:
    """A text to be written word by word; labels `[r, t]` are the coming words, -1 where none is asked for.

    Every word is guessed with the right words before it (teacher forcing). A text whose words are then all right is
    exactly one that greedy decoding would write, because each right word is what the next guess would have read; so
    the exact match is that of greedy decoding.
    """

    about: ClassVar[About] = "written"
    metric: ClassVar[str] = "accuracy per written token, the right ones before it given"

    @property
    def scores(self) -> int:
        return 0

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(scores, labels[labels >= 0])

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        right = torch.ones_like(labels, dtype=torch.bool)
        right[labels >= 0] = scores.argmax(dim=1) == labels[labels >= 0]
        return {"accuracy": share(right[labels >= 0]), "exact match": share(right.all(dim=1))}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The accuracy of whoever always writes the token that was most frequent in training."""
        return share(labels[labels >= 0] == learnt[learnt >= 0].mode().values)


def share(right: Tensor) -> float:
    """The share of what is true."""
    return float(right.double().mean())


def pearson(one: Tensor, other: Tensor) -> float:
    """How far two rows of numbers go along with each other on a straight line; 0 where one of them is constant."""
    one, other = one - one.mean(), other - other.mean()
    size = float(one.norm() * other.norm())
    return float(one @ other) / size if size > 0 else 0.0


def ranks(values: Tensor) -> Tensor:
    """The place of every number among all; equal numbers share the mean of their places."""
    _, which, counts = values.unique(sorted=True, return_inverse=True, return_counts=True)
    last = counts.cumsum(0).double()
    return (last - (counts - 1) / 2)[which]
