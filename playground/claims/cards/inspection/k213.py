"""A pre-trained model generates adversarial examples that succeed with few changed words and stay fluent."""

from statistics import fmean

import torch

from playground.analysis.cloze import log_chances, texts, with_gap
from playground.analysis.floor.automaton import automaton_of
from playground.analysis.floor.chart import ParseChart
from playground.analysis.subject import Subject
from playground.claims import Arm, Claim, Lab, higher, lower
from playground.corpora.tinyworld import lexicon as lex
from playground.errors import UserError
from playground.finetuning.apply.attacks import Substituted, substitute
from playground.finetuning.apply.victim import fine_tuned, unseen
from playground.finetuning.strategy.parse import read

TEXTS, OPTIONS, MOST = 60, 12, 3
"""Texts that are attacked, words that are tried in each gap, and words that are changed at most."""

LOADED = tuple(
    frozenset(words.split()) for words in (f"{lex.GOOD} {lex.LIKED}", f"{lex.BAD} {lex.DISLIKED}", "not never")
)


def attacks(lab: Lab, arm: Arm, seed: int) -> list[Substituted]:
    """Attacks on the texts that a fine-tuned copy of the model classifies rightly."""
    subject = lab.subject(arm, seed)
    victim = fine_tuned(subject, read(arm.strategy), arm.train_size, arm.tuning_steps)
    sentences, labels = unseen(victim, TEXTS)
    right = victim.scores(sentences).argmax(1) == torch.tensor(labels)
    asked = [(words, label) for words, label, ok in zip(sentences, labels, right.tolist(), strict=True) if ok]
    return [substitute(victim, words, label, options(subject, words), MOST) for words, label in asked]


def options(subject: Subject, words: list[str]) -> dict[str, list[str]]:
    """The likeliest words for the gap of each word, without those of another polarity."""
    count, known = len(words), subject.tokenizer.words
    rows = texts([words] * count, subject.tokenizer)
    chances = log_chances(subject.model, with_gap(subject.model.shape, rows, torch.arange(count)))
    chances[:, list(subject.tokenizer.specials.ids)] = -torch.inf
    likely = [[known[k] for k in row] for row in chances.topk(OPTIONS).indices.tolist()]
    return {
        word: [w for w in row if w != word and kind(w) == kind(word)] for word, row in zip(words, likely, strict=True)
    }


def kind(word: str) -> int:
    """Whether a word praises, blames, denies, or does nothing of these."""
    return next((k for k, words in enumerate(LOADED) if word in words), -1)


def figure(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of attacks that succeed, or of these the share of words changed or of texts that the grammar writes."""
    done = lab.once(("attacks", seed), lambda: attacks(lab, arm, seed))
    fooled = [one for one in done if one.fooled]
    if arm.figure == "success":
        return len(fooled) / len(done)
    if arm.figure == "words changed":
        return fmean(len(one.changed) / len(one.words) for one in fooled)
    subject = lab.subject(arm, seed)
    return fmean(fits(subject, one.words) for one in fooled)


def fits(subject: Subject, words: list[str]) -> bool:
    """Whether the grammar of the corpus can write a sentence."""
    try:
        ParseChart(automaton_of(subject.corpus), tuple(subject.tokenizer.encode_words(words)))
    except UserError:
        return False
    return True


K213 = Claim(
    title="BERT attacks BERT",
    source="Qiu et al., sec. 7.7; Li et al., arXiv:2004.09984 (BERT-Attack)",
    prediction="At least half of the attacks succeed; they change at most a quarter of the words, and the grammar can "
    "write at least 0.8 of the changed sentences.",
    otherwise="Most attacks fail, change many words, or break the sentence.",
    common=Arm(
        entry="RoBERTa",
        corpus="reviews",
        steps=600,
        one_model=True,
        task="sentiment",
        train_size=128,
    ),
    arms={name: {"figure": name} for name in ("success", "words changed", "fluent")},
    rules=(higher("success", 0.5), lower("words changed", 0.25), higher("fluent", 0.8)),
    compute=figure,
    unit="share",
    scale="Words of another polarity are never tried, so that the label stays. Sentences of six words on average, of "
    "which one is a sixth. One pre-trained model for all seeds; labelled texts and classifiers vary.",
)
