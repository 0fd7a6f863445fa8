"""How fragile a fine-tuned classifier is, before and after adversarial training."""

from collections import Counter
from dataclasses import dataclass, replace
from random import Random
from statistics import fmean

import torch

from playground.analysis.finding import Bars, Curve, Finding, Number, Table, columns_of, melt
from playground.analysis.instrument import Instrument, reads_sentences
from playground.analysis.subject import Subject
from playground.finetuning.apply.attacks import (
    find_trigger,
    misspelt,
    random_trigger,
    same_meaning,
    substitute,
    without_polarity,
    worst_misspelt,
)  # fmt: skip
from playground.finetuning.apply.victim import Victim, fine_tuned, knows_sentiment, unseen
from playground.finetuning.strategies.adversarial import ADVERSARIAL
from playground.finetuning.strategies.full import FULL
from playground.knob import knob
from playground.models import Architecture
from playground.models.model import make_model
from playground.objectives.catalog.mlm import MLM
from playground.rng import derive
from playground.tokenizing import Tokenizer
from playground.tokenizing.tokenizer import Kind, train

STRATEGIES = {"fine-tuned": FULL, "adversarially fine-tuned": ADVERSARIAL}

RATES = (0.0, 0.1, 0.2, 0.4, 0.7, 1.0)
"""Shares of the words that are mistyped."""


TOKENIZERS: tuple[Kind, ...] = ("word", "wordpiece", "bpe", "character")
"""Vocabularies that are compared."""

MOST_READ = 30_000
"""Tokens of the training text from which a vocabulary is learnt."""


@dataclass(frozen=True)
class Settings:
    """How the victim is fine-tuned, and on how many sentences it is attacked."""

    labels: int = knob(128, 8, 2000, unit="labelled texts", why="Labelled texts of the task sentiment.")
    steps: int = knob(80, 1, 1000, unit="steps", why="Steps of fine-tuning.")
    texts: int = knob(150, 4, 1000, unit="unseen texts", why="More texts, smaller errors, more seconds.")


def words_alone(subject: Subject) -> str:
    """Its vocabulary holds whole words, from which other vocabularies can be learned."""
    if subject.tokenizer.kind != "word":
        return f"Its vocabulary holds pieces of the kind {subject.tokenizer.kind}, not the words to learn others from."
    return ""


def victims(subject: Subject, settings: Settings) -> dict[str, Victim]:
    """The subject fine-tuned plainly and with adversarial training; both once for all attacks."""
    key = ("victims", settings.labels, settings.steps)
    if key not in subject.known:
        subject.known[key] = {
            name: fine_tuned(subject, strategy, settings.labels, settings.steps)
            for name, strategy in STRATEGIES.items()
        }
    return subject.known[key]  # type: ignore[return-value]


def measure_misspelling(subject: Subject, settings: Settings) -> Finding:
    """Accuracy by the share of mistyped words, and with the one word mistyped that is needed most."""
    worst: dict[str, float] = {}
    curves: dict[str, list[float]] = {}
    unknown = subject.tokenizer.specials.unknown
    for name, victim in victims(subject, settings).items():
        texts, labels = unseen(victim, settings.texts)
        subject.count(len(texts), "unseen texts")
        changed = [misspelt(texts, rate, Random(derive(subject.seed, "typos", rate))) for rate in RATES]
        curves[name] = [victim.accuracy(some, labels) for some in changed]
        mistyped = worst_misspelt(victim, texts, labels, Random(derive(subject.seed, "worst typo")))
        worst[name] = victim.accuracy(mistyped, labels)
    pieces = [[subject.tokenizer.encode_words(words).count(unknown) / len(words) for words in some] for some in changed]
    unread = {"share mistyped": list(RATES), "unknown": [fmean(row) for row in pieces]}
    plain, hard = curves["fine-tuned"], worst["fine-tuned"]
    return Finding(
        f"Accuracy falls from {plain[0]:.2f} to {plain[-1]:.2f} when every long word has a typing error; "
        f"one error in the most important word leaves {hard:.2f}.",
        tuple(Number(name, row[-1], "share right, all long words mistyped",
                     {"no errors": row[0], "one error in the most important word": worst[name]})
              for name, row in curves.items()),
        (Table("Accuracy by typing errors", melt("share mistyped", RATES, "accuracy", curves, "model"),
               Curve("share mistyped", "accuracy", "model"), "share right", {"by chance": 0.5},
               f"One error a word. The vocabulary holds {subject.tokenizer.kind}s."),
         Table("Words that the tokenizer does not know", unread, Curve("share mistyped", "unknown"), "[UNK] a word")),
    )  # fmt: skip


@dataclass(frozen=True)
class TokenizerSettings:
    """How small networks of several vocabularies are trained."""

    labels: int = knob(
        300,
        8,
        2000,
        unit="labelled texts",
        why="Labelled texts of the task sentiment; there is no other training text.",
    )
    steps: int = knob(120, 1, 1000, unit="steps", why="Training steps from scratch.")
    texts: int = knob(200, 4, 1000, unit="unseen texts", why="More texts, smaller errors, more seconds.")
    pieces: int = knob(400, 250, 4000, unit="pieces", why="Size of the vocabularies of pieces.")


def measure_tokenizers(subject: Subject, settings: TokenizerSettings) -> Finding:
    """Accuracy by typing errors of equal small networks that differ in their vocabulary alone."""
    unread: list[tuple[str, float, float]] = []
    curves: dict[str, list[float]] = {}
    for kind in TOKENIZERS:
        tokenizer = _tokenizer(subject, kind, settings.pieces)
        victim = fine_tuned(_network(subject, tokenizer), FULL, settings.labels, settings.steps)
        texts, labels = unseen(victim, settings.texts)
        subject.count(len(texts), "unseen texts")
        changed = [misspelt(texts, rate, Random(derive(subject.seed, "typos", rate))) for rate in RATES]
        curves[kind] = [victim.accuracy(some, labels) for some in changed]
        ids = [tokenizer.encode_words(words) for words in changed[-1]]
        count = sum(map(len, ids))
        unknown = sum(row.count(tokenizer.specials.unknown) for row in ids)
        unread.append((kind, unknown / count, count / sum(map(len, changed[-1]))))
    kept = {kind: row[-1] for kind, row in curves.items()}
    best, worst = max(kept, key=kept.__getitem__), min(kept, key=kept.__getitem__)
    return Finding(
        f"With every long word mistyped {best} vocabularies keep an accuracy of {kept[best]:.2f}, "
        f"{worst} vocabularies {kept[worst]:.2f}.",
        tuple(Number(kind, row[-1], "share right, all long words mistyped", {"no errors": row[0], "by chance": 0.5})
              for kind, row in curves.items()),
        (Table("Accuracy by typing errors and vocabulary",
               melt("share mistyped", RATES, "accuracy", curves, "tokenizer"),
               Curve("share mistyped", "accuracy", "tokenizer"), "share right", {"by chance": 0.5},
               "Equal networks trained from scratch on the same labelled texts, not this model itself."),
         Table("What the tokenizers make of mistyped words",
               columns_of(("tokenizer", "unknown with all mistyped", "tokens a word"), unread),
               note=f"Vocabularies are learned from the first {MOST_READ:,} tokens of the training text; "
               "whole words are those of the model.")),
    )  # fmt: skip


def _tokenizer(subject: Subject, kind: Kind, room: int) -> Tokenizer:
    """A vocabulary of a kind, learnt from words of the training text; whole words are those of the model."""
    if kind == "word":
        return subject.tokenizer
    spelt = subject.tokenizer.words
    words = [spelt[k] for k in subject.corpus.ids[: subject.corpus.held_out_from][:MOST_READ].tolist()]
    return train([word for word in words if not word.startswith("[")], kind, room)


def _network(subject: Subject, tokenizer: Tokenizer) -> Subject:
    """A small network of new weights for a vocabulary, in the place of the subject's model."""
    model = make_model(Architecture(), len(tokenizer), subject.rng("vocabulary"))
    corpus = replace(subject.corpus, tokenizer=tokenizer)
    return replace(subject, model=model, corpus=corpus, objective=MLM, known={})


def measure_substitution(subject: Subject, settings: Settings) -> Finding:
    """Success and share of words changed of a greedy attack by words of the same class, which keep the label."""
    known = [subject.tokenizer.words[k] for k in subject.tokenizer.specials.words.tolist()]
    likes = same_meaning(known)
    shares, rows, numbers = [], [], []
    for name, victim in victims(subject, settings).items():
        texts, labels = unseen(victim, settings.texts)
        subject.count(len(texts), "unseen texts")
        right = (victim.scores(texts).argmax(1) == torch.tensor(labels)).tolist()
        attacked = [(t, y) for t, y, ok in zip(texts, labels, right, strict=True) if ok]
        done = [substitute(victim, words, label, likes) for words, label in attacked]
        fooled = [(one, words, label) for one, (words, label) in zip(done, attacked, strict=True) if one.fooled]
        before, success = sum(right) / len(right), len(fooled) / max(1, len(done))
        changed = fmean([len(one.changed) / len(one.words) for one, _, _ in fooled] or [0.0])
        shares += [(name, before, "as they are"), (name, before * (1 - success), "attacked")]
        numbers.append(
            Number(
                name,
                success,
                "share of attacks that succeed",
                {"share of words changed": changed, "questions asked": fmean([one.queries for one in done] or [0.0])},
            )
        )
        classes = victim.task.answer.classes
        rows += [(" ".join(words), " ".join(one.words), classes[label], name) for one, words, label in fooled[:10]]
    return Finding(
        f"Exchanging at most three words for others of the same class fools the plain model in {numbers[0].value:.2f} "
        f"of the attacks, the adversarially trained one in {numbers[1].value:.2f}.",
        tuple(numbers),
        (Table("Accuracy before and after the attack", columns_of(("model", "accuracy", "texts"), shares),
               Bars("model", "accuracy", "texts"), "share right"),
         Table("Attacks that succeed", columns_of(("before", "after", "label", "model"), rows),
               note="Unlike TextFooler: words of one class of our grammar, so the label stays as it was, and "
               "no check of likeness by another model.")),
    )  # fmt: skip


@dataclass(frozen=True)
class TriggerSettings(Settings):
    """The length of the trigger, and how long it is searched for."""

    length: int = knob(3, 1, 5, unit="words", why="Words before every text.")
    tried: int = knob(20, 1, 100, unit="candidates", why="Candidates whose true loss is measured at a position.")
    rounds: int = knob(2, 1, 5, unit="rounds", why="Passes over the positions.")


def measure_triggers(subject: Subject, settings: TriggerSettings) -> Finding:
    """The accuracy on each class before and after a trigger that was found on other texts, beside random words."""
    known = [subject.tokenizer.words[k] for k in _known(subject)]
    candidates = without_polarity(known)
    shares, found = [], list[tuple[str, str, str, float, float]]()
    falls: dict[str, list[tuple[float, float, float]]] = {}
    for name, victim in victims(subject, Settings(settings.labels, settings.steps)).items():
        texts, labels = unseen(victim, 2 * settings.texts)
        subject.count(len(texts), "unseen texts")
        for label, kind in enumerate(victim.task.answer.classes):
            own = [words for words, y in zip(texts, labels, strict=True) if y == label]
            search, test = own[: len(own) // 2], own[len(own) // 2 :]
            trigger, _ = find_trigger(
                victim, search, label, settings.length, candidates, settings.tried, settings.rounds
            )
            lots = [random_trigger(candidates, settings.length, subject.rng("trigger", kind, k)) for k in range(5)]
            with_lots = fmean(_right(victim, lot, test, label) for lot in lots)
            before, after = _right(victim, (), test, label), _right(victim, trigger, test, label)
            falls.setdefault(name, []).append((before, after, with_lots))
            values = {"nothing": before, "trigger": after, "random words": with_lots}
            shares += [(f"{kind}, {name}", value, what, name) for what, value in values.items()]
            found.append((name, kind, " ".join(trigger), before, after))
    model, kind, trigger, before, after = min(found, key=lambda row: row[-1] - row[-2])
    return Finding(
        f"Before texts that are {kind} the words {trigger!r} take the accuracy of the {model} model from {before:.2f} "
        f"to {after:.2f}.",
        tuple(Number(name, min(after for _, after, _ in row), "accuracy on the worse class, with its trigger",
                     {"nothing": min(row, key=lambda r: r[1])[0], "random words": min(row, key=lambda r: r[1])[2]})
              for name, row in falls.items()),
        (Table("Accuracy with a trigger", columns_of(("class", "accuracy", "before the text", "model"), shares),
               Bars("class", "accuracy", "before the text"), "share right",
               note="Tested on texts that the search did not see; words of praise, blame and negation are left out."),
         Table("Triggers", columns_of(("model", "class", "trigger", "accuracy before", "accuracy after"), found))),
    )  # fmt: skip


def _known(subject: Subject) -> list[int]:
    """The words that the training text has, the most frequent first."""
    counts = Counter(subject.corpus.ids[: subject.corpus.held_out_from].tolist())
    known = {*subject.tokenizer.specials.words.tolist()}
    return [word for word, _ in counts.most_common() if word in known]


def _right(victim: Victim, trigger: tuple[str, ...] | list[str], texts: list[list[str]], label: int) -> float:
    return victim.accuracy([[*trigger, *words] for words in texts], [label] * len(texts))


MISSPELLING = Instrument(
    name="misspelling",
    group="Fragility",
    question="How much accuracy does a fine-tuned classifier lose to typing errors?",
    source="after arXiv:2003.04985; errors as in arXiv:1711.02173",
    measure=measure_misspelling,
    rows=("V33", "V34"),
    needs=(reads_sentences, knows_sentiment),
    settings=Settings(),
)

MISSPELLING_BY_TOKENIZER = Instrument(
    name="misspelling by tokenizer",
    group="Fragility",
    question="Which vocabulary copes best with typing errors: words, pieces or characters?",
    source="after arXiv:2003.04985; errors as in arXiv:1711.02173",
    measure=measure_tokenizers,
    rows=("V33",),
    needs=(words_alone, knows_sentiment),
    settings=TokenizerSettings(),
)

SUBSTITUTION = Instrument(
    name="word substitution",
    group="Fragility",
    question="Does a classifier change its mind when words are exchanged for others of the same meaning?",
    source="arXiv:1907.11932",
    measure=measure_substitution,
    rows=("V32", "V34"),
    needs=(reads_sentences, knows_sentiment),
    settings=Settings(texts=60),
)

TRIGGERS = Instrument(
    name="universal triggers",
    group="Fragility",
    question="Are there words that, put before any text, change what the classifier says?",
    source="arXiv:1908.07125",
    measure=measure_triggers,
    rows=("V31", "V34"),
    needs=(reads_sentences, knows_sentiment),
    settings=TriggerSettings(texts=100),
)
