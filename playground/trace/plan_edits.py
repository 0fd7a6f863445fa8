"""Edits by hand as plans of the engine: a click, a drag or a typed word changes the plan, and nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.errors import UserError
from playground.objectives import plan_overrides

Plan = dict[str, Any]
ACTIONS = ("mask", "random", "keep")  # what may happen to a chosen word, in the order in which clicks go round
FARTHEST = 10_000  # no word, cell or layer on the stage has a larger number


@dataclass(frozen=True)
class Bent:
    """A plan without its `replace`, and the words by position that were typed and must stay."""

    plan: Plan
    typed: Mapping[int, str] = field(default_factory=dict)

    def complete(self, drawn: Plan, everyone: bool) -> Plan:
        """The whole plan, once it is sampled (`drawn`) which word each other position gets."""
        if not self.typed:
            return self.plan
        positions = carriers(drawn, everyone)
        words = dict(zip(positions, drawn.get("replace", ()), strict=False)) | dict(self.typed)
        if without := [position for position in positions if position not in words]:
            raise UserError(f"Here no other word replaces word {without[0]}, so none can be typed there.")
        return {**self.plan, "replace": [words[position] for position in positions]}


def bend(plan: Mapping[str, Any], edit: Mapping[str, Any], typed: Mapping[int, str], everyone: bool = False) -> Bent:
    """The plan after one edit; `typed` are the words that a person gave, `everyone` that all chosen words get one."""
    act = DO.get(str(edit.get("do")))
    if act is None:
        raise UserError(f"There is no edit {edit.get('do')!r}; the edits are {', '.join(DO)}.")
    after = act({k: list(v) if isinstance(v, list) else v for k, v in plan.items()}, edit)
    words = {**typed, **after.pop("typed", {})}
    after.pop("replace", None)
    return Bent(after, {position: words[position] for position in carriers(after, everyone) if position in words})


def carriers(plan: Mapping[str, Any], everyone: bool) -> list[int]:
    """The positions whose word is replaced: those that are randomised, or all chosen ones where a generator acts."""
    chosen = chosen_words(plan)
    if everyone or "actions" not in plan:
        return chosen
    return [position for position, action in zip(chosen, plan["actions"], strict=False) if action == "random"]


def chosen_words(plan: Mapping[str, Any]) -> list[int]:
    """The words that are chosen, by number or inside a span."""
    spans = plan_overrides.read("spans", plan["spans"]) if "spans" in plan else []
    return sorted({*plan.get("chosen", ()), *(position for s, n in spans for position in range(s, s + n))})


def _with_choice(plan: Plan, key: str, value: Any) -> Plan:
    """The plan with other chosen words or spans; a word that stays keeps its action, a new one is masked."""
    before = dict(zip(chosen_words(plan), plan.get("actions", ()), strict=False))
    after = {**plan, key: value}
    return after | ({"actions": [before.get(w, "mask") for w in chosen_words(after)]} if "actions" in plan else {})


def _choose(plan: Plan, edit: Mapping[str, Any]) -> Plan:
    """Choose a word, or deselect a chosen one."""
    return _with_choice(plan, "chosen", sorted({*_value_of(plan, "chosen")} ^ {number(edit, "word")}))


def _act(plan: Plan, edit: Mapping[str, Any]) -> Plan:
    """Send a chosen word on to its next action, or to a named one; a word that is not chosen yet is chosen."""
    word = number(edit, "word")
    if word not in chosen_words(plan):
        plan = _choose(plan, edit)
    actions, at = _value_of(plan, "actions"), _action_of(plan, word)
    action = edit.get("to") or ACTIONS[(ACTIONS.index(actions[at]) + 1) % len(ACTIONS)]
    actions[at] = plan_overrides.read("actions", [action])[0]
    return plan


def _action_of(plan: Plan, word: int) -> int:
    """Which of the actions is that of a chosen word."""
    at = chosen_words(plan).index(word)
    if at >= len(plan["actions"]):
        raise UserError(f"Word {word} has no action here; there are {len(plan['actions'])} for other words.")
    return at


def _replace(plan: Plan, edit: Mapping[str, Any]) -> Plan:
    """Give a chosen word the word that stands there instead."""
    word, other = number(edit, "word"), str(edit.get("with", "")).strip()
    if not other or any(sign in other for sign in " ,;=") or len(other) > 40:
        raise UserError(
            f"The word {other[:40]!r} cannot be written into a plan; type one word without commas or spaces."
        )
    if word not in chosen_words(plan):
        plan = _choose(plan, edit)
    if "actions" in plan and edit.get("acts", True):
        plan["actions"][_action_of(plan, word)] = "random"
    return {**plan, "typed": {word: other}}


def _span(plan: Plan, edit: Mapping[str, Any]) -> Plan:
    """Make neighbouring words a span, in place of the span `old` and of all that share a word with it."""
    first, last = sorted((number(edit, "from"), number(edit, "to")))
    others = [(start, n) for start, n in _other_spans(plan, edit) if start + n <= first or start > last]
    return _with_spans(plan, [*others, (first, last - first + 1)])


def _other_spans(plan: Plan, edit: Mapping[str, Any]) -> list[tuple[int, int]]:
    spans = plan_overrides.read("spans", _value_of(plan, "spans"))
    return [(start, n) for start, n in spans if f"{start}:{n}" != edit.get("old")]


def _with_spans(plan: Plan, spans: list[tuple[int, int]]) -> Plan:
    return _with_choice(plan, "spans", [f"{start}:{length}" for start, length in sorted(spans)])


def _value(key: str) -> Callable[[Plan, Mapping[str, Any]], Plan]:
    """An edit that gives a plan key its new value as it stands."""
    return lambda plan, edit: {**plan, key: plan_overrides.read(key, edit.get("to"))}


def _value_of(plan: Plan, key: str) -> Any:
    if key not in plan:
        raise UserError(f"This objective has no {key!r} to edit; its plan has: {', '.join(plan) or 'nothing'}.")
    return plan[key]


def number(edit: Mapping[Any, Any], key: Any) -> int:
    """A whole number out of a message from a browser."""
    value = edit.get(key)
    if not isinstance(value, int | float) or not abs(value) <= FARTHEST or value != int(value):
        shown = plan_overrides.short(value)
        raise UserError(f"The edit says {key} = {shown}; it must be a whole number up to {FARTHEST:,}.")
    return int(value)


def cells_of(edit: Mapping[str, Any]) -> list[list[Any]]:
    """The cells out of a message from a browser, each a list."""
    cells = edit.get("cells", [])
    if not isinstance(cells, list) or not all(isinstance(cell, list) for cell in cells):
        raise UserError(
            f"The edit says cells = {plan_overrides.short(cells)}; it must be a list such as [[0, 1, true]]."
        )
    return cells


DO: Mapping[str, Callable[[Plan, Mapping[str, Any]], Plan]] = {
    "choose": _choose,
    "act": _act,
    "replace": _replace,
    "span": _span,
    "unspan": lambda plan, edit: _with_spans(plan, _other_spans(plan, edit)),
    **{key: _value(key) for key in ("order", "cut", "split", "pair")},
}
