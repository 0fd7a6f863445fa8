"""What may be edited by hand in a record: the plan, its keys and the words that they name."""

import torch

from playground.batch import Tokens, token_strings
from playground.objectives.arrange.pair import NAMES
from playground.objectives.objective import Objective
from playground.objectives.stage import Planned
from playground.objectives.steps import Step, describe_plan
from playground.trace.json_schema import Editable


def by_hand(objective: Objective, steps: tuple[Step, ...]) -> Editable:
    """The plan, its editable keys, the choices, and the words; `word` is that of each token, an order has `units`."""
    plan, tokens = describe_plan(steps), steps[-1].batch.tokens
    words, sentences = _joined(tokens, tokens.word_ids), _joined(tokens, tokens.sentence_ids, " ")
    return {
        "plan": plan,
        "edits": [key for key in objective.plan_keys if not (key == "actions" and objective.proposes)],
        "outcomes": outcomes(objective),
        "words": words,
        "word": (tokens.word_ids[0][tokens.valid[0]] + 1).tolist(),
        "units": words if len(plan.get("order", words)) == len(words) else sentences,
    }


def outcomes(objective: Objective) -> list[str]:
    """What may become of a pair, in a plan's words; empty where there is no pair."""
    pairs = (s for s in objective.every_stage if isinstance(s, Planned) and "pair" in s.keys)
    names: list[str] = [name for stage in pairs for name in getattr(stage, "outcomes", ())]
    return list(dict.fromkeys(NAMES.get(name, name) for name in names))


def _joined(tokens: Tokens, numbers: torch.Tensor, glue: str = "") -> list[str]:
    """The words or sentences of the first row as text; without `glue` word pieces are joined."""
    units: dict[int, list[str]] = {}
    strings = token_strings(tokens.ids[0], tokens.valid[0], tokens.vocabulary)
    for number, text in zip(numbers[0][tokens.valid[0]].tolist(), strings, strict=True):
        parts = units.setdefault(number, [])
        parts.append(
            text if glue else text.removeprefix("##") if parts else text.removeprefix("Ġ").removeprefix("▁") or text
        )
    return [glue.join(parts) for parts in units.values()]
