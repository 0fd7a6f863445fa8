"""A comparison on screen is made again from its archive, by its notebook and by its command, with the same numbers."""

import io
import json
import os
import re
import shlex
import zipfile
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient

from playground import cli
from playground.errors import UserError
from playground.finetuning.report.notebook import values_in_turn, values_of
from playground.finetuning.strategy.parse import read
from playground.training import Session, train
from playground.training.store.metrics import recorded
from playground.training.store.runs import Runs
from tests.runs import becomes, reviews, run_of, tiny
from widgets.state.base import SECOND
from widgets.state.transfer.store import TransferStore
from widgets.state.transfer.task_choice import OWN_FILE
from widgets.static.svg import outcomes

FORMS = {
    "plain": {"chosen": ["full", "adapters"]},
    "composed": {"chosen": ["full", "gradual + discriminative + L2-SP"], "input_format": "BERT"},
    "painted": {"chosen": ["full", "mine"], "own": {"mine": read("mine = full + L2-SP [embeddings 1-3 x0.5]")}},
    "beside": {"chosen": ["feature-based", "static and contextual"], "extra_encoders": ["other"]},
    "rehearsing": {"chosen": ["full", "replay"], "match": "tokens", "other_sizes": [24]},
    "asked": {"chosen": ["full", "zero-shot prompting"], "lr_policy": "published"},
    "own file": {"chosen": ["full"], "task": OWN_FILE, "label_column": "liked"},
    "second language": {"chosen": ["embeddings frozen"], "task": "sentiment abroad", "before": SECOND},
    "in turn": {"chosen": ["full", "EWC"], "then": ["entailment"]},
}


def films() -> bytes:
    """Labelled texts whose words the model knows."""
    words = [word for word in reviews().tokenizer.words if word.isalpha()][:80]
    lines = [f"the acting was {w} and the film was honest .,{('yes', 'no')[k % 2]}" for k, w in enumerate(words)]
    return "\n".join(["said,liked", *lines]).encode()


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The unpacked archive of every form, made on one visit, and what was on screen.

    Its corpus is one that no other machine can open by its name, so what is rehearsed must be in the archive.
    """
    torch.set_num_threads(1)
    home = tmp_path_factory.mktemp("archives")
    other = run_of(entry=tiny(model={"layers": 2}), steps=3, seed=1, out=home / "runs" / "other")
    for _ in Runs(home / "runs").recorded("other", other, recorded(other, train(other))):
        pass
    session = Session(run_of(entry=tiny(model={"layers": 2}), steps=6))
    session.start()
    assert becomes(lambda: session.state == "done", 120)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("widgets.state.base.WORD_STEPS", 3)
        return {name: compared(session, home, name, dict(form)) for name, form in FORMS.items()}


def compared(session, home, name, form):
    store = TransferStore(home / "runs", train_size=16, steps=5, seeds=2)
    if form.get("task") == OWN_FILE:
        store.upload("films.csv", films())
    store.param.update(**form)
    assert store.begin(session), store.trouble
    assert becomes(lambda: store.trials.state != "running", 200), store.trials.progress
    assert store.trials.state == "done", store.trouble
    zipfile.ZipFile(io.BytesIO(store.files(outcomes).archive())).extractall(home / name)
    seen = store.trials.result.facts() if store.trials.result else store.trials.found
    store.uploads.remove()
    return home / name, store.trials.asked.command(), json.loads(json.dumps(seen))


@pytest.mark.parametrize("name", FORMS)
def test_the_command_makes_the_same_numbers(name, archives, monkeypatch, capsys):
    folder, command, seen = archives[name]
    monkeypatch.chdir(folder)
    assert cli.main([*shlex.split(command)[1:], "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    for what in {"differences", "tasks", "labels", "seeds"} & set(seen):
        assert again[what] == seen[what], what
    values = values_in_turn if "tasks" in seen else values_of
    for what, named in values(seen).items():
        now = values(again)[what]
        assert list(now) == list(named)
        for key, some in named.items():
            assert now[key] == some, (what, key)


@pytest.mark.parametrize(("name", "needed"), [("plain", "base"), ("own file", "base, films.csv"), ("in turn", "base")])
def test_a_notebook_without_its_archive_says_what_it_needs(name, needed, archives, tmp_path, monkeypatch):
    folder, _, _ = archives[name]
    made = nbformat.read(next(folder.glob("*.ipynb")), as_version=4)
    assert "the folder `base` with the model" in made.cells[0].source
    parameters, check = [cell.source for cell in made.cells if cell.cell_type == "code"][:2]
    cells = f"{parameters}\n{check}"
    monkeypatch.chdir(folder)
    exec(cells, {})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=rf"This notebook needs {needed} in the folder .*All, with the model"):
        exec(cells, {})


@pytest.mark.slow
def test_every_notebook_runs_where_it_lies_and_finds_what_was_on_screen(archives):
    """All in one kernel, which takes seconds to start; between two of them it forgets everything."""
    cells = []
    for folder, _, _ in archives.values():
        made = nbformat.read(next(folder.glob("*.ipynb")), as_version=4)
        nbformat.validate(made)
        here = nbformat.v4.new_code_cell(f"%reset -f\n%cd {folder}")
        cells += [here, *(nbformat.v4.new_code_cell(cell.source) for cell in made.cells if cell.cell_type == "code")]
    whole = nbformat.v4.new_notebook(cells=cells)
    env = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    done = NotebookClient(whole, kernel_name="python3", timeout=280).execute(env=env)
    said = "".join(o.get("text", "") for c in done.cells for o in c.get("outputs", ()))
    apart = re.findall(r"on screen by at most (\S+), forgetting by at most (\S+) nats", said)
    assert len(apart) == len(archives)
    assert max(float(number) for pair in apart for number in pair) == 0.0, apart
