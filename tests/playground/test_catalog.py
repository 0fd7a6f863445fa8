"""The catalogue finds what is declared, whatever the case, and names what is nearest."""

import pytest

from playground import catalog
from playground.corpora import open_corpus
from playground.errors import UserError
from playground.finetuning import find_strategy, find_task
from playground.finetuning.strategy.strategy import Strategy
from playground.inventory import inventory
from playground.objectives import Objective, find_objective, objectives
from playground.zoo import Entry, entries, entry_named, find_entry


def test_two_constants_of_one_name_are_refused(tmp_path, monkeypatch):
    """The second would silently take the place of the first; the same constant imported twice is one."""
    declaration = "from playground.objectives.catalog.mlm import MLM\n"
    other = "from dataclasses import replace\nTWIN = replace(MLM, idea='')\n"
    for package, second in (("imported", ""), ("twins", other)):
        folder = tmp_path / package
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        (folder / "one.py").write_text(declaration)
        (folder / "two.py").write_text(declaration + second)
    monkeypatch.syspath_prepend(tmp_path)
    assert list(catalog.find("imported", Objective)) == ["MLM"]
    with pytest.raises(ValueError, match="two constants of twins have the name MLM"):
        catalog.find("twins", Objective)


def test_objectives_stand_in_the_order_of_the_survey():
    rows = "LM MLM NSP SOP RTD PLM,seq2seq LM,span mask,text infilling,sentence shuffling,TLM"
    overrides = [name for part in rows.split(",") for name in (part.split() if "NSP" in part else [part])]
    assert [o.name for o in objectives().values() if o.row] == overrides


def test_the_zoo_stands_in_the_order_of_its_years():
    years = [e.year for e in entries().values()]
    assert years == sorted(years)
    assert {"GPT", "BERT", "XLNet", "BART", "ELECTRA"} <= entries().keys()
    same_year = [e.name for e in entries().values() if e.year == 2019]
    assert same_year == sorted(same_year)


@pytest.mark.parametrize(
    ("spoken", "name"),
    [
        ("mlm", "MLM"),
        ("Masked Language Model", "MLM"),
        ("masked-language_model", "MLM"),
        ("text infilling (T5)", "T5 spans"),
        ("t5", "T5 spans"),
        ("Discriminator (o/r)", "RTD"),
        ("MASS", "span mask"),
        ("Sent Shuffling", "sentence shuffling"),
        ("sentence shuffling (BART)", "sentence permutation"),
    ],
)
def test_names_are_found_whatever_the_case_and_the_marks(spoken, name):
    assert find_objective(spoken).name == name


def test_what_is_not_there_is_refused_with_what_is():
    with pytest.raises(UserError, match=r"There is no entry named 'T4'; the nearest: T5, [^,]+, [^,]+\.$"):
        find_entry("T4")
    with pytest.raises(UserError, match="There is no objective named ''"):
        find_objective("")


def test_only_shouted_constants_of_the_kind_are_found():
    found = catalog.find("playground.zoo", Entry)
    assert all(isinstance(e, Entry) for e in found.values())
    assert all(key == e.name for key, e in found.items())
    assert catalog.find("playground.zoo", Strategy) == {}


def test_a_name_of_the_literature_opens_what_it_means_there_or_nothing():
    """CLM is XLM's for texts of several languages; nothing here is XNLI; FreeLB takes several steps, FGM one."""
    assert find_objective("CLM").name == "multilingual LM"
    assert "label:language" in find_objective("CLM").needs
    for kind in (find_objective, find_strategy, find_task, open_corpus, entry_named, inventory):
        with pytest.raises(UserError, match="'XNLI'"):
            kind("XNLI")
    assert find_strategy("FGM").name == "adversarial"
    assert "not the several of FreeLB" in find_strategy("FGM").source
    assert find_strategy("FreeLB").name == "FreeLB"
