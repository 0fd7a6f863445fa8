"""A task: labelled texts for fine-tuning, split so that no test text is ever trained on."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from playground.errors import UserError
from playground.finetuning.data.dataset import AnswerForm, Dataset, Item, pack
from playground.finetuning.data.input_format import ANYWHERE, InputFormat
from playground.finetuning.data.prompting import Verbalizer
from playground.models import LanguageModel
from playground.tokenizing import Tokenizer
from playground.tokenizing.tokenizer import unknown_words

CLS = "[CLS]"
"""The word of a task that stands for BERT's special token."""

Split = Literal["train", "test"]

Items = Callable[[int, int, Split], list[Item]]
"""From a number, a seed and a split to so many different examples."""


class UnknownWords(UserError):
    """A vocabulary that knows too few words of a task; a base that was trained on texts of the task knows them."""


@dataclass(frozen=True)
class Task:
    """What is asked, in which form it is answered, and where the labelled texts come from.

    A model should have read one of the `corpora` before, which are in the same language. There are `tests` examples
    for testing at most, and `examples` to learn from (None: without limit). With `orders` 2 a pair is read in both
    orders and their scores are averaged. `added_tokens` are words that are written with a spare special token of the
    vocabulary where it does not know them. `prompt` stands between a text and the gap when a model is asked untrained.
    Of a file `note` says what was guessed, `warning` what was left out.
    """

    name: str
    idea: str
    source: str
    answer: AnswerForm
    items: Items
    corpora: tuple[str, ...] = ("world",)
    aliases: tuple[str, ...] = ()
    tests: int = 1000
    examples: int | None = None
    orders: Literal[1, 2] = 1
    added_tokens: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ("it", "was")
    note: str = ""
    warning: str = ""

    @property
    def notice(self) -> str:
        """The note and the warning."""
        return f"{self.note} {self.warning}".strip()

    @property
    def metric(self) -> str:
        """What its main number is, which is called accuracy wherever tasks stand side by side."""
        return self.answer.metric

    def load(
        self, tokenizer: Tokenizer, count: int, seed: int, split: Split, input_format: InputFormat = ANYWHERE
    ) -> Dataset:
        """Labelled texts as a padded batch; a vocabulary that does not know the task's words is refused."""
        written = self.answer.about == "written"
        if count < 1:
            raise UserError(f"The number of labelled texts is {count}; at least 1 is needed.")
        if written and not input_format.writes:
            raise UserError(
                f"The task {self.name!r} asks for a text to be written, and a model that reads both sides without a "
                "decoder cannot write. Choose a base that reads left to right, such as GPT, or one with a decoder, "
                "such as BART."
            )
        items = self.items(count if split == "train" else min(count, self.tests), seed, split)
        spare = self.spare(tokenizer)

        def unknown(texts: Iterable[Sequence[str]]) -> tuple[int, int]:
            ids = tokenizer.encode_words(word for text in texts for word in text if word not in spare)
            return ids.count(tokenizer.specials.unknown), len(ids)

        sides = unknown(item.words for item in items), unknown(item.right for item in items if written)
        share = max(number / max(1, of) for number, of in sides)
        if share > 0.2:
            better = " or ".join(f"{name!r}" for name in self.corpora)
            advice = f"the corpus {better}, which speak{'s' * (len(self.corpora) == 1)} the same language"
            raise UnknownWords(
                f"This model's vocabulary does not know {share:.0%} of the words of the task {self.name!r}; "
                f"train it on {advice if self.corpora else 'this file, or on text like it'}."
            )
        packed = pack(items, self.answer, input_format, tokenizer, self.orders, spare)
        which = f"the {len(items):,} texts to {'learn from' if split == 'train' else 'be tested on'}"
        cut, (number, of) = packed.cut, map(sum, zip(*sides, strict=True))
        drawn = split == "test" and not self.corpora and len(items) < self.tests  # of a file, which has no more
        notices = (
            f"{len(items):,} of the {self.tests:,} texts to be tested on are drawn with each seed." * drawn,
            f"{cut:,} of {which} are longer than {input_format.max_length} tokens; their ends are left out."
            * bool(cut),
            f"{number:,} of the {of:,} tokens of {which} are not in the vocabulary and read as [UNK]." * bool(number),
        )
        return replace(packed, verbalizer=self.verbalizer(tokenizer), notices=tuple(filter(None, notices)))

    def spare(self, tokenizer: Tokenizer) -> dict[str, int]:
        """The special tokens for words that the vocabulary does not know: T5's sentinels; [CLS] is itself."""
        own = {CLS: tokenizer.specials.cls} if CLS in self.added_tokens else {}
        unknown = unknown_words(tokenizer, [word for word in self.added_tokens if word not in own])
        return own | dict(zip(unknown, tokenizer.specials.sentinels, strict=False))

    def verbalizer(self, tokenizer: Tokenizer) -> Verbalizer | None:
        """The task as a gap in the words of a vocabulary; None where it has no word of its own for every class."""
        words = [tokenizer.encode_words([name]) for name in self.answer.classes]
        known = all(len(ids) == 1 and ids[0] != tokenizer.specials.unknown for ids in words)
        if not words or not known or len({ids[0] for ids in words}) < len(words):
            return None
        after, end = (tuple(tokenizer.encode_words(part)) for part in (self.prompt, ["."]))
        return Verbalizer(after, tuple(ids[0] for ids in words), end)

    def check_prompt(self, model: LanguageModel, tokenizer: Tokenizer) -> None:
        """Refuse a model or a vocabulary that cannot be asked untrained."""
        if model.shape.kind == "static":
            raise UserError("Static word vectors cannot be prompted. Choose a base with layers, such as BERT.")
        if self.answer.continued and not model.shape.continues:
            raise UserError(
                f"Only a model that reads left to right can continue a text untrained, and {self.name!r} asks for "
                "that. Choose a base such as GPT, or another strategy."
            )
        if not self.answer.continued and self.verbalizer(tokenizer) is None:
            raise UserError(
                f"Prompting needs one word of the model's vocabulary for every class, and the task {self.name!r} does "
                "not have that. Choose a task such as sentiment or topic, or another strategy."
            )


def short(metric: str) -> str:
    """The name of a main number without its footnotes, for an axis or the head of a column."""
    return metric.split(" (")[0].split(",")[0]
