"""Taps read what the model computes and replace it, and leave nothing behind."""

import pytest
import torch

from playground.errors import UserError
from playground.models.taps import head_names, tapped
from playground.models.transformer import Attention
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests.runs import reviews, run_of, suited_reviews, tiny


def learner(name="RoBERTa", **model):
    run = run_of(entry=tiny(name, {"layers": 2} | model))
    return TrainState.new(run.entry, run.corpus.tokenizer.words, 0, run.device)


@pytest.mark.parametrize("name", ["RoBERTa", "GPT", "BART", "XLNet", "ALBERT"])
@torch.no_grad()
def test_taps_read_without_changing_and_reach_every_head(name):
    made = learner(name)
    model, batch = made.model.eval(), of_learner(made, suited_reviews(made.objective)).batch()
    before, heads = model(batch)[-1].scores, head_names(model)
    with tapped(model, *heads) as taps:
        assert torch.equal(before, model(batch)[-1].scores)
        changes = {}
        for head in heads:
            assert taps[head].shape[-1] == model.shape.width // model.shape.heads
            taps.restore()
            taps.zero(head)
            changes[head] = float((model(batch)[-1].scores - before).abs().max())
    assert all(change > 0 for change in changes.values()), changes
    assert torch.equal(before, model(batch)[-1].scores)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    assert not any(m.weight_taps for m in model.modules() if isinstance(m, Attention))


def test_a_state_of_a_layer_is_that_of_hidden_states():
    model, tokens = learner().model.eval(), reviews().windows(12, "held_out")
    states = model.hidden_states(tokens)
    with tapped(model, "layer1", "layer2") as taps:
        model.features(tokens)
        assert torch.equal(taps["layer1"], states[1])
        assert torch.equal(taps["layer2"], states[2])


def test_the_weights_of_a_head_times_its_values_are_what_it_gathers():
    model, tokens = learner(norm_first=True).model.eval(), reviews().windows(12, "held_out")
    with tapped(model, "layer1.head1", "layer1.head1.weights") as taps:
        model.features(tokens)
        first = taps["layer1.head1"]
        assert torch.allclose(taps["layer1.head1.weights"].sum(-1), torch.ones(()))
        taps.change("layer1.head1.weights", lambda w: torch.eye(w.shape[-1]).expand_as(w))
        model.features(tokens)
        block = model.network.encoder.blocks[0]
        values = block.attn.value(block.ln_1(model.hidden_states(tokens, last=0)[0]))
        assert torch.allclose(taps["layer1.head1"], values[..., : first.shape[-1]], atol=1e-6)


def test_a_layer_frozen_to_its_own_value_changes_nothing_and_to_anothers_gives_that_ones():
    model, tokens = learner().model.eval(), reviews().windows(12, "held_out")
    turned = torch.arange(len(tokens.ids)).roll(1)
    with tapped(model, "layer1") as taps:
        before = model.features(tokens)
        value = taps["layer1"]
        taps.change("layer1", value)
        assert torch.equal(before, model.features(tokens))
        taps.change("layer1", value[turned])
        assert torch.equal(before[turned], model.features(tokens))


def test_one_layer_of_a_shared_stack_is_tapped_alone():
    model, tokens = learner("ALBERT").model.eval(), reviews().windows(12, "held_out")
    with tapped(model, "layer1.mlp", "layer2.mlp") as taps:
        model.features(tokens)
        assert not torch.equal(taps["layer1.mlp"], taps["layer2.mlp"])
        first = taps["layer1.mlp"]
        taps.zero("layer2.mlp")
        model.features(tokens)
        assert torch.equal(first, taps["layer1.mlp"])
        assert not taps["layer2.mlp"].any()


@pytest.mark.parametrize(
    ("name", "said"),
    [("layer3", "2 layers"), ("layer1.head9", "2 heads"), ("layer0", "no number 0"), ("head1", "names no part"),
     ("decoder.layer1.head1", "no decoder"), ("layer1.cross.head1", "no other stack"), ("layer1.neuron0", "neurons")],
)  # fmt: skip
def test_a_name_of_no_part_is_refused(name, said):
    with pytest.raises(UserError, match=said), tapped(learner().model, name):
        pass


def test_values_of_another_shape_and_of_nothing_are_refused():
    model, tokens = learner().model, reviews().windows(12, "held_out")
    with tapped(model, "layer1.head1") as taps:
        with pytest.raises(UserError, match="no pass"):
            taps["layer1.head1"]
        with pytest.raises(UserError, match="not tapped"):
            taps.zero("layer1.head2")
        taps.change("layer1.head1", lambda value: value[:, :1])
        with pytest.raises(UserError, match="shape"):
            model.features(tokens)


@pytest.mark.parametrize(("entry", "name"), [("XLNet", "layer1"), ("BART", "decoder.layer1"), ("BART", "layer1")])
def test_a_layer_that_is_switched_off_changes_the_answers_of_every_kind_of_network(entry, name):
    made = learner(entry)
    model, batch = made.model.eval(), of_learner(made, suited_reviews(made.objective)).batch()
    [before, *_] = [answer.scores for answer in model(batch)]
    with tapped(model, name) as taps:
        taps.zero(name)
        [after, *_] = [answer.scores for answer in model(batch)]
    assert not torch.equal(before, after)
