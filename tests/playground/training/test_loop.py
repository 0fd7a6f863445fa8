"""Training: exact to the last bit, honest about the very batch that trained, and never past a bad number."""

from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from playground.batch import Tokens
from playground.errors import UserError
from playground.models import Architecture, total_loss
from playground.objectives import find_objective, objectives
from playground.objectives.catalog.mlm import MLM
from playground.training import Checkpointed, Evaluated, Incident, Session, Started, Stepped, Stopped, checkpoint, train
from playground.training import loop as loop_module
from playground.training.data import BatchSampler
from playground.training.loop import prepared
from playground.training.lr_schedule import lr_multiplier
from playground.training.store.metrics import Summary
from playground.training.train_state import Snapshot, TrainState
from playground.zoo import Recipe, entries, entry_for, entry_named
from playground.zoo.electra_two_stage import GENERATOR
from playground.zoo.preset import FAST
from tests.runs import (
    alone,
    becomes,
    each_kind,
    feed_of,
    held_out,
    learner_of,
    losses,
    reviews,
    run_of,
    same_weights,
    suited_reviews,
    tiny,
)

NSP, SOP, TLM = (objectives()[name] for name in ("NSP", "SOP", "TLM"))


def learner_in(events):
    return next(e.learner for e in events if isinstance(e, Started))


@pytest.fixture
def used():
    """What the optimisers were about to do in every step: their rates and the norm of the whole gradient."""
    seen = []

    def look(optimiser, *_):
        grads = [p.grad for g in optimiser.param_groups for p in g["params"] if p.grad is not None]
        full = optimiser.param_groups[0]["full_rate"]
        lengths = [float(g.norm()) for g in grads]
        seen.append((full, optimiser.param_groups[0]["lr"], sum(n * n for n in lengths)))

    handle = register_optimizer_step_pre_hook(look)
    yield seen
    handle.remove()


# seeds


@each_kind
def test_another_seed_gives_another_run_from_the_first_step_on(name):
    one, other = (list(train(run_of(name, seed=seed, steps=2))) for seed in (0, 1))
    assert all(a != b for a, b in zip(losses(one), losses(other), strict=True))


def test_what_ran_before_leaves_no_trace():
    alone = losses(train(run_of("BART")))
    torch.manual_seed(99)
    list(train(run_of("ELECTRA", seed=3, steps=3)))
    torch.rand(7)
    assert losses(train(run_of("BART"))) == alone


def test_two_runs_in_turn_do_not_disturb_each_other():
    alone = [losses(train(run_of("XLNet", seed=seed, steps=6))) for seed in (0, 1)]
    pairs = zip(*(train(run_of("XLNet", seed=seed, steps=6)) for seed in (0, 1)), strict=True)
    assert [losses(events) for events in zip(*pairs, strict=True)] == alone


# events


@each_kind
def test_an_event_carries_the_very_batch_that_trained_as_the_sampler_gives_it(name):
    run, before = run_of(name, steps=4), None
    sampler = BatchSampler.of(run.corpus, 16, 8, run.seed, run.device, continues=run.entry.continues)
    for event in train(run):
        if isinstance(event, Started):
            learner, before = event.learner, deepcopy(event.learner.model)
            assert learner.entry == run.entry, "an entry of the zoo has all its parts already"
        if isinstance(event, Stepped):
            assert torch.equal(event.batch.tokens.ids, sampler.at(event.step - 1).ids)
            loss, terms = total_loss(before(event.batch))
            assert torch.equal(loss.detach(), event.loss)
            assert {k: float(v.detach()) for k, v in terms.items()} == {k: float(v) for k, v in event.terms.items()}
            before = deepcopy(learner.model)


def test_events_come_in_order_and_count_what_was_read(tmp_path):
    run = run_of(steps=5, evaluate_every=2, save_every=2, out=tmp_path)
    events = list(train(run))
    kinds = [type(e).__name__ + str(getattr(e, "step", "")) for e in events]
    expected = (
        "Started Evaluated0 Stepped1 Stepped2 Evaluated2 Checkpointed2 Stepped3 Stepped4 Evaluated4 Checkpointed4 "
        "Stepped5 Evaluated5 Checkpointed5 Stopped5"
    )
    assert kinds == expected.split()
    steps = [e for e in events if isinstance(e, Stepped)]
    assert [e.tokens for e in steps] == [8 * 16 * k for k in range(1, 6)]
    assert all(a.seconds < b.seconds for a, b in pairwise(steps))
    assert events[-1] == Stopped(5, "steps", steps[-1].seconds)
    assert events[0].unigram_entropy == run.corpus.unigram_entropy
    assert all(Path(e.path).is_file() for e in events if isinstance(e, Checkpointed))


@each_kind
def test_evaluation_and_saving_do_not_change_training(name, tmp_path):
    never = list(train(run_of(name, steps=6, evaluate_every=10**6)))
    always = list(train(run_of(name, steps=6, evaluate_every=1, save_every=1, out=tmp_path)))
    assert losses(always) == losses(never)
    assert held_out(always)[0] == held_out(never)[0]
    assert held_out(always)[-1] == held_out(never)[-1]
    assert len(held_out(always)) == 7


@each_kind
def test_evaluation_names_every_question_and_reports_the_first(name):
    event = next(e for e in train(run_of(name, steps=1)) if isinstance(e, Evaluated))
    assert list(event.terms) == [a.target.name for a in answers_of(learner_of(name))]
    assert event.held_out == next(iter(event.terms.values()))


def answers_of(learner):
    return learner.model(learner.batch(reviews().windows(16)))


@pytest.mark.parametrize("name", ["RoBERTa", "PLM", "BART", "ELECTRA"])
def test_the_same_text_is_corrupted_anew_in_every_step(name):
    learner, tokens = learner_of(name), feed_of().at(0)
    first = learner.batch(tokens)
    again = learner.batch(tokens)
    learner.step = 1
    later = learner.batch(tokens)
    assert torch.equal(first.selected, again.selected) and torch.equal(first.prediction_order, again.prediction_order)
    assert not (
        torch.equal(first.selected, later.selected) and torch.equal(first.prediction_order, later.prediction_order)
    )


# every objective by its name

every_objective = pytest.mark.parametrize("name", list(objectives()))


@every_objective
def test_any_objective_of_the_catalogue_can_be_trained_and_goes_on_exactly(name, tmp_path):
    objective = objectives()[name]
    entry, corpus = alone(objective), suited_reviews(objective)
    whole = list(train(run_of(entry=entry, corpus=corpus, steps=4, save_every=2, out=tmp_path)))
    assert whole[-1].reason == "steps"
    saved = checkpoint.load(checkpoint.kept(tmp_path)[2])
    rest = list(train(run_of(entry=entry, corpus=corpus, steps=4), saved.learner))
    assert losses(whole)[2:] == losses(rest)
    assert same_weights(learner_in(rest).model, learner_in(whole).model)
    assert saved.learner.entry.model == learner_in(whole).entry.model, "the parts that were added are remembered"


def test_a_model_gets_the_parts_that_its_objective_asks_for():
    learner = learner_in(train(run_of(entry=alone(NSP), corpus=suited_reviews(NSP))))
    assert (learner.entry.model.segments, learner.entry.model.labels) == (2, (("pair", 2),))
    assert learner.model.label_heads["pair"].out_proj.out_features == 2
    assert learner_in(train(run_of(entry=alone(objectives()["T5 spans"])))).entry.model.decoder_layers == 1
    assert learner_in(train(run_of(entry=alone(TLM), corpus=suited_reviews(TLM)))).entry.model.languages == 2


def test_an_objective_stands_for_an_entry_where_no_entry_has_its_name():
    assert entry_named("bert") is entries()["BERT"]
    assert entry_named("next sentence prediction").objective is NSP
    assert entry_named("LM").model == Architecture(attention="left to right")
    assert (entry_for(SOP).name, entry_for(SOP).year, entry_for(SOP).corpus) == ("SOP", 2019, "world")
    assert entry_for(TLM).corpus == "parallel"
    own = entry_for(find_objective("UniLM"))
    assert own.name == "UniLM objective" and not own.phases, "the entry of that name has phases"
    assert entry_named(own.name) == own
    assert entry_named("LM").year in range(1948, 2030)
    with pytest.raises(UserError, match="There is no entry named 'nothing'"):
        entry_named("nothing")


# generator first


def staged(first=0.5, **more):
    return tiny("ELECTRA", {"generator_ratio": 1.0}, generator_first=first, **more)


def weights_after(run, learner=None):
    """The weights before the first step and after every step, by name."""
    seen, learner = {}, learner
    for event in train(run, learner):
        learner = getattr(event, "learner", learner)
        if isinstance(event, Started | Stepped):
            seen[learner.step] = {k: v.clone() for k, v in learner.model.state_dict().items()}
    return seen


def part(weights, *names):
    return {k: v for k, v in weights.items() if k.split(".")[0] in names}


def own(weights):
    """The detector without the embeddings that it shares with the generator."""
    return {k: v for k, v in part(weights, "network", "rtd_head").items() if "_embedding." not in k}


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


@pytest.mark.parametrize("optimiser", ["muon", "adamw"])
def test_the_generator_learns_alone_then_the_detector_begins_as_its_copy_and_the_generator_is_frozen(optimiser):
    seen = weights_after(run_of(entry=staged(optimiser=optimiser)))
    for step in range(6):
        assert not equal(part(seen[step], "generator"), part(seen[step + 1], "generator"))
        assert equal(own(seen[step]), own(seen[0]))
    copied = {k.removeprefix("network."): v for k, v in part(own(seen[6]), "network").items()}
    assert equal(copied, {k.removeprefix("generator."): v for k, v in part(seen[6], "generator").items()})
    for step in range(7, 13):
        assert equal(part(seen[step], *GENERATOR), part(seen[6], *GENERATOR)), "bit for bit"
        assert not equal(part(seen[step], "network"), part(seen[step - 1], "network"))
        assert not equal(part(seen[step], "rtd_head"), part(seen[step - 1], "rtd_head"))


def test_what_an_event_shows_is_what_trained_in_its_stage():
    events = list(train(run_of(entry=staged(), evaluate_every=3)))
    terms = [list(e.terms) for e in events if isinstance(e, Stepped)]
    assert terms == [["hidden words"]] * 6 + [["replaced?"]] * 6
    networks = [e.batch.network for e in events if isinstance(e, Stepped)]
    assert networks == ["generator"] * 6 + ["main"] * 6
    tested = [(e.step, list(e.terms)) for e in events if isinstance(e, Evaluated)]
    words, replaced = ["hidden words"], ["replaced?"]
    assert tested == [(0, words), (3, words), (6, replaced), (9, replaced), (12, replaced)]


def test_what_takes_no_part_in_a_stage_has_no_gradient():
    events = [e for e in train(run_of(entry=staged(), sizes_every=4)) if isinstance(e, Stepped) and e.sizes]
    pulled = [{group.name for group in e.sizes if group.gradient} for e in events]
    assert "generator" in pulled[0] - pulled[2] and "heads" in pulled[2] - pulled[0]


@pytest.mark.parametrize("stop", [3, 6, 9])
def test_both_stages_go_on_exactly_from_a_checkpoint(stop, tmp_path):
    whole = weights_after(run_of(entry=staged()))
    list(train(run_of(entry=staged(), steps=stop, out=tmp_path)))
    rest = weights_after(run_of(entry=staged()), checkpoint.load(tmp_path).learner)
    assert list(rest) == list(range(stop, 13))
    assert all(equal(rest[step], whole[step]) for step in rest)


def test_the_reported_training_loss_is_that_of_the_last_stage_alone():
    run = run_of(entry=staged())
    summary = Summary(run)
    for event in train(run):
        summary.read(event)
    detector = losses(train(run))[6:]
    weight = run.entry.objective.knobs["weight"].default
    assert summary.facts()["loss"]["train"] == pytest.approx(sum(detector) / 6 / weight, rel=1e-5)


def test_a_share_of_none_trains_both_at_once():
    seen = weights_after(run_of(entry=staged(0.0), steps=2))
    for name in ("generator", "network", "token_embedding"):
        assert not equal(part(seen[0], name), part(seen[1], name))


def test_places_that_both_share_are_learnt_with_the_generator_and_then_frozen_as_the_words_are():
    seen = weights_after(run_of(entry=staged()))
    for name in ("network.position_embedding.weight", "network.ln_embedding.weight"):
        assert all(not torch.equal(seen[step][name], seen[step + 1][name]) for step in range(6))
        assert all(torch.equal(seen[step][name], seen[6][name]) for step in range(7, 13))


ONE_NETWORK = tiny("ELECTRA", {"generator_ratio": 1.0, "tie_generator": "all"}, generator_first=0.5)
NARROW = tiny("ELECTRA", {"width": 32}, generator_first=0.5)
NO_GENERATOR = tiny("RoBERTa", generator_first=0.25)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (NARROW, r"the generator is 8 wide and the detector 32\. Set generator_ratio to 1\."),
        (ONE_NETWORK, r"generator and detector are one network, .*; set tie_generator to embeddings\."),
        (NO_GENERATOR, r"generator_first is 0\.25, but MLM has no generator; set it to 0\."),
    ],
)
def test_two_stages_that_cannot_be_are_refused_before_the_run(entry, said):
    with pytest.raises(UserError, match=said):
        next(train(run_of(entry=entry, corpus=reviews())))


# rates and gradients


def test_the_rate_rises_then_falls_to_its_floor():
    recipe = Recipe(steps=100, warmup_ratio=0.1, min_lr_ratio=0.02)
    expected = {0: 0.1, 4: 0.5, 9: 1.0, 10: 1.0, 55: 0.51, 100: 0.02, 5000: 0.02}
    assert {step: lr_multiplier(recipe, step) for step in expected} == pytest.approx(expected)
    assert [lr_multiplier(recipe, step, falling=False) for step in (0, 9, 10, 5000)] == pytest.approx(
        [0.1, 1.0, 1.0, 1.0]
    )


@pytest.mark.parametrize(("warm_up", "first"), [(0.0, 1.0), (0.5, 1 / 6), (1.0, 1 / 12)])
def test_any_warm_up_starts_above_zero_and_never_passes_the_full_rate(warm_up, first):
    shares = [lr_multiplier(Recipe(steps=12, warmup_ratio=warm_up, min_lr_ratio=0.0), step) for step in range(14)]
    assert shares[0] == pytest.approx(first)
    assert max(shares) == 1.0
    assert min(shares) >= 0.0


def test_the_optimisers_use_the_rate_that_the_event_names(used):
    recipe = tiny().recipe
    events = [e for e in train(run_of()) if isinstance(e, Stepped)]
    assert [e.rate for e in events] == [lr_multiplier(recipe, step) for step in range(12)]
    overrides = [(full, full * e.rate) for e in events for full in (recipe.muon_lr, recipe.lr)]
    assert [(full, rate) for full, rate, _ in used] == overrides


def test_with_seconds_alone_the_rate_stays_up():
    events = train(run_of(steps=30, seconds=1e9))
    assert [e.rate for e in events if isinstance(e, Stepped)][2:] == [1.0] * 28


@pytest.mark.parametrize("clip", [0.01, 0.1])
def test_a_long_gradient_is_shortened_to_the_clip(used, clip):
    list(train(run_of(entry=tiny(grad_clip=clip), steps=3)))
    whole = [(a[2] + b[2]) ** 0.5 for a, b in zip(used[::2], used[1::2], strict=True)]
    assert whole == pytest.approx([clip] * 3, rel=1e-3)


def test_no_clip_and_a_clip_beyond_reach_are_the_same():
    assert losses(train(run_of(entry=tiny(grad_clip=0.0)))) == losses(train(run_of(entry=tiny(grad_clip=100.0))))
    assert losses(train(run_of(entry=tiny(grad_clip=0.0)))) != losses(
        train(run_of(entry=tiny(grad_clip=0.001, lr=0.05)))
    )


@each_kind
@pytest.mark.parametrize("optimiser", ["muon", "adamw"])
def test_every_parameter_belongs_to_exactly_one_optimiser(name, optimiser):
    learner = learner_of(name, optimiser=optimiser)
    owned = [id(p) for o in learner.optimisers for g in o.param_groups for p in g["params"]]
    assert sorted(owned) == sorted(id(p) for p in learner.model.parameters())
    letters = ("characters.gate", "characters.highway", "characters.projection")
    matrices = [n for n, p in learner.model.named_parameters() if p.dim() == 2]
    inside = {name for name in matrices if any(part in name for part in ("blocks", *letters))}
    names = {id(p): n for n, p in learner.model.named_parameters()}
    muon = [g["params"] for o in learner.optimisers if isinstance(o, torch.optim.Muon) for g in o.param_groups]
    assert {names[id(p)] for params in muon for p in params} == (inside if optimiser == "muon" else set())


@each_kind
def test_every_parameter_learns(name):
    """A part that no loss reaches would sit in the model for nothing; ELECTRA's large network names no words."""
    learner = learner_of(name)
    before = {n: p.detach().clone() for n, p in learner.model.named_parameters()}
    feed = feed_of(reviews())
    for step in range(3):
        learner.learn(learner.batch(feed.at(step)))
    still = {n for n, p in learner.model.named_parameters() if torch.equal(p, before[n])}
    assert still == ({n for n in before if n.startswith("lm_head.")} if name == "ELECTRA" else set())


# nothing to ask


def nothing_but_specials(tokens):
    return replace(tokens, ids=torch.full_like(tokens.ids, tokens.specials.sep))


def test_a_question_without_scored_answers_costs_nothing():
    learner = learner_of("RoBERTa")
    _, loss, terms, _ = learner.learn(learner.batch(nothing_but_specials(feed_of().at(0))))
    assert float(loss) == 0.0
    assert [float(v) for v in terms.values()] == [0.0]


@each_kind
def test_a_batch_without_words_leaves_every_weight_a_number(name):
    learner = learner_of(name)
    learner.learn(learner.batch(nothing_but_specials(feed_of().at(0))))
    _, loss, _, _ = learner.learn(learner.batch(feed_of().at(1)))
    assert learner.sound(loss)
    assert all(bool(p.isfinite().all()) for p in learner.model.parameters())


def test_evaluation_without_scored_answers_is_zero_and_not_nan():
    learner = learner_of("RoBERTa")
    assert set(learner.evaluate(nothing_but_specials(feed_of().at(0))).values()) == {0.0}


def test_padding_is_not_counted_as_read():
    learner = learner_of("RoBERTa")
    tokens: Tokens = feed_of().at(0)
    learner.learn(learner.batch(replace(tokens, lengths=torch.tensor([16, 3, 1, 5, 9, 2, 4, 8]), padded=True)))
    assert learner.tokens == 48


# the end


class Clock:
    """Every look is a second later than the one before."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1.0
        return self.now


def test_seconds_end_a_run(monkeypatch):
    monkeypatch.setattr(loop_module, "time", SimpleNamespace(perf_counter=Clock().perf_counter))
    events = list(train(run_of(steps=None, seconds=5.0)))
    assert losses(events) == losses(train(run_of(steps=5, seconds=1e9)))
    assert events[-1] == Stopped(5, "seconds", 5.0)
    assert held_out(events)[-1][0] == 5


def test_steps_end_a_run_that_has_seconds_left():
    events = list(train(run_of(steps=3, seconds=1e9)))
    assert (events[-1].step, events[-1].reason) == (3, "steps")


def test_without_steps_and_seconds_the_recipe_says_when():
    assert len(losses(train(run_of(entry=tiny(steps=4), steps=None)))) == 4


@pytest.mark.parametrize(("evaluate_every", "stops"), [(1, 5), (2, 6), (4, 8), (50, 12)])
def test_a_loss_that_is_no_number_ends_the_run_as_diverged(monkeypatch, tmp_path, evaluate_every, stops):
    spoil(monkeypatch, at=5)
    events = list(train(run_of(evaluate_every=evaluate_every, out=tmp_path)))
    assert (events[-1].step, events[-1].reason) == (stops, "diverged")


@pytest.mark.parametrize("evaluate_every", [1, 3, 50])
def test_weights_that_are_no_numbers_are_never_saved_and_the_last_good_step_is(monkeypatch, tmp_path, evaluate_every):
    spoil(monkeypatch, at=4)
    events = list(train(run_of(evaluate_every=evaluate_every, save_every=2, out=tmp_path)))
    assert events[-1].reason == "diverged"
    kept = checkpoint.load(tmp_path).learner
    assert kept.step == 3
    assert all(bool(p.isfinite().all()) for p in kept.model.parameters())


# does it learn?


@pytest.mark.slow
@pytest.mark.parametrize("name", ["RoBERTa", "GPT"])
def test_a_short_run_learns_far_more_than_how_frequent_words_are(name):
    corpus = reviews(120_000)
    entry = tiny(name)
    full = FAST(
        replace(entry, model=replace(entry.model, width=32, heads=4, layers=2), recipe=Recipe(steps=200, batch_size=32))
    )
    (_, start), (_, end) = held_out(train(run_of(entry=full, corpus=corpus, steps=200, evaluate_every=1000)))
    assert start > corpus.unigram_entropy
    assert end < 0.75 * corpus.unigram_entropy
    if name == "GPT":
        assert end > corpus.entropy_bound - 0.05, "nobody reads from left to right better than the generator itself"


def test_the_objective_in_training_is_the_entrys_own():
    assert learner_of("RoBERTa").objective == MLM


def spoil(monkeypatch, at):
    learn = TrainState.learn

    def spoilt(self, tokens, falling=True):
        done = learn(self, tokens, falling)
        if self.step == at:
            with torch.no_grad():
                self.model.token_embedding.weight[0] = float("nan")
        return done

    monkeypatch.setattr(TrainState, "learn", spoilt)


@pytest.mark.parametrize("name", ["RoBERTa", "ELECTRA"])
@pytest.mark.parametrize("bad", [1, 5, 11])
def test_it_goes_back_to_the_last_good_step_to_the_last_bit(name, bad, monkeypatch):
    course = prepared(run_of(name))
    for step in range(bad - 1):
        course.learner.learn(course.blocks.at(step))
    good = Snapshot.of(course.learner)
    spoil(monkeypatch, at=bad)
    learner, *_, trouble, stopped = [getattr(e, "learner", e) for e in train(run_of(name, evaluate_every=4))]
    assert isinstance(trouble, Incident)
    assert (trouble.step, trouble.kind, stopped.reason) == (bad - 1, "numbers", "diverged")
    assert f"In step {bad} a loss or a weight became NaN" in trouble.sentence
    assert learner.step == bad - 1
    again = Snapshot.of(learner)
    assert all(torch.equal(again.weights[k], v) for k, v in good.weights.items())
    assert (again.tokens, again.scored) == (good.tokens, good.scored)


def test_a_session_tells_the_trouble_and_can_be_forked(monkeypatch):
    spoil(monkeypatch, at=6)
    session = Session(run_of(evaluate_every=4)).start()
    assert becomes(lambda: session.state == "done")
    assert session.reason == "diverged"
    assert session.trouble.step == 5
    monkeypatch.undo()
    made = session.fork(session.trouble.settings)
    assert (made.step, made.changed) == (5, "lr 0.006 → 0.002, muon_lr 0.02 → 0.00667")
    assert list(train(made.run, made.learner))[-1].reason == "steps"


@pytest.mark.parametrize("tied", ["none", "gradient-disentangled"])
def test_a_generator_with_its_own_words_gives_them_to_the_detector_and_only_they_are_frozen(tied):
    settings = {"generator_ratio": 1.0, "positions": "learned", "tie_generator": tied, "embedding_size": 0}
    learner, seen = None, {}
    for event in train(run_of(entry=tiny("ELECTRA", settings, generator_first=0.5))):
        learner = getattr(event, "learner", learner)
        if isinstance(event, Started | Stepped):
            tables = (learner.model.token_embedding, learner.model.network.position_embedding)
            weights = {k: v.clone() for k, v in learner.model.state_dict().items()}
            seen[learner.step] = (*(table.weight.detach().clone() for table in tables), weights)
    for number, name in enumerate(("generator_token_embedding.weight", "generator.position_embedding.weight")):
        assert torch.equal(seen[6][number], seen[6][2][name])
        assert not torch.equal(seen[12][number], seen[6][number])
    assert all(equal(part(seen[step][2], *GENERATOR), part(seen[6][2], *GENERATOR)) for step in range(7, 13))
