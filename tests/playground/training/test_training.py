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

from playground.answers import CooccurrenceTarget, NegativeSampling
from playground.batch import Tokens
from playground.errors import UserError
from playground.models import Architecture, total_loss
from playground.objectives import objectives
from playground.objectives.catalog.mlm import MLM
from playground.training import Checkpointed, Evaluated, Started, Stepped, Stopped, checkpoint, train
from playground.training import data as blocks_module
from playground.training import loop as loop_module
from playground.training.data import BatchSampler, Prefetcher, steps_together
from playground.training.store.metrics import Summary
from playground.training.train_state import TrainState
from playground.zoo import Recipe, entries, entry_for, entry_named
from playground.zoo.electra_two_stage import GENERATOR
from tests.playground.test_slicing import assert_same
from tests.runs import alone, each_kind, held_out, learner_of, losses, reviews, run_of, suited_reviews, tiny

ROOT = Path(__file__).parents[3]
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


@each_kind
def test_the_same_seed_gives_the_same_run_to_the_last_bit(name):
    one, other = (list(train(run_of(name))) for _ in range(2))
    assert losses(one) == losses(other)
    assert len(losses(one)) == 12
    assert held_out(one) == held_out(other)
    assert same_weights(learner_in(one).model, learner_in(other).model)


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


# stop, restart, fork


@each_kind
def test_a_run_goes_on_from_its_checkpoint_as_if_it_had_never_stopped(name, tmp_path):
    whole = list(train(run_of(name)))
    first = list(train(run_of(name, steps=6, out=tmp_path)))
    rest = list(train(run_of(name), checkpoint.load(tmp_path).learner))
    assert losses(first) + losses(rest) == losses(whole)
    assert held_out(rest)[-1] == held_out(whole)[-1]
    assert same_weights(learner_in(rest).model, learner_in(whole).model)
    assert learner_in(rest).tokens == learner_in(whole).tokens


@pytest.mark.parametrize(
    "recipe", [{"optimiser": "adamw"}, {"grad_clip": 0.0}, {"warmup_ratio": 1.0}, {"batch_size": 7}]
)
def test_it_goes_on_exactly_whatever_the_recipe(recipe, tmp_path):
    entry = tiny("RoBERTa", {"positions": "learned", "init": "normal"}, **recipe)
    whole = losses(train(run_of(entry=entry)))
    list(train(run_of(entry=entry, steps=5, out=tmp_path)))
    assert losses(train(run_of(entry=entry), checkpoint.load(tmp_path).learner)) == whole[5:]


def test_it_goes_on_exactly_over_the_end_of_an_epoch(tmp_path):
    corpus = reviews(1_000)
    epoch = len(corpus.windows(16).ids) // 8
    whole = losses(train(run_of(corpus=corpus, steps=epoch + 3)))
    list(train(run_of(corpus=corpus, steps=epoch - 1, out=tmp_path)))
    assert losses(train(run_of(corpus=corpus, steps=epoch + 3), checkpoint.load(tmp_path).learner)) == whole[-4:]


@pytest.fixture
def short_blocks(monkeypatch):
    """Runs draw 32 steps at once."""
    monkeypatch.setattr(blocks_module, "STEPS", 32)


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("stop", [31, 32, 33, 37])
def test_it_goes_on_exactly_within_and_at_the_ends_of_a_block(stop, tmp_path):
    entry = tiny("BART", steps=40, batch_size=2)
    whole = losses(train(run_of(entry=entry, steps=40)))
    list(train(run_of(entry=entry, steps=stop, out=tmp_path)))
    assert losses(train(run_of(entry=entry, steps=40), checkpoint.load(tmp_path).learner)) == whole[stop:]


ELSEWHERE = """
import sys, torch
from tests.runs import losses, run_of
from playground.training import checkpoint, train
torch.set_num_threads(1)
print(*(loss.hex() for loss in losses(train(run_of("BART"), checkpoint.load(sys.argv[1]).learner))))
"""


@pytest.mark.guarded
@pytest.mark.slow
def test_it_goes_on_exactly_in_another_process(tmp_path):
    whole = losses(train(run_of("BART")))
    list(train(run_of("BART", steps=6, out=tmp_path)))
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert [float.fromhex(loss) for loss in done.stdout.split()] == whole[6:]


@pytest.mark.slow
def test_it_goes_on_with_the_knobs_it_began_with(tmp_path):
    entry = tiny(seq_len=12, batch_size=5)
    whole = losses(train(run_of(entry=entry)))
    list(train(run_of(entry=entry, steps=6, out=tmp_path)))
    assert losses(train(run_of(entry=tiny()), checkpoint.load(tmp_path).learner)) == whole[6:]


def test_another_entry_does_not_go_on_with_a_checkpoint(tmp_path):
    list(train(run_of("RoBERTa", steps=2, out=tmp_path)))
    with pytest.raises(UserError, match="holds a RoBERTa, not a GPT"):
        list(train(run_of("GPT"), checkpoint.load(tmp_path).learner))


@each_kind
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


@each_kind
def test_an_event_carries_the_very_batch_that_trained(name):
    before = None
    for event in train(run_of(name, steps=4)):
        if isinstance(event, Started):
            learner, before = event.learner, deepcopy(event.learner.model)
        if isinstance(event, Stepped):
            loss, terms = total_loss(before(event.example))
            assert torch.equal(loss.detach(), event.loss)
            assert {k: float(v.detach()) for k, v in terms.items()} == {k: float(v) for k, v in event.terms.items()}
            before = deepcopy(learner.model)


@each_kind
def test_the_batch_of_an_event_is_the_feeds_batch_of_that_step(name):
    run = run_of(name, steps=3)
    feed = BatchSampler.of(run.corpus, 16, 8, run.seed, run.device, continues=run.entry.continues)
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
    return learner.model(learner.example(reviews().windows(16)))


@pytest.mark.parametrize("name", ["RoBERTa", "XLNet", "BART", "ELECTRA"])
def test_the_same_text_is_corrupted_anew_in_every_step(name):
    learner, tokens = learner_of(name), feed_of().at(0)
    first = learner.example(tokens)
    again = learner.example(tokens)
    learner.step = 1
    later = learner.example(tokens)
    assert torch.equal(first.selected, again.selected) and torch.equal(first.prediction_order, again.prediction_order)
    assert not (
        torch.equal(first.selected, later.selected) and torch.equal(first.prediction_order, later.prediction_order)
    )


def test_no_step_sees_held_out_text():
    run = run_of(steps=1)
    feed = BatchSampler.of(run.corpus, 16, 8, 0, CPU)
    length = run.corpus.held_out_from // 16 * 16
    assert torch.equal(feed.windows.ids.flatten(), run.corpus.ids[:length])
    assert feed.held_out.ids[0].tolist() == run.corpus.ids[run.corpus.held_out_from :][:16].tolist()


# the feed


def feed_of(corpus=None, batch_size=8, seed=0):
    return BatchSampler.of(corpus or reviews(1_000), 16, batch_size, seed, CPU)


def test_a_batch_follows_from_seed_and_step_alone():
    steps = range(30)
    forwards = {step: feed_of().at(step).ids for step in steps}
    feed = feed_of()
    for step in [*reversed(steps), 17, 3, 29, 3]:
        assert torch.equal(feed.at(step).ids, forwards[step])
    assert not torch.equal(feed_of(seed=1).at(0).ids, forwards[0])


def test_every_epoch_reads_every_window_once_in_a_new_order():
    feed = feed_of(batch_size=7)
    number = len(feed.windows.ids) // 7
    numbered = replace(feed, windows=replace(feed.windows, lengths=torch.arange(len(feed.windows.ids))))
    epochs = [[i for k in range(number) for i in numbered.at(e * number + k).lengths.tolist()] for e in range(3)]
    for epoch in epochs:
        assert len(epoch) == len(set(epoch)) == number * 7
    assert len(set(map(tuple, epochs))) == 3


def test_a_batch_larger_than_the_corpus_is_the_corpus():
    feed = feed_of(batch_size=512)
    assert feed.batch_size == len(feed.windows.ids) == len(feed.at(5).ids)


def test_gold_labels_stay_behind_and_every_seed_is_evaluated_on_the_same_rows():
    feed = feed_of(reviews())
    assert reviews().labels
    assert not feed.at(0).labels
    assert torch.equal(feed.evaluation().ids, feed_of(reviews(), seed=5).evaluation().ids)
    assert len(feed.evaluation().ids) == 64


def test_a_corpus_shorter_than_one_window_is_refused_in_a_sentence():
    with pytest.raises(UserError, match=r"one window of 256 needs 256"):
        list(train(run_of(entry=tiny(seq_len=256), corpus=reviews(1_000))))


def test_batches_of_many_steps_stand_one_below_the_other():
    feed = feed_of()
    number = len(feed.windows.ids) // 8
    first, last = number - 2, number + 3
    whole = feed.between(first, last)
    for place, step in enumerate(range(first, last)):
        one = feed.at(step)
        for name in ("ids", "lengths", "word_ids", "sentence_ids", "example_ids", "epoch"):
            assert torch.equal(getattr(whole, name)[8 * place : 8 * place + 8], getattr(one, name))


def test_every_text_says_which_it_is_and_how_often_it_was_read():
    feed = feed_of(batch_size=7)
    number = len(feed.windows.ids) // 7
    for step in (0, number - 1, number, 3 * number + 1):
        tokens = feed.at(step)
        assert tokens.epoch.tolist() == [step // number] * 7
        assert torch.equal(feed.windows.ids[tokens.example_ids], tokens.ids)
    tested = feed.evaluation()
    assert set(tested.epoch.tolist()) == {0}
    assert not set(tested.example_ids.tolist()) & set(feed.windows.example_ids.tolist())


def test_a_batch_knows_how_often_the_training_part_holds_every_word():
    corpus = reviews(1_000)
    seen = corpus.ids[: corpus.held_out_from].tolist()
    for tokens in (feed_of().at(3), feed_of().evaluation()):
        assert tokens.word_counts.tolist() == [seen.count(k) for k in range(len(corpus.tokenizer))]


# second texts and labels


NSP, SOP, TLM = (objectives()[name] for name in ("NSP", "SOP", "TLM"))


def feed_for(objective, seed=0):
    return BatchSampler.of(suited_reviews(objective), 16, 8, seed, CPU, objective.needs)


def test_an_objective_of_pairs_is_fed_with_pairs():
    corpus, feed = suited_reviews(NSP), feed_for(NSP, seed=5)
    assert set(feed.at(0).neighbours) == {"next", "other"}
    assert feed.at(0).padded
    assert torch.equal(feed.windows.ids, corpus.pairs(16, "train", 5).ids)
    assert torch.equal(feed.held_out.ids, corpus.pairs(16, "held_out", 0).ids), "the same rows for every seed"
    batch = feed.at(2)
    known = corpus.pairs(16, "train", 5).neighbours
    for name, other in batch.neighbours.items():
        assert torch.equal(other.ids, known[name].ids[batch.example_ids])


def test_only_the_labels_that_are_needed_are_fed():
    assert suited_reviews(NSP).labels
    assert not feed_for(NSP).at(0).labels
    assert not feed_for(NSP).at(0).neighbours["next"].labels
    tokens = feed_for(TLM).at(0)
    assert (set(tokens.labels), set(tokens.neighbours["translation"].labels)) == ({"language"}, {"language"})
    tagging = replace(MLM, needs=("label:colour",))
    assert set(feed_for(tagging).at(0).labels) == {"colour"}


def test_a_label_that_a_corpus_lacks_is_refused_before_the_run():
    entry = replace(tiny(), objective=replace(MLM, needs=("label:colour",)))
    with pytest.raises(UserError, match=r"does not know the label 'colour' of its words; its labels are: \w+"):
        next(train(run_of(entry=entry, corpus=reviews())))


def test_padding_of_pairs_is_not_counted_as_read():
    steps = [e for e in train(run_of(entry=alone(NSP), corpus=suited_reviews(NSP), steps=3)) if isinstance(e, Stepped)]
    lengths = [int(e.example.tokens.valid.sum()) for e in steps]
    assert steps[-1].tokens == sum(lengths) < 3 * 8 * 16 + 1


# every objective by its name

every_objective = pytest.mark.parametrize("name", list(objectives()))


@every_objective
def test_any_objective_of_the_catalogue_can_be_trained_and_goes_on_exactly(name, tmp_path):
    objective = objectives()[name]
    entry, corpus = alone(objective), suited_reviews(objective)
    whole = list(train(run_of(entry=entry, corpus=corpus, steps=4)))
    assert whole[-1].reason == "steps"
    list(train(run_of(entry=entry, corpus=corpus, steps=2, out=tmp_path)))
    saved = checkpoint.load(tmp_path)
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


@each_kind
def test_an_entry_of_the_zoo_has_all_its_parts_already(name):
    assert learner_in(train(run_of(name))).entry == tiny(name)


def test_an_objective_stands_for_an_entry_where_no_entry_has_its_name():
    assert entry_named("bert") is entries()["BERT"]
    assert entry_named("next sentence prediction").objective is NSP
    assert entry_named("LM").model == Architecture(attention="left to right")
    assert (entry_for(SOP).name, entry_for(SOP).year, entry_for(SOP).corpus) == ("SOP", 2019, "world")
    assert entry_for(TLM).corpus == "parallel"
    assert entry_named("LM").year in range(1948, 2030)
    with pytest.raises(UserError, match="There is no entry named 'nothing'"):
        entry_named("nothing")


# blocks of steps


def blocks_of(name="BART", steps=32, seed=0):
    learner = learner_of(name, seed)
    return Prefetcher(BatchSampler.of(reviews(), 16, 8, seed, CPU), learner, steps)


@pytest.mark.parametrize("name", ["GPT", "RoBERTa", "XLNet", "BART"])
def test_an_example_follows_from_seed_and_step_wherever_a_run_begins(name):
    forwards = blocks_of(name)
    known = {step: forwards.at(step) for step in range(70)}
    backwards = blocks_of(name)
    for step in (69, 64, 63, 40, 32, 31, 5, 0, 69):
        assert_same(backwards.at(step), known[step])
        assert_same(blocks_of(name).at(step), known[step])
    assert not torch.equal(blocks_of(name, seed=1).at(0).tokens.ids, known[0].tokens.ids)


def test_the_steps_of_a_block_are_corrupted_apart_and_so_are_the_blocks():
    blocks = blocks_of("RoBERTa")
    feed = replace(blocks.feed, windows=replace(blocks.feed.windows, ids=blocks.feed.windows.ids[:1].repeat(800, 1)))
    seen = [replace(blocks, feed=feed).at(step).selected for step in range(64)]
    assert len({tuple(chosen.flatten().tolist()) for chosen in seen}) == 64


@pytest.mark.usefixtures("short_blocks")
def test_a_block_is_drawn_once(monkeypatch):
    drawn = []
    example = TrainState.example

    def counted(self, tokens, *path):
        drawn.append((path, len(tokens.ids)))
        return example(self, tokens, *path)

    monkeypatch.setattr(TrainState, "example", counted)
    list(train(run_of(entry=tiny(batch_size=2, steps=40), steps=40)))
    assert drawn == [(("block", 0), 64), (("block", 1), 64)]


def test_a_generator_proposes_with_the_weights_of_the_step():
    run = run_of("ELECTRA", steps=4)
    feed = BatchSampler.of(run.corpus, 16, 8, 0, CPU)
    learner = learner_of("ELECTRA")
    for event in train(run):
        if isinstance(event, Stepped):
            assert_same(event.example, learner.example(feed.at(learner.step)))
            learner.learn(event.example)


def test_what_looks_at_a_whole_batch_or_fills_the_memory_is_drawn_in_shorter_blocks():
    feed = feed_of()
    example = learner_of("RoBERTa").example(feed.at(0))
    assert steps_together(MLM, [example], feed) == 256
    question = example.questions[0]
    wrong = replace(question, kind=NegativeSampling(torch.full((*question.targets.shape, 5), -1)))
    assert steps_together(MLM, [replace(example, questions=(question, wrong))], feed) == 32
    pairs = replace(example, questions=(replace(question, kind=CooccurrenceTarget(torch.ones_like(question.targets))),))
    assert steps_together(MLM, [pairs], feed) == 1
    assert steps_together(MLM, [replace(example, auxiliary=(pairs,))], feed) == 1
    assert steps_together(objectives()["RTD"], [example], feed)
    assert steps_together(objectives()["UniLM"], [example], feed) == 1 == 1
    wide = SimpleNamespace(batch_size=512, windows=SimpleNamespace(ids=torch.zeros(1, 256)))
    assert steps_together(MLM, [example], wide) == blocks_module.MOST // (512 * 256) == 2
    assert steps_together(MLM, [example], SimpleNamespace(batch_size=4096, windows=wide.windows)) == 1


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


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


@pytest.mark.parametrize("optimiser", ["muon", "adamw"])
def test_the_generator_learns_alone_then_the_detector_begins_as_its_copy_and_the_generator_is_frozen(optimiser):
    seen = weights_after(run_of(entry=staged(optimiser=optimiser)))
    for step in range(6):
        assert not equal(part(seen[step], "generator"), part(seen[step + 1], "generator"))
        assert equal(part(seen[step], "network", "rtd_head"), part(seen[0], "network", "rtd_head"))
    copied = {k.removeprefix("network."): v for k, v in part(seen[6], "network").items()}
    assert equal(copied, {k.removeprefix("generator."): v for k, v in part(seen[6], "generator").items()})
    for step in range(7, 13):
        assert equal(part(seen[step], *GENERATOR), part(seen[6], *GENERATOR)), "bit for bit"
        assert not equal(part(seen[step], "network"), part(seen[step - 1], "network"))
        assert not equal(part(seen[step], "rtd_head"), part(seen[step - 1], "rtd_head"))


def test_what_an_event_shows_is_what_trained_in_its_stage():
    events = list(train(run_of(entry=staged(), evaluate_every=3)))
    terms = [list(e.terms) for e in events if isinstance(e, Stepped)]
    assert terms == [["hidden words"]] * 6 + [["replaced?"]] * 6
    networks = [e.example.network for e in events if isinstance(e, Stepped)]
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
    shape = {"generator_ratio": 1.0, "positions": "learned"}
    seen = weights_after(run_of(entry=tiny("ELECTRA", shape, generator_first=0.5)))
    name = "network.position_embedding.weight"
    assert all(not torch.equal(seen[step][name], seen[step + 1][name]) for step in range(6))
    assert all(torch.equal(seen[step][name], seen[6][name]) for step in range(7, 13))


ONE_NETWORK = tiny("ELECTRA", {"generator_ratio": 1.0, "tie_generator": "all"}, generator_first=0.5)
NARROW = tiny("ELECTRA", {"width": 32}, generator_first=0.5)
NO_GENERATOR = tiny("RoBERTa", generator_first=0.25)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (NARROW, r"the generator is 16 wide and the detector 32\. Set generator_ratio to 1\."),
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
    assert {step: recipe.lr_multiplier(step) for step in expected} == pytest.approx(expected)
    assert [recipe.lr_multiplier(step, falling=False) for step in (0, 9, 10, 5000)] == pytest.approx(
        [0.1, 1.0, 1.0, 1.0]
    )


@pytest.mark.parametrize(("warm_up", "first"), [(0.0, 1.0), (0.5, 1 / 6), (1.0, 1 / 12)])
def test_any_warm_up_starts_above_zero_and_never_passes_the_full_rate(warm_up, first):
    shares = [Recipe(steps=12, warmup_ratio=warm_up, min_lr_ratio=0.0).lr_multiplier(step) for step in range(14)]
    assert shares[0] == pytest.approx(first)
    assert max(shares) == 1.0
    assert min(shares) >= 0.0


def test_the_optimisers_use_the_rate_that_the_event_names(used):
    recipe = tiny().recipe
    events = [e for e in train(run_of()) if isinstance(e, Stepped)]
    assert [e.rate for e in events] == [recipe.lr_multiplier(step) for step in range(12)]
    wanted = [(full, full * e.rate) for e in events for full in (recipe.muon_lr, recipe.lr)]
    assert [(full, rate) for full, rate, _ in used] == wanted


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
    inside = {n for n, p in learner.model.named_parameters() if "blocks" in n and p.dim() == 2}
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
        learner.learn(learner.example(feed.at(step)))
    still = {n for n, p in learner.model.named_parameters() if torch.equal(p, before[n])}
    assert still == ({"lm_head.bias"} if name == "ELECTRA" else set())


# nothing to ask


def nothing_but_specials(tokens):
    return replace(tokens, ids=torch.full_like(tokens.ids, tokens.specials.sep))


def test_a_question_without_graded_answers_costs_nothing():
    learner = learner_of("RoBERTa")
    _, loss, terms, _ = learner.learn(learner.example(nothing_but_specials(feed_of().at(0))))
    assert float(loss) == 0.0
    assert [float(v) for v in terms.values()] == [0.0]


@each_kind
def test_a_batch_without_words_leaves_every_weight_a_number(name):
    learner = learner_of(name)
    learner.learn(learner.example(nothing_but_specials(feed_of().at(0))))
    _, loss, _, _ = learner.learn(learner.example(feed_of().at(1)))
    assert learner.sound(loss)
    assert all(bool(p.isfinite().all()) for p in learner.model.parameters())


def test_evaluation_without_graded_answers_is_zero_and_not_nan():
    learner = learner_of("RoBERTa")
    assert set(learner.evaluate(nothing_but_specials(feed_of().at(0))).values()) == {0.0}


def test_padding_is_not_counted_as_read():
    learner = learner_of("RoBERTa")
    tokens: Tokens = feed_of().at(0)
    learner.learn(learner.example(replace(tokens, lengths=torch.tensor([16, 3, 1, 5, 9, 2, 4, 8]), padded=True)))
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
    learn = TrainState.learn

    def spoilt(self, tokens, falling=True):
        if self.step + 1 == at:
            with torch.no_grad():
                self.model.token_embedding.weight.fill_(float("nan"))
        return learn(self, tokens, falling)

    monkeypatch.setattr(TrainState, "learn", spoilt)


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
    learn = TrainState.learn

    def spoilt(self, tokens, falling=True):
        done = learn(self, tokens, falling)
        if self.step == 4:
            with torch.no_grad():
                self.model.token_embedding.weight[0] = float("inf")
        return done

    monkeypatch.setattr(TrainState, "learn", spoilt)
    events = list(train(run_of(save_every=2, steps=4, out=tmp_path)))
    assert events[-1].reason == "diverged"
    assert checkpoint.load(tmp_path).learner.step == 3


# does it learn?


@pytest.mark.slow
@pytest.mark.parametrize("name", ["RoBERTa", "GPT"])
def test_a_short_run_learns_far_more_than_how_frequent_words_are(name):
    corpus = reviews(120_000)
    entry = tiny(name)
    full = replace(
        entry, model=replace(entry.model, width=32, heads=4, layers=2), recipe=Recipe(steps=160, batch_size=32)
    )
    (_, start), (_, end) = held_out(train(run_of(entry=full, corpus=corpus, steps=160, evaluate_every=1000)))
    assert start > corpus.unigram_entropy
    assert end < 0.75 * corpus.unigram_entropy
    if name == "GPT":
        assert end > corpus.entropy_bound - 0.05, "nobody reads from left to right better than the generator itself"


def test_the_objective_in_training_is_the_entrys_own():
    assert learner_of("RoBERTa").objective == MLM.turn({"mask_ratio": 0.3})
