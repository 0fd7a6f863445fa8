"""What a decoder writes: spans behind sentinels, fragments, translations, answers (ask/write.py)."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.batch import begin
from playground.corpora.sources import prefixes_of
from playground.corpora.tinyworld.vocabulary import answer, as_word
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.catalog.nli import INFERENCES
from playground.objectives.choose import ChooseSplit, ChosenSpans
from playground.rng import generator
from playground.trace.rebuild import rebuild
from tests.laws import assert_law, assert_share
from tests.stories import closed, parts_by_sentinel, scored_answers, shown, texts
from tests.texts import SPECIALS, TWO_SENTENCES, batches, hiding, plain_rows, seeds, small_corpus, suited

# T5


@settings(max_examples=60)
@given(
    tokens=batches(special=False),
    seed=seeds,
    name=st.sampled_from(("T5 spans", "T5 i.i.d.")),
    rate=st.floats(0.05, 0.9),
    final=st.booleans(),
)
def test_p1_t5_inputs_and_targets_decode_to_the_text(tokens, seed, name, rate, final):
    """Sentinels are the same in both, from left to right, and say which part goes where."""
    objective = find_objective(name)
    objective = objective.turn({**hiding(objective, rate), "final_sentinel": final})
    batch = objective.batch(tokens, generator(seed))
    for row, text in enumerate(texts(tokens)):
        inputs, targets = pair_of(batch, row)
        parts = parts_by_sentinel(targets)
        if final:
            assert parts.popitem() == (SPECIALS.sentinels[len(parts)], [])
        assert [t for t in inputs if t in SPECIALS.sentinels] == list(parts) == list(SPECIALS.sentinels[: len(parts)])
        assert [t for token in inputs for t in parts.get(token, [token])] == text


def pair_of(batch, row):
    return shown(batch.inputs, row)[0], closed(scored_answers(batch, row))


def official(text, noise, fold_noise):
    """Each run of marked tokens becomes the next sentinel, the others stay (T5's released preprocessor)."""
    out, number = [], 0
    for position, token in enumerate(text):
        if noise[position] != fold_noise:
            out.append(token)
        elif not position or noise[position - 1] != fold_noise:
            out.append(SPECIALS.sentinels[number])
            number += 1
    return out


@pytest.mark.parametrize("length", [2, 3, 8, 40, 100])
def test_official_masks_give_what_the_released_functions_give(length):
    batch = (
        find_objective("T5")
        .turn({"match_released_code": True})
        .batch(plain_rows(50, min(length, 60)), generator(length))
    )
    for row, text in enumerate(texts(batch.tokens)):
        noise = batch.selected[row].tolist()
        assert pair_of(batch, row) == (official(text, noise, True), official(text, noise, False))


@pytest.mark.parametrize("spans", [[(0, 2), (5, 1)], [(0, 1), (3, 2)], [(0, 3)]])
def test_the_released_functions_tear_markers_apart_where_a_text_begins_with_noise(spans):
    """Targets would begin with bare noise and number the gaps from the wrong side; here both say the same number."""
    tokens = plain_rows(1, 8)
    start, length = (torch.tensor([column]) for column in zip(*spans, strict=True))
    stage = find_objective("T5")
    steps = stage.replay(
        tokens, (ChosenSpans(start, length), torch.tensor([SPECIALS.sentinels[: len(spans)]]), None, None)
    )
    inputs, targets = pair_of(steps[-1].batch, 0)
    noise = steps[-1].batch.selected[0].tolist()
    text = texts(tokens)[0]
    assert inputs == official(text, noise, True)
    assert targets != official(text, noise, False)
    assert official(text, noise, False)[0] == text[0]
    parts = parts_by_sentinel(targets)
    assert [t for token in inputs for t in parts.get(token, [token])] == text


def test_the_figure_of_t5_closes_with_one_more_sentinel():
    settings_ = {"final_sentinel": True}
    facts = rebuild("T5", settings=settings_, overrides={"spans": "2:1,5:2"}).facts()
    assert facts["inputs"] == "I <0> happy to <1> you today".split()
    assert facts["targets"] == "<0> am <1> join with <2> [END]".split()


def test_the_forms_of_t5s_table():
    """Table 3 of the paper: replace with sentinels, drop, and mask in place with the whole text as target."""
    overrides = {"chosen": "3,4,8"}
    iid = rebuild("T5 i.i.d.", overrides=overrides).survey()
    assert iid == {"inputs": "I am <0> join with you <1>", "targets": "<0> happy to <1> today"}
    drop = rebuild("T5 drop", overrides=overrides).survey()
    assert drop == {"inputs": "I am join with you", "targets": "happy to today"}
    position = rebuild("T5 mask in place", overrides=overrides).survey()
    assert position["inputs"] == "I am [MASK] [MASK] join with you [MASK]"
    assert position["targets"] == "I am happy to join with you today"


@pytest.mark.parametrize("name", ["T5 drop", "T5 prefix LM", "gap sentences"])
def test_where_there_is_nothing_to_write_no_end_token_is_asked_for(name):
    objective = find_objective(name).turn({"add_eos": True} | ({"mask_ratio": 0.0} if name == "T5 drop" else {}))
    batch = objective.batch(plain_rows(3, 1), generator(41))
    assert not batch.targets[0].loss_mask.any()


# fragments


def test_words_hidden_here_and_there_are_written_from_the_words_before_them():
    facts = rebuild("discrete mask", overrides={"chosen": "1,3,4,8"}).facts()
    assert facts["decoder_inputs"] == "[START] am happy you".split()
    assert facts["targets"] == "I happy to today".split()


def test_words_hidden_here_and_there_at_the_beginning_have_positions_of_their_own():
    batch = rebuild("discrete mask", overrides={"chosen": "1,2,4"}).batch
    assert batch.decoder.position_ids.tolist() == [[0, 1, 3]]
    batch = rebuild("MASS", overrides={"spans": "3:3"}).batch
    assert batch.decoder.position_ids.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("hide", [True, False])
@pytest.mark.parametrize("actions", ["keep,mask,random", "random,random,mask", "mask,mask,mask", "keep,keep,keep"])
def test_mass_shows_kept_words_of_the_fragment_and_the_check_says_which(hide, actions):
    """The released code hides [MASK] from the decoder and leaves kept words in sight: shown on purpose, no leak."""
    overrides = {"spans": "3:3", "actions": actions}
    verdict = rebuild("MASS", f"{TWO_SENTENCES}", overrides=overrides, settings={"hide_masked": hide}).verdict
    kept = tuple(k for k, action in enumerate(actions.split(",")) if action == "keep")
    assert (verdict.leak, verdict.by_design) == (False, kept)
    if len(kept) == 3:
        assert verdict.sentence == "All 3 scored answers are shown on purpose: there is nothing to guess."


# the rest of a text


def test_the_first_part_can_be_scored_too_and_the_leak_check_says_that_it_is_visible():
    last = rebuild("seq2seq LM", overrides={"split": 4})
    every = rebuild("seq2seq LM", overrides={"split": 4}, settings={"loss_on": "all"})
    assert last.facts()["scored"] == [0, 0, 0, 1, 1, 1, 1, 0]
    assert every.facts()["scored"] == [1] * 7 + [0]
    assert every.facts()["targets"][:7] == "am happy to join with you today".split()
    assert (last.verdict.leak, every.verdict.leak) == (False, True)


def test_a_text_is_split_at_every_position_with_the_same_chance():
    """Prefix language model: the first part has 1 to n - 1 tokens, each with the chance 1 / (n - 1)."""
    given = ChooseSplit().plan(begin(plain_rows(8000, 9)), generator(14))
    assert_law(Counter(given.tolist()), dict.fromkeys(range(1, 9), 1 / 8))


@pytest.mark.parametrize(("share", "longest"), [(0.0, 1), (0.125, 2), (0.25, 4), (0.5, 8)])
def test_a_smaller_share_leaves_a_second_part_of_up_to_twice_that_share(share, longest):
    """Of 9 tokens, as in llm-foundry's sequence denoising: uniform from 1 on, the share its mean (UL2's S-denoiser)."""
    given = ChooseSplit(share).plan(begin(plain_rows(8000, 9)), generator(14))
    assert_law(Counter(given.tolist()), dict.fromkeys(range(9 - longest, 9), 1 / longest))


def test_the_last_given_word_or_the_start_token_predicts_the_first_new_one():
    """Off by one in peers: packed in one stack, word 4 of 8 answers word 5; a decoder's [START] does."""
    packed = rebuild("prefix LM", overrides={"split": 4}).facts()
    assert [t for t, g in zip(packed["targets"], packed["scored"], strict=True) if g] == "join with you today".split()
    assert packed["scored"].index(1) == 3
    apart = rebuild("T5 prefix LM", overrides={"split": 4}).facts()
    assert apart["inputs"] == "I am happy to".split()
    assert apart["decoder_inputs"] == "[START] join with you today".split()
    assert apart["targets"] == "join with you today [END]".split()
    assert apart["scored"] == [1] * 5


# translation


def test_a_translation_is_written_from_the_other_language_alone():
    facts = rebuild("translation", "How are you", pair="Comment vas-tu").facts()
    assert facts["inputs"] == "How are you".split()
    assert facts["targets"][:2] == "Comment vas-tu".split()
    assert facts["targets"][-1] == "[END]"
    assert facts["decoder_inputs"][:2] == ["[START]", "Comment"]
    assert not facts["leak"]
    with pytest.raises(UserError, match="needs a translation"):
        rebuild("translation", "How are you")


def test_denoising_reads_either_language_and_says_which():
    objective = find_objective("mBART")
    tokens = suited(objective, plain_rows(2000, 6))
    batch = objective.batch(tokens, generator(24))
    spoken = batch.inputs.language_ids.amax(1)
    assert_share(int(spoken.sum()), 2000, 0.5)
    assert torch.equal(batch.decoder.language_ids.amax(1), spoken)
    overrides = {"language": "second", "spans": "1:1"}
    facts = rebuild("mBART", "How are you", pair="Comment vas-tu", overrides=overrides).facts()
    assert facts["inputs"][0] == "[MASK]"
    assert facts["targets"][:2] == "Comment vas-tu".split()
    with pytest.raises(UserError, match="must be one of first, second"):
        rebuild("mBART", "How are you", pair="Comment vas-tu", overrides={"language": "third"})


# answers in words


@pytest.mark.parametrize(
    ("number", "word"),
    [(2.57, "2.6"), (2.45, "2.4"), (0, "0.0"), (5, "5.0"), (3.75, "3.8"), (1.25, "1.2"), (0.1, "0.0")],
)
def test_golden_t5_says_a_number_as_the_nearest_word(number, word):
    """2.57 is "2.6" (inventory, appendix D); 2.45 tells nearest from rounding up (appendix B, E33)."""
    assert as_word(number) == word
    assert answer(str(number)) == word
    assert rebuild("text-to-text", "stsb", pair=str(number)).facts()["targets"] == [word, "[END]"]


def test_scores_from_1_to_5_are_21_words():
    """T5 says of STS-B that it becomes a choice among 21 classes (sec. 2.4)."""
    assert len({as_word(k / 1000) for k in range(1000, 5001)}) == 21


@pytest.mark.parametrize("said", ["entailment", "nan", "inf", "not acceptable"])
def test_an_answer_that_is_no_number_stays(said):
    assert answer(said) == said


def test_an_answer_is_needed_next_to_the_text():
    with pytest.raises(UserError, match="text-to-text needs an answer to the text"):
        rebuild("text-to-text", "cola sentence : I am happy . You are here .")


def test_each_task_has_its_prefix_and_its_own_answers():
    source = small_corpus("text to text")
    rows, words = source.pairs(48), source.tokenizer.words
    answers = {}
    for text, said, task in zip(
        texts(rows), texts(rows.neighbours["next"]), rows.labels["task"][:, 0].tolist(), strict=True
    ):
        assert words[text[0]] == source.label_names["task"][task]
        assert len(said) == 1
        answers.setdefault(words[text[0]], set()).add(words[said[0]])
        assert source.tokenizer.join(text).startswith(prefixes_of("text to text"))
    assert answers == {
        "sst2": {"negative", "positive"},
        "mnli": set(INFERENCES),
        "stsb": {"0.0", "1.2", "2.4", "3.8", "5.0"},
        "cola": {"acceptable", "unacceptable"},
    }
