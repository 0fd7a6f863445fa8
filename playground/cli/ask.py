"""`playground ask`: an objective's question about a text, answered by a trained model, or the gaps of a text filled."""

import argparse
from collections.abc import Iterator, Sequence
from math import exp, log
from typing import TypedDict

import torch

from playground.analysis.cloze import MASK, fill_gaps, gaps_of, unknown_beside_gap
from playground.analysis.floor.regret import names_words
from playground.analysis.predictions import TOP, ForwardTrace, Prediction, ask, with_generator_of
from playground.analysis.subject import Subject
from playground.batch import Batch, token_strings
from playground.cli.options import Parser, common_options, list_of_runs, number_of, pairs, refuse_unused, say
from playground.errors import UserError
from playground.interop.subjects import open_subject
from playground.objectives import Objective, find_objective
from playground.objectives.bind import with_corpus
from playground.trace.inputs import reads_two
from playground.trace.rebuild import Rebuilt, rebuild, rebuild_row
from playground.training.observe.look import to_watch

WINDOW = 32
"""Tokens of a held-out row that is read where no text is given."""


class AnswerFacts(TypedDict):
    """A word with its probability."""

    word: str
    probability: float


class ScoredFacts(TypedDict):
    """A scored position."""

    position: int
    """Counted from 1 in the stream that predicts it."""
    target: str
    truth: str
    top: list[AnswerFacts]
    """The likeliest answers."""
    probability: float
    """That of the right answer."""
    loss: float
    unit: str
    right: bool
    """Whether the likeliest answer is the right one."""


class AskFacts(TypedDict):
    """The answers of a model to the question of an objective."""

    subject: str
    """The model."""
    step: int
    """Its training step."""
    objective: str
    text: str
    pair: str
    inputs: list[str]
    decoder_inputs: list[str] | None
    seed: int
    scored: list[ScoredFacts]
    n: int
    """The number of scored positions."""
    right: int
    """The number of those whose likeliest answer is the right one."""
    accuracy: float | None
    """Null where nothing is scored."""
    loss: float | None
    """The mean over the scored positions."""
    losses: dict[str, float]
    """The mean loss of each target."""
    notice: str


class GapFacts(TypedDict):
    """A gap."""

    position: int
    """Counted from 1."""
    top: list[AnswerFacts]
    """The likeliest words."""


class FillFacts(TypedDict):
    """The gaps of a text that has `[MASK]` in it."""

    subject: str
    """The model."""
    step: int
    """Its training step."""
    text: str
    gaps: list[GapFacts]
    notice: str


FACTS = (AskFacts, FillFacts)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, ask_model)
    option = command.add_argument
    option("subject", metavar="RUN", help="a saved run, a checkpoint, a folder of transformers, or an entry")
    option("--text", metavar="TEXT", help=f"by default a held-out one; perhaps with {MASK} for each gap")
    option("--objective", metavar="NAME", help="another objective than that of the run")
    option("--pair", default="", metavar="T2", help="the second text of NSP, SOP, TLM ...")
    option("--set", action="append", default=[], metavar="KNOB=VALUE", help="a knob of the objective")
    list_of_runs(command)
    option("--threads", type=number_of("processes"), default=2, metavar="N", help="threads of torch; 2 by default")


def ask_model(given: argparse.Namespace) -> int:
    """Print the model's answers, position by position, with its loss and its accuracy."""
    torch.set_num_threads(given.threads)
    if gaps := MASK in (given.text or ""):
        why = f"a text with {MASK} asks for its gaps alone; write the whole text"
        refuse_unused(given, why, "objective", "pair", "set", "seed")
    if given.text is None:
        refuse_unused(given, "without --text a held-out row is read, with what it needs", "pair")
    subject = open_subject(given.subject, given.runs)
    subject.model.eval()
    return _fill(given, subject) if gaps else _ask(given, subject)


def _ask(given: argparse.Namespace, subject: Subject) -> int:
    objective = subject.objective if given.objective is None else _other(given.objective, subject)
    made = _rebuilt(given, subject, objective.turn(pairs(given.set, "The setting")))
    seen = ask(subject.model, made.batch, made.objective, subject.name)
    if seen.unscored:
        raise UserError(seen.unscored)
    number, right = len(seen.guesses), sum(guess.right for guess in seen.guesses)
    batch = made.batch
    inputs, decoder = (
        None if s is None else token_strings(s.ids[0], s.valid[0], batch.tokens.vocabulary)
        for s in (batch.inputs, batch.decoder)
    )
    facts: AskFacts = {
        "subject": subject.name,
        "step": subject.step,
        "objective": made.objective.name,
        "text": made.text,
        "pair": made.pair,
        "inputs": inputs or [],
        "decoder_inputs": decoder,
        "seed": given.seed,
        "scored": [_scored(guess) for guess in seen.guesses],
        "n": number,
        "right": right,
        "accuracy": right / number if number else None,
        "loss": sum(guess.loss for guess in seen.guesses) / number if number else None,
        "losses": seen.losses,
        "notice": made.notice,
    }
    lines = [
        f"{subject.name}: {made.objective.name}. {made.objective.idea}",
        f"  inputs   {' '.join(facts['inputs'])}",
        *([f"  decoder  {' '.join(decoder)}"] if decoder else []),
        *_positions(seen.guesses),
        *_summary(batch, seen, right),
        *([f"  note     {made.notice}"] if made.notice else []),
    ]
    return say(given, facts, lines)


def _other(name: str, subject: Subject) -> Objective:
    """Another objective, with what it must know of the corpus, and the model's generator where it has one."""
    return with_generator_of(with_corpus(find_objective(name), subject.corpus), subject.model)


def _rebuilt(given: argparse.Namespace, subject: Subject, objective: Objective) -> Rebuilt:
    if given.text is None:
        row = to_watch(subject.corpus, objective, WINDOW)
        text = subject.tokenizer.join(row.ids[0][row.valid[0]].tolist())
        return rebuild_row(objective, row, text, given.seed)
    if given.pair and not reads_two(objective):
        raise UserError(f"{objective.name} reads one text, so --pair does not apply here.")
    return rebuild(objective, given.text, pair=given.pair, seed=given.seed, tokenizer=subject.tokenizer)


def _scored(guess: Prediction) -> ScoredFacts:
    return {
        "position": guess.position + 1,
        "target": guess.target,
        "truth": guess.truth,
        "top": _top(guess.top),
        "probability": guess.probability,
        "loss": guess.loss,
        "unit": guess.unit,
        "right": guess.right,
    }


def _top(top: Sequence[tuple[str, float]]) -> list[AnswerFacts]:
    return [{"word": word, "probability": share} for word, share in top]


def _positions(guesses: Sequence[Prediction]) -> Iterator[str]:
    """A line for each scored position, under the name of its target where there are several."""
    wide = max((len(guess.truth) for guess in guesses), default=0)
    target = next((guess.target for guess in guesses), "") if len({guess.target for guess in guesses}) == 1 else ""
    for guess in guesses:
        if guess.target != target:
            target = guess.target
            yield f"  {target}"
        sign = "+" if guess.right else "-"
        probability = f"{guess.probability:7.2%}" if guess.unit == "nats" else ""
        yield (
            f"  {guess.position + 1:>4} {sign} {guess.truth:<{wide}} {probability} {guess.loss:6.2f} {guess.unit}"
            f"   {_written(guess.top)}"
        )


def _written(top: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{word} {share:.1%}" for word, share in top)


def _summary(batch: Batch, seen: ForwardTrace, right: int) -> Iterator[str]:
    """The loss of each target, with bits and the perplexity of words, and the accuracy at the scored positions."""
    targets = {target.name: target for part in batch.with_auxiliary for target in part.targets}
    for name, loss in seen.losses.items():
        unit, words = targets[name].kind.unit, names_words(targets[name])
        more = f", {loss / log(2):.2f} bits, perplexity {exp(min(loss, 700.0)):.2f}" if words else ""
        yield f"  loss     {f'{name}: ' if len(seen.losses) > 1 else ''}{loss:.2f} {unit}{more}"
    if number := len(seen.guesses):
        asked = list(dict.fromkeys(guess.target for guess in seen.guesses))
        which = f", {', '.join(asked)}" if len(seen.losses) > 1 else ""
        yield f"  accuracy {right / number:.1%} ({right} of {number} scored positions{which})"


def _fill(given: argparse.Namespace, subject: Subject) -> int:
    """The likeliest words of every gap."""
    tokenizer, text = subject.tokenizer, given.text
    tokens, gaps = gaps_of(text, tokenizer)
    best = fill_gaps(subject.model, tokens, gaps).exp().topk(min(TOP, len(tokenizer)))
    found: list[GapFacts] = [
        {"position": gap + 1, "top": _top([(tokenizer.words[k], p) for k, p in zip(ids, shares, strict=True)])}
        for gap, ids, shares in zip(gaps.tolist(), best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    notice = unknown_beside_gap(text, tokenizer)
    facts: FillFacts = {
        "subject": subject.name, "step": subject.step, "text": text, "gaps": found, "notice": notice,
    }  # fmt: skip
    lines = [
        f"{subject.name}: {text}",
        *(
            f"  {gap['position']:>4} {_written([(answer['word'], answer['probability']) for answer in gap['top']])}"
            for gap in found
        ),
        *([f"  note     {notice}"] if notice else []),
    ]
    return say(given, facts, lines)
