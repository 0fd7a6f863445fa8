"""Two critiques of facts as cloze questions: "not" changes nothing, and the name gives the answer away."""

from dataclasses import replace

import torch

from playground.analysis.facts import ask, known_questions, knows_facts
from playground.analysis.finding import Bars, Finding, Number, Rows, Table
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.subject import Subject
from playground.corpora.tinyworld.tasks.cloze import Cloze

DENIED = ("born", "job")
"""Relations that a copula states before the answer, so that "not" can stand behind it."""

EXAMPLES = 12


def measure(subject: Subject, _: object) -> Finding:
    """The answers to questions and to their negations, and those that a town's own name suggests."""
    plain = [question for question in known_questions(subject.corpus) if question.fact.relation in DENIED]
    subject.count(len(plain), "questions with not")
    asked, denied = ask(subject, plain), ask(subject, [_negated(question) for question in plain])
    one, other = asked.chances.argmax(1), denied.chances.argmax(1)
    same = float((one == other).double().mean())
    words = subject.tokenizer.words
    examples = {
        "denied": [" ".join(q.words[: q.position]) + " ..." for q in denied.questions[:EXAMPLES]],
        "answer": [words[number] for number in other[:EXAMPLES].tolist()],
        "answer without not": [words[number] for number in one[:EXAMPLES].tolist()],
    }
    read = subject.tokenizer.encode_words(["not"])[0] in subject.corpus.ids[: subject.corpus.held_out_from]
    note = "" if read else "The training text does not contain the word not, so the model has no trained vector for it."
    numbers, tables = _names(subject)
    return Finding(
        f"When the question is negated {same:.0%} of the answers stay the same.",
        (Number("same answer with not", same, "share of the answers"), *numbers),
        (Table("Questions with not", examples, Rows(), note=note), *tables),
    )


def _negated(question: Cloze) -> Cloze:
    """The same statement with "not" behind its verb (arXiv:1911.03343)."""
    position = 1 + next(k for k, word in enumerate(question.words) if word in ("was", "is"))
    return replace(
        question, words=[*question.words[:position], "not", *question.words[position:]], position=question.position + 1
    )


def _names(subject: Subject) -> tuple[tuple[Number, ...], tuple[Table, ...]]:
    """Facts of towns whose name holds the answer against the others (arXiv:1911.03681); nothing without such facts."""
    towns = [question for question in known_questions(subject.corpus) if question.fact.relation == "has"]
    if len(towns) < 2:
        return (), ()
    asked = ask(subject, towns)
    shows = torch.tensor([question.fact.revealing for question in towns])
    guesses = [subject.tokenizer.words[number] for number in asked.chances.argmax(1).tolist()]
    fooled = torch.tensor([word in q.fact.subject.split() for word, q in zip(guesses, towns, strict=True)]).double()
    right = {"name holds the answer": float(asked.hits[shows].mean()), "it does not": float(asked.hits[~shows].mean())}
    return (
        Number("P@1, name holds the answer", right["name holds the answer"], "share right",
               {"it does not": right["it does not"]}),
        Number("answer taken from the name", float(fooled[~shows].mean()), "share of the other towns"),
    ), (
        Table("Sights of towns", {"town": list(right), "P@1": list(right.values())}, Bars("town", "P@1"),
              unit="share right"),
    )  # fmt: skip


FACT_CRITIQUES = Instrument(
    name="fact critiques",
    group="Knowledge",
    question="Does the model know a fact, or does it complete a pattern and read the answer from the name?",
    source="negation: arXiv:1911.03343; names: arXiv:1911.03681, sec. 3",
    measure=measure,
    rows=("V15",),
    needs=(scores_words, reads_sentences, knows_facts),
)
