"""One typed text under one objective: everything the command line prints and the stage draws, from one example."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from playground import frames, leaks
from playground.example import Example
from playground.objectives import wishes
from playground.objectives.objective import Objective, Step, find_objective, objectives, tell
from playground.refusal import Refusal
from playground.seeds import generator
from playground.tokenizing import Tokenizer, Typed, of_words, typed
from playground.tokenizing.typed import MOST_CHARACTERS
from playground.tokenizing.words import clean, split_words

SENTENCE = "I am happy to join with you today"
"""The survey's sentence, Table 2."""

EXTRA_WORDS = ("thrilled", "study", "glad", "walk", "here", "never")
"""Words that a text of one sentence lacks and a random or proposed replacement needs."""


@dataclass(frozen=True)
class Rebuilt:
    """A text rebuilt: the steps of the objective and the verdict about its example."""

    objective: Objective
    text: str
    seed: int
    steps: tuple[Step, ...]
    verdict: leaks.Verdict
    notice: str = ""

    @property
    def example(self) -> Example:
        return self.steps[-1].example

    def record(self) -> dict[str, Any]:
        """The frames of the stage."""
        about = {
            "title": self.objective.name,
            "subtitle": self.objective.idea,
            "formula": self.objective.formula,
            "source": self.objective.source,
        }
        return frames.record([(s.verb, s.example) for s in self.steps], self.verdict, about)

    def facts(self) -> dict[str, Any]:
        """The promised JSON keys of `playground objective`, and more."""
        example = self.example
        question = example.questions[-1]
        targets, graded, listed = _answers(example)
        return {
            "objective": self.objective.name,
            "text": self.text,
            "seed": self.seed,
            "inputs": _words(example, example.inputs.ids, example.inputs.real),
            "decoder_inputs": _words(example, example.decoder.ids, example.decoder.real) if example.decoder else None,
            "targets": targets,
            "graded": graded,
            "target_positions": [p + 1 for p in listed],
            "reader": question.reader,
            "actions": [frames.STATES[a] for a in example.action[0][example.tokens.real[0]].tolist()],
            "visible": frames.visible(example),
            "leak": self.verdict.leak,
            "leak_detail": frames.leak(self.verdict),
            "plan": tell(self.steps),
            "knobs": {name: k.default for name, k in self.objective.knobs.items()},
            "row": self.objective.row,
            "survey": self.survey(),
            "signal": sum(graded) / max(1, int(example.tokens.lengths[0])),
            "formula": self.objective.formula,
            "source": self.objective.source,
            "notice": self.notice,
        }

    def survey(self) -> dict[str, str]:
        """Inputs and targets as the survey's Table 2 prints them: what is given, and what is graded, in their order."""
        example = self.example
        targets, graded, _ = _answers(example)
        answers = " ".join(t for t, g in zip(targets, graded, strict=True) if g)
        return {"inputs": " ".join(_given(example)), "targets": answers}


def rebuild(
    name: str | Objective,
    text: str = SENTENCE,
    *,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    wanted: Mapping[str, Any] | None = None,
    tokenizer: Tokenizer | None = None,
) -> Rebuilt:
    """A typed text under an objective; `settings` turn knobs, `wanted` is a plan by hand."""
    objective = (find_objective(name) if isinstance(name, str) else name).turn(settings or {})
    wanted = {key: wishes.read(key, value) for key, value in (wanted or {}).items()}
    given = _read(text, tokenizer, wanted.get("replace", ()))
    if "sentences" in objective.needs and int(given.tokens.sentence.max()) < 1:
        raise Refusal(f"{objective.name} needs {objective.needs}; this text has one. Add a full stop and a second one.")
    steps = objective.steps(given.tokens, generator(seed, "stage"), wanted)
    return Rebuilt(objective, text, seed, steps, leaks.check(steps[-1].example), given.notice)


def _read(text: str, tokenizer: Tokenizer | None, more: Sequence[str]) -> Typed:
    """The text as tokens; without a tokenizer its own words and a few more are the vocabulary."""
    return typed(text, tokenizer or of_words((*split_words(clean(text[:MOST_CHARACTERS])), *EXTRA_WORDS, *more)))


def table(
    text: str = SENTENCE, seed: int | None = None, plans: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[list[Rebuilt], list[tuple[Objective, str]]]:
    """Every row of the survey's Table 2 for a text, and the rows that this text cannot give, with the reason.

    Without a seed the survey's own sentence is rebuilt as the survey prints it. `plans` maps the name of a row to
    its plan by hand; the name "" holds for every row that has the keys.
    """
    _read(text, None, ())
    for key in (plans or {}).get("", {}):
        if not any(key in o.plan_keys for o in objectives().values()):
            raise Refusal(f"There is no plan key {key!r}; the keys are {', '.join(wishes.SHAPES)}.")
    by_row = {find_objective(name).name: plan for name, plan in (plans or {}).items() if name}
    done, refused = [], []
    for objective in (o for o in objectives().values() if o.row):
        shared = {k: v for k, v in (plans or {}).get("", {}).items() if k in objective.plan_keys}
        try:
            printed = objective.printed if seed is None and text.strip() == SENTENCE else {}
            wanted = {**printed, **shared, **by_row.get(objective.name, {})}
            done.append(rebuild(objective, text, seed=seed or 0, wanted=wanted))
        except Refusal as refusal:
            if objective.name in by_row:
                raise
            refused.append((objective, str(refusal)))
    return done, refused


def _words(example: Example, ids: torch.Tensor, real: torch.Tensor) -> list[str]:
    return frames.words(ids[0], real[0], example.tokens.vocabulary)


def _answers(example: Example) -> tuple[list[str], list[int], list[int]]:
    """Targets, graded flags and positions, in the order in which they are predicted."""
    question = example.questions[-1]
    said, graded = frames.spoken(example, question, 0)
    stream = example.decoder if question.reader == "decoder" else example.inputs
    assert stream is not None
    places = stream.real[0].nonzero().flatten().tolist()
    if question.reader == "query":
        places.sort(key=lambda p: int(example.rank[0, int(example.inputs.origin[0, p])]))
    return [said[p] for p in places], [graded[p] for p in places], places


def _given(example: Example) -> list[str]:
    """What the survey prints as inputs: the given words, not those that are also predicted from the left."""
    question = example.questions[-1]
    words = _words(example, example.inputs.ids, example.inputs.real)
    if question.reader == "query":
        order = example.rank[0].argsort().tolist()
        return [words[p] for p in order if not bool(question.graded[0, p])]
    if question.name == "next word":
        return words[: int(question.graded[0].long().argmax()) + 1]
    return words
