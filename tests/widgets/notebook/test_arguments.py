"""What is typed into the functions of a notebook: every wrong type is refused by name, every name completes on Tab."""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

import numpy as np
import pytest

import widgets
from playground.corpora import Corpus
from playground.errors import UserError
from playground.finetuning import Strategy
from playground.objectives import Objective
from tests.runs import is_a_sentence, reviews
from widgets import notebook
from widgets.notebook.arguments import read
from widgets.notebook.completion import NAMES, completions
from widgets.notebook.training import Trained

FUNCTIONS = {name: getattr(widgets, name) for name in widgets.__all__}
METHODS = (
    Trained.fill,
    Trained.states,
    notebook.Compared.write,
    notebook.CompressedModels.details,
    notebook.PostTrained.last,
)
PARAMETERS = [
    pytest.param(function, parameter, id=f"{function.__qualname__} {name}")
    for function in (*FUNCTIONS.values(), *METHODS)
    for name, parameter in signature(function).parameters.items()
    if parameter.annotation not in (Any, parameter.empty)
]

VALUES = {
    "whole": 3, "negative": -2, "number": 1.5, "switch": True, "text": "a", "none": None, "bytes": b"a", "texts": ["a"],
    "wholes": [3], "switches": [True], "lists": [[3]], "plan": {"a": {}}, "numbered": {3: 3}, "object": object(),
    "huge": 10**30, "set": {"a"},
}  # fmt: skip

FITTING = {
    int: {"whole", "negative"}, float: {"number", "whole", "negative", "huge"},
    str: {"text"}, bool: {"switch"}, NoneType: {"none"}, Path: set(), Trained: set(),
    Objective: set(), Corpus: set(), Sequence[int]: {"wholes"}, Sequence[str]: {"texts"}, Callable[..., Any]: set(),
    Sequence[str | Strategy]: {"texts"}, Sequence[Trained | str]: {"texts"}, Mapping[str, Any]: {"plan"},
    Mapping[str, Mapping[str, Any]]: {"plan"},
}  # fmt: skip
"""Which of the values have the type of an annotation."""


def fitting(form: Any) -> set[str]:
    return set().union(*map(fitting, get_args(form))) if get_origin(form) is UnionType else FITTING[form]


@pytest.mark.parametrize(("function", "parameter"), PARAMETERS)
def test_a_value_of_a_wrong_type_is_refused_by_the_name_of_the_argument(function, parameter):
    needed = {name: p for name, p in signature(function).parameters.items() if p.default is p.empty}
    others = {
        "self": None,
        "base": Trained(),
        "model": Trained(),
        "text": "a",
        "folder": "a",
        "pipeline": "a",
        "method": "a",
    }
    given = {name: others[name] for name in needed if name in others}
    for value in (value for name, value in VALUES.items() if name not in fitting(parameter.annotation)):
        with pytest.raises(UserError) as refused:
            function(**given | {parameter.name: value})
        said = str(refused.value)
        assert said.startswith(f"{parameter.name} is {value!r}; it must be ") and is_a_sentence(said), said


def test_what_is_no_argument_or_missing_is_a_sentence_too():
    for function, wrong in ((notebook.compare, {}), (notebook.compare, {"sed": 3}), (notebook.table, {"sed": 3})):
        with pytest.raises(UserError, match=rf"^{function.__name__}: .*Its arguments are: .*seed"):
            function(**wrong)


def test_a_number_of_numpy_is_a_number_and_a_text_of_strategies_is_a_list():
    assert type(read(np.int64(3), int)) is int and read([np.int64(3)], int | Sequence[int]) == (3,)
    base = notebook.train("RoBERTa", reviews(), steps=1, batch_size=4, seq_len=16)
    small = {"train_size": np.int64(8), "steps": 1, "seeds": 1}
    as_list = notebook.compare(base, strategies=["feature-based", "full"], **small)
    as_text = notebook.compare(base, strategies="feature-based,full", **small)
    assert list(as_text.report.comparison.outcomes) == list(as_list.report.comparison.outcomes)
    assert list(notebook.compress(base, "head pruning, int8", **small).result.outcomes) == [
        "uncompressed", "head pruning + int8",
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"seeds": 0}, {"workers": 0}, {"train_size": 0}, {"steps": 10**9}])
def test_a_number_outside_the_limits_is_refused_before_anything_is_written(wrong, tmp_path):
    base = notebook.train("RoBERTa", reviews(), steps=1, batch_size=4, seq_len=16)
    [(name, value)] = wrong.items()
    for function in (notebook.compare, notebook.compress):
        with pytest.raises(UserError, match=rf"^{name} is {value}; it must lie between"):
            function(base, **wrong, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    for count in (0, -1, 10**6):
        with pytest.raises(UserError, match=rf"^count is {count}; it must lie between"):
            base.fill("the film was [MASK] .", count)


def test_what_can_be_found_is_not_said_of_what_is_refused(capsys):
    base = notebook.train("RoBERTa", reviews(), steps=1, batch_size=4, seq_len=16)
    for refused in (
        lambda: notebook.compare(base, "summary", train_size=8, steps=1),
        lambda: notebook.compress(base, "int8", seeds=0),
        lambda: notebook.compress(base, "int8", task="summary"),
    ):
        capsys.readouterr()
        with pytest.raises(UserError):
            refused()
        assert "seed" not in capsys.readouterr().out


def test_every_value_has_one_line_and_can_be_compared_and_kept_in_a_set(tmp_path):
    base = notebook.train("RoBERTa", reviews(), steps=1, batch_size=4, seq_len=16)
    small = {"train_size": 8, "steps": 1, "seeds": 1}
    race, smaller = notebook.compare(base, **small), notebook.compress(base, "int8", **small, out=tmp_path)
    seen = notebook.inspect(base, "attention", others=base)
    shown = (notebook.stage("MLM"), notebook.table(), base, base.run, race, smaller, notebook.inspect(base), seen)
    for value in shown:
        assert "\n" not in repr(value) and len(repr(value)) < 300 and "object at" not in repr(value)
    again = notebook.inspect(base, "attention")
    for value in (*shown, seen.finding, *seen.summary.tables, smaller.details("int8")):
        assert value == value and value != again and value != again.finding and value in {value}


# Tab


@pytest.mark.parametrize(
    ("code", "typed", "offered"),
    [
        ('stage("ML', "ML", "MLM"),
        ("stage('T5 s", "T5 s", "T5 spans"),
        ('train("be', "be", "BERT"),
        ('train("ML', "ML", "MLM"),
        ('train("BERT", "re', "re", "reviews"),
        ('train("BERT",\n  recipe="', "", "paper"),
        ('train("BERT", device="', "", "auto"),
        ('compare(m, "sen', "sen", "sentiment"),
        ('compare(m, strategies=["fu', "fu", "full"),
        ('compare(m, "topic", ("full", "gradual u', "gradual u", "gradual unfreezing"),
        ('compare(m, strategies="full, gr', "gr", "gradual unfreezing"),
        ('compare(train("BE', "BE", "BERT"),
        ('inspect(m, "pro', "pro", "probing classifier"),
        ('inspect(m, others=["BE', "BE", "BERT"),
        ('compress(m, ["in', "in", "int8"),
        ('notebook.stage("ML', "ML", "MLM"),
        ('# don\'t\nx = {"a": stage("ML', "ML", "MLM"),
        ('"""it\'s"""\nprint(")")\nstage("ML', "ML", "MLM"),
        ('stage("MLM", mask', "mask", "mask_ratio="),
        ('train("BERT", la', "la", "layers="),
        ('train(corpus="reviews", entry="BERT", la', "la", "layers="),
        ("stage(ma", "ma", "mask_ratio="),
        ('inspect(m, "probing classifier", ', "", "task="),
    ],
)
def test_names_and_knobs_are_offered(code, typed, offered):
    begun, names = completions(code, {"notebook": notebook, **FUNCTIONS})
    assert begun == typed and offered in names and all(name.lower().startswith(typed.lower()) for name in names)


@pytest.mark.parametrize(
    "code",
    [
        "", 'print("BE', 'train(names["BE', 'compare(m, {"a": "fu', 'stage("MLM", text="ML', 'stage(model="BE', '"ML',
        'stage("MLM") + "ML', 'stage("nosuch", ma', 'train("BERT", x=la', 'train("BERT", 3 + la', 'm.stage("ML', ")))",
    ],
)  # fmt: skip
def test_nothing_is_offered_elsewhere(code):
    assert not completions(code, {"m": Trained(), **FUNCTIONS})[1]


FREE = {"text", "pair", "plan", "sentence", "text_column", "second_column", "label_column", "encoding", "out"}
"""Arguments that take any text."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_that_takes_a_text_is_free_or_has_its_names(name):
    taken = {
        key
        for key, p in signature(FUNCTIONS[name]).parameters.items()
        if str in (p.annotation, *get_args(p.annotation))
    }
    assert taken <= FREE | set(NAMES)
    for known in taken & set(NAMES):
        names = list(NAMES[known]())
        assert names and not any(set(each) & set(",\"'\\") for each in names), "they can be typed inside quotes"
