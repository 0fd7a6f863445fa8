"""Directions, windows, codes and languages of the language model, orders of prediction, UniLM's masks, mixtures."""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import leaks
from playground.batch import Action, begin, language_ids_at
from playground.errors import UserError
from playground.models import Architecture, LanguageModel, make_model, total_loss, with_required_parts
from playground.models.transformer import SdpaMask
from playground.objectives import find_objective, objectives
from playground.objectives.arrange import ArrangeDocument, ArrangePair, ControlCode, ShiftRight
from playground.objectives.ask import AskQueryStream
from playground.objectives.change import MaskContentStream
from playground.objectives.choose import ChooseNgrams, ChooseOrder
from playground.objectives.choose.order import ChosenOrder
from playground.objectives.mixture import mixed, mixture
from playground.objectives.objective import tell
from playground.objectives.see import SampleMask, SeeLeft, SeePermutation, SeeRight
from playground.objectives.see.mixture import KINDS
from playground.rng import generator
from playground.trace.rebuild import rebuild
from tests.oracles import directions, masking, stages
from tests.playground.objectives.test_laws import assert_law, assert_mean, assert_share
from tests.playground.objectives.test_stages import assert_row_is_story, dense, shown, texts
from tests.texts import SPECIALS, batches, plain_rows, row_of, seeds, story, suited, tokens_of
from tests.texts import spoken as in_language

VARIANTS = {
    "LM": {},
    "LM end": {"add_eos": True, "context_size": 2},
    "LM window": {"sliding_window": 3, "add_eos": True},
    "backward LM": {},
    "backward LM end": {"add_eos": True, "context_size": 3},
    "backward LM window": {"sliding_window": 2},
    "window LM": {},
    "T5 prefix LM": {"add_eos": True},
    "PLM runs": {"ngram_weights": "uniform", "partial_prediction_k": 2.0, "special_tokens": "drawn"},
    "PLM strict": {"context": "strict", "special_tokens": "drawn", "partial_prediction_k": 3.0},
    "PLM xlnet": {
        "context": "xlnet",
        "special_tokens": "drawn",
        "partial_prediction_k": 3.0,
        "add_special_tokens": True,
    },
    "PLM hf": {"context": "hf", "special_tokens": "drawn", "partial_prediction_k": 3.0, "add_special_tokens": True},
    "PLM as in transformers": {"partial_prediction_k": 3.0},
    "PLM as in transformers shown": {"content": "words"},
}
BASE = ("backward LM", "window LM", "T5 prefix LM", "PLM as in transformers", "PLM", "LM")
every_variant = pytest.mark.parametrize("name", VARIANTS)


def variant(name):
    return find_objective(next(b for b in BASE if name.startswith(b))).turn(VARIANTS[name])


def run(name, tokens, seed):
    return variant(name).steps(tokens, generator(seed, name))


def plan_of_row(step, row, length):
    if step.plan is None:
        return None
    values = row_of(step.plan, row, step.example.selected.shape[1])
    if not isinstance(values, dict):
        return values[:length] if isinstance(values, list) else values
    return {k: v[:length] if isinstance(v, list) else v for k, v in values.items()}


@every_variant
@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_p15_every_stage_equals_its_oracle(name, tokens, seed):
    stories = [stages.begin(text) for text in texts(tokens)]
    for step in run(name, tokens, seed):
        for row, told in enumerate(stories):
            stories[row] = stages.act(step.stage, plan_of_row(step, row, len(told.text)), told)
            assert_row_is_story(step.example, row, stories[row])


@pytest.fixture(scope="module")
def tiny():
    shape = Architecture(
        layers=1,
        width=8,
        heads=2,
        mlp_ratio=1,
        decoder_layers=1,
        two_streams=True,
        backward=True,
        languages=3,
        segments=6,
    )
    return LanguageModel(shape, SPECIALS.size, generator(0))


@pytest.mark.parametrize("name", ["BiLM", "window LM", "T5 prefix LM", "multilingual LM", "UniLM"])
def test_a_batch_without_columns_is_built(name):
    for rows in ([], [[]], [[], []]):
        objective = find_objective(name)
        example = objective.example(suited(objective, tokens_of(rows)), generator(0))
        assert not any(bool(q.loss_mask.any()) for part in example.with_auxiliary for q in part.questions)


# directions


def shifted(side, tokens, end=False):
    name = "LM" if side == "left" else "backward LM"
    return find_objective(name).turn({"add_eos": end}).example(tokens, generator(0))


def said(example, row):
    question = example.questions[0]
    return question.targets[row][question.loss_mask[row]].tolist()


@settings(max_examples=40)
@given(tokens=batches(), end=st.booleans())
def test_p1_a_sign_and_the_answers_are_the_input_and_the_last_answer(tokens, end):
    """[START] + answers = input + last answer from the left; the mirror image of it from the right."""
    left, right = (shifted(side, tokens, end) for side in ("left", "right"))
    for row, text in enumerate(texts(tokens)):
        if not text:
            continue
        ids, answers = shown(left.inputs, row)[0], said(left, row)
        assert [SPECIALS.start, *answers] == [*ids, answers[-1]]
        assert answers == (text + [SPECIALS.end] if end else text)
        ids, answers = shown(right.inputs, row)[0], said(right, row)
        assert [*answers, SPECIALS.end] == [answers[0], *ids]
        assert answers == ([SPECIALS.start] + text if end else text)


@settings(max_examples=40)
@given(tokens=batches())
def test_backwards_is_forwards_on_the_turned_text(tokens):
    """Turn the text, go forwards, turn the result: the backward language model, but for the sign at the start."""
    turned = tokens_of([text[::-1] for text in texts(tokens)], extra=int(tokens.padded), padded=tokens.padded)
    there, back = shifted("right", tokens), shifted("left", turned)
    for row, text in enumerate(texts(tokens)):
        n = len(text)
        forwards = [SPECIALS.end if t == SPECIALS.start else t for t in shown(back.inputs, row)[0]]
        assert shown(there.inputs, row)[0] == forwards[::-1]
        assert said(there, row) == said(back, row)[::-1]
        cells = dense(back.inputs.attn_mask, row, n, n)
        assert dense(there.inputs.attn_mask, row, n, n) == [line[::-1] for line in cells[::-1]]


def test_elmo_answers_as_released_with_the_end_signs():
    """Forwards <S> w1..wn to w1..wn </S>, backwards w1..wn </S> to <S> w1..wn (bilm-tf, data.py)."""
    tokens = tokens_of([[50, 51, 52]], padded=False)
    left, right = shifted("left", tokens, True), shifted("right", tokens, True)
    assert left.inputs.ids.tolist() == [[SPECIALS.start, 50, 51, 52]]
    assert left.questions[0].targets.tolist() == [[50, 51, 52, SPECIALS.end]]
    assert right.inputs.ids.tolist() == [[50, 51, 52, SPECIALS.end]]
    assert right.questions[0].targets.tolist() == [[SPECIALS.start, 50, 51, 52]]


def test_every_word_is_asked_for_once_in_each_direction():
    example = find_objective("BiLM").example(tokens_of([[50, 51, 52], [53]]), generator(0))
    assert [(part.network, part.questions[0].name) for part in example.with_auxiliary] == [
        ("backward", "previous word"),
        ("main", "next word"),
    ]
    for part in example.with_auxiliary:
        question = part.questions[0]
        assert sorted(question.origin[0][question.loss_mask[0]].tolist()) == [0, 1, 2]
        assert question.weight == 0.5


def test_the_paper_adds_both_directions_in_full():
    model = make_model(Architecture(layers=1, width=16, heads=2), SPECIALS.size, generator(0))
    tokens = plain_rows(2, 7)
    half, whole = (find_objective("BiLM").turn({"weight": w}).example(tokens, generator(0)) for w in (0.5, 1.0))
    (mean, terms), (total, _) = (total_loss(model(e)) for e in (half, whole))
    assert total.item() == pytest.approx(2 * mean.item())
    assert mean.item() == pytest.approx(0.5 * sum(t.item() for t in terms.values()))


@pytest.mark.parametrize("second", [False, True])
def test_the_two_directions_share_words_and_never_mix(second):
    """Each direction's loss moves its own network; without a second one, one network reads both."""
    shape = Architecture(layers=2, width=16, heads=2, backward=second)
    model = make_model(shape, SPECIALS.size, generator(0))
    _, terms = total_loss(model(find_objective("BiLM").example(plain_rows(2, 7), generator(0))))
    terms["next word"].backward(retain_graph=True)
    assert model.token_embedding.weight.grad is not None
    assert all(p.grad is not None for p in model.network.encoder.parameters())
    if second:
        assert all(p.grad is None for p in model.backward_network.parameters())
        model.zero_grad()
        terms["previous word"].backward()
        assert all(p.grad is None for p in model.network.parameters())
        assert all(p.grad is not None for p in model.backward_network.encoder.parameters())


def test_one_stack_that_sees_both_sides_would_show_the_answer():
    """The reason why the two directions are two streams: mixed, a word is heard from its neighbours."""
    example = find_objective("LM").example(plain_rows(1, 8), generator(0))
    both = replace(
        example.inputs, attn_mask=find_objective("MLM").example(plain_rows(1, 8), generator(0)).inputs.attn_mask
    )
    assert leaks.check(replace(example, inputs=both)).leak
    assert not leaks.check(find_objective("BiLM").example(plain_rows(1, 8), generator(0))).leak


@pytest.mark.parametrize(("stage", "sign"), [(SeeLeft, 1), (SeeRight, -1)])
@pytest.mark.parametrize("window", [1, 3, 64])
def test_a_window_closes_all_but_the_nearest(stage, sign, window):
    seen = stage(sliding_window=window).build(begin(plain_rows(1, 9))).inputs.attn_mask
    cells = seen.dense()[0].tolist()
    assert cells == [[0 <= sign * (i - j) < window for j in range(9)] for i in range(9)]
    assert seen.form == "levels"
    assert SdpaMask.of(seen).mask is not None, "attention must not take its short way past a window"


def test_each_layer_looks_one_window_further():
    example = find_objective("window LM").turn({"sliding_window": 3}).example(plain_rows(1, 12), generator(0))
    for layers, heard in ((1, 3), (2, 5), (3, 7)):
        assert int(leaks.answering(example, example.questions[0], layers)[0][11].sum()) == heard


def test_skipped_words_are_read_but_not_graded():
    """XLM's context size: the first c answers of a direction cost nothing."""
    for side, graded in (("left", [False] * 3 + [True] * 4), ("right", [True] * 4 + [False] * 3)):
        objective = find_objective("LM" if side == "left" else "backward LM").turn({"context_size": 3})
        assert objective.example(plain_rows(1, 7), generator(0)).questions[0].loss_mask.tolist() == [graded]


# codes and languages

UNTOLD = ("multilingual LM", "multilingual MLM")


def coded(*topics):
    labels = torch.tensor(topics)
    return replace(plain_rows(len(topics), labels.shape[1]), labels={"topic": labels})


def test_a_code_stands_where_the_start_would():
    tokens = coded([5] * 4, [-1] * 4)
    ids = find_objective("conditional LM").example(tokens, generator(0)).inputs.ids
    assert ids[:, 0].tolist() == [SPECIALS.sentinels[5], SPECIALS.start]
    assert torch.equal(ids[:, 1:], tokens.ids[:, :-1])
    empty = replace(tokens_of([[]]), labels={"topic": torch.zeros(1, 0, dtype=torch.long)})
    arranged = ControlCode("topic").build(ShiftRight(add_eos=True).build(begin(empty)))
    assert arranged.inputs.ids.tolist() == [[SPECIALS.start]]


def test_a_code_is_the_first_topic_of_a_row_wherever_it_begins():
    """Rows begin in the middle of documents: of other documents nothing is read and nothing is asked."""
    tokens = coded([-1, -1, 3, 3, 3, -1], [4, 4, -1, 2, 2, 2], [1, 1, 1, 2, 2, 2], [-1] * 6)
    example = find_objective("CTRL").example(tokens, generator(0))
    code, word = SPECIALS.sentinels, [SPECIALS.first_word + k for k in range(6)]
    spans = [(2, 5), (0, 2), (0, 3), (0, 6)]
    for row, (sign, (first, end)) in enumerate(zip([code[3], code[4], code[1], SPECIALS.start], spans, strict=True)):
        assert said(example, row) == word[first:end]
        assert shown(example.inputs, row)[0] == [sign, *word[first : end - 1]]


@pytest.mark.parametrize("turned", [{}, {"add_eos": True, "context_size": 1}])
@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_p15_a_document_and_its_code_equal_their_oracles(turned, tokens, seed):
    objective = find_objective("conditional LM").turn(turned)
    topics = torch.randint(-1, 3, tokens.ids.shape, generator=generator(seed)).sort(1).values.roll(seed % 7, 1)
    known = {"topic": topics.masked_fill(~tokens.valid, 0)}
    labels = [row[: int(length)].tolist() for row, length in zip(known["topic"], tokens.lengths, strict=True)]
    stories = [masking.begin(text, {"topic": row}) for text, row in zip(texts(tokens), labels, strict=True)]
    for step in objective.steps(replace(tokens, labels=known), generator(seed)):
        stories = [stages.act(step.stage, None, told) for told in stories]
        for row, told in enumerate(stories):
            assert_row_is_story(step.example, row, told)


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


def test_a_label_with_more_values_than_there_are_signs_is_refused():
    count = len(SPECIALS.sentinels)
    most = find_objective("conditional LM").example(coded([count - 1] * 3), generator(0))
    assert int(most.inputs.ids[0, 0]) == SPECIALS.sentinels[-1]
    with pytest.raises(
        UserError, match=rf"'topic' has the number {count} and there are {count} special tokens for it;"
    ):
        find_objective("conditional LM").example(coded([count] * 3), generator(0))


@pytest.mark.parametrize("name", objectives())
@settings(max_examples=5)
@given(tokens=batches(longest=20), seed=seeds)
def test_every_stage_keeps_the_language_of_every_word(name, tokens, seed):
    """Whatever a stage does to the positions, each speaks the language of the word that stands there."""
    objective = find_objective(name)
    objective = objective.turn({"language_embeddings": True}) if name in UNTOLD else objective
    several = replace(tokens, labels={"language": tokens.word_ids % 3})
    for step in objective.steps(bilingual(objective, several), generator(seed)):
        for part in step.example.with_auxiliary:
            language = part.tokens.labels["language"]
            for stream in filter(None, (part.inputs, part.decoder)):
                rows, here = (stream.origin >= 0).nonzero(as_tuple=True)
                assert torch.equal(stream.language_ids[rows, here], language[rows, stream.origin[rows, here]])


def bilingual(objective, tokens):
    """`suited`, with the languages of the text kept where there is no translation."""
    made = suited(objective, tokens)
    return made if "translation" in objective.needs else replace(made, labels={**made.labels, **tokens.labels})


def test_a_sign_speaks_the_language_beside_it():
    tokens = replace(plain_rows(1, 4), labels={"language": torch.tensor([[2, 2, 1, -1]])})
    assert language_ids_at(tokens, torch.tensor([[-1, 0, -1, 2, 3, -1]])).tolist() == [[2, 2, 2, 1, 0, 0]]
    halves = torch.tensor([[0, 0, 0, 1, 1, 1]])
    assert language_ids_at(tokens, torch.tensor([[-1, 0, -1, -1, 2, -1]]), halves).tolist() == [[2, 2, 2, 1, 1, 1]]
    assert language_ids_at(plain_rows(1, 4), torch.tensor([[-1, 0]])).tolist() == [[0, 0]]


@pytest.mark.parametrize("name", UNTOLD)
def test_the_model_hears_the_language_where_it_is_told(name):
    """XLM has a vector for each language; mBERT, XLM-R and Rosita have none."""
    objective = find_objective(name).turn({"language_embeddings": True})
    tokens = plain_rows(2, 8)
    one, other = (objective.example(in_language(tokens, k), generator(0)) for k in (0, 1))
    assert other.inputs.language_ids.unique().tolist() == [1]
    model = make_model(
        with_required_parts(Architecture(layers=1, width=16, heads=2), other), SPECIALS.size, generator(0)
    )
    first, second = (model(e)[0].scores for e in (one, other))
    assert not torch.equal(first, second)
    quiet = find_objective(name).example(in_language(tokens, 1), generator(0))
    assert not quiet.inputs.language_ids.any()
    assert with_required_parts(Architecture(), quiet).languages == 0
    assert with_required_parts(Architecture(), other).languages == 2
    assert torch.equal(quiet.inputs.ids, other.inputs.ids)


def test_models_without_language_vectors_are_not_found_under_an_objective_that_has_them():
    untold = ("mBERT", "XLM-R", "Rosita", "polyglot LM")
    assert not any(find_objective(name).knobs["language_embeddings"].default for name in untold)


TLM_FORMS = {
    "xlm": ([1, 11, 12, 1, 1, 21, 22, 23, 1], [0, 1, 2, 3, 0, 1, 2, 3, 4], [0] * 4 + [1] * 5),
    "sep": ([11, 12, 1, 21, 22, 23], [0, 1, 2, 0, 1, 2], [0] * 3 + [1] * 3),
}


@pytest.mark.parametrize("form", TLM_FORMS)
def test_tlm_lays_two_languages_out_as_released(form):
    """XLM: ids 1 11 12 1 1 21 22 23 1, positions 0..3 0..4, languages 0000 11111; the survey has one sign."""
    ids, positions, languages = TLM_FORMS[form]
    first, second = (tokens_of([row], padded=False) for row in ([51, 52], [61, 62, 63]))
    tokens = replace(in_language(first, 0), neighbours={"translation": in_language(second, 1)})
    stage = ArrangePair(("translation",), pair_format=form, reset_position_ids=True)
    inputs = stage.build(begin(tokens), stage.plan(begin(tokens), generator(0))).inputs
    assert inputs.ids.tolist() == [[SPECIALS.sep if i == 1 else i + 40 for i in ids]]
    assert inputs.position_ids.tolist() == [positions]
    assert inputs.language_ids.tolist() == [languages]
    assert inputs.attn_mask.dense().all()


# orders


LENGTHS = {n: 60 / 137 / n for n in range(1, 6)}


@pytest.mark.parametrize(("grams", "law"), [("harmonic", LENGTHS), ("uniform", dict.fromkeys(range(1, 6), 0.2))])
def test_runs_of_targets_have_the_published_lengths(grams, law):
    """60/137 times 1, 1/2, ... 1/5, mean 2.19 (XLNet's released code); or all five equally often."""
    drawn = ChooseOrder(ngram_weights=grams).spans(torch.full((6000,), 240), 240, generator(1)).length[:, :4]
    assert_law(Counter(drawn.flatten().tolist()), law)
    assert_mean(drawn.flatten(), sum(n * p for n, p in law.items()))
    assert round(sum(n * p for n, p in LENGTHS.items()), 2) == 2.19


@settings(max_examples=40)
@given(length=st.integers(0, 90), seed=seeds, kept=st.floats(1.0, 12.0), grams=st.sampled_from(("harmonic", "uniform")))
def test_each_run_lies_in_its_own_window(length, seed, kept, grams):
    """The windows lie side by side on a circle: behind the last word comes the first."""
    runs = ChooseOrder(partial_prediction_k=kept, ngram_weights=grams).spans(
        torch.tensor([length]), 90, generator(seed)
    )
    spans = [(s, n) for s, n in zip(runs.start[0].tolist(), runs.length[0].tolist(), strict=True) if n >= 0]
    taken = [(start + k) % length for start, count in spans for k in range(count)]
    assert len(taken) == len(set(taken))
    turn = [(start - spans[0][0]) % length for start, _ in spans]
    assert turn == sorted(turn)
    assert len(taken) <= length / kept + 1e-9


@pytest.mark.parametrize("grams", ["single", "harmonic", "uniform"])
@pytest.mark.parametrize("functional", ["given", "drawn"])
@settings(max_examples=25)
@given(tokens=batches(), seed=seeds, kept=st.floats(1.0, 12.0))
def test_p3_the_number_of_targets_is_exact(grams, functional, tokens, seed, kept):
    stage = ChooseOrder(partial_prediction_k=kept, ngram_weights=grams, special_tokens=functional)
    example = begin(tokens)
    plan = stage.plan(example, generator(seed))
    chosen = stage.build(example, plan).selected
    for row, text in enumerate(texts(tokens)):
        allowed = stages.maskable(text)
        assert sorted(plan.rank[row, : len(text)].tolist()) == list(range(len(text)))
        assert int(chosen[row].sum()) == min(sum(allowed), max(1, int(sum(allowed) / kept)))
        signs = [plan.rank[row, p] for p in range(len(text)) if not allowed[p]]
        late = [plan.rank[row, p] for p in range(len(text)) if chosen[row, p]]
        assert functional == "drawn" or not signs or not late or max(signs) < min(late)


@settings(max_examples=25)
@given(tokens=batches(), seed=seeds)
def test_what_is_told_of_an_order_is_what_trains(tokens, seed):
    """Only the order of the targets is drawn at once; the plan says the rest when it is asked."""
    stage, example = ChooseOrder(partial_prediction_k=2.0), begin(tokens)
    plan = stage.plan(example, generator(seed))
    trained, again = (stage.build(example, p) for p in (plan, ChosenOrder(plan.rank, plan.predicted)))
    assert torch.equal(trained.selected, again.selected)
    assert torch.equal(trained.prediction_step.long(), again.prediction_step)
    assert torch.equal(trained.prediction_order, again.prediction_order)


@settings(max_examples=25)
@given(tokens=batches(), seed=seeds)
def test_places_alone_see_nobody_and_no_padding(tokens, seed):
    example = find_objective("PLM").turn({"streams": "places only"}).example(tokens, generator(seed))
    assert not example.inputs.query_attn_mask.dense().any()


@pytest.mark.parametrize("context", ["together", "strict"])
def test_a_query_sees_exactly_those_who_do_not_see_it(context):
    inputs = find_objective("PLM").turn({"context": context}).example(plain_rows(50, 20), generator(6)).inputs
    assert torch.equal(inputs.query_attn_mask.dense(), ~inputs.attn_mask.dense().transpose(1, 2))


def test_85_of_512_are_predicted():
    assert find_objective("PLM").example(plain_rows(3, 512), generator(0)).selected.sum(1).tolist() == [85] * 3


def test_runs_are_longer_than_chance():
    """A target's right neighbour is a target too far more often than one in six."""
    chosen = {g: ChooseOrder(ngram_weights=g) for g in ("single", "harmonic")}
    share = {}
    for grams, stage in chosen.items():
        example = begin(plain_rows(2000, 60))
        found = stage.build(example, stage.plan(example, generator(3))).selected
        share[grams] = float((found[:, :-1] & found[:, 1:]).sum() / found[:, :-1].sum())
    assert share["single"] == pytest.approx(9 / 59, abs=0.02)
    assert share["harmonic"] > 0.4


@pytest.mark.parametrize("length", [6, 7, 8, 10, 14])
def test_no_text_is_ever_without_a_target(length):
    """HF's collator takes no odd length, and its own law gives none to many short texts (`test_orders.py`)."""
    for knobs in ({}, {"sampler": "xlnet"}):
        chosen = find_objective("PLM").turn(knobs).example(plain_rows(500, length), generator(4)).selected
        assert chosen.sum(1).unique().tolist() == [max(1, length // 6)]


def test_separators_come_anywhere_among_the_targets_when_drawn():
    """With two targets and one separator each of the three places of the tail is as likely."""
    tokens = tokens_of([[50, 51, SPECIALS.sep, 52, 53]] * 9000, padded=False)
    plan = ChooseOrder(partial_prediction_k=2.0, special_tokens="drawn").plan(begin(tokens), generator(5))
    assert plan.predicted.unique().tolist() == [3]
    assert_law(Counter(plan.rank[:, 2].tolist()), {2: 1 / 3, 3: 1 / 3, 4: 1 / 3})


SIGNED = [50, 51, SPECIALS.sep, 53, 54]
"""Order: the second and fourth word, then the first, then the separator, then the last."""

CONTEXTS = {
    "together": (["11110", "01110", "01110", "01110", "11111"], ["01110", "11110"]),
    "strict": (["11010", "01000", "11110", "01010", "11111"], ["01010", "11110"]),
    "xlnet": (["11010", "01010", "11110", "01010", "11111"], ["01010", "11110"]),
    "hf": (["11110", "01110", "11110", "01110", "11111"], ["01110", "11110"]),
}


def with_a_separator(context, masked=False):
    example = replace(
        begin(tokens_of([SIGNED], padded=False)),
        prediction_order=torch.tensor([[2, 0, 3, 1, 4]]),
        selected=torch.tensor([[True, False, False, False, True]]),
    )
    example = MaskContentStream().build(example) if masked else example
    return AskQueryStream().build(SeePermutation(context).build(example))


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_four_rules_differ_in_the_context_only(context):
    def lines(visible):
        return ["".join(str(int(c)) for c in row) for row in visible.dense()[0].tolist()]

    content, query = CONTEXTS[context]
    example = with_a_separator(context)
    assert lines(example.inputs.attn_mask) == content
    assert [lines(example.inputs.query_attn_mask)[k] for k in (0, 4)] == query


def test_a_separator_tells_a_target_its_own_word_under_hfs_rule():
    """The separator sees the first target and everybody sees the separator; [MASK] in its place hides that."""
    assert [leaks.check(with_a_separator(c)).leaking for c in CONTEXTS] == [(), (), (), (0,)]
    assert not leaks.check(with_a_separator("hf", masked=True)).leak
    assert with_a_separator("hf", masked=True).actions.tolist() == [[Action.MASKED, 0, 0, 0, Action.MASKED]]


def test_hfs_rule_would_leak_in_most_texts_with_separators():
    tokens = tokens_of([[50, SPECIALS.sep, 51, 52, SPECIALS.sep, 53, 54, 55, 56, 57, 58, 59, 60, SPECIALS.cls]])
    objective = find_objective("PLM as in transformers")
    shown_ = objective.turn({"content": "words"})
    found = [leaks.check(shown_.example(tokens, generator(s))).leak for s in range(60)]
    assert sum(found) > 30
    assert not any(leaks.check(objective.example(tokens, generator(s))).leak for s in range(60))


@pytest.mark.parametrize("context", ["together", "xlnet", "hf"])
@pytest.mark.parametrize("length", [3, 8, 13])
def test_the_nth_target_sees_the_context_and_those_before(context, length):
    """Released code: all rules give a target the same set where there are no separators (AND or OR would not)."""
    objective = find_objective("PLM").turn({"context": context, "partial_prediction_k": 2.0})
    example = objective.example(plain_rows(20, length), generator(6))
    query = example.inputs.query_attn_mask.dense()
    targets = length // 2
    for row in range(20):
        for place in example.selected[row].nonzero().flatten().tolist():
            number = int(example.prediction_order[row, place]) - (length - targets)
            seen = query[row, place]
            assert int(seen.sum()) == length - targets + number
            assert bool(seen[~example.selected[row]].all())
            assert not bool(seen[place])


# UniLM


def pair_of(first, second, rows=1):
    near = tokens_of([[60 + k for k in range(second)]] * rows, padded=False)
    return replace(tokens_of([[40 + k for k in range(first)]] * rows, padded=False), neighbours={"next": near})


def test_unilm_s_prefix_mask_has_the_42_cells():
    """[CLS] A A [SEP] | B B B [SEP]: the first text with its signs is the block of four."""
    for name, wanted in (("UniLM by row", {"mask": "seq2seq"}), ("UniLM seq2seq", {})):
        cells = find_objective(name).steps(pair_of(2, 3), generator(0), wanted)[-1].example.inputs.attn_mask.dense()[0]
        lines = ["".join(str(int(c)) for c in row) for row in cells.tolist()]
        assert lines == ["11110000"] * 4 + ["11111000", "11111100", "11111110", "11111111"]
        assert int(cells.sum()) == 42


@settings(max_examples=40)
@given(tokens=batches(longest=20), seed=seeds)
def test_p15_every_row_has_its_own_mask(tokens, seed):
    objective = find_objective("UniLM by row")
    steps = objective.steps(suited(objective, tokens), generator(seed))
    example, kinds = steps[-1].example, steps[3].plan.tolist()
    for row, kind in enumerate(kinds):
        count = int(example.inputs.valid[row].sum())
        second = (example.inputs.segment_ids[row, :count] > 0).tolist()
        cells = dense(example.inputs.attn_mask, row, count, count)
        assert cells == directions.see_kind(KINDS[kind], second)
        assert not dense(example.inputs.attn_mask, row, count, example.inputs.ids.shape[1])[0][count:].count(True)


def test_the_four_masks_come_in_their_shares():
    kinds = SampleMask().plan(begin(plain_rows(12_000, 3)), generator(7))
    assert_law(Counter(kinds.tolist()), {0: 1 / 3, 1: 1 / 3, 2: 1 / 6, 3: 1 / 6})
    only = SampleMask(both=0, seq2seq=0, left=0, right=3).plan(begin(plain_rows(50, 3)), generator(7))
    assert only.unique().tolist() == [3]
    with pytest.raises(UserError, match="both, seq2seq, left and right are all 0; give at least one"):
        SampleMask(both=0, seq2seq=0, left=0, right=0).plan(begin(plain_rows(1, 3)), generator(7))


def test_a_mask_that_does_not_exist_is_refused():
    with pytest.raises(UserError, match=r"The mask is 'up'; it must be one of both, seq2seq, left, right\."):
        story("UniLM by row", wanted={"mask": "up"})


@pytest.mark.parametrize("kind", KINDS)
def test_unilm_is_cloze_and_not_shift(kind):
    """Answers stand at their own places under every mask; asked for the next word instead, a two-sided mask leaks."""
    tokens = pair_of(7, 6)
    example = (
        find_objective("UniLM by row").turn({"mask_ratio": 0.4}).steps(tokens, generator(8), {"mask": kind})[-1].example
    )
    question = example.questions[0]
    assert torch.equal(question.origin[question.loss_mask], example.inputs.origin[question.loss_mask])
    assert torch.equal(question.loss_mask, (example.inputs.origin >= 0) & (question.loss_mask))
    assert {0, 1} == set(example.inputs.segment_ids[question.loss_mask].tolist())
    assert not leaks.check(example).leak
    next_word = replace(
        question, origin=example.inputs.origin.roll(-1, 1), loss_mask=example.inputs.origin.roll(-1, 1) >= 0
    )
    assert leaks.check(replace(example, questions=(next_word,))).leak == (kind in ("both", "seq2seq", "right"))


def test_the_mask_may_be_told_by_segment_numbers():
    """UniLM's released code: 0 and 1 for both sides, 4 and 5 for seq2seq, 2 to the left, 3 to the right."""
    objective = find_objective("UniLM by row").turn({"mode_segments": True})
    for kind, numbers in (("both", {0, 1}), ("seq2seq", {4, 5}), ("left", {2}), ("right", {3})):
        example = objective.steps(pair_of(3, 3), generator(0), {"mask": kind})[-1].example
        assert set(example.inputs.segment_ids[0].tolist()) == numbers


# prefix language model


@settings(max_examples=40)
@given(tokens=batches(special=False), seed=seeds)
def test_what_the_encoder_reads_and_the_decoder_writes_is_the_text(tokens, seed):
    example = find_objective("T5 prefix LM").example(tokens, generator(seed))
    for row, text in enumerate(texts(tokens)):
        source, target = shown(example.inputs, row)[0], said(example, row)
        assert source + target[:-1] == text
        assert len(text) < 2 or (source and target[-1] == SPECIALS.end)
        assert len(text) != 1 or not target


def test_the_last_given_word_or_the_start_sign_asks_for_the_first_new_one():
    """Off by one in peers: packed in one stack, word 4 of 8 answers word 5; a decoder's [START] does."""
    packed = rebuild("prefix LM", wanted={"split": 4}).facts()
    assert [t for t, g in zip(packed["targets"], packed["graded"], strict=True) if g] == "join with you today".split()
    assert packed["graded"].index(1) == 3
    apart = rebuild("T5 prefix LM", wanted={"split": 4}).facts()
    assert apart["inputs"] == "I am happy to".split()
    assert apart["decoder_inputs"] == "[START] join with you today".split()
    assert apart["targets"] == "join with you today [END]".split()
    assert apart["graded"] == [1] * 5


# mixtures and sums

CARD = {"idea": "Two at once.", "loss": "Their sum.", "source": "arXiv:1810.04805"}


def test_each_batch_has_one_part_in_its_share():
    objective = find_objective("UniLM")
    rng = generator(9)
    drawn = Counter(objective.stages[0].plan(begin(plain_rows(1, 3)), rng).index for _ in range(4000))
    assert_law(drawn, {0: 1 / 3, 1: 1 / 3, 2: 1 / 6, 3: 1 / 6})


def test_a_mixture_is_one_of_its_parts():
    objective = find_objective("UniLM")
    tokens = suited(objective, plain_rows(3, 9))
    for number, part in enumerate(objective.parts, 1):
        steps = objective.steps(tokens, generator(1), {"part": number})
        assert steps[0].stage.tell(steps[0].example, steps[0].plan, 0) == {"part": number}
        assert [type(s.stage) for s in steps[1:]] == [type(s) for s in part.stages]
        assert steps[0].plan.number.tolist() == [number - 1] * 3
        again = objective.replay(tokens, tuple(s.plan for s in steps))
        assert torch.equal(again[-1].example.inputs.attn_mask.dense(), steps[-1].example.inputs.attn_mask.dense())
    with pytest.raises(UserError, match=r"The part is 5; this mixture has the parts 1 to 4\."):
        objective.steps(tokens, generator(1), {"part": 5})


def test_each_mask_of_unilm_has_a_loss_of_its_own_and_a_batch_asks_that_of_the_mask_it_drew():
    objective = find_objective("UniLM")
    masks = ("both sides", "seq2seq", "left to right", "right to left")
    losses = [[f"hidden words, {mask}", *["pair"] * (mask == "both sides")] for mask in masks]
    assert [term.question for term in objective.terms] == [question for asked in losses for question in asked]
    drawn = set()
    for seed in range(12):
        made = story("UniLM", seed=seed)
        number = made.facts()["plan"]["part"] - 1
        assert [q.name for part in made.example.with_auxiliary for q in part.questions] == losses[number]
        assert list(made.facts()["signal_by_question"]) == losses[number]
        assert [term["question"] for term in made.facts()["terms"]] == losses[number]
        drawn.add(number)
    assert drawn == {0, 1, 2, 3}


def test_unilm_hides_a_fifth_as_two_or_three_and_numbers_the_segments_by_the_mask():
    """One text where it is read from one side, two elsewhere; segments as in the released code (arXiv:1905.03197)."""
    objective, tokens = find_objective("UniLM"), pair_of(12, 11)
    for number, wanted in enumerate(({0, 1}, {4, 5}, {2}, {3}), 1):
        example = objective.steps(suited(objective, tokens), generator(3), {"part": number})[-1].example
        assert set(example.inputs.segment_ids[example.inputs.valid].tolist()) == wanted
        assert int((example.inputs.origin >= 0).sum()) == (12 if number > 2 else example.tokens.lengths.sum())
    chooses = [stage for part in objective.parts for stage in part.stages if isinstance(stage, ChooseNgrams)]
    assert [(stage.sampler, stage.max_ngram, stage.whole_words) for stage in chooses] == [("80/20", 3, False)] * 4


def prefix_or_cloze():
    return mixture("prefix or cloze", ((1.0, find_objective("seq2seq LM")), (3.0, find_objective("MLM"))), **CARD)


def test_a_plan_by_hand_goes_to_a_part_that_knows_it():
    objective = prefix_or_cloze()
    assert objective.plan_keys == ("part", "split", "chosen", "actions", "replace")
    assert [t.question for t in objective.terms] == ["next word", "hidden words"]
    for seed in range(6):
        assert tell(objective.steps(plain_rows(1, 8), generator(seed), {"split": 3})) == {"part": 1, "split": 3}
    with pytest.raises(UserError, match=r"Part 2 has no plan for split; its keys are: chosen, actions, replace\."):
        objective.steps(plain_rows(1, 8), generator(0), {"part": 2, "split": 3})
    with pytest.raises(UserError, match=r"Part \d has no plan for chosen, split"):
        objective.steps(plain_rows(1, 8), generator(0), {"chosen": [1], "split": 3})
    found = Counter(objective.steps(plain_rows(1, 8), generator(s))[0].plan.index for s in range(600))
    assert_share(found[1], 600, 0.75)


def test_knobs_of_a_mixture_turn_every_part():
    objective = find_objective("UniLM").turn({"mask_ratio": 0.5})
    assert [part.knobs["mask_ratio"].default for part in objective.parts] == [0.5] * 4


def test_shares_must_add_up_to_something():
    for shares in ((0.0, 0.0), (-1.0, 2.0)):
        with pytest.raises(UserError, match=r"The shares of none are .*; none may be negative and one must be above 0"):
            mixture("none", tuple(zip(shares, (find_objective("LM"), find_objective("MLM")), strict=True)), **CARD)


def test_bert_is_the_sum_of_two():
    bert = mixed("BERT's two", ((1.0, find_objective("MLM")), (1.0, find_objective("NSP"))), **CARD)
    assert bert.needs == ("pair",)
    example = bert.example(suited(bert, plain_rows(4, 8)), generator(0))
    assert sorted(q.name for part in example.with_auxiliary for q in part.questions) == ["hidden words", "pair"]
    assert not leaks.check(example).leak
    assert (bert.row, bert.aliases) == ("", ())


def test_a_sum_weighs_its_parts_and_names_their_questions_apart():
    """MLM and 50 times RTD both ask for hidden words: the second says whose they are."""
    objective = mixed("both", ((2.0, find_objective("MLM")), (0.5, find_objective("RTD"))), **CARD)
    assert [t.question for t in objective.terms] == ["hidden words", "RTD: hidden words", "replaced?"]
    example = objective.example(plain_rows(3, 12), generator(0))
    weights = {q.name: q.weight for part in example.with_auxiliary for q in part.questions}
    assert weights == {"hidden words": 2.0, "RTD: hidden words": 0.5, "replaced?": 25.0}
    assert objective.formula.startswith(r"-2\,\frac")
    assert r"-0.5\,\lambda\,\frac" in objective.formula.replace(" - ", " + -")
    model = make_model(
        with_required_parts(Architecture(layers=1, width=16, heads=2), example), SPECIALS.size, generator(0)
    )
    total, terms = total_loss(model(example))
    assert total.item() == pytest.approx(sum(weights[k] * t.item() for k, t in terms.items()), rel=1e-5)


def test_a_mixture_may_stand_first_in_a_sum_and_a_sum_in_a_mixture():
    first = mixed("first", ((0.5, prefix_or_cloze()), (1.0, find_objective("BiLM"))), **CARD)
    for seed in range(6):
        example = first.example(plain_rows(2, 8), generator(seed))
        names = {q.name: q.weight for part in example.with_auxiliary for q in part.questions}
        assert names in (
            {"BiLM: next word": 0.5, "previous word": 0.5, "next word": 0.5},
            {"BiLM: next word": 0.5, "previous word": 0.5, "hidden words": 0.5},
        )
    nested = mixture("nested", ((1.0, find_objective("BiLM")), (1.0, find_objective("MLM"))), **CARD)
    parts = {len(nested.example(plain_rows(2, 8), generator(seed)).with_auxiliary) for seed in range(20)}
    assert parts == {1, 2}
    steps = nested.steps(plain_rows(2, 8), generator(0), {"part": 1})
    assert [s.part for s in steps] == [-1, 1, 1, 1, 0, 0, 0]
