"""Windows and wrong words, co-occurrence, n-grams that are matched, views that are taught; and static vectors."""

import math
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import leaks
from playground.analysis import cooccurrence
from playground.analysis.predictions import glance
from playground.answers import Answer, NegativeSampling, SoftTargets, Target, Word
from playground.batch import Action, begin
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.models import Architecture, make_model, with_required_parts
from playground.models.word_vectors import buckets
from playground.objectives import find_objective
from playground.objectives.arrange import ArrangeCooccurrences, Cells
from playground.objectives.choose import ChooseNgram, SubsampleFrequent
from playground.objectives.choose.frequent import keep_probability
from playground.objectives.objective import tell
from playground.objectives.propose.wrong import SampleNegatives, noise_probability
from playground.rng import generator
from playground.trace.rebuild import rebuild
from playground.training import checkpoint
from playground.training.loop import Run, prepared
from playground.training.train_state import TrainState
from playground.zoo import Recipe
from playground.zoo.entry import Entry
from tests.contracts.test_objectives import influences
from tests.oracles import contrast as oracles_contrast
from tests.oracles import stages
from tests.playground.objectives.test_laws import assert_law, assert_mean, assert_share
from tests.playground.objectives.test_stages import assert_row_is_story, shown, texts
from tests.runs import reviews
from tests.texts import SPECIALS, batches, plain_rows, row_of, seeds, story, suited, tokens_for, tokens_of

FIRST = SPECIALS.first_word
VARIANTS = {
    "skip-gram": {},
    "skip-gram thinned": {"threshold": 0.02},
    "skip-gram NS": {"window_size": 3},
    "skip-gram NCE": {"window_size": 2, "shrink_windows": False, "num_negatives": 2},
    "CBOW": {},
    "CBOW thinned": {"threshold": 0.01, "rule": "paper"},
    "CBOW NS": {"shrink_windows": False, "window_size": 2},
    "pairwise ranking": {},
    "context2vec": {"mask_ratio": 0.5},
    "DIM": {},
    "DIM short": {"mean_length": 2.0, "duplicates_as_negatives": True},
    "CVT": {},
    "CVT all texts": {"views": "all texts"},
}
NAMES = (
    "skip-gram NS",
    "skip-gram NCE",
    "skip-gram",
    "CBOW NS",
    "CBOW",
    "pairwise ranking",
    "context2vec",
    "DIM",
    "CVT",
)
every_variant = pytest.mark.parametrize("name", VARIANTS)
STATIC = ("skip-gram", "skip-gram NS", "skip-gram NCE", "CBOW", "CBOW NS", "pairwise ranking", "context2vec", "GloVe")
every_static = pytest.mark.parametrize("name", STATIC)


@cache
def variant(name):
    base = next(n for n in NAMES if name.startswith(n))
    return find_objective(base).turn(VARIANTS[name])


def run(name, tokens, seed):
    return variant(name).steps(suited(variant(name), tokens), generator(seed, name))


def group(stories, row):
    """The number that the oracle's n-gram of a row has among those of the batch, shorter ones padded."""
    longest = max(len(oracles_contrast.missing(s)) for s in stories)
    padded = [(oracles_contrast.missing(s) + [SPECIALS.pad] * longest)[:longest] for s in stories]
    return sorted(map(list, {tuple(p) for p in padded})).index(padded[row])


def own_plan(step, row, stories):
    """The row's own lists out of a plan, or what else the oracle of a stage must know."""
    size = len(stories[row].text)
    match type(step.stage).__name__:
        case "AskInBatchContrast":
            return {"group": row if step.stage.duplicates_as_negatives else group(stories, row)}
        case "AskCrossView":
            return {"labels": step.example.tokens.labels["pos"][row, :size].tolist()}
        case "SampleNegatives":
            return None
    values = {} if step.plan is None else row_of(step.plan, row, step.example.selected.shape[1])
    if isinstance(values, dict):
        return {k: v[:size] if k == "positions" else v for k, v in values.items()}
    return values[:size] if isinstance(values, list) else values


@every_variant
@settings(max_examples=30)
@given(tokens=batches(), seed=seeds)
def test_p15_every_stage_equals_its_oracle(name, tokens, seed):
    stories = [stages.begin(text) for text in texts(tokens)]
    for step in run(name, tokens, seed):
        before = list(stories)
        for row, told in enumerate(before):
            stories[row] = stages.act(step.stage, own_plan(step, row, before), told)
            assert_row_is_story(step.example, row, stories[row])


@settings(max_examples=40)
@given(tokens=batches(), window=st.integers(1, 6))
def test_p15_cells_are_those_of_the_whole_batch(tokens, window):
    example = find_objective("GloVe").turn({"window_size": window}).example(tokens, generator(0))
    question = example.questions[0]
    for row, cells in enumerate(oracles_contrast.cells_of(texts(tokens), window)):
        n = len(cells)
        ids, origin, _ = shown(example.inputs, row)
        told = zip(ids, question.targets[row].tolist(), origin, question.origin[row].tolist(), strict=False)
        assert list(told) == [cell[:4] for cell in cells]
        assert question.loss_mask[row].tolist() == [k < n for k in range(question.loss_mask.shape[1])]
        torch.testing.assert_close(question.kind.counts[row, :n], torch.tensor([c[4] for c in cells]))


def test_a_large_vocabulary_is_sorted_and_says_the_same():
    """Few pairs of many words take another way than many pairs of few words."""
    tokens = tokens_of([[FIRST + k % 7 for k in range(60)]] * 40)
    wide = replace(tokens, specials=replace(SPECIALS, size=5000))
    one, other = (find_objective("GloVe").example(t, generator(0)) for t in (tokens, wide))
    assert SPECIALS.size**2 <= 4 * 40 * 60 * 20 < 5000**2
    assert torch.equal(one.inputs.ids, other.inputs.ids)
    assert torch.equal(one.questions[0].kind.counts, other.questions[0].kind.counts)


@settings(max_examples=20)
@given(tokens=batches(), seed=seeds)
def test_p15_the_ngram_stands_alone_behind_its_sign(tokens, seed):
    example = run("DIM", tokens, seed)[-1].example
    (partner,) = example.auxiliary
    for row, text in enumerate(texts(tokens)):
        ids, origin, _ = shown(partner.inputs, row)
        places = example.selected[row].nonzero().flatten().tolist()
        assert (ids, origin) == ([SPECIALS.cls, *(text[p] for p in places)], [-1, *places])
        assert partner.inputs.attn_mask.dense()[row, : len(ids), : len(ids)].all()
    assert partner.questions == ()


@pytest.mark.parametrize("name", ["CVT", "CVT all texts"])
@settings(max_examples=20)
@given(tokens=batches(), seed=seeds)
def test_p15_views_see_half_and_answer_for_their_places(name, tokens, seed):
    example = run(name, tokens, seed)[-1].example
    for row, text in enumerate(texts(tokens)):
        told = replace(stages.begin(text), chosen=example.selected[row, : len(text)].tolist())
        for part, (cells, answers) in zip(example.auxiliary, oracles_contrast.views(told, name == "CVT"), strict=True):
            assert part.inputs.attn_mask.dense()[row, : len(text), : len(text)].tolist() == cells
            assert [q.name for q in part.questions] == list(answers)
            for question, places in zip(part.questions, answers.values(), strict=True):
                assert_taught(question, row, places, question.name in ("future", "past"))


def assert_taught(question, row, places, unseen):
    assert question.kind.label == f"pos {question.name}"
    graded = [p is not None for p in places]
    assert question.loss_mask[row].tolist() == graded + [False] * (question.loss_mask.shape[1] - len(places))
    assert question.kind.positions[row, : len(places)].tolist() == [p or 0 for p in places]
    assert question.origin[row, : len(places)].tolist() == [p if unseen and p is not None else -1 for p in places]


# windows: laws, wishes, traps


def test_a_pair_at_distance_d_is_seen_with_the_chance_w_minus_d_plus_1_in_w():
    """1 .8 .6 .4 .2 for a window of five (objectives reference, 22b)."""
    example = find_objective("CBOW").example(plain_rows(4000, 21), generator(1))
    seen = example.inputs.query_attn_mask.dense()[:, 10]
    for distance, share in zip(range(1, 6), (1.0, 0.8, 0.6, 0.4, 0.2), strict=True):
        for place in (10 - distance, 10 + distance):
            number = int(seen[:, place].sum())
            assert number == 4000 if share == 1.0 else not assert_share(number, 4000, share)
    assert not seen[:, [*range(5), 10, *range(16, 21)]].any()


def test_skip_gram_has_the_pairs_that_cbow_sees():
    tokens = tokens_of([list(range(FIRST, FIRST + 12)), [FIRST, FIRST + 1]])
    pairs, bags = (find_objective(n).example(tokens, generator(2)) for n in ("skip-gram", "CBOW"))
    for row, length in enumerate((12, 2)):
        cells = bags.inputs.query_attn_mask.dense()[row, :length, :length].nonzero().tolist()
        real = pairs.inputs.valid[row]
        assert [
            list(p)
            for p in zip(
                pairs.inputs.origin[row][real].tolist(), pairs.questions[0].origin[row][real].tolist(), strict=True
            )
        ] == cells


def test_the_radius_belongs_to_the_centre():
    """A pair may be there and its mirror not (objectives reference, 18)."""
    seen = find_objective("CBOW").example(plain_rows(50, 12), generator(3)).inputs.query_attn_mask.dense()
    assert (seen & ~seen.transpose(1, 2)).any()


def test_dropping_words_comes_before_windows_so_that_they_reach_further():
    rebuilt = rebuild("skip-gram", settings={"window_size": 1}, wanted={"chosen": "1,3,8"})
    facts = rebuilt.facts()
    assert facts["inputs"] == ["I", "happy", "happy", "today"]
    assert facts["targets"] == ["happy", "I", "today", "happy"]
    assert facts["actions"] == ["kept", "deleted", "kept", "deleted", "deleted", "deleted", "deleted", "kept"]


def test_a_radius_can_be_given_by_hand():
    rebuilt = rebuild("CBOW", wanted={"radius": "1,1,2,1,1,1,1,5"})
    cells = rebuilt.facts()["visible"]["query"]
    assert [sum(row) for row in cells] == [1, 2, 4, 2, 2, 2, 2, 5]
    assert cells[2] == [1, 1, 0, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "plan", "sentence"),
    [
        ("CBOW", {"radius": "1,2"}, r"The plan radius names 2 for 8 words; give one for each\."),
        ("CBOW", {"radius": "9,1,1,1,1,1,1,1"}, r"The radius 9 does not fit; it must lie between 1 and 5"),
        ("CBOW NS", {"wrong": "happy"}, r"The plan wrong names 1 words; 40 are needed, 5 for each answer\."),
        ("CBOW NS", {"radius": "wide"}, r"The plan radius is 'wide'; it must be one number for each word"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(name, plan, sentence):
    with pytest.raises(UserError, match=sentence):
        rebuild(name, wanted=plan)


def test_labelled_is_yes_or_no():
    with pytest.raises(UserError, match=r"The plan labelled is 'perhaps'; it must be yes or no\."):
        story("CVT", wanted={"labelled": "perhaps"})
    assert not story("CVT", wanted={"labelled": "no"}).example.questions[0].loss_mask.any()
    assert story("CVT", wanted={"labelled": "yes"}).example.questions[0].loss_mask.any()


@pytest.mark.parametrize("name", ["skip-gram NS", "CBOW NS", "context2vec", "pairwise ranking"])
def test_told_wrong_words_are_the_same_wrong_words(name):
    first = story(name, seed=3)
    again = story(name, seed=44, wanted=tell(first.steps))
    assert torch.equal(first.example.questions[0].kind.negatives, again.example.questions[0].kind.negatives)


def test_windows_end_at_signs():
    example = find_objective("CBOW").example(tokens_of([[FIRST, FIRST + 1, SPECIALS.sep, FIRST + 2]]), generator(4))
    seen = example.inputs.query_attn_mask.dense()[0]
    assert seen.nonzero().tolist() == [[0, 1], [1, 0]]
    assert example.questions[0].loss_mask[0].tolist() == [True, True, False, False]


def test_frequent_words_stay_with_the_published_chance():
    """keep = sqrt(t / f) + t / f (code) against sqrt(t / f) (paper); the two differ by up to .36 at t = 1e-2."""
    counted = torch.tensor([900.0, 90.0, 10.0], dtype=torch.double)
    code, paper = (keep_probability(counted, 0.01, rule).tolist() for rule in ("code", "paper"))
    assert code == pytest.approx([math.sqrt(1 / 90) + 1 / 90, math.sqrt(1 / 9) + 1 / 9, 1.0])
    assert paper == pytest.approx([math.sqrt(1 / 90), math.sqrt(1 / 9), 1.0])
    assert keep_probability(counted, 0.0).tolist() == [1.0, 1.0, 1.0]
    tokens = replace(
        plain_rows(6000, 4),
        word_counts=torch.zeros(SPECIALS.size).scatter(
            0, torch.arange(FIRST, FIRST + 4), torch.tensor([900.0, 90.0, 9.0, 1.0])
        ),
    )
    kept = SubsampleFrequent(0.01).plan(begin(tokens), generator(5)).positions.sum(0).tolist()
    for number, share in zip(kept, keep_probability(torch.tensor([900.0, 90.0, 9.0, 1.0]), 0.01).tolist(), strict=True):
        assert number == 6000 if share == 1.0 else not assert_share(number, 6000, share)


# wrong words


def counted(*numbers):
    counts_ = torch.zeros(SPECIALS.size)
    counts_[FIRST : FIRST + len(numbers)] = torch.tensor(numbers)
    return counts_


def test_noise_is_the_unigram_law_to_the_power_of_three_quarters():
    """.90 / .09 / .01 become .825 / .147 / .028 (inventory, appendix D)."""
    tokens = replace(plain_rows(2, 3), word_counts=counted(90.0, 9.0, 1.0))
    law = noise_probability(tokens, 0.75)
    assert law[FIRST : FIRST + 3].tolist() == pytest.approx([0.825, 0.147, 0.028], abs=5e-4)
    assert float(law.sum()) == pytest.approx(1.0)
    assert noise_probability(tokens, 0.0)[FIRST : FIRST + 3].tolist() == pytest.approx([1 / 3] * 3)
    assert noise_probability(tokens, 1.0)[FIRST : FIRST + 3].tolist() == pytest.approx([0.9, 0.09, 0.01])


def test_wrong_words_follow_the_noise_and_are_never_the_right_one():
    tokens = replace(plain_rows(4000, 3), word_counts=counted(90.0, 9.0, 1.0))
    steps = find_objective("CBOW NS").steps(tokens, generator(6))
    drawn, question = steps[-1].plan, steps[-1].example.questions[0]
    law = noise_probability(tokens, 0.75)
    assert_law(Counter(drawn.flatten().tolist()), {w: float(law[w]) for w in range(FIRST, FIRST + 3)})
    wrong = question.kind.negatives
    assert not (wrong == question.targets[..., None]).any()
    assert torch.equal(wrong == -1, drawn == question.targets[..., None])


def test_without_counts_the_batch_is_counted_and_unknown_words_are_never_wrong():
    tokens = tokens_of([[FIRST, FIRST, FIRST + 1, SPECIALS.unknown, SPECIALS.sep]])
    assert noise_probability(tokens, 1.0).nonzero().flatten().tolist() == [FIRST, FIRST + 1]
    assert float(noise_probability(tokens, 1.0)[FIRST]) == pytest.approx(2 / 3)
    assert torch.equal(
        noise_probability(tokens_of([[SPECIALS.unknown]]), 0.75) > 0, torch.arange(SPECIALS.size) >= FIRST
    )


def static(name, seed=1, knobs=None, **shape):
    """A static model in double precision that can answer an objective's example of a text."""
    objective = find_objective(name).turn(knobs or {})
    example = objective.example(tokens_for(objective), generator(0))
    made = with_required_parts(Architecture(kind="static", width=8, heads=2, **shape), example)
    return make_model(made, SPECIALS.size, generator(seed)).double(), example


@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        ("skip-gram NS", {}),
        ("CBOW NS", {}),
        ("pairwise ranking", {}),
        ("skip-gram NCE", {}),
        ("CBOW NS", {"loss": "softmax"}),
    ],
)
def test_the_losses_are_those_of_the_papers(name, knobs):
    """Every graded answer again, in plain sums over its own right and wrong words."""
    model, example = static(name, knobs=knobs)
    (answer,) = model(example)
    contrast = answer.target.kind
    law = noise_probability(example.tokens, 0.75)
    for k, loss in enumerate(answer.losses().tolist()):
        row, place = int(answer.rows[k]), int(answer.positions[k])
        right, drawn = int(answer.targets[k]), contrast.negatives[row, place].tolist()
        said = dict(zip([right, *drawn], answer.scores[k].tolist(), strict=True))
        wrong = [w for w in drawn if w >= 0]

        def score(word, said=said, wrong=wrong):
            return said[word] - (math.log(len(wrong) * float(law[word])) if "NCE" in name else 0.0)

        assert contrast.loss == knobs.get("loss", contrast.loss)
        assert ("NCE" not in name and right not in wrong) or len(wrong) == len(drawn), "NCE keeps every draw"
        if contrast.loss == "softmax":
            everyone = sum(math.exp(s) for s in (said[right], *(said[w] for w in wrong)))
            assert loss == pytest.approx(-math.log(math.exp(said[right]) / everyone))
        elif name == "pairwise ranking":
            assert loss == pytest.approx(sum(max(0.0, 1 - said[right] + said[w]) for w in wrong))
        else:
            sigmoid = lambda x: 1 / (1 + math.exp(-x))  # noqa: E731
            slow = -math.log(sigmoid(score(right))) - sum(math.log(sigmoid(-score(w))) for w in wrong)
            assert loss == pytest.approx(slow, rel=1e-5)


LAW = torch.tensor([0.7, 0.2, 0.08, 0.02], dtype=torch.double)


def every_draw(number, loss):
    """The loss `[m]` of every right word with every list of draws, as a function of scores `[4]`, and its chance."""
    right, *drawn = (x.flatten() for x in torch.meshgrid(*[torch.arange(4)] * (1 + number), indexing="ij"))
    tokens = replace(plain_rows(1, len(right)), word_counts=counted(*(100 * LAW).tolist()))
    target, draws = right[None] + FIRST, torch.stack(drawn, dim=1)[None] + FIRST
    question = Target("word", Word(), "inputs", target, torch.ones_like(target) > 0, target)
    stage = SampleNegatives(number, loss=loss)
    (asked,) = stage.build(replace(begin(tokens), questions=(question,)), draws).questions
    noise = noise_probability(tokens, 0.75)[FIRST : FIRST + 4]
    chance = LAW[right] * noise[draws[0] - FIRST].prod(1)
    ids = torch.cat([target[0][:, None], draws[0]], dim=1) - FIRST
    places = asked.loss_positions
    return chance, lambda scores: Answer(asked, places.rows, places.positions, scores[ids], target[0]).losses()


@pytest.mark.parametrize("number", [1, 3])
def test_what_nce_likes_best_is_the_logarithm_of_each_chance(number):
    """-.36 -1.61 -2.53 -3.91 for chances of .7 .2 .08 .02, summed over every draw (Mnih and Kavukcuoglu 2013)."""
    assert LAW.log().tolist() == pytest.approx([-0.36, -1.61, -2.53, -3.91], abs=0.006)
    best = {}
    for loss in ("nce", "sampled"):
        chance, losses = every_draw(number, loss)
        assert float(chance.sum()) == pytest.approx(1.0)
        scores = torch.zeros(4, dtype=torch.double, requires_grad=True)
        optimiser = torch.optim.LBFGS([scores], max_iter=500, tolerance_grad=1e-12, tolerance_change=1e-15)

        def again(chance=chance, losses=losses, scores=scores, optimiser=optimiser):
            optimiser.zero_grad()
            total = (chance * losses(scores)).sum()
            total.backward()
            return total

        optimiser.step(again)
        best[loss] = scores.detach()
    torch.testing.assert_close(best["nce"], LAW.log(), atol=1e-4, rtol=0)
    assert (best["sampled"] - LAW.log()).abs().max() > 0.1, "negative sampling estimates something else"


def test_nce_keeps_a_draw_that_is_the_right_word_and_negative_sampling_skips_it():
    for loss, kept in (("nce", True), ("sampled", False), ("hinge", False), ("softmax", False)):
        objective = find_objective("CBOW NS").turn({"loss": loss})
        tokens = replace(plain_rows(200, 3), word_counts=counted(90.0, 9.0, 1.0))
        steps = objective.steps(tokens, generator(6))
        question, drawn = steps[-1].example.questions[0], steps[-1].plan
        hit = question.loss_mask[..., None] & (drawn == question.targets[..., None])
        assert bool(hit.any())
        assert torch.equal(question.kind.negatives[hit], drawn[hit]) is kept
        assert not kept or bool((question.kind.negatives[question.loss_mask] >= 0).all())


# static vectors


@every_static
@pytest.mark.parametrize("seed", range(2))
def test_gradients_flow_exactly_where_visibility_lets_them(name, seed, monkeypatch):
    model, example = static(name, seed)
    embedded = {}
    embed = type(model.network)._embed

    def watch(network, stream, table):
        embedded[id(stream)] = embed(network, stream, table).detach().requires_grad_()
        return embedded[id(stream)]

    monkeypatch.setattr(type(model.network), "_embed", watch)
    (answer,) = model(example)
    reach, _ = leaks.answering(example, answer.target, 1)
    assert torch.equal(influences(answer, embedded[id(example.inputs)]), reach[answer.positions])


@settings(max_examples=20)
@given(tokens=batches(), seed=seeds)
def test_the_short_way_of_a_window_is_the_mean_of_its_matrix(tokens, seed):
    example = run("CBOW", tokens, seed)[-1].example
    model = make_model(
        Architecture(kind="static", width=8, heads=2, two_streams=True), SPECIALS.size, generator(seed)
    ).double()
    inputs = example.inputs
    places = torch.arange(inputs.ids.shape[1]).expand(inputs.ids.shape)
    short = model.network.query_stream(inputs, places, model.token_embedding.weight)
    slow = replace(inputs, query_attn_mask=replace(inputs.query_attn_mask, form="levels"))
    torch.testing.assert_close(short, model.network.query_stream(slow, places, model.token_embedding.weight))
    seen = inputs.query_attn_mask.dense()
    for row in range(len(seen)):
        for place in range(seen.shape[1]):
            words = model.token_embedding.weight[inputs.ids[row][seen[row, place]]]
            mean = words.mean(0) if len(words) else torch.zeros(8, dtype=torch.double)
            torch.testing.assert_close(short[row, place], mean)


def test_a_word_is_the_same_wherever_it_stands():
    model, example = static("skip-gram")
    vectors = model.features(example.tokens)
    ids = example.tokens.ids[0]
    assert torch.equal(vectors[0], model.token_embedding.weight[ids])
    assert model.groups() == {"embeddings": ["token_embedding.weight"], "heads": ["lm_head.out.weight"]}


def test_the_weights_that_are_drawn_are_the_mean():
    model, example = static("CBOW")
    found = model.attention(example)
    assert set(found) == {"content", "query"}
    query = found["query"][0, 0, 0]
    seen = example.inputs.query_attn_mask.dense()[0]
    assert torch.equal(query > 0, seen)
    torch.testing.assert_close(query.sum(1), torch.ones(len(seen), dtype=torch.double))


def test_static_vectors_do_not_write():
    model, _ = static("CBOW")
    example = find_objective("BART").example(tokens_for(find_objective("BART")), generator(0))
    with pytest.raises(
        UserError, match=r"writes with a decoder, which static vectors cannot do; set kind to transformer"
    ):
        make_model(with_required_parts(model.shape, example), SPECIALS.size, generator(0))(example)


def test_ngrams_of_a_word_are_those_between_its_ends():
    """fastText (arXiv:1607.04606, sec. 3.2): where is <wh, whe, her, ere, re> and longer ones; the word is its own."""
    assert len(buckets("where", 1 << 30)) == 5 + 4 + 3 + 2
    assert buckets("a", 1 << 30) == []
    assert len(set(buckets("her", 1 << 30)) & set(buckets("where", 1 << 30))) == 1, "her, which is not <her>"
    assert len(set(buckets("walked", 1 << 30)) & set(buckets("walking", 1 << 30))) == len(
        {"<wa", "wal", "alk", "<wal", "walk", "<walk"}
    )


def test_words_that_are_spelt_alike_are_near_before_any_training():
    words = ("walked", "walks", "sun")
    model = make_model(Architecture(kind="static", width=16, heads=2, ngrams=5000), 3, generator(0), words)
    table = model.token_embedding.weight
    walked, walks, sun = model.network.vectors(table) - table
    grams = model.network.ngram_embedding.weight
    torch.testing.assert_close(walks, grams[buckets("walks", 5000)].sum(0))
    near, far = torch.nn.functional.cosine_similarity(walks[None], torch.stack([walked, sun])).tolist()
    assert near > far + 0.2
    with pytest.raises(UserError, match="need to know how the words are spelt"):
        make_model(Architecture(kind="static", width=16, heads=2, ngrams=50), 3, generator(0))


def entry_of(name, **model):
    """An entry around an objective, small."""
    shape = Architecture(kind="static", width=16, heads=2, two_streams=True, counts=name == "GloVe", **model)
    recipe = Recipe(steps=40, batch_size=8, seq_len=16, optimiser="adamw", lr=2e-2, warmup_ratio=0.02)
    return Entry(name, 2013, "arXiv:1310.4546", "A test.", shape, find_objective(name), recipe=recipe)


def test_a_static_model_is_saved_and_goes_on_bit_for_bit(tmp_path, monkeypatch):
    corpus = reviews()
    entry = entry_of("CBOW NS", ngrams=300)
    monkeypatch.setattr(checkpoint, "entry_named", lambda name: entry)
    words = corpus.tokenizer.words
    learner = TrainState.new(entry, words, 0, torch.device("cpu"))
    batch = pick(corpus.windows(16), torch.arange(8))
    learner.learn(learner.example(batch))
    studied = checkpoint.CorpusInfo(
        corpus.name, corpus.hash, 1.0, pick(corpus.windows(16, "held_out"), torch.arange(4))
    )
    saved = checkpoint.load(
        checkpoint.save(tmp_path / "checkpoint.safetensors", learner, corpus.tokenizer, studied)
    ).learner
    for one in (learner, saved):
        one.learn(one.example(batch))
    assert all(torch.equal(a, b) for a, b in zip(learner.model.parameters(), saved.model.parameters(), strict=True))


@pytest.mark.parametrize("name", ["skip-gram NS", "CBOW", "GloVe"])
def test_words_that_mean_alike_come_near_each_other(name):
    corpus = reviews()
    entry = entry_of(name)
    table = cooccurrence.cooccurrence(corpus.ids[: corpus.held_out_from], corpus.tokenizer.specials)
    entry = replace(entry, objective=entry.objective.counting(table))
    learner = TrainState.new(entry, corpus.tokenizer.words, 0, torch.device("cpu"))
    windows = corpus.windows(16)
    rows = (torch.arange(8) + 8 * (step % 140) for step in range(141))
    learned = [float(learner.learn(learner.example(pick(windows, some)))[1]) for some in rows]
    assert learned[-1] < 0.8 * learned[0], "the same batch, before and after"


@pytest.mark.parametrize("name", ["skip-gram NS", "GloVe", "DIM", "CVT", "CBOW"])
def test_a_glance_names_what_is_compared(name):
    objective = find_objective(name)
    tokens = tokens_for(objective)
    shape = with_required_parts(
        Architecture(layers=1, width=8, heads=2, mlp_ratio=1), objective.example(tokens, generator(0))
    )
    seen = glance(make_model(shape, SPECIALS.size, generator(0)), objective, 0, tokens)
    assert seen.guesses
    for guess in seen.guesses:
        assert 0.0 <= guess.probability <= 1.0
        assert guess.truth
        assert name != "CVT" or guess.truth in objective.stages[-1].classes


# co-occurrence


def test_glove_weighs_counts_as_published():
    """X = 1 .032, 10 .178, 50 .595, 100 and more 1 (inventory, appendix D): the share of the square that is paid."""
    model, example = static("GloVe")
    question = example.questions[0]
    for times, share in ((1.0, 0.032), (10.0, 0.178), (50.0, 0.595), (100.0, 1.0), (400.0, 1.0)):
        against = replace(question.kind, counts=torch.full_like(question.kind.counts, times))
        (answer,) = model(replace(example, questions=(replace(question, kind=against),)))
        square = (answer.scores[:, 0] - math.log(times)) ** 2
        torch.testing.assert_close(answer.losses() / square, torch.full_like(square, share), atol=5e-4, rtol=0)


def test_glove_is_content_when_the_logarithm_is_met():
    model, example = static("GloVe")
    (answer,) = model(example)
    met = replace(answer, scores=answer.target.kind.counts[answer.rows, answer.positions].log()[:, None])
    assert float(met.mean()) == 0.0
    assert float(answer.mean()) > 0.0


def test_glove_has_a_bias_for_each_side():
    """w·w~ + b + b~: the last number of a word's own vector is its bias (Pennington et al. 2014, eq. 8)."""
    model, example = static("GloVe")
    torch.nn.init.normal_(model.lm_head.bias, generator=generator(4))
    (answer,) = model(example)
    word = example.inputs.ids[answer.rows, answer.positions]
    own, out = model.token_embedding.weight[word], model.lm_head.out.weight[answer.targets, :-1]
    expected = (own[:, :-1] * out).sum(1) + own[:, -1] + model.lm_head.bias[answer.targets]
    torch.testing.assert_close(answer.scores[:, 0], expected)


@pytest.mark.parametrize("name", ["skip-gram", "skip-gram NS", "skip-gram NCE", "CBOW", "CBOW NS"])
def test_words_are_scored_by_the_product_of_two_vectors_and_nothing_else(name):
    """The formulas hold u·v without any bias (arXiv:1310.4546, eq. 2 and 4)."""
    model, example = static(name)
    (answer,) = model(example)
    seen = example.inputs.attn_mask if "skip" in name else example.inputs.query_attn_mask
    shares = seen.dense().double()
    shares = shares / shares.sum(-1, keepdim=True).clamp(min=1)
    own = (shares @ model.token_embedding.weight[example.inputs.ids])[answer.rows, answer.positions]
    out = model.lm_head.out.weight
    right = (own * out[answer.targets]).sum(1)
    contrast = isinstance(answer.target.kind, NegativeSampling)
    first = 0 if contrast else answer.targets[:, None]
    found = answer.scores[:, 0] if contrast else answer.scores.gather(1, first)[:, 0]
    torch.testing.assert_close(found, right)
    assert {n for n, _ in model.named_parameters()} == {"token_embedding.weight", "lm_head.out.weight"}


@settings(max_examples=30)
@given(tokens=batches(), window=st.integers(1, 6))
def test_the_table_of_a_corpus_is_that_of_its_texts(tokens, window):
    """One long row of texts ended by [SEP] is counted as the texts are one by one."""
    rows = texts(tokens)
    long = torch.tensor([token for text in rows for token in (*text, SPECIALS.sep)])
    table = cooccurrence.dense(cooccurrence.cooccurrence(long, SPECIALS, window), SPECIALS.size)
    slow = torch.zeros_like(table)
    for cells in oracles_contrast.cells_of(rows, window):
        for word, other, _, _, seen in cells:
            slow[word, other] = seen
    torch.testing.assert_close(table, slow)
    assert torch.equal(table, table.T)


def test_a_word_beside_itself_counts_twice_and_signs_end_the_window():
    a, b = FIRST, FIRST + 1
    ids = torch.tensor([a, a, SPECIALS.sep, b])
    table = cooccurrence.dense(cooccurrence.cooccurrence(ids, SPECIALS, 5), SPECIALS.size)
    assert float(table[a, a]) == 2.0
    assert float(table.sum()) == 2.0
    ids = torch.tensor([a, SPECIALS.unknown, b])
    unknown = cooccurrence.dense(cooccurrence.cooccurrence(ids, SPECIALS, 1), SPECIALS.size)
    assert float(unknown[a, b]) == 1.0, "the window closes over a word that is not known"


def test_the_mass_of_the_table_is_twice_one_over_the_distances():
    table = cooccurrence.cooccurrence(torch.arange(FIRST, FIRST + 20), SPECIALS, 4)
    assert float(table.seen.sum()) == pytest.approx(2 * sum((20 - d) / d for d in range(1, 5)))


def test_ppmi_is_nothing_where_words_meet_by_chance_and_its_factors_make_it_again():
    assert not cooccurrence.ppmi(torch.outer(torch.arange(1.0, 5.0), torch.arange(1.0, 5.0))).gt(1e-6).any()
    table = cooccurrence.ppmi(torch.tensor([[0.0, 4.0], [4.0, 0.0]]))
    torch.testing.assert_close(table, torch.tensor([[0.0, math.log(2)], [math.log(2), 0.0]]))
    dense = torch.tensor([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    whole = cooccurrence.factors(dense, 3)
    torch.testing.assert_close(whole @ whole.T, dense)


def test_counting_alone_brings_like_words_together():
    corpus = reviews(60_000)
    words = corpus.tokenizer.words
    table = cooccurrence.cooccurrence(corpus.ids, corpus.tokenizer.specials, 5)
    vectors = cooccurrence.factors(cooccurrence.ppmi(cooccurrence.dense(table, len(words))), 16)
    vectors = torch.nn.functional.normalize(vectors, dim=-1)
    near = [words[i] for i in (vectors @ vectors[words.index("film")]).topk(5).indices.tolist()[1:]]
    assert {"movie", "comedy", "drama"} & set(near), near


def test_the_cells_of_a_corpus_are_drawn_alike_and_replace_the_text():
    table = Cells(
        torch.tensor([FIRST, FIRST + 1, FIRST + 2]), torch.tensor([FIRST + 3] * 3), torch.tensor([1.0, 5.0, 200.0])
    )
    objective = find_objective("GloVe").counting(table)
    example = objective.example(plain_rows(2000, 6), generator(7))
    question = example.questions[0]
    assert_law(Counter(example.inputs.ids.flatten().tolist()), {FIRST + k: 1 / 3 for k in range(3)})
    assert question.targets.unique().tolist() == [FIRST + 3]
    assert torch.equal(question.kind.counts, table.seen[example.inputs.ids - FIRST])
    assert objective.stages[0].table is table
    ragged = objective.example(tokens_of([[FIRST], [], [FIRST] * 3]), generator(8))
    assert ragged.questions[0].loss_mask.sum(1).tolist() == [1, 0, 3]
    assert not leaks.check(ragged).leak
    with pytest.raises(UserError, match="The table of co-occurrences is empty"):
        ArrangeCooccurrences(table=Cells(*torch.zeros(3, 0)))


@pytest.mark.parametrize("window", [1, 10])
def test_a_run_counts_the_words_within_its_own_window(window):
    corpus, entry = reviews(), entry_of("GloVe")
    entry = replace(entry, objective=entry.objective.turn({"window_size": window}))
    course = prepared(Run(entry, corpus, steps=1))
    ours = cooccurrence.cooccurrence(corpus.ids[: corpus.held_out_from], corpus.tokenizer.specials, window)
    for objective in (course.run.entry.objective, course.learner.objective):
        table = objective.stages[0].table
        assert all(torch.equal(getattr(table, name), getattr(ours, name)) for name in ("word", "other", "seen"))
    other = cooccurrence.cooccurrence(corpus.ids[: corpus.held_out_from], corpus.tokenizer.specials, 11 - window)
    assert len(other.seen) != len(ours.seen)


# n-grams that are matched


def test_ngram_lengths_follow_the_rounded_normal_law():
    """N(5, 1) rounded: 3 .060, 4 .241, 5 .383, 6 .242, 7 .061 (inventory, appendix D), mean 5."""
    lengths = ChooseNgram().lengths(40_000, generator(9))
    shares = torch.bincount(lengths, minlength=11) / len(lengths)
    assert shares[3:8].tolist() == pytest.approx([0.060, 0.241, 0.383, 0.242, 0.061], abs=0.012)
    for length, share in zip(range(3, 8), (0.0606, 0.2417, 0.3829, 0.2417, 0.0606), strict=True):
        assert_share(int((lengths == length).sum()), len(lengths), share)
    assert_mean(lengths, 5.0)
    assert ChooseNgram(10.0, 5.0).lengths(4000, generator(1)).max() == 10
    assert ChooseNgram(1.0, 5.0).lengths(4000, generator(1)).min() == 1


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, mean=st.floats(1.0, 10.0))
def test_every_text_of_two_words_loses_one_run_and_keeps_a_word(tokens, seed, mean):
    example = begin(tokens)
    stage = ChooseNgram(mean)
    plan = stage.plan(example, generator(seed))
    chosen = stage.build(example, plan).selected
    for row, text in enumerate(texts(tokens)):
        allowed, marked = stages.maskable(text), chosen[row, : len(text)].tolist()
        assert (sum(marked) > 0) == (sum(allowed) > 1)
        assert sum(marked) == max(0, int(plan.length[row])), "no run is cut short by a sign"
        assert sum(marked) < max(1, sum(allowed))


def dim(tokens, seed=0, **knobs):
    """The loss of DIM with a small model, and the answer."""
    example = find_objective("DIM").turn(knobs).example(tokens, generator(seed))
    model = make_model(Architecture(layers=1, width=8, heads=2, mlp_ratio=1), SPECIALS.size, generator(1)).double()
    (answer,) = model(example)
    return float(answer.mean().detach()), answer, example


def varied(rows, length=9):
    return tokens_of([[FIRST + (r * 7 + k * (r + 3)) % 50 for k in range(length)] for r in range(rows)])


def test_scores_are_contexts_by_ngrams_with_the_diagonal_right():
    loss, answer, _ = dim(varied(5))
    assert answer.scores.shape == (5, 5)
    assert answer.targets.tolist() == [0, 1, 2, 3, 4]
    slow = -(answer.scores.diagonal() - answer.scores.exp().sum(1).log()).mean()
    assert loss == pytest.approx(float(slow))
    assert loss != pytest.approx(float((answer.scores.diagonal() - answer.scores.abs().sum(1).log()).mean())), (
        "as printed"
    )


def test_a_batch_of_one_text_costs_nothing():
    assert dim(varied(1))[0] == 0.0


def test_the_loss_is_the_same_in_any_order_of_the_batch():
    tokens = varied(6)
    loss = dim(tokens)[0]
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    steps = find_objective("DIM").steps(tokens, generator(0))
    plans = tuple(s.plan and replace(s.plan, start=s.plan.start[order], length=s.plan.length[order]) for s in steps)
    again = find_objective("DIM").replay(pick(tokens, order), plans)[-1].example
    model = make_model(Architecture(layers=1, width=8, heads=2, mlp_ratio=1), SPECIALS.size, generator(1)).double()
    assert float(model(again)[0].mean().detach()) == pytest.approx(loss, rel=1e-9)
    assert math.log(6) - loss <= math.log(6)


def test_an_equal_ngram_of_another_text_is_no_wrong_answer():
    tokens = tokens_of([[FIRST] * 12, [FIRST] * 12, [FIRST + 1] * 12])
    knobs = {"mean_length": 3.0, "length_std": 0.0}
    _, answer, _ = dim(tokens, **knobs)
    assert answer.scores.isinf().tolist() == [[False, True, False], [True, False, False], [False] * 3]
    assert math.isfinite(float(answer.mean()))
    assert not dim(tokens, duplicates_as_negatives=True, **knobs)[1].scores.isinf().any()


def test_a_visible_ngram_is_a_leak():
    """The check of leaks treats a match as a whole run of words."""
    example = find_objective("DIM").example(varied(2), generator(0))
    assert not leaks.check(example).leak
    shown_again = replace(example, actions=torch.full_like(example.actions, Action.KEPT))
    verdict = leaks.check(shown_again)
    assert verdict.leak
    assert verdict.path[-1].position == 0


def test_infoword_is_words_and_runs():
    example = find_objective("InfoWord").example(varied(3), generator(0))
    assert [q.name for part in example.with_auxiliary for q in part.questions] == ["hidden words", "match"]
    assert find_objective("InfoWord").misprint is find_objective("DIM").misprint
    assert "\\exp" not in find_objective("DIM").misprint.latex


# views


def cvt(tokens=None, **knobs):
    objective = find_objective("CVT").turn(knobs)
    example = objective.example(suited(objective, tokens if tokens is not None else varied(4, 7)), generator(0))
    shape = with_required_parts(Architecture(layers=2, width=8, heads=2, mlp_ratio=1), example)
    return example, make_model(shape, SPECIALS.size, generator(1)).double()


def test_views_have_n_n_n_less_one_and_n_less_one_terms():
    def asked(**knobs):
        example, _ = cvt(plain_rows(1, 7), **knobs)
        return {q.name: int(q.loss_mask.sum()) for part in example.with_auxiliary for q in part.questions}

    views = {"forwards": 7, "future": 6, "backwards": 7, "past": 6}
    assert asked(supervised_ratio=0.0) == views | {"label": 0}
    by_labels = dict.fromkeys(views, 0) | {"label": 7}
    assert asked(supervised_ratio=1.0) == by_labels, "a labelled text teaches by its labels alone"
    assert asked(supervised_ratio=1.0, views="all texts") == views | {"label": 7}


def test_a_text_is_judged_by_what_is_asked_of_it():
    """Views of a text without labels show no answer; where a question asks nothing, another one speaks."""
    for said in ("yes", "no"):
        told = story("CVT", wanted={"labelled": said})
        assert (told.verdict.leak, told.verdict.graded) == (False, int(told.example.maskable.sum()))


def test_an_exact_share_of_the_texts_is_labelled():
    for share, number in ((0.0, 0), (0.3, 2), (0.5, 2), (1.0, 4)):
        example, _ = cvt(supervised_ratio=share)
        assert int(example.questions[0].loss_mask.any(1).sum()) == number


def test_the_teacher_learns_nothing_from_the_views():
    """The head of the whole text gets no gradient from students, and students' heads none from the labels."""
    example, model = cvt()
    by_name = {a.target.name: a for a in model(example)}
    sum(a.mean() for name, a in by_name.items() if name != "label").backward()
    assert all(p.grad is None for p in model.label_heads["pos"].parameters())
    assert all(p.grad is not None for p in model.label_heads["pos future"].parameters())
    assert bool(model.token_embedding.weight.grad.any()), "the words are shared, so they do learn"


def test_labels_still_teach_the_whole_network_beside_the_views():
    """The teacher's reading of the text is the one that the labels are learnt from, with its gradient."""
    example, model = cvt()
    label = next(a for a in model(example) if a.target.name == "label")
    label.mean().backward()
    assert bool(model.token_embedding.weight.grad.any())


def test_a_view_costs_least_when_it_says_what_it_is_taught():
    example, model = cvt()
    view = next(a for a in model(example) if a.target.name == "future")
    entropy = -(view.targets * view.targets.log()).sum(1)
    best = replace(view, scores=view.targets.log())
    torch.testing.assert_close(best.losses(), entropy)
    assert (view.losses() > entropy).all()


def test_a_view_is_taught_by_what_is_said_of_the_same_word():
    """The state before a word is compared with what the teacher says at that word."""
    example, model = cvt(plain_rows(1, 5), supervised_ratio=0.0)
    hidden = model.network(example.inputs, model.token_embedding.weight)[0]
    said = model.label_heads["pos"](hidden).softmax(-1)
    by_name = {a.target.name: a for a in model(example)}
    torch.testing.assert_close(by_name["forwards"].targets, said)
    torch.testing.assert_close(by_name["future"].targets, said[1:])
    torch.testing.assert_close(by_name["past"].targets, said[:-1])


def test_labels_that_are_not_there_are_missed_in_a_sentence():
    with pytest.raises(UserError, match="needs the label 'pos' of every word"):
        find_objective("CVT").example(varied(2), generator(0))


def test_types_of_what_stands_against():
    kinds = {type(q.kind) for q in find_objective("CBOW NS").example(varied(2), generator(0)).questions}
    assert kinds == {NegativeSampling}
    example, _ = cvt()
    assert {type(q.kind) for part in example.auxiliary for q in part.questions} == {SoftTargets}


def test_scores_of_some_words_are_those_of_all():
    """With static vectors and with a transformer alike."""
    for kind in ("static", "transformer"):
        shape = Architecture(layers=1, width=8, heads=2, mlp_ratio=1, kind=kind)
        model = make_model(shape, SPECIALS.size, generator(2)).double()
        hidden = torch.randn(5, 8, generator=generator(3), dtype=torch.double)
        words = torch.tensor([[40, 41, 42]] * 5)
        some, every = (
            model.lm_head.score_candidates(hidden, words, model.token_embedding),
            model.score(hidden, "vocabulary", model.network),
        )
        torch.testing.assert_close(some, every.gather(1, words))
