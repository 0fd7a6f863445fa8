"""All heads switched off one by one (Michel et al., arXiv:1905.10650, sec. 3.2; Kovaleva et al., arXiv:1908.08593)."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from playground.analysis.finding import Bars, Finding, Matrix, Number, Table, columns_of
from playground.analysis.instrument import Instrument, attends, scores_words
from playground.analysis.interventions import probes_of, scores, standard_error
from playground.analysis.subject import Subject
from playground.knob import knob
from playground.models.taps import Taps, head_names, tapped

SURE = 2.0
"""Standard errors by which a head must change the loss to count."""


@dataclass(frozen=True)
class Settings:
    """How much is read, and what takes the place of a head."""

    texts: int = knob(32, 2, 256, unit="held-out texts", why="More texts, smaller standard errors, more time.")
    instead: str = knob("zero", choices=("zero", "mean"), why="What replaces a head: 0, or its mean output.")


def switch_off(taps: Taps, name: str, instead: str) -> None:
    """Let a part give 0, or its mean over all positions of the pass."""
    taps.change(name, (lambda v: v * 0) if instead == "zero" else (lambda v: v.mean((0, 1), keepdim=True).expand_as(v)))


def measure(subject: Subject, settings: Settings) -> Finding:
    """The change of the loss and of each probe with each head alone switched off."""
    model, batch, probes = subject.model, subject.batch(settings.texts), probes_of(subject)
    before, known = scores(model, batch, probes)
    heads, changes, moved = head_names(model), [], []
    with tapped(model, *heads) as taps:
        for done, head in enumerate(heads):
            subject.report(done, len(heads))
            taps.restore()
            switch_off(taps, head, settings.instead)
            after, now = scores(model, batch, probes)
            changes.append(after - before)
            moved += [(head, name, now[name] - value) for name, value in known.items()]
    return _finding(heads, changes, before, known, moved, subject.objective.unit())


def _finding(
    heads: tuple[str, ...], changes: list[Tensor], before: Tensor, known: Mapping[str, float],
    moved: list[tuple[str, str, float]], unit: str,
) -> Finding:  # fmt: skip
    mean, error = [float(c.mean()) for c in changes], [standard_error(c) for c in changes]
    worst = max(range(len(heads)), key=lambda k: mean[k])
    better = [head for head, m, e in zip(heads, mean, error, strict=True) if m < -SURE * e]
    idle = sum(abs(m) <= SURE * e for m, e in zip(mean, error, strict=True))
    tables = [
        Table(
            "Change of the loss without each head", {"head": list(heads), "change": mean, "standard error": error},
            Bars("head", "change"), unit=unit, lines={"no change": 0.0},
        )
    ]  # fmt: skip
    if moved:
        columns = columns_of(("head", "probe", "change"), moved)
        note = "; ".join(f"{name}: {value:.2f} with all heads" for name, value in known.items())
        drawing = Matrix("probe", "head", "change")
        tables.append(Table("Change of the zero-shot probes", columns, drawing, "share right", note=note))
    gain = f" The loss is lower without {', '.join(better)}." if better else ""
    return Finding(
        f"{heads[worst]} matters most: without it the loss rises by {mean[worst]:.3f} {unit}. {idle} of {len(heads)} "
        f"heads can be left out alone with a change of at most {SURE:g} standard errors.{gain}",
        (
            Number("largest rise of the loss", mean[worst], unit, {"loss with all heads": float(before.mean())}),
            Number("heads within two standard errors of no change", idle / len(heads), "share of the heads"),
            Number("heads without which it is better", len(better), "heads"),
        ),
        tuple(tables),
    )


HEADS_ONE_BY_ONE = Instrument(
    name="heads one by one",
    group="Intervene",
    question="Ablation: which heads does the model need? Each is switched off once.",
    source="arXiv:1905.10650, sec. 3.2; arXiv:1908.08593",
    measure=measure,
    rows=("V27",),
    needs=(
        scores_words,
        attends,
    ),
    settings=Settings(),
)
