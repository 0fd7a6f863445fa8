"""Every file and every command of docs/extend.md does what the page says, as it stands there."""

import importlib
import re
import shlex
from pathlib import Path

import pytest
from bokeh.plotting import figure

from playground import catalog
from playground.analysis.inspection import instruments_of
from playground.analysis.instrument import instrument_named
from playground.analysis.words.vectors import word_vectors
from playground.cli import parser
from playground.finetuning import find_strategy, find_task
from playground.finetuning.strategy.plasticity import everything
from playground.objectives import find_objective
from playground.trace.rebuild import rebuild
from playground.training import Stepped, train
from playground.training.observe.subjects import of_learner
from playground.zoo import entry_named
from tests.runs import alone, learner_of, reviews, run_of

PAGE = (Path(__file__).parents[2] / "docs" / "extend.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"`playground ([^`]+)`", PAGE)
FILES = dict(re.findall(r"^## [^\n]*?`([\w/]+\.py)`\n.*?```python\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def written(tmp_path, monkeypatch):
    """The module of a file of the page, found in its folder as if it had been written there."""

    def write(path: str):
        package = ".".join(Path(path).parts[:-1])
        home = importlib.import_module(package)
        monkeypatch.setattr(home, "__path__", [*home.__path__, str(tmp_path)])
        (tmp_path / Path(path).name).write_text(FILES[path], encoding="utf-8")
        forget()
        return importlib.import_module(f"{package}.{Path(path).stem}")

    def forget():
        importlib.invalidate_caches()
        catalog.find.cache_clear()
        catalog._spelt.cache_clear()

    yield write
    monkeypatch.undo()
    forget()


def test_there_are_six_and_each_is_short():
    assert len(FILES) == 6
    assert {path: len(text.splitlines()) for path, text in FILES.items() if len(text.splitlines()) >= 25} == {}


def test_an_objective_is_found_rebuilt_and_trained(written):
    written("playground/objectives/catalog/short_spans.py")
    shown = rebuild("short spans", "I am happy to be with you today")
    assert "[MASK]" in shown.facts()["inputs"]
    events = list(train(run_of(entry=alone(find_objective("short spans")), steps=2)))
    assert sum(isinstance(event, Stepped) for event in events) == 2


def test_a_strategy_is_found_and_its_plan_is_what_it_says(written):
    written("playground/finetuning/strategies/every_other_step.py")
    plan = find_strategy("every other step").plasticity(("embeddings", "layer 1", "task head"), 4)
    assert plan.tolist() == [[0, 1, 0, 1], [0, 1, 0, 1], [1, 1, 1, 1]]
    assert (
        find_strategy("every other step + full").plasticity(("embeddings", "task head"), 2) <= everything("ab", 2)
    ).all()


def test_a_task_is_found_and_both_splits_are_apart(written):
    written("playground/finetuning/tasks/first_word.py")
    task = find_task("first word")
    train_items, test_items = (task.items(40, 0, split) for split in ("train", "test"))
    assert {item.words for item in train_items}.isdisjoint(item.words for item in test_items)
    assert {item.right for item in train_items} == {0, 1}
    assert len(task.load(reviews().tokenizer, 8, 0, "train").labels) == 8


def test_a_model_is_found_and_trains(written):
    written("playground/zoo/spans_bert.py")
    events = list(train(run_of(entry=entry_named("BERT on spans"), steps=2)))
    assert sum(isinstance(event, Stepped) for event in events) == 2


def test_every_command_is_parsed_and_names_what_is_there(written):
    """The names are those of the catalogue with the files of the page in it."""
    for path in FILES:
        written(path)
    commands = [parser().parse_args(shlex.split(command)) for command in COMMANDS if command != "zoo"]
    assert {command.command for command in commands} == {"objective", "train", "compare", "inspect"}
    for command in commands:
        match command.command:
            case "objective":
                assert find_objective(command.name)
            case "train":
                assert entry_named(command.entry)
            case "inspect":
                assert instruments_of(command.instruments)
            case "compare":
                assert entry_named(command.base)
                assert find_task(command.task)
                assert all(map(find_strategy, command.strategies.split(",")))


def test_an_instrument_is_found_and_measures(written):
    written("playground/analysis/instruments/vector_lengths.py")
    subject = of_learner(learner_of(), reviews(), "RoBERTa")
    found = instrument_named("vector lengths").look(subject)
    [table] = found.tables
    words, vectors = table.columns["word"], word_vectors(subject.model)
    first = vectors[subject.tokenizer.words.index(words[0])]
    assert table.columns["length"][0] == pytest.approx(float(first.square().sum().sqrt()))
    assert -1 <= found.number("correlation of rank and length") <= 1


def test_a_chart_is_a_figure(written):
    plot = written("widgets/charts/loss_histogram.py").loss_histogram([1.0, 2.0, 2.5], bins=3)
    assert isinstance(plot, figure) and len(plot.renderers) == 1
