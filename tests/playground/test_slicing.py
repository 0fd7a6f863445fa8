"""Cutting an example: each part is what would have been there had only its rows been read."""

import gc
import pickle
import weakref
from dataclasses import replace

import pytest
import torch

from playground.answers import CooccurrenceTarget, NegativeSampling, SoftTargets, Target
from playground.batch import (
    AttentionMask,
    Batch,
    Spans,
    Stream,
    Tokens,
    begin,
)
from playground.models import Architecture, make_model, with_required_parts
from playground.objectives import objectives
from playground.rng import generator
from playground.slicing import rows, split_rows, trimmed
from playground.tokenizing.vocabulary import FIRST_WORD
from tests.laws import assert_same, leaves, same
from tests.texts import SPECIALS, suited, tokens_of

TINY = Architecture(layers=1, width=16, heads=2)
every_objective = pytest.mark.parametrize("name", list(objectives()))


def texts():
    """Twelve ragged texts; the longest stand at the end, so that early parts are narrower than the whole."""
    return tokens_of([[FIRST_WORD + (k * n) % 50 for k in range(n)] for n in range(3, 15)], extra=3)


def batch_of(name):
    objective = objectives()[name]
    return objective.batch(suited(objective, texts()), generator(3, "rows"))


@every_objective
def test_the_batches_of_an_example_put_together_are_the_example(name):
    whole = batch_of(name)
    parts = split_rows(whole, 5)
    assert [len(part.tokens.ids) for part in parts] == [5, 5, 2]
    cut = [leaves(part) for part in parts]
    for path, value in leaves(whole).items():
        if isinstance(value, torch.Tensor) and len(value) == 12:
            assert torch.equal(torch.cat([part[path] for part in cut]), value), path
        else:
            assert all(part[path] is value for part in cut), path


@every_objective
def test_every_part_counts_the_tokens_of_its_texts(name):
    whole = batch_of(name)
    for part in (*split_rows(whole, 5), *split_rows(whole, 4, trim=True), rows(whole, 3, 10), whole):
        assert part.count == int(part.tokens.lengths.sum()) == replace(part, dupe_factor=1).count


def test_parts_of_texts_without_padding_count_their_tokens_too():
    tokens = tokens_of([[FIRST_WORD + k for k in range(8)]] * 7, padded=False)
    whole = objectives()["MLM"].batch(tokens, generator(3))
    assert [part.count for part in split_rows(whole, 3)] == [24, 24, 8]
    assert [part.count for part in split_rows(whole, 7)] == [56]


@every_objective
def test_rows_are_those_of_the_batches(name):
    whole = batch_of(name)
    for number, part in enumerate(split_rows(whole, 4)):
        assert_same(rows(whole, 4 * number, 4 * number + 4), part)


@every_objective
def test_a_model_answers_the_rows_of_a_part_as_it_answers_them_in_the_whole(name):
    whole = batch_of(name)
    model = make_model(with_required_parts(TINY, whole), SPECIALS.size, generator(0)).double()
    answers = model(whole)
    for number, part in enumerate(split_rows(whole, 4)):
        for small in (part, trimmed(part)):
            for one, other in zip(answers, model(small), strict=True):
                mine = (one.rows // 4 == number).nonzero().flatten()
                assert torch.equal(one.rows[mine] - 4 * number, other.rows)
                assert torch.equal(one.positions[mine], other.positions)
                if not one.target.kind.compares_rows:  # a smaller batch has fewer wrong partners
                    assert torch.allclose(one.losses()[mine], other.losses(), atol=1e-9)


@every_objective
def test_a_trimmed_example_is_as_wide_as_its_widest_row(name):
    """Where all rows are empty, as when nothing was drawn to be written, it stays as it is."""
    for part in split_rows(batch_of(name), 3):
        for piece in trimmed(part).with_auxiliary:
            for stream in (piece.inputs, piece.decoder):
                if stream is not None and stream.padded:
                    assert int(stream.valid.sum(1).max()) in (0, stream.ids.shape[1])


@every_objective
def test_batches_are_trimmed_together_as_they_are_alone(name):
    whole = batch_of(name)
    for part, alone in zip(split_rows(whole, 5, trim=True), split_rows(whole, 5), strict=True):
        assert_same(part, trimmed(alone))


def test_what_has_no_padding_is_not_touched():
    tokens = tokens_of([[FIRST_WORD + k for k in range(8)]] * 4, padded=False)
    for name in ("LM", "MLM", "PLM"):
        whole = objectives()[name].batch(tokens, generator(0))
        assert trimmed(whole).inputs is whole.inputs
        assert all(a is b for a, b in zip(trimmed(whole).targets, whole.targets, strict=True))
        assert [p.inputs.attn_mask.form for p in split_rows(whole, 2)] == [whole.inputs.attn_mask.form] * 2


def full_of_everything():
    """An example with a value in every optional place, of six rows, five positions and a decoder of four."""
    b, n, m, v = 6, 5, 4, 7
    dice = generator(1)

    def some(*shape):
        return torch.randint(0, 3, shape, generator=dice)

    def stream(width, **more):
        real = torch.arange(width) < torch.tensor([3, 2, 3, 3, 1, 2])[:, None]
        values = [some(b, width) for _ in range(4)]
        attn_mask = AttentionMask(some(1, width), some(b, width), "levels", some(b, width, width) > 0)
        return Stream(values[0], values[1], real, values[2], values[3], some(1, width), attn_mask, **more)

    def target(name, reader, width, kind):
        positions = (some(b, width), some(b, width) > 0, some(b, width))
        return Target(name, kind, reader, *positions, 2.0, True, some(b, width, 2))

    text = tokens_of([[FIRST_WORD + k for k in range(n)]] * b)
    text = replace(text, example_ids=torch.arange(b), epoch=some(b), word_counts=some(b), labels={"sense": some(b, n)})
    text = replace(text, neighbours={"next": text})
    window = (some(1, n), some(b, n))
    above = AttentionMask(some(b, n), some(b, n))
    query = AttentionMask(some(b, n), some(1, n), window=window, excluded=some(b, n), odd_layers=above)
    cross = AttentionMask(some(b, m), some(b, n), odd_layers=AttentionMask(some(b, m), some(b, n)))
    made = begin(text)
    return replace(
        made,
        inputs=stream(n, query_attn_mask=query),
        decoder=stream(m, cross_attn_mask=cross),
        spans=Spans(some(b, 3), some(b, 3)),
        auxiliary=(replace(made, network="backward"),),
        targets=(
            target("one", "inputs", n, NegativeSampling(some(b, n, 3), "nce", torch.rand(v, generator=dice))),
            target("two", "decoder", m, CooccurrenceTarget(some(b, m))),
            target("three", "query", n, SoftTargets("sense", ("a", "b"), teacher="all", positions=some(b, n))),
        ),
    )


def test_every_optional_value_is_cut_and_nothing_of_the_vocabulary_is():
    whole = full_of_everything()
    cut, known = leaves(rows(whole, 1, 4)), leaves(whole)
    for path, value in known.items():
        if not isinstance(value, torch.Tensor) or path.endswith(("word_counts", "log_noise_prob")) or len(value) == 1:
            assert same(cut[path], value), path
        else:
            assert torch.equal(cut[path], value[1:4]), path
    assert len(known[".tokens.word_counts"]) == 6, "as many words as rows, and still not cut"


def test_the_visibility_of_a_part_is_that_of_its_rows():
    whole = full_of_everything()
    part, narrow = rows(whole, 1, 4), trimmed(rows(whole, 1, 4))
    matrices = (
        lambda e: e.inputs.attn_mask,
        lambda e: e.inputs.query_attn_mask,
        lambda e: e.inputs.query_attn_mask.odd_layers,
        lambda e: e.decoder.cross_attn_mask,
        lambda e: e.decoder.cross_attn_mask.odd_layers,
    )
    for pick in matrices:
        dense = pick(whole).dense()[1:4]
        assert torch.equal(pick(part).dense(), dense)
        small = pick(narrow).dense()
        assert torch.equal(small, dense[:, : small.shape[1], : small.shape[2]])
    assert narrow.inputs.ids.shape == narrow.decoder.ids.shape == (3, 3)
    wrong, seen = narrow.targets[0].kind.negatives, narrow.targets[1].kind.counts
    assert (wrong.shape, seen.shape, narrow.targets[0].reads.shape) == ((3, 3, 3), (3, 3), (3, 3, 2))


def test_parts_share_memory_with_the_whole():
    whole: Batch = batch_of("MLM")
    for part in split_rows(whole, 4):
        assert part.inputs.ids.untyped_storage().data_ptr() == whole.inputs.ids.untyped_storage().data_ptr()


def test_a_value_in_two_positions_stays_one_value():
    whole = batch_of("RTD")
    for part in split_rows(whole, 6):
        assert part.generator.tokens is part.tokens


def test_nothing_stays_behind_when_the_parts_are_gone():
    """Without the help of the collector of cycles, which does not know how much memory a tensor takes."""
    whole = batch_of("RTD")
    parts = split_rows(whole, 6)
    assert all(part.tokens.ids is not None and part.actions is not None for part in parts)
    held = weakref.ref(whole.inputs.ids)
    gc.disable()
    try:
        del whole, parts
        assert held() is None
    finally:
        gc.enable()


def test_a_part_that_is_sent_elsewhere_has_all_it_knows():
    for part in split_rows(batch_of("RTD"), 6):
        assert_same(pickle.loads(pickle.dumps(part)), part)


def test_rows_without_any_text_are_left_as_they_are():
    tokens: Tokens = tokens_of([[], []], extra=2)
    whole = objectives()["MLM"].batch(tokens, generator(0))
    assert trimmed(rows(whole, 0, 1)).inputs.ids.shape == (1, 2)
