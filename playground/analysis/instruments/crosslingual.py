"""Cross-lingual geometry: CKA, retrieval of translations, alignment of words against gold."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.analysis.crosslingual import (
    Retrieval,
    align_words,
    alignment_scores,
    gold_links,
    linear_cka,
    retrieve,
    sentence_means,
)  # fmt: skip
from playground.analysis.finding import Curve, Finding, Matrix, Number, Table, columns_of
from playground.analysis.instrument import Instrument, reads_sentences
from playground.analysis.probing.reading import both_states, probing_texts
from playground.analysis.probing.texts import first_rows
from playground.analysis.subject import Subject
from playground.batch import Tokens
from playground.corpora import pick
from playground.knob import knob

DRAWN, LONGEST = 3, 64
"""Sentences whose alignment is drawn, and tokens of the longest pair."""


@dataclass(frozen=True)
class Settings:
    """How much text is read."""

    count: int = knob(400, 40, 2000, unit="sentences", why="More sentences, harder retrieval and smaller errors.")


def translations(subject: Subject) -> str:
    """The corpus has sentences with their translations, word by word."""
    if "aligned" not in subject.corpus.labels:
        return f"{subject.corpus.name} has no translations. Choose the corpus parallel."
    return ""


def sentence_pairs(subject: Subject, count: int) -> tuple[Tokens, Tokens]:
    """Different held-out sentences and their translations."""

    def made() -> tuple[Tokens, Tokens]:
        first = subject.corpus.pairs(LONGEST, "held_out", subject.seed)
        rows = first_rows(first)[:count]
        return pick(_alone(first), rows), pick(_alone(first.neighbours["translation"]), rows)

    pairs = subject.once(("translations", count), made)
    subject.count(len(pairs[0].ids), "different held-out sentences with a translation", count)
    return pairs


def _alone(tokens: Tokens) -> Tokens:
    """A text without its second texts, which `pick` would carry along."""
    return replace(tokens, neighbours={}, example_ids=None, epoch=None, sizes=None)


def measure_retrieval(subject: Subject, settings: Settings) -> Finding:
    """P@1 both ways at every level: all words, less the mean of their language, words of one language alone."""
    first, second = sentence_pairs(subject, settings.count)
    (own, random), (other, random_other) = (both_states(subject, side) for side in (first, second))
    shared = torch.isin(first.ids, second.ids), torch.isin(second.ids, first.ids)
    whole = first.valid, second.valid
    unshared = tuple(valid & ~both for valid, both in zip(whole, shared, strict=True))

    def by_level(left: list[Tensor], right: list[Tensor], words: tuple[Tensor, ...], centred: bool) -> list[Retrieval]:
        levels = zip(left, right, strict=True)
        return [retrieve(sentence_means(a, words[0]), sentence_means(b, words[1]), centred) for a, b in levels]

    ways = {
        "all words": by_level(own, other, whole, False),
        "less the mean of the language": by_level(own, other, whole, True),
        "without shared words, less the mean": by_level(own, other, unshared, True),
        "random encoder, without shared words": by_level(random, random_other, unshared, True),
    }
    main = ways["without shared words, less the mean"]
    best = max(range(len(main)), key=lambda k: main[k].mean)
    chance = 1 / len(first.ids)
    rows = [
        (level, one.mean, one.forward, one.back, name)
        for name, row in ways.items()
        for level, one in zip(subject.levels, row, strict=True)
    ]
    columns = columns_of(("level", "P@1", "forward", "back", "of"), rows)
    beside = {"chance": chance, "random encoder": ways["random encoder, without shared words"][best].mean,
              "all words": ways["all words"][best].mean}  # fmt: skip
    return Finding(
        f"At {subject.levels[best]} the nearest sentence of the other language is the translation "
        f"{main[best].mean:.3f} of the time, without the words that both share; chance is {chance:.4f}.",
        (Number("P@1 forward", main[best].forward, "share of sentences", beside),
         Number("P@1 back", main[best].back, "share of sentences", beside)),
        (Table("Translations retrieved, by level", columns, Curve("level", "P@1", "of"), "mean of both directions",
               {"chance": chance}),),
    )  # fmt: skip


def measure_alignment(subject: Subject, settings: Settings) -> Finding:
    """Words that are each other's nearest, at every level, against gold; beside a random encoder and the diagonal."""
    first, second = sentence_pairs(subject, settings.count)
    gold = gold_links(first)
    states = {name: _levels(subject, first, second, k) for k, name in enumerate(("model", "random encoder"))}
    scores = {
        name: [alignment_scores(_aligned(a, b, first, second), gold) for a, b in levels]
        for name, levels in states.items()
    }
    lengths = list(zip(first.lengths.tolist(), second.lengths.tolist(), strict=True))
    straight = alignment_scores([{(k, k) for k in range(min(pair))} for pair in lengths], gold)
    best = min(range(len(subject.levels)), key=lambda k: scores["model"][k].error)
    rows = [
        (level, one.error, one.precision, one.recall, name)
        for name, row in scores.items()
        for level, one in zip(subject.levels, row, strict=True)
    ]
    columns = columns_of(("level", "AER", "precision", "recall", "of"), rows)
    one, lines = scores["model"][best], {"word k with word k": straight.error}
    return Finding(
        f"At {subject.levels[best]} the alignment error rate is {one.error:.2f}; "
        f"joining word k with word k has {straight.error:.2f}.",
        (Number("AER", one.error, "0 is gold", {**lines, "random encoder": scores["random encoder"][best].error}),
         Number("precision", one.precision, "share of links"), Number("recall", one.recall, "share of gold links")),
        (Table("Alignment error rate by level", columns, Curve("level", "AER", "of"), "lower is better", lines),
         *_drawn(subject, first, second, states["model"][best])),
    )  # fmt: skip


def _levels(subject: Subject, first: Tokens, second: Tokens, which: int) -> list[tuple[Tensor, Tensor]]:
    """The states of both sides by level, of the model (0) or of a random encoder (1)."""
    return list(zip(both_states(subject, first)[which], both_states(subject, second)[which], strict=True))


def _aligned(one: Tensor, other: Tensor, first: Tokens, second: Tokens) -> list[set[tuple[int, int]]]:
    lengths = zip(first.lengths.tolist(), second.lengths.tolist(), strict=True)
    return [align_words(one[r, :m], other[r, :n]) for r, (m, n) in enumerate(lengths)]


def _drawn(subject: Subject, first: Tokens, second: Tokens, states: tuple[Tensor, Tensor]) -> list[Table]:
    """Cosines of the words of a few sentences and their translations; a star marks gold links."""
    found, words = [], subject.tokenizer.words
    for number, row in enumerate(first.lengths.argsort(descending=True, stable=True)[:DRAWN].tolist()):
        m, n = int(first.lengths[row]), int(second.lengths[row])
        one, other = (torch.nn.functional.normalize(s[row, :k], dim=-1) for s, k in zip(states, (m, n), strict=True))
        links, cells = gold_links(pick(first, torch.tensor([row])))[0], [(a, b) for a in range(m) for b in range(n)]
        columns = {
            "word": [f"{a + 1} {words[int(first.ids[row, a])]}" for a, _ in cells],
            "other": [f"{b + 1} {words[int(second.ids[row, b])]}" for _, b in cells],
            "cosine": (one @ other.T).flatten().tolist(),
            "gold": ["*" if cell in links else "" for cell in cells],
        }
        title, drawing = (
            f"Words and their translations, sentence {number + 1}",
            Matrix("word", "other", "cosine", "gold"),
        )
        found.append(Table(title, columns, drawing, "cosine", note="A star marks a gold link."))
    return found


def measure_cka(subject: Subject, settings: Settings) -> Finding:
    """CKA of all pairs of levels over the words of held-out sentences, and of each level with a random encoder's."""
    tokens = probing_texts(subject, settings.count).tokens
    real = tokens.maskable
    own, random = ([level[real] for level in levels] for levels in both_states(subject, tokens))
    rows = [
        (subject.levels[k], level, linear_cka(a, b))
        for k, a in enumerate(own)
        for level, b in zip((*subject.levels, "same level, random encoder"), (*own, random[k]), strict=True)
    ]
    columns = columns_of(("level", "other", "CKA"), rows)
    ends, twin = linear_cka(own[0], own[-1]), linear_cka(own[-1], random[-1])
    return Finding(
        f"The embeddings and {subject.levels[-1]} have a CKA of {ends:.2f}; {subject.levels[-1]} and that of a random "
        f"encoder have {twin:.2f}.",
        (Number("lowest with highest level", ends, "linear CKA", {"same level, random encoder": twin}),),
        (Table("CKA of levels", columns, Matrix("level", "other", "CKA"), "1: equal up to rotation and scale"),),
    )


def measure_languages(subject: Subject, settings: Settings) -> Finding:
    """CKA of sentences with their translations by level, beside other sentences and a random encoder."""
    first, second = sentence_pairs(subject, settings.count)
    order = torch.randperm(len(first.ids), generator=subject.rng("other translations"))
    rows = []
    for which, of in enumerate(("model", "random encoder")):
        for level, (a, b) in zip(subject.levels, _levels(subject, first, second, which), strict=True):
            one, other = sentence_means(a, first.valid), sentence_means(b, second.valid)
            rows += [
                (level, linear_cka(one, other), of),
                (level, linear_cka(one, other[order]), f"{of}, other sentences"),
            ]
    columns, top = columns_of(("level", "CKA", "of"), rows), subject.levels[-1]
    beside = {name: value for level, value, name in rows if level == top}
    value = beside.pop("model")
    return Finding(
        f"At {top} sentences and their translations have a CKA of {value:.2f}, "
        f"sentences and other sentences {beside['model, other sentences']:.2f}.",
        (Number("CKA with translations", value, "linear CKA", beside),),
        (Table("CKA of sentences and their translations", columns, Curve("level", "CKA", "of")),),
    )


RETRIEVAL = Instrument(
    name="sentence retrieval",
    group="Words",
    question="Is the nearest sentence of the other language the translation?",
    source="after arXiv:1812.10464",
    measure=measure_retrieval,
    rows=("V45",),
    needs=(reads_sentences, translations),
    settings=Settings(),
)

WORD_ALIGNMENT = Instrument(
    name="word alignment",
    group="Words",
    question="Is the nearest word of the translated sentence the translation of a word?",
    source="arXiv:2004.08728; AER, Och and Ney 2003, J03-1002",
    measure=measure_alignment,
    rows=("V46",),
    needs=(reads_sentences, translations),
    settings=Settings(),
)

CKA = Instrument(
    name="CKA of levels",
    group="Words",
    question="Which levels have the same geometry, up to a rotation?",
    source="arXiv:1905.00414",
    measure=measure_cka,
    rows=("V45",),
    needs=(reads_sentences,),
    settings=Settings(),
)

CKA_OF_LANGUAGES = Instrument(
    name="CKA of languages",
    group="Words",
    question="Do both languages have the same geometry?",
    source="arXiv:1905.00414",
    measure=measure_languages,
    rows=("V45",),
    needs=(reads_sentences, translations),
    settings=Settings(),
)
