"""One text under one objective: everything the command line prints and the stage draws, from one batch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch

from playground import leaks
from playground.batch import Batch, Specials, Tokens, begin, token_strings
from playground.errors import UserError
from playground.objectives import plan_overrides
from playground.objectives.find import find_objective, objectives
from playground.objectives.formula import Term, written
from playground.objectives.objective import Objective, Printed
from playground.objectives.stage import Rounding
from playground.objectives.steps import Step, describe_plan
from playground.rng import generator
from playground.tokenizing import Tokenizer, read_input
from playground.tokenizing.text_input import LONGEST, LeftOut
from playground.tokenizing.words import clean
from playground.trace import frames
from playground.trace.editable import by_hand
from playground.trace.inputs import read, strangers, unjudged
from playground.trace.json_schema import (
    AuxiliaryFacts,
    Cell,
    Choice,
    DecoderIdLists,
    Meter,
    ObjectiveFacts,
    SharedFacts,
    Signal,
    SurveyRow,
    Switch,
)
from playground.trace.json_schema import Term as TermFacts
from playground.trace.mask_history import mask_history
from playground.trace.signal import measure
from playground.trace.source import code_of, opening

SENTENCE = "I am happy to join with you today"
"""The survey's sentence, Table 2."""

DRAW = "stage 110"
"""Names the draw for typed texts; with this one the first seed shows a change under every objective that makes one."""

NO_CONTEXT = "No other word reaches a scored position, so there is nothing to predict it from."

NO_POSITION = "The target's position is not given, so orders with the same beginning get the same prediction."


@dataclass(frozen=True)
class Rebuilt:
    """A text rebuilt: its tokens, the steps of the objective, and the verdict about its batch."""

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
    def batch(self) -> Batch:
        return self.steps[-1].batch

    @property
    def signal(self) -> Signal:
        """The number of scored positions and of tokens of text."""
        return {"scored": sum(frames.answers(self.batch, 0)[1]), "tokens": int(self.batch.tokens.lengths[0])}

    def record(self) -> dict[str, Any]:
        about = {
            "title": self.objective.name,
            "subtitle": self.objective.idea,
            "loss": self.objective.loss,
            "signal": self.signal,
            "meters": meters(self.batch),
            "film": mask_history(self.objective, self.tokens, self.seed),
            "switch": self._switch(),
            **self._shared_facts(),
            **by_hand(self.objective, self.steps),
        }
        own = [s for s in self.steps if s.part == 0]
        text = begin(own[0].batch.tokens)
        record = frames.record([(s.verb, s.batch) for s in own], self.verdict, about)
        code = [opening(), *(code_of(s.stage) for s in own if frames.that_change(text, [(s.verb, s.batch)]))]
        return record | {"frames": [f | {"code": c} for f, c in zip(record["frames"], code, strict=True)]}

    def _shared_facts(self) -> SharedFacts:
        wrong = self.objective.misprint
        return {
            "formula": written(weighted_terms(self.objective, self.steps)),
            "source": self.objective.source,
            "terms": terms(self.objective, self.steps),
            "misprint": {"latex": wrong.latex, "where": wrong.where, "wrong": wrong.wrong} if wrong else None,
            "left_out": [
                {"text": each.text, "used": each.used, "tokens": each.tokens, "said": str(each)}
                for each in self.left_out
            ],
        }

    def _switch(self) -> Switch | None:
        """The leak check under every choice of the objective's main knob."""
        question, name = self.objective.switch
        if not name:
            return None
        overrides, choices = describe_plan(self.steps), list[Choice]()
        for value in self.objective.knobs[name].choices:
            turned = self.objective.turn({name: value})
            batch = turned.steps(self.tokens, generator(self.seed, DRAW), overrides)[-1].batch
            words = leaks.context_words(batch)
            number = f"{words:,.0f}" if words >= 10 else f"{words:.2g}"
            context = f"On average {number} other words reach a scored position." if words else NO_CONTEXT
            context = f"{context} {NO_POSITION}" if batch.inputs.predicts_next else context
            choices.append({"value": value, "hears": context, **frames.leak(leaks.check(batch))})
        return {"question": question, "knob": name, "now": self.objective.knobs[name].default, "choices": choices}

    def facts(self) -> ObjectiveFacts:
        """The JSON of `playground objective` (docs/cli.md)."""
        batch = self.batch
        decoder_ids = frames.id_lists(batch.decoder) if batch.decoder else {}
        target = batch.targets[0]
        targets, scored, listed = _answers(batch)
        return {
            "objective": self.objective.name,
            "text": self.text,
            "pair": self.pair,
            "seed": self.seed,
            "inputs": _words(batch, batch.inputs.ids, batch.inputs.valid),
            "decoder_inputs": _words(batch, batch.decoder.ids, batch.decoder.valid) if batch.decoder else None,
            **frames.id_lists(batch.inputs),
            **cast(DecoderIdLists, {f"decoder_{name}": ids for name, ids in decoder_ids.items()}),
            "targets": targets,
            "scored": scored,
            "target_positions": [p + 1 for p in listed],
            "reader": target.stream,
            "actions": [frames.STATES[a] for a in batch.actions[0][batch.tokens.valid[0]].tolist()],
            "attention_mask": frames.attention_mask(batch),
            "leak": self.verdict.leak,
            "leak_detail": frames.leak(self.verdict),
            "plan": describe_plan(self.steps),
            "knobs": {name: k.default for name, k in self.objective.knobs.items()},
            "row": self.objective.row,
            "survey": self.survey(),
            "signal": sum(scored) / max(1, int(batch.tokens.lengths[0])),
            "signal_by_target": {
                name: {"scored": m.scored, "read": m.read, "idle_rows": m.idle_rows, "share": m.share}
                for name, m in measure(batch).items()
            },
            "auxiliary": [part_facts(part) for part in batch.with_auxiliary[:-1]],
            "notice": self.notice,
            **self._shared_facts(),
        }

    def survey(self) -> SurveyRow:
        """Inputs and targets as the survey's Table 2 prints them."""
        inputs, targets = (" ".join(cell["text"] for cell in cells) for cells in self.cells().values())
        return {"inputs": inputs, "targets": targets}

    def cells(self) -> dict[str, list[Cell]]:
        """A row of the survey's Table 2 as the stage draws it: inputs and scored targets in prediction order."""
        batch = self.batch
        lanes = {lane["name"]: lane["cells"] for lane in frames.lanes(batch, 0)}
        badges = {cell["key"]: cell["badge"] for cell in lanes["original"]}
        texts, scored, listed = _answers(batch)
        number = {position: i for i, position in enumerate(sorted(listed))}
        target, end = batch.targets[0], batch.tokens.specials.end
        asked: list[Cell] = [
            {**lanes[frames.ANSWERS][number[p]], "text": text}
            for p, text, counts in zip(listed, texts, scored, strict=True)
            if counts and not (target.at_decoder and int(target.labels[0, p]) == end)  # the survey prints no [END]
        ]
        given = [lanes["inputs"][p] for p in _given(batch)]
        return {
            part: [{**cell, "badge": badges.get(cell["key"], "")} for cell in cells]
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
    overrides: Mapping[str, Any] | None = None,
    tokenizer: Tokenizer | None = None,
    longest: int = LONGEST,
) -> Rebuilt:
    """A typed text under an objective; `settings` are knobs, `overrides` is a plan by hand.

    `pair` is the second text of objectives that need one, `other` the unrelated text (else one of our own is drawn).
    At most `longest` tokens of the text are used.
    """
    objective = (find_objective(name) if isinstance(name, str) else name).turn(settings or {})
    overrides = {key: plan_overrides.read(key, value) for key, value in (overrides or {}).items()}
    text, pair = clean(text), clean(pair)
    given = read(objective, text, pair, other or strangers(seed), tokenizer, overrides.get("replace", ()), longest)
    made = rebuild_row(objective, given.tokens, text, seed, overrides, (given.notice, guessed(objective)))
    return replace(made, pair=pair, left_out=given.left_out)


def rebuild_row(
    objective: Objective,
    tokens: Tokens,
    text: str,
    seed: int = 0,
    overrides: Mapping[str, Any] | None = None,
    notices: Sequence[str] = (),
) -> Rebuilt:
    """One row of tokens under an objective; the row of a corpus has labels and neighbours."""
    overrides = {key: plan_overrides.read(key, value) for key, value in (overrides or {}).items()}
    steps = objective.steps(tokens, generator(seed, DRAW), overrides)
    batch = steps[-1].batch
    found = (*rounded(steps, overrides), unjudged(objective, batch) or silent(batch), apart(objective, batch))
    notice = " ".join(filter(None, (*notices, *found)))
    return Rebuilt(objective, tokens, text, seed, steps, leaks.check(batch), notice)


def silent(batch: Batch) -> str:
    """Why nothing is scored in a text, where nothing is."""
    if any(bool(target.loss_mask.any()) for part in batch.with_auxiliary for target in part.targets):
        return ""
    why = "what was chosen cannot be predicted here" if bool(batch.selected.any()) else "no word was chosen"
    return f"Nothing is predicted in this text, so nothing is learned from it: {why}."


def guessed(objective: Objective) -> str:
    """A notice that phrases or names are guessed, where the objective needs them."""
    guesses = {"label:phrase": "phrases", "label:mention": "names"}
    names = [words for label, words in guesses.items() if label in objective.needs]
    return f"Which words are {' and '.join(names)} is guessed, from capital letters and small words." if names else ""


def apart(objective: Objective, batch: Batch) -> str:
    """A notice that the parts of a sum read different inputs, where they do; a named objective may share one."""
    if " + " not in objective.name or not batch.auxiliary:
        return ""
    read = {tuple(_words(part, part.inputs.ids, part.inputs.valid)) for part in batch.with_auxiliary}
    if len(read) == 1:
        return ""
    return f"The parts of this sum read {len(read)} different inputs; each has its own mask and its own words."


def rounded(steps: Sequence[Step], overrides: Mapping[str, Any]) -> list[str]:
    """What rounding did where a stage selected by itself; a selection by hand is not rounded."""
    drawn = ((s.stage, s.batch) for s in steps if isinstance(s.stage, Rounding))
    return [stage.rounding(batch) for stage, batch in drawn if not set(stage.keys) & set(overrides)]


def table(
    text: str = SENTENCE, seed: int | None = None, plans: Mapping[str, Mapping[str, Any]] | None = None, pair: str = ""
) -> tuple[list[Rebuilt], list[tuple[Objective, str]]]:
    """Every row of the survey's Table 2 for a text, and the rows that this text cannot give, with the reason.

    Without a seed the survey's own sentence is rebuilt as the survey prints it. `plans` maps the name of a row to
    its plan by hand; the name "" holds for every row that has the keys.
    """
    read_input(text)
    rows = [o for o in objectives().values() if o.row]
    for name, plan in (plans or {}).items():
        named = find_objective(name) if name else None
        if named and not named.row:
            listed = ", ".join(o.name for o in rows)
            raise UserError(f"{named.name} is not a row of the survey's table; its rows are {listed}.")
        keys = {key for row in rows for key in row.plan_keys}
        for key, value in plan.items():
            plan_overrides.read(key, value)
            if not name and key not in keys:
                raise UserError(f"No row of the table has the plan key {key!r}; theirs are {', '.join(sorted(keys))}.")
    by_row = {find_objective(name).name: plan for name, plan in (plans or {}).items() if name}
    done, refused = [], []
    for objective in rows:
        shared = {k: v for k, v in (plans or {}).get("", {}).items() if k in objective.plan_keys}
        try:
            printed = objective.printed if not pair and text.strip() == SENTENCE else Printed()
            overrides = {**(printed.plan if seed is None else {}), **shared, **by_row.get(objective.name, {})}
            second, own = printed.pair or pair, printed.text or text
            done.append(rebuild(objective, own, pair=second, other=printed.other, seed=seed or 0, overrides=overrides))
        except UserError as refusal:
            if objective.name in by_row:
                raise
            refused.append((objective, str(refusal)))
    return done, refused


def weighted_terms(objective: Objective, steps: Sequence[Step]) -> tuple[Term, ...]:
    """The terms of the loss under the knobs, each with its target's weight; of a mixture, those of the drawn part."""
    batch, drawn = steps[-1].batch, next((step.plan.index for step in steps if step.part == -1), None)
    own = {} if drawn is None else {term.target: term for term in objective.parts[drawn].current_terms}
    others = {term.target for part in objective.parts for term in part.terms} - set(own) if own else set()
    weights = {target.name: target.weight for part in batch.with_auxiliary for target in part.targets}
    kept = (own.get(term.target, term) for term in objective.current_terms if term.target not in others)
    return tuple(t.weighing(weights[t.target]) if t.target in weights else t for t in kept)


def terms(objective: Objective, steps: Sequence[Step]) -> list[TermFacts]:
    """Every term of the loss: its symbols, its weight, and the positions (1-based) and the stream that it scores."""
    asked = {target.name: (part, target) for part in steps[-1].batch.with_auxiliary for target in part.targets}
    return [
        {
            "target": term.target,
            "latex": term.latex,
            "weight": target.weight,
            "symbols": term.meanings,
            "network": part.network,
            "reader": target.stream,
            "positions": (target.loss_mask[0].nonzero().flatten() + 1).tolist(),
        }
        for term in weighted_terms(objective, steps)
        if term.target in asked
        for part, target in (asked[term.target],)
    ]


def record_of(
    objective: Objective, steps: Sequence[Step], masked: Callable[[Batch], Batch], about: Mapping[str, Any]
) -> dict[str, Any]:
    """The frames of the stages of one row under the attention masks that a model reads."""
    loss = {"formula": written(weighted_terms(objective, steps)), "loss": objective.loss}
    shown = [(s.verb, masked(s.batch)) for s in steps if s.part == 0]
    verdict = leaks.check(masked(steps[-1].batch))
    return frames.record(shown, verdict, {**about, **loss, "terms": terms(objective, steps)})


def meters(batch: Batch) -> list[Meter]:
    """The signal of every target that is trained in the step, the main one first, and the network that answers."""
    measured = measure(batch)
    asked = ((target.name, part.network) for part in reversed(batch.with_auxiliary) for target in part.targets)
    found = ((name, network, measured[name]) for name, network in asked)
    return [{"target": q, "network": n, "scored": m.scored, "tokens": m.read, "share": m.share} for q, n, m in found]


def part_facts(part: Batch) -> AuxiliaryFacts:
    """The input, the targets and the masks of an auxiliary batch."""
    found: AuxiliaryFacts = {
        "network": part.network,
        "inputs": _words(part, part.inputs.ids, part.inputs.valid),
        "attention_mask": frames.attention_mask(part),
        **frames.id_lists(part.inputs),
    }
    if part.targets:
        found["targets"], found["scored"], _ = _answers(part)
    return found


def _words(batch: Batch, ids: torch.Tensor, real: torch.Tensor) -> list[str]:
    return token_strings(ids[0], real[0], batch.tokens.vocabulary)


def _answers(batch: Batch) -> tuple[list[str], list[int], list[int]]:
    """Targets, loss mask and positions, in the order in which they are predicted."""
    texts, scored, _ = frames.answers(batch, 0)
    positions = batch.answering.valid[0].nonzero().flatten().tolist()
    if batch.targets[0].at_query and bool(batch.prediction_order[0].any()):
        positions.sort(key=lambda p: int(batch.prediction_order[0, int(batch.inputs.origin[0, p])]))
    return [texts[p] for p in positions], [scored[p] for p in positions], positions


def _given(batch: Batch) -> list[int]:
    """Which positions the survey prints as inputs: without those that are also predicted from the left."""
    target = batch.targets[0]
    positions = batch.inputs.valid[0].nonzero().flatten().tolist()
    if "pair" in batch.tokens.labels:
        return _between_signs(positions, batch.inputs.ids[0].tolist(), batch.tokens.specials)
    if target.at_query:
        rank, origin = batch.prediction_order[0].tolist(), batch.inputs.origin[0].tolist()
        given = [p for p in positions if not bool(target.loss_mask[0, p])] or positions
        return sorted(given, key=lambda p: rank[origin[p]] if origin[p] >= 0 else -1)
    asked = target.loss_mask[0].nonzero().flatten().tolist()
    if target.name == "next word":
        return positions[: (asked or [0])[0] + 1]
    return [p for p in positions if p >= asked[-1]] if target.name == "previous word" and asked else positions


def _between_signs(positions: list[int], ids: list[int], specials: Specials) -> list[int]:
    """A pair as the survey prints it: without the special tokens around it, and with one in the middle."""
    special = {p for p in positions if ids[p] in (specials.roles.get("cls"), specials.sep)}
    inner = [p for k, p in enumerate(positions) if 0 < k < len(positions) - 1 or p not in special]
    return [p for k, p in enumerate(inner) if p not in special or k == 0 or inner[k - 1] not in special]
