"""The state of the bug hunt: the case that is open, both of its runs, and the answers so far."""

from collections.abc import Callable
from typing import Any

import param

from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.hunt.fault import Fault
from playground.hunt.grading import answer_key, case_of, cases, grade, is_right, table
from playground.hunt.suspect import Suspect, train_suspect
from playground.training.events import Stepped
from widgets.state.job import Job, as_trouble

SIDES = ("sound", "suspect")
"""The two runs of a case."""

MOST_KEPT = 4
"""Cases whose runs are kept; the oldest go first."""


class HuntStore(param.Parameterized):
    """`case` is the number of the open case, `answer` what is chosen for it; `answers` are all that were given.

    They are named as in a notebook: "case 3", "before question 1", "after question 1".
    """

    case = param.Integer(1)
    seed = param.Integer(0, bounds=(0, 99), label="seed")
    answer = param.String("", label="the fault")
    answers = param.Dict({})
    trouble = param.String("")

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.training = Job("training of the two runs")
        self.runs: dict[int, tuple[Suspect, Suspect]] = {}
        self.open_inside: Callable[[int], None] = lambda case: None

    @property
    def fault(self) -> Fault:
        """The fault of the open case."""
        return case_of(self.case)

    @property
    def solved(self) -> dict[int, bool]:
        """Whether each case that was answered was answered rightly."""
        key = answer_key()
        names = {number: f"case {number}" for number in cases()}
        return {n: is_right(key, name, self.answers[name]) for n, name in names.items() if name in self.answers}

    def choose(self, case: int) -> None:
        """Open a case."""
        self.param.update(case=case, answer=self.answers.get(f"case {case}", ""), trouble="")

    @as_trouble
    def give(self) -> None:
        """Answer the open case."""
        if not self.answer:
            raise UserError("No fault is chosen yet; choose one from the list.")
        self.answers = self.answers | {f"case {self.case}": self.answer}

    def reply(self, when: str, number: int, answer: str) -> None:
        """Answer a question before the hunt or after it."""
        self.answers = self.answers | {f"{when} question {number}": answer}

    def csv(self) -> bytes:
        """All answers as the table of a teacher, with one row."""
        return table([grade("this visit", self.answers)]).encode()

    @as_trouble
    def train(self) -> None:
        """Train the sound run and the suspect of the open case."""
        case, fault, seed = self.case, self.fault, self.seed

        def work(report: Progress) -> None:
            done, total = 0, 2 * fault.steps

            def see(event: Any) -> None:
                nonlocal done
                if isinstance(event, Stepped):
                    done += 1
                    report(done, total)  # which ends here where it was stopped

            sound, suspect = (train_suspect(fault, faulty, seed, see) for faulty in (False, True))
            kept = [*self.runs.items()][1 - MOST_KEPT :]
            self.runs = dict(each for each in kept if each[0] != case) | {case: (sound, suspect)}

        self.training.begin(work)

    def run_of(self, key: str) -> Suspect:
        """A run by its key, such as "3 suspect"."""
        number, _, side = key.partition(" ")
        if not number.isdigit() or int(number) not in self.runs or side not in SIDES:
            raise UserError(f"The runs of case {number} are gone; train them again.")
        return self.runs[int(number)][SIDES.index(side)]
