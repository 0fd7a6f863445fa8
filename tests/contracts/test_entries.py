"""What every entry of the zoo owes: its card says in what it is not the paper, and nothing that is not so."""

import re
from dataclasses import fields
from itertools import combinations

import pytest

from playground.knob import as_written
from playground.models.architecture import SIZES
from playground.objectives import find_objective, objectives
from playground.objectives.arrange import ArrangePair, WrapSpecials
from playground.objectives.ask import AskPair
from playground.objectives.choose import ChooseNgrams
from playground.training.fork import describe_recipe
from playground.zoo import entries, entry_for
from playground.zoo.preset import FAST, PAPER, RECIPE_PRESETS, find_preset
from tests.runs import every_entry


def stages(objective):
    """The stages of an objective and of all its parts."""
    chains = (*objective.parts, *(part for _, part in objective.auxiliary))
    return [*objective.stages, *(stage for part in chains for stage in stages(part))]


def has(entry, *kinds):
    return any(isinstance(stage, kinds) for stage in stages(entry.objective))


def has_special_tokens(entry):
    wrapped = any(getattr(stage, "add_special_tokens", False) for stage in stages(entry.objective))
    return wrapped or has(entry, ArrangePair, WrapSpecials)


def plain(name):
    """A name as it is looked up: letters and digits, all small."""
    return "".join(c for c in name.lower() if c.isalnum())


MISSING = {
    "next sentence prediction": lambda entry: not has(entry, AskPair),
    "sentence permutation": lambda entry: entry.objective.name != "BART mixture",
    "special tokens": lambda entry: not has_special_tokens(entry),
    "n-grams": lambda entry: not has(entry, ChooseNgrams),
    "languages": lambda entry: entry.model.languages and not entry.published[0].model.languages,
    "segments": lambda entry: not entry.model.segments,
}
"""How to see that a part is missing, or a size another than the published one, by the name that a card gives it."""

TOLD = ("data", "tasks", "network", "stages", "batches", "tokenizer", "decoding", "optimiser", "order", "halves")
"""What a card may say without a check: it is not to be seen in the entry whether it is so."""


@every_entry
def test_every_knob_that_is_not_as_published_is_declared_and_no_other(name):
    """The catalogue holds objectives as published, so what an entry turned is what it must say."""
    entry = entries()[name]
    now, published = (
        {knob: k.default for knob, k in objective.knobs.items()}
        for objective in (entry.objective, find_objective(entry.objective.name))
    )
    turned = {knob for knob in now if now[knob] != published[knob]}
    assert turned == {what for what in entry.unlike_paper if what not in MISSING and what not in TOLD}


@every_entry
def test_every_part_that_is_said_to_be_missing_is_missing(name):
    entry = entries()[name]
    for what in entry.unlike_paper:
        assert what not in MISSING or MISSING[what](entry), what


@every_entry
def test_every_clause_of_a_card_is_plain(name):
    """They become one sentence, so each begins small, ends without a stop, and does not part the others."""
    for what, clause in entries()[name].unlike_paper.items():
        assert clause and clause == " ".join(clause.split()), what
        assert not clause.endswith((".", ";", ",", ":")) and ". " not in clause, what
        assert not re.match(r"[A-Z][a-z]", clause) or clause.split()[0].rstrip(",") in entries(), what


@every_entry
def test_every_entry_says_where_it_comes_from(name):
    """A parent that exists and is not younger, what is new over it, a source, and the texts of the authors."""
    entry = entries()[name]
    assert entry.idea.endswith(".") and entry.paper and entry.data and not entry.data.endswith(".")
    assert bool(entry.parent) == bool(entry.changed), "what is new is new over a parent"
    if entry.parent:
        assert entry.parent != name and entries()[entry.parent].year <= entry.year
    said = re.search(r"arXiv:(\d\d)\d\d\.\d{4,5}|\b((?:19|20)\d\d)\b", entry.paper)
    assert said and entry.year <= (2000 + int(said[1]) if said[1] else int(said[2]))


@pytest.mark.parametrize("recipe", [None, *RECIPE_PRESETS])
def test_no_two_entries_are_one_and_the_same_run(recipe):
    """A diff between two cards is a diff of what runs, under every recipe."""
    found = [find_preset(recipe)(entry) if recipe else entry for entry in entries().values()]
    runs = [(e.name, (e.model, e.objective, e.corpus, e.recipe, e.phases)) for e in found]
    assert [(one, other) for (one, a), (other, b) in combinations(runs, 2) if a == b] == []


@every_entry
def test_no_other_name_of_an_entry_hides_an_objective_that_it_does_not_train(name):
    entry = entries()[name]
    hidden = {plain(said) for said in (name, *entry.aliases)} & {plain(one) for one in objectives()}
    assert hidden <= {plain(entry.objective.name)}


PARTS = {"labels", "label_embeddings", "sbo_head", "teacher", "regression_head"}
"""Heads that only training needs, so that released weights may lack them, and labels, of which ours may be fewer."""


@every_entry
def test_every_field_of_the_published_architecture_that_the_tiny_one_has_otherwise_is_declared(name):
    """All but sizes, and of these that a part such as a decoder is there at all."""
    entry = entries()[name]
    for size in entry.published[:1]:
        here, there = ({f.name: getattr(model, f.name) for f in fields(model)} for model in (entry.model, size.model))
        unlike = {knob for knob in here if knob not in SIZES and here[knob] != there[knob]}
        assert unlike <= PARTS | entry.unlike_paper.keys()
        missing = {knob for knob in SIZES if bool(here[knob]) != bool(there[knob])}
        assert missing <= entry.unlike_paper.keys()


@every_entry
def test_the_published_model_has_the_kind_and_the_stacks_of_the_tiny_one(name):
    entry = entries()[name]
    for size in entry.published:
        for knob in ("kind", "attention", "directions", "two_streams", "rtd_head", "char_cnn", "layer_sharing"):
            assert getattr(size.model, knob) == getattr(entry.model, knob), knob
        assert bool(size.model.decoder_layers) == bool(entry.model.decoder_layers)


@every_entry
def test_the_papers_recipe_leaves_the_network_alone_and_the_fast_one_says_what_it_changes(name):
    entry = entries()[name]
    assert PAPER(entry).model == entry.model
    model, said = FAST(entry).model, describe_recipe(entry, "fast")
    changed = [f.name for f in fields(model) if getattr(model, f.name) != getattr(entry.model, f.name)]
    assert all(f"{knob} {as_written(getattr(entry.model, knob))} →" in said for knob in changed), said
    assert changed or not entry.published


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("BERT", ("optimiser and weight decay (the recipe 'paper' has the published ones)",)),
        ("ERNIE 2.0", ("five stages of the same length",)),
        ("XLNet", ("[SEP] and [CLS] are always known",)),
        ("XLM", ("one model learns CLM, MLM and TLM",)),
        ("ELECTRA", ("no [CLS], no [SEP] and no segments",)),
    ],
)
def test_the_card_says_in_one_line_what_is_not_the_paper(name, said):
    card = entries()[name].not_the_paper
    assert card.startswith("Not the paper in: ") and card.endswith(".") and "\n" not in card
    assert all(part in card for part in said)


def test_an_objective_on_its_own_is_no_papers_model():
    assert "a small one of ours" in entry_for(find_objective("BiLM")).not_the_paper
