"""The user's labelled files as tasks: guessed and shown, split without leakage, refused in sentences."""

import json
from collections import Counter
from pathlib import Path

import pytest
import torch

from playground.cli import main
from playground.corpora import open_corpus
from playground.errors import UserError
from playground.finetuning import Base, find_strategy, find_task
from playground.finetuning.comparing.compare import compare, count_different, describe_same
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.files import Examples, file_task_name, is_file
from playground.finetuning.data.input_format import format_for
from playground.finetuning.data.task_types import Classes, Tags, Writing
from playground.training.data import BatchSampler
from playground.training.train_state import TrainState
from tests.runs import reviews, tiny

GOOD, BAD = ("a great film", "we loved it", "a clever story"), ("a dull film", "we hated it", "a boring story")
WHERE = tuple(f"in room {k}" for k in range(20))


def rows():
    """120 different texts with a label; every tenth comes twice, once in capitals."""
    for number, where in enumerate(WHERE):
        for label, said in (("good", GOOD), ("bad", BAD)):
            for text in said:
                yield f"{text} {where} .", label
                if number % 10 == 0:
                    yield f"{text} {where} .".upper(), label


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A table in three formats, a treebank and parallel texts."""
    monkeypatch.chdir(tmp_path)
    lines = list(rows())
    Path("said.tsv").write_text("".join(f"{text}\t{label}\n" for text, label in lines), encoding="utf-8")
    head = "id,said,stars,feeling\n"
    table = "".join(f'{k},"{text}",{k % 7},{label}\n' for k, (text, label) in enumerate(lines))
    Path("said.csv").write_text(head + table, encoding="utf-8")
    said = "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in lines)
    Path("said.jsonl").write_text(said, encoding="utf-8")
    Path("bank.conllu").write_text("".join(map(sentence, range(60))), encoding="utf-8")
    Path("said.en").write_text("".join(f"one house {k}\n" for k in range(60)), encoding="utf-8")
    Path("said.fr").write_text("".join(f"une maison {k}\n" for k in range(60)), encoding="utf-8")
    Path("plain.txt").write_text("words without labels\n" * 40, encoding="utf-8")
    return tmp_path


def sentence(number):
    words = (("the", "DET", 2), (f"dog{number}", "NOUN", 3), ("barks", "VERB", 0), ("!", "_", 3))
    lines = [f"{k}\t{w}\t_\t{pos}\t_\t_\t{head}\tx\t_\t_" for k, (w, pos, head) in enumerate(words, 1)]
    return "\n".join(lines) + "\n\n"


# what is read


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", ["said.tsv", "said.jsonl", "said.csv?text=said&label=feeling"])
def test_a_table_is_a_task_of_classes(name):
    task = find_task(name)
    assert task.name == name
    assert task.answer == Classes(("bad", "good"))
    assert "bad, good" in task.idea
    for item in task.items(30, 0, "train"):
        assert task.answer.names[item.right] == ("good" if {"great", "loved", "clever"} & set(item.texts[0]) else "bad")


@pytest.mark.usefixtures("files")
def test_what_was_guessed_is_said_and_can_be_named():
    guessed = find_task("said.tsv")
    assert "the text is in the column 'column 1', the label is in the column 'column 2'" in guessed.note
    assert guessed.note.endswith(" others to be tested on."), "how many texts there are is no warning"
    assert guessed.warning == "12 texts are left out because the same text came before."
    other = find_task(file_task_name("said.csv", "said", "stars"))
    assert other.answer == Classes(tuple(map(str, range(7))))
    assert "Guessed" not in other.notice
    assert file_task_name("said.csv", None, None) == "said.csv"


@pytest.mark.usefixtures("files")
def test_a_treebank_is_a_task_of_tags():
    task = find_task("bank.conllu")
    assert task.answer == Tags(("DET", "NOUN", "VERB"))
    for item in task.items(20, 0, "train"):
        assert item.right == [0, 1, 2, -1]
        assert item.texts[0][0] == "the"
        assert item.texts[0][2:] == ["barks", "!"]


@pytest.mark.usefixtures("files")
def test_two_parallel_files_are_a_task_of_writing():
    task = find_task("said.en+said.fr")
    assert task.answer == Writing()
    for item in task.items(20, 0, "train"):
        assert list(item.right) == ["une", "maison", item.texts[0][2]]


PAIRS = [(f"it rains in town {k}", claim, label) for k in range(30) for claim, label in (
    ("it is wet", "yes"), ("it is dry", "no"), ("he sings", "maybe"))]  # fmt: skip


def pair_file(name, rows, head="premise,hypothesis,label"):
    return write(name, "".join(",".join(row) + "\n" for row in (head.split(","), *rows)))


@pytest.mark.usefixtures("files")
def test_two_text_columns_are_a_task_of_pairs():
    task = find_task(pair_file("nli.csv", PAIRS))
    assert task.answer == Classes(("maybe", "no", "yes"))
    assert "a pair of texts of nli.csv" in task.idea
    read = {(*map(" ".join, item.texts), task.answer.names[item.right]) for item in task.items.train + task.items.test}
    assert read == set(PAIRS), "no row is lost, and none is the same as one with the border elsewhere"
    assert file_task_name("a.csv", "x", "y", "z", "cp1252") == "a.csv?text=x&second=z&label=y&encoding=cp1252"


@pytest.mark.usefixtures("files")
def test_what_is_dropped_and_what_contradicts_is_counted():
    again = [(*pair, "no") for *pair, _ in PAIRS[:12]]
    task = find_task(pair_file("again.csv", [*PAIRS, *again]))
    assert "12 texts are left out because the same text came before, 8 of these with another label." in task.notice
    assert len(task.items.train) + len(task.items.test) == len(PAIRS)
    with pytest.raises(UserError, match=r"all with the label 'yes'; texts of two or more labels .*60 of these with an"):
        find_task(file_task_name(pair_file("conflict.csv", PAIRS), None, None, ""))
    gone = [(f"text {k}", "ab"[k % 2]) for k in range(90)] + [(f"TEXT {k}", "c") for k in range(9)]
    assert find_task(pair_file("gone.csv", gone, "text,label")).answer.names == ("a", "b"), "no label without a text"
    write("said.en", "".join(f"one house {k}\n" for k in [*range(60), 1]) + "\none mouse\n")
    write("said.fr", "".join(f"une maison {k}\n" for k in [*range(60), 2]) + "trop\nune souris\n")
    both = find_task("said.en+said.fr").notice
    assert "63 lines make 62 pairs" in both
    assert "1 line is left out because the same line came before, 1 of these with another translation." in both


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", ["said.csv", "bank.conllu", "said.en+said.fr"])
def test_the_encoding_of_a_task_can_be_named(name):
    for path in map(Path, name.split("+")):
        path.write_bytes(path.read_text(encoding="utf-8").replace("house", "ho\xfcse").encode("utf-16-be"))
    with pytest.raises(UserError, match="zero"):
        find_task(name)
    assert find_task(file_task_name(name, None, None, encoding="utf-16-be")).tests


# what is split


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", ["said.tsv", "bank.conllu", "said.en+said.fr"])
def test_no_text_is_on_both_sides_whatever_the_seed_and_the_case(name):
    task = find_task(name)
    assert isinstance(task.items, Examples)
    train, test = ({tuple(w.lower() for w in i.words) for i in part} for part in (task.items.train, task.items.test))
    assert not train & test
    assert len(train) == len(task.items.train), "what comes twice counts once"
    assert len(train) + len(test) == (120 if name == "said.tsv" else 60)
    for seed in (0, 1):
        assert {i.words for i in task.items(16, seed, "train")} <= {i.words for i in task.items.train}
    assert task.items(16, 0, "train") != task.items(16, 1, "train")
    assert task.items(16, 0, "train") == find_task(name).items(16, 0, "train")


def test_a_few_texts_for_learning_hold_every_class_alike():
    def item(label, number):
        return Item(([f"word{label}{number}"],), label)

    rare = tuple(item(1, k) for k in range(4))
    known = Examples("mine", (*(item(0, k) for k in range(100)), *rare), rare)
    assert Counter(i.right for i in known(6, 0, "train")) == {0: 3, 1: 3}
    assert Counter(i.right for i in known(50, 0, "train")) == {0: 46, 1: 4}
    with pytest.raises(UserError, match="mine has 4 examples in the split test, not 5"):
        known(5, 0, "test")


@pytest.mark.usefixtures("files")
def test_no_more_is_tested_than_there_is():
    task, corpus = find_task("said.tsv"), open_corpus("said.tsv")
    tested = task.load(corpus.tokenizer, 500, 0, "test")
    assert len(tested.labels) == task.tests < 120
    assert tested.notices == ()
    few = task.load(corpus.tokenizer, 20, 0, "test").notices
    assert few == (f"20 of the {task.tests} texts to be tested on are drawn with each seed.",)
    with pytest.raises(UserError, match=r"said.tsv has \d+ examples in the split train, not 500; ask for fewer"):
        task.load(corpus.tokenizer, 500, 0, "train")


# what is refused


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")
    return name


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plain.txt", r"plain.txt is not a labelled file; use a table \(.csv.*a treebank .*two parallel texts"),
        ("nowhere.tsv", "nowhere.tsv"),
        ("said.csv?label=id", "said.csv has no column with 2 to 200 labels that occur again and again; 'id' has 132"),
        ("said.csv?label=nope", "said.csv has no column 'nope'; its columns are: 'id', 'said', 'stars', 'feeling'"),
        ("bank.conllu?text=x", r"bank.conllu\?text=x names 'text'; of bank.conllu can be named: encoding."),
        ("said.en+said.fr?label=x", "names 'label'; of said.en.said.fr can be named: encoding"),
        ("said.csv+said.tsv", "said.csv is not a plain text; two parallel texts have the same lines in each"),
        ("said.csv?foo=x", "names 'foo'; of said.csv can be named: text, second, label, encoding"),
        ("no such task", "There is no task named 'no such task'; the nearest: "),
    ],
)
def test_what_is_no_labelled_file_is_refused_with_a_sentence(name, said):
    with pytest.raises(UserError, match=said):
        find_task(name)


@pytest.mark.usefixtures("files")
def test_files_that_hold_too_little_are_refused():
    few = write("few.tsv", "".join(f"text {k}\t{k % 2}\n" for k in range(10)))
    with pytest.raises(UserError, match=r"^few.tsv has 10 different texts; about 32 are needed to learn and to test"):
        find_task(str(Path(few).absolute()))
    same = write("same.tsv", "".join(f"some text number {k}\tyes\n" for k in range(50)))
    with pytest.raises(UserError, match=r"same.tsv has no column with 2 to 200 labels"):
        find_task(same)
    bare = write("bare.tsv", "".join(f"some text number {k}\tother words {k}\n" for k in range(50)))
    with pytest.raises(UserError, match=r"bare.tsv has no column with 2 to 200 labels.*'column 1', 'column 2'"):
        find_task(bare)
    unmarked = write("bare.conllu", "".join(sentence(k) for k in range(30)).replace("NOUN", "_").replace("VERB", "_"))
    with pytest.raises(UserError, match=r"bare.conllu marks no parts of speech"):
        find_task(unmarked)


@pytest.mark.usefixtures("files")
def test_a_refusal_says_what_was_left_out():
    ragged = write("ragged.csv", "text,label\n" + "".join(f"text, {k},{k % 2}\n" for k in range(50)) + "one,0\n")
    with pytest.raises(
        UserError, match=r"ragged.csv has no column .*; 'label' has 1; .*Name one.* 50 rows are left out"
    ):
        find_task(ragged)
    again = write("again.csv", "text,label\n" + "".join(f"the same,{k % 2}\n" for k in range(50)))
    with pytest.raises(UserError, match=r"again.csv has 1 different texts; .* 49 texts are left out because"):
        find_task(again)
    with pytest.raises(UserError, match=r"There are only 2 tokens in ragged.csv; .* 50 rows are left out"):
        open_corpus(ragged)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("labels", [("pos", "Pos", "neg"), ("1", "1.0", "2")])
def test_labels_that_are_only_written_otherwise_are_said(labels):
    lines = "".join(f"text number {k},{labels[k % 3]}\n" for k in range(90))
    task = find_task(write("spelt.csv", f"text,label\n{lines}"))
    assert set(task.answer.classes) == set(labels)
    told = " and ".join(map(repr, sorted(labels[:2])))
    assert f"Labels that are written in several ways are read as different ones: {told}." in task.warning
    assert "in several ways" not in find_task("said.csv").notice


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", ["what?.csv", "a?text=b.csv", "50% + (x)?.csv"])
def test_a_file_may_have_a_question_mark_in_its_name(name):
    Path(name).write_bytes(Path("said.csv").read_bytes())
    named = file_task_name(name, "said", "feeling", None, "utf-8")
    assert is_file(name)
    assert is_file(named)
    assert find_task(name).items(8, 0, "test") == find_task(name).items(8, 0, "test")
    assert find_task(named).warning.startswith("2 columns are left out")
    spec = ComparisonSpec(".", named, ("full",))
    assert spec.seen_from(Path("elsewhere")).task == "../" + named


def test_names_of_tasks_are_no_files():
    assert not any(map(is_file, ("sentiment", "question answering", "text to text", "T5")))


@pytest.mark.usefixtures("files")
def test_an_unknown_language_is_refused_and_told_what_to_read():
    strange = open_corpus("said.en+said.fr").tokenizer
    with pytest.raises(UserError, match=r"does not know \d+% .*'said.tsv'; train it on this file, or on text like it"):
        find_task("said.tsv").load(strange, 16, 0, "train")


# what is done with it


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("name", "entry", "metric"),
    [
        ("said.tsv", "RoBERTa", "accuracy"),
        ("bank.conllu", "GPT", "accuracy per word"),
        ("said.en+said.fr", "BART", "accuracy per written token, the right ones before it given"),
    ],
)
def test_strategies_are_compared_on_the_users_own_file(name, entry, metric):
    corpus = open_corpus(name)
    learner = TrainState.new(tiny(entry), corpus.tokenizer.words, 0, torch.device("cpu"))
    base = Base(learner, BatchSampler.of(corpus, 16, 4, 0, learner.device).evaluation(4))
    classes = isinstance(find_task(name).answer, Classes)
    chosen = [find_strategy(each) for each in ("full", "feature-based", *["self-training"] * classes)]
    spec = ComparisonSpec(task=name, train_sizes=(16,), seeds=1, steps=30)
    *_, last = compare(base, corpus.tokenizer, spec, chosen=chosen, batch_size=8)
    facts = last.facts()
    assert (facts["task"], facts["labels"], facts["metric"]) == (name, 16, metric)
    there = f"{find_task(name).examples} texts without labels"
    fewer = f"self-training: {there} are read, as there are fewer than the 512 asked for."
    assert (fewer in facts["notices"]) == classes
    full, frozen = (s["accuracy"]["mean"] for s in facts["strategies"][:2])
    assert full > 0.3
    assert full > frozen - 0.3
    texts = find_task(name).load(corpus.tokenizer, 16, 0, "train", format_for(learner.model.shape))
    assert bool((texts.tokens.ids[texts.tokens.valid] != corpus.tokenizer.specials.unknown).all())


@pytest.mark.usefixtures("files")
def test_what_is_tested_on_the_same_texts_with_all_seeds_counts_them_once_and_says_so():
    tokenizer = open_corpus("said.csv").tokenizer
    of_file = [find_task("said.csv").load(tokenizer, 500, seed, "test") for seed in range(3)]
    number = len(of_file[0].labels)
    assert count_different(of_file) == number == count_different(of_file[:1])
    assert describe_same(of_file) == (
        f"All seeds are tested on the same {number} unseen texts, so a verdict is about these texts.",
    )
    assert describe_same(of_file[:1]) == ()
    drawn = [find_task("sentiment").load(reviews().tokenizer, 50, seed, "test") for seed in range(3)]
    assert 100 < count_different(drawn) <= 150 and describe_same(drawn) == ()


@pytest.mark.usefixtures("files")
def test_the_command_line_takes_a_file_shows_what_it_guessed_and_takes_another_column(capsys):
    assert main(["train", "RoBERTa", "--corpus", "said.csv", "--steps", "2", "--out", "run"]) == 0
    quick = "--strategies full --train-size 8 --seeds 1 --tuning-steps 2 --input-format bert".split()
    capsys.readouterr()
    assert main(["compare", "run", "--task", "said.csv", "--label-column", "feeling", *quick, "--json"]) == 0
    said = capsys.readouterr()
    assert "the text is in the column 'said'" in said.err
    facts = json.loads(said.out)
    assert (facts["task"], facts["labels"], facts["metric"]) == ("said.csv?label=feeling", 8, "accuracy")
    short = ["--max-length", "4", "--json"]
    assert main(["compare", "run", "--task", "said.csv", "--label-column", "feeling", *quick, *short]) == 0
    cut = "8 of the 8 texts to learn from are longer than 4 tokens; their ends are left out."
    assert json.loads(capsys.readouterr().out)["notices"][0] == cut
    in_turn = ["--task", "said.tsv", "--then", "said.csv?label=feeling", *quick, *short]
    assert main(["compare", "run", *in_turn]) == 0
    said = capsys.readouterr()
    assert f"said.tsv: {cut}" in json.loads(said.out)["notices"]
    assert said.err.count("left out because the same text came before") == 2
    assert main(["choose", "run", "--tasks", "said.tsv", *quick[2:-2]]) == 0
    said = capsys.readouterr()
    assert "left out because the same text came before" in said.err
    assert "on at most 200 unseen texts (vocabulary overlap of at most 200 texts" in said.out
    assert main(["compare", "run", "--task", "bank.conllu", *quick]) == 2
    assert "train it on this file" in capsys.readouterr().err
    for name in ("said.csv", "said.tsv"):
        Path(name).write_bytes(Path(name).read_bytes().replace(b"great", b"gr\xf6\xdfer"))
    assert main(["compare", "run", "--task", "said.tsv", *quick]) == 2
    assert "save it as UTF-8. Or name its encoding, as in 'reviews.csv?encoding=cp1252'." in capsys.readouterr().err
    assert main(["compare", "run", "--task", "said.tsv", "--encoding", "cp1252", *quick]) == 0
    capsys.readouterr()
    again = ["train", "RoBERTa", "--corpus", "said.csv", "--steps", "2", "--out", "again"]
    assert main(again) == 2
    assert "Or name its encoding, as in 'mine.txt(encoding=cp1252)'." in capsys.readouterr().err
    for chosen in ([*again, "--encoding", "utf-16"], ["compare", "run", "--task", "said.tsv?encoding=utf-16", *quick]):
        assert main(chosen) == 2
        assert capsys.readouterr().err.rstrip().endswith("try another encoding.")
    assert main([*again, "--encoding", "cp1252"]) == 0
    assert "the text is in the column 'said'" in capsys.readouterr().err
    assert main(["compare", "run", "--task", "nowhere.tsv", *quick]) == 2
    assert "nowhere.tsv" in capsys.readouterr().err
    assert main(["compare", "run", *quick[:-1], "nope"]) == 2
    assert "no input format named 'nope'" in capsys.readouterr().err
