"""Two hidden words: are they predicted together or each for itself (arXiv:1906.08237, sec. 2.6, on New York)?"""

import torch
from torch import Tensor

from playground.analysis.cloze import log_chances, texts, with_gap
from playground.analysis.finding import Bars, Finding, Matrix, Number, Table, columns_of
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.subject import Subject
from playground.analysis.words.vectors import known_words
from playground.batch import arange_rows
from playground.corpora.tinyworld.lexicon import CROSSED
from playground.corpora.tinyworld.truth import every_text

BEFORE = ("anna", "flew", "to")
"""In the grammar these words are followed by the name of a city of two words."""

FIRST, SECOND = zip(*(name.split() for name in CROSSED), strict=True)

SHARE = "share of the probability of all pairs"

ONE_BY_ONE, AT_ONCE, GOLD = "one after the other", "both at once", "grammar"


def measure(subject: Subject, _: object) -> Finding:
    """The probability of every pair of halves of names: p(first) p(second | first), and p(first) p(second)."""
    subject.count(len(FIRST) * len(SECOND), "pairs of words")
    pairs = [[*BEFORE, one, two, "."] for one, two in zip(FIRST, SECOND, strict=True)]
    first = _ask(subject, pairs[:1], 3, FIRST, hidden=4).T  # the probability of each first half, the second hidden
    joint = {GOLD: _gold(), ONE_BY_ONE: first * _ask(subject, pairs, 4, SECOND)}
    if subject.model.shape.attention != "left to right":
        joint[AT_ONCE] = first * _ask(subject, pairs[:1], 4, SECOND, hidden=3)
    wrong = {name: 1 - float(table.diagonal().sum() / table.sum()) for name, table in joint.items()}
    said = [f"{share:.1%} {name}" for name, share in wrong.items() if name != GOLD]
    rows = [
        (one, two, share, way)
        for way, table in joint.items()
        for one, shares in zip(FIRST, (table / table.sum()).tolist(), strict=True)
        for two, share in zip(SECOND, shares, strict=True)
    ]
    columns = columns_of(("first", "second", "share", "way"), rows)
    mass = {way: float(table.sum()) for way, table in joint.items()}
    return Finding(
        f"Impossible names such as 'new angeles' get this share of the probability of all pairs: {', '.join(said)}.",
        tuple(
            Number(f"impossible pairs, {way}", share, SHARE, {"grammar": 0.0, "independent": 7 / 8})
            for way, share in wrong.items()
            if way != GOLD
        ),
        (
            Table("Probability of every pair", columns, Matrix("first", "second", "share", panel_column="way"),
                  unit=SHARE),
            Table("Probability of all pairs together", {"way": list(mass), "chance": list(mass.values())},
                  Bars("way", "chance"), unit="probability", note="The rest is the probability of other words."),
        ),
    )  # fmt: skip


def _gold() -> Tensor:
    """The chance of every pair in the grammar, `[first, second]`."""
    chances = every_text("world", "Crossed")
    return torch.tensor([[chances.get((one, two), 0.0) for two in SECOND] for one in FIRST], dtype=torch.float64)


def _ask(subject: Subject, rows: list[list[str]], position: int, words: tuple[str, ...], hidden: int = -1) -> Tensor:
    """The chance of some words at a position of each row `[b, words]`, with the word at another position hidden too."""
    model, device = subject.model, subject.model.token_embedding.weight.device
    tokens = texts(rows, subject.tokenizer).to(device)
    at = torch.full((len(rows),), position, device=device)
    chances = log_chances(model, with_gap(model.shape, tokens, at, arange_rows(tokens.ids) == hidden))
    return chances[:, subject.tokenizer.encode_words(words)].exp().double().cpu()


def knows_names(subject: Subject) -> str:
    """Its training text has all names of two words."""
    if subject.tokenizer.kind == "word" and known_words(subject.corpus).issuperset((*BEFORE, *FIRST, *SECOND)):
        return ""
    return f"The corpus {subject.corpus.name} has no names of two words such as new york; train on world."


def hides_two(subject: Subject) -> str:
    """It can be asked for a word while a second one is hidden."""
    shape = subject.model.shape
    if shape.decoder_layers or shape.attention == "right to left" or (shape.two_streams and shape.recurrent):
        return "This needs a masked, a permutation or a left-to-right model; this model cannot mask two words at once."
    return ""


TWO_MASKS = Instrument(
    name="two masks",
    group="Knowledge",
    question="Are two masked words predicted jointly or independently?",
    source="arXiv:1906.08237, sec. 2.6",
    measure=measure,
    rows=("V37",),
    needs=(scores_words, reads_sentences, hides_two, knows_names),
)
