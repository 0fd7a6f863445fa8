"""The ratio of co-occurrences with two words (GloVe, D14-1162, table 1); taxonomic and attributive neighbours."""

from dataclasses import dataclass

import torch
from torch.nn.functional import normalize

from playground.analysis.finding import Bars, Finding, Number, Scatter, Table, columns_of, melt
from playground.analysis.instrument import Instrument
from playground.analysis.subject import Subject
from playground.analysis.words.vectors import id_of, in_a_plane, known_words, nearest, word_vectors
from playground.corpora.tinyworld.presets.kinds import COLOURS, TAXONOMY
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.arrange import Cells
from playground.objectives.ops.cooccurrence import cooccurrence, dense, factors, ppmi
from playground.tokenizing import read_input


@dataclass(frozen=True)
class Settings:
    """The two words, those that tell them apart, and the text that is counted."""

    first: str = knob("ice", why="Words that occur more often with this one have a ratio above 1.")
    second: str = knob("steam", why="Words that occur more often with this one have a ratio below 1.")
    others: str = knob("solid gas water fashion", why="Words whose ratios are shown.")
    window: int = knob(10, 1, 40, unit="tokens", why="Words at most this far apart co-occur.")
    smoothing: float = knob(0.5, 0.01, 10.0, unit="counts", why="Added to each count, so that no ratio is infinite.")
    text: str = knob("", lines=6, why="Sentences of your own, one a line, to be counted; empty: the training text.")


DEFAULT = Settings()

LONGEST, MOST_SHOWN, WIDTH = 5_000, 150, 16
"""Tokens of a typed text that are counted, words on the map, and numbers of their vectors."""


def has_ice(subject: Subject) -> str:
    """The training text has the words of the default settings."""
    if absent := sorted({DEFAULT.first, DEFAULT.second, *DEFAULT.others.split()} - known_words(subject.corpus)):
        return f"The corpus {subject.corpus.name} does not have the words {', '.join(absent)}; families has them."
    return ""


def measure(subject: Subject, settings: Settings) -> Finding:
    """P(k | first) / P(k | second) for each word k, from the counts of a text, and vectors that are made of these."""
    first, second = (id_of(subject, word) for word in (settings.first, settings.second))
    others = {word: id_of(subject, word) for word in settings.others.split()}
    ids, notice = _counted(subject, settings.text)
    spelt = {settings.first: first, settings.second: second, **others}
    absent = [word for word, k in spelt.items() if not (ids == k).any()]
    if {settings.first, settings.second} & {*absent}:
        raise UserError(f"Your text does not have the word {absent[0]}; type sentences with both words.")
    notice += f" Not in your text, so that the ratio says nothing: {', '.join(absent)}." if absent else ""
    subject.count(len(ids), "tokens counted")
    cells = cooccurrence(ids, subject.tokenizer.specials, settings.window)
    of = {word: _chances(cells, word, settings.smoothing, len(subject.tokenizer)) for word in (first, second)}
    ratios = {word: float(of[first][k] / of[second][k]) for word, k in others.items()}
    columns = {
        "word": list(ratios),
        f"P(word | {settings.first})": [float(of[first][k]) for k in others.values()],
        f"P(word | {settings.second})": [float(of[second][k]) for k in others.values()],
        "ratio": list(ratios.values()),
        "logarithm of the ratio": [float(torch.tensor(ratio).log10()) for ratio in ratios.values()],
    }
    high, low = max(ratios, key=ratios.__getitem__), min(ratios, key=ratios.__getitem__)
    return Finding(
        f"{high} co-occurs most with {settings.first} (ratio {ratios[high]:.3g}), {low} with {settings.second} "
        f"({ratios[low]:.3g}). {notice}".strip(),
        tuple(Number(word, ratio, "ratio", {"no difference": 1.0}) for word, ratio in ratios.items()),
        (
            Table(
                f"With {settings.first} rather than with {settings.second}", columns,
                Bars("word", "logarithm of the ratio"), "log10 of the ratio", {"no difference": 0.0},
                "Windows end with the sentence; GloVe's own do not.",
            ),
            _map(subject, cells, [first, second], list(others.values())),
        ),
    )  # fmt: skip


def _counted(subject: Subject, text: str) -> tuple[torch.Tensor, str]:
    """The ids `[n]` that are counted, with [SEP] between sentences, and what of a typed text is not read."""
    specials = subject.tokenizer.specials
    if not text.strip():
        corpus, end = subject.corpus, subject.corpus.held_out_from
        return _apart(corpus.ids[:end], corpus.sentence_ids[:end], specials.sep), ""
    read = read_input(text.replace("\n", "\n\n"), subject.tokenizer, LONGEST)
    return _apart(read.tokens.ids[0], read.tokens.sentence_ids[0], specials.sep), read.notice


def _apart(ids: torch.Tensor, sentence_ids: torch.Tensor, sep: int) -> torch.Tensor:
    """A text `[n]` with [SEP] between its sentences, so that no window goes beyond."""
    at = torch.arange(len(ids))
    at[1:] += (sentence_ids.diff() != 0).cumsum(0)
    return ids.new_full((int(at[-1]) + 1,), sep).scatter(0, at, ids)


def _map(subject: Subject, cells: Cells, two: list[int], others: list[int]) -> Table:
    """The most frequent words of the counts in a plane: PPMI of the counts, its singular vectors, their directions."""
    table = dense(cells, len(subject.tokenizer))
    counts = table.sum(1)
    frequent = counts.topk(min(MOST_SHOWN, int((counts > 0).sum()))).indices.tolist()
    named = [k for k in (*two, *others) if counts[k] > 0]
    shown = torch.tensor([*dict.fromkeys([*named, *frequent])])
    vectors = factors(ppmi(table[shown][:, shown]), WIDTH)
    points = in_a_plane(normalize(vectors, dim=-1))
    role = dict.fromkeys(others, "their ratios are shown") | dict.fromkeys(two, "the two words")
    columns = {
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        "word": [subject.tokenizer.words[k] for k in shown.tolist()],
        "group": [role.get(k, "other words") for k in shown.tolist()],
    }
    note = "Word vectors that are made of the counts alone, without training: singular vectors of their PPMI."
    return Table("Word vectors of the same counts", columns, Scatter("x", "y", "word", "group"), note=note)


def _chances(cells: Cells, word: int, smoothing: float, size: int) -> torch.Tensor:
    """P(k | word) for every word k `[v]`, from smoothed counts."""
    row = torch.full((size,), float(smoothing), dtype=torch.double)
    own = cells.word == word
    row[cells.other[own]] += cells.seen[own].double()
    return row / row.sum()


@dataclass(frozen=True)
class KindsSettings:
    """How many neighbours count."""

    neighbours: int = knob(3, 1, 10, unit="words", why="How many nearest neighbours of each thing are counted.")


def has_kinds(subject: Subject) -> str:
    """The corpus is the one whose things have a kind and a colour."""
    known = subject.corpus.name.partition("(")[0].strip() == "kinds"
    return "" if known else f"This needs the corpus kinds; the model was trained on {subject.corpus.name}."


def measure_kinds(subject: Subject, settings: KindsSettings) -> Finding:
    """Of the nearest other things of each thing: how many are of its kind, how many of its colour; and by chance."""
    kind_of = {thing: kind for kinds in TAXONOMY.values() for kind, things in kinds.items() for thing in things.split()}
    top_of = {kind: top for top, kinds in TAXONOMY.items() for kind in kinds}
    things = {thing: id_of(subject, thing) for thing in kind_of}
    subject.count(len(things), "things")
    vectors, spelt = word_vectors(subject.model), {k: thing for thing, k in things.items()}
    traits = {"kind": kind_of, "animal or plant": {t: top_of[kind] for t, kind in kind_of.items()}, "colour": COLOURS}
    rows, shares, chance = [], {name: [] for name in traits}, {name: [] for name in traits}
    for thing, number in things.items():
        others = torch.tensor([k for k in things.values() if k != number])
        near = [spelt[k] for k in nearest(vectors[[number]], vectors, others, settings.neighbours)[0][0].tolist()]
        for name, trait in traits.items():
            shares[name].append(sum(trait[t] == trait[thing] for t in near) / len(near))
            chance[name].append(sum(trait[t] == trait[thing] for t in things if t != thing) / (len(things) - 1))
        rows.append((thing, ", ".join(near), kind_of[thing], COLOURS[thing]))
    mean = {name: sum(row) / len(row) for name, row in shares.items()}
    by_chance = {name: sum(row) / len(row) for name, row in chance.items()}
    shared = {"nearest things": mean.values(), "by chance": by_chance.values()}
    return Finding(
        f"Of the nearest neighbours {mean['kind']:.0%} are of the same kind (chance {by_chance['kind']:.0%}) "
        f"and {mean['colour']:.0%} of the same colour (chance {by_chance['colour']:.0%}).",
        tuple(Number(f"same {name}", mean[name], "share", {"chance": by_chance[name]}) for name in mean),
        (Table("What neighbours share", melt("property", mean, "share", shared, "of"), Bars("property", "share", "of"),
               "share of neighbours"),
         Table("Nearest things", columns_of(("thing", "nearest", "kind", "colour"), rows))),
    )  # fmt: skip


COOCCURRENCE_RATIOS = Instrument(
    name="co-occurrence ratios",
    group="Words",
    question="Which words co-occur with ice rather than with steam?",
    source="GloVe, D14-1162, table 1",
    measure=measure,
    rows=("V47",),
    needs=(has_ice,),
    settings=DEFAULT,
)

KINDS_AND_COLOURS = Instrument(
    name="taxonomic and attributive neighbours",
    group="Words",
    question="Are the nearest neighbours of a thing of the same kind or of the same colour?",
    source="after Rubinstein et al. 2015, P15-2119",
    measure=measure_kinds,
    rows=("V19",),
    needs=(has_kinds,),
    settings=KindsSettings(),
)
