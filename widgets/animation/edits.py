"""A hand on the stage as a plan of the engine: a click, a drag or a typed word bends the plan, and nothing else."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.errors import Refusal
from playground.objectives import plan_overrides

Plan = dict[str, Any]
ACTIONS = ("mask", "random", "keep")
"""What may happen to a chosen word, in the order in which clicks go round."""

FARTHEST = 10_000
"""No word, cell or layer on the stage has a larger number."""


@dataclass(frozen=True)
class Bent:
    """A plan without its `replace`, and the words by position that were typed and must stay."""

    plan: Plan
    typed: Mapping[int, str] = field(default_factory=dict)

    def complete(self, drawn: Plan, everyone: bool) -> Plan:
        """The whole plan, once the dice have said (`drawn`) which word each other position gets."""
        if not self.typed:
            return self.plan
        places = carriers(drawn, everyone)
        words = dict(zip(places, drawn.get("replace", ()), strict=False)) | dict(self.typed)
        if without := [place for place in places if place not in words]:
            raise Refusal(f"Here no other word stands in the place of word {without[0]}, so none can be typed there.")
        return {**self.plan, "replace": [words[place] for place in places]}


def bend(plan: Mapping[str, Any], edit: Mapping[str, Any], typed: Mapping[int, str], everyone: bool = False) -> Bent:
    """The plan after one edit; `typed` are the words that a person gave, `everyone` that all chosen words get one."""
    act = DO.get(str(edit.get("do")))
    if act is None:
        raise Refusal(f"There is no edit {edit.get('do')!r}; the edits are {', '.join(DO)}.")
    after = act({k: list(v) if isinstance(v, list) else v for k, v in plan.items()}, edit)
    words = {**typed, **after.pop("typed", {})}
    after.pop("replace", None)
    return Bent(after, {place: words[place] for place in carriers(after, everyone) if place in words})


def carriers(plan: Mapping[str, Any], everyone: bool) -> list[int]:
    """The positions whose word is replaced: those that are randomised, or all chosen ones where a generator acts."""
    chosen = chosen_words(plan)
    if everyone or "actions" not in plan:
        return chosen
    return [place for place, action in zip(chosen, plan["actions"], strict=False) if action == "random"]


def chosen_words(plan: Mapping[str, Any]) -> list[int]:
    """The words that are chosen, by name or inside a span."""
    spans = (plan_overrides.read("spans", plan["spans"])) if "spans" in plan else []
    inside = [place for start, length in spans for place in range(start, start + length)]
    return sorted({*plan.get("chosen", ()), *inside})


def _keeping_actions(plan: Plan, change: Callable[[], None]) -> Plan:
    """The plan after a change of what is chosen; whoever stays keeps the action, whoever is new is masked."""
    before = dict(zip(chosen_words(plan), plan.get("actions", ()), strict=False))
    change()
    if "actions" in plan:
        plan["actions"] = [before.get(place, "mask") for place in chosen_words(plan)]
    return plan


def _choose(plan: Plan, edit: Mapping[str, Any]) -> Plan:
    """Choose a word, or let a chosen one go."""
    word = number(edit, "word")

    def change() -> None:
        plan["chosen"] = sorted({*plan["chosen"]} ^ {word})

    return _keeping_actions(_with_key(plan, "chosen"), change)


def _act(plan: Plan, edit: Mapping[str, Any]) -> Plan:
    """Send a chosen word on to its next action, or to a named one; a word that is not chosen yet is chosen."""
    word = number(edit, "word")
    if word not in chosen_words(plan):
        plan = _choose(plan, edit)
    actions, at = _with_key(plan, "actions")["actions"], _action_of(plan, word)
    wanted = edit.get("to") or ACTIONS[(ACTIONS.index(actions[at]) + 1) % len(ACTIONS)]
    actions[at] = plan_overrides.read("actions", [wanted])[0]
    return plan


def _action_of(plan: Plan, word: int) -> int:
    """Which of the actions is that of a chosen word."""
    at = chosen_words(plan).index(word)
    if at >= len(plan["actions"]):
        raise Refusal(f"Word {word} has no action here; there are {len(plan['actions'])} for other words.")
    return at


def _replace(plan: Plan, edit: Mapping[str, Any]) -> Plan:
    """Give a chosen word the word that stands there instead."""
    word, said = number(edit, "word"), str(edit.get("with", "")).strip()
    if not said or any(sign in said for sign in " ,;=") or len(said) > 40:
        raise Refusal(f"The word {said[:40]!r} cannot be written into a plan; type one word without commas or spaces.")
    if word not in chosen_words(plan):
        plan = _choose(plan, edit)
    if "actions" in plan and edit.get("acts", True):
        plan["actions"][_action_of(plan, word)] = "random"
    return {**plan, "typed": {word: said}}


def _span(plan: Plan, edit: Mapping[str, Any]) -> Plan:
    """Make a run of words a span; `old` is the span that it grew out of, and no two spans may share a word."""
    first, last = sorted((number(edit, "from"), number(edit, "to")))
    return _keeping_actions(plan, lambda: _set_spans(plan, edit.get("old"), (first, last - first + 1)))


def _unspan(plan: Plan, edit: Mapping[str, Any]) -> Plan:
    """Let a span go."""
    return _keeping_actions(plan, lambda: _set_spans(plan, edit.get("old"), None))


def _set_spans(plan: Plan, old: Any, new: tuple[int, int] | None) -> None:
    written = plan_overrides.read("spans", _with_key(plan, "spans")["spans"])
    spans = [span for span in written if f"{span[0]}:{span[1]}" != old]
    if new is not None:
        spans = [span for span in spans if span[0] + span[1] <= new[0] or span[0] >= sum(new)] + [new]
    plan["spans"] = [f"{start}:{length}" for start, length in sorted(spans)]


def _value(key: str) -> Callable[[Plan, Mapping[str, Any]], Plan]:
    """An edit that gives a plan key its new value as it stands."""

    def act(plan: Plan, edit: Mapping[str, Any]) -> Plan:
        return {**plan, key: plan_overrides.read(key, edit.get("to"))}

    return act


def _with_key(plan: Plan, key: str) -> Plan:
    if key not in plan:
        raise Refusal(f"This objective has no {key!r} to edit; its plan has: {', '.join(plan) or 'nothing'}.")
    return plan


def number(edit: Mapping[Any, Any], key: Any) -> int:
    """A whole number out of a message from a browser."""
    value = edit.get(key)
    if not isinstance(value, int | float) or not abs(value) <= FARTHEST or value != int(value):
        shown = plan_overrides.short(value)
        raise Refusal(f"The edit says {key} = {shown}; it must be a whole number up to {FARTHEST:,}.")
    return int(value)


def cells_of(edit: Mapping[str, Any]) -> list[list[Any]]:
    """The cells out of a message from a browser, each a list."""
    cells = edit.get("cells", [])
    if not isinstance(cells, list) or not all(isinstance(cell, list) for cell in cells):
        raise Refusal(f"The edit says cells = {plan_overrides.short(cells)}; it must be a list such as [[0, 1, true]].")
    return cells


DO: Mapping[str, Callable[[Plan, Mapping[str, Any]], Plan]] = {
    "choose": _choose,
    "act": _act,
    "replace": _replace,
    "span": _span,
    "unspan": _unspan,
    "order": _value("order"),
    "cut": _value("cut"),
    "split": _value("split"),
    "pair": _value("pair"),
}


def unheard(message: Mapping[str, Any], heard: dict[str, int]) -> Iterator[Mapping[str, Any]]:
    """The edits of a message that were not heard before; `heard` remembers the last number of every sender."""
    sender = str(message.get("from"))
    for edit in message.get("edits", ()):
        if edit.get("number", 0) > heard.get(sender, 0):
            heard[sender] = edit["number"]
            yield edit
