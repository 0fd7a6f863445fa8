"""Passages with a question and the span of the answer (as in SQuAD, arXiv:1606.05250)."""

from dataclasses import dataclass

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.presets.questions import PLACES, QUESTIONS
from playground.corpora.tinyworld.tasks.draw import Split, different, task_random, write


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
    """Different passages about four people who each moved to a place, with a question about one of them.

    Only the passage contains the answer, and only the person's name tells which of the four sentences has it.
    """
    random = task_random(seed, "questions", split)
    return different(
        count,
        split,
        lambda: _passage(write(QUESTIONS.name, f"After-{random.choice(PLACES)}", random)),
        lambda passage: [*passage.words, *passage.question],
    )


def _passage(forms: list[Form]) -> Passage:
    """Cut a document with the question after the passage at the brackets around the answer and at the stops."""
    marks = [form.word for form in forms]
    opens, closes = marks.index("answer:passage{"), marks.index("answer}")
    words = spell(forms)
    asked = len(words) - words[::-1].index(".", 1)
    question = words[asked : words.index("?") + 1]
    return Passage(words[:asked], question, len(spell(forms[:opens])), len(spell(forms[opens:closes])))
