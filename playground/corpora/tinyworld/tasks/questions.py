"""Passages with a question and the place of the answer (SQuAD, arXiv:1606.05250, has such spans)."""

from dataclasses import dataclass

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.presets.questions import PLACES, QUESTIONS
from playground.corpora.tinyworld.tasks.draw import Split, dice, different, write
from playground.corpora.tinyworld.world import grammar


@dataclass(frozen=True)
class Passage:
    """Words of a passage, of a question about it, and first word and number of words of the answer in the passage."""

    words: list[str]
    question: list[str]
    start: int
    length: int

    @property
    def answer(self) -> list[str]:
        return self.words[self.start : self.start + self.length]


def reading_passages(count: int, seed: int, split: Split = "train") -> list[Passage]:
    """Different passages of four people who each moved somewhere, asked for one of them.

    Only the passage knows the answer; which of the four sentences holds it is known by the name alone.
    """
    random = dice(seed, "questions", split)
    return different(
        count,
        split,
        lambda: _passage(write(QUESTIONS.name, f"After-{random.choice(PLACES)}", random)),
        lambda passage: [*passage.words, *passage.question],
    )


def _passage(numbers: list[int]) -> Passage:
    """Cut a document with the question after the passage at the brackets around the answer and at the stops."""
    forms = grammar(QUESTIONS.name).forms
    marks = [forms[number].word for number in numbers]
    opens, closes = marks.index("answer:passage{"), marks.index("answer}")
    before = len(spell(forms, numbers[:opens]))
    words = spell(forms, numbers)
    asked = len(words) - words[::-1].index(".", 1)
    question = words[asked : words.index("?") + 1]
    return Passage(words[:asked], question, before, len(spell(forms, numbers[opens:closes])))
