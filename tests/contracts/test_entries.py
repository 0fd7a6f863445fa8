"""What every entry of the zoo owes: its card says in what it is not the paper, and nothing that is not so."""

import pytest

from playground.objectives import find_objective
from playground.zoo import entries, entry_for
from tests.runs import every_entry

MISSING = {
    "next sentence prediction": lambda entry: "pair" not in entry.objective.needs and not entry.model.segments,
    "sentence permutation": lambda entry: entry.objective.name != "BART mixture",
    "memory": lambda entry: entry.model.positions in ("rotary", "learned"),
    "segments": lambda entry: not entry.model.segments,
    "generator_ratio": lambda entry: entry.model.generator_ratio != 0.25,
}
"""How to see that a part is missing, or a size another than the published one, by the name that a card gives it."""


@every_entry
def test_every_knob_that_is_not_as_published_is_declared_and_no_other(name):
    """The catalogue holds objectives as published, so what an entry turned is what it must say."""
    entry = entries()[name]
    now, published = (
        {knob: k.default for knob, k in objective.knobs.items()}
        for objective in (entry.objective, find_objective(entry.objective.name))
    )
    turned = {knob for knob in now if now[knob] != published[knob]}
    assert turned == {what for what in entry.unlike_paper if what not in MISSING}


@every_entry
def test_every_part_that_is_said_to_be_missing_is_missing(name):
    entry = entries()[name]
    for what in entry.unlike_paper:
        assert what not in MISSING or MISSING[what](entry), what


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("BERT", ("30 % of the words hidden, not 15 %", "no next sentence prediction", "no segments")),
        ("BART", ("infilling alone",)),
        ("XLNet", ("no memory of earlier segments", "a quarter of the words predicted, not a sixth")),
        ("ELECTRA", ("counted 20 times, not 50",)),
    ],
)
def test_the_card_says_in_one_line_what_is_not_the_paper(name, said):
    card = entries()[name].not_the_paper
    assert card.startswith("Not the paper in: ") and card.endswith(".") and "\n" not in card
    assert all(part in card for part in said)


def test_an_objective_on_its_own_is_no_papers_model():
    assert "a small one of ours" in entry_for(find_objective("BiLM")).not_the_paper
