"""Write the tables of docs/objectives.md anew with `python docs/objectives.py`."""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from torch import device

from playground.batch import Tokens
from playground.corpora import open_corpus
from playground.errors import UserError
from playground.knob import Knob, knobs
from playground.objectives import GROUPS, Objective, objectives
from playground.objectives.arrange import SampleTask
from playground.objectives.plan_overrides import SHAPES
from playground.rng import generator
from playground.trace.inputs import NEEDS
from playground.trace.rebuild import SENTENCE, rebuild
from playground.trace.signal import Meter, measure
from playground.training.data import BatchSampler

FILE = Path(__file__).with_name("objectives.md")
BEGIN, END = "<!-- made by docs/objectives.py: begin -->\n", "<!-- end -->"
SECOND = {"pair": "We walk side by side", "translation": "Je suis heureux d'être avec vous", "sentences": ""}
TWO_SENTENCES = f"{SENTENCE} . We walk side by side ."
NONE = "–"


def page() -> str:
    """All that the script writes: a section for every group, then what they share."""
    shared = (sums(), misprints(), plan_keys(), all_knobs())
    return "\n".join((*(section(group) for group in GROUPS), *shared))


def section(group: str) -> str:
    """What the objectives of a group do, and how they are steered."""
    members = [o for o in objectives().values() if o.group == group]
    done = ((_name(o), o.idea, f"{o.loss} {scored(o)}", _formula(o), _linked(o.source)) for o in members)
    turned = ((o.name, _code(o.plan_keys), _settings(o)) for o in members)
    first = table(("objective", "idea", "what is scored", "formula", "source"), done)
    return f"## {group}\n\n{first}\n" + table(("objective", "plan keys", "knobs and their defaults"), turned)


def sums() -> str:
    """The questions of the objectives that ask more than one with their weights, and the parts of mixtures."""
    rows = [(o.name, "; ".join(filter(None, (_shares(o), _weights(o))))) for o in objectives().values()]
    return "## Sums and mixtures\n\n" + table(("objective", "parts"), (row for row in rows if row[1]))


def misprints() -> str:
    """Formulas that a source prints wrongly, beside the right ones."""
    rows = (
        (o.name, _maths(o.misprint.latex), o.misprint.where, o.misprint.wrong, _maths(o.formula))
        for o in objectives().values()
        if o.misprint
    )
    head = ("objective", "as printed", "where", "what is wrong with it", "what is trained here")
    return "## Misprints in sources\n\n" + table(head, rows)


def plan_keys() -> str:
    """What a person may write for each key of a plan."""
    return "## Plan keys\n\n" + table(("key", "value"), ((f"`{key}`", shape) for key, shape in SHAPES.items()))


def all_knobs() -> str:
    """Every knob of every stage with its limits."""
    stages = {type(stage): stage for o in objectives().values() for chain in o.chains for stage in chain.stages}
    rows = ((kind.__name__, k) for kind, stage in stages.items() for k in knobs(stage))
    cells = sorted((name, f"`{k.name}`", _limits(k), k.unit or NONE, k.why) for name, k in rows)
    return "## Knobs\n\n" + table(("stage", "knob", "limits", "unit", "why"), cells)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = (head, ("---",) * len(head), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def scored(objective: Objective) -> str:
    """How many positions of each question are scored on the typed sentence, or which labels a typed sentence lacks."""
    need = next((need for need in objective.needs if need in NEEDS), "")
    printed = objective.printed
    try:
        if printed.text and not objective.row:
            shown = rebuild(objective, printed.text, pair=printed.pair, wanted=printed.plan)
            return f"On its own example: {_counts(objective, measure(shown.example))}."
        text = TWO_SENTENCES if need == "sentences" else SENTENCE
        meters = measure(rebuild(objective, text, pair=SECOND.get(need, "")).example)
    except UserError:
        labels = (n.removeprefix("label:") for n in objective.needs)
        return f"Needs a corpus that knows: {', '.join(labels)}."
    return f"On {_typed(need)}: {_counts(objective, meters)}."


def _counts(objective: Objective, meters: Mapping[str, Meter]) -> str:
    """How many answers each question has, of a mixture those of the part that was drawn."""
    return ", ".join(f"*{q}* {_count(meters[q])}" for q in _questions(objective) if q in meters)


def _questions(objective: Objective) -> tuple[str, ...]:
    return tuple(term.question for term in objective.terms)


def _typed(need: str) -> str:
    words = {"pair": "two sentences side by side", "sentences": "two sentences"}
    return {**words, "translation": "the sentence and its translation"}.get(need, "the sentence")


def _count(meter: Meter) -> str:
    return f"{meter.graded} {'of' if meter.graded <= meter.read else 'from'} {meter.read}"


def _weights(objective: Objective) -> str:
    """How much each question counts, where there are several at once."""
    if len(objective.terms) < 2 or objective.parts:
        return ""
    example = objective.example(_batch(objective), generator(0))
    asked = {q.name: q.weight for part in example.with_auxiliary for q in part.questions}
    told = [f"{asked[name]:g} × *{name}*" for name in _questions(objective) if name in asked]
    return " + ".join(told) if len(told) > 1 else ""


def _shares(objective: Objective) -> str:
    """By what share each part of a mixture is drawn."""
    draw = next((stage for stage in objective.stages if isinstance(stage, SampleTask)), None)
    if draw is None:
        return ""
    if draw.alternating:
        return f"by turns: {', '.join(part.name for part in objective.parts)}"
    shares = (Fraction(share / sum(draw.shares)).limit_denominator(100) for share in draw.shares)
    said = (f"{part.name} in {share} of them" for part, share in zip(objective.parts, shares, strict=True))
    return f"one part for each batch: {', '.join(said)}"


@cache
def _feed(needs: tuple[str, ...]) -> BatchSampler:
    return BatchSampler.of(open_corpus("world", seed=0, tokens=20_000), 32, 32, 0, device("cpu"), needs)


def _batch(objective: Objective) -> Tokens:
    return _feed(objective.needs).at(0)


def _name(objective: Objective) -> str:
    row = f"<br>survey: {objective.row}" if objective.row else ""
    return f"**{objective.name}**{row}<br>also: {', '.join(objective.aliases)}"


def _formula(objective: Objective) -> str:
    symbols = {symbol: what for term in objective.current_terms for symbol, what in term.meanings.items()}
    return "<br>".join((_maths(objective.formula), *(f"{_maths(s)}: {what}" for s, what in symbols.items())))


def _maths(latex: str) -> str:
    """LaTeX that a table can hold: a bar would end the cell."""
    return f"$`{latex.replace('|', chr(92) + 'vert ')}`$"


def _linked(source: str) -> str:
    return re.sub(r"arXiv:(\d{4}\.\d{4,5})", r"[\g<0>](https://arxiv.org/abs/\1)", source)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or NONE


def _settings(objective: Objective) -> str:
    return ", ".join(f"`{name}` {_said(k.default)}" for name, k in objective.knobs.items()) or NONE


def _limits(k: Knob) -> str:
    if k.choices:
        return ", ".join(map(str, k.choices))
    return "yes, no" if isinstance(k.default, bool) else f"{_said(k.low)} to {_said(k.high)}"


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def renew() -> None:
    """Put the tables between their marks."""
    before, rest = FILE.read_text(encoding="utf-8").split(BEGIN)
    FILE.write_text(before + BEGIN + "\n" + page() + "\n" + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    renew()
