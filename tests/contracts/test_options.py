"""What is typed is obeyed or refused: every option of every command, in each of its ways to run.

The work is taken away. What the commands hand over to it is noted; an option that changes nothing of that and nothing
of what is printed has no part, so it must be refused in a sentence that names it.
"""

import argparse
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace

import pytest
import torch

from playground import cli
from playground.cli.options import EMPTY
from playground.corpora import Corpus, open_corpus
from playground.training import Run
from playground.training.store.runs import Runs
from playground.training.train_state import TrainState
from tests.runs import is_a_sentence

WAYS = {
    "objective": ("objective MLM", "objective MLM --corpus reviews"),
    "table": ("table",),
    "train": (
        "train BERT", "train BERT --out kept --resume", "train BERT --seeds 2", "train BERT --cluster local",
        "train --fork kept --runs runs", "train BERT --find-rate",
    ),
    "compare": (
        "compare kept", "compare kept --out there", "compare kept --cluster local", "compare kept --then topic",
        "compare BERT", "compare BERT --out there",
    ),
    "compress": ("compress kept", "compress kept --out there", "compress --methods"),
    "posttrain": ("posttrain", "posttrain kept", "posttrain --method best-of-n", "posttrain --list"),
    "claims": ("claims", "claims run K059"),
    "hunt": ("hunt", "hunt 1", "hunt --check answers.json", "hunt --page page.html"),
    "choose": ("choose kept",),
    "generate": ("generate kept", "generate kept --num-beams 2", "generate kept --do-sample"),
    "edit": ("edit kept --text a --to good",),
    "align": ("align",),
    "ask": ("ask kept", "ask kept --text We --objective MLM", "ask kept --text [MASK]"),
    "inspect": ("inspect kept --with attention", "inspect kept", "inspect --list"),
    "export": ("export paper there",),
    "import": ("import folder", "import folder --save there"),
    "bake": ("bake kept -o page.html", "bake BERT -o page.html"),
    "lessons": ("lessons run", "lessons run --form exercise"),
    "runs": ("runs",),
    "zoo": ("zoo", "zoo BERT", "zoo --measure", "zoo build", "zoo build BERT", "zoo build --bundled"),
    "app": ("app", "app --public"),
}  # fmt: skip
"""Every command in each of its ways to run."""

ENDS = (
    "playground.training.parallel.seeds.followed", "playground.training.parallel.seeds.train_seeds",
    "playground.cli.train.find_rate", "playground.cli.compare.compare",
    "playground.cli.compare.compare_in_turn", "playground.cli.compress.compress", "playground.cli.choose.try_all",
    "playground.cli.posttrain.compare", "playground.cli.generate.write", "playground.cli.edit.success",
    "playground.cli.align.align",
    "playground.cli.inspect.inspect_each", "playground.cli.export.export", "playground.cli.import.save_run",
    "playground.cli.claims.run", "playground.cli.hunt.train_suspect", "widgets.static.hunt_page.page",
    "playground.cli.bake.load", "playground.cli.zoo.measure_properties", "playground.cli.ready_made._build",
    "widgets.lessons.run_all", "widgets.lessons.exercises", "widgets.app.server.serve",
)  # fmt: skip
"""The work that is noted and not done."""

THROUGH = (
    "playground.finetuning.comparing.spec.ComparisonSpec.check",
    "playground.cli.compare.TrialRecord.of", "playground.cli.inspect.open_subject",
    "playground.cli.claims.OutcomeRecord.of_user", "playground.cli.ask.open_subject",
    "playground.cli.import.open_folder", "playground.cli.posttrain.open_space",
    "playground.cli.bake.Runs", "playground.cli.runs.Runs", "playground.cli.align.shuffled",
    "playground.cli.ready_made.ready_made.facts", "widgets.app.public.public",
)  # fmt: skip
"""What is noted and done."""


@contextmanager
def connected(address):
    yield None


STUBS = {
    "torch.set_num_threads": lambda number: None,
    "playground.cli.train.connected": connected,
    "playground.cli.compare.connected": connected,
    "playground.cli.compare.learn_second": lambda run, *_: run,
    "playground.cli.compare.add_decoder": lambda run, *_: run,
    "playground.cli.edit.editor": lambda *_: SimpleNamespace(edit=lambda *_: None),
    "playground.cli.posttrain.open_base": lambda *_: None,
    "playground.cli.align.spaces": lambda *_: (None, None),
    "widgets.lessons.notebooks": lambda *_: [Path("one.ipynb")],
}
"""What is noted and replaced by something short."""

VALUES = {
    "base": "kept", "bases": "GPT", "cluster": "local", "corpus": "reviews", "decoder": "same", "device": "tpu",
    "entry": "BERT", "extra_encoder": "kept", "family": "BERT", "file": "text.txt", "fork": "kept",
    "input_format": "plain", "label_column": "label", "length_penalty": "0.5", "lr_policy": "fixed", "match": "tokens",
    "name": "BERT", "names": "04", "notebooks": "lessons", "origin": "host.example", "out": "elsewhere",
    "paint": "encoder=1.1-", "mask_overrides": '[{"kind": "loss_mask", "skips": [1]}]',
    "pair": "We walk home", "password": "text.txt", "pipelines": "int8",
    "plan": "chosen=3", "prefix": "/p", "instruments": "attention, roles", "over": "steps", "recipe": "paper",
    "sentence": "We walk .",
    "strategies": "full", "strategy": "full", "subject": "kept", "task": "topic", "tasks": "topic",
    "text": "We walk here", "text_column": "text", "then": "entailment", "tokenizer": "characters",
    "claims set": "seeds=3", "claims csv": "table.csv", "hunt csv": "table.csv",
    "lessons set": "steps=3", "objective set": "mask_ratio=0.5", "inspect set": "texts=3", "ask set": "mask_ratio=0.5",
    "objective": "LM", "set": "lr=0.001",
    "inspect list": None, "choose runs": "kept", "compress base": "kept",
    "posttrain base": "kept", "posttrain corpus": "agreement", "posttrain method": "GRPO", "posttrain prompt": "a good",
    "posttrain reward": "positive", "posttrain set": "beta=0.5",
}  # fmt: skip
"""Values other than the defaults by the name of the option, or by command and name; others are 5."""


LATER = {
    "compress kept --out there": ("--hf",), "inspect kept": ("--csv",), "inspect kept --with attention": ("--csv",),
    "claims": ("--csv",), "claims run K059": ("--csv", "--out"), "hunt --check answers.json": ("--csv",),
}  # fmt: skip
"""What has its part after the work."""


class Reached(BaseException):
    """The work would begin."""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with runs, a folder of transformers and a text."""
    folder = tmp_path_factory.mktemp("options")
    with pytest.MonkeyPatch.context() as patch:
        prepare(patch, folder)
        tiny = [
            a for knob in ("width=16", "heads=2", "layers=1", "seq_len=16", "batch_size=4") for a in ("--set", knob)
        ]
        for name, more in (("kept", ["BERT"]), ("paper", ["RoBERTa", "--recipe", "paper"])):
            assert cli.main(["train", *more, *tiny, "--steps", "2", "--out", name, "--runs", "runs"]) == 0
        assert cli.main(["export", "paper", "folder"]) == 0
    (folder / "text.txt").write_text("We walk here now.", encoding="utf-8")
    (folder / "answers.json").write_text('{"case 1": "a learning rate of 0"}', encoding="utf-8")
    return folder


def prepare(patch, folder):
    patch.chdir(folder)
    patch.setenv("PLAYGROUND_HOME", str(folder))
    for module in ("cli.objective", "cli.posttrain", "cli.train", "cli.align", "corpora.sources"):
        patch.setattr(f"playground.{module}.open_corpus", partial(open_corpus, tokens=6_000))


def spelt(value):
    """What is handed over, as far as an option may change it."""
    match value:
        case Corpus():
            return value.name
        case TrainState():
            return value.seed, value.step, repr(value.entry.recipe)
        case Runs():
            return str(value.folder)
        case Run():
            return {name: spelt(each) for name, each in vars(value).items()}
        case tuple() | list():
            return [spelt(each) for each in value]
        case dict():
            return {name: spelt(each) for name, each in value.items()}
        case argparse.Namespace():
            return "what was typed"
    plain = (str, int, float, range, type(None), Path, torch.device)
    written = type(value).__name__ in (
        "ComparisonSpec",
        "CompressionSpec",
        "Claim",
        "Method",
        "Generation",
        "ReadyMade",
        "Entry",
        "Public",
    )
    return repr(value) if isinstance(value, plain) or written else getattr(value, "name", type(value).__name__)


@pytest.fixture
def noted(home, monkeypatch):
    """What is handed over to the work, which ends the command."""
    prepare(monkeypatch, home)
    calls = []

    def note(name, act):
        def heard(*arguments, **named):
            if isinstance(learner := next(iter(arguments[2:3]), None), TrainState):  # a run goes on with its entry
                arguments = (replace(arguments[0], entry=learner.entry), *arguments[1:])
            calls.append((name, spelt(arguments), spelt(named)))
            return act(*arguments, **named)

        monkeypatch.setattr(name, heard)

    train_one = resolve_name("playground.cli.compare.train_one")
    monkeypatch.setattr("playground.cli.compare.train_one", partial(trained, train_one))
    for name in ENDS:
        note(name, end)
    for name in THROUGH:
        note(name, resolve_name(name))
    for name, act in STUBS.items():
        note(name, act)
    return calls


def end(*_, **__):
    raise Reached


def trained(train_one, given, *arguments):
    """A base that would be trained first."""
    try:
        return train_one(given, *arguments)
    except Reached:
        Path(given.out or "kept").mkdir(parents=True, exist_ok=True)
        return {"out": "kept"}


@pytest.fixture
def call(noted, capsys):
    """Call the command line without the work: the status, None where work would begin; what was done; the refusal."""

    def run(line):
        noted.clear()
        try:
            status = cli.main([*line, *(["--json"] if line[0] != "app" else [])])
        except Reached:
            status = None
        except SystemExit as leaving:
            status = leaving.code
        said = capsys.readouterr()
        return status, (status, repr(noted), said.out), said.err

    return run


def options_of(command):
    """The options and the arguments of a command that may be left out."""
    top = cli.parser(command)
    [commands] = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    return [action for action in commands.choices[command]._actions if action.dest not in ("help", "json")]


def typed(command, action):
    """An option as it would be typed, with a value that is not its default."""
    value = VALUES.get(f"{command} {action.dest}", VALUES.get(action.dest, "6"))
    if action.choices:
        value = next(each for each in action.choices if each != action.default)
    return [*action.option_strings[-1:], *([value] if action.nargs != 0 else [])]


@pytest.mark.parametrize(("command", "way"), [(name, way) for name, ways in WAYS.items() for way in ways])
def test_what_is_typed_is_obeyed_or_refused(command, way, call):
    line, ignored = way.split(), []
    status, done, said = call(line)
    assert status in (0, None), said
    given = cli.parser(command).parse_args(line).typed
    for action in options_of(command):
        if action.dest in given:
            continue
        words = typed(command, action)
        status, more, said = call([*line, *words])
        if status == 2:
            said = said.splitlines()[-1]
            assert is_a_sentence(said), said
            assert "does not apply here" not in said or words[0].strip("-") in said, said
        elif more == done and words[0] not in LATER.get(way, ()):
            ignored.append(" ".join(words))
    assert not ignored


@pytest.mark.parametrize("command", WAYS)
def test_an_option_that_is_empty_is_refused(command, call):
    line = WAYS[command][0].split()
    for action in options_of(command):
        if action.option_strings and action.nargs != 0 and action.dest not in EMPTY:
            status, _, said = call([*line, f"{action.option_strings[-1]}="])
            assert status == 2, action.option_strings
            assert "'' is empty; give a value or leave it out" in said, said


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("train BERT --vocab-size 500", "--vocab-size does not apply here: the text decides"),
        ("train BERT --vocab-size 500 --tokenizer words", "--vocab-size does not apply here: the text decides"),
        ("train BERT --corpus text.txt(encoding=cp1252) --encoding utf-8", "but --corpus says encoding=cp1252"),
        ("train BERT --corpus world(tokenizer=bpe) --tokenizer unigram", "but --corpus says tokenizer=bpe"),
        ("train BERT --out kept --resume --steps 1", "--steps is 1, but the run in kept has 2 steps already"),
        ("compare kept --text-column text", "--text-column does not apply here: the task 'sentiment' is not a file"),
        (
            "train BERT --corpus text.txt(vocab_size=500)",
            "text.txt(vocab_size=500) sets vocab_size, but the text decides",
        ),
        (
            "train --fork kept --runs runs --corpus text.txt(tokenizer=bpe,repeat=20)",
            "--corpus sets tokenizer, but a fork",
        ),
        ("train --fork kept --runs runs --corpus text.txt", "Repeat it or mix it, as in"),
        ("bake  -o page.html", "argument RUN|ENTRY: '' is empty"),
        ("compare kept --encoding cp1252", "--encoding does not apply here: the task 'sentiment' is not a file"),
    ],
)
def test_what_contradicts_or_has_no_part_is_refused(line, told, call):
    status, _, said = call(line.split(" "))
    assert status == 2
    assert told in said


def test_every_command_has_its_ways():
    assert WAYS.keys() == cli.COMMANDS.keys()
