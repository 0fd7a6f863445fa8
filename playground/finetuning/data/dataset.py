"""Labelled examples, in words and as a packed batch of tokens, and the base of all forms of answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from playground.batch import Tokens
from playground.corpora.corpus import pick
from playground.finetuning.data.input_format import InputFormat, InputRow, Pieces, encode, share_of_each, truncated
from playground.finetuning.data.prompting import Prompt, Prompts, Verbalizer, gap_prompts, gap_scores
from playground.models import LanguageModel
from playground.tokenizing import Tokenizer
from playground.tokenizing.padding import pad_rows, padded

About = Literal["text", "marked", "words", "written"]
"""What one answer is about: a whole text, the marked words of it, each of its words, or each word that is written."""


@dataclass(frozen=True)
class Item:
    """One labelled example in words.

    `right` is what the task's form of answer says: the number of a class or of a choice, a number, a tag for each word
    of the first text, first word and number of words of a span in the last text, or the words to be written. `marked`
    is the index of a word in each text; each of the `choices` is read behind the texts.
    """

    texts: tuple[Sequence[str], ...]
    right: Any
    choices: tuple[Sequence[str], ...] = ()
    marked: tuple[int, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All words that are read, in order; no two splits share them."""
        return tuple(word for text in (*self.texts, *self.choices) for word in text)


Layer = Callable[[Tensor], Tensor]
"""The head's layer, from vectors `[..., d]` to scores `[..., c]`."""

Pool = Callable[[Tensor, "Dataset"], Tensor]
"""From hidden states `[r, t, d]` to one vector for each row `[r, d]`."""


class AnswerForm:
    """A form of answer with `scores` numbers for each thing that it is about: one of several classes, or a subclass.

    `metric` names the task's main number, which `measure` calls "accuracy" and which lies between 0 and 1. `classes`
    are the names of the classes where a whole text has one. With `has_chance` the accuracy is the share of texts whose
    class is right, so `guess` is the chance level. With `varies` rows differ in their number of answers. With
    `continued` an untrained model is asked to continue behind the text, else to fill a gap there.
    """

    scores: ClassVar[int] = 1
    classes: ClassVar[tuple[str, ...]] = ()
    about: ClassVar[About] = "text"
    metric: ClassVar[str] = "accuracy"
    has_chance: ClassVar[bool] = False
    varies: ClassVar[bool] = False
    continued: ClassVar[bool] = False

    def labels(self, items: Sequence[Item], rows: Sequence[InputRow]) -> Tensor:
        return torch.tensor([item.right for item in items], dtype=torch.long)

    def positions(self, items: Sequence[Item], rows: Sequence[InputRow]) -> Tensor | None:
        """The positions in each row that the head needs, `[r, 2]`."""
        return None

    def read(self, head: Layer, hidden: Tensor, texts: "Dataset", pool: Pool) -> Tensor:
        """The scores, a row of them for each answer; those of several rows of one example are averaged."""
        return head(pool(hidden, texts)).unflatten(0, (-1, texts.rows_each)).mean(dim=1)

    def prompts(self, prompt: Prompt, train: "Dataset", test: "Dataset") -> Prompts:
        """What an untrained model is asked."""
        return gap_prompts(prompt, train, test)

    def prompted(self, model: LanguageModel, prompt: Prompt, train: "Dataset", test: "Dataset") -> Tensor:
        """The scores that a pre-trained model gives untrained."""
        return gap_scores(model, prompt, train, test)

    def right(self, labels: Tensor) -> Tensor:
        """The right class of each answer, `[n]`."""
        return labels

    def pairs(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The scores `[n, c]` and the right class `[n]` of each answer."""
        return scores, self.right(labels)

    def log_probabilities(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The log probabilities `[n, c, ...]` of what each answer may be."""
        return self.pairs(scores, labels)[0].log_softmax(dim=1)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The mean loss of the answers."""
        return cross_entropy(*self.pairs(scores, labels))

    def measure(self, scores: Tensor, labels: Tensor) -> dict[str, float]:
        """How good the answers are, the main number as "accuracy"."""
        scores, right = self.pairs(scores, labels)
        return {"accuracy": share(scores.argmax(dim=1) == right)}

    def guess(self, learnt: Tensor, labels: Tensor) -> float:
        """The main number of a constant answer: the one that was most frequent in training."""
        return share(self.right(labels) == self.right(learnt).mode().values)


def share(right: Tensor) -> float:
    """The share of what is true."""
    return float(right.double().mean())


@dataclass(frozen=True)
class HostRows:
    """What a step asks of its rows `[r]`, on the CPU so that it need not wait: ids, lengths and numbers of answers."""

    ids: Tensor
    lengths: Tensor
    answers: Tensor

    @classmethod
    def of(cls, texts: "Dataset") -> "HostRows":
        """Those of all rows of some texts, in their order."""
        lengths = texts.tokens.lengths.cpu()
        answers = (texts.labels >= 0).sum(1).cpu() if texts.answer.varies else torch.ones_like(lengths)
        return cls(torch.arange(len(lengths)), lengths, answers)

    def pick(self, rows: Tensor) -> "HostRows":
        return HostRows(self.ids[rows], self.lengths[rows], self.answers[rows])


@dataclass(frozen=True)
class Dataset:
    """Texts `[r, t]` and their labels, in the form of `answer`; `vector` represents a whole text.

    There are `rows_each` rows for each label: one for each choice, or one for each order of a pair. `positions`
    `[r, 2]` are the marked words, or where an answer span may begin and end; `sides` `[r, t]` is the text of a pair
    that each position belongs to (-1: none), if each has a vector; `decoder_input` `[r, u]` is what a decoder reads.
    `verbalizer` is the task as a gap; `features` `[r, t, f]` are numbers for the head, beside the hidden states. Of
    `cut` examples the texts are longer than a row; `notices` are sentences on what is left out. `host` is known of the
    rows without asking their device.
    """

    tokens: Tokens
    labels: Tensor
    answer: AnswerForm
    vector: Literal["mean", "first", "last"] = "mean"
    rows_each: int = 1
    positions: Tensor | None = None
    sides: Tensor | None = None
    decoder_input: Tensor | None = None
    verbalizer: Verbalizer | None = None
    features: Tensor | None = None
    cut: int = 0
    notices: tuple[str, ...] = ()
    host: HostRows | None = None

    @cached_property
    def answered(self) -> Tensor:
        """The positions `[n]` of the answers among labels `[r, t]`, row by row; waits for a GPU without `host`."""
        number = (self.labels >= 0).sum() if self.host is None else self.host.answers.sum()
        return answered(self.labels, int(number))

    def to(self, device: torch.device) -> "Dataset":
        tokens, labels = self.tokens.to(device), self.labels.to(device)
        return replace(self, tokens=tokens, labels=labels, **self._each(lambda value: value.to(device)))

    def pick(self, index: Tensor, on_host: Tensor | None = None) -> "Dataset":
        """Some of the examples, each with all its rows; without the same index `on_host`, `host` is lost on a GPU."""
        rows, host = rows_of(index, self.rows_each), None
        on_host = index if index.device.type == "cpu" else on_host
        if self.host is not None and on_host is not None:
            host = self.host.pick(rows if on_host is index else rows_of(on_host, self.rows_each))
        tokens, labels = pick(self.tokens, rows), self.labels[index]
        return replace(self, tokens=tokens, labels=labels, host=host, **self._each(lambda value: value[rows]))

    def _each(self, change: Callable[[Tensor], Tensor]) -> dict[str, Tensor]:
        named = {name: getattr(self, name) for name in ("positions", "sides", "decoder_input", "features")}
        return {name: change(value) for name, value in named.items() if value is not None}


def pack(
    items: Sequence[Item],
    answer: AnswerForm,
    input_format: InputFormat,
    tokenizer: Tokenizer,
    orders: int = 1,
    spare: Mapping[str, int] | None = None,
) -> Dataset:
    """Examples as one padded batch; words in `spare` are written with the ids that it gives."""
    specials, written, cut = tokenizer.specials, answer.about == "written", 0
    pieces = partial(encode, tokenizer=tokenizer, most=input_format.max_length, spare=spare or {})
    versions, targets = list[list[list[Pieces]]](), list[list[int]]()
    for item in items:
        parts = [*map(pieces, (*item.texts, *item.choices, *([item.right] if written else [])))]
        lengths, number = [len(ids) for ids, _ in parts], len(item.texts)
        together = [*lengths[:number], max(lengths[number:], default=0)]  # one choice, or what is to be written
        most = share_of_each(together, input_format.max_length)
        cut += max(lengths) > most
        parts = [truncated(part, most) for part in parts]
        texts, others = parts[:number], parts[number:]
        if written:
            targets.append([*others.pop()[0], specials.end])
        versions.append([[*texts, choice] for choice in others] or [texts, texts[::-1]][:orders])
    rows = [input_format.row(version, specials) for several in versions for version in several]
    if written:
        return replace(_to_be_written(rows, targets, answer, input_format, tokenizer), cut=cut)
    tokens, labels = _tokens(rows, input_format, tokenizer), answer.labels(items, rows)
    positions = answer.positions(items, rows)
    dataset = Dataset(tokens, labels, answer, input_format.vector, len(versions[0]), positions, cut=cut)
    paired = input_format.sides and answer.about == "text" and len(items[0].texts) == 2
    return replace(dataset, sides=padded([row.sides() for row in rows], -1)) if paired else dataset


def _tokens(rows: Sequence[InputRow], input_format: InputFormat, tokenizer: Tokenizer) -> Tokens:
    tokens = pad_rows([row.ids for row in rows], tokenizer.specials, tokenizer.words)
    segment = {"segment": padded([row.segment for row in rows], 0)} if input_format.segments else {}
    return replace(tokens, labels=segment)


def _to_be_written(
    rows: list[InputRow], targets: list[list[int]], answer: AnswerForm, input_format: InputFormat, tokenizer: Tokenizer
) -> Dataset:
    """Texts whose labels are the next tokens: those of a decoder, or of the row itself, continued by the target."""
    specials = tokenizer.specials
    if input_format.writes == "decoder":
        decoder_input = padded([[specials.start, *target[:-1]] for target in targets], specials.pad)
        tokens = _tokens(rows, input_format, tokenizer)
        return Dataset(tokens, padded(targets, -1), answer, decoder_input=decoder_input)
    longer, labels = [], []
    for row, target in zip(rows, targets, strict=True):
        ids = [*row.ids[: row.starts[-1][-1]], specials.sep, *target[:-1]]  # [SEP] replaces what ends the row
        segment = [*row.segment, *[row.segment[-1] + 1] * len(ids)][: len(ids)]
        longer.append(InputRow(ids, segment, row.starts))
        labels.append([-1] * (len(ids) - len(target)) + target)
    return Dataset(_tokens(longer, input_format, tokenizer), padded(labels, -1), answer)


def answered(labels: Tensor, number: int) -> Tensor:
    """The positions of so many answers among labels `[r, t]`, -1 where there is none; nothing is asked of a device."""
    return (labels < 0).flatten().byte().argsort(stable=True)[:number]


def rows_of(examples: Tensor, rows_each: int) -> Tensor:
    """The rows of some examples `[..., b]`, so many for each."""
    return (examples[..., None] * rows_each + torch.arange(rows_each, device=examples.device)).flatten(-2)
