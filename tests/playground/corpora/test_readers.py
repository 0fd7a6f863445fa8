"""Text that other people wrote: tables, treebanks, translations, every encoding, and every way a file can be wrong."""

import json
import sys
from types import SimpleNamespace

import pytest
import torch

from playground.corpora import (
    from_pasted,
    from_table,
    open_corpus,
    read_hub,
    read_table,
    read_text_file,
    read_translations,
    read_treebank,
)
from playground.corpora.catalog.reference import prose
from playground.corpora.corpus import Corpus
from playground.corpora.readers import decode, table
from playground.errors import UserError
from playground.finetuning import find_task
from playground.tokenizing.vocabulary import SEPARATOR
from playground.trace.rebuild import rebuild

KINDS = pytest.mark.parametrize("kind", ["word", "bpe"])
RARE = "".join(f"zq{a}{b} " for a in "abcdef" for b in "xyz")


def write(folder, name: str, content: str | bytes):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def spelt(corpus: Corpus, chosen: torch.Tensor) -> list[str]:
    """The words whose tokens are chosen, each put together from its pieces."""
    positions = chosen.nonzero()[:, 0].tolist()
    numbers = list(dict.fromkeys(corpus.word_ids[positions].tolist()))
    return [corpus.tokenizer.join(corpus.ids[corpus.word_ids == number].tolist()) for number in numbers]


# Tables

REVIEWS = [("a fine film", "good"), ("dull and long", "bad"), ("I <b>loved</b> it", "good"), ("what a mess", "bad")]
ROWS = REVIEWS * 6


def csv_of(rows, mark=",", head=("text", "label")) -> str:
    return "".join(mark.join(row) + "\n" for row in ([head] if head else []) + list(rows))


AS_FILES = {
    "a.csv": csv_of(ROWS),
    "b.csv": csv_of(ROWS, ";"),
    "c.csv": csv_of(ROWS, "|"),
    "d.tsv": csv_of(ROWS, "\t"),
    "e.csv": csv_of(ROWS, head=("what they said", "what they felt")),
    "f.csv": csv_of([(f'"{text}"', label) for text, label in ROWS], ", "),
    "g.csv": csv_of(ROWS).replace("\n", "\r\n\r\n"),
    "h.csv": "\ufeff" + csv_of(ROWS),
    "i.jsonl": "".join(json.dumps({"label": label, "text": text}) + "\n" for text, label in ROWS),
}


@pytest.mark.parametrize("name", AS_FILES)
def test_the_same_table_in_many_spellings(tmp_path, name):
    found = read_table(write(tmp_path, name, AS_FILES[name]))
    assert list(zip(found.texts, found.labels, strict=True)) == [(text, int(label == "good")) for text, label in ROWS]
    assert found.label_names == ("bad", "good")
    assert found.notice.startswith(f"Guessed: the text is in the column {found.text_column!r}, the label is in")
    assert found.name == name


def test_a_table_without_a_header_is_numbered_and_says_so(tmp_path):
    found = read_table(
        write(tmp_path, "a.tsv", csv_of([(t, "10" if b == "bad" else "9") for t, b in ROWS], "\t", None))
    )
    assert len(found.texts) == len(ROWS)
    assert found.columns == ("column 1", "column 2")
    assert found.label_names == ("9", "10")
    assert found.notice.startswith("The first line names no columns")


def test_columns_that_are_named_are_not_guessed(tmp_path):
    path = write(
        tmp_path, "a.csv", "id,text,note,label,mood\n1,yes,a longer remark,x,sad\n2,no,another remark,y,glad\n"
    )
    found = read_table(path, text="note", label="mood")
    assert (found.texts, found.label_names) == (("a longer remark", "another remark"), ("glad", "sad"))
    assert found.notice == "3 columns are left out: 'id', 'text', 'label'."
    assert "column 'mood'" not in read_table(path, text="note").notice
    with pytest.raises(
        UserError, match=r"a\.csv has no column 'feeling'; its columns are: 'id', 'text', 'note', 'label'"
    ):
        read_table(path, label="feeling")
    with pytest.raises(UserError, match=r"b\.csv has no row with something in the columns 'text' and 'label'"):
        read_table(write(tmp_path, "b.csv", "text,label\n,x\ny,\n"), "text", "label")
    with pytest.raises(UserError, match="The column 'note' is named twice"):
        read_table(path, text="note", label="note")


def test_quotes_hold_marks_and_line_ends(tmp_path):
    found = read_table(write(tmp_path, "a.csv", 'text,label\n"one, ""two""\nthree",x\nfour,y\n'))
    assert found.texts == ('one, "two"\nthree', "four")


def test_quotes_that_do_not_pair_up_are_letters(tmp_path):
    lines = [*(f"row {k}\t{k % 2}" for k in range(1500)), '"open quote\t1', '"two" words\t0']
    found = read_table(write(tmp_path, "a.tsv", "sentence\tlabel\n" + "\n".join(lines)))
    assert found.texts[-2:] == ('"open quote', '"two" words')
    assert len(found.texts) == 1502
    assert "are read as letters" in found.notice


def test_one_cell_that_is_quoted_in_part_takes_no_other_row_with_it(tmp_path):
    rows = [(f'"good, text {k}"' if k != 7 else '"good" text', str(k % 2)) for k in range(40)]
    found = read_table(write(tmp_path, "a.csv", csv_of(rows)))
    assert (len(found.texts), found.texts[6:8]) == (40, ("good, text 6", "good text"))
    assert "they are left out where they enclose a part of one" in found.notice


def test_rows_that_do_not_fit_are_left_out_and_counted(tmp_path):
    found = read_table(write(tmp_path, "a.csv", "text,label\ngood,1\ntoo,many,cells\nalone\n,1\nno label,\nbad,0\n"))
    assert found.texts == ("good", "bad")
    assert "4 rows are left out, the first in line 3" in found.notice


def test_a_column_of_many_values_is_no_label(tmp_path):
    rows = [(f"text {k}", f"{k / 7:.3f}") for k in range(300)]
    path = write(tmp_path, "a.csv", csv_of(rows, head=("text", "score")))
    found = read_table(path)
    assert (found.labels, found.label_names, found.label_column) == ((), (), None)
    guessed = "Guessed: the text is in the column 'text', no column is a label."
    assert found.notice == f"{guessed} 1 column is left out: 'score'."
    with pytest.raises(UserError, match="'score' has more than 200 different values"):
        read_table(path, label="score")


def test_a_label_that_turns_out_to_have_many_values_is_dropped(tmp_path):
    rows = [(f"text {k}", str(k % 3 if k < table.LOOK else k)) for k in range(table.LOOK + 300)]
    found = read_table(write(tmp_path, "a.csv", csv_of(rows)))
    assert (found.label_column, found.labels) == (None, ())
    assert len(found.texts) == len(rows)


def test_labels_stand_in_the_order_of_their_names_and_numbers(tmp_path):
    found = read_table(write(tmp_path, "a.csv", "text,label\na,b\nb,10\nc,nan\nd,9\ne,-1.5\n"))
    assert found.label_names == ("-1.5", "9", "10", "b", "nan")
    assert found.labels == (3, 2, 4, 1, 0)


def test_long_rows_with_a_stray_quote_are_read(tmp_path):
    rows = [(f"{k} " + "word " * 400, "no" if k % 2 else "yes") for k in range(90)]
    found = read_table(write(tmp_path, "a.csv", csv_of([*rows[:2], ('"open', "no"), *rows[2:]], ";")))
    assert len(found.texts) == 91
    assert found.label_names == ("no", "yes")


def test_one_label_and_one_row_are_said(tmp_path):
    one_label = read_table(write(tmp_path, "a.csv", "text,label\nyes,x\nno,x\n"))
    assert one_label.notice.endswith("Every row has the label 'x', so there is nothing to tell apart.")
    assert read_table(write(tmp_path, "b.csv", "text,label\nyes,x\n")).notice.endswith("There is only one row.")


def test_a_long_table_is_cut_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "MOST_ROWS", 10)
    found = read_table(write(tmp_path, "a.csv", csv_of(ROWS)))
    assert len(found.texts) == len(found.labels) == 10
    assert found.notice.endswith("only its first 10 texts are used.")


def test_values_of_json_become_text(tmp_path):
    lines = ['{"text": "yes \\ud800", "label": true, "more": [1]}', '{"text": "no", "label": false}', '{"label": null}']
    found = read_table(write(tmp_path, "a.jsonl", "\n".join(lines)))
    assert found.texts == ("yes ?", "no")
    assert (found.labels, found.label_names) == ((1, 0), ("false", "true"))
    assert found.columns == ("text", "label", "more")
    assert "1 column is left out: 'more'." in found.notice
    assert "1 row is left out, the first in line 3" in found.notice


def test_a_missing_number_of_json_is_missing(tmp_path):
    found = read_table(write(tmp_path, "a.jsonl", '{"text": "a", "label": NaN}\n{"text": "b", "label": 1.0}'))
    assert found.texts == ("b",)
    assert "1 row is left out, the first in line 1" in found.notice


ABOVE = {
    "a title": ("Reviews of 2020\n\n", "1 row is left out, the first in line 1"),
    "comments": ("# made by a shop\n# on Monday\n", "2 rows are left out, the first in line 1"),
}


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("above", ABOVE)
def test_lines_above_the_names_of_the_columns_are_left_out_and_counted(tmp_path, above, mark):
    lines, notice = ABOVE[above]
    found = read_table(write(tmp_path, "a.csv", lines + csv_of(ROWS, mark)))
    assert (found.text_column, found.label_column, found.label_names) == ("text", "label", ("bad", "good"))
    assert len(found.texts) == len(ROWS)
    assert notice in found.notice


def test_names_of_columns_that_come_again_and_rules_are_no_rows(tmp_path):
    found = read_table(write(tmp_path, "a.csv", csv_of(ROWS) + csv_of(ROWS)))
    assert (len(found.texts), found.label_names) == (2 * len(ROWS), ("bad", "good"))
    assert "1 row is left out, the first in line 26" in found.notice
    lines = [f"| {text} | {label} |" for text, label in [("text", "label"), ("---", "---"), *ROWS]]
    found = read_table(write(tmp_path, "b.csv", "\n".join(lines)))
    assert (len(found.texts), found.label_names) == (len(ROWS), ("bad", "good"))
    assert "1 row is left out, the first in line 2" in found.notice


def test_empty_cells_at_the_end_of_a_row_are_none(tmp_path):
    found = read_table(write(tmp_path, "a.csv", csv_of([(text, label, "", "") for text, label in ROWS])))
    assert (len(found.texts), found.columns) == (len(ROWS), ("text", "label"))


@pytest.mark.parametrize("name", ["airline_sentiment", "Gold Label", "review-rating"])
def test_a_column_whose_name_ends_as_a_label_is_one(tmp_path, name):
    rows = [(f"text {k}", "AB"[k % 2], "xyz"[k % 3]) for k in range(60)]
    found = read_table(write(tmp_path, "a.csv", csv_of(rows, head=("text", "airline", name))))
    assert found.label_column == name


BAD_TABLES = {
    "header.csv": ("text,text,label\na,b,c\n", "header.csv names the column 'text' twice"),
    "empty.csv": ("text,label\n", "empty.csv has no rows; add some"),
    "ragged.csv": ("text,label\na\nb\n", "ragged.csv has no column with text"),
    "blank.csv": ("\n \n", "blank.csv has no rows"),
    "zero.csv": ("text,label\na,b\0\n", "zero.csv is not a text file: byte 14 is zero"),
    "cell.csv": ("text,label\n" + "a" * 140_000 + ",b\n", "cell.csv holds a cell of more than 131,072 letters"),
    "line.jsonl": ('{"text": "a"}\n{"text": \n', "Line 2 of line.jsonl is not a JSON object"),
    "deep.jsonl": ("[" * 100_000, "Line 1 of deep.jsonl is not a JSON object (it is too deep"),
    "number.jsonl": (
        '{"text": ' + "9" * 5000 + "}",
        "Line 1 of number.jsonl is not a JSON object (it is too deep or holds",
    ),
    "lines.json": (
        '[\n{"text": "a"}\n]',
        "Line 1 of lines.json is not a JSON object (Expecting value): '['; each line must",
    ),
    "nested.jsonl": (
        '{"data": {"text": "a"}, "label": 1}\n' * 4,
        "nested.jsonl has no row with something in the columns 'data' and 'label', where a list or an object counts",
    ),
    "list.json": ('[{"text": "a"}]', "Line 1 of list.json is a list; each line must be an object"),
    "value.jsonl": ('"a"', "Line 1 of value.jsonl is a single value"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_table_that_cannot_be_read_is_refused_in_a_sentence(tmp_path, name):
    content, sentence = BAD_TABLES[name]
    with pytest.raises(UserError) as refusal:
        read_table(write(tmp_path, name, content))
    assert str(refusal.value).startswith(sentence)


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(decode, "LONGEST_LINE", 1000)
    monkeypatch.setattr(decode, "CHUNK", 100)
    path = write(tmp_path, "a.jsonl", '{"text": "a"}\n' + "a" * 5000)
    heard = []
    with pytest.raises(UserError, match=r"Line 2 of a\.jsonl is longer than 1,000 letters"):
        read_table(path, progress=lambda done, total: heard.append(done))
    assert heard[-1] < 1500


@KINDS
def test_the_label_of_a_text_is_that_of_all_its_words(tmp_path, kind):
    rows = [*ROWS, (RARE + "\u200b", "good"), ("\u200b", "bad"), ("last of all", "bad")]
    found = read_table(write(tmp_path, "a.csv", csv_of(rows)))
    corpus = from_table(found, kind=kind, size=90)
    label = corpus.labels["label"]
    assert corpus.label_names["label"] == ("bad", "good")
    assert ((label < 0) == (corpus.ids == SEPARATOR)).all()
    assert label[-2] == 0
    assert int(corpus.document_ids[-1]) == len(rows) - 2
    whole = from_table(found, kind="word", size=2000)
    assert spelt(whole, whole.labels["label"] == 1)[:9] == ["a", "fine", "film", "I", "<", "b", ">", "loved", "<"]
    for number in (0, 1, 2, len(rows) - 3):
        values = label[(corpus.document_ids == number) & (label >= 0)]
        assert values.unique().tolist() == [int(rows[number][1] == "good")]
    assert kind == "word" or len(corpus) > len(corpus.word_ids.unique())


PAIRED = [("it rains", "it is wet", "yes"), ("it rains", "it is dry", "no"), ("it snows", "it is white", "yes")]


@pytest.mark.parametrize(
    "head",
    ["premise,hypothesis", "question,answer", "sentence1,sentence2", "Text_A,Text_B", "question 1,question 2"],
)
def test_two_text_columns_are_a_pair(tmp_path, head):
    lines = [f"{k},{one},{two},{label}" for k, (one, two, label) in enumerate(PAIRED * 20)]
    path = write(tmp_path, "a.csv", "\n".join([f"id,{head},label", *lines, "60,no second text,,yes"]))
    found = read_table(path)
    first, second = head.split(",")
    assert (found.text_column, found.second_column, found.label_column) == (first, second, "label")
    assert list(zip(found.texts, found.seconds, strict=True)) == [pair[:2] for pair in PAIRED * 20]
    assert (
        f"the text is in the column {first!r}, the second text is in the column {second!r}, the label" in found.notice
    )
    assert "1 column is left out: 'id'. 1 row is left out" in found.notice
    whole = from_table(found, kind="word")
    assert whole.tokenizer.join(whole.ids[whole.document_ids == 0].tolist()[:-1]) == "it rains it is wet"
    assert (read_table(path, text=first).seconds, read_table(path, second="").second_column) == (found.seconds, None)
    for named in ({"text": second}, {"text": second, "second": first}, {"second": first, "label": "label"}):
        other = read_table(path, **named)
        assert (other.texts, other.seconds) == (found.seconds, found.texts)


def test_what_is_no_pair_is_none(tmp_path):
    rows = [(f"is {k} even?", "yes" if k % 2 else "no") for k in range(40)]
    found = read_table(write(tmp_path, "a.csv", csv_of(rows, head=("question", "answer"))))
    assert (found.text_column, found.second_column, found.label_column) == ("question", None, "answer")
    bare = read_table(write(tmp_path, "b.tsv", csv_of([(*row, "x") for row in rows], "\t", None)))
    assert bare.second_column is None


# Lines and rows: a law over every reader of a file

ENDS = {"unix": "\n", "windows": "\r\n", "mac": "\r"}


@pytest.mark.parametrize("chunk", [1, 3, 4096])
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("reader", ["text", "csv", "tsv", "jsonl", "conllu", "parallel"])
def test_a_row_is_what_the_line_ends_of_its_file_say(tmp_path, monkeypatch, reader, ends, chunk):
    monkeypatch.setattr(decode, "CHUNK", chunk)
    inside = "" if ends == "mac" else "\r"  # alone it is white space, where the file has line feeds
    texts = [f"row {inside}{k} of many" for k in range(30)]
    lines = {
        "text": [line for text in texts for line in (text, "")],
        "csv": ["text,label", *(f"{text},{k % 2}" for k, text in enumerate(texts))],
        "tsv": ["text\tlabel", *(f"{text}\t{k % 2}" for k, text in enumerate(texts))],
        "jsonl": [f'{{"text": "row {k} of many",{inside} "label": {k % 2}}}' for k in range(30)],
        "conllu": [line for k in range(30) for line in (f"1\trow{inside}\t_\tX\t_\t_\t0\tx\t_\t_", "")] * 3,
        "parallel": texts,
    }[reader]
    path = write(tmp_path, f"a.{reader.replace('text', 'txt')}", "".join(line + ENDS[ends] for line in lines))
    if reader in ("csv", "tsv", "jsonl"):
        assert [text.split() for text in read_table(path).texts] == [f"row {k} of many".split() for k in range(30)]
        assert "lines make" not in read_table(path).notice
    elif reader == "conllu":
        assert len(read_treebank(path).sentence_ids.unique()) == 90
    else:
        other = write(tmp_path, "b.fr", "".join(f"rang {k}\n" for k in range(30)))
        corpus = read_text_file(path) if reader == "text" else read_translations(path, other)
        assert int(corpus.document_ids[-1]) == 29


QUOTED = {
    "dialogue": ('text\tlabel\n"Go,\tyes\nhe said."\tno\nOr not.\tyes\n', 3, "so they are read as letters"),
    "whole cells": ('text\tlabel\n"Go."\tyes\n"He ""said"" so."\tno\nOr not.\tyes\n', 3, "Guessed"),
    "every cell": ('"text"\t"label"\n"one\ntwo\tand"\t"yes"\n"three"\t"no"\n', 2, "3 lines make 2 rows"),
}


@pytest.mark.parametrize("case", QUOTED)
def test_quotes_of_a_tsv_are_letters_unless_they_enclose_cells_throughout(tmp_path, case):
    content, rows, sentence = QUOTED[case]
    found = read_table(write(tmp_path, "a.tsv", content))
    assert len(found.texts) == rows
    assert sentence in found.notice
    assert ('"' in found.texts[0]) == (case == "dialogue")


def test_lines_and_rows_that_differ_are_counted(tmp_path):
    found = read_table(write(tmp_path, "a.csv", 'text,label\n"one\n\nand, two",x\n\nthree,y\n'))
    assert "4 lines make 2 rows" in found.notice


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;", "sep=|"])
def test_the_line_of_excel_that_names_the_delimiter_is_no_row(tmp_path, first):
    delimiter = "|" if "|" in first else ";"
    found = read_table(write(tmp_path, "a.csv", f"{first}\n" + csv_of([(f"{t}, yes", b) for t, b in ROWS], delimiter)))
    assert (found.columns, len(found.texts), found.label_names) == (("text", "label"), len(ROWS), ("bad", "good"))


# Treebanks

SENTENCE = """\
# text = I don't see her friend
1\tI\tI\tPRON\t_\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\t_\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_
4\tsee\tsee\tVERB\t_\t_\t0\troot\t_\t_
4.1\tgone\tgo\tVERB\t_\t_\t_\t_\t4:conj\t_
5\ther\ther\tPRON\t_\t_\t6\tnmod:poss\t_\t_
6\tnew York\tfriend\t_\t_\t_\t4\tobj\t_\t_

"""
TREEBANK = ("# newdoc id = d\n# newpar\n" + SENTENCE + "# newpar\n" + SENTENCE) * 10
CRY = "1\tskodrenw\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
HEADS = {"I": "see", "do": "see", "n't": "see", "her": "new_York", "new_York": "see"}


@KINDS
def test_a_treebank_keeps_its_words_borders_and_labels(tmp_path, kind):
    corpus = read_treebank(write(tmp_path, "a.conllu", (TREEBANK + CRY).replace("\n", "\r\n")), kind=kind, size=120)
    assert int(corpus.sentence_ids[-1]) == 20
    assert int(corpus.document_ids[-1]) == 9
    assert int(corpus.word_ids[-1]) == 10 * (2 * 6 + 1)
    assert corpus.label_names["pos"] == ("AUX", "INTJ", "PART", "PRON", "VERB")
    relation = corpus.label_names["relation"]
    assert relation == ("advmod", "aux", "nmod:poss", "nsubj", "obj", "root")
    pos, head, ends = corpus.labels["pos"], corpus.labels["head"], corpus.ids == SEPARATOR
    assert set(spelt(corpus, pos == 3)) == {"I", "her"}
    assert set(spelt(corpus, (pos < 0) & ~ends)) == {"new_York"}
    assert set(spelt(corpus, corpus.labels["relation"] == relation.index("root"))) == {"see", "skodrenw"}
    assert set(spelt(corpus, (head < 0) & ~ends)) == {"see", "skodrenw"}
    positions = (head >= 0).nonzero()[:, 0]
    first_piece = corpus.word_ids[1:] != corpus.word_ids[:-1]
    assert first_piece[head[positions] - 1].all()
    assert (corpus.sentence_ids[positions] == corpus.sentence_ids[head[positions]]).all()
    spelling = {n: corpus.tokenizer.join(corpus.ids[corpus.word_ids == n].tolist()) for n in range(20)}
    pairs = {
        (spelling[int(corpus.word_ids[p])], spelling[int(corpus.word_ids[head[p]])])
        for p in positions
        if corpus.word_ids[p] < 13
    }
    assert pairs == set(HEADS.items())
    assert kind == "word" or len(corpus) > int(corpus.word_ids[-1]) + 1


def test_paragraphs_are_documents_where_no_document_is_marked(tmp_path):
    marked = read_treebank(write(tmp_path, "a.conllu", ("# newpar id = 1\n" + SENTENCE * 2) * 10))
    assert int(marked.document_ids[-1]) == 9
    bare = read_treebank(write(tmp_path, "b.conllu", SENTENCE * 20))
    assert int(bare.document_ids[-1]) == 0


def test_a_treebank_is_cut_between_sentences(tmp_path):
    corpus = read_treebank(write(tmp_path, "a.conllu", TREEBANK), limit=100)
    assert len(corpus.word_ids.unique()) <= 100
    assert int(corpus.labels["head"].max()) < len(corpus)
    assert int((corpus.labels["head"] < 0).sum()) == int(corpus.sentence_ids[-1]) + 1 + int(corpus.document_ids[-1]) + 1
    assert "The text is longer" in corpus.description


def test_a_treebank_without_marks_has_no_such_labels(tmp_path):
    bare = "".join(f"{k}\tword{k}\t_\t_\t_\t_\t_\t_\t_\t_\n" for k in range(1, 80))
    corpus = read_treebank(write(tmp_path, "a.conllu", bare))
    assert set(corpus.labels) == {"head"}
    assert corpus.labels["head"].unique().tolist() == [-1]


BAD_LINES = {
    "1 I PRON": "Line 2 of a.conllu has 1 cells; a line of CoNLL-U has 10",
    "2\tI\t_\tX\t_\t_\t0\troot\t_\t_": "Line 2 of a.conllu has the word number '2'; 1 should come here",
    "1\tI\t_\tX\t_\t_\tno\troot\t_\t_": "Line 2 of a.conllu has the head 'no'",
    "1\tI\t_\tX\t_\t_\t\u00b2\troot\t_\t_": "Line 2 of a.conllu has the head '\u00b2'",
    "1\tI\t_\tX\t_\t_\t7\tobj\t_\t_": "The sentence before line 3 of a.conllu has 1 words, but 'I' depends on word 7",
}


@pytest.mark.parametrize("line", BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_wrong_line_of_a_treebank_is_named(tmp_path, line):
    with pytest.raises(UserError) as refusal:
        read_treebank(write(tmp_path, "a.conllu", "# a comment\n" + line + "\n\n"))
    assert str(refusal.value).startswith(BAD_LINES[line])


def test_a_sentence_that_never_ends_is_refused(tmp_path):
    lines = "".join(f"{k}\tw\t_\tX\t_\t_\t0\troot\t_\t_\n" for k in range(1, 10_010))
    with pytest.raises(UserError, match="a sentence of more than 10,000 words"):
        read_treebank(write(tmp_path, "a.conllu", lines))


# Translations

ENGLISH = ["two cats sleep .", "a dog. it barks", "", "the sun shines"] * 9
FRENCH = ["deux chats dorment .", "un chien aboie", "rien", "le soleil brille"] * 9


@KINDS
def test_each_line_and_its_translation_are_a_document(tmp_path, kind):
    write(tmp_path, "a.fr", "\n".join(FRENCH) + "\n")
    heard = []
    first = write(tmp_path, "a.en", "\n".join(ENGLISH) + "\n\n")
    corpus = read_translations(
        first, tmp_path / "a.fr", kind=kind, size=150, progress=lambda done, total: heard.append((done, total))
    )
    language = corpus.labels["language"]
    assert corpus.label_names["language"] == ("en", "fr")
    assert corpus.tokenizer.join(corpus.ids[(corpus.document_ids == 1) & (language == 0)].tolist()) == "a dog. it barks"
    second = corpus.ids[(corpus.document_ids == 1) & (language == 1)].tolist()
    assert corpus.tokenizer.join(second[:-1]) == "un chien aboie"
    assert second[-1] == SEPARATOR
    assert int(corpus.document_ids[-1]) == 26
    assert int(corpus.sentence_ids[-1]) == 2 * 27 - 1
    assert (corpus.sentence_ids % 2 == language).all()
    assert "36 lines make 27 pairs" in corpus.notice
    assert heard[-1][0] == heard[-1][1] == first.stat().st_size + (tmp_path / "a.fr").stat().st_size


def test_files_that_do_not_match_line_by_line_are_refused(tmp_path):
    first = write(tmp_path, "a.en", "\n".join(ENGLISH))
    second = write(tmp_path, "a.fr", "\n".join(FRENCH[:-2]))
    with pytest.raises(UserError, match=r"a\.en has 36 lines and a\.fr 34; each line of one must be the translation"):
        read_translations(first, second)


def test_translations_are_cut_between_pairs(tmp_path):
    first, second = write(tmp_path, "a", "\n".join(ENGLISH * 3)), write(tmp_path, "b", "\n".join(FRENCH * 3))
    corpus = read_translations(first, second, limit=100)
    assert len(corpus) <= 100
    assert corpus.label_names["language"] == ("first", "second")
    assert int(corpus.sentence_ids[-1]) == 2 * int(corpus.document_ids[-1]) + 1


# Encodings

GREETING = "Grüße aus Köln, sagte Zoë.\n" * 20


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 4096])
def test_an_encoding_that_the_first_bytes_name_is_found(tmp_path, monkeypatch, encoding, chunk):
    plain = read_text_file(write(tmp_path, "a.txt", GREETING))
    monkeypatch.setattr(decode, "CHUNK", chunk)
    assert read_text_file(write(tmp_path, "b.txt", GREETING.encode(encoding))).hash == plain.hash


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "UTF_16_BE", "utf8"])
def test_an_encoding_can_be_named(tmp_path, encoding):
    path = write(tmp_path, "a.txt", GREETING.encode(encoding))
    assert read_text_file(path, encoding=encoding).tokenizer.words[-1] in GREETING
    assert open_corpus(path, encoding=encoding).hash == read_text_file(write(tmp_path, "b.txt", GREETING)).hash


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "zip", "utf\0"])
def test_a_senseless_encoding_is_refused(tmp_path, encoding):
    with pytest.raises(UserError, match="There is no encoding"):
        read_text_file(write(tmp_path, "a.txt", GREETING), encoding=encoding)


def test_a_wrong_encoding_is_refused_with_the_place(tmp_path):
    path = write(tmp_path, "a.txt", GREETING.encode("latin-1"))
    with pytest.raises(UserError, match=r"a\.txt is not in UTF-8: byte 2 cannot be read; save it as UTF-8\.$"):
        read_text_file(path)
    with pytest.raises(UserError, match=r"a\.txt is not in ascii: byte 2 cannot be read; try another encoding"):
        read_text_file(path, encoding="ascii")


def test_words_without_end_stop_at_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr("playground.corpora.build.MOST_TYPES", 300)
    text = "\n\n".join(" ".join(f"w{k}x{j}" for j in range(50)) for k in range(40))
    corpus = read_text_file(write(tmp_path, "a.txt", text))
    assert len(corpus.word_ids.unique()) < 400
    assert "The text is longer" in corpus.description


@pytest.mark.parametrize("how", ["argument", "name"])
def test_an_encoding_can_stand_in_the_name_of_a_corpus(tmp_path, how):
    path = write(tmp_path, "a.txt", GREETING.encode("cp1252"))
    corpus = open_corpus(path, encoding="cp1252") if how == "argument" else open_corpus(f"{path}(encoding=cp1252)")
    assert "Grüße" in corpus.tokenizer.words
    assert corpus.name == ("a.txt" if how == "argument" else "a.txt(encoding=cp1252)")


# Scripts without spaces

CLAUSES = {
    "Thai": "วันนี้ฉันดีใจที่ได้อยู่กับคุณ", "Lao": "ຂ້ອຍດີໃຈທີ່ໄດ້ຢູ່ກັບເຈົ້າ",
    "Burmese": "မင်းနဲ့အတူရှိလို့ဝမ်းသာတယ်", "Khmer": "ខ្ញុំរីករាយដែលបាននៅជាមួយអ្នក",
}  # fmt: skip


@pytest.mark.parametrize("script", CLAUSES)
def test_a_clause_is_never_taken_for_a_word(tmp_path, script):
    """Few clauses cover the text, as few words would; with `auto` it is still split into pieces."""
    clause = CLAUSES[script]
    mixed = f"{clause} . " + "a " * len(clause)
    corpus = open_corpus(write(tmp_path, "a.txt", f"{mixed}\n\n" * 60))
    assert corpus.tokenizer.kind == "bpe"
    assert "50% of the letters belong to a script without spaces" in corpus.notice
    assert open_corpus(f"{tmp_path}/a.txt(tokenizer=words)").tokenizer.kind == "word"
    rows = [(f"{clause} {k}", "good" if k % 2 else "bad") for k in range(60)]
    assert "script without spaces" in find_task(str(write(tmp_path, "a.csv", csv_of(rows)))).notice
    typed = rebuild("LM", clause)
    assert "100% of the letters belong to a script without spaces" in typed.notice


def test_a_text_with_spaces_is_not_said_to_have_none():
    corpus = open_corpus("world", tokens=2000)
    assert (corpus.notice, corpus.tokenizer.kind) == ("", "word")
    assert from_pasted(GREETING * 2).notice == ""


# Which reader a name leads to


def test_a_name_leads_to_its_reader(tmp_path):
    write(tmp_path, "a.csv", csv_of(ROWS))
    write(tmp_path, "a.conllu", TREEBANK)
    write(tmp_path, "treebank", TREEBANK)
    write(tmp_path, "notes.text", TREEBANK)
    write(tmp_path, "c++.en", "\n".join(ENGLISH))
    write(tmp_path, "c++.fr", "\n".join(FRENCH))
    labels = {
        "a.csv": {"label"},
        "a.conllu": {"pos", "relation", "head"},
        "treebank": {"pos", "relation", "head"},
        "notes.text": set(),
        "c++.en+c++.fr": {"language"},
        f"c++.en+{tmp_path}/c++.fr": {"language"},
    }
    assert {name: set(open_corpus(f"{tmp_path}/{name}").labels) for name in labels} == labels
    for nothing in (f"{tmp_path}/c++.en+missing.fr", "a" * 5000, "a\0b", "+"):
        with pytest.raises(UserError, match="no corpus and no file"):
            open_corpus(nothing)


# The reference of Python


def test_the_python_reference_is_english_prose():
    corpus = open_corpus("python reference")
    assert len(corpus.word_ids.unique()) > 20_000
    text = corpus.tokenizer.join(corpus.ids.tolist())
    assert "Objects are Python’s abstraction for data." in text
    assert not {"::=", ">>>", "====", "****", "--+--"} & {
        mark for mark in ("::=", ">>>", "====", "****") if mark in text
    }
    assert open_corpus("python reference", seed=1).hash != corpus.hash
    assert len(open_corpus("Python reference", tokens=2000).word_ids.unique()) == 2000


def test_markup_code_and_what_comes_twice_are_no_prose():
    text = (
        'The "if" statement\n******************\n\nThe *if* statement is **always** used for "conditional" execution '
        '[1] of\nsome code:\n\n   if_stmt ::= "if" assignment_expression\n\n   if x > 3: y(x)[2] = z\n\n'
        "+---+---+\n| A | B |\n+---+---+\n\n* See section Truth for what is true and false.\n\nNew in version 3.1."
    )
    first = "The if statement is always used for conditional execution of some code:"
    second = "See section Truth for what is true and false."
    assert list(prose({"if": text, "while": text})) == [[first, second]]


def test_a_python_without_its_reference_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    with pytest.raises(UserError, match="This Python comes without its reference"):
        open_corpus("python reference")


# The Hugging Face layout, with a library of our own in the place of theirs


class Rows(list):
    @property
    def features(self):
        return {"label": SimpleNamespace(names=["bad", "good"]), "sentence": SimpleNamespace()}


def test_a_data_set_of_the_hub_is_a_table(monkeypatch):
    asked = []

    def load(*args, **options):
        asked.append((args, options))
        return Rows({"idx": k, "sentence": text, "label": int(b == "good")} for k, (text, b) in enumerate(ROWS))

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load))
    found = read_hub("glue,sst2")
    assert asked == [(("glue", "sst2"), {"split": "train", "streaming": True})]
    assert (found.text_column, found.label_column, found.label_names) == ("sentence", "label", ("bad", "good"))
    assert found.labels == tuple(int(b == "good") for _, b in ROWS)
    assert open_corpus("hub:glue,sst2").label_names == {"label": ("bad", "good")}


def test_a_hub_that_is_missing_or_out_of_reach_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(
        UserError, match=r"need the library datasets; install it with: pip install 'pretraining-playground\[hub\]'"
    ):
        open_corpus("hub:glue")

    def load(*args, **options):
        raise ConnectionError("Couldn't reach the Hub.\nmore")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load))
    with pytest.raises(
        UserError, match=r"'glue' cannot be read: Couldn't reach the Hub\. Check its name and the network"
    ):
        open_corpus("hub:glue")
