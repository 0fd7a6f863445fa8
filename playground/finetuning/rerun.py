"""A notebook that makes a comparison again, generated from the one on screen."""

import json
from typing import Any

from playground.finetuning.compare import Comparison
from playground.finetuning.job import Asked

RUN = """from playground.finetuning.job import Asked

comparison = Asked(
    base, task, tuple(strategies), tuple(labels), seeds, seed, steps, match, rates,
    packing=packing, beside=tuple(beside),
).again()
facts = comparison.facts()
assert [s["name"] for s in facts["strategies"]], "every strategy has its outcomes\""""

SHOW = """from IPython.display import SVG

from playground.finetuning import figure

values = {
    what: {s["name"]: s[what]["values"] for s in facts["strategies"]} for what in ("accuracy", "forgetting")
}
assert all(len(v) == seeds for named in values.values() for v in named.values())
SVG(figure.svg(figure.outcomes_figure(f"{task}, {facts['labels']} labelled texts", **values)))"""

VERDICT = """from playground.finetuning.artefact import against

print(facts["verdict"])
for gap in facts["against_first"]:
    print(against(gap))
assert facts["verdict"]"""

CHECK = """then = {then}
now = {{s["name"]: s["accuracy"]["values"] for s in facts["strategies"]}}
unchanged = [task, strategies, labels, seeds, seed, steps, match, rates, packing, beside] == {asked}
apart = max((abs(a - b) for n in then if n in now for a, b in zip(then[n], now[n])), default=0.0)
print(f"The accuracies differ from those on screen by at most {{apart:.4f}}.")
assert not unchanged or apart < 0.05, "the same numbers, but for rounding on another machine\""""


def notebook(asked: Asked, provenance: dict[str, str], comparison: Comparison) -> bytes:
    """The notebook as JSON (nbformat 4.5), with a `parameters` cell that papermill can change."""
    then = {name: [o.accuracy for o in some] for name, some in comparison.outcomes.items()}
    told = list(_values(asked).values())[1:]
    origin = "\n".join(f"* {name}: {said}" for name, said in provenance.items() if name != "command")
    cells = [
        _words(f"# Which way of fine-tuning for {asked.task}?\n\nMade from a comparison on screen.\n\n{origin}"),
        _code(_parameters(asked), "parameters"),
        _words("## Run every lane again"),
        _code(RUN),
        _words("## What came out: a dot for every seed"),
        _code(SHOW),
        _words("## Is the difference larger than the noise?"),
        _code(VERDICT),
        _words("## Is it what was on screen?"),
        _code(CHECK.format(then=then, asked=told)),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole: dict[str, Any] = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}}
    numbered = [cell | {"id": f"cell-{k}"} for k, cell in enumerate(cells)]
    return json.dumps(whole | {"cells": numbered}, indent=1, ensure_ascii=False).encode()


def _parameters(asked: Asked) -> str:
    return "\n".join(f"{name} = {value!r}" for name, value in _values(asked).items())


def _values(asked: Asked) -> dict[str, Any]:
    return {
        "base": asked.base, "task": asked.task, "strategies": list(asked.strategies), "labels": list(asked.labels),
        "seeds": asked.seeds, "seed": asked.seed, "steps": asked.steps, "match": asked.match, "rates": asked.rates,
        "packing": asked.packing, "beside": list(asked.beside),
    }  # fmt: skip


def _words(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(text: str, *tags: str) -> dict[str, Any]:
    about = {"tags": list(tags)} if tags else {}
    return {"cell_type": "code", "metadata": about, "source": text, "outputs": [], "execution_count": None}
