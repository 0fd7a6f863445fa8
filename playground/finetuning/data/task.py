"""A task: labelled texts for fine-tuning, split so that no test text is ever trained on."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from playground.errors import Refusal
from playground.finetuning.data.dataset import Dataset, Item, pack
from playground.finetuning.data.input_format import ANYWHERE, InputFormat
from playground.finetuning.data.prompting import asking
from playground.finetuning.data.task_types import AnswerForm, Writing
from playground.tokenizing import Tokenizer
from playground.tokenizing.tokenizer import unknown_words

CLS = "[CLS]"
"""The word of a task that stands for BERT's sign."""

Split = Literal["train", "test"]

Items = Callable[[int, int, Split], list[Item]]
"""From a number, a seed and a split to so many different examples."""


class UnknownWords(Refusal):
    """A vocabulary that knows too few words of a task; a base that was trained on texts of the task knows them."""


@dataclass(frozen=True)
class Task:
    """What is asked, in which form it is answered, and where the labelled texts come from.

    A model should have read one of the `corpora` before, which speak the same language. There are `tests` examples for
    testing at most, and `examples` to learn from (None: as many as anybody asks for). With `orders` 2 a pair is read in
    both orders and their scores are averaged. `signs` are words that are written with a spare sign of the vocabulary
    where it does not know them. `prompt` stands between a text and the gap when a model is only asked. `notice` says
    what was guessed.
    """

    name: str
    idea: str
    source: str
    answer: AnswerForm
    items: Items
    corpora: tuple[str, ...] = ("world",)
    aliases: tuple[str, ...] = ()
    rank: int = 0
    tests: int = 1000
    examples: int | None = None
    orders: Literal[1, 2] = 1
    signs: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ("it", "was")
    notice: str = ""

    @property
    def metric(self) -> str:
        """What its main number is, which is called accuracy wherever tasks stand side by side."""
        return self.answer.metric

    def load(
        self, tokenizer: Tokenizer, count: int, seed: int, split: Split, packing: InputFormat = ANYWHERE
    ) -> Dataset:
        """Labelled texts as a padded batch; a vocabulary that does not know the task's words is refused."""
        if count < 1:
            raise Refusal(f"The number of labelled texts is {count}; at least 1 is needed.")
        if isinstance(self.answer, Writing) and not packing.writes:
            raise Refusal(
                f"The task {self.name!r} asks for a text to be written, and a model that reads both sides without a "
                "decoder cannot write; take one that reads left to right, such as GPT, or one with a decoder, such as "
                "BART."
            )
        items = self.items(count if split == "train" else min(count, self.tests), seed, split)
        self._check(tokenizer, items)
        packed = pack(items, self.answer, packing, tokenizer, self.orders, self.spare(tokenizer))
        return replace(packed, asking=asking(self, tokenizer))

    def spare(self, tokenizer: Tokenizer) -> dict[str, int]:
        """The signs that stand for words which the vocabulary does not know: T5's numbered ones; [CLS] is itself."""
        own = {CLS: tokenizer.specials.cls} if CLS in self.signs else {}
        unknown = unknown_words(tokenizer, [word for word in self.signs if word not in own])
        return own | dict(zip(unknown, tokenizer.specials.sentinels, strict=False))

    def _check(self, tokenizer: Tokenizer, items: Sequence[Item]) -> None:
        """Refuse a vocabulary for which too many words are unknown."""
        written = [item.right for item in items] if isinstance(self.answer, Writing) else []
        strange = max(self._unknown(tokenizer, words) for words in ([i.words for i in items], written))
        if strange > 0.2:
            better = " or ".join(f"{name!r}" for name in self.corpora)
            advice = f"the corpus {better}, which speak{'s' * (len(self.corpora) == 1)} the same language"
            raise UnknownWords(
                f"This model's vocabulary does not know {strange:.0%} of the words of the task {self.name!r}; "
                f"train it on {advice if self.corpora else 'this file, or on text like it'}."
            )

    def _unknown(self, tokenizer: Tokenizer, texts: Iterable[Sequence[str]]) -> float:
        """The share of the words of some texts that the vocabulary does not know."""
        unknown, spare = tokenizer.specials.unknown, self.spare(tokenizer)
        ids = tokenizer.encode_words(word for text in texts for word in text if word not in spare)
        return ids.count(unknown) / max(1, len(ids))


def short(metric: str) -> str:
    """The name of a main number without its footnotes, for an axis or the head of a column."""
    return metric.split(" (")[0].split(",")[0]
