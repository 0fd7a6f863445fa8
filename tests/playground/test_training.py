"""Training: exact to the last bit, resumable at any step, honest about the very batch that trained."""

import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from playground.example import Tokens
from playground.models import grade
from playground.objectives.family.mlm import MLM
from playground.refusal import Refusal
from playground.training import Checkpointed, Evaluated, Started, Stepped, Stopped, checkpoint, train
from playground.training import loop as loop_module
from playground.training.feed import Feed
from playground.training.learner import Learner
from playground.zoo import Recipe
from tests.runs import every_entry, held_out, learner_of, losses, reviews, run_of, tiny

ROOT = Path(__file__).parents[2]
CPU = torch.device("cpu")


def same_weights(one, other):
    first, second = one.state_dict(), other.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


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


# the same seed


@every_entry
def test_the_same_seed_gives_the_same_run_to_the_last_bit(name):
    one, other = (list(train(run_of(name))) for _ in range(2))
    assert losses(one) == losses(other)
    assert len(losses(one)) == 12
    assert held_out(one) == held_out(other)
    assert same_weights(learner_in(one).model, learner_in(other).model)


@every_entry
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


# stop, restart, fork


@every_entry
def test_a_run_goes_on_from_its_checkpoint_as_if_it_had_never_stopped(name, tmp_path):
    whole = list(train(run_of(name)))
    first = list(train(run_of(name, steps=6, out=tmp_path)))
    rest = list(train(run_of(name), checkpoint.load(tmp_path).learner))
    assert losses(first) + losses(rest) == losses(whole)
    assert held_out(rest)[-1] == held_out(whole)[-1]
    assert same_weights(learner_in(rest).model, learner_in(whole).model)
    assert learner_in(rest).tokens == learner_in(whole).tokens


@pytest.mark.parametrize("recipe", [{"optimiser": "adamw"}, {"clip": 0.0}, {"warm_up": 1.0}, {"batch": 7}])
def test_it_goes_on_exactly_whatever_the_recipe(recipe, tmp_path):
    entry = tiny("BERT", {"positions": "learned", "start": "normal"}, **recipe)
    whole = losses(train(run_of(entry=entry)))
    list(train(run_of(entry=entry, steps=5, out=tmp_path)))
    assert losses(train(run_of(entry=entry), checkpoint.load(tmp_path).learner)) == whole[5:]


def test_it_goes_on_exactly_over_the_end_of_an_epoch(tmp_path):
    corpus = reviews(1_000)
    epoch = len(corpus.windows(16).ids) // 8
    whole = losses(train(run_of(corpus=corpus, steps=epoch + 3)))
    list(train(run_of(corpus=corpus, steps=epoch - 1, out=tmp_path)))
    assert losses(train(run_of(corpus=corpus, steps=epoch + 3), checkpoint.load(tmp_path).learner)) == whole[-4:]


ELSEWHERE = """
import sys, torch
from tests.runs import losses, run_of
from playground.training import checkpoint, train
torch.set_num_threads(1)
print(*(loss.hex() for loss in losses(train(run_of("BART"), checkpoint.load(sys.argv[1]).learner))))
"""


def test_it_goes_on_exactly_in_another_process(tmp_path):
    whole = losses(train(run_of("BART")))
    list(train(run_of("BART", steps=6, out=tmp_path)))
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert [float.fromhex(loss) for loss in done.stdout.split()] == whole[6:]


def test_it_goes_on_with_the_knobs_it_began_with(tmp_path):
    entry = tiny(window=12, batch=5)
    whole = losses(train(run_of(entry=entry)))
    list(train(run_of(entry=entry, steps=6, out=tmp_path)))
    assert losses(train(run_of(entry=tiny()), checkpoint.load(tmp_path).learner)) == whole[6:]


def test_another_entry_does_not_go_on_with_a_checkpoint(tmp_path):
    list(train(run_of("BERT", steps=2, out=tmp_path)))
    with pytest.raises(Refusal, match="holds a BERT, not a GPT"):
        list(train(run_of("GPT"), checkpoint.load(tmp_path).learner))


@every_entry
def test_a_fork_without_a_change_is_the_same_run(name, tmp_path):
    list(train(run_of(name, steps=4, out=tmp_path)))
    trunk, fork = (train(run_of(name, steps=8), checkpoint.load(tmp_path).learner) for _ in range(2))
    pairs = list(zip(trunk, fork, strict=True))
    assert losses(a for a, _ in pairs) == losses(b for _, b in pairs)
    assert len(pairs) > 4


def test_a_fork_with_another_rate_parts_after_the_first_changed_step(tmp_path):
    list(train(run_of(steps=4, out=tmp_path)))
    trunk = losses(train(run_of(steps=8), checkpoint.load(tmp_path).learner))
    changed = checkpoint.load(tmp_path).learner
    for optimiser in changed.optimisers:
        for group in optimiser.param_groups:
            group["full_rate"] *= 3
    fork = losses(train(run_of(steps=8), changed))
    assert fork[0] == trunk[0], "the first loss is taken before the first changed update"
    assert all(a != b for a, b in zip(fork[1:], trunk[1:], strict=True))


def test_a_run_that_is_over_trains_no_more_and_says_how_good_it_is(tmp_path):
    whole = list(train(run_of(steps=4, evaluate_every=2, out=tmp_path)))
    again = list(train(run_of(steps=4, evaluate_every=2), checkpoint.load(tmp_path).learner))
    assert losses(again) == []
    assert held_out(again) == held_out(whole)[-1:]
    assert again[-1].reason == "steps"


# events


@every_entry
def test_an_event_carries_the_very_batch_that_trained(name):
    before = None
    for event in train(run_of(name, steps=4)):
        if isinstance(event, Started):
            learner, before = event.learner, deepcopy(event.learner.model)
        if isinstance(event, Stepped):
            loss, terms = grade(before.answers(event.example))
            assert torch.equal(loss.detach(), event.loss)
            assert {k: float(v.detach()) for k, v in terms.items()} == {k: float(v) for k, v in event.terms.items()}
            before = deepcopy(learner.model)


@every_entry
def test_the_batch_of_an_event_is_the_feeds_batch_of_that_step(name):
    run = run_of(name, steps=3)
    feed = Feed.of(run.corpus, 16, 8, run.seed, run.device)
    for event in train(run):
        if isinstance(event, Stepped):
            assert torch.equal(event.example.tokens.ids, feed.at(event.step - 1).ids)


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


@every_entry
def test_evaluation_and_saving_do_not_change_training(name, tmp_path):
    never = list(train(run_of(name, steps=6, evaluate_every=10**6)))
    always = list(train(run_of(name, steps=6, evaluate_every=1, save_every=1, out=tmp_path)))
    assert losses(always) == losses(never)
    assert held_out(always)[0] == held_out(never)[0]
    assert held_out(always)[-1] == held_out(never)[-1]
    assert len(held_out(always)) == 7


@every_entry
def test_evaluation_names_every_question_and_reports_the_first(name):
    event = next(e for e in train(run_of(name, steps=1)) if isinstance(e, Evaluated))
    assert list(event.terms) == [a.question.name for a in answers_of(learner_of(name))]
    assert event.held_out == next(iter(event.terms.values()))


def answers_of(learner):
    return learner.model.answers(learner.example(reviews().windows(16)))


@pytest.mark.parametrize("name", ["BERT", "XLNet", "BART", "ELECTRA"])
def test_the_same_text_is_corrupted_anew_in_every_step(name):
    learner, tokens = learner_of(name), feed_of().at(0)
    first = learner.example(tokens)
    again = learner.example(tokens)
    learner.step = 1
    later = learner.example(tokens)
    assert torch.equal(first.chosen, again.chosen) and torch.equal(first.rank, again.rank)
    assert not (torch.equal(first.chosen, later.chosen) and torch.equal(first.rank, later.rank))


def test_no_step_sees_held_out_text():
    run = run_of(steps=1)
    feed = Feed.of(run.corpus, 16, 8, 0, CPU)
    length = run.corpus.held_out_from // 16 * 16
    assert torch.equal(feed.windows.ids.flatten(), run.corpus.ids[:length])
    assert feed.held_out.ids[0].tolist() == run.corpus.ids[run.corpus.held_out_from :][:16].tolist()


# the feed


def feed_of(corpus=None, batch=8, seed=0):
    return Feed.of(corpus or reviews(1_000), 16, batch, seed, CPU)


def test_a_batch_follows_from_seed_and_step_alone():
    steps = range(30)
    forwards = {step: feed_of().at(step).ids for step in steps}
    feed = feed_of()
    for step in [*reversed(steps), 17, 3, 29, 3]:
        assert torch.equal(feed.at(step).ids, forwards[step])
    assert not torch.equal(feed_of(seed=1).at(0).ids, forwards[0])


def test_every_epoch_reads_every_window_once_in_a_new_order():
    feed = feed_of(batch=7)
    number = len(feed.windows.ids) // 7
    numbered = replace(feed, windows=replace(feed.windows, lengths=torch.arange(len(feed.windows.ids))))
    epochs = [[i for k in range(number) for i in numbered.at(e * number + k).lengths.tolist()] for e in range(3)]
    for epoch in epochs:
        assert len(epoch) == len(set(epoch)) == number * 7
    assert len(set(map(tuple, epochs))) == 3


def test_a_batch_larger_than_the_corpus_is_the_corpus():
    feed = feed_of(batch=512)
    assert feed.batch == len(feed.windows.ids) == len(feed.at(5).ids)


def test_gold_labels_stay_behind_and_every_seed_is_evaluated_on_the_same_rows():
    feed = feed_of(reviews())
    assert reviews().labels
    assert not feed.at(0).labels
    assert torch.equal(feed.evaluation().ids, feed_of(reviews(), seed=5).evaluation().ids)
    assert len(feed.evaluation().ids) == 64


def test_a_corpus_shorter_than_one_window_is_refused_in_a_sentence():
    with pytest.raises(Refusal, match=r"one window of 256 needs 256"):
        list(train(run_of(entry=tiny(window=256), corpus=reviews(1_000))))


# rates and gradients


def test_the_rate_rises_then_falls_to_its_floor():
    recipe = Recipe(steps=100, warm_up=0.1, floor=0.02)
    expected = {0: 0.1, 4: 0.5, 9: 1.0, 10: 1.0, 55: 0.51, 100: 0.02, 5000: 0.02}
    assert {step: recipe.share_at(step) for step in expected} == pytest.approx(expected)
    assert [recipe.share_at(step, falling=False) for step in (0, 9, 10, 5000)] == pytest.approx([0.1, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(("warm_up", "first"), [(0.0, 1.0), (0.5, 1 / 6), (1.0, 1 / 12)])
def test_any_warm_up_starts_above_zero_and_never_passes_the_full_rate(warm_up, first):
    shares = [Recipe(steps=12, warm_up=warm_up, floor=0.0).share_at(step) for step in range(14)]
    assert shares[0] == pytest.approx(first)
    assert max(shares) == 1.0
    assert min(shares) >= 0.0


def test_the_optimisers_use_the_rate_that_the_event_names(used):
    recipe = tiny().recipe
    events = [e for e in train(run_of()) if isinstance(e, Stepped)]
    assert [e.rate for e in events] == [recipe.share_at(step) for step in range(12)]
    wanted = [(full, full * e.rate) for e in events for full in (recipe.matrix_rate, recipe.rate)]
    assert [(full, rate) for full, rate, _ in used] == wanted


def test_with_seconds_alone_the_rate_stays_up():
    events = train(run_of(steps=30, seconds=1e9))
    assert [e.rate for e in events if isinstance(e, Stepped)][2:] == [1.0] * 28


@pytest.mark.parametrize("clip", [0.01, 0.1])
def test_a_long_gradient_is_shortened_to_the_clip(used, clip):
    list(train(run_of(entry=tiny(clip=clip), steps=3)))
    whole = [(a[2] + b[2]) ** 0.5 for a, b in zip(used[::2], used[1::2], strict=True)]
    assert whole == pytest.approx([clip] * 3, rel=1e-3)


def test_no_clip_and_a_clip_beyond_reach_are_the_same():
    assert losses(train(run_of(entry=tiny(clip=0.0)))) == losses(train(run_of(entry=tiny(clip=100.0))))
    assert losses(train(run_of(entry=tiny(clip=0.0)))) != losses(train(run_of(entry=tiny(clip=0.001, rate=0.05))))


@every_entry
@pytest.mark.parametrize("optimiser", ["muon", "adamw"])
def test_every_parameter_belongs_to_exactly_one_optimiser(name, optimiser):
    learner = learner_of(name, optimiser=optimiser)
    owned = [id(p) for o in learner.optimisers for g in o.param_groups for p in g["params"]]
    assert sorted(owned) == sorted(id(p) for p in learner.model.parameters())
    inside = {n for n, p in learner.model.named_parameters() if "blocks" in n and p.dim() == 2}
    names = {id(p): n for n, p in learner.model.named_parameters()}
    muon = [g["params"] for o in learner.optimisers if isinstance(o, torch.optim.Muon) for g in o.param_groups]
    assert {names[id(p)] for params in muon for p in params} == (inside if optimiser == "muon" else set())


@every_entry
def test_every_parameter_learns(name):
    """A part that no loss reaches would sit in the model for nothing; ELECTRA's large network names no words."""
    learner = learner_of(name)
    before = {n: p.detach().clone() for n, p in learner.model.named_parameters()}
    feed = feed_of(reviews())
    for step in range(3):
        learner.learn(feed.at(step))
    still = {n for n, p in learner.model.named_parameters() if torch.equal(p, before[n])}
    assert still == ({"vocabulary.bias"} if name == "ELECTRA" else set())


# nothing to ask


def nothing_but_specials(tokens):
    return replace(tokens, ids=torch.full_like(tokens.ids, tokens.specials.sep))


def test_a_question_without_graded_answers_costs_nothing():
    learner = learner_of("BERT")
    _, loss, terms, _ = learner.learn(nothing_but_specials(feed_of().at(0)))
    assert float(loss) == 0.0
    assert [float(v) for v in terms.values()] == [0.0]


@every_entry
def test_a_batch_without_words_leaves_every_weight_a_number(name):
    learner = learner_of(name)
    learner.learn(nothing_but_specials(feed_of().at(0)))
    _, loss, _, _ = learner.learn(feed_of().at(1))
    assert learner.sound(loss)
    assert all(bool(p.isfinite().all()) for p in learner.model.parameters())


def test_evaluation_without_graded_answers_is_zero_and_not_nan():
    learner = learner_of("BERT")
    assert set(learner.evaluate(nothing_but_specials(feed_of().at(0))).values()) == {0.0}


def test_padding_is_not_counted_as_read():
    learner = learner_of("BERT")
    tokens: Tokens = feed_of().at(0)
    learner.learn(replace(tokens, lengths=torch.tensor([16, 3, 1, 5, 9, 2, 4, 8]), padded=True))
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


def spoil(monkeypatch, at):
    """From one step on the weights are not numbers any more."""
    learn = Learner.learn

    def spoilt(self, tokens, falling=True):
        if self.step + 1 == at:
            with torch.no_grad():
                self.model.table.weight.fill_(float("nan"))
        return learn(self, tokens, falling)

    monkeypatch.setattr(Learner, "learn", spoilt)


@pytest.mark.parametrize(("evaluate_every", "stops"), [(1, 5), (2, 6), (4, 8), (50, 12)])
def test_a_loss_that_is_no_number_ends_the_run_as_diverged(monkeypatch, tmp_path, evaluate_every, stops):
    spoil(monkeypatch, at=5)
    events = list(train(run_of(evaluate_every=evaluate_every, out=tmp_path)))
    assert (events[-1].step, events[-1].reason) == (stops, "diverged")


@pytest.mark.parametrize("evaluate_every", [1, 3, 50])
def test_a_diverged_run_keeps_its_last_good_checkpoint(monkeypatch, tmp_path, evaluate_every):
    spoil(monkeypatch, at=5)
    list(train(run_of(evaluate_every=evaluate_every, save_every=2, out=tmp_path)))
    kept = checkpoint.load(tmp_path).learner
    assert kept.step == 4
    assert all(bool(p.isfinite().all()) for p in kept.model.parameters())


def test_weights_that_are_no_numbers_are_never_saved_even_after_a_finite_loss(monkeypatch, tmp_path):
    learn = Learner.learn

    def spoilt(self, tokens, falling=True):
        done = learn(self, tokens, falling)
        if self.step == 4:
            with torch.no_grad():
                self.model.table.weight[0] = float("inf")
        return done

    monkeypatch.setattr(Learner, "learn", spoilt)
    events = list(train(run_of(save_every=2, steps=4, out=tmp_path)))
    assert events[-1].reason == "diverged"
    assert checkpoint.load(tmp_path).learner.step == 2


# does it learn?


@pytest.mark.parametrize("name", ["BERT", "GPT"])
def test_a_short_run_learns_far_more_than_how_frequent_words_are(name):
    corpus = reviews(120_000)
    entry = tiny(name)
    full = replace(entry, model=replace(entry.model, width=32, heads=4, layers=2), recipe=Recipe(steps=120, batch=32))
    (_, start), (_, end) = held_out(train(run_of(entry=full, corpus=corpus, steps=120, evaluate_every=1000)))
    assert start > corpus.unigram_entropy
    assert end < 0.75 * corpus.unigram_entropy
    if name == "GPT":
        assert end > corpus.entropy_bound - 0.05, "nobody reads from left to right better than the generator itself"


def test_the_objective_in_training_is_the_entrys_own():
    assert learner_of("BERT").objective == MLM.turn({"rate": 0.3})
