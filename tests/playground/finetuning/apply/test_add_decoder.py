"""A decoder for a model that has none: each part is what it was where it came from, and what joins them is new."""

from dataclasses import replace

import pytest
import torch

from playground.errors import UserError
from playground.finetuning import find_strategy, find_task, strategies
from playground.finetuning.apply.add_decoder import with_decoder
from playground.finetuning.comparing.compare import compare
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.run.trainer import started
from playground.finetuning.strategy.strategy import texts_for
from playground.models.adapters import attach
from playground.rng import generator
from playground.tokenizing import of_words
from tests.contracts.test_strategies import base_of
from tests.runs import learner_of, reviews

WORDS = reviews().tokenizer


def parts(model, name):
    return {k.removeprefix(name): v for k, v in model.state_dict().items() if k.startswith(name)}


@pytest.mark.parametrize("donor", ["RoBERTa", "GPT"])
def test_both_stacks_are_those_of_their_sources_and_only_what_joins_them_is_new(donor):
    source, other = base_of("RoBERTa").learner, base_of(donor).learner
    made = with_decoder(source, WORDS, other, WORDS).model
    for name in ("token_embedding.", "network.encoder.", "lm_head."):
        assert all(torch.equal(v, parts(source.model, name)[k]) for k, v in parts(made, name).items())
    given, decoder = parts(other.model, "network.encoder."), parts(made, "network.decoder.")
    joins = {k for k in decoder if "cross" in k}
    assert set(decoder) - joins == set(given)
    assert all(torch.equal(decoder[k], given[k]) for k in given)
    assert joins
    assert torch.equal(made.features(base_of("RoBERTa").held_out), source.model.features(base_of("RoBERTa").held_out))


def test_a_new_decoder_is_new_and_the_base_is_not_touched():
    source = base_of("RoBERTa").learner
    before = {k: v.clone() for k, v in source.model.state_dict().items()}
    decoder = parts(with_decoder(source, WORDS, None, None).model, "network.decoder.")
    given = parts(source.model, "network.encoder.")
    assert not any(torch.equal(decoder[k], v) for k, v in given.items() if v.dim() > 1)
    assert all(torch.equal(v, before[k]) for k, v in source.model.state_dict().items())


def test_parts_that_do_not_fit_are_refused():
    source = base_of("RoBERTa").learner
    with pytest.raises(UserError, match="has a decoder already"):
        with_decoder(base_of("BART").learner, WORDS, None, None)
    with pytest.raises(UserError, match="more than one network"):
        with_decoder(base_of("ELECTRA").learner, WORDS, None, None)
    with pytest.raises(UserError, match="different vocabularies"):
        with_decoder(source, WORDS, source, of_words(["the"]))
    with pytest.raises(UserError, match="norms are after its layers in the base and before them in the other run"):
        with_decoder(source, WORDS, base_of("GPT-2").learner, WORDS)
    wide = replace(source.entry, model=replace(source.entry.model, width=source.model.shape.width * 2))
    with pytest.raises(UserError, match="layers do not fit"):
        with_decoder(source, WORDS, type(source).new(wide, WORDS.words, 0, source.device), WORDS)
    assert learner_of("RoBERTa").model.shape.decoder_layers == 0


# which part starts anew


@pytest.mark.parametrize("part", ["encoder", "decoder"])
def test_one_stack_starts_anew_and_everything_else_is_kept(part):
    model = base_of("BART").learner.model
    made, again = started(model, part, 3), started(model, part, 3)
    for name, value in made.state_dict().items():
        fresh = name.startswith(f"network.{part}.")
        assert torch.equal(value, model.state_dict()[name]) != fresh, name
        assert torch.equal(value, again.state_dict()[name])


@pytest.mark.parametrize("name", ["new decoder", "new encoder"])
def test_a_part_can_start_anew_only_where_there_are_two(name):
    with pytest.raises(UserError, match=f"{name} needs a model with an encoder and a decoder"):
        texts_for(base_of("RoBERTa").learner, find_task("sentiment"), [find_strategy(name)], WORDS)
    assert texts_for(base_of("BART").learner, find_task("sentiment"), [find_strategy(name)], WORDS)


def test_the_decoder_learns_first_and_then_all():
    groups = ("embeddings", "encoder layer 1", "decoder layer 1", "decoder layer 2", "task head")
    plan = find_strategy("decoder first").plan(groups, 6)
    assert plan.tolist() == [[0, 0, 0, 1, 1, 1]] * 2 + [[1] * 6] * 3


# extra modules


WITH_EXTRAS = [name for name, strategy in strategies().items() if strategy.adapters]
SPEC = ComparisonSpec(train_sizes=(4,), seeds=1, steps=4)


def compared(base, task, *chosen):
    """The comparison of some strategies on a task, tiny."""
    *_, made = compare(base, WORDS, replace(SPEC, task=task, strategies=chosen), batch_size=4)
    return made


def moved(outcome, part):
    """How far the layers of a stack moved."""
    return sum(far for group, far in zip(outcome.groups, outcome.moved, strict=True) if group.startswith(part))


@pytest.mark.parametrize(
    ("name", "does"),
    [
        *((name, "stays frozen") for name in WITH_EXTRAS if name != "projected attention layers"),
        ("projected attention layers", "learns without them"),
        ("adapters + full", "stays frozen"),
        ("LoRA + adapters", "stays frozen"),
    ],
)
def test_where_a_decoder_writes_it_is_said_that_extra_modules_are_in_the_encoder_alone(name, does):
    base = base_of("BART")
    made = compared(base, "summary", name)
    (said,) = [told for told in made.notices if "extra modules" in told]
    assert said.endswith(f"are plugged into the encoder's layers only; the decoder of BART {does}.")
    strategy, (outcome,) = find_strategy(name), made.outcomes[find_strategy(name).name]
    assert all(extra.name in said for extra in strategy.adapters)
    assert (moved(outcome, "decoder") > 0) == (does != "stays frozen"), "the sentence is what the engine did"
    assert not any("extra modules" in told for told in compared(base, "summary", "full").notices)


@pytest.mark.parametrize("name", WITH_EXTRAS)
def test_extra_modules_of_a_kind_are_one_for_every_layer_of_the_encoder_and_none_for_the_decoder(name):
    learner = learner_of("BART", model={"layers": 2, "decoder_layers": 3})
    (kind,) = find_strategy(name).adapters
    plugged = attach(kind, learner.model, generator(0))
    if kind.more_tokens:  # at the input of the encoder
        assert len(plugged.modules) == 1 and learner.model.network.prompt is not None
        return
    assert len(plugged.modules) == 2
    hooks = [module for module in learner.model.modules() if module._forward_hooks or getattr(module, "prefix", None)]
    inside = [*learner.model.network.encoder.modules()]
    assert hooks and all(any(hook is one for one in inside) for hook in hooks)


def test_a_decoder_that_learns_in_some_steps_is_counted_in_steps():
    late = replace(find_strategy("adapters"), plasticity=find_strategy("three stages").plasticity, name="late")
    *_, made = compare(base_of("BART"), WORDS, replace(SPEC, task="summary"), chosen=[late], batch_size=4)
    assert any(told.endswith("the decoder of BART learns without them in 2 of 4 steps.") for told in made.notices)


@pytest.mark.parametrize(("entry", "task"), [("RoBERTa", "sentiment"), ("BART", "sentiment"), ("GPT", "summary")])
def test_where_no_decoder_writes_nothing_is_said_of_one(entry, task):
    assert not any("decoder" in told for told in compared(base_of(entry), task, "adapters").notices)
