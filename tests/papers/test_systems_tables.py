"""The surveys' tables of systems: what they print, against what the entries of the zoo are and say."""

import pytest

from playground.zoo import entries
from playground.zoo.surveys import TABLE_1, TABLE_2, family, network, reads, representation, sizes

PRINTED_1 = {
    "ELMo": ("LSTM", "decoder", "LM"),
    "GPT": ("Transformer", "decoder", "LM"),
    "GPT-2": ("Transformer", "decoder", "LM"),
    "BERT": ("Transformer", "encoder", "MLM & NSP"),
    "RoBERTa": ("Transformer", "encoder", "MLM"),
    "ALBERT": ("Transformer", "encoder", "MLM & SOP"),
    "UniLM": ("Transformer", "encoder", "LM, MLM, seq2seq LM"),
    "ELECTRA": ("Transformer", "encoder", "Discriminator (o/r)"),
    "XLNet": ("Transformer", "decoder", "PLM"),
    "XLM": ("Transformer", "encoder and decoder", "CLM, MLM, TLM"),
    "MASS": ("Transformer", "encoder and decoder", "Span Mask"),
    "T5": ("Transformer", "encoder and decoder", "Text Infilling"),
    "BART": ("Transformer", "encoder and decoder", "Text Infilling & Sent Shuffling"),
}
"""Table 1 of Liu et al. (arXiv:2003.07278): architecture, its ticks for encoder and decoder, objective."""

PRINTED_2 = {
    "ELMo": ("LSTM", "BiLM", "", "", "no"),
    "GPT": ("decoder", "LM", "117M", "72.8", "yes"),
    "GPT-2": ("decoder", "LM", "", "", "no"),
    "BERT": ("encoder", "MLM & NSP", "110M", "81.9", "yes"),
    "InfoWord": ("encoder", "DIM + MLM", "110M", "81.1", "yes"),
    "RoBERTa": ("encoder", "MLM", "355M", "88.5", "yes"),
    "XLNet": ("encoder", "PLM", "", "90.5", "yes"),
    "ELECTRA": ("encoder", "RTD + MLM", "335M", "88.6", "yes"),
    "UniLM": ("encoder", "MLM & NSP", "", "80.8", "yes"),
    "MASS": ("encoder and decoder", "Seq2Seq MLM", "", "", "yes"),
    "BART": ("encoder and decoder", "DAE", "", "88.4", "yes"),
    "T5": ("encoder and decoder", "Seq2Seq MLM", "", "89.7", "yes"),
    "WKLM": ("encoder", "MLM + ERD", "110M", "", "yes"),
}
"""Table 2 of Qiu et al. (arXiv:2003.08271): architecture, task, a size of ours that it prints too, GLUE, fine-tuned."""


def test_the_tables_have_these_rows_in_the_order_of_the_surveys():
    assert (tuple(PRINTED_1), tuple(PRINTED_2)) == (TABLE_1, TABLE_2)


@pytest.mark.parametrize("name", PRINTED_1)
def test_a_row_of_table_1_follows_from_its_entry_or_stands_printed_there(name):
    entry, (architecture, stacks, objective) = entries()[name], PRINTED_1[name]
    assert network(entry).removeprefix("Two-stream ") == architecture
    own = " and ".join(entry.model.stacks)
    assert entry.printed.get("stacks", own) == stacks
    assert ("stacks" in entry.printed) == (own != stacks), "what follows is not written down"
    assert entry.printed["objective"] == objective


@pytest.mark.parametrize("name", PRINTED_2)
def test_a_row_of_table_2_follows_from_its_entry_or_stands_printed_there(name):
    entry, (architecture, task, size, glue, tuned) = entries()[name], PRINTED_2[name]
    assert architecture in (network(entry), family(entry))
    assert (network(entry) == "Two-stream Transformer") == (name == "XLNet"), "as Qiu et al. call it"
    assert size in sizes(entry)
    printed = entry.printed
    assert (printed["task"], printed.get("GLUE", "").partition(",")[0], printed["FT"]) == (task, glue, tuned)


def test_no_entry_prints_a_cell_of_a_table_that_it_is_not_in():
    cells = {"objective": TABLE_1, "stacks": TABLE_1, "task": TABLE_2, "GLUE": TABLE_2, "FT": TABLE_2}
    for name, entry in entries().items():
        assert all(name in cells[cell] and said for cell, said in entry.printed.items()), name


def test_word_vectors_are_static_and_everything_that_reads_is_contextual():
    static = {name for name, entry in entries().items() if representation(entry) == "static"}
    assert static == {"C&W", "word2vec", "GloVe", "fastText"}
    assert static == {name for name, entry in entries().items() if family(entry) == "static"}
    assert (reads(entries()["GPT"]), reads(entries()["XLM"])) == ("text", "text + its translation")
