"""Which pattern every attention head follows (arXiv:1906.04341, sec. 3; arXiv:1908.08593)."""

from collections import Counter
from dataclasses import dataclass

from playground.analysis.attention_patterns import habits
from playground.analysis.finding import Bars, Finding, Matrix, Number, Table
from playground.analysis.instrument import Instrument, attends
from playground.analysis.subject import Subject
from playground.knob import knob


@dataclass(frozen=True)
class Settings:
    """How much text the heads are watched on."""

    texts: int = knob(8, 1, 64, unit="held-out texts", why="More texts, steadier shares, more time.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """The strongest pattern of each head on held-out texts as they are trained on, hidden words included."""
    batch = subject.model.masked(subject.batch(settings.texts))
    scores = habits(batch, subject.model.attention(batch))
    best = {(s.matrix, s.layer, s.head): s for s in reversed(scores) if s.notable}
    heads = sorted({(s.matrix, s.layer, s.head) for s in scores})
    named = [best.get(head) for head in heads]
    counts = Counter(score.pattern.name for score in named if score is not None)
    columns = {
        "layer": [f"{matrix} {layer + 1}" for matrix, layer, _ in heads],
        "head": [head + 1 for _, _, head in heads],
        "pattern": [score.pattern.name if score else "none" for score in named],
        "weight": [score.weight if score else 0.0 for score in named],
        "uniform": [score.chance if score else 0.0 for score in named],
    }
    table = Table(
        "Heads by their strongest pattern", columns, Matrix("layer", "head", "weight", text="pattern"),
        unit="share of attention",
        note="A pattern is named if it gets at least half of the attention, and 1.5 times that of uniform attention.",
    )  # fmt: skip
    kinds = Table("How many heads follow each pattern", {"pattern": list(counts), "heads": list(counts.values())},
                  Bars("pattern", "heads"), unit="heads")  # fmt: skip
    share = sum(counts.values()) / max(1, len(heads))
    return Finding(
        f"{sum(counts.values())} of {len(heads)} heads follow a known pattern.",
        (Number("heads with a pattern", share, "share of the heads"),),
        (table, kinds),
    )


ATTENTION_PATTERNS = Instrument(
    name="attention patterns",
    group="Attention heads",
    question="What does each head attend to: the previous word, the next word, the same word?",
    source="arXiv:1906.04341, sec. 3; arXiv:1908.08593",
    measure=measure,
    rows=("V26",),
    needs=(attends,),
    settings=Settings(),
)
