"""Compiled steps give the same numbers, leave nothing in the checkpoint, and step aside where they cannot work."""

import json
from pathlib import Path

import pytest
import torch

from playground import cli
from playground.errors import UserError
from playground.training import Incident, Stepped, checkpoint, compiled, train
from playground.training.ddp import DistributedDataParallelGradient
from playground.training.loop import prepared
from playground.training.parallel.stacked_seeds import hindrance
from playground.training.store.metrics import Summary, recorded
from tests.runs import losses, reviews, run_of, tiny


@pytest.fixture
def traced(monkeypatch):
    """A compiler that runs what was traced as it is, and the number of graphs it was given."""
    graphs = []
    monkeypatch.setattr(compiled, "BACKEND", lambda graph, inputs: graphs.append(graph) or graph.forward)
    torch._dynamo.reset()
    return graphs


def failing(monkeypatch, error):
    def compiler(graph, inputs):
        raise error

    monkeypatch.setattr(compiled, "BACKEND", compiler)
    torch._dynamo.reset()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ELECTRA", "BART"])
def test_the_whole_pass_and_its_losses_are_one_graph_for_each_width_with_the_same_numbers(name, traced):
    entry = tiny(name, lr=1e-3, muon_lr=1e-3)  # at full rates three steps blow up the last bit of a float
    plain, coded = (list(train(run_of(name, entry=entry, steps=3, compiled=c))) for c in (False, True))
    assert losses(coded) == pytest.approx(losses(plain), rel=1e-5)
    assert 1 <= len(traced) <= len({e.example.inputs.ids.shape for e in coded if isinstance(e, Stepped)})


@pytest.mark.slow
def test_a_compiled_run_goes_on_and_its_checkpoint_knows_nothing_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "BACKEND", "aot_eager")
    torch._dynamo.reset()
    whole = losses(train(run_of(steps=8)))
    half = run_of(steps=4, out=tmp_path, compiled=True)
    summary = Summary(half)
    for event in recorded(half, train(half)):
        summary.read(event)
    assert summary.facts()["compiled"] is True
    assert not any("_orig_mod" in name for name in checkpoint.read(tmp_path / "checkpoint.safetensors")[1])
    for coded in (True, False):
        more = train(run_of(steps=8, compiled=coded), checkpoint.load(tmp_path).learner)
        assert losses(more) == pytest.approx(whole[4:], rel=1e-4)


@pytest.mark.slow
def test_parts_of_a_batch_are_compiled_once_however_large_their_shares(traced):
    entry = tiny(batch_size=7, grad_accum_steps=2)
    plain, coded = (losses(train(run_of(entry=entry, steps=4, compiled=c))) for c in (False, True))
    assert coded[0] == pytest.approx(plain[0], rel=1e-6)
    assert coded == pytest.approx(plain, rel=1e-4), "AdamW divides by gradients, which enlarges what rounding leaves"
    assert 1 <= len(traced) <= 2, "one for each number of rows"


def no_compiler():
    from torch._inductor.exc import InvalidCxxCompiler  # two seconds, which no other file needs

    return InvalidCxxCompiler()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (no_compiler, "no C++ compiler was found"),
        (lambda: ValueError("odd shape\nand more"), "torch.compile raised ValueError (odd shape)"),
    ],
)
def test_where_it_cannot_be_compiled_the_run_goes_on_and_says_why(error, reason, monkeypatch):
    failing(monkeypatch, error())
    run = run_of(steps=3, compiled=True)
    events, summary = list(train(run)), Summary(run)
    for event in events:
        summary.read(event)
    (trouble,) = [e for e in events if isinstance(e, Incident)]
    assert (trouble.kind, trouble.settings) == ("compiler", {})
    assert f"The run goes on without compiled code: {reason}" in trouble.sentence
    assert losses(events) == losses(train(run_of(steps=3)))
    assert summary.facts()["compiled"] is False
    assert summary.facts()["troubles"] == [trouble.sentence]


def test_want_of_memory_while_compiling_is_want_of_memory(monkeypatch):
    errors = [RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 128 bytes.")]

    def compiler(graph, inputs):
        if errors:
            raise errors.pop()
        return graph.forward

    monkeypatch.setattr(compiled, "BACKEND", compiler)
    torch._dynamo.reset()
    events = list(train(run_of(steps=2, compiled=True)))
    assert [(e.kind, e.settings) for e in events if isinstance(e, Incident)] == [("memory", {"grad_accum_steps": 2})]


def test_shapes_that_change_too_often_end_the_compiling(traced):
    with torch._dynamo.config.patch(recompile_limit=1):
        events = list(train(run_of("XLNet", steps=6, compiled=True)))
    assert ["shapes of its batches change too often" in e.sentence for e in events if isinstance(e, Incident)] == [True]
    assert losses(events) == pytest.approx(losses(train(run_of("XLNet", steps=6))), rel=1e-3)


def test_what_shares_a_batch_or_stacks_seeds_is_not_compiled():
    with pytest.raises(UserError, match="leave out either --compile or torchrun"):
        compiled.of(DistributedDataParallelGradient())
    assert hindrance(prepared(run_of(compiled=True))) == "each is compiled by itself"


def test_the_command_line_says_whether_it_was_compiled(traced, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    corpus = reviews(4_000)
    Path("reviews.txt").write_text(corpus.tokenizer.join(corpus.ids.tolist()), encoding="utf-8")
    small = [a for knob in ("width=16", "heads=2", "layers=1", "seq_len=16", "batch_size=4") for a in ("--set", knob)]
    command = ["train", "RoBERTa", "--corpus", "reviews.txt", "--steps", "2", "--device", "cpu", "--json", *small]
    for option, graphs in ([], 0), (["--compile"], 1):
        assert cli.main([*command, *option]) == 0
        assert json.loads(capsys.readouterr().out)["compiled"] is bool(graphs)
        assert len(traced) == graphs
