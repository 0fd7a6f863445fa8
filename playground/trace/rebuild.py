"""One typed text under one objective: everything the command line prints and the stage draws, from one example."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Any

import torch

from playground import leaks
from playground.batch import Batch, Specials, Tokens, begin, token_strings
from playground.errors import Refusal
from playground.objectives import plan_overrides
from playground.objectives.find import find_objective, objectives
from playground.objectives.formula import Term, written
from playground.objectives.objective import Objective, Printed, Step, tell
from playground.objectives.stage import Rounding
from playground.rng import generator
from playground.tokenizing import Tokenizer, read_input
from playground.tokenizing.text_input import LONGEST, LeftOut
from playground.tokenizing.words import clean
from playground.trace import frames
from playground.trace.editable import by_hand
from playground.trace.inputs import read, strangers, unjudged
from playground.trace.mask_history import film
from playground.trace.signal import measure
from playground.trace.source import code_of, opening

SENTENCE = "I am happy to join with you today"
"""The survey's sentence, Table 2."""

DRAW = "stage 110"
"""Names the draw for typed texts; with this one the first seed shows a change under every objective that makes one."""

NOTHING_HEARD = "An answer hears no other word, so there is nothing to learn it from."

NOT_TOLD = "It is not told which place it is for: orders that begin alike get the same answer, whatever comes next."


@dataclass(frozen=True)
class Rebuilt:
    """A text rebuilt: its tokens, the steps of the objective, and the verdict about its example."""

    objective: Objective
    tokens: Tokens
    text: str
    seed: int
    steps: tuple[Step, ...]
    verdict: leaks.Verdict
    notice: str = ""
    pair: str = ""
    left_out: tuple[LeftOut, ...] = ()

    @property
    def example(self) -> Batch:
        return self.steps[-1].example

    @property
    def signal(self) -> dict[str, int]:
        """How many answers are graded, for how many tokens of text."""
        _, graded, _ = frames.answers(self.example, 0)
        return {"graded": sum(graded), "tokens": int(self.example.tokens.lengths[0])}

    def record(self) -> dict[str, Any]:
        """The frames of the stage."""
        about = {
            "title": self.objective.name,
            "subtitle": self.objective.idea,
            "formula": written(spoken(self.objective, self.steps)),
            "source": self.objective.source,
            "loss": self.objective.loss,
            "terms": terms(self.objective, self.steps),
            "misprint": asdict(self.objective.misprint) if self.objective.misprint else None,
            "signal": self.signal,
            "meters": meters(self.example),
            "left_out": [asdict(each) | {"said": str(each)} for each in self.left_out],
            "film": film(self.objective, self.tokens, self.seed),
            "switch": self._switch(),
            **by_hand(self.objective, self.steps),
        }
        return self._with_code(
            frames.record([(s.verb, s.example) for s in self.steps if s.part == 0], self.verdict, about)
        )

    def _with_code(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record with the lines of code behind every frame: how a text begins, and the stages that change it."""
        own = [s for s in self.steps if s.part == 0]
        text = begin(own[0].example.tokens)
        shown = [s.stage for s in own if frames.that_change(text, [(s.verb, s.example)])]
        code = [opening(), *map(code_of, shown)]
        return record | {"frames": [f | ({"code": c} if c else {}) for f, c in zip_longest(record["frames"], code)]}

    def _switch(self) -> dict[str, Any] | None:
        """What the leak check says under every choice of the knob that this objective is best understood by."""
        question, name = self.objective.switch
        if not name:
            return None
        wanted = tell(self.steps)
        choices = []
        for value in self.objective.knobs[name].choices:
            example = (
                self.objective.turn({name: value}).steps(self.tokens, generator(self.seed, DRAW), wanted)[-1].example
            )
            words = leaks.heard(example)
            said = f"{words:,.0f}" if words >= 10 else f"{words:.2g}"
            hears = f"An answer hears {said} other words on average." if words else NOTHING_HEARD
            hears = f"{hears} {NOT_TOLD}" if example.inputs.predicts_next else hears
            choices.append({"value": value, "hears": hears, **frames.leak(leaks.check(example))})
        return {"question": question, "knob": name, "now": self.objective.knobs[name].default, "choices": choices}

    def facts(self) -> dict[str, Any]:
        """The promised JSON keys of `playground objective`, and more."""
        example = self.example
        question = example.questions[0]
        targets, graded, listed = _answers(example)
        return {
            "objective": self.objective.name,
            "text": self.text,
            "pair": self.pair,
            "seed": self.seed,
            "inputs": _words(example, example.inputs.ids, example.inputs.valid),
            "decoder_inputs": _words(example, example.decoder.ids, example.decoder.valid) if example.decoder else None,
            "targets": targets,
            "graded": graded,
            "target_positions": [p + 1 for p in listed],
            "reader": question.stream,
            "actions": [frames.STATES[a] for a in example.actions[0][example.tokens.valid[0]].tolist()],
            "visible": frames.visible(example),
            "leak": self.verdict.leak,
            "leak_detail": frames.leak(self.verdict),
            "plan": tell(self.steps),
            "knobs": {name: k.default for name, k in self.objective.knobs.items()},
            "row": self.objective.row,
            "survey": self.survey(),
            "signal": sum(graded) / max(1, int(example.tokens.lengths[0])),
            "signal_by_question": {n: asdict(m) | {"share": m.share} for n, m in measure(example).questions.items()},
            "formula": written(spoken(self.objective, self.steps)),
            "terms": terms(self.objective, self.steps),
            "misprint": asdict(self.objective.misprint) if self.objective.misprint else None,
            "beside": [part_facts(part) for part in example.with_auxiliary[:-1]],
            "source": self.objective.source,
            "notice": self.notice,
            "left_out": [asdict(each) | {"said": str(each)} for each in self.left_out],
        }

    def survey(self) -> dict[str, str]:
        """Inputs and targets as the survey's Table 2 prints them."""
        return {part: " ".join(cell["text"] for cell in cells) for part, cells in self.cells().items()}

    def cells(self) -> dict[str, list[frames.Cell]]:
        """A row of the survey's Table 2 as the stage draws it: what is given, and what is graded, in their order."""
        example = self.example
        lanes = {lane["name"]: lane["cells"] for lane in frames.lanes(example, 0)}
        badges = {cell["key"]: cell["badge"] for cell in lanes["original"]}
        _, graded, listed = _answers(example)
        number = {place: i for i, place in enumerate(sorted(listed))}
        closing = _closing(example, listed)
        asked = [lanes["targets"][number[p]] for p, g in zip(listed, graded, strict=True) if g and p not in closing]
        given = [lanes["inputs"][p] for p in _given(example)]
        return {
            part: [cell | {"badge": badges.get(cell["key"], "")} for cell in cells]
            for part, cells in (("inputs", given), ("targets", asked))
        }


def rebuild(
    name: str | Objective,
    text: str = SENTENCE,
    *,
    pair: str = "",
    other: str = "",
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    wanted: Mapping[str, Any] | None = None,
    tokenizer: Tokenizer | None = None,
    longest: int = LONGEST,
) -> Rebuilt:
    """A typed text under an objective; `settings` turn knobs, `wanted` is a plan by hand.

    `pair` is the second text of objectives that need one, `other` the unrelated text (else one of our own is drawn).
    At most `longest` tokens of the text are used.
    """
    objective = (find_objective(name) if isinstance(name, str) else name).turn(settings or {})
    wanted = {key: plan_overrides.read(key, value) for key, value in (wanted or {}).items()}
    text, pair = clean(text), clean(pair)
    given = read(objective, text, pair, other or strangers(seed), tokenizer, wanted.get("replace", ()), longest)
    said = (given.notice, guessed(objective))
    made = rebuild_row(objective, given.tokens, text, seed, wanted, said)
    return replace(made, pair=pair, left_out=given.left_out)


def rebuild_row(
    objective: Objective,
    tokens: Tokens,
    text: str,
    seed: int = 0,
    wanted: Mapping[str, Any] | None = None,
    said: Sequence[str] = (),
) -> Rebuilt:
    """One row of text under an objective, with what is known of it: the row of a corpus has labels and neighbours."""
    wanted = {key: plan_overrides.read(key, value) for key, value in (wanted or {}).items()}
    steps = objective.steps(tokens, generator(seed, DRAW), wanted)
    example = steps[-1].example
    found = (*rounded(steps, wanted), unjudged(objective, example) or silent(example), apart(objective, example))
    notice = " ".join(filter(None, (*said, *found)))
    return Rebuilt(objective, tokens, text, seed, steps, leaks.check(example), notice)


def silent(example: Batch) -> str:
    """Why nothing is asked of a text, where nothing is."""
    if any(bool(q.loss_mask.any()) for part in example.with_auxiliary for q in part.questions):
        return ""
    why = "what was chosen cannot be asked here" if bool(example.selected.any()) else "no word of it was chosen"
    return f"Nothing is asked of this text, so it teaches nothing: {why}."


GUESSED = {"phrase": "phrases", "mention": "names"}
"""What of a typed text is guessed, by the label that says it."""


def guessed(objective: Objective) -> str:
    """That a typed text does not say which words are phrases or names, where the objective needs to know."""
    names = [said for label, said in GUESSED.items() if f"label:{label}" in objective.needs]
    return f"Which words are {' and '.join(names)} is guessed, from capital letters and small words." if names else ""


def apart(objective: Objective, example: Batch) -> str:
    """That the parts of a sum read different texts, where they do; a named objective may put both on one."""
    if " + " not in objective.name or not example.auxiliary:
        return ""
    read = {
        tuple(token_strings(part.inputs.ids[0], part.inputs.valid[0], part.tokens.vocabulary))
        for part in example.with_auxiliary
    }
    if len(read) == 1:
        return ""
    return f"The parts of this sum read {len(read)} different inputs; each has its own mask and its own words."


def rounded(steps: Sequence[Step], wanted: Mapping[str, Any]) -> list[str]:
    """What rounding did where a stage chose by itself; a choice by hand was not rounded."""
    drawn = ((s.stage, s.example) for s in steps if isinstance(s.stage, Rounding))
    return [stage.rounding(example) for stage, example in drawn if not set(stage.keys) & set(wanted)]


def table(
    text: str = SENTENCE,
    seed: int | None = None,
    plans: Mapping[str, Mapping[str, Any]] | None = None,
    pair: str = "",
) -> tuple[list[Rebuilt], list[tuple[Objective, str]]]:
    """Every row of the survey's Table 2 for a text, and the rows that this text cannot give, with the reason.

    Without a seed the survey's own sentence is rebuilt as the survey prints it. `plans` maps the name of a row to
    its plan by hand; the name "" holds for every row that has the keys.
    """
    read_input(text)
    rows = [o for o in objectives().values() if o.row]
    for name, plan in (plans or {}).items():
        keys = {key for row in rows for key in row.plan_keys} if not name else set(_row_named(name).plan_keys)
        for key, value in plan.items():
            plan_overrides.read(key, value)
            if not name and key not in keys:
                raise Refusal(f"No row of the table has the plan key {key!r}; theirs are {', '.join(sorted(keys))}.")
    by_row = {find_objective(name).name: plan for name, plan in (plans or {}).items() if name}
    done, refused = [], []
    for objective in (o for o in objectives().values() if o.row):
        shared = {k: v for k, v in (plans or {}).get("", {}).items() if k in objective.plan_keys}
        try:
            printed = objective.printed if not pair and text.strip() == SENTENCE else Printed()
            wanted = {**(printed.plan if seed is None else {}), **shared, **by_row.get(objective.name, {})}
            second, own = printed.pair or pair, printed.text or text
            done.append(rebuild(objective, own, pair=second, other=printed.other, seed=seed or 0, wanted=wanted))
        except Refusal as refusal:
            if objective.name in by_row:
                raise
            refused.append((objective, str(refusal)))
    return done, refused


def _row_named(name: str) -> Objective:
    """The objective of a name, if it is a row of the table."""
    objective = find_objective(name)
    if not objective.row:
        rows = ", ".join(o.name for o in objectives().values() if o.row)
        raise Refusal(f"{objective.name} is no row of the survey's table; its rows are {rows}.")
    return objective


def spoken(objective: Objective, steps: Sequence[Step]) -> tuple[Term, ...]:
    """The terms of the loss as they train: under the knobs that are turned, each with the weight of its question.

    Of a mixture, the part that was drawn says what it asks, and the others are silent.
    """
    example, drawn = steps[-1].example, next((step.plan.index for step in steps if step.part == -1), None)
    own = {} if drawn is None else {term.question: term for term in objective.parts[drawn].told}
    silent = {term.question for part in objective.parts for term in part.terms} - set(own) if own else set()
    weights = {q.name: q.weight for part in example.with_auxiliary for q in part.questions}
    told = (own.get(term.question, term) for term in objective.told if term.question not in silent)
    return tuple(t.weighing(weights[t.question]) if t.question in weights else t for t in told)


def terms(objective: Objective, steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Every term of the loss: its symbols, its weight, and the positions (1-based) of which stream that feed it."""
    example = steps[-1].example
    asked = {q.name: (part, q) for part in example.with_auxiliary for q in part.questions}
    told = []
    for term in (t for t in spoken(objective, steps) if t.question in asked):
        part, question = asked[term.question]
        places = (question.loss_mask[0].nonzero().flatten() + 1).tolist()
        told.append(
            {
                "question": term.question,
                "latex": term.latex,
                "weight": question.weight,
                "symbols": term.meanings,
                "network": part.network,
                "reader": question.stream,
                "positions": places,
            }
        )
    return told


def meters(example: Batch) -> list[dict[str, Any]]:
    """The signal of every question that is trained in the step, the main one first, and the network that answers."""
    measured = measure(example)
    asked = [(q.name, part.network) for part in reversed(example.with_auxiliary) for q in part.questions]
    return [
        {"question": name, "network": network, "graded": found.graded, "tokens": found.read, "share": found.share}
        for name, network in asked
        for found in (measured.questions[name],)
    ]


def part_facts(part: Batch) -> dict[str, Any]:
    """What an example beside the main one shows and asks."""
    found = {"network": part.network, "inputs": _words(part, part.inputs.ids, part.inputs.valid)}
    if part.questions:
        targets, graded, _ = _answers(part)
        found |= {"targets": targets, "graded": graded}
    return found | {"visible": frames.visible(part)}


def _words(example: Batch, ids: torch.Tensor, real: torch.Tensor) -> list[str]:
    return token_strings(ids[0], real[0], example.tokens.vocabulary)


def _answers(example: Batch) -> tuple[list[str], list[int], list[int]]:
    """Targets, graded flags and positions, in the order in which they are predicted."""
    said, graded, _ = frames.answers(example, 0)
    places = example.answering.valid[0].nonzero().flatten().tolist()
    if example.questions[0].stream == "query" and bool(example.prediction_order[0].any()):
        places.sort(key=lambda p: int(example.prediction_order[0, int(example.inputs.origin[0, p])]))
    return [said[p] for p in places], [graded[p] for p in places], places


def _given(example: Batch) -> list[int]:
    """Which positions the survey prints as inputs: the given words, not those that are also predicted from the left."""
    question = example.questions[0]
    places = example.inputs.valid[0].nonzero().flatten().tolist()
    if "pair" in example.tokens.labels:
        return _between_signs(places, example.inputs.ids[0].tolist(), example.tokens.specials)
    if question.stream == "query":
        rank, origin = example.prediction_order[0].tolist(), example.inputs.origin[0].tolist()
        given = [p for p in places if not bool(question.loss_mask[0, p])] or places
        return sorted(given, key=lambda p: rank[origin[p]] if origin[p] >= 0 else -1)
    asked = question.loss_mask[0].nonzero().flatten().tolist()
    if question.name == "next word":
        return places[: (asked or [0])[0] + 1]
    return [p for p in places if p >= asked[-1]] if question.name == "previous word" and asked else places


def _closing(example: Batch, places: Sequence[int]) -> set[int]:
    """Where a decoder closes what it writes, which the survey does not print."""
    question = example.questions[0]
    if question.stream != "decoder":
        return set()
    return {p for p in places if int(question.targets[0, p]) == example.tokens.specials.end}


def _between_signs(places: list[int], ids: list[int], specials: Specials) -> list[int]:
    """A pair as the survey prints it: without the signs before and after, and with one sign in the middle."""
    signs = {p for p in places if ids[p] in (specials.cls, specials.sep)}
    inner = [p for k, p in enumerate(places) if 0 < k < len(places) - 1 or p not in signs]
    return [p for k, p in enumerate(inner) if p not in signs or k == 0 or inner[k - 1] not in signs]
