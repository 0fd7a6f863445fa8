"""`playground hunt`: name real faults of public programs from the symptoms of a run."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TypedDict

import torch
from tqdm import tqdm

from playground.cli.options import Parser, common_options, number_of, path, refuse_unused, say
from playground.errors import UserError, writing
from playground.hunt.fault import fault_named
from playground.hunt.grading import Grade, answer_key, case_of, cases, is_right, read_answers, table
from playground.hunt.suspect import train_suspect
from playground.training.events import Event, Stepped


class CaseFacts(TypedDict):
    """A case of the hunt."""

    case: int
    symptom: str
    """What is seen, without its reason."""
    entry: str
    corpus: str
    steps: int
    shows: str
    """The figure to look at."""


class CasesFacts(TypedDict):
    """The cases (without a number)."""

    cases: list[CaseFacts]
    answers: list[str]
    """The names of the faults, of which one is the answer to each case."""
    key: dict[str, str]
    """A hash of each right answer, with which answers are checked without the program."""


class SuspectFacts(TypedDict):
    """Both runs of a case."""

    case: CaseFacts
    seed: int
    sound: dict[str, float]
    """The figures of the sound run, by name."""
    suspect: dict[str, float]
    """Those of the suspect."""
    shown: list[float]
    """The figure to look at, of the sound run and of the suspect."""


class AnswerFacts(TypedDict):
    """An answer to a case (`--answer`); what explains the fault is empty where the answer is wrong."""

    case: int
    answer: str
    right: bool
    explanation: str
    thread: str
    law: str


class GradeFacts(TypedDict):
    """The answers of one learner."""

    learner: str
    right: dict[str, bool]
    """Whether each answer is right, by its name."""


class GradesFacts(TypedDict):
    """The grades of several learners (`--check`)."""

    grades: list[GradeFacts]


FACTS = (CasesFacts, SuspectFacts, AnswerFacts, GradesFacts)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, hunt)
    option = command.add_argument
    option("case", nargs="?", type=number_of(), metavar="CASE", help="the number of a case; all are listed without one")
    option("--answer", metavar="FAULT", help="check an answer to the case, without training")
    option("--check", nargs="+", type=path, metavar="FILE", help="check the answers in notebooks or JSON files")
    option("--csv", type=path, metavar="FILE", help="with --check: write the table")
    option("--page", type=path, metavar="FILE", help="write all cases as one page that checks answers without a server")


def hunt(given: argparse.Namespace) -> int:
    """List the cases, train one, or grade answers."""
    torch.set_num_threads(1)
    if given.check:
        refuse_unused(given, "answers are checked", "case", "answer", "page", "seed")
        return _grade(given)
    refuse_unused(given, "nothing is checked; name files with --check", "csv")
    if given.page:
        refuse_unused(given, "all cases are written", "answer")
        if given.case is not None:
            raise UserError(f"--page writes all cases; leave out case {given.case}.")
        return _write_page(given)
    if given.case is None:
        refuse_unused(given, "the cases are listed; name one", "answer", "seed")
        every: CasesFacts = {
            "cases": [case_facts(number) for number in cases()],
            "answers": sorted(fault.name for fault in cases().values()),
            "key": answer_key(),
        }
        return say(given, every, _listed(every))
    if given.answer is not None:
        refuse_unused(given, "an answer is checked without training", "seed")
        return _answer(given)
    return _train(given)


def case_facts(number: int) -> CaseFacts:
    """A case without its answer."""
    fault = case_of(number)
    return {
        "case": number, "symptom": fault.symptom, "entry": fault.entry, "corpus": fault.corpus, "steps": fault.steps,
        "shows": fault.shows,
    }  # fmt: skip


def _listed(facts: CasesFacts) -> list[str]:
    lines = [f"  {each['case']:>2}  {each['symptom']}" for each in facts["cases"]]
    return ["Cases", *lines, "One of these is the answer to each", *(f"  {name}" for name in facts["answers"])]


def _train(given: argparse.Namespace) -> int:
    fault = case_of(given.case)
    with tqdm(total=2 * fault.steps, desc=f"case {given.case}", file=sys.stderr, mininterval=0.2) as bar:

        def see(event: Event) -> None:
            bar.update(isinstance(event, Stepped))

        sound, suspect = (train_suspect(fault, faulty, given.seed, see) for faulty in (False, True))
    shown = [fault.figure(run) for run in (sound, suspect)]
    facts: SuspectFacts = {
        "case": case_facts(given.case), "seed": given.seed, "sound": sound.figures, "suspect": suspect.figures,
        "shown": shown,
    }  # fmt: skip
    wide = max(map(len, [*sound.figures, fault.shows]))
    lines = [fault.symptom, f"{'':<{wide}} {'sound':>10} {'suspect':>10}"]
    lines += [f"{name:<{wide}} {a:>10.3f} {suspect.figures[name]:>10.3f}" for name, a in sound.figures.items()]
    return say(given, facts, [*lines, f"{fault.shows:<{wide}} {shown[0]:>10.3f} {shown[1]:>10.3f}"])


def _answer(given: argparse.Namespace) -> int:
    fault, name = case_of(given.case), fault_named(given.answer).name
    right = is_right(answer_key(), f"case {given.case}", name)
    facts: AnswerFacts = {
        "case": given.case, "answer": name, "right": right, "explanation": fault.explanation * right,
        "thread": fault.thread * right, "law": fault.law * right,
    }  # fmt: skip
    why = [fault.explanation, f"Found in {fault.repository}: {fault.thread}", f"The law: {fault.law}"]
    return say(given, facts, ["Right.", *why] if right else ["That is not it."])


def _grade(given: argparse.Namespace) -> int:
    grades = [read_answers(Path(file)) for file in given.check]
    if given.csv:
        with writing(given.csv):
            Path(given.csv).write_text(table(grades), encoding="utf-8")
    facts: GradesFacts = {"grades": [{"learner": each.learner, "right": dict(each.right)} for each in grades]}
    return say(given, facts, _graded(grades))


def _graded(grades: Sequence[Grade]) -> list[str]:
    wide = max(7, *(len(each.learner) for each in grades))
    lines = [f"{'learner':<{wide}} {'cases':>8} {'before':>8} {'after':>8}"]
    for each in grades:
        counts = ["{}/{}".format(*each.count(kind)) for kind in ("case", "before", "after")]
        lines.append(f"{each.learner:<{wide}} " + " ".join(f"{count:>8}" for count in counts))
    return lines


def _write_page(given: argparse.Namespace) -> int:
    page = import_module("widgets.static.hunt_page").page(given.seed, lambda line: print(line, file=sys.stderr))
    with writing(given.page):
        Path(given.page).write_text(page, encoding="utf-8")
    every: CasesFacts = {"cases": [case_facts(n) for n in cases()], "answers": [], "key": answer_key()}
    return say(given, every, [f"{len(cases())} cases are written to {given.page}."])
