"""What a person may take in hand on the stage: the plan, the keys that bend it, and the words they speak of."""

from typing import Any

from playground.batch import Tokens
from playground.objectives.arrange.pair import NAMES
from playground.objectives.objective import Objective, Step, tell
from playground.objectives.stage import Planned


def by_hand(objective: Objective, steps: tuple[Step, ...]) -> dict[str, Any]:
    """The plan as it is, which of its keys may be edited, the choices there are, and the words of the text.

    `word` names the word (1-based) of every token; `units` are what an order puts in order: words or sentences.
    """
    plan, tokens = tell(steps), steps[-1].example.tokens
    words, sentences = _joined(tokens, "word"), _joined(tokens, "sentence")
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
    pairs = (s for chain in objective.chains for s in chain.stages if isinstance(s, Planned) and "pair" in s.keys)
    names: list[str] = [name for stage in pairs for name in getattr(stage, "outcomes", ())]
    return list(dict.fromkeys(NAMES.get(name, name) for name in names))


def _joined(tokens: Tokens, unit: str) -> list[str]:
    """The words or sentences of the first row as text, pieces joined."""
    numbers = getattr(tokens, f"{unit}_ids")[0][tokens.valid[0]].tolist()
    said = [str(tokens.vocabulary[i]) for i in tokens.ids[0][tokens.valid[0]].tolist()]
    glue = "" if unit == "word" else " "
    return [
        glue.join(s.removeprefix("##") if glue == "" and k else s for k, s in enumerate(_at(said, numbers, n)))
        for n in dict.fromkeys(numbers)
    ]


def _at(said: list[str], numbers: list[int], wanted: int) -> list[str]:
    return [s for s, number in zip(said, numbers, strict=True) if number == wanted]
