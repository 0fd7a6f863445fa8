"""The leak check against brute force: every walk through every layer, on small random masks."""

import base64
from dataclasses import replace
from itertools import pairwise
from time import process_time

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import leaks
from playground.answers import Target, Word
from playground.batch import Action, AttentionMask, begin, causal_mask, full_mask, gather_origin, stream
from playground.leaks import Node
from playground.objectives import find_objective
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD
from playground.trace import frames
from playground.trace.overrides import repainted
from playground.trace.rebuild import rebuild
from tests.texts import WORDS, plain_rows, story, suited, tokens_of

READERS = ("inputs", "query", "decoder")


def painted(cells):
    """A visibility that is exactly these cells, `[n, m]`."""
    open_ = torch.zeros(1, max(cells.shape), dtype=torch.long)
    return AttentionMask(open_[:, : cells.shape[0]], open_[:, : cells.shape[1]], overrides=cells[None])


def random_example(seed, size, share, reader, copying=False, *, above=(), pairs=False):
    """Random masks everywhere, random places shown, random answers asked for at random positions.

    The streams named by `above` have another mask in every second layer; with `pairs` an answer is read from two
    positions instead of its own.
    """
    rng = generator(seed)
    tokens = plain_rows(1, size)

    def cells(rows, columns):
        return torch.rand((rows, columns), generator=rng) < share

    def seen(kind):
        other = painted(cells(size, size))
        return replace(painted(cells(size, size)), odd_layers=other if kind in above else None)

    batch = begin(tokens)
    action = torch.randint(0, 8, (1, size), generator=rng)
    origin = torch.randint(-1, size, (1, size), generator=rng)
    hidden = gather_origin(action, origin, int(Action.KEPT)) == Action.MASKED
    ids = tokens.ids.masked_fill(hidden, tokens.specials.mask)
    inputs = replace(batch.inputs, attn_mask=seen("encoder"), query_attn_mask=seen("query"), origin=origin, ids=ids)
    written = max(1, size - 1)
    answers = torch.randint(-1, size, (1, written if reader == "decoder" else size), generator=rng)
    before = torch.randint(-1, size, (1, written), generator=rng)
    decoder = replace(
        stream(tokens.ids[:, :written], before, torch.ones(1, written, dtype=torch.bool)),
        attn_mask=painted(cells(written, written)),
        cross_attn_mask=painted(cells(written, size)),
    )
    scored = torch.rand(answers.shape, generator=rng) < 0.7
    target = Target("?", Word(), reader, answers.clamp(min=0), scored, answers, copying=copying)
    if pairs and reader == "inputs":
        target = replace(target, reads=torch.randint(0, size, (1, size, 2), generator=rng))
    return replace(batch, inputs=inputs, actions=action, decoder=decoder, targets=(target,))


def ends_of(target, position):
    """The positions that an answer is read from."""
    return [position] if target.reads is None else target.reads[0, position].tolist()


def sources(batch, node, layers):
    """Where a node takes its content from: below it, and for a decoder from the finished encoder."""
    kind, position, layer = node
    if layer == 0:
        return
    yield (kind, position, layer - 1)
    below = "encoder" if kind == "query" else kind
    attn_mask = {"encoder": batch.inputs.attn_mask, "query": batch.inputs.query_attn_mask}
    attn_mask = attn_mask.get(kind) or batch.decoder.attn_mask
    if attn_mask.odd_layers is not None and layer in (
        2,
        4,
        6,
    ):  # the layers that lead there are 1, 3 and 5, counted from 0
        attn_mask = attn_mask.odd_layers
    for p, seen in enumerate(attn_mask.dense()[0, position].tolist()):
        if seen:
            yield (below, p, layer - 1)
    if kind == "decoder":
        for p, seen in enumerate(batch.decoder.cross_attn_mask.dense()[0, position].tolist()):
            if seen:
                yield ("encoder", p, layers)


def brute(batch, layers):
    """For every scored position the length of the shortest walk from its answer, or None; and those on purpose."""
    target = batch.targets[0]
    found, on_purpose = {}, []
    for position in target.loss_mask[0].nonzero().flatten().tolist():
        answer = int(target.origin[0, position])
        distance = walk(batch, target, position, layers)
        goals = {("encoder", p) for p in shows(batch, answer, hidden=(1, 2, 3, 6))} if not target.copying else set()
        if target.stream == "decoder":
            goals |= {("decoder", p) for p, o in enumerate(batch.decoder.origin[0].tolist()) if o == answer >= 0}
        lengths = [d for (kind, p, _), d in distance.items() if (kind, p) in goals]
        found[position] = min(lengths, default=None)
        kept = {p for p, o in enumerate(batch.inputs.origin[0].tolist()) if o == answer >= 0}
        kept = {("encoder", p) for p in kept if batch.actions[0, answer] == Action.SCORED_AS_IS}
        if not target.copying and any((kind, p) in kept for kind, p, _ in distance):
            on_purpose.append(position)
    return found, on_purpose


def shows(batch, answer, hidden):
    origin = batch.inputs.origin[0].tolist()
    return [p for p, o in enumerate(origin) if o == answer >= 0 and int(batch.actions[0, o]) not in hidden]


def walk(batch, target, position, layers):
    """Breadth first from where the answer is read down: node -> number of steps."""
    distance = {(leaks.NAMES[target.stream], end, layers): 0 for end in ends_of(target, position)}
    wave = list(distance)
    while wave:
        reached = []
        for node in wave:
            for source in sources(batch, node, layers):
                if source not in distance:
                    distance[source] = distance[node] + 1
                    reached.append(source)
        wave = reached
    return distance


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=200)
@given(
    seed=st.integers(0, 10_000),
    size=st.integers(2, 7),
    share=st.sampled_from((0.1, 0.25, 0.6)),
    layers=st.integers(1, 4),
    copying=st.booleans(),
    above=st.sampled_from(((), ("encoder",), ("query",), ("encoder", "query"))),
    pairs=st.booleans(),
)
def test_the_verdict_equals_brute_force(reader, seed, size, share, layers, copying, above, pairs):
    batch = random_example(seed, size, share, reader, copying, above=above, pairs=pairs)
    verdict = leaks.check(batch, layers)
    found, on_purpose = brute(batch, layers)
    leaking = tuple(p for p, d in found.items() if d is not None)
    assert verdict.leaking == leaking
    assert verdict.leak == bool(leaking)
    assert verdict.scored == len(found)
    assert verdict.by_design == tuple(on_purpose)
    if leaking:
        assert len(verdict.path) - 1 == found[leaking[0]]
        assert_path(batch, verdict.path, leaking[0], layers)
    else:
        assert verdict.path == ()


def assert_path(batch, path, reader, layers):
    """Source first, reader last, and every hop may be taken."""
    target = batch.targets[0]
    assert path[-1] in [Node(leaks.NAMES[target.stream], end, layers) for end in ends_of(target, reader)]
    answer = int(target.origin[0, reader])
    first = path[0]
    stack = batch.decoder if first.stream == "decoder" else batch.inputs
    assert int(stack.origin[0, first.position]) == answer
    for source, node in pairwise(path):
        known = set(sources(batch, (node.stream, node.position, node.layer), layers))
        assert (source.stream, source.position, source.layer) in known


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 8), share=st.floats(0.05, 0.9), layers=st.integers(0, 5))
def test_reaching_is_a_power_of_seeing(seed, size, share, layers):
    attn_mask = torch.rand((size, size), generator=generator(seed)) < share
    step = (attn_mask | torch.eye(size, dtype=torch.bool)).double()
    overrides = torch.linalg.matrix_power(step, layers) > 0
    assert torch.equal(leaks.reaches(attn_mask, layers), overrides)


def test_masks_that_are_transitive_are_their_own_closure():
    real = torch.ones(1, 12, dtype=torch.bool)
    for attn_mask in (causal_mask(real, False), full_mask(real, False)):
        cells = attn_mask.dense()[0]
        assert torch.equal(leaks.reaches(cells, 6), cells)


def long_tokens(words=256):
    """One long text, with a second one where an objective needs it."""
    rows = [[FIRST_WORD + k % WORDS for k in range(words)]]
    return tokens_of(rows, sentence=[[k // 16 for k in range(words)]], padded=False)


CHECKED = {"LM": 256, "MLM": 256, "PLM": 256, "span mask": 256, "T5": 256, "BART": 256, "RTD": 256, "TLM": 126}
"""How many words a text has, so that with a second text and the signs 256 positions are read."""


@pytest.mark.parametrize("name", [*CHECKED, "an open LM", "skip-gram"])
def test_256_positions_and_6_layers_take_a_tenth_of_a_second(name):
    """Of the processor alone and in the best of five, so that a busy machine does not count; it takes 1 to 20 ms."""
    objective = find_objective(name.removeprefix("an open "))
    batch = objective.batch(suited(objective, long_tokens(CHECKED.get(name, 256))), generator(1))
    if name == "an open LM":
        batch = replace(batch, inputs=replace(batch.inputs, attn_mask=full_mask(batch.inputs.valid, False)))
    assert name == "skip-gram" or 190 <= batch.inputs.ids.shape[1] <= 256
    taken = []
    for _ in range(5):
        began = process_time()
        verdict = leaks.check(batch, layers=6)
        taken.append(process_time() - began)
    assert min(taken) < 0.1
    assert verdict.leaking == (tuple(range(255)) if name == "an open LM" else ())
    if verdict.leak:
        assert verdict.path == (Node("encoder", 1, 5), Node("encoder", 0, 6))


def test_where_nobody_sees_another_no_product_is_taken(monkeypatch):
    """Word vectors have thousands of places that see only themselves."""
    taken = []
    monkeypatch.setattr(leaks, "_join", lambda left, right: taken.append(left))
    alone = torch.eye(9, dtype=torch.bool)
    for layers in (0, 1, 6):
        assert torch.equal(leaks.reaches(alone, layers), alone)
        assert torch.equal(leaks.reaches(torch.zeros_like(alone), layers), alone)
    assert not taken


def test_a_band_of_neighbours_leaks_only_after_enough_layers():
    """Each position sees its neighbours only: news from three places away take three layers."""
    tokens = plain_rows(1, 9)
    position = torch.arange(9)
    band = (position[:, None] - position).abs() <= 1
    far = torch.tensor([[3, *[-1] * 8]])
    target = Target("?", Word(), "inputs", tokens.ids, far >= 0, far)
    batch = replace(begin(tokens), inputs=replace(begin(tokens).inputs, attn_mask=painted(band)), targets=(target,))
    assert [leaks.check(batch, layers).leak for layers in (1, 2, 3, 4)] == [False, False, True, True]
    path = leaks.check(batch, 3).path
    assert [p.position for p in path] == [3, 2, 1, 0]
    assert [p.layer for p in path] == [0, 1, 2, 3]


def test_painting_a_cell_of_the_query_stream_makes_a_leak_and_draws_its_path():
    """Let the query of word 1 see the content of word 2, which may see word 1."""
    rebuilt = rebuild("PLM", "one two three four", overrides={"order": "3,1,2,4", "cut": "1"})
    batch = rebuilt.batch
    assert not leaks.check(batch).leak
    query = batch.inputs.query_attn_mask.dense()[0].clone()
    query[0, 1] = True
    broken = replace(batch, inputs=replace(batch.inputs, query_attn_mask=painted(query)))
    verdict = leaks.check(broken)
    assert verdict.leaking == (0,)
    assert [(p.stream, p.position) for p in verdict.path] == [("encoder", 0), ("encoder", 1), ("query", 0)]
    assert verdict.sentence == "1 of 3 scored answers can reach their own prediction: the model can copy them."


def test_painting_cells_shut_closes_the_leak():
    batch = find_objective("LM").batch(plain_rows(1, 6), generator(0))
    attn_mask = full_mask(batch.inputs.valid, True)
    open_ = replace(batch, inputs=replace(batch.inputs, attn_mask=attn_mask))
    assert leaks.check(open_).leak
    shut = replace(attn_mask, overrides=torch.ones(6, 6, dtype=torch.bool).tril()[None])
    assert not leaks.check(replace(batch, inputs=replace(batch.inputs, attn_mask=shut))).leak


def test_the_fragment_and_its_masks():
    """MASS is clean with its masks hidden or shown; a decoder that looks ahead copies all but its last word."""
    for hide in (True, False):
        batch = rebuild("MASS", overrides={"spans": "3:4"}, settings={"hide_masked": hide}).batch
        assert leaks.check(batch).leaking == ()
        assert int(batch.decoder.cross_attn_mask.dense().sum()) == 4 * (4 if hide else 8)
        ahead = replace(batch.decoder, attn_mask=full_mask(batch.decoder.valid, False))
        assert leaks.check(replace(batch, decoder=ahead)).leaking == (0, 1, 2)


def test_a_fragment_that_the_encoder_shows_leaks_through_the_cross_attention():
    batch = rebuild("MASS", overrides={"spans": "3:2"}).batch
    bare = replace(batch, actions=torch.zeros_like(batch.actions))
    shown = replace(bare.decoder, cross_attn_mask=full_mask(bare.inputs.valid, False, readers=bare.decoder.valid))
    verdict = leaks.check(replace(bare, decoder=shown))
    assert verdict.leaking == (0, 1)
    assert verdict.path == (Node("encoder", 2, 4), Node("decoder", 0, 4))


def test_what_a_neighbour_read_from_the_encoder_is_one_layer_away():
    """In a block of the decoder, looking at itself comes before looking at the encoder."""
    batch = rebuild("MASS", overrides={"spans": "3:2"}).batch
    cross = torch.zeros(2, 8, dtype=torch.bool)
    cross[0, 3] = True
    decoder = replace(batch.decoder, cross_attn_mask=painted(cross))
    alone = replace(batch.inputs, attn_mask=painted(torch.eye(8, dtype=torch.bool)))
    bare = replace(batch, actions=torch.zeros_like(batch.actions), inputs=alone, decoder=decoder)
    assert [leaks.check(bare, layers).leaking for layers in (1, 2)] == [(), (1,)]
    path = (Node("encoder", 3, 2), Node("decoder", 0, 1), Node("decoder", 1, 2))
    assert leaks.check(bare, 2).path == path


def test_the_path_of_a_denoiser_goes_through_its_decoder():
    """The input of a denoiser shows words on purpose, so a leak is one from what the decoder was given."""
    batch = rebuild("sentence shuffling", "one two three", overrides={"order": "3,2,1"}).batch
    around = torch.tensor([[0, 0, 1], [0, 0, 0], [0, 1, 0]], dtype=torch.bool)
    ahead = replace(batch.decoder, attn_mask=painted(around))
    verdict = leaks.check(replace(batch, decoder=ahead), layers=2)
    assert verdict.leaking == (0,)
    assert verdict.path == (Node("decoder", 1, 0), Node("decoder", 2, 1), Node("decoder", 0, 2))
    assert leaks.check(batch).sentence.endswith("the input shows words on purpose.")


def leaked_cells(batch, verdict):
    """The cells that the stage marks as leaked, by matrix, as (reader, read)."""
    drawn = frames.matrices(batch, verdict, 0)
    states = {
        m["name"]: torch.frombuffer(bytearray(base64.b64decode(m["states"])), dtype=torch.uint8).view(m["shape"])
        for m in drawn
    }
    return {name: (s == frames.LEAKED).nonzero().tolist() for name, s in states.items()}


def test_the_stage_marks_every_hop_of_the_path():
    batch = rebuild("LM").batch
    open_ = replace(batch, inputs=replace(batch.inputs, attn_mask=full_mask(batch.inputs.valid, False)))
    assert leaked_cells(open_, leaks.check(open_)) == {"encoder": [[0, 1]]}
    assert leaked_cells(batch, leaks.check(batch)) == {"encoder": []}


def test_the_stage_marks_hops_between_stacks():
    mass = rebuild("MASS", overrides={"spans": "3:2"}).batch
    mass = replace(mass, actions=torch.zeros_like(mass.actions))
    shown = replace(mass.decoder, cross_attn_mask=full_mask(mass.inputs.valid, False, readers=mass.decoder.valid))
    mass = replace(mass, decoder=shown)
    assert leaked_cells(mass, leaks.check(mass)) == {"encoder": [], "decoder": [], "cross": [[0, 2]]}
    plm = rebuild("PLM", "one two three four", overrides={"order": "3,1,2,4", "cut": "1"}).batch
    query = plm.inputs.query_attn_mask.dense()[0].clone()
    query[0, 1] = True
    plm = replace(plm, inputs=replace(plm.inputs, query_attn_mask=painted(query)))
    assert leaked_cells(plm, leaks.check(plm)) == {"content": [[1, 0]], "query": [[0, 1]]}


def test_kept_words_are_told_apart_from_leaks():
    verdict = rebuild("MLM", overrides={"chosen": "2,4", "actions": "keep,mask"}).verdict
    assert (verdict.leak, verdict.by_design) == (False, (1,))
    assert verdict.sentence == "1 of 2 scored answers are shown on purpose; the model cannot know which."


def test_the_generators_question_is_checked_too():
    batch = find_objective("RTD").batch(plain_rows(1, 8), generator(0))
    given_away = replace(batch.generator, actions=torch.zeros_like(batch.actions))
    assert not leaks.check(batch).leak
    assert leaks.check(replace(batch, auxiliary=(given_away,))).leak


def test_every_question_of_an_example_is_checked():
    """One that asks for what is hidden and one that asks for what is shown, in either order."""
    batch = (
        find_objective("MLM")
        .turn({"mask_replace_prob": 1.0, "random_replace_prob": 0.0})
        .batch(plain_rows(1, 8), generator(0))
    )
    (hidden,) = batch.targets
    shown = replace(hidden, name="all words", loss_mask=batch.inputs.valid)
    assert not leaks.check(batch).leak
    for targets in ((hidden, shown), (shown, hidden)):
        verdict = leaks.check(replace(batch, targets=targets))
        assert verdict.leaking == tuple((~batch.selected[0]).nonzero().flatten().tolist())


def test_each_row_of_a_batch_has_its_own_verdict():
    tokens = tokens_of([list(range(40, 48)), [40, 41]], extra=1)
    batch = find_objective("LM").batch(tokens, generator(0))
    assert [leaks.check(batch, row=row).scored for row in (0, 1)] == [8, 2]
    open_ = replace(batch, inputs=replace(batch.inputs, attn_mask=full_mask(batch.inputs.valid, True)))
    assert [leaks.check(open_, row=row).leaking for row in (0, 1)] == [tuple(range(7)), (0,)]


def test_nothing_asked_is_said_so():
    verdict = leaks.check(begin(plain_rows(1, 3)))
    assert (verdict.leak, verdict.sentence) == (False, "Nothing is asked, so nothing can leak.")
    empty = find_objective("MLM").turn({"mask_ratio": 0.0}).batch(plain_rows(1, 3), generator(0))
    assert leaks.check(empty).sentence == "Nothing is scored in this text."


@pytest.mark.parametrize("name", ["translation", "text-to-text", "translation through one vector"])
def test_a_decoder_that_looks_ahead_copies_what_it_writes_also_where_that_is_no_word_of_the_text(name):
    made = story(name)
    width = int(made.batch.decoder.valid[0].sum())
    ahead = repainted(made, {"decoder": [(position, position + 1, True) for position in range(width - 1)]}).verdict
    assert not made.verdict.leak
    assert ahead.leaking == tuple(range(width - 1)), "the last answer stands nowhere in the decoder"
    assert [(position.stream, position.position) for position in ahead.path] == [("decoder", 1), ("decoder", 0)]
