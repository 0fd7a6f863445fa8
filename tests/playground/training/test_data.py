"""What a run reads: batches that follow from seed and step, second texts and labels, blocks of many steps."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from playground.answers import CooccurrenceTarget, NegativeSampling
from playground.corpora import open_corpus
from playground.errors import UserError
from playground.objectives import objectives
from playground.objectives.catalog.mlm import MLM
from playground.training import Stepped, data, train
from playground.training.data import BatchSampler, Prefetcher, describe_left_out, steps_together
from playground.training.train_state import TrainState
from tests.playground.test_slicing import assert_same
from tests.runs import alone, feed_of, learner_of, reviews, run_of, suited_reviews, tiny

CPU = torch.device("cpu")


def test_no_step_sees_held_out_text():
    run = run_of(steps=1)
    feed = BatchSampler.of(run.corpus, 16, 8, 0, CPU)
    length = run.corpus.held_out_from // 16 * 16
    assert torch.equal(feed.windows.ids.flatten(), run.corpus.ids[:length])
    assert feed.held_out.ids[0].tolist() == run.corpus.ids[run.corpus.held_out_from :][:16].tolist()


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


DOCUMENTS = ["one two three four five six seven eight nine ten . eleven twelve ."] * 3 + ["a b . c d ."] * 5
DOCUMENTS += ["alone ."] * 4 + ["a b . c d . e f ."] * 2


@pytest.mark.parametrize(
    ("entry", "rows", "sentences"),
    [
        ("BERT", 10, ["3 of the 10 pairs of texts to train on are longer than a row of 8 tokens; their ends are "
                      "left out.", "6 of the 26 sentences to train on make no pair with another; they are not read."]),
        ("ERNIE 2.0", 2, ["20 of the 26 sentences to train on are in a document of one or two; they are not read."]),
        ("RoBERTa", 14, []),
    ],
)  # fmt: skip
def test_a_run_says_which_pairs_are_cut_and_which_sentences_are_in_none(entry, rows, sentences, tmp_path):
    """Two documents of three short sentences have a pair and one left over, as only two sentences fit into a row."""
    file = tmp_path / "mine.txt"
    file.write_text("\n\n".join([*DOCUMENTS, "a held out text . it ends ."]))
    run = run_of(corpus=open_corpus(file), entry=tiny(entry, seq_len=8, batch_size=1))
    run = replace(run, corpus=replace(run.corpus, held_out_from=int((run.corpus.document_ids < 14).sum())))
    assert [*describe_left_out(run.corpus, run.entry)] == sentences
    assert run.notice == " ".join(filter(None, [run.corpus.notice, *sentences]))
    needs = set(run.entry.objective.needs) & data.PAIRED
    assert len(data.windows(run.corpus, 8, "train", 0, tuple(needs)).ids) == rows


def test_a_run_says_which_translations_are_cut():
    run = run_of(corpus=open_corpus("parallel", tokens=2_000), entry=tiny("XLM", seq_len=6))
    near = data.windows(run.corpus, 1_000, "train", 0, run.entry.needs)
    lengths = near.lengths + near.neighbours["translation"].lengths
    [line] = describe_left_out(run.corpus, run.entry)
    assert line.startswith(f"{int((lengths > 6).sum())} of the {len(lengths)} pairs of texts to train on are longer")


def test_a_run_says_where_a_batch_is_smaller_and_which_rows_no_batch_continues():
    own = replace(reviews(1_000), name="mine.txt")
    run = run_of(corpus=own, entry=tiny("RoBERTa", batch_size=512))
    number = run.corpus.held_out_from // 16
    assert run.notice == f"A batch has all {number} rows instead of 512."
    run = run_of(corpus=own, entry=tiny("Transformer-XL", batch_size=number - 3))
    rest = f"3 of the {number} rows to train on are not read"
    assert run.notice == f"{rest}, as every batch of {number - 3} rows continues the one before."
    assert replace(run, corpus=reviews(1_000)).notice == "", "a built-in text is none of a person's own"


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
    for position, step in enumerate(range(first, last)):
        one = feed.at(step)
        for name in ("ids", "lengths", "word_ids", "sentence_ids", "example_ids", "epoch"):
            assert torch.equal(getattr(whole, name)[8 * position : 8 * position + 8], getattr(one, name))


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
    with pytest.raises(UserError, match=r"The words of \S+ have no label 'colour'; their labels are: \w+"):
        next(train(run_of(entry=entry, corpus=reviews())))


def test_padding_of_pairs_is_not_counted_as_read():
    steps = [e for e in train(run_of(entry=alone(NSP), corpus=suited_reviews(NSP), steps=3)) if isinstance(e, Stepped)]
    lengths = [int(e.batch.tokens.valid.sum()) for e in steps]
    assert steps[-1].tokens == sum(lengths) < 3 * 8 * 16 + 1


def blocks_of(name="BART", steps=32, seed=0):
    learner = learner_of(name, seed)
    return Prefetcher(BatchSampler.of(reviews(), 16, 8, seed, CPU, learner.objective.needs), learner, steps)


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


def test_a_block_is_drawn_once(monkeypatch):
    monkeypatch.setattr(data, "STEPS", 32)
    drawn = []
    batch = TrainState.batch

    def counted(self, tokens, *path):
        drawn.append((path, len(tokens.ids)))
        return batch(self, tokens, *path)

    monkeypatch.setattr(TrainState, "batch", counted)
    list(train(run_of(entry=tiny(batch_size=2, steps=40), steps=40)))
    assert drawn == [(("block", 0), 64), (("block", 1), 64)]


def test_a_generator_proposes_with_the_weights_of_the_step():
    run = run_of("ELECTRA", steps=4)
    feed = BatchSampler.of(run.corpus, 16, 8, 0, CPU)
    learner = learner_of("ELECTRA")
    for event in train(run):
        if isinstance(event, Stepped):
            assert_same(event.batch, learner.batch(feed.at(learner.step)))
            learner.learn(event.batch)


def test_what_looks_at_a_whole_batch_or_fills_the_memory_is_drawn_in_shorter_blocks():
    feed = feed_of()
    batch = learner_of("RoBERTa").batch(feed.at(0))
    assert steps_together(MLM, [batch], feed) == 256
    target = batch.targets[0]
    wrong = replace(target, kind=NegativeSampling(torch.full((*target.labels.shape, 5), -1)))
    assert steps_together(MLM, [replace(batch, targets=(target, wrong))], feed) == 32
    pairs = replace(batch, targets=(replace(target, kind=CooccurrenceTarget(torch.ones_like(target.labels))),))
    assert steps_together(MLM, [pairs], feed) == 1
    assert steps_together(MLM, [replace(batch, auxiliary=(pairs,))], feed) == 1
    assert steps_together(objectives()["RTD"], [batch], feed)
    assert steps_together(objectives()["T5 multi-task"], [batch], feed) == 1
    assert steps_together(objectives()["UniLM"], [batch], feed) == 256
    wide = SimpleNamespace(batch_size=512, windows=SimpleNamespace(ids=torch.zeros(1, 256)))
    assert steps_together(MLM, [batch], wide) == data.MOST // (512 * 256) == 2
    assert steps_together(MLM, [batch], SimpleNamespace(batch_size=4096, windows=wide.windows)) == 1
