"""`playground ask` on a run of its own: answers, loss and accuracy of an objective, and gaps that are filled."""

from math import exp

import pytest

from playground.analysis.cloze import gap_of, log_chances, with_gap
from playground.cli import main
from playground.interop.subjects import open_subject
from playground.objectives import find_objective
from playground.trace.rebuild import rebuild
from tests import json_keys

SENTENCE = "The old sailor told the children a story about a ship that never came back from the sea . "
TRAINING_TEXT = (SENTENCE * 6 + "\n\n") * 20
TEXT = "The old sailor told a story about the sea ."


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ask")
    text = folder / "story.txt"
    text.write_text(TRAINING_TEXT, encoding="utf-8")
    small = ("--set", "width=16", "--set", "heads=2", "--set", "layers=2", "--steps", "40")
    for entry in ("RoBERTa", "BERT", "GPT", "word2vec"):
        made = ("train", entry, "--corpus", str(text), "--runs", str(folder), "--out", str(folder / entry))
        assert main([*made, *(small if entry != "word2vec" else ("--steps", "2"))]) == 0
    return folder


@pytest.fixture
def ask(capsys, runs):
    def said(*words):
        capsys.readouterr()
        assert main(["ask", *words, "--runs", str(runs)]) == 0
        return capsys.readouterr().out

    return said


@pytest.mark.parametrize(("name", "objective"), [("RoBERTa", "MLM"), ("GPT", "LM"), ("RoBERTa", "LM")])
def test_the_answers_are_the_models_own_with_their_loss_and_accuracy(ask, runs, name, objective):
    facts = json_keys.read("ask", ask(name, "--text", TEXT, "--objective", objective, "--json", "--seed", "3"))
    subject = open_subject(name, runs)
    batch = rebuild(find_objective(objective), TEXT, seed=3, tokenizer=subject.tokenizer).batch
    answer = subject.model.eval()(batch)[-1]
    chances = answer.scores.softmax(-1)
    words = subject.tokenizer.words
    assert facts["n"] == len(answer.scores) == len(facts["scored"]) > 0
    assert [each["top"][0]["word"] for each in facts["scored"]] == [words[k] for k in chances.argmax(1).tolist()]
    assert facts["loss"] == pytest.approx(float(answer.losses().mean().detach()), rel=1e-5)
    hits = chances.argmax(1) == answer.labels
    assert (facts["right"], facts["accuracy"]) == (int(hits.sum()), pytest.approx(float(hits.double().mean())))
    assert all(exp(-each["loss"]) == pytest.approx(each["probability"], rel=1e-4) for each in facts["scored"])
    printed = ask(name, "--text", TEXT, "--objective", objective, "--seed", "3")
    assert f"({facts['right']} of {facts['n']} scored positions)" in printed
    assert f"perplexity {exp(facts['loss']):.2f}" in printed


def test_a_class_has_an_accuracy_and_no_perplexity(ask):
    printed = ask("BERT", "--text", "The old sailor told a story . The sea was old .")
    assert printed.count("perplexity") == 1, "of the hidden words, not of the pair"
    assert "scored positions, hidden words, pair)" in printed


def test_without_a_text_a_held_out_row_is_read_and_the_seed_decides(ask):
    one, again, other = (json_keys.read("ask", ask("RoBERTa", "--json", "--seed", seed)) for seed in "001")
    assert one == again and one["n"] and one["inputs"] != other["inputs"]
    some, all_of_them = (
        json_keys.read("ask", ask("RoBERTa", "--text", TEXT, "--json", "--set", f"mask_ratio={r}")) for r in (0.2, 1)
    )
    assert some["n"] < all_of_them["n"] == 10


def test_a_gap_gets_its_likeliest_words(ask, runs):
    text = "The old [MASK] told the children a story ."
    facts = json_keys.read("ask", ask("RoBERTa", "--text", text, "--json"))
    subject = open_subject("RoBERTa", runs)
    batch = with_gap(subject.model.shape, *gap_of(text, subject.tokenizer))
    best = log_chances(subject.model, batch)[0].exp().topk(5)
    [gap] = facts["gaps"]
    assert gap["position"] == 3
    assert [each["word"] for each in gap["top"]] == [subject.tokenizer.words[k] for k in best.indices.tolist()]
    assert [each["probability"] for each in gap["top"]] == pytest.approx(best.values.tolist())
    several = json_keys.read("ask", ask("GPT", "--text", "The [MASK] sailor told a zyzzyva [MASK] .", "--json"))
    assert [gap["position"] for gap in several["gaps"]] == [2, 7]
    assert "read as [UNK]: zyzzyva" in several["notice"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("RoBERTa", "--text", "   "), "no words"),
        (("RoBERTa", "--text", TEXT, "--objective", "MLMM"), "MLM"),
        (("RoBERTa", "--text", TEXT, "--set", "depth=1"), "MLM has no knob 'depth'"),
        (("RoBERTa", "--text", TEXT, "--objective", "SOP"), "SOP needs two texts"),
        (("RoBERTa", "--text", TEXT, "--pair", TEXT), "reads one text"),
        (("RoBERTa", "--pair", TEXT), "--pair does not apply here"),
        (("RoBERTa", "--text", TEXT, "--objective", "T5 spans"), "RoBERTa cannot answer T5 spans here"),
        (("RoBERTa", "--text", TEXT, "--objective", "RTD"), "cannot answer RTD here"),
        (("RoBERTa", "--text", TEXT, "--objective", "POS"), "'POS'"),
        (("RoBERTa", "--text", "the [MASK] .", "--objective", "MLM"), "--objective does not apply here"),
        (("word2vec", "--text", "the [MASK] ."), "do not read a sentence"),
        (("nowhere", "--text", TEXT), "nowhere"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(capsys, runs, words, sentence):
    assert main(["ask", *words, "--runs", str(runs)]) == 2
    said = capsys.readouterr()
    assert sentence in said.err and not said.out
