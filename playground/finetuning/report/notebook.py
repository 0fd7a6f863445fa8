"""A notebook that makes a comparison again, generated from the one on screen."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from playground.corpora.sources import two_files
from playground.errors import UserError
from playground.finetuning.comparing.compare import Comparison, ComparisonFacts, compare
from playground.finetuning.comparing.continual import ContinualResult, SequenceFacts, continual, facts
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.files import is_file, path_and_columns
from playground.training import checkpoint

LEFT_BEHIND = (
    "To run it you need Python with `pretraining-playground` installed, and next to this notebook the files of its "
    "archive (*All, with the model* on the Transfer page): the folder `base` with the model, and a labelled file of "
    "your own where the task is one."
)
"""What the notebook alone does not hold."""

NEEDS = """from playground.finetuning.report.notebook import check_files

check_files(base, task, extra_encoders)"""

RUN = """from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.report.notebook import again

comparison = again(ComparisonSpec(
    base, task, tuple(strategies), tuple(train_sizes), seeds, seed, steps, match, lr_policy, parallelism=parallelism,
    input_format=input_format, max_length=max_length, extra_encoders=tuple(extra_encoders),
))
facts = comparison.facts()
assert [s["name"] for s in facts["strategies"]], "every strategy has its outcomes\""""

SHOW = """from IPython.display import SVG

from widgets.static.svg import outcomes

values = {
    what: {s["name"]: s[what]["values"] if s[what] else [] for s in facts["strategies"]}
    for what in ("accuracy", "forgetting")
}
assert all(len(v) == seeds for v in values["accuracy"].values())
SVG(outcomes(f"{task}, {facts['labels']} labelled texts", **values, unit=facts["unit"]))"""

VERDICT = """from playground.finetuning.report.page import against

print(facts["verdict"])
for gap in facts["against_first"]:
    print(against(gap))
assert facts["verdict"]"""

RUN_IN_TURN = """from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.report.notebook import again_in_turn

facts = again_in_turn(ComparisonSpec(
    base, task, tuple(strategies), tuple(train_sizes), seeds, seed, steps, lr_policy=lr_policy,
    input_format=input_format, max_length=max_length, extra_encoders=tuple(extra_encoders), then=tuple(then),
))
assert facts["tasks"][0], "every task was learned\""""

SHOW_IN_TURN = """from playground.finetuning.report.page import signed

for one in facts["strategies"]:
    print(one["name"])
    for learned, row in zip(facts["tasks"], one["matrix"]):
        print(f"  after {learned}:", ", ".join(f"{name} {right:.3f}" for name, right in zip(facts["tasks"], row)))
    back, lost = signed(one["backward"]), signed(one["forgetting"], facts["unit"])
    print(f"  earlier tasks {back}, pre-training loss {lost}")
assert all(len(one["matrix"]) == len(facts["tasks"]) for one in facts["strategies"])"""

CHECK = """from playground.finetuning.report.notebook import {function}

now = {function}(facts)
known = {known}
unchanged = {names} == {asked}
apart = {{
    what: max((abs(a - b) for n in named if n in now[what] for a, b in zip(named[n], now[what][n])), default=0.0)
    for what, named in known.items()
}}
print(f"The accuracies differ from those on screen by at most {{apart['accuracy']:.4f}}, "
      f"forgetting by at most {{apart['forgetting']:.4f}} {{facts['unit']}}.")
assert not unchanged or apart["accuracy"] < 0.05, "the same numbers, but for rounding on another machine\""""


Named = dict[str, dict[str, list[float]]]
"""The values of accuracy and forgetting, by name."""


def check_files(base: str, task: str, extra_encoders: Sequence[str] = ()) -> None:
    """Refuse to begin where a file is not beside the notebook, and say where it comes from."""
    path = path_and_columns(task)[0]
    both = [path] if two_files(path) is None and is_file(task) else []
    lacking = [name for name in (base, *extra_encoders, *both) if not Path(name).exists()]
    if lacking:
        raise UserError(
            f"This notebook needs {', '.join(lacking)} in the folder {Path.cwd()}. They come with it in one archive: "
            "'All, with the model' on the Transfer page, or --out of playground compare. Unpack it and open the "
            "notebook there."
        )


def values_of(facts: ComparisonFacts) -> Named:
    """Accuracy and forgetting of a comparison, by number of labelled texts and strategy."""
    return {
        what: {
            f"{point['labels']} labels, {s['name']}": means["values"] if means else []
            for point in facts["curve"]
            for s in point["strategies"]
            for means in [s[what]]
        }
        for what in ("accuracy", "forgetting")
    }


def values_in_turn(found: SequenceFacts) -> Named:
    """The mean matrices of tasks learnt in turn, cell by cell, and what pre-training lost."""
    return {
        "accuracy": {s["name"]: [cell for row in s["matrix"] for cell in row] for s in found["strategies"]},
        "forgetting": {s["name"]: s["forgetting"]["values"] for s in found["strategies"] if s["forgetting"]},
    }


def again(spec: ComparisonSpec) -> Comparison:
    """The comparison, run from the saved model in the folder `base`."""
    saved = checkpoint.load(spec.base)
    *_, last = compare(spec.start(saved), saved.tokenizer, spec)
    assert isinstance(last, Comparison)
    return last


def again_in_turn(spec: ComparisonSpec) -> SequenceFacts:
    """The facts of the task and those of `then`, learnt in turn from the saved model."""
    saved = checkpoint.load(spec.base)
    events = continual(spec.start(saved), saved.tokenizer, spec)
    passed = [event for event in events if isinstance(event, ContinualResult)]
    return facts(spec.tasks, spec, saved.learner.entry.unit(), passed)


def notebook(asked: ComparisonSpec, provenance: Mapping[str, str], comparison: Comparison) -> bytes:
    """The notebook of a comparison as JSON (nbformat 4.5), with a `parameters` cell that papermill can change."""
    values = _values(asked)
    cells = {
        "Is everything here?": NEEDS,
        "Run every trial again": RUN,
        "What came out: a dot for every seed": SHOW,
        "Is the difference larger than the noise?": VERDICT,
        "Is it what was on screen?": _check(values, values_of, values_of(comparison.facts())),
    }
    return _notebook(f"Which way of fine-tuning for {asked.task}?", provenance, values, cells)


def notebook_in_turn(asked: ComparisonSpec, provenance: Mapping[str, str], found: SequenceFacts) -> bytes:
    """The notebook of tasks learnt in turn."""
    values = _values(asked) | {"then": list(asked.then)}
    for name in ("match", "parallelism"):
        values.pop(name)
    cells = {
        "Is everything here?": NEEDS,
        "Learn the tasks in turn again": RUN_IN_TURN,
        "What came out: each task after each": SHOW_IN_TURN,
        "Is it what was on screen?": _check(values, values_in_turn, values_in_turn(found)),
    }
    return _notebook(f"What remains of {asked.task} after {', '.join(asked.then)}?", provenance, values, cells)


def _values(asked: ComparisonSpec) -> dict[str, Any]:
    names = (
        "base", "task", "strategies", "train_sizes", "seeds", "seed", "steps", "match", "lr_policy", "input_format",
        "max_length", "extra_encoders", "parallelism",
    )  # fmt: skip
    values = {name: getattr(asked, name) for name in names}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _check(values: Mapping[str, Any], read: Callable[..., Named], known: Named) -> str:
    """The cell that reads the results and compares them with those on screen; the base may lie elsewhere now."""
    names = [name for name in values if name != "base"]
    asked, listed = [values[name] for name in names], f"[{', '.join(names)}]"
    return CHECK.format(function=read.__name__, known=known, names=listed, asked=asked)


def _notebook(
    question: str, provenance: Mapping[str, str], values: Mapping[str, Any], code: Mapping[str, str]
) -> bytes:
    """A notebook with a title, the cell of parameters that papermill can change, and code below headings."""
    import nbformat  # here, because it takes two seconds: it reads the grammar of web addresses
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    origin = "\n".join(f"* {name}: {words}" for name, words in provenance.items() if name != "command")
    parameters = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    cells = [
        new_markdown_cell(f"# {question}\n\nMade from a comparison on screen.\n\n{origin}\n\n{LEFT_BEHIND}"),
        new_code_cell(parameters, metadata={"tags": ["parameters"]}),
    ]
    for heading, text in code.items():
        cells += [new_markdown_cell(f"## {heading}"), new_code_cell(text)]
    for k, cell in enumerate(cells):
        cell.id = f"cell-{k}"  # the same comparison gives the same file
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return nbformat.writes(new_notebook(cells=cells, metadata={"kernelspec": kernel})).encode()
