"""The bug hunt in a notebook: both runs of a case, and answers that are checked without training."""

from dataclasses import dataclass, replace

from playground.hunt.grading import answer_key, case_of, is_right
from playground.hunt.suspect import Suspect, train_suspect
from widgets.notebook.arguments import checked
from widgets.notebook.drawing import in_block
from widgets.static import hunt as drawn


@dataclass(frozen=True, eq=False)
class Case:
    """A case of the hunt, whose runs show themselves next to each other."""

    number: int
    sound: Suspect
    suspect: Suspect

    @property
    def symptom(self) -> str:
        return self.sound.fault.symptom

    def __repr__(self) -> str:
        return f"Case {self.number}: {self.symptom}"

    def _repr_html_(self) -> str:
        head = f"<p><b>Case {self.number}.</b> {drawn.escape(self.symptom)}</p>"
        return in_block(f"<style>{drawn.STYLE}</style>{head}{drawn.pair(self.sound, self.suspect)}")

    def answer(self, fault: str) -> str:
        """Whether this is the name of the fault; if so, what it is."""
        if not is_right(answer_key(), f"case {self.number}", fault):
            return "That is not it."
        found = self.sound.fault
        return f"Right. {found.explanation} Found in {found.repository}: {found.thread}. The law: {found.law}"


@checked
def hunt(case: int = 1, *, steps: int | None = None, corpus: str | None = None, seed: int = 0) -> Case:
    """Train the sound run and the suspect of a case, by default with its own steps and corpus.

    >>> case = hunt(3)
    >>> case.answer("a causal mask in a bidirectional model")
    """
    fault = case_of(case)
    fault = replace(fault, steps=steps or fault.steps, corpus=corpus or fault.corpus)
    sound, suspect = (train_suspect(fault, faulty, seed) for faulty in (False, True))
    return Case(case, sound, suspect)
