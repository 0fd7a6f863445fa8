"""The survey's Table 2: all eleven rows, to the word, each from a plan by hand."""

import pytest

from playground.objectives import find_objective, objectives, plan_overrides
from playground.trace.rebuild import SENTENCE, rebuild, table

ROWS = {
    "LM": ("LM", {}, "[START]", SENTENCE),
    "MLM": ("MLM", {"chosen": "3,8"}, "I am [MASK] to join with you [MASK]", "happy today"),
    "NSP": ("NSP", {"pair": "next"}, "Sent1 [SEP] Next Sent", "Next Sent"),
    "SOP": ("SOP", {"pair": "next"}, "Sent1 [SEP] Sent2", "in order"),
    "Discriminator (o/r)": (
        "RTD",
        {"chosen": "3,5", "replace": "thrilled,study"},
        "I am thrilled to study with you today",
        "o o r o r o o o",
    ),
    "PLM": ("PLM", {"order": "3,5,6,8,2,1,4,7", "cut": "3"}, "happy join with", "today am I to you"),
    "seq2seq LM": ("seq2seq LM", {"split": "4"}, "I am happy to", "join with you today"),
    "Span Mask": ("span mask", {"spans": "3:3"}, "I am [MASK] [MASK] [MASK] with you today", "happy to join"),
    "Text Infilling": ("text infilling", {"spans": "3:3"}, "I am [MASK] with you today", "happy to join"),
    "Sent Shuffling": (
        "sentence shuffling",
        {"order": "8,7,2,1,5,6,3,4"},
        "today you am I join with happy to",
        SENTENCE,
    ),
    "TLM": ("TLM", {"chosen": "2,4"}, "How [MASK] you [SEP] [MASK] vas-tu", "are Comment"),
}
TEXTS = {"NSP": ("Sent1", "Next Sent"), "SOP": ("Sent1", "Sent2"), "TLM": ("How are you", "Comment vas-tu")}


def texts_of(row):
    text, pair = TEXTS.get(row, (SENTENCE, ""))
    return {"text": text, "pair": pair, "other": "Random Sent"}


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("row", ROWS)
def test_the_row_reads_as_in_the_survey(row, seed):
    name, plan, inputs, targets = ROWS[row]
    rebuilt = rebuild(name, overrides=plan, seed=seed, **texts_of(row))
    assert rebuilt.objective.row == row
    assert rebuilt.survey() == {"inputs": inputs, "targets": targets}
    assert not rebuilt.verdict.leak


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_other_outcomes_of_the_pairs(seed):
    """The survey's cells name both: Sent1 [SEP] Random Sent, and Sent2 [SEP] Sent1."""
    random = rebuild("NSP", overrides={"pair": "random"}, seed=seed, **texts_of("NSP"))
    assert random.survey() == {"inputs": "Sent1 [SEP] Random Sent", "targets": "Random Sent"}
    swapped = rebuild("SOP", overrides={"pair": "reversed"}, seed=seed, **texts_of("SOP"))
    assert swapped.survey() == {"inputs": "Sent2 [SEP] Sent1", "targets": "reversed"}


@pytest.mark.parametrize("row", ROWS)
def test_the_row_is_found_by_its_name_in_the_survey(row):
    assert rebuild(row, **texts_of(row)).objective.row == row


def test_the_table_has_these_rows_in_the_order_of_the_survey():
    done, refused = table()
    assert [r.objective.row for r in done] == list(ROWS)
    assert refused == []
    assert {o.row for o in objectives().values() if o.row} == set(ROWS)


def test_the_text_says_who_did_what_in_the_masked_row():
    facts = rebuild("MLM", overrides={"chosen": "3,8"}).facts()
    assert facts["inputs"] == "I am [MASK] to join with you [MASK]".split()
    assert facts["actions"] == ["kept", "kept", "masked", "kept", "kept", "kept", "kept", "masked"]
    assert facts["scored"] == [0, 0, 1, 0, 0, 0, 0, 1]
    assert facts["targets"] == SENTENCE.split()


def test_the_permutation_row_is_predicted_in_its_order():
    facts = rebuild("PLM", overrides={"order": "3,5,6,8,2,1,4,7", "cut": "3"}).facts()
    assert facts["targets"] == "happy join with today am I to you".split()
    assert facts["scored"] == [0, 0, 0, 1, 1, 1, 1, 1]
    assert facts["target_positions"] == [3, 5, 6, 8, 2, 1, 4, 7]
    assert facts["inputs"] == SENTENCE.split(), "the tokens do not move"


def test_the_other_two_infillings_of_the_same_gap():
    """T5 writes the marker and the gap, BART the whole text (survey, sec. 4.3)."""
    t5, bart = (rebuild(name, overrides={"spans": "3:3"}).survey() for name in ("T5", "BART"))
    assert t5 == {"inputs": "I am <0> with you today", "targets": "<0> happy to join"}
    assert bart == {"inputs": "I am [MASK] with you today", "targets": SENTENCE}


def test_t5_folds_two_gaps_behind_numbered_markers():
    found = rebuild("T5", overrides={"spans": "2:1,5:2"}).survey()
    assert found == {"inputs": "I <0> happy to <1> you today", "targets": "<0> am <1> join with"}


def test_bart_inserts_a_mark_where_nothing_is_missing():
    empty = rebuild("BART", overrides={"spans": "3:0"})
    assert empty.survey() == {"inputs": "I am [MASK] happy to join with you today", "targets": SENTENCE}
    assert empty.facts()["actions"] == ["kept"] * 8


def test_mass_decoder_starts_from_the_word_before_the_fragment():
    facts = rebuild("MASS", overrides={"spans": "3:3"}).facts()
    assert facts["decoder_inputs"] == ["am", "happy", "to"]
    assert facts["attention_mask"]["cross"] == [[1, 1, 0, 0, 0, 1, 1, 1]] * 3


@pytest.mark.parametrize("row", ROWS)
def test_the_printed_plan_survives_being_written_and_read(row):
    printed = find_objective(row).printed.plan
    assert plan_overrides.parse(plan_overrides.write(printed).split()) == {
        key: plan_overrides.read(key, v) for key, v in printed.items()
    }
