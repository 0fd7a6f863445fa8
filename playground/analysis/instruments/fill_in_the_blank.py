"""The likeliest words for the gaps of a sentence, with the probability that the grammar gives them."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.analysis.cloze import MASK, fill_gaps, gaps_of
from playground.analysis.finding import Bars, Finding, Number, Table, columns_of
from playground.analysis.floor.sentence import best_possible
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.predictions import TOP
from playground.analysis.subject import Subject
from playground.batch import Tokens
from playground.errors import UserError
from playground.knob import knob

BEST = "best possible"


@dataclass(frozen=True)
class Settings:
    """Which sentence, and what is right."""

    sentence: str = knob(
        "", why=f"A sentence of your own with {MASK} for each gap; empty for a held-out one without its rarest word."
    )
    answer: str = knob("", why="The right word, or one for each gap; empty where it is not known.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """The five likeliest words of each gap; of the right one its probability and rank."""
    tokens, gaps, right = _asked(subject, settings)
    chances = fill_gaps(subject.model, tokens, gaps).double().exp().cpu()
    best, why = best_possible(subject, tokens.ids[0], gaps.tolist(), hidden=gaps.tolist())
    subject.count(len(gaps), "gaps" if len(gaps) > 1 else "gap")
    words, several = subject.tokenizer.words, len(gaps) > 1
    likeliest = chances.topk(min(TOP, len(words))).indices.tolist()
    whose = {subject.name: chances, **({} if best is None else {BEST: best})}
    asked = [(k, gap + 1, rank, word) for k, gap in enumerate(gaps.tolist()) for rank, word in enumerate(likeliest[k])]
    bars = [
        (f"{gap} {words[word]}" if several else words[word], float(shares[k, word]), who)
        for k, gap, _, word in asked
        for who, shares in whose.items()
    ]
    rows = [
        (gap, rank + 1, words[word], *(float(shares[k, word]) for shares in whose.values()))
        for k, gap, rank, word in asked
    ]
    numbers = [
        number
        for k, (gap, word) in enumerate(zip(gaps.tolist(), right, strict=bool(right)))
        for number in _numbers(chances[k], None if best is None else best[k], word, f" at {gap + 1}" * several)
    ]
    likely = ", ".join(repr(words[each[0]]) for each in likeliest)
    said = f"The likeliest words are {likely}" if several else f"The likeliest word is {likely}"
    if right:
        said += f"; right {'are' if several else 'is'} {', '.join(repr(words[word]) for word in right)}"
    columns = ("gap", "rank", "word", "probability", *(name for name in whose if name == BEST))
    return Finding(
        f"{' '.join(_shown(tokens, gaps))!r}: {said}." + (f" {why}" if why else ""),
        tuple(numbers),
        (
            Table("Likeliest words", columns_of(("word", "probability", "who"), bars),
                  Bars("word", "probability", "who"), unit="probability",
                  note=f"{BEST.capitalize()} is the probability in the grammar, given the words that this model sees."
                  if best is not None else ""),
            Table("Words by rank", columns_of(columns, rows), unit="probability"),
        ),
    )  # fmt: skip


def _asked(subject: Subject, settings: Settings) -> tuple[Tokens, Tensor, list[int]]:
    """The text `[1, t]` with [MASK] in it, its gaps `[g]`, and the right words, none where they are not known."""
    tokenizer = subject.tokenizer
    if settings.sentence.strip():
        tokens, gaps = gaps_of(settings.sentence, tokenizer)
        if not (typed := settings.answer.split()):
            return tokens, gaps, []
        if len(typed) != len(gaps):
            raise UserError(f"answer has {len(typed)} words and the sentence {len(gaps)} gaps; write a word for each.")
        right = [tokenizer.encode_word(word) for word in typed]
        for word, ids in zip(typed, right, strict=True):
            if len(ids) != 1 or ids[0] == tokenizer.specials.unknown:
                raise UserError(f"{word!r} is not one word of the vocabulary; give another answer, or none.")
        return tokens, gaps, [ids[0] for ids in right]
    if settings.answer.strip():
        raise UserError(f"answer is {settings.answer[:60]!r}, but there is no sentence; type one with {MASK}.")
    tokens = subject.sentence()
    counts = torch.bincount(subject.corpus.ids[: subject.corpus.held_out_from], minlength=len(tokenizer))
    is_word = tokenizer.specials.is_word(tokens.ids[0])
    gap = counts[tokens.ids[0]].masked_fill(~is_word, len(subject.corpus)).argmin()[None]
    return replace(tokens, ids=tokens.ids.index_fill(1, gap, tokenizer.specials.mask)), gap, tokens.ids[0, gap].tolist()


def _shown(tokens: Tokens, gaps: Tensor) -> list[str]:
    there = set(gaps.tolist())
    return [MASK if k in there else tokens.vocabulary[number] for k, number in enumerate(tokens.ids[0].tolist())]


def _numbers(chances: Tensor, best: Tensor | None, word: int, where: str) -> tuple[Number, Number]:
    """Probability and rank of the right word, each with what the grammar gives it."""
    rows = {"model": chances} | ({} if best is None else {BEST: best})
    ranks = {name: float((row > row[word]).sum() + 1) for name, row in rows.items()}
    shares = {name: float(row[word]) for name, row in rows.items()}
    return (
        Number(f"right word{where}", shares.pop("model"), "probability", shares),
        Number(f"rank of the right word{where}", ranks.pop("model"), f"of {len(chances)} words", ranks),
    )


FILL_IN_THE_BLANK = Instrument(
    name="fill in the blank",
    group="Knowledge",
    question="Which words does the model put into a gap, and which would the best possible one?",
    source="cloze (Taylor 1953); BERT, arXiv:1810.04805; best possible: exact sums over the grammar",
    measure=measure,
    rows=("V36",),
    needs=(scores_words, reads_sentences),
    settings=Settings(),
)
