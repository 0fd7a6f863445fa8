"""Fine-tuning: plans with a shape, trials that share everything but the strategy, verdicts that know the noise."""

import importlib
import json
import pickle
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import pytest
import torch
from numpy.random import default_rng
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.func import functional_call
from torch.nn.functional import gelu
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import verdicts
from playground.errors import UserError
from playground.finetuning import (
    Comparison,
    PaintedCell,
    Strategy,
    TrialEvent,
    difference,
    find_strategy,
    find_task,
    strategies,
)
from playground.finetuning.comparing.budget_matching import cost, held
from playground.finetuning.comparing.compare import compare, judge_curve
from playground.finetuning.comparing.significance import (
    adjusted,
    at_chance,
    critical,
    describe_power,
    judge,
    p_value,
    power,
    seeds_needed,
    smallest_lead,
)
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data import prompting
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.input_format import PLAIN
from playground.finetuning.data.prompting import Prompt
from playground.finetuning.run import trainer
from playground.finetuning.run import trials as running
from playground.finetuning.run.base import Text, from_checkpoint
from playground.finetuning.run.measure import Result
from playground.finetuning.run.trainer import HEAD, Base, FinetuneConfig, Finetuner, new_head, numbered
from playground.finetuning.run.trials import TrialData
from playground.finetuning.run.tune import StepEvent, tune
from playground.finetuning.strategy.compose import compose, unlike
from playground.finetuning.strategy.head import Head, check_writing
from playground.finetuning.strategy.losses import StepContext, WeightAverage
from playground.finetuning.strategy.plasticity import (
    Discriminative,
    FromTheTop,
    Product,
    SlantedTriangle,
    everything,
    head_only,
)
from playground.finetuning.strategy.semi_supervised import AdversarialFGM, half_hidden
from playground.models.adapters import (
    IA3,
    PAL,
    TARGETS,
    Adapter,
    LoRA,
    PrefixTuning,
    PromptTuning,
    VeRA,
    attach,
    linears,
)
from playground.models.transformer import FULL, SdpaMask
from playground.training import train
from playground.training.checkpoint import Checkpoint, CorpusInfo
from playground.training.data import BatchSampler
from playground.training.parallel.seeds import spread
from playground.zoo.preset import FAST
from tests.runs import each_kind, learner_of, reviews, run_of, tiny

SENTIMENT = find_task("sentiment")
TWO = SENTIMENT.answer
SETTING = FinetuneConfig(steps=6, batch_size=4)
CPU = torch.device("cpu")


@cache
def base_of(entry="RoBERTa"):
    learner = learner_of(entry)
    feed = BatchSampler.of(reviews(), 16, 8, 0, CPU)
    for step in range(3):
        learner.learn(learner.batch(feed.at(step)))
    return Base(learner, feed.evaluation(8))


@cache
def texts(split="train", count=24, seed=0):
    return SENTIMENT.load(reviews().tokenizer, count, seed, split)


@cache
def tuned(strategy, entry="RoBERTa", setting=SETTING, seed=0):
    return tuple(tune(base_of(entry), strategy, texts(), texts("test"), setting, seed))


THREE = ("feature-based", "full", "gradual unfreezing")


def compared(names=THREE, base=None, **values):
    chosen = [find_strategy(name) for name in names]
    spec = ComparisonSpec(**{"strategies": (), "train_sizes": (8,), "seeds": 2, "steps": 6} | values)
    return compare(base or base_of(), reviews().tokenizer, spec, chosen=chosen, batch_size=4)


# plans


GROUPS = ("embeddings", "layer 1", "layer 2", "layer 3", HEAD)


def test_gradual_unfreezing_thaws_one_more_group_in_each_phase_from_the_top():
    """Figures of ULMFiT's schedule (arXiv:1801.06146, sec. 3.3): the last layer first, then the next lower one."""
    plan = FromTheTop()(GROUPS, 10)
    assert plan.sum(dim=0).tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert plan[-1].tolist() == [1] * 10
    assert plan[0].tolist() == [0] * 8 + [1] * 2
    assert FromTheTop(0.5)(GROUPS, 10).sum(dim=0).tolist() == [1, 2, 3, 4, 5, 5, 5, 5, 5, 5], "then all to the end"


@pytest.mark.parametrize("groups", [1, 2, 5])
@pytest.mark.parametrize("steps", [5, 6, 17, 80])
def test_what_has_thawed_stays_thawed_and_lies_above_what_is_frozen(groups, steps):
    plan = FromTheTop()(GROUPS[-groups:], steps)
    assert set(plan.unique().tolist()) <= {0.0, 1.0}
    assert bool((plan.diff(dim=1) >= 0).all()), "nothing freezes again"
    assert bool((plan.diff(dim=0) >= 0).all()), "nothing thaws before what stands above it"
    assert bool(plan[:, -1].all()), "in the end everything has thawed"
    begins = (plan == 0).sum(dim=1).flip(0)
    assert begins.tolist() == [-(-k * steps // groups) for k in range(groups)], "phases of equal length"


def test_a_plan_of_the_wrong_shape_is_noticed():
    wrong = Strategy("wrong", "", "", lambda groups, steps: torch.ones(len(groups), steps + 1))
    with pytest.raises(AssertionError, match=r"wrong plans \(5, 4\)"):
        wrong.plan(GROUPS, 3)


def made_up(rows, rate=4e-3):
    """A strategy of a person's own: one multiplier for each step, the same for all groups but the head."""

    def plan(groups, steps):
        body = torch.tensor(rows).expand(len(groups) - 1, steps)
        return torch.cat([body, torch.ones(1, steps)])

    return Strategy("made up", "", "", plan, rate)


def test_a_plan_may_freeze_again_and_momentum_does_not_move_what_is_frozen(monkeypatch):
    copies = []
    make = trainer.parameters

    def parameters(model, *rest):
        copies.append(model)
        return make(model, *rest)

    monkeypatch.setattr(trainer, "parameters", parameters)
    events = tune(base_of(), made_up([1.0, 1.0, 0.0, 0.0, 0.5, 0.0]), texts(), texts("test"), SETTING, 0)
    weights = [
        {k: v.detach().clone() for k, v in copies[0].network.encoder.named_parameters()}
        for event in events
        if isinstance(event, StepEvent)
    ]
    same = [all(torch.equal(a[k], b[k]) for k in a) for a, b in pairwise(weights)]
    assert same == [False, True, True, False, True]


def test_a_plan_may_begin_with_everything_frozen():
    nothing = Strategy("nothing", "", "", lambda groups, steps: torch.zeros(len(groups), steps))
    *steps, outcome = tuned(nothing)
    assert len(steps) == 6
    assert (outcome.trainable, outcome.stored, outcome.forgetting, set(outcome.moved)) == (0, 0, 0.0, {0.0})


def test_half_the_multiplier_is_half_the_rate():
    half, whole = (tuned(made_up([m] * 6, rate=r))[-1] for m, r in ((0.5, 8e-3), (1.0, 4e-3)))
    assert torch.equal(half.rates[:-1], whole.rates[:-1])
    assert torch.equal(half.rates[-1], 2 * whole.rates[-1])


# what is trained


@each_kind
def test_feature_based_trains_exactly_the_head_and_forgets_exactly_nothing(name):
    outcome = tuned(find_strategy("feature-based"), name)[-1]
    width = base_of(name).learner.model.shape.features_width
    assert outcome.trainable == outcome.stored == width * 2 + 2
    assert outcome.forgetting == 0.0
    assert set(outcome.moved) == {0.0}


@each_kind
def test_full_trains_all_that_reading_a_text_needs(name):
    model = base_of(name).learner.model
    words = model.network.characters or model.token_embedding
    stacks = [network.encoder for network in model.networks]
    reading = sum(p.numel() for part in (words, *stacks) for p in part.parameters())
    around = ("position_embedding", "segment_embedding", "ln_embedding", "embedding_projection")
    reading += sum(p.numel() for n, p in model.network.named_parameters() if n.split(".")[0] in around)
    outcome = tuned(find_strategy("full"), name)[-1]
    assert outcome.trainable == reading + model.shape.features_width * 2 + 2
    assert outcome.groups == ("embeddings", "encoder layer 1", HEAD), "the last norm belongs to its layer"


def test_gradual_unfreezing_counts_only_what_ever_thaws():
    short = tuned(find_strategy("gradual unfreezing"), setting=FinetuneConfig(steps=2, batch_size=4))[-1]
    full = tuned(find_strategy("full"))[-1]
    never = [g for g, row in zip(short.groups, short.plan, strict=True) if not bool(row.any())]
    assert "embeddings" in never
    assert short.trainable < full.trainable
    assert tuned(find_strategy("gradual unfreezing"))[-1].trainable == full.trainable


@each_kind
def test_forgetting_is_the_rise_of_the_models_own_pre_training_loss(name):
    """ELECTRA's own question is the detector's; its generator is not what is fine-tuned."""

    def top(groups, steps):
        return (torch.arange(len(groups)) >= 1).float()[:, None].expand(-1, steps)

    outcome = tuned(Strategy("top", "", "", top), name)[-1]
    assert outcome.groups[1] == "encoder layer 1"
    assert outcome.forgetting != 0.0


def test_gradient_disentangled_word_vectors_are_fine_tuned_as_their_sums():
    """The discriminator is fine-tuned; its tables are plain ones there, and the run that it came from keeps its own."""
    trained = learner_of("DeBERTaV3")
    trained.learn(trained.batch(BatchSampler.of(reviews(), 16, 8, 0, CPU).at(0)))
    assert bool(trained.model.token_embedding.delta.any())
    base, tokens = Base(trained, base_of("DeBERTaV3").held_out), texts().tokens
    merged = base.learner.model
    assert merged.shape == base.learner.entry.model and merged.shape.tie_generator == "none"
    assert "token_embedding.weight" in dict(merged.named_parameters())
    torch.testing.assert_close(merged.features(tokens), trained.model.features(tokens))
    assert base.pretraining_loss(base.learner) == pytest.approx(trained.pretraining_loss(base.measured))
    for strategy in ("full", "L2-SP"):
        outcome = tuned(find_strategy(strategy), "DeBERTaV3")[-1]
        assert outcome.forgetting != 0.0 and 0 <= outcome.accuracy <= 1


@cache
def learnt_base():
    """A learner that has read enough to have something to forget."""
    started, *_ = train(run_of(entry=FAST(tiny(steps=100, batch_size=32)), corpus=reviews(60_000), steps=100))
    return Base(started.learner, base_of().held_out)


@pytest.mark.guarded
@pytest.mark.slow
def test_a_pre_trained_model_learns_the_task_from_64_labels():
    base = learnt_base()
    *_, outcome = tune(base, find_strategy("full"), texts(count=64), texts("test", 200), FinetuneConfig(60, 16), 0)
    assert outcome.accuracy > 0.65


# the task


def test_texts_are_padded_with_their_true_lengths():
    loaded = texts()
    words, labels = zip(*((item.texts[0], item.right) for item in SENTIMENT.items(24, 0, "train")), strict=True)
    assert loaded.tokens.lengths.tolist() == [len(w) for w in words]
    assert loaded.labels.tolist() == list(labels)
    vocabulary = reviews().tokenizer.words
    rows = zip(loaded.tokens.ids.tolist(), words, strict=True)
    assert [[vocabulary[i] for i in row[: len(text)]] for row, text in rows] == list(words)
    assert bool((loaded.tokens.ids[~loaded.tokens.valid] == loaded.tokens.specials.pad).all())


@pytest.mark.parametrize("count", [0, -3, 50_000])
def test_a_number_of_labels_that_cannot_be_is_refused(count):
    with pytest.raises(UserError):
        SENTIMENT.load(reviews().tokenizer, count, 0, "train")


def test_labelled_texts_move_to_a_device_as_a_whole():
    moved = texts().to(torch.device("meta"))
    assert isinstance(moved, Dataset)
    assert {moved.labels.device.type, moved.tokens.ids.device.type, moved.tokens.lengths.device.type} == {"meta"}


@pytest.mark.parametrize(("number", "size"), [(5, 4), (24, 16), (2, 16), (16, 16)])
def test_every_labelled_text_is_read_once_before_any_is_read_again(number, size):
    labelled = replace(texts(count=number), labels=torch.arange(number))
    drawn = [i for step in range(10) for i in trainer._draw(labelled, size, 0, step).labels.tolist()]
    for first in range(0, len(drawn) - number + 1, number):
        assert sorted(drawn[first : first + number]) == list(range(number))


# side by side


def test_all_strategies_of_a_seed_share_texts_batches_and_head(monkeypatch):
    subsets, heads, batches = [], [], []
    real_tune, real_head, real_draw = tune, trainer.new_head, trainer._draw

    def tuning(base, strategy, train, test, setting, seed):
        subsets.append((strategy.name, seed, train.tokens.ids.tolist(), test.tokens.ids.tolist()))
        yield from real_tune(base, strategy, train, test, setting, seed)

    def head(model, answer, seed, *reads):
        made = real_head(model, answer, seed, *reads)
        heads.append((seed, made.score.weight.tolist()))
        return made

    def draw(train, size, seed, step):
        batch = real_draw(train, size, seed, step)
        batches.append((seed, step, batch.tokens.ids.tolist()))
        return batch

    monkeypatch.setattr(importlib.import_module("playground.finetuning.run.trials"), "tune", tuning)
    monkeypatch.setattr(trainer, "new_head", head)
    monkeypatch.setattr(trainer, "_draw", draw)
    list(compared(seed=5))
    assert [(name, seed) for name, seed, _, _ in subsets] == [(n, s) for s in (5, 6) for n in THREE]
    for seed in (5, 6):
        assert len({str(train) for _, s, train, _ in subsets if s == seed}) == 1
        assert len({str(weights) for s, weights in heads if s == seed}) == 1
        for step in range(SETTING.steps):
            assert len({str(ids) for s, k, ids in batches if (s, k) == (seed, step)}) == 1
        assert len({str(test) for _, s, _, test in subsets if s == seed}) == 1, "everybody takes the same test"
    assert len({str(train) for _, _, train, _ in subsets}) == 2, "another seed has other texts"
    assert len({str(weights) for _, weights in heads}) == 2, "and another head"
    assert len({str(test) for _, _, _, test in subsets}) == 2, "another for each seed, so the noise holds its luck"


def test_a_fresh_head_does_not_depend_on_what_ran_before():
    model = base_of().learner.model
    first = new_head(model, TWO, 3).score.weight
    torch.rand(5)
    assert torch.equal(new_head(model, TWO, 3).score.weight, first)
    assert not torch.equal(new_head(model, TWO, 4).score.weight, first)


def test_every_event_says_whose_it_is_and_the_last_sums_up():
    events = list(compared())
    assert isinstance(events[-1], Comparison)
    assert all(isinstance(e, TrialEvent) for e in events[:-1])
    kinds = [(e.strategy.name, e.seed, type(e.event)) for e in events[:-1]]
    one_trial = [StepEvent] * SETTING.steps + [Result]
    assert kinds == [(name, seed, kind) for seed in (0, 1) for name in THREE for kind in one_trial]
    for name, outcomes in events[-1].outcomes.items():
        trials = [e.event for e in events[:-1] if e.strategy.name == name and isinstance(e.event, Result)]
        assert tuple(trials) == outcomes


def numbers(comparison):
    """All that must not depend on the clock."""
    facts = comparison.facts()
    return [{k: v for k, v in s.items() if k != "seconds"} for s in facts["strategies"]] + [facts["verdict"]]


def test_the_same_seeds_give_the_same_comparison_in_whatever_order():
    one, other = (list(compared())[-1] for _ in range(2))
    assert numbers(one) == numbers(other)
    turned = list(compared(("gradual unfreezing", "feature-based", "full")))[-1]
    assert [s["name"] for s in turned.facts()["strategies"]] == ["gradual unfreezing", "feature-based", "full"]
    by_name = {s["name"]: s["accuracy"] for s in turned.facts()["strategies"]}
    assert by_name == {s["name"]: s["accuracy"] for s in one.facts()["strategies"]}


def test_a_trial_does_not_depend_on_the_other_trials():
    alone = list(compared(("full",), seeds=1, seed=1))[-1].outcomes["full"][0]
    among = list(compared())[-1].outcomes["full"][1]
    assert (alone.accuracy, alone.forgetting, alone.moved) == (among.accuracy, among.forgetting, among.moved)


def test_what_travels_to_a_worker_gives_the_very_same_numbers_there():
    names = ("layer mix", "EWC", "gradual unfreezing", "adapters", "replay", "R-Drop", "FreeLB", "mixout")
    base = replace(base_of(), rehearsal=Text(base_of().held_out), memory={})
    work = TrialData(base, {(8, k): texts(count=8, seed=k) for k in (0, 1)}, dict.fromkeys((0, 1), texts("test")))
    travelled = pickle.loads(pickle.dumps(work))
    for name in reversed(names):
        for seed in (1, 0):
            job = running.Trial(find_strategy(name), seed, 8, SETTING)
            there, here = running.events_of(travelled, job)[-1].event, list(work.run(job))
            other = here[-1].event
            for what in ("accuracy", "forgetting", "plugged_in", "moved", "shares"):
                assert getattr(there, what) == getattr(other, what), (name, seed, what)


@pytest.mark.guarded
@pytest.mark.slow
def test_a_worker_process_gives_the_very_same_numbers():
    one, other = (list(compared(("layer mix", "full"), workers=w)) for w in (1, 2))
    assert [(e.seed, type(e.event)) for e in one[:-1]] == [(e.seed, type(e.event)) for e in other[:-1]]
    assert numbers(one[-1]) == numbers(other[-1])


def test_the_promised_facts_are_there_and_are_plain_data():
    facts = json.loads(json.dumps(list(compared())[-1].facts()))
    assert {"task", "labels", "seeds", "seconds", "strategies"} <= set(facts)
    assert (facts["task"], facts["labels"], facts["seeds"]) == ("sentiment", 8, 2)
    assert facts["seconds"] > 0
    for strategy in facts["strategies"]:
        assert {"name", "accuracy", "forgetting", "trainable", "stored", "seconds"} <= set(strategy)
        for what in ("accuracy", "forgetting"):
            assert set(strategy[what]) == {"mean", "sd", "values"}
            assert len(strategy[what]["values"]) == 2
        assert isinstance(strategy["trainable"], int)
        assert isinstance(strategy["stored"], int)
        assert len(strategy["plan"]) == len(strategy["groups"]) == len(strategy["moved"])
        assert {len(row) for row in strategy["plan"]} == {SETTING.steps}


def test_spread_is_the_mean_and_the_sample_deviation():
    assert spread([0.5, 0.7, 0.9]) == {"mean": pytest.approx(0.7), "sd": pytest.approx(0.2), "values": [0.5, 0.7, 0.9]}
    assert spread([0.5]) == {"mean": 0.5, "sd": 0.0, "values": [0.5]}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"train_sizes": ()}, "train_size is empty"),
        ({"train_sizes": (8, 1)}, "train_size is 1; it must lie between 2 and 1000000 labelled texts"),
        ({"train_sizes": (-4,)}, "train_size is -4"),
        ({"seeds": 0}, "seeds is 0"),
        ({"seeds": 1001}, "seeds is 1001"),
        ({"steps": 0}, "steps is 0"),
        ({"steps": 100_001}, "steps is 100001"),
        ({"steps": True}, "steps is True; it must be a whole number"),
        ({"names": ()}, "No strategy"),
        ({"workers": 0}, "workers is 0"),
        ({"workers": 257}, "workers is 257"),
        ({"input_format": "rows"}, "no input format named 'rows'"),
        ({"match": "time"}, "match is 'time'"),
        ({"lr_policy": "best"}, "lr_policy is 'best'"),
    ],
)
def test_what_cannot_be_compared_is_refused(values, said):
    with pytest.raises(UserError, match=said):
        list(compared(**values))


def test_a_strategy_that_is_named_twice_runs_once():
    facts = list(compared(("full", "full"), seeds=1))[-1].facts()
    assert ([s["name"] for s in facts["strategies"]], facts["seeds"]) == (["full"], 1)


def test_two_strategies_of_one_name_are_refused():
    full = find_strategy("full")
    with pytest.raises(UserError, match="Two different strategies have one name"):
        list(compare(base_of(), reviews().tokenizer, ComparisonSpec(), chosen=[full, replace(full, rate=1e-3)]))


def test_trials_start_from_the_base_as_it_was_even_if_its_training_goes_on():
    def base():
        learner = learner_of()
        return Base(learner, BatchSampler.of(reviews(), 16, 8, 0, CPU).evaluation(8))

    calm = list(compared(base=base()))[-1]
    moving = base()
    events = compared(base=moving)
    seen = [next(events)]
    feed = BatchSampler.of(reviews(), 16, 8, 0, CPU)
    for event in events:
        seen.append(event)
        if isinstance(event, TrialEvent) and isinstance(event.event, Result):
            moving.learner.learn(moving.learner.batch(feed.at(moving.learner.step)))
    assert numbers(seen[-1]) == numbers(calm)


# the verdict


def outcome(accuracy):
    none = torch.zeros(1, 1)
    return Result(accuracy, 0.0, 1, 1, 0.0, (HEAD,), none, none, (0.0,))


def judged(**values):
    return judge_curve({8: {name: tuple(map(outcome, accuracies)) for name, accuracies in values.items()}})[0]


def test_a_lead_inside_the_noise_has_no_winner():
    said = judged(full=[0.80, 0.90, 0.70], gradual=[0.82, 0.80, 0.74])
    assert "within the noise, so no winner" in said
    assert said.startswith("full leads gradual by 0.013 on average over 3 seeds")


def test_a_lead_outside_the_noise_has_one():
    said = judged(frozen=[0.60, 0.61, 0.58], full=[0.80, 0.83, 0.79], gradual=[0.70, 0.72, 0.70])
    assert said.startswith("full leads gradual by 0.100 on average over 3 seeds")
    assert "larger than the noise" in said


def test_pairs_of_seeds_are_compared_and_not_two_heaps():
    """The seeds differ far more than the strategies, but in every seed one is better by nearly the same."""
    assert "larger than the noise" in judged(a=[0.50, 0.70, 0.90], b=[0.47, 0.669, 0.871])
    assert "within the noise" in judged(a=[0.50, 0.70, 0.90], b=[0.871, 0.669, 0.47])


def curve_of(**values):
    """The verdict over several numbers of labels; each strategy has a list of seeds for each of them."""
    points = {16 * 2**k: {} for k in range(len(next(iter(values.values()))))}
    for name, rows in values.items():
        for labels, row in zip(points, rows, strict=True):
            points[labels][name] = tuple(map(outcome, row))
    return points


def test_the_verdict_speaks_of_the_whole_range_of_labels():
    """A gain with few labels is not denied because both arrive at the same with many."""
    early = curve_of(
        scratch=[[0.60, 0.62, 0.61], [0.70, 0.69, 0.71], [0.90, 0.91, 0.89]],
        full=[[0.80, 0.83, 0.80], [0.85, 0.84, 0.87], [0.90, 0.90, 0.91]],
    )
    said, tables = judge_curve(early)
    assert said.startswith("Over 16 to 64 labelled texts: full leads scratch by 0.119 on average over 3 seeds")
    assert "larger than the noise between seeds" in said
    assert said.endswith("full against scratch by number of texts: 16 +0.200, 32 +0.153, 64 +0.003.")
    assert "5 % over 4 comparisons" in said, "three numbers of texts, and the mean"
    assert [table[0]["larger"] for table in tables.values()] == [True, True, False]
    assert "within the noise" in judge_curve({64: early[64]})[0], "the last point alone says nothing"


def test_nothing_is_better_than_another_where_both_only_guess():
    """Two seeds at chance, which happen to lie close together, are no winner (500 texts: 0.5 ± 0.044)."""
    guessed = {"full": (outcome(0.502), outcome(0.501)), "frozen": (outcome(0.479), outcome(0.478))}
    said, tables = judge_curve({16: guessed}, 0.5, 500)
    [told] = tables[16]
    assert (told["larger"], told["said"]) == (False, "both no better than guessing (0.500)")
    assert said == "No strategy is better than guessing (0.500), so no winner."
    learnt = {"full": (outcome(0.802), outcome(0.805)), "frozen": (outcome(0.479), outcome(0.478))}
    [told] = judge_curve({16: learnt}, 0.5, 500)[1][16]
    assert (told["larger"], told["said"]) == (True, "worse")


def test_guessers_reach_the_chance_level_in_19_of_20_comparisons():
    """Every seed has texts of its own, and the mean of three is three times as near to chance as one of 500 texts."""
    rng, number = default_rng(0), 4000
    means = [rng.binomial(500, 0.5, size=3) / 500 for _ in range(number)]
    guessed = sum(at_chance(each, 0.5, 3 * 500) for each in means) / number
    assert abs(guessed - 0.95) < 4 * (0.95 * 0.05 / number) ** 0.5
    assert not at_chance([0.54, 0.54, 0.54], 0.5, 3 * 500), "four points above chance are seen in 1,500 texts"
    assert at_chance([0.44, 0.45, 0.43], 0.5, 3 * 500), "what is worse than guessing is no better"


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
@pytest.mark.parametrize("law", verdicts.LAWS)
def test_of_equal_strategies_at_most_one_table_in_twenty_claims_anything(law, seeds):
    """Over strategies and numbers of labelled texts, the winner included: the family errs as seldom as one test."""
    tables = 1000
    for shape in verdicts.SHAPES:
        share = verdicts.claims(verdicts.LAWS[law], seeds, *shape, tables)
        assert share <= 0.05 + 2 * (0.05 * 0.95 / tables) ** 0.5, shape


def test_one_claim_at_5_percent_each_would_not_do():
    """The simulation sees what it must: without Holm's correction most tables of twelve equal strategies claim."""
    rng = default_rng(0)
    gaps = rng.normal(size=(200, 11, 5))
    p = [[p_value(gap) for gap in table] for table in gaps.tolist()]
    assert sum(min(table) < 0.05 for table in p) / 200 > 0.2
    assert sum(min(adjusted(table)) < 0.05 for table in p) / 200 < 0.09


def test_the_corrected_levels_are_those_of_holm():
    assert adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@pytest.mark.parametrize("pairs", [2, 5])
def test_a_few_exactly_equal_gaps_say_nothing(pairs):
    first = [0.5 + k / 100 for k in range(pairs)]
    said = judged(a=[v + 0.1 for v in first], b=first)
    assert f"with each of {pairs} seeds: exactly equal gaps say nothing" in said
    assert "at least 6 seeds" in said
    assert "larger than the noise" in judged(a=[0.6] * 6, b=[0.5] * 6)


@pytest.mark.parametrize("values", [{"a": [0.5, 0.6]}, {"a": [0.5], "b": [0.9]}])
def test_one_strategy_or_one_seed_is_no_comparison(values):
    assert "cannot be compared" in judged(**values)


STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
STUDENT |= {11: 2.228, 16: 2.131, 31: 2.042, 61: 2.000, 121: 1.980}
"""Two-sided 5 % points of Student's t by the number of pairs, from the printed tables."""


@pytest.mark.parametrize("pairs", STUDENT)
@pytest.mark.parametrize(("share", "wins"), [(1.01, True), (0.99, False)])
def test_the_line_is_where_student_drew_it(pairs, share, wins):
    assert critical(pairs) == pytest.approx(STUDENT[pairs], abs=1e-3)
    noise = [(-1.0) ** k * 0.01 for k in range(pairs)]
    noise = [v - sum(noise) / pairs for v in noise]
    error = (sum(v * v for v in noise) / (pairs - 1) / pairs) ** 0.5
    lead = STUDENT[pairs] * error * share
    assert ("larger than the noise" in judged(a=[0.5 + lead + v for v in noise], b=[0.5] * pairs)) == wins


def test_without_a_winner_the_verdict_says_how_many_seeds_it_would_take():
    gaps = [0.02, 0.04, -0.01, 0.03]
    number = seeds_needed(gaps)
    said = judged(a=[0.5 + g for g in gaps], b=[0.5] * 4)
    assert f"About {number} seeds would be needed" in said
    assert seeds_needed([g * 2 for g in gaps]) == number, "only lead against spread counts"
    assert seeds_needed([g + 0.05 for g in gaps]) < number < seeds_needed([g - 0.01 for g in gaps])


def test_the_advice_counts_all_comparisons():
    """The number of seeds is that of a test at 5 % over the number of comparisons, so it is more than are there."""
    rng = default_rng(1)
    for _ in range(50):
        gaps = rng.normal(2.0, 1.0, size=(11, 4))
        values = {"first": [0.0] * 4} | {f"s{k}": row for k, row in enumerate(gaps.tolist())}
        told = judge(values, [(f"s{k}", "first") for k in range(11)])
        assert all(one["seeds_needed"] > 4 for one in told.values() if not one["larger"] and one["seeds_needed"])
    assert seeds_needed([1.0, 2.0, 3.0], 11) > seeds_needed([1.0, 2.0, 3.0])


@pytest.mark.parametrize(("seeds", "number", "size"), [(3, 1, 2.0), (5, 4, 2.5), (10, 11, 1.5)])
def test_power_is_how_often_a_lead_is_found(seeds, number, size):
    """Against the share of 20,000 drawn samples whose t lies beyond the corrected level."""
    gaps = default_rng(seeds).normal(size, 1.0, size=(20_000, seeds))
    t = gaps.mean(1) / gaps.std(1, ddof=1) * seeds**0.5
    assert power(size, seeds, number) == pytest.approx((t > critical(seeds, 0.05 / number)).mean(), abs=0.015)
    assert power(smallest_lead(seeds, number), seeds, number) == pytest.approx(0.8, abs=0.01)


def test_what_a_comparison_can_find_is_said_before_it_runs():
    asked = ComparisonSpec(strategies=("full", "feature-based", "LoRA"), train_sizes=(16, 64), seeds=5)
    assert asked.power == describe_power(5, 5), "two against the first at both numbers of texts, and the best"
    assert "With 5 seeds and 5 comparisons" in asked.power and "a lead of about 0.1" in asked.power
    assert replace(asked, strategies=("full", "LoRA"), train_sizes=(64,)).power == describe_power(5, 1)
    assert "run at least two" in replace(asked, seeds=1).power
    assert "a lead of about 0.0044 is" in replace(asked, seeds=1000).power, "a small lead is not none"
    assert replace(asked, strategies=("full",)).power == replace(asked, then=("topic",)).power == ""
    assert replace(asked, strategies=("full", "full")).power == "", "one that is named twice runs once"


@pytest.mark.parametrize("gaps", [[0.0, 0.0], [-0.1, 0.1], [1e-17, 1e-17]])
def test_where_there_is_no_lead_no_number_of_seeds_is_promised(gaps):
    assert seeds_needed(gaps) is None
    assert "would be needed" not in judged(a=[0.5 + g for g in gaps], b=[0.5] * len(gaps))


def test_a_lead_that_a_thousand_seeds_would_not_tell_is_said_to_be_one():
    gaps = [1e-6, 0.3, -0.3]
    assert seeds_needed(gaps) is None
    assert "More than 1,000 seeds would be needed" in judged(a=[0.5 + g for g in gaps], b=[0.5] * len(gaps))


# figures from the papers


def test_discriminative_rates_fall_by_ulmfits_factor_from_layer_to_layer():
    plan = Discriminative()(GROUPS, 3)
    assert plan[-1].tolist() == [1.0] * 3
    assert (plan[1:] / plan[:-1]).flatten().tolist() == pytest.approx([2.6] * 12, rel=1e-6)


def test_the_slanted_triangle_is_that_of_ulmfit():
    """arXiv:1801.06146, eq. 3 with cut_frac 0.1 and ratio 32: 1/32 at first, the peak after a tenth, then down."""
    row = SlantedTriangle()(GROUPS, 100)[0]
    assert (float(row[0]), float(row[10]), int(row.argmax())) == (1 / 32, 1.0, 10)
    assert float(row[55]) == pytest.approx((1 + 0.5 * 31) / 32)
    assert bool((row[:11].diff() > 0).all()) and bool((row[10:].diff() < 0).all())


def test_chain_thaw_takes_the_head_then_each_group_alone_then_all():
    plan = find_strategy("chain-thaw").plan(GROUPS, 6)
    alone = [[0, 0, 0, 0, 1], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [1] * 5]
    assert plan.T.tolist() == alone


def test_sequential_unfreezing_keeps_the_embeddings_for_the_last_stage():
    plan = find_strategy("sequential unfreezing").plan(GROUPS, 6)
    assert plan.T.tolist() == [[0, 0, 0, 0, 1]] * 2 + [[0, 1, 1, 1, 1]] * 2 + [[1] * 5] * 2


def test_lp_ft_takes_the_head_alone_and_then_everything_at_once():
    """arXiv:2202.10054, sec. 3: linear probing, then full fine-tuning from there."""
    assert find_strategy("LP-FT").plan(GROUPS, 6).T.tolist() == [[0, 0, 0, 0, 1]] * 3 + [[1] * 5] * 3
    assert find_strategy("LP-FT(probe_share=0.25)").plan(GROUPS, 4).T.tolist() == [[0, 0, 0, 0, 1]] + [[1] * 5] * 3


@pytest.mark.parametrize("name", ["RoBERTa", "GPT-2"])
def test_the_parameters_of_small_modules_are_as_many_as_the_papers_count(name):
    """Width 16, one layer: 2md + d + m for each of two adapters and 2d for each of two norms, 2rd for each of two
    updates, 2pd + h of a prefix; 4d biases of attention, 5d of the MLP and d of each of three norms; projected
    attention: 2ds + s + d that all layers share and 3(s^2 + s) for each."""
    head = 2 * 16 + 2
    counts = {
        "adapters": 2 * (2 * 16 * 16 + 16 + 16) + 2 * 2 * 16,
        "LoRA": 2 * (2 * 4 * 16),
        "DoRA": 2 * (2 * 4 * 16 + 16),
        "IA3": 16 + 16 + 64,
        "VeRA": 2 * (32 + 16),
        "prompt tuning": 20 * 16,
        "prefix tuning": 2 * 4 * 16 + 2,
        "BitFit": 4 * 16 + 5 * 16 + 3 * 16,
        "norms only": 3 * (16 + 16),
    }
    for strategy, count in counts.items():
        outcome = tuned(find_strategy(strategy), name)[-1]
        assert (strategy, outcome.trainable, outcome.stored) == (strategy, count + head, count + head)
    [attention] = run_of_strategy("projected attention layers").attached
    assert sum(p.numel() for p in attention.modules.parameters()) == 2 * 16 * 16 + 16 + 16 + 3 * (16 * 16 + 16)


# what the head reads


def test_a_layer_that_the_model_does_not_have_is_refused():
    with pytest.raises(UserError, match="reads layer 7; this model has 1 layers"):
        tuned(replace(find_strategy("single layer"), head=Head(reads=7)))


def test_a_mix_tells_how_much_of_each_level_it_reads():
    assert tuned(find_strategy("feature-based"))[-1].shares == ()
    outcome = tuned(find_strategy("layer mix"))[-1]
    assert len(outcome.shares) == 2
    assert outcome.shares[0] != outcome.shares[1]
    steps, scale, shares = outcome.mix[:, 0].tolist(), outcome.mix[:, 1], outcome.mix[:, 2:]
    assert steps[0] == 0 and steps[-1] == outcome.plan.shape[1] and steps == sorted({*steps})
    assert (float(scale[0]), shares[0].tolist()) == (1.0, [0.5, 0.5])
    assert float(scale[-1]) != 1.0
    assert shares.sum(1).tolist() == pytest.approx([1.0] * len(steps))
    assert tuple(shares[-1].tolist()) == outcome.shares


def test_ulmfits_pooling_is_the_last_the_highest_and_the_mean_of_the_real_positions():
    model = base_of().learner.model
    head = new_head(model, TWO, 0, Head(pool="concat"))
    hidden, real = torch.arange(24.0).view(2, 4, 3), torch.tensor([[True] * 4, [True, True, False, False]])
    pooled = head._pooled(hidden, real)
    assert pooled[0].tolist() == [9, 10, 11, 9, 10, 11, 4.5, 5.5, 6.5]
    assert pooled[1].tolist() == [15, 16, 17, 15, 16, 17, 13.5, 14.5, 15.5]


def test_ulmfits_head_is_two_layers_with_relu_between_them():
    """arXiv:1801.06146, sec. 3.3: batch norm, a layer of 50 over the pooled text, ReLU, batch norm, the classes."""
    base = base_of()
    run = Finetuner(base, find_strategy("ULMFiT"), numbered(texts(), base), SETTING, 0)
    head, read = run.head, 3 * base.learner.model.shape.width
    _, dense, _, _ = head.dense
    assert (dense.in_features, dense.out_features, head.score.in_features) == (read, 50, 50)
    pooled = head._pooled(run.model.features(run.train.tokens), run.train.tokens.valid)

    def normed(x):
        return (x - x.mean(0)) / (x.var(0, unbiased=False) + 1e-5).sqrt()

    head.train()
    inner = normed((normed(pooled) @ dense.weight.T + dense.bias).clamp(min=0))
    torch.testing.assert_close(run.score(run.train), inner @ head.score.weight.T + head.score.bias)
    run.learn(0)
    alone = run.score(run.train.pick(torch.arange(2)))  # by means that are kept, not by those of the two
    torch.testing.assert_close(alone, run.score(run.train)[:2])


# what is added


def test_a_second_task_does_not_disturb_the_modules_of_the_first():
    base, tokens = base_of(), texts("test").tokens
    one = Finetuner(base, find_strategy("adapters"), numbered(texts(), base), SETTING, 0)
    one.learn(0)
    with torch.no_grad():
        first = one.model.features(tokens)
        one.attached[0].detach()
        second = attach(Adapter(), one.model, torch.Generator().manual_seed(9))
        for p in second.modules.parameters():
            p += 0.1
        assert not torch.allclose(one.model.features(tokens), first)
        second.detach()
        one.attached[0].attach()
        assert torch.equal(one.model.features(tokens), first)


WHERE_NORMS_STAND = ({"norm_first": True}, {"norm_first": False})


def plugged_model(kind, entry="RoBERTa", **model):
    """A model with extra modules whose weights are drawn, so that they change what it gives."""
    model = learner_of(entry, model={"layers": 2} | model).model
    plugged = attach(kind, model, torch.Generator().manual_seed(0))
    rng = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in plugged.modules.parameters():
            p += 0.3 * torch.randn(p.shape, generator=rng)
    return model, plugged


def attended(layer, readers, heads, scale, causal):
    """Multi-head attention in plain tensors, without an output matrix."""
    q, k, v = (
        part(readers).unflatten(-1, (heads, -1)).transpose(1, 2) for part in (layer.query, layer.key, layer.value)
    )
    hidden = torch.ones(readers.shape[1], readers.shape[1], dtype=torch.bool).triu(1) & causal
    weights = (q @ k.transpose(-1, -2) * scale).masked_fill(hidden, float("-inf")).softmax(-1)
    return q, (weights @ v).transpose(1, 2).flatten(2)


@pytest.mark.parametrize("norms", WHERE_NORMS_STAND)
@pytest.mark.parametrize("entry", ["BERT", "GPT-2"])
def test_projected_attention_is_added_to_the_layer_and_has_no_output_matrix(entry, norms):
    """LN(MLP(y) + y + PAL(h)), PAL(h) = gelu(V_D attention(V_E h)) (github.com/AsaCooperStickland/Bert-n-Pals)."""
    model, plugged = plugged_model(PAL(projection_size=8, heads=2), entry, positions="sinusoidal", **norms)
    causal = entry == "GPT-2"
    mask = FULL if not causal else SdpaMask(None, True)
    x = torch.randn(3, 5, 16, generator=torch.Generator().manual_seed(2))
    for block, pal in zip(model.layers, plugged.modules, strict=True):
        before, after = (block.ln_1, nn.Identity()) if norms["norm_first"] else (nn.Identity(), block.ln_1)
        h = before(x)
        _, own = attended(block.attn, h, block.attn.heads, 8**-0.5, causal)
        _, small = attended(pal.attn, pal.down_proj(h), 2, 4**-0.5, causal)
        y = after(x + block.attn.out(own))
        before, after = (block.ln_2, nn.Identity()) if norms["norm_first"] else (nn.Identity(), block.ln_2)
        z = before(y)
        mlp = block.mlp.fc2(block.mlp.activation(block.mlp.fc1(z)))
        expected = after(mlp + y + gelu(pal.up_proj(small)))
        assert torch.allclose(block(x, mask), expected, atol=1e-5)
    assert plugged.modules[0].up_proj is plugged.modules[1].up_proj


def test_heads_that_do_not_fit_into_the_projection_are_refused():
    with pytest.raises(UserError, match="projection_size 16 does not fit 3 heads; it must be a multiple of 3"):
        find_strategy("PAL(heads=3)")


@pytest.mark.parametrize("scaled", [True, False])
def test_virtual_tokens_are_scored_at_the_scale_of_their_layer(scaled):
    """T5 divides no scores by the root of a head's width, so neither are those of the virtual tokens divided."""
    model, plugged = plugged_model(PrefixTuning(num_virtual_tokens=3), "T5", scale_attn_weights=scaled)
    attn, prefix = model.layers[0].attn, plugged.modules[0]
    x = torch.randn(2, 4, 16, generator=torch.Generator().manual_seed(2))
    scale = 8**-0.5 if scaled else 1.0
    q, own = attended(attn, x, attn.heads, scale, False)
    virtual = prefix.gate * ((q @ prefix.keys.transpose(-1, -2) * scale).softmax(-1) @ prefix.values)
    assert torch.allclose(attn(x, x, FULL), attn.out(own + virtual.transpose(1, 2).flatten(2)), atol=1e-5)


@pytest.mark.parametrize("norms", WHERE_NORMS_STAND)
def test_adapters_train_norms_of_their_own_and_give_back_those_of_the_model(norms):
    """arXiv:1902.00751, sec. 2.1: new parameters of every layer's norms for each task."""
    model, plugged = plugged_model(Adapter(bottleneck_size=4), **norms)
    tokens, bare, written = texts().tokens, deepcopy(learner_of(model={"layers": 2, **norms}).model), deepcopy(model)
    with torch.no_grad():
        for one, module in zip(written.layers, plugged.modules, strict=True):
            _, _, *own = module.children()
            for norm, copy in zip((one.ln_1, one.ln_2), own, strict=True):
                del norm.forward
                norm.load_state_dict(copy.state_dict())
        with_norms_written_in = written.features(tokens)
        assert torch.equal(model.features(tokens), with_norms_written_in)
        plugged.detach()
        assert torch.equal(model.features(tokens), bare.features(tokens))
    run = Finetuner(base_of(), find_strategy("adapters"), numbered(texts(), base_of()), SETTING, 0)
    before = deepcopy(run.attached[0].modules)
    run.learn(0)
    run.learn(1)
    for now, then in zip(run.attached[0].modules[0].parameters(), before[0].parameters(), strict=True):
        assert not torch.equal(now, then)


LORA_SHAPES = {"BERT": {"norm_first": False, "attention_bias": True}, "GPT-2": {"norm_first": True}}


def low_rank_update(weight, update):
    """W + alpha / r B A (arXiv:2106.09685, sec. 4.1)."""
    return weight + 2.5 * update.lora_b.weight @ update.lora_a.weight


def stabilised_update(weight, update):
    """W + alpha / sqrt(r) B A (arXiv:2312.03732)."""
    return weight + 5.0 / 2**0.5 * update.lora_b.weight @ update.lora_a.weight


def magnitude_and_direction(weight, update):
    """m V / |V| by rows, V = W + alpha / r B A, |V| a constant (arXiv:2402.09353, eq. 5 and sec. 4.3)."""
    direction = low_rank_update(weight, update)
    lengths = torch.stack([sum(number**2 for number in row) ** 0.5 for row in direction.detach()])
    return update.magnitude[:, None] * direction / lengths[:, None]


MERGED = {
    "LoRA": (low_rank_update, {}), "rsLoRA": (stabilised_update, {"use_rslora": True}),
    "DoRA": (magnitude_and_direction, {"use_dora": True}),
}  # fmt: skip


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("entry", LORA_SHAPES)
@pytest.mark.parametrize("method", MERGED)
def test_updates_are_those_of_merged_matrices(method, entry, targets):
    """Output and gradients."""
    merge, settings = MERGED[method]
    kind = LoRA(rank=2, alpha=5.0, targets=targets, **settings)
    model, plugged = plugged_model(kind, entry, **LORA_SHAPES[entry])
    names = {id(p): name for name, p in model.named_parameters()}
    updates, tokens = list(plugged.modules.parameters()), texts().tokens
    got = model.features(tokens)
    slopes = torch.autograd.grad(got.square().sum(), updates)
    plugged.detach()
    merged = {}
    for block, layer in zip(model.layers, plugged.modules, strict=True):
        linears = {"query": block.attn.query, "key": block.attn.key, "value": block.attn.value}
        linears |= {"output": block.attn.out, "fc1": block.mlp.fc1, "fc2": block.mlp.fc2}
        wanted = targets.replace("attention", "query key value output").replace("mlp", "fc1 fc2").split()
        chosen = [linear for name, linear in linears.items() if name in wanted]
        for linear, update in zip(chosen, layer.children(), strict=True):
            merged[names[id(linear.weight)]] = merge(linear.weight, update)
    expected = functional_call(
        _Features(model), {f"model.{name}": weight for name, weight in merged.items()}, (tokens,)
    )
    assert torch.allclose(got, expected, atol=1e-4)
    for own, other in zip(slopes, torch.autograd.grad(expected.square().sum(), updates), strict=True):
        assert torch.allclose(own, other, atol=1e-3, rtol=1e-3)


class _Features(nn.Module):
    """The features of a model as a module's forward pass."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model.features(tokens)


@pytest.mark.parametrize("entry", [*LORA_SHAPES, "ALBERT", "T5"])
def test_learned_factors_are_those_of_merged_weights(entry):
    """l K, l V and W2 (l f(W1 x)): rows of the matrices and biases, columns of W2 (arXiv:2205.05638, sec. 3.3)."""
    model, plugged = plugged_model(IA3(), entry, **LORA_SHAPES.get(entry, {}))
    tokens = texts().tokens
    got = model.features(tokens)
    plugged.detach()
    for block, factors in zip(model.layers, plugged.modules, strict=True):
        with torch.no_grad():
            for linear, rows in ((block.attn.key, factors.key), (block.attn.value, factors.value)):
                linear.weight *= rows[:, None]
                if linear.bias is not None:
                    linear.bias *= rows
            block.mlp.fc2.weight *= factors.inner
    assert torch.allclose(got, model.features(tokens), atol=1e-4)


@pytest.mark.parametrize("targets", TARGETS)
def test_vectors_between_random_matrices_are_those_of_merged_matrices(targets):
    """W + diag(b) B diag(d) A, A and B the first rows and columns of matrices for all layers (arXiv:2310.11454)."""
    model, plugged = plugged_model(VeRA(rank=3, targets=targets), "BERT")
    tokens, layers = texts().tokens, [[*layer] for layer in plugged.modules]
    got = model.features(tokens)
    plugged.detach()
    wide_a = max((update.vera_a for layer in layers for update in layer), key=torch.numel)
    wide_b = max((update.vera_b for layer in layers for update in layer), key=torch.numel)
    for block, layer in zip(model.layers, layers, strict=True):
        for linear, update in zip(linears(block, targets), layer, strict=True):
            assert torch.equal(update.vera_a, wide_a[:, : linear.in_features])
            assert torch.equal(update.vera_b, wide_b[: linear.out_features])
            b, d = update.vera_lambda_b.diag(), update.vera_lambda_d.diag()
            linear.weight.data += (b @ update.vera_b @ d @ update.vera_a).detach()
    assert torch.allclose(got, model.features(tokens), atol=1e-4)


def test_the_random_matrices_are_frozen_and_those_of_their_key_whatever_the_seed():
    def run(name, seed=0):
        return Finetuner(base_of(), find_strategy(name), numbered(texts(), base_of()), SETTING, seed)

    one, other, third = run("VeRA"), run("VeRA", seed=1), run("VeRA(projection_prng_key=1)")
    first, second, last = ([*each.attached[0].modules.buffers()] for each in (one, other, third))
    before = [b.clone() for b in first]
    one.learn(0)
    assert all(map(torch.equal, before, first)) and all(map(torch.equal, first, second))
    assert not any(map(torch.equal, first, last))
    assert len({b.untyped_storage().data_ptr() for b in first}) == 2, "all layers share them"
    assert [float(b.abs().max()) <= (6 / b.shape[1]) ** 0.5 for b in first] == [True] * len(first)
    assert held(run("VeRA"))["weights"] - held(run("VeRA(rank=1)"))["weights"] == 4 * 31 * (16 + 16 + 2)


@pytest.mark.parametrize("positions", ["rotary", "relative", "relative bias", "learned"])
@pytest.mark.parametrize("entry", ["BERT", "GPT-2"])
def test_a_prompt_is_a_plain_concatenation_before_the_text(entry, positions):
    """arXiv:2104.08691, sec. 2: [P; X] through the frozen layers; a plain loop over the layers is the witness."""
    kind = PromptTuning(num_virtual_tokens=3, prompt_tuning_init="random")
    model, plugged = plugged_model(kind, entry, positions=positions)
    [virtual], tokens = plugged.modules, texts().tokens
    causal, real = entry == "GPT-2", tokens.valid
    got = model.hidden_states(tokens)
    slopes = torch.autograd.grad(got[-1][real].square().sum(), [virtual.vectors])
    assert torch.allclose(got[-1], model.features(tokens), atol=1e-5)
    plugged.detach()
    words = model.hidden_states(tokens, last=0)[0]
    assert torch.equal(got[0], words), "the text keeps its positions"
    x = torch.cat([virtual.vectors.expand(len(words), -1, -1), words], dim=1)
    allowed = torch.cat([torch.ones(len(real), 3, dtype=torch.bool), real], dim=1)[:, None, :]
    allowed = allowed.expand(-1, x.shape[1], -1)
    if causal:
        allowed = allowed & torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    encoding = model.network._positions(torch.arange(x.shape[1]).repeat(len(x), 1))
    for number, block in enumerate(model.layers):
        x = block(x, SdpaMask(allowed[:, None], False), encoding)
        assert torch.allclose(got[number + 1][real], x[:, 3:][real], atol=1e-5)
    x = model.network.encoder.ln_f(x)
    assert torch.allclose(got[-1][real], x[:, 3:][real], atol=1e-5)
    known = torch.autograd.grad(x[:, 3:][real].square().sum(), [virtual.vectors])
    assert torch.allclose(slopes[0], known[0], atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("entry", ["GPT-2", "PLM"])
def test_a_prompt_tells_no_word_to_who_may_not_see_it(entry):
    """In a causal and in a permuted text another word changes no answer of a position that may not attend to it."""
    model, _ = plugged_model(PromptTuning(num_virtual_tokens=3), entry)
    learner = learner_of(entry, model={"layers": 2})
    batch = learner.batch(BatchSampler.of(reviews(), 16, 4, 0, learner.device).at(0))
    masked = batch.inputs.attn_mask if entry == "GPT-2" else batch.inputs.query_attn_mask
    both = set()
    for position in range(batch.inputs.ids.shape[1]):
        ids = batch.inputs.ids.clone()
        ids[0, position] = 7 + ids[0, position] % 5
        [one], [other] = model(batch), model(replace(batch, inputs=replace(batch.inputs, ids=ids)))
        seen = masked.dense()[0, one.positions, position] & (one.rows == 0)
        assert torch.equal(one.scores[~seen], other.scores[~seen])
        assert not seen.any() or not torch.allclose(one.scores[seen], other.scores[seen], atol=1e-5)
        both |= {*seen[one.rows == 0].tolist()}
    assert both == {True, False}
    states = []
    model(batch, states=states)
    assert {state.shape for state in states} == {(*batch.inputs.ids.shape, 16)}, "a memory holds the text alone"


def test_a_prompt_starts_as_words_of_the_vocabulary_or_as_noise():
    def begun(settings="", seed=0):
        strategy = find_strategy(f"prompt tuning({settings})" if settings else "soft prompts")
        return Finetuner(base_of(), strategy, numbered(texts(), base_of()), SETTING, seed)

    run = begun("num_virtual_tokens=5")
    model, [module] = run.model, run.attached[0].modules
    every = torch.arange(model.token_embedding.num_embeddings)
    words = model.network.embed_words(every, model.token_embedding.weight)
    assert torch.isclose(module.vectors[:, None], words).all(-1).any(1).tolist() == [True] * 5
    assert not torch.equal(module.vectors, begun("num_virtual_tokens=5", seed=1).attached[0].modules[0].vectors)
    [noise] = begun("prompt_tuning_init=random").attached[0].modules
    assert noise.vectors.shape == (20, 16) and float(noise.vectors.detach().abs().max()) <= 0.5
    before = module.vectors.clone()
    run.learn(0)
    assert not torch.equal(module.vectors, before)


def test_b_of_lora_plus_learns_sixteen_times_as_fast_as_a():
    """arXiv:2402.12354: the rate of B is lambda times that of A, which is also that of the head."""
    plus = find_strategy("LoRA+")
    run = Finetuner(base_of(), plus, numbered(texts(), base_of()), SETTING, 0)
    rows = dict(zip(run.groups, run.plan.tolist(), strict=True))
    assert rows["low-rank updates A"] == rows[HEAD] == [1.0] * SETTING.steps
    assert rows["low-rank updates B"] == [16.0] * SETTING.steps
    layer = run.attached[0].modules[0]
    assert [*map(id, run.groups["low-rank updates A"])] == [id(update.lora_a.weight) for update in layer]
    assert [*map(id, run.groups["low-rank updates B"])] == [id(update.lora_b.weight) for update in layer]
    before = [update.lora_b.weight.clone() for update in layer]
    run.learn(0)  # the first step of AdamW is the rate, for every number that has a gradient
    moves = [float((u.lora_b.weight - b).detach().abs().max()) for u, b in zip(layer, before, strict=True)]
    assert moves == pytest.approx([16 * plus.rate] * len(moves), rel=2e-2)
    both = find_strategy("DoRA(loraplus_lr_ratio=4)")
    run = Finetuner(base_of(), both, numbered(texts(), base_of()), SETTING, 0)
    assert len(run.groups["low-rank updates B"]) == 2 * len(run.groups["low-rank updates A"]), "magnitudes too"


def test_a_plus_at_the_end_of_a_name_joins_nothing():
    assert find_strategy("LoRA+").name == "LoRA plus"
    assert find_strategy("LoRA+(rank=8)").name == "LoRA plus(rank=8)"
    for text in ("LoRA+ + full", "full+LoRA+", "full + LoRA+ + R-Drop"):
        assert {"full", "LoRA plus"} <= set(find_strategy(text).parts)
    with pytest.raises(UserError, match="both bring 'low-rank updates'"):
        find_strategy("LoRA + DoRA")


def test_the_knobs_of_low_rank_updates_are_typed_in_brackets_and_told_apart():
    lora = find_strategy("LoRA")
    assert lora.adapters == (LoRA(rank=4, alpha=4.0, targets="query and value"),)
    wide = find_strategy("LoRA(rank=8, alpha=16, targets=attention and mlp)")
    assert wide.adapters == (LoRA(rank=8, alpha=16.0, targets="attention and mlp"),)
    said = difference(lora, wide)
    assert "(rank 4, alpha 4, targets query and value, " in said
    assert "vs. low-rank updates (rank 8, alpha 16, targets attention and mlp, use_rslora no, " in said
    with pytest.raises(UserError, match="targets is 'all'; choose one of query, key, value, output, "):
        find_strategy("LoRA(targets=all)")


@pytest.mark.parametrize("name", [s.name for s in strategies().values() if s.adapters])
def test_the_weights_of_extra_modules_are_held_once(name):
    """What the backward pass keeps of them are weights, which are counted already, and no activations."""
    base = base_with()
    run, other = (Finetuner(base, find_strategy(name), numbered(texts(), base), SETTING, 0) for _ in range(2))
    frozen = [b for extra in run.attached for b in extra.modules.buffers()]
    weights, kept = {p.untyped_storage().data_ptr() for p in (*run.model.parameters(), *run.every, *frozen)}, {}

    def keep(value):
        kept[value.untyped_storage().data_ptr()] = value.untyped_storage()
        return value

    with saved_tensors_hooks(keep, lambda value: value):
        run.learn(0)
    activations = sum(storage.nbytes() for address, storage in kept.items() if address not in weights)
    assert held(other)["activations"] == activations


@pytest.mark.parametrize(
    "name",
    [
        "full", "BitFit", "adapters", "LoRA(targets=attention and mlp)", "LoRA+", "DoRA", "IA3", "VeRA", "PAL",
        "prefix tuning", "prompt tuning(num_virtual_tokens=4)",
    ],
)  # fmt: skip
def test_the_estimated_operations_are_those_that_are_counted(name):
    """A gradient passes down through every layer that has something learning within or below it."""
    learner = learner_of(model={"width": 64, "layers": 4, "heads": 4})
    base = Base(learner, base_of().held_out)
    train = texts()
    everywhere = torch.full_like(train.tokens.lengths, train.tokens.ids.shape[1])  # padding is counted too
    train = numbered(replace(train, tokens=replace(train.tokens, lengths=everywhere)), base)
    strategy, setting = replace(find_strategy(name), aux_losses=()), replace(SETTING, keeps=False)
    run = Finetuner(base, strategy, train, setting, 0)
    with FlopCounterMode(display=False) as counter:
        for step in range(setting.steps):
            run.learn(step)
    assert cost(base, strategy, train, setting).flops == pytest.approx(counter.get_total_flops(), rel=0.1)


@pytest.mark.parametrize("name", ["L2-SP", "EWC"])
def test_a_weight_that_is_pulled_to_its_start_does_not_decay(name):
    """L2-SP, arXiv:1802.01483, sec. 3: the pull stands in the place of the decay; new weights decay as ever."""
    still = {}
    for strategy in (name, "full"):
        run = Finetuner(base_of(), find_strategy(strategy), numbered(texts(), base_of()), SETTING, 0)
        for step in range(SETTING.steps):
            run.learn(step)
        unread = [
            k
            for k in range(len(run.model.token_embedding.weight))
            if k not in set(run.train.tokens.ids.unique().tolist())
        ]
        table, before = run.model.token_embedding.weight[unread], run.start["embeddings"][0][unread]
        still[strategy] = torch.equal(table, before)
        assert [group["weight_decay"] for group in run.optimiser.param_groups][-1] == 0.01
    assert still == {name: True, "full": False}


def test_every_phase_of_chain_thaw_has_an_optimiser_of_its_own():
    """As in github.com/bfelbo/DeepMoji, deepmoji/finetuning.py: a new Adam once other layers are thawed."""
    chain, setting = find_strategy("chain-thaw"), FinetuneConfig(steps=12, batch_size=4)
    run, own = (Finetuner(base_of(), chain, numbered(texts(), base_of()), setting, 0) for _ in range(2))
    for step in range(setting.steps):
        run.learn(step)
    for phase in range(4):  # the head, the embeddings, the only layer, all
        groups = ([own.groups[HEAD]], [own.groups["embeddings"]], [own.groups["encoder layer 1"]], own.groups.values())
        learning = [p for some in groups[phase] for p in some]
        adam = torch.optim.AdamW(learning, lr=chain.rate, betas=trainer.BETAS, weight_decay=0.01)
        own.model.requires_grad_(True)
        for step in range(3 * phase, 3 * phase + 3):
            drawn = trainer._draw(own.train, 4, 0, step)
            states = own.model.hidden_states(drawn.tokens)
            adam.zero_grad()
            drawn.answer.loss(own.head(dict(enumerate(states)), drawn), drawn.labels).backward()
            adam.step()
    for group, parameters in run.groups.items():
        for one, other in zip(parameters, own.groups[group], strict=True):
            assert torch.allclose(one, other, atol=2e-5), group


def test_the_pull_is_half_the_strength_times_the_squared_distance():
    run = Finetuner(base_of(), find_strategy("L2-SP"), numbered(texts(), base_of()), SETTING, 0)
    run.learn(0)
    far = sum(d * d for d in trainer.distances(run.start, run.groups))
    assert float(run.terms[0][1](None).detach()) == pytest.approx(0.1 / 2 * far, rel=1e-4)


@pytest.mark.slow
def test_pulls_and_replay_hold_on_to_what_pre_training_knew():
    def forgetting(name):
        return list(tune(learnt_base(), find_strategy(name), texts(), texts("test"), FinetuneConfig(40, 8), 0))[
            -1
        ].forgetting

    assert max(map(forgetting, ("L2-SP", "EWC", "replay"))) < 0.75 * forgetting("full")


def test_what_is_rehearsed_is_never_measured():
    base = base_of()
    rehearsed, measured = ({tuple(row) for row in part.ids.tolist()} for part in (base.rehearse(), base.measured))
    assert not rehearsed & measured
    assert len(rehearsed | measured) == len(base.held_out.ids)
    other = replace(base, rehearsal=lambda: base.held_out)
    assert other.measured is base.held_out


@pytest.mark.parametrize("entry", ["RoBERTa", "Transformer-XL"])
def test_a_run_from_its_file_rehearses_the_rows_that_it_was_trained_on(entry, monkeypatch):
    learner, mixed = learner_of(entry), replace(reviews(), sections=(len(reviews()) // 3,))
    monkeypatch.setattr("playground.finetuning.run.base.corpus_of", lambda _: mixed)
    sampler = BatchSampler.of_learner(learner, mixed)
    saved = Checkpoint(learner, mixed.tokenizer, CorpusInfo(mixed.name, mixed.hash, 0.0, sampler.evaluation()))
    assert torch.equal(from_checkpoint(saved).rehearse().ids, sampler.windows.ids)


def test_further_pre_training_leaves_the_task_alone_in_its_first_third():
    outcome = tuned(find_strategy("further pre-training"))[-1]
    assert outcome.plan[-1].tolist() == [0, 0, 1, 1, 1, 1]
    assert bool(outcome.plan[:-1].all())


def test_a_mean_of_weights_is_a_mean_and_keeps_what_stands_still():
    moving, still = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.full((2,), 0.1))
    mean = WeightAverage((moving, still))
    for value in (1.0, 2.0, 6.0):
        moving.data = torch.full((2,), value)
        mean.take()
    with mean.in_place():
        assert moving.tolist() == pytest.approx([3.0, 3.0])
    assert moving.tolist() == [6.0, 6.0]
    mean.put(mean.mean)
    assert moving.tolist() == pytest.approx([3.0, 3.0])
    assert still.tolist() == torch.full((2,), 0.1).tolist()


def finished(name):
    """A run after its last step."""
    run = Finetuner(base_of(), find_strategy(name), numbered(texts(), base_of()), SETTING, 0)
    for step in range(SETTING.steps):
        run.learn(step)
    return run


def test_wise_ft_is_the_way_from_the_pre_trained_to_the_fine_tuned_body():
    """arXiv:2109.01903, sec. 3: (1 - alpha) and alpha; the ends to the last bit, and the head as it was tuned."""
    tuned_run, there, back, half = map(finished, ("full", "WiSE-FT(alpha=1)", "WiSE-FT(alpha=0)", "WiSE-FT"))
    before, after = base_of().learner.model.state_dict(), tuned_run.model.state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    for name, value in after.items():
        assert torch.equal(there.model.state_dict()[name], value), name
        assert torch.equal(back.model.state_dict()[name], before[name]), name
        assert torch.allclose(half.model.state_dict()[name], (before[name] + value) / 2, atol=1e-7), name
    for run in (there, back, half):
        heads = zip(run.head.parameters(), tuned_run.head.parameters(), strict=True)
        assert all(torch.equal(one, other) for one, other in heads)


def test_wise_ft_is_measured_after_it_and_forgets_less_than_full():
    full, half, none = (tuned(find_strategy(name))[-1] for name in ("full", "WiSE-FT", "WiSE-FT(alpha=0)"))
    assert 0 < half.moved[0] < full.moved[0] and half.moved[0] == pytest.approx(full.moved[0] / 2, rel=1e-4)
    assert half.forgetting < full.forgetting and not half.unchanged
    assert none.forgetting == 0.0 and none.unchanged and not any(none.moved)
    assert half.rates.tolist() == full.rates.tolist() and half.trainable == full.trainable


def test_the_mean_of_the_last_steps_is_taken_over_their_share():
    whole, last = finished("self-ensemble(share=0.01)"), finished("full")
    assert all(torch.equal(one, other) for one, other in zip(whole.every, last.every, strict=True)), "one step"
    run = Finetuner(base_of(), find_strategy("full"), numbered(texts(), base_of()), SETTING, 0)
    kept = []
    for step in range(SETTING.steps):
        run.learn(step)
        kept.append([p.detach().clone() for p in run.every])
    for one, *steps in zip(finished("self-ensemble").every, *kept[3:], strict=True):
        assert torch.allclose(one, torch.stack(steps).mean(0), atol=1e-7)


# strategies put together


def test_plans_are_multiplied_penalties_added_and_modules_joined():
    gradual, slower, pull, adapters = map(find_strategy, ("gradual", "discriminative", "L2-SP", "adapters"))
    both = compose(gradual, slower, pull)
    assert both.name == "gradual unfreezing + discriminative rates + L2-SP"
    assert torch.equal(both.plan(GROUPS, 10), gradual.plan(GROUPS, 10) * slower.plan(GROUPS, 10))
    assert both.penalties == pull.penalties
    assert [e.name for e in compose(adapters, find_strategy("LoRA")).adapters] == ["adapters", "low-rank updates"]
    assert find_strategy(" Gradual + discriminative+l2sp ") == both


def test_a_part_that_the_others_overrule_is_named():
    overruled = "In feature-based + full the part full changes nothing."
    assert find_strategy("feature-based + full").idea.endswith(overruled)
    assert find_strategy("full + adapters").idea.endswith("In full + adapters the part full changes nothing.")
    for name in ("gradual + L2-SP", "full + L2-SP", "ULMFiT + further pre-training", "adapters + LoRA"):
        assert "changes nothing" not in find_strategy(name).idea, name


def test_further_pre_training_comes_first_and_what_follows_has_the_rest_of_the_steps():
    """The task waits while its texts are read; then layers thaw from the top, from the first step to the last."""
    both, thawing = find_strategy("gradual unfreezing + further pre-training"), find_strategy("gradual unfreezing")
    plan = both.plan(GROUPS, 30)
    assert plan[:, :10].tolist() == [[1.0] * 10] * 4 + [[0.0] * 10], "all but the head of the task reads"
    assert torch.equal(plan[:, 10:], thawing.plan(GROUPS, 20))
    assert both.aux_losses == find_strategy("further pre-training").aux_losses
    turned = find_strategy("further pre-training + gradual unfreezing")
    assert torch.equal(turned.plan(GROUPS, 30), plan)
    outcome = tuned(both, setting=FinetuneConfig(steps=9, batch_size=4))[-1]
    assert (outcome.plan[-1, :3] == 0).all() and outcome.plan[-1, 3:].all()


def test_ulmfit_reads_the_tasks_texts_at_lower_rates_and_then_learns_the_task():
    """arXiv:1801.06146, sec. 3.2-3.3: both stages have discriminative rates and a triangle, only the last one thaws.

    Sec. 4.1: the highest rate is 0.004 in the second stage and 0.01 in the third.
    """
    ulmfit, peak = find_strategy("ULMFiT"), [2.6**-3, 2.6**-2, 2.6**-1, 1.0]
    plan = ulmfit.plan(GROUPS, 90)  # 30 steps for the old question, then 60
    assert plan[:-1, 3].tolist() == pytest.approx([0.4 * rate for rate in peak]), "the top of the model learns fastest"
    assert plan[:-1, 0].tolist() == pytest.approx([0.4 * rate / 32 for rate in peak])
    assert not plan[-1, :30].any(), "the head waits"
    assert plan[:, 36].tolist() == pytest.approx([rate / 2.6 for rate in peak] + [1.0])
    assert [int(row.nonzero()[0]) for row in plan[:, 30:]] == [5, 4, 3, 2, 0], "thaws from the top"
    slower = find_strategy("ULMFiT(factor=2)").plan(GROUPS, 90)
    assert slower[2, 3] == pytest.approx(0.2) and slower[2, 36] == pytest.approx(0.25)
    both = find_strategy("ULMFiT + further pre-training")
    assert torch.equal(both.plan(GROUPS, 90), plan) and both.aux_losses == ulmfit.aux_losses
    with pytest.raises(UserError, match="needs a second text, which the texts of a task do not have"):
        ulmfit.check(learner_of("BERT"), find_task("sentiment"))


def test_a_combination_runs_and_obeys_its_plan():
    outcome = tuned(find_strategy("sequential unfreezing + slanted triangular rates + L2-SP + self-ensemble"))[-1]
    assert torch.equal(outcome.rates, 4e-3 * outcome.plan)
    assert outcome.plan[:2, :2].tolist() == [[0.0] * 2] * 2
    joined = tuned(find_strategy("adapters + prefix tuning + LoRA + layer mix"))[-1]
    assert joined.groups[-4:] == ("adapters", "prefix", "low-rank updates", HEAD)
    assert joined.forgetting == 0.0 != joined.plugged_in


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("feature-based + L2-SP", "pull to the start can only change the pre-trained weights, which are all frozen"),
        ("layer mix + replay", "replay can only change the pre-trained weights, which are all frozen"),
        ("all layers + auxiliary LM loss", "reading the task's texts can only change the pre-trained weights"),
        ("feature-based + temperature sampling", "other tasks can only change the pre-trained weights"),
        ("chain-thaw + gradual unfreezing", "in some of the steps one of them freezes what the other trains"),
        ("layer mix + single layer", "have heads that read mix .* and level 1"),
        ("random start + embeddings kept", "they reinitialise everything and layers"),
        (
            "random start + L2-SP",
            "pull to the start holds on to pre-trained weights, and the model starts from new ones",
        ),
        ("new decoder + mixout", "mixout holds on to pre-trained weights, and the decoder starts from new ones"),
        ("feature-based + WiSE-FT", "interpolation with the pre-trained weights can only change the pre-trained"),
        (
            "random start + WiSE-FT",
            "pre-trained weights holds on to pre-trained weights, and the model starts from new",
        ),
        ("self-ensemble + WiSE-FT", "they change the finished weights by mean of the last steps .* and interpolation"),
        ("full +", "no strategy named 'full \\+'"),
        ("full + nope", "no strategy named 'nope'"),
    ],
)
def test_what_does_not_go_together_is_refused_with_a_sentence(name, said):
    with pytest.raises(UserError, match=said):
        find_strategy(name)


@pytest.mark.parametrize("name", ["embeddings only + LoRA", "LSTM on word vectors + adapters", "single layer + PAL"])
def test_modules_above_what_the_head_reads_are_refused(name):
    base = learner_of("RoBERTa", model={"layers": 2})
    with pytest.raises(UserError, match=r"reads level \d, so what .* would add to the layers above it is not read"):
        find_strategy(name).check(base, find_task("sentiment"))
    if "single" in name:
        find_strategy(name).check(learner_of("RoBERTa"), find_task("sentiment"))


def test_static_vectors_have_one_level_and_no_layer():
    model = learner_of("fastText").model
    assert find_strategy("all layers").head.levels(model) == find_strategy("layer mix").head.levels(model) == (0,)
    with pytest.raises(UserError, match="The head reads layer 1; this model has 0 layers"):
        find_strategy("single layer").head.levels(model)


def test_two_settings_of_one_kind_are_a_clash_and_the_same_part_twice_is_not():
    adapters, pull = find_strategy("adapters"), find_strategy("L2-SP")
    narrow = replace(adapters, name="narrow", adapters=(Adapter(bottleneck_size=4),))
    with pytest.raises(UserError, match="both bring 'adapters'"):
        compose(adapters, narrow)
    assert compose(pull, replace(pull, name="again")).penalties == pull.penalties


def test_what_is_painted_for_a_deep_model_and_a_long_run_can_be_put_together():
    painted = find_strategy("full").paint(PaintedCell("encoder layer 7", 61, 80, 0.5))
    assert compose(painted, find_strategy("L2-SP")).painted == painted.painted


def test_one_strategy_alone_is_no_combination():
    with pytest.raises(UserError, match="at least two"):
        compose(find_strategy("full"))


# plans painted by hand


def test_painted_cells_replace_those_of_the_plan_and_are_what_the_optimiser_uses():
    layer = "encoder layer 1"
    cells = PaintedCell("embeddings", 1, 6, 0.0), PaintedCell(layer, 2, 3, 0.5), PaintedCell(layer, 3, 3, 2.0)
    painted = find_strategy("full").paint(*cells)
    outcome = tuned(painted)[-1]
    assert outcome.plan[0].tolist() == [0.0] * 6
    assert outcome.plan[1].tolist() == [1.0, 0.5, 2.0, 1.0, 1.0, 1.0]
    assert torch.equal(outcome.rates, 4e-3 * outcome.plan)
    assert outcome.moved[0] == 0.0 < outcome.moved[1]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (PaintedCell("layer 9", 1, 2, 1.0), "no layer group 'layer 9'; choose one of: embeddings, layer 1"),
        (PaintedCell("layer 3", 0, 2, 1.0), "from step 0 to 2; steps are 1 to 6"),
        (PaintedCell("layer 3", 3, 7, 1.0), "from step 3 to 7"),
        (PaintedCell("layer 3", 3, 2, 1.0), "from step 3 to 2"),
        (PaintedCell("layer 3", 1, 2, -1.0), "multiplier is -1"),
        (PaintedCell("layer 3", 1, 2, float("nan")), "multiplier is nan"),
    ],
)
def test_a_cell_that_cannot_be_painted_is_refused(cell, said):
    with pytest.raises(UserError, match=said):
        find_strategy("full").paint(cell).plan(GROUPS, 6)


# what sets two strategies apart


def test_a_pair_that_differs_in_one_thing_is_said_so():
    full, pull, adapters = map(find_strategy, ("full", "L2-SP", "adapters"))
    said = difference(full, pull)
    assert said == "full and L2-SP differ in one thing; penalties: none vs. pull to the start (strength 0.1)."
    assert "differ in 3 things" in difference(full, adapters)
    assert "learning rate: 0.004 vs. 0.01" in difference(full, adapters)
    assert difference(full, full) == "full and full do the same."
    gradual = difference(full, find_strategy("gradual"))
    assert "one thing; what learns when: everything learns from the first step on vs. one more group" in gradual


def test_a_recurrent_head_sets_a_strategy_apart_from_a_dense_one():
    lstm = find_strategy("LSTM on word vectors")
    dense = replace(lstm, name="dense", head=replace(lstm.head, recurrent=False))
    said = "LSTM on word vectors and dense differ in one thing; the head's own network: an LSTM vs. none."
    assert difference(lstm, dense) == said
    single = difference(lstm, replace(dense, head=Head(reads=1)))
    assert "differ in 2 things" in single and "level 0 (mean pooling) vs. level 1" in single


def test_equal_plans_are_no_difference_however_they_were_made():
    frozen = find_strategy("feature-based")
    twice = compose(frozen, replace(frozen, name="again"))
    through_one = replace(frozen, name="by hand", plasticity=Product((head_only, everything)))
    for other in (twice, through_one, replace(frozen, plasticity=Flat(0.0))):
        assert not unlike(frozen, other)
    assert unlike(frozen, replace(frozen, plasticity=Flat(0.5)))


def test_embeddings_that_learn_beside_low_rank_updates_are_a_difference():
    lora = find_strategy("LoRA")
    thawed = replace(lora, name="LoRA with embeddings", plasticity=WithEmbeddings())
    assert [thing for thing, *_ in unlike(lora, thawed)] == ["what learns when"]
    assert "differ in one thing; what learns when: " in difference(lora, thawed)


@dataclass(frozen=True)
class Flat:
    """All below the head learn at one multiplier."""

    body: float

    def __call__(self, groups, steps):
        plan = torch.full((len(groups), steps), self.body)
        plan[-1] = 1.0
        return plan


@dataclass(frozen=True)
class WithEmbeddings:
    """The embeddings learn beside the head."""

    def __call__(self, groups, steps):
        plan = head_only(groups, steps)
        plan[[k for k, group in enumerate(groups) if group.startswith("embeddings")]] = 1.0
        return plan


def test_a_comparison_says_what_sets_its_strategies_apart():
    facts = list(compared(("full", "gradual", "L2-SP"), seeds=1))[-1].facts()
    assert [text.split(" differ")[0] for text in facts["differences"]] == [
        "full and gradual unfreezing",
        "full and L2-SP",
    ]


# other tasks, texts without labels, prompts


def base_with(name="sentiment"):
    return replace(base_of(), tokenizer=reviews().tokenizer, task=find_task(name), memory={})


def run_of_strategy(name, steps=8):
    base = base_with()
    return Finetuner(
        base, find_strategy(name), numbered(texts("train"), base), FinetuneConfig(steps=steps, batch_size=4), 0
    )


def test_other_tasks_take_turns_and_the_task_in_question_is_none_of_them():
    found = find_strategy("multi-task").others.texts(base_with("sentiment"), PLAIN)
    assert 1 <= len(found) <= 3
    assert all(some.answer != SENTIMENT.answer for some in found), "its classes are those of no other task"
    run = run_of_strategy("multi-task")
    heads = [other.head for other in run.others]
    before = [[p.detach().clone() for p in head.parameters()] for head in heads]
    moved = []
    for step in range(len(run.others)):
        run.learn(step)
        now = [[p.detach().clone() for p in head.parameters()] for head in heads]
        moved.append([not all(map(torch.equal, a, b)) for a, b in zip(before, now, strict=True)])
    assert all(row[k] for k, row in enumerate(moved)), "in its turn every head of another task learns"


def test_an_intermediate_task_stands_alone_first_and_then_is_done_with():
    run = run_of_strategy("intermediate task")
    rows = dict(zip(run.groups, run.plan.tolist(), strict=True))
    assert rows["other heads"] == [1.0] * 4 + [0.0] * 4
    assert rows["task head"] == [0.0] * 4 + [1.0] * 4
    assert rows["embeddings"] == [1.0] * 8


def test_while_an_intermediate_task_stands_alone_the_task_in_question_teaches_nothing():
    """The same weights come out whatever the labels of the task are, and others as soon as it is learnt."""
    runs = []
    for labels in (texts("train").labels, 1 - texts("train").labels):
        base = base_with()
        train = numbered(replace(texts("train"), labels=labels), base)
        runs.append(Finetuner(base, find_strategy("intermediate task"), train, FinetuneConfig(8, 4), 0))
    for step in range(8):
        for run in runs:
            run.learn(step)
        one, other = (run.model.state_dict().values() for run in runs)
        assert all(map(torch.equal, one, other)) == (step < 4)


def test_texts_whose_embeddings_are_moved_are_harder():
    run = run_of_strategy("adversarial")
    drawn, start, term = run.train.pick(torch.arange(4)), run, AdversarialFGM(epsilon=0.5)
    plain = float(drawn.answer.loss(start.score(drawn), drawn.labels).detach())
    assert torch.allclose(start.score(drawn, start.embed(drawn)), start.score(drawn), atol=1e-5)
    run.model.requires_grad_(True)
    assert float(term.begin(start)(StepContext(0, drawn, start.score(drawn))).detach()) > plain


def test_labels_of_texts_without_labels_are_thrown_away_and_only_sure_answers_are_learnt():
    run = run_of_strategy("self-training")
    term = run.strategy.aux_losses[0]
    assert not term.texts(run.base, run.input_format).labels.any()
    unsure, sure = (replace(term, confidence=share, start_fraction=0.0).begin(run) for share in (1.0, 0.5))
    moment = StepContext(0, run.train, torch.zeros(1))
    assert float(unsure(moment)) == 0.0
    assert float(sure(moment).detach()) > 0.0


def test_half_a_text_must_say_what_the_whole_text_says_and_the_whole_is_not_taught():
    """Cross-view training, arXiv:1809.08370, sec. 2.1."""
    run = run_of_strategy("cross-view training")
    whole = run.train.tokens
    left, right = (half_hidden(run.train, side).tokens for side in (0, 1))
    hidden = whole.specials.mask
    assert torch.equal((left.ids == hidden) | (right.ids == hidden), whole.maskable)
    assert not bool(((left.ids == hidden) & (right.ids == hidden)).any())
    ask = run.strategy.aux_losses[0].begin(run)
    moments = [StepContext(step, run.train, torch.zeros(1)) for step in (0, 1)]
    assert float(ask(moments[0])) == 0.0, "labelled and unlabelled batches take turns"
    run.head.requires_grad_(True)
    with torch.no_grad():
        run.head.score.bias.copy_(torch.tensor([3.0, -3.0]))
        run.head.score.weight.zero_()
    assert float(ask(moments[1]).detach()) == pytest.approx(0.0, abs=1e-6), "all views agree where nothing is read"
    with torch.no_grad():
        run.head.score.weight.normal_(generator=torch.Generator().manual_seed(0))
        drawn = run.draw(run.strategy.aux_losses[0].texts(run.base, run.input_format), 1)
        whole, *halves = (
            run.score(some).softmax(1) for some in (drawn, *(half_hidden(drawn, side) for side in (0, 1)))
        )
        apart = sum((whole * (whole / half).log()).sum(1).mean() for half in halves)
    assert float(ask(moments[1]).detach()) == pytest.approx(float(apart), rel=1e-4) != 0.0, "the sum of both views"


def test_elmo_at_the_input_is_the_word_vector_with_the_mix_beside_it_and_reads_no_padding():
    run = run_of_strategy("ELMo at the input")
    tokens = run.train.tokens
    known = dict(enumerate(run.model.hidden_states(tokens)))
    mixed = run.head.read(known)
    level = torch.nn.functional.layer_norm(known[0], known[0].shape[-1:])
    assert torch.equal(mixed[..., : level.shape[-1]], level)
    spoilt = {k: v.masked_fill(~tokens.valid[..., None], 7.0) for k, v in known.items()}
    assert torch.allclose(run.head(known, run.train), run.head(spoilt, run.train), atol=1e-6)
    with pytest.raises(UserError, match="would see the word that it is to write"):
        check_writing(run.model, find_strategy("ELMo at the input").head)


def test_a_prompt_shows_every_class_in_turn_and_ends_with_the_gap():
    train, test = texts("train"), texts("test")
    asked, gap = test.verbalizer, test.tokens.specials.mask
    good, bad = (reviews().tokenizer.encode_words([word])[0] for word in ("good", "bad"))
    assert asked.words == (bad, good)
    shown = [prompting._example(train, k, asked) for k in prompting._first_of_each_class(train, 2)]
    assert [row[-len(asked.end) - 1] for row in shown] == [bad, good]
    text = prompting._text(test, 0)
    row = prompting._with_gap(shown, text, asked.tail(gap), 200)
    assert row == [*shown[0], *shown[1], *text, *asked.after, gap, *asked.end]
    short = prompting._with_gap(shown, text, asked.tail(gap), len(text) + 4)
    assert short == [*text, *asked.after, gap, *asked.end], "examples that do not fit are left out"


def told_of(*chosen, labels=24, **spec):
    """What a comparison of strategies says, by a model that has learnt 45 positions."""
    learner = learner_of("RoBERTa", model={"positions": "learned", "max_position_embeddings": 45})
    feed = BatchSampler.of(reviews(), 16, 8, 0, CPU)
    spec = ComparisonSpec(train_sizes=(labels,), seeds=1, steps=2, **spec)
    base = Base(learner, feed.evaluation(8))
    *_, last = compare(base, reviews().tokenizer, spec, chosen=chosen, batch_size=4)
    return tuple(line for line in last.notices if line not in base.notices)


def test_a_comparison_says_how_many_examples_stand_in_the_prompts():
    few = replace(find_strategy("few-shot"), prompt=Prompt(shots=16))
    numbers = []
    for number in range(500):  # by hand: those that fit, one after another
        train, test = texts("train", 24), texts("test", 500)
        room, standing = 43 - len(prompting._text(test, number)) - 4, 0
        for k in prompting._first_of_each_class(train, 16):
            length = len(prompting._text(train, k)) + 4
            standing, room = (standing + 1, room - length) if length <= room else (standing, room)
        numbers.append(standing)
    assert 0 < min(numbers) < max(numbers) < 16
    said = f"few-shot prompting: A prompt holds {min(numbers)} to {max(numbers)} of 16 examples: "
    assert told_of(few) == (f"{said}the model has room for 43 tokens.",)
    [line] = told_of(few, labels=4)
    assert "of 16 examples: there are only 4 labelled texts" in line
    assert told_of(find_strategy("zero-shot")) == ()


def test_texts_that_are_longer_than_a_prompt_are_counted():
    model = learner_of("RoBERTa", model={"positions": "learned", "max_position_embeddings": 12}).model
    queries = [[([7] * length, [8, 9]), ([7] * length, [9])] for length in (8, 9, 20)]
    asked = [prompting.Prompts([[7] * 4], queries, cut) for cut in ("beginning", "end")]
    for prompts in asked:
        assert [*prompting.describe_left_out(model, Prompt(shots=1), prompts)] == [
            "A prompt holds 0 of 1 examples: the model has room for 10 tokens.",
            f"2 of the 3 texts in question do not fit into a prompt of 10 tokens; their {prompts.cut}s are left out.",
        ]


def test_a_comparison_says_where_a_strategy_reads_fewer_further_texts_than_it_asks_for():
    instead = "are read, as there are fewer than the"
    assert told_of(find_strategy("EWC")) == (f"EWC: 4 rows of pre-training text {instead} 32 asked for.",)
    several = find_strategy("multi-task")
    [term] = several.aux_losses
    assert told_of(replace(several, aux_losses=(replace(term, num_tasks=6),)), max_length=4)[2:] == (
        f"multi-task: 5 other tasks with 512 texts in words of the vocabulary {instead} 6 asked for.",
        "multi-task: 2,560 of the 2,560 texts of other tasks are longer than 4 tokens; their ends are left out.",
    )
    assert told_of(find_strategy("self-training"), max_length=4)[2:] == (
        "self-training: 512 of the 512 texts to learn from are longer than 4 tokens; their ends are left out.",
    )


@pytest.mark.parametrize("name", ["similarity", "NER"])
def test_a_task_without_a_word_for_every_class_cannot_be_asked(name):
    with pytest.raises(UserError, match="one word of the model's vocabulary for every class"):
        find_task(name).check_prompt(base_of().learner.model, reviews().tokenizer)


def test_what_trains_nothing_has_no_plan_to_paint():
    with pytest.raises(UserError, match="trains nothing, so there is no plan to paint"):
        find_strategy("zero-shot").paint(PaintedCell("top", 1, 2, 1.0))
