"""A notebook that makes a comparison again, generated from the one on screen."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from playground.corpora.sources import two_files
from playground.errors import Refusal
from playground.finetuning.comparing.compare import Comparison
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.files import COLUMNS, is_file

Kept = dict[str, list[float]]
"""Accuracies or other values, seed by seed, by what they belong to."""

LEFT_BEHIND = (
    "To run it you need Python with `pretraining-playground` installed, and beside this notebook the files of its "
    "archive (*All, with the model* on the Transfer page): the folder `base` with the model, and a labelled file of "
    "your own where the task is one."
)
"""What the notebook alone does not hold."""

NEEDS = """from playground.finetuning.report.notebook import check_files

check_files(base, task, extra_encoders)"""

RUN = """from playground.finetuning.comparing.spec import ComparisonSpec

comparison = ComparisonSpec(
    base, task, tuple(strategies), tuple(train_sizes), seeds, seed, steps, match, lr_policy,
    input_format=input_format, extra_encoders=tuple(extra_encoders),
).again()
facts = comparison.facts()
assert [s["name"] for s in facts["strategies"]], "every strategy has its outcomes\""""

SHOW = """from IPython.display import SVG

from playground.finetuning.report import plot

values = {
    what: {s["name"]: s[what]["values"] for s in facts["strategies"]} for what in ("accuracy", "forgetting")
}
assert all(len(v) == seeds for named in values.values() for v in named.values())
SVG(plot.svg(plot.outcomes_figure(f"{task}, {facts['labels']} labelled texts", **values)))"""

VERDICT = """from playground.finetuning.report.page import against

print(facts["verdict"])
for gap in facts["against_first"]:
    print(against(gap))
assert facts["verdict"]"""

NOW = """from playground.finetuning.report.notebook import values_of

now = values_of(facts)"""

RUN_IN_TURN = """from playground.finetuning.comparing.spec import ComparisonSpec

found = ComparisonSpec(
    base, task, tuple(strategies), tuple(train_sizes), seeds, seed, steps, lr_policy=lr_policy,
    input_format=input_format, extra_encoders=tuple(extra_encoders), then=tuple(then),
).again_in_turn()
assert found["tasks"][0], "every task was learnt\""""

SHOW_IN_TURN = """for one in found["strategies"]:
    print(one["name"])
    for learnt, row in zip(found["tasks"], one["matrix"]):
        print(f"  after {learnt}:", ", ".join(f"{name} {right:.3f}" for name, right in zip(found["tasks"], row)))
    print(f"  earlier tasks {one['backward']['mean']:+.3f}, pre-training loss {one['forgetting']['mean']:+.3f} nats")
assert all(len(one["matrix"]) == len(found["tasks"]) for one in found["strategies"])"""

NOW_IN_TURN = """from playground.finetuning.report.notebook import values_in_turn

now = values_in_turn(found)"""

CHECK = """
known = {known}
unchanged = {names} == {asked}
apart = {{
    what: max((abs(a - b) for n in named if n in now[what] for a, b in zip(named[n], now[what][n])), default=0.0)
    for what, named in known.items()
}}
print(f"The accuracies differ from those on screen by at most {{apart['accuracy']:.4f}}, "
      f"forgetting by at most {{apart['forgetting']:.4f}} nats.")
assert not unchanged or apart["accuracy"] < 0.05, "the same numbers, but for rounding on another machine\""""


def check_files(base: str, task: str, extra_encoders: Sequence[str] = ()) -> None:
    """Refuse to begin where a file is not beside the notebook, and say where it comes from."""
    path = task.partition(COLUMNS)[0]
    both = [path] if two_files(path) is None and is_file(task) else []
    lacking = [name for name in (base, *extra_encoders, *both) if not Path(name).exists()]
    if lacking:
        raise Refusal(
            f"This notebook needs {', '.join(lacking)} in the folder {Path.cwd()}. They come with it in one archive: "
            "'All, with the model' on the Transfer page, or --out of playground compare. Unpack it and open the "
            "notebook there."
        )


def values_of(facts: Mapping[str, Any]) -> dict[str, Kept]:
    """Accuracy and forgetting of a comparison, by number of labelled texts and strategy."""
    return {
        what: {
            f"{point['labels']} labels, {s['name']}": s[what]["values"]
            for point in facts["curve"]
            for s in point["strategies"]
        }
        for what in ("accuracy", "forgetting")
    }


def values_in_turn(found: Mapping[str, Any]) -> dict[str, Kept]:
    """The mean matrices of tasks learnt in turn, cell by cell, and what pre-training lost."""
    return {
        "accuracy": {s["name"]: [cell for row in s["matrix"] for cell in row] for s in found["strategies"]},
        "forgetting": {s["name"]: s["forgetting"]["values"] for s in found["strategies"]},
    }


def notebook(asked: ComparisonSpec, provenance: Mapping[str, str], comparison: Comparison) -> bytes:
    """The notebook of a comparison as JSON (nbformat 4.5), with a `parameters` cell that papermill can change."""
    cells = [
        _title(f"Which way of fine-tuning for {asked.task}?", provenance),
        _parameters(_values(asked)),
        new_markdown_cell("## Is everything here?"),
        new_code_cell(NEEDS),
        new_markdown_cell("## Run every lane again"),
        new_code_cell(RUN),
        new_markdown_cell("## What came out: a dot for every seed"),
        new_code_cell(SHOW),
        new_markdown_cell("## Is the difference larger than the noise?"),
        new_code_cell(VERDICT),
        new_markdown_cell("## Is it what was on screen?"),
        new_code_cell(NOW + _check(_values(asked), values_of(comparison.facts()))),
    ]
    return _whole(cells)


def notebook_in_turn(asked: ComparisonSpec, provenance: Mapping[str, str], found: Mapping[str, Any]) -> bytes:
    """The notebook of tasks learnt in turn."""
    values = _values(asked) | {"then": list(asked.then)}
    values.pop("match")
    cells = [
        _title(f"What is left of {asked.task} after {', '.join(asked.then)}?", provenance),
        _parameters(values),
        new_markdown_cell("## Is everything here?"),
        new_code_cell(NEEDS),
        new_markdown_cell("## Learn the tasks in turn again"),
        new_code_cell(RUN_IN_TURN),
        new_markdown_cell("## What came out: each task after each"),
        new_code_cell(SHOW_IN_TURN),
        new_markdown_cell("## Is it what was on screen?"),
        new_code_cell(NOW_IN_TURN + _check(values, values_in_turn(found))),
    ]
    return _whole(cells)


def _check(values: Mapping[str, Any], known: Mapping[str, Kept]) -> str:
    """The cell that holds what comes out against what was on screen; the base may lie elsewhere now."""
    names = [name for name in values if name != "base"]
    asked = [values[name] for name in names]
    return CHECK.format(known=dict(known), names=f"[{', '.join(names)}]", asked=asked)


def _whole(cells: Sequence[NotebookNode]) -> bytes:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for k, cell in enumerate(cells):
        cell.id = f"cell-{k}"  # the same comparison gives the same file
    return nbformat.writes(new_notebook(cells=cells, metadata={"kernelspec": kernel})).encode()


def _parameters(values: Mapping[str, Any]) -> NotebookNode:
    """The cell that papermill can change."""
    text = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    return new_code_cell(text, metadata={"tags": ["parameters"]})


def _values(asked: ComparisonSpec) -> dict[str, Any]:
    return {
        "base": asked.base, "task": asked.task, "strategies": list(asked.strategies),
        "train_sizes": list(asked.train_sizes), "seeds": asked.seeds, "seed": asked.seed, "steps": asked.steps,
        "match": asked.match, "lr_policy": asked.lr_policy, "input_format": asked.input_format,
        "extra_encoders": list(asked.extra_encoders),
    }  # fmt: skip


def _title(question: str, provenance: Mapping[str, str]) -> NotebookNode:
    origin = "\n".join(f"* {name}: {said}" for name, said in provenance.items() if name != "command")
    return new_markdown_cell(f"# {question}\n\nMade from a comparison on screen.\n\n{origin}\n\n{LEFT_BEHIND}")
