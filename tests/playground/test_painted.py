"""A mask that was painted on the stage and is trained with: the rule for every text, its name, and what a leak does."""

from dataclasses import replace

import pytest
import torch

from playground import leaks
from playground.corpora.corpus import pick
from playground.objectives import find_objective
from playground.objectives.rebuild import rebuild
from playground.objectives.see.painted import Painted, carried, read, written
from playground.refusal import Refusal
from playground.seeds import generator
from playground.training import Evaluated, Run, checkpoint, train
from playground.zoo import entry_named
from tests.runs import reviews

OPENED = "LM painted encoder opens +1"


def test_painted_cells_become_a_rule_by_how_far_a_reader_looks():
    rules = carried({"query": [(2, 4, True), (0, 2, False), (5, 4, False)], "content": [(3, 3, False)]})
    assert rules == (Painted("query", (2,), (-1,)), Painted("content", (), (0,)))
    assert written(rules) == "query opens +2 closes -1, content closes +0"
    assert read(written(rules)) == rules
    assert rules[0].words == "query: every place also looks 2 to the right, no place looks 1 to the left"


@pytest.mark.parametrize("said", ["encoder", "encoder opens", "tower opens +1", "encoder opens +x", "encoder +1"])
def test_what_is_no_rule_is_a_sentence(said):
    with pytest.raises(Refusal, match="encoder opens"):
        find_objective(f"LM painted {said}")


@pytest.mark.parametrize(
    ("name", "matrix", "leak"),
    [("LM", "encoder", True), ("PLM", "query", False), ("BART infilling", "decoder", True), ("MLM", "encoder", False)],
)
def test_every_text_is_read_by_the_rule_and_padding_stays_hidden(name, matrix, leak):
    """Cell by cell: what lies one place to the right is open, two to the left closed, everything else as it was."""
    plain, changed = find_objective(name), find_objective(f"{name} painted {matrix} opens +1 closes -2")
    whole = pick(rebuild(plain, "we walk home together in the evening rain").tokens, torch.tensor([0, 0]))
    tokens = replace(whole, lengths=torch.tensor([3, 8]))
    before, after = (o.example(tokens, generator(0)) for o in (plain, changed))
    streams = {
        "encoder": ("inputs", "visible"),
        "query": ("inputs", "query_visible"),
        "decoder": ("decoder", "visible"),
    }
    part, field = streams[matrix]
    old, new = (getattr(getattr(e, part), field).dense().expand(2, -1, -1) for e in (before, after))
    real = getattr(before, part).real
    away = torch.arange(old.shape[2]) - torch.arange(old.shape[1])[:, None]
    wanted = (old & (away != -2)) | ((away == 1) & real[:, :, None] & real[:, None, :])
    assert torch.equal(new, wanted)
    assert leaks.check(after, row=1).leak == leak


def test_a_leak_lets_the_loss_fall_below_what_the_text_allows():
    """Training that may look at the next word copies it; without, nothing beats the chance that made the text."""
    honest, copied = (held_out(name) for name in ("LM", OPENED))
    assert copied < reviews().entropy_bound < honest


def test_a_run_with_a_painted_mask_comes_back_from_its_checkpoint(tmp_path):
    held_out(OPENED, steps=2, out=tmp_path)
    saved = checkpoint.load(tmp_path).learner
    assert saved.entry.name == OPENED
    assert saved.objective.stages == find_objective(OPENED).stages


def held_out(name, steps=80, out=None):
    """The last held-out loss of a tiny run."""
    entry = entry_named(name)
    shape = replace(entry.model, width=32, heads=2, layers=2)
    entry = replace(entry, model=shape, recipe=replace(entry.recipe, window=16, batch=16, steps=steps))
    events = train(Run(entry, reviews(), steps=steps, evaluate_every=steps, out=out))
    return [event.held_out for event in events if isinstance(event, Evaluated)][-1]
