"""Names that are replaced and labels that are asked for: change/entities.py, ask/label.py."""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import leaks
from playground.batch import Action, begin
from playground.errors import UserError
from playground.models import Architecture, make_model, total_loss, with_required_parts
from playground.objectives import find_objective
from playground.objectives.ask import AskLabel
from playground.objectives.bind import with_label_names
from playground.objectives.change import ChangeEntities
from playground.objectives.change.entities import mentions, partners
from playground.objectives.ops import sampling
from playground.objectives.see import SeeLabels
from playground.rng import generator
from playground.trace.rebuild import rebuild
from tests.laws import assert_law, assert_share
from tests.texts import SPECIALS, batches, plain_rows, seeds, story, suited, tokens_of

# names


def named(rows, entity, kind=None, words=None):
    """A batch in which each maximal run of one entity is a name."""
    ids = words or [[40 + k for k in range(len(entity[0]))]] * rows
    tokens = tokens_of(ids, padded=False)
    label = torch.tensor(entity)
    change = torch.cat([torch.ones_like(label[:, :1], dtype=torch.bool), label[:, 1:] != label[:, :-1]], 1)
    mention = change.long().cumsum(1).where(label >= 0, -1)
    types = torch.zeros_like(label) if kind is None else torch.tensor(kind)
    labels = {"mention": mention, "entity": label, "entity_type": types.where(label >= 0, -1)}
    return replace(tokens, labels=labels)


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, types=st.integers(1, 3))
def test_every_partner_is_another_name_of_the_same_kind_and_length(tokens, seed, types):
    tokens = suited(find_objective("WKLM"), tokens)
    kind = (tokens.labels["entity"] % types).where(tokens.labels["entity"] >= 0, -1)
    batch = begin(replace(tokens, labels={**tokens.labels, "entity_type": kind}))
    names = mentions(batch)
    donor = partners(batch, names, sampling.noise(tuple(tokens.ids.shape), generator(seed)))
    width, flat = tokens.ids.shape[1], []
    for row in range(len(tokens.ids)):
        for k in range(int((names.length[row] > 0).sum())):
            start, length = int(names.start[row, k]), int(names.length[row, k])
            entity = int(tokens.labels["entity"][row, start])
            flat.append((row * width + start, length, int(kind[row, start]), entity, int(donor[row, k])))
    for _, length, type_, entity, chosen in flat:
        fitting = [position for position, n, t, e, _ in flat if (n, t) == (length, type_) and e != entity]
        assert chosen in fitting if fitting else chosen == -1


def test_every_other_name_is_equally_likely_and_half_of_the_names_are_replaced():
    words = [[40, 50], [41, 50], [42, 50], [42, 50], [43, 50]] * 1600
    tokens = named(8000, [[0, -1], [1, -1], [2, -1], [2, -1], [3, -1]] * 1600, words=words)
    batch = find_objective("WKLM").turn({"mask_ratio": 0.0}).batch(tokens, generator(10))
    replaced = batch.actions[:, 0] == Action.REPLACED
    assert_share(int(replaced.sum()), 8000, 0.5)
    first = batch.inputs.ids[:, 0][replaced & (tokens.ids[:, 0] == 40)]
    assert_law(Counter(first.tolist()), {41: 0.25, 42: 0.5, 43: 0.25})
    target = batch.targets[-1]
    assert torch.equal(target.labels[:, 0].bool(), replaced)
    assert target.loss_mask[:, 0].all()
    assert not target.loss_mask[:, 1].any()


def test_a_name_of_another_length_or_kind_is_no_partner():
    tokens = named(3, [[0, 0, -1], [1, -1, -1], [2, 2, -1]], kind=[[0, 0, 0], [0, 0, 0], [1, 1, 1]])
    plan = ChangeEntities(replace_prob=1.0).plan(begin(tokens), generator(0))
    assert torch.equal(plan, tokens.ids)


def test_the_same_name_by_luck_counts_as_original():
    tokens = named(2, [[0, 0], [1, 1]], words=[[40, 41], [40, 41]])
    batch = ChangeEntities(replace_prob=1.0).build(
        begin(tokens), ChangeEntities(replace_prob=1.0).plan(begin(tokens), generator(0))
    )
    assert not batch.actions.any()


def test_names_are_never_hidden_where_replaced_ones_are_to_be_detected():
    objective = find_objective("entity replacement").turn({"mask_ratio": 1.0})
    tokens = suited(objective, plain_rows(20, 30))
    batch = objective.batch(tokens, generator(0))
    assert not (batch.targets[0].loss_mask & (tokens.labels["mention"] >= 0)).any()
    assert int(batch.targets[0].loss_mask.sum()) == int((tokens.labels["mention"] < 0).sum())


# labels


EARLY, LATE = 1, 2


@pytest.mark.parametrize("name", ["label-aware MLM", "supersense prediction", "WKLM"])
def test_a_typed_text_without_the_label_is_refused(name):
    with pytest.raises(UserError, match=r"needs the label"):
        rebuild(name)


def test_labels_are_asked_where_the_corpus_knows_them():
    labels = {"pos": torch.tensor([[0, 1, -1, 2, 1]]), "mention": torch.tensor([[-1, 0, 0, -1, 1]])}
    batch = begin(replace(plain_rows(1, 5), labels=labels))
    batch = replace(batch, selected=torch.tensor([[True, False, True, False, True]]))
    asked = {
        w: AskLabel("pos", ("a", "b", "c"), w).build(batch).targets[0] for w in ("chosen", "mentions", "everywhere")
    }
    positions = {w: (q.loss_mask[0].nonzero().flatten() + 1).tolist() for w, q in asked.items()}
    assert positions == {"chosen": [1, 5], "mentions": [2, 5], "everywhere": [1, 2, 4, 5]}
    assert asked["everywhere"].labels[0].tolist() == [0, 1, 0, 2, 1]


def test_a_corpus_names_its_own_classes():
    names = {"pos": ("NOUN", "VERB", "ADJ", "DET"), "polarity": ("bad", "good"), "topic": ("sea",)}
    names["word_polarity"] = ("negative", "neutral", "positive")
    objective = with_label_names(find_objective("label-aware MLM"), names)
    labels = {"pos": torch.full((2, 6), 3), "polarity": torch.ones(2, 6, dtype=torch.long)}
    labels["word_polarity"] = labels["polarity"]
    tokens = replace(plain_rows(2, 6), labels=labels)
    batch = objective.steps(tokens, generator(0), {"part": LATE})[-1].batch
    del names["topic"]
    assert {target.name: target.kind.classes for target in batch.targets[1:]} == names
    shape = with_required_parts(Architecture(layers=1, width=8, heads=2, mlp_ratio=1), batch)
    assert dict(shape.labels) == {"polarity": 2, "pos": 4, "word_polarity": 3}
    assert dict(shape.label_embeddings) == {"pos": 4, "word_polarity": 3}
    total, terms = total_loss(make_model(shape, SPECIALS.size, generator(0))(batch))
    assert set(terms) == {"hidden words", *names}
    assert total.item() == pytest.approx(sum(term.item() for term in terms.values()), rel=1e-5)
    assert with_label_names(find_objective("MLM"), names) == find_objective("MLM")


def test_several_answers_at_one_position_stand_side_by_side():
    """The first two words belong to no text of known sentiment, and a special token stands in front."""
    rebuilt = story("label-aware MLM", overrides={"part": LATE, "chosen": "1", "actions": "mask"})
    assert rebuilt.facts()["targets"][:2] == ["negative", "happy · ADV · positive"]


def rows_of(*texts_):
    """Rows of words whose labels say of which kind their document is, -1 between documents."""
    ids = [[40 + k for k in range(len(labels))] for labels in texts_]
    labels = torch.tensor(texts_)
    return replace(tokens_of(ids, padded=False), labels=dict.fromkeys(("polarity", "pos", "word_polarity"), labels))


def test_most_batches_say_the_sentiment_and_the_others_ask_for_it():
    """SentiLR: words given the label of their text, and the label given the words (arXiv:1911.02493, released code)."""
    objective = find_objective("SentiLR")
    tokens = rows_of([-1, 1, 1, 1, -1, 0], [0, 0, 0, 0, 0, -1], [-1] * 6)
    early, late = (objective.steps(tokens, generator(0), {"part": k})[-1].batch for k in (EARLY, LATE))
    read = early.inputs.label_ids["polarity"]
    assert read.classes == ("negative", "neutral", "positive")
    assert read.ids.tolist() == [[0, 2, 2, 2, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1, 0, 0], [0] * 8]
    assert set(early.inputs.label_ids) == {"pos", "word_polarity", "polarity"}
    assert set(late.inputs.label_ids) == {"pos", "word_polarity"}
    assert [target.name for target in early.targets] == ["hidden words", "pos", "word_polarity"]
    asked = late.targets[3]
    assert (asked.name, asked.loss_mask.nonzero().tolist()) == ("polarity", [[0, 0], [1, 0]])
    assert asked.labels[:2, 0].tolist() == [1, 0]
    assert early.tokens.lengths.tolist() == late.tokens.lengths.tolist() == [3, 5, 6]
    drawn = Counter(objective.stages[0].plan(begin(tokens), generator(seed)).index for seed in range(2000))
    assert_law(drawn, {0: 0.8, 1: 0.2})


def test_labels_are_read_with_the_words_but_not_those_of_hidden_words():
    """A word that is asked for but left as it is keeps its labels (SentiLARE, released code)."""
    tokens = rows_of([1] * 5)
    overrides = {"part": EARLY, "chosen": [1, 3, 5], "actions": ["mask", "random", "keep"]}
    batch = find_objective("SentiLR").steps(tokens, generator(0), overrides)[-1].batch
    read = {name: label.ids[0].tolist() for name, label in batch.inputs.label_ids.items()}
    assert read == {
        "pos": [0, 0, 2, 0, 2, 2, 0], "word_polarity": [0, 0, 2, 0, 2, 2, 0], "polarity": [0, 2, 2, 2, 2, 2, 0]
    }  # fmt: skip
    verdict = leaks.check(batch)
    assert not verdict.leak and verdict.by_design == (5,)
    shown = SeeLabels("pos", ("a", "b"), "text").build(batch)
    assert leaks.check(shown).leaking == (1, 3)
    assert [(p.position, p.layer) for p in leaks.check(shown).path] == [(1, 4)]


def test_a_label_of_the_whole_text_that_is_read_gives_its_question_away():
    batch = find_objective("SentiLR").steps(rows_of([1] * 5), generator(0), {"part": LATE})[-1].batch
    assert not leaks.check(batch).leak
    assert leaks.check(SeeLabels("polarity", ("bad", "good"), "text").build(batch)).leaking == (0,)


def test_what_is_read_of_a_label_is_added_to_the_vector_of_the_word():
    batch = find_objective("SentiLR").steps(rows_of([1, 1, 0]), generator(0), {"part": EARLY, "chosen": [2]})[-1].batch
    model = make_model(
        with_required_parts(Architecture(layers=1, width=8, heads=2), batch), SPECIALS.size, generator(0)
    )
    network, table = model.network, model.token_embedding.weight
    plain = network._embed(replace(batch.inputs, label_ids={}), table)
    vectors = {name: network.label_embedding[name].weight for name in batch.inputs.label_ids}
    known = {name: label.ids for name, label in batch.inputs.label_ids.items()}
    added = sum(vectors[name][ids] - vectors[name][0] for name, ids in known.items())
    torch.testing.assert_close(network._embed(batch.inputs, table), plain + added)


@settings(max_examples=40)
@given(seed=seeds)
def test_no_word_is_hidden_under_the_sentiment_of_another_text(seed):
    tokens = rows_of(*[[-1, -1, 1, 1, 1, 1, -1, 0, 0, 0, 0, 0]] * 4)
    batch = find_objective("SentiLR").turn({"mask_ratio": 1.0}).batch(tokens, generator(seed))
    assert batch.targets[0].labels[batch.targets[0].loss_mask].tolist() == [42, 43, 44, 45] * 4


def test_the_caption_says_which_labels_are_read():
    made = story("label-aware MLM", overrides={"part": EARLY, "chosen": "3", "actions": "mask"}).record()
    seen = [frame["caption"] for frame in made["frames"] if frame["name"].startswith("visibility")]
    read = "Of 10 words the model also reads the pos of 9, the word polarity of 9, the polarity (negative)."
    assert [caption.partition(" pairs). ")[2] for caption in seen][-1] == read
    assert "also reads" not in seen[0]
