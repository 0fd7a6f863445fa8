"""One text from either side, behind a code, in a language: arrange/{text,code,language}.py, see/single_stack.py."""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings

from playground import leaks
from playground.batch import begin, language_ids_at
from playground.corpora import open_corpus
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.models import Architecture, make_model, with_required_parts
from playground.models.transformer import SdpaMask
from playground.objectives import find_objective
from playground.objectives.arrange import ArrangeDocument, ArrangeLanguage
from playground.objectives.see import SeeLeft, SeeRight
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD
from tests.laws import assert_law, uniform
from tests.stories import dense, scored_answers, shown, texts
from tests.texts import SPECIALS, batches, plain_rows, seeds, suited, tokens_of
from tests.texts import spoken as in_language

# directions


def shifted(side, tokens, end=False):
    name = "LM" if side == "left" else "backward LM"
    return find_objective(name).turn({"add_eos": end}).batch(tokens, generator(0))


@settings(max_examples=40)
@given(tokens=batches())
def test_backwards_is_forwards_on_the_turned_text(tokens):
    """Turn the text, go forwards, turn the result: the backward LM, but for the special token at the start."""
    turned = tokens_of([text[::-1] for text in texts(tokens)], extra=int(tokens.padded), padded=tokens.padded)
    there, back = shifted("right", tokens), shifted("left", turned)
    for row, text in enumerate(texts(tokens)):
        n = len(text)
        forwards = [SPECIALS.end if t == SPECIALS.start else t for t in shown(back.inputs, row)[0]]
        assert shown(there.inputs, row)[0] == forwards[::-1]
        assert scored_answers(there, row) == scored_answers(back, row)[::-1]
        cells = dense(back.inputs.attn_mask, row, n, n)
        assert dense(there.inputs.attn_mask, row, n, n) == [line[::-1] for line in cells[::-1]]


def test_elmo_answers_as_released_with_the_end_tokens():
    """Forwards <S> w1..wn to w1..wn </S>, backwards w1..wn </S> to <S> w1..wn (bilm-tf, data.py)."""
    tokens = tokens_of([[50, 51, 52]], padded=False)
    left, right = shifted("left", tokens, True), shifted("right", tokens, True)
    assert left.inputs.ids.tolist() == [[SPECIALS.start, 50, 51, 52]]
    assert left.targets[0].labels.tolist() == [[50, 51, 52, SPECIALS.end]]
    assert right.inputs.ids.tolist() == [[50, 51, 52, SPECIALS.end]]
    assert right.targets[0].labels.tolist() == [[SPECIALS.start, 50, 51, 52]]


def test_every_word_is_asked_for_once_in_each_direction():
    batch = find_objective("BiLM").batch(tokens_of([[50, 51, 52], [53]]), generator(0))
    assert [(part.network, part.targets[0].name) for part in batch.with_auxiliary] == [
        ("backward", "previous word"),
        ("main", "next word"),
    ]
    for part in batch.with_auxiliary:
        target = part.targets[0]
        assert sorted(target.origin[0][target.loss_mask[0]].tolist()) == [0, 1, 2]
        assert target.weight == 0.5


@pytest.mark.parametrize(("stage", "sign"), [(SeeLeft, 1), (SeeRight, -1)])
@pytest.mark.parametrize("window", [1, 3, 64])
def test_a_window_closes_all_but_the_nearest(stage, sign, window):
    seen = stage(sliding_window=window).build(begin(plain_rows(1, 9))).inputs.attn_mask
    cells = seen.dense()[0].tolist()
    assert cells == [[0 <= sign * (i - j) < window for j in range(9)] for i in range(9)]
    assert seen.form == "levels"
    assert SdpaMask.of(seen).mask is not None, "attention must not take its short way past a window"


def test_each_layer_looks_one_window_further():
    batch = find_objective("window LM").turn({"sliding_window": 3}).batch(plain_rows(1, 12), generator(0))
    for layers, heard in ((1, 3), (2, 5), (3, 7)):
        assert int(leaks.answering(batch, batch.targets[0], layers)[0][11].sum()) == heard


# codes


def coded(*topics):
    labels = torch.tensor(topics)
    return replace(plain_rows(len(topics), labels.shape[1]), labels={"topic": labels})


def test_a_code_is_the_first_topic_of_a_row_wherever_it_begins():
    """Rows begin in the middle of documents: of other documents nothing is read and nothing is asked."""
    tokens = coded([-1, -1, 3, 3, 3, -1], [4, 4, -1, 2, 2, 2], [1, 1, 1, 2, 2, 2], [-1] * 6)
    batch = find_objective("CTRL").batch(tokens, generator(0))
    code, word = SPECIALS.sentinels, [FIRST_WORD + k for k in range(6)]
    spans = [(2, 5), (0, 2), (0, 3), (0, 6)]
    for row, (sign, (first, end)) in enumerate(zip([code[3], code[4], code[1], SPECIALS.start], spans, strict=True)):
        assert scored_answers(batch, row) == word[first:end]
        assert shown(batch.inputs, row)[0] == [sign, *word[first : end - 1]]


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_words_of_a_document_are_numbered_from_0(tokens, seed):
    topics = torch.randint(-1, 2, tokens.ids.shape, generator=generator(seed)).sort(1).values.roll(seed % 7, 1)
    known = replace(tokens, labels={"topic": topics, "place": torch.arange(topics.shape[1]).expand_as(topics)})
    cut = ArrangeDocument("topic").build(begin(known)).tokens
    for row, length in enumerate(cut.lengths.tolist()):
        kept = cut.labels["place"][row, :length]
        assert (cut.labels["place"][row, length:] == -1).all()
        for name in ("word_ids", "sentence_ids"):
            numbers = getattr(tokens, name)[row, kept]
            assert torch.equal(getattr(cut, name)[row, :length], numbers - numbers[:1])


def test_a_label_with_more_values_than_there_are_special_tokens_is_refused():
    count = len(SPECIALS.sentinels)
    most = find_objective("conditional LM").batch(coded([count - 1] * 3), generator(0))
    assert int(most.inputs.ids[0, 0]) == SPECIALS.sentinels[-1]
    with pytest.raises(
        UserError, match=rf"'topic' has the number {count} and there are {count} special tokens for it;"
    ):
        find_objective("conditional LM").batch(coded([count] * 3), generator(0))


# languages


UNTOLD = ("multilingual LM", "multilingual BiLM", "multilingual MLM")


def test_a_special_token_has_the_language_of_its_neighbour():
    tokens = replace(plain_rows(1, 4), labels={"language": torch.tensor([[2, 2, 1, -1]])})
    assert language_ids_at(tokens, torch.tensor([[-1, 0, -1, 2, 3, -1]])).tolist() == [[2, 2, 2, 1, 0, 0]]
    halves = torch.tensor([[0, 0, 0, 1, 1, 1]])
    assert language_ids_at(tokens, torch.tensor([[-1, 0, -1, -1, 2, -1]]), halves).tolist() == [[2, 2, 2, 1, 1, 1]]
    assert language_ids_at(plain_rows(1, 4), torch.tensor([[-1, 0]])).tolist() == [[0, 0]]


@pytest.mark.parametrize("name", UNTOLD)
def test_the_model_reads_the_language_where_it_is_given(name):
    """XLM has a vector for each language; mBERT, XLM-R and Rosita have none."""
    objective = find_objective(name).turn({"language_embeddings": True})
    tokens = plain_rows(2, 8)
    one, other = (objective.batch(in_language(tokens, k), generator(0)) for k in (0, 1))
    assert other.inputs.language_ids.unique().tolist() == [1]
    model = make_model(
        with_required_parts(Architecture(layers=1, width=16, heads=2), other), SPECIALS.size, generator(0)
    )
    first, second = (model(e)[0].scores for e in (one, other))
    assert not torch.equal(first, second)
    quiet = find_objective(name).batch(in_language(tokens, 1), generator(0))
    assert not quiet.inputs.language_ids.any()
    assert with_required_parts(Architecture(), quiet).languages == 0
    assert with_required_parts(Architecture(), other).languages == 2
    assert torch.equal(quiet.inputs.ids, other.inputs.ids)


def test_models_without_language_vectors_are_not_found_under_an_objective_that_has_them():
    untold = ("mBERT", "XLM-R", "Rosita", "polyglot LM")
    assert not any(find_objective(name).knobs["language_embeddings"].default for name in untold)


def test_a_text_is_read_in_either_language_as_often():
    objective = find_objective("multilingual denoising")
    tokens = suited(objective, tokens_of([[40, 41, 42, 43, 44, 45]] * 9000, padded=False))
    second = ArrangeLanguage().plan(begin(tokens), generator(2))
    assert_law(Counter(second.tolist()), uniform((False, True)))


def test_laser_translates_in_both_directions_and_only_the_decoder_knows_the_language():
    """arXiv:1812.10464, sec. 3.1: the encoder is not told what it reads, the decoder is told what to write."""
    rows = pick(open_corpus("parallel").pairs(12), torch.arange(20))
    batch = find_objective("translation through one vector").batch(rows, generator(0))
    other = rows.neighbours["translation"]
    back = (batch.tokens.ids[:, : other.ids.shape[1]] == other.ids).all(1)
    assert 0 < int(back.sum()) < 20 and not batch.inputs.language_ids.any()
    first, second = rows.labels["language"][:, 0], other.labels["language"][:, 0]
    assert torch.equal(batch.decoder.language_ids[:, 0], first.where(back, second))
    [target] = batch.targets
    for row in range(20):
        written = rows if back[row] else other
        length = int(written.lengths[row])
        assert target.labels[row, :length].tolist() == written.ids[row, :length].tolist()
