"""Any heads, layers and neurons switched off together (ablation; Kovaleva et al., arXiv:1908.08593)."""

from dataclasses import dataclass

from playground.analysis.finding import Bars, Finding, Number, Table
from playground.analysis.instrument import Instrument, attends, scores_words
from playground.analysis.instruments.heads_one_by_one import switch_off
from playground.analysis.interventions import probes_of, scores, standard_error
from playground.analysis.subject import Subject
from playground.knob import knob
from playground.models.taps import tapped


@dataclass(frozen=True)
class Settings:
    """What is off."""

    parts: str = knob(
        "layer1.head1",
        why="Names, separated by spaces: layer1.head2, layer1.attention, layer1.mlp, layer2.neuron7, "
        "decoder.layer1.cross.head1.",
    )
    texts: int = knob(32, 2, 256, unit="held-out texts", why="More texts, smaller standard errors, more time.")
    instead: str = knob("zero", choices=("zero", "mean"), why="What replaces a part: 0, or its mean output.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """The loss and the probes without the parts, beside those of the whole model."""
    model, batch, probes = subject.model, subject.batch(settings.texts), probes_of(subject)
    parts = list(dict.fromkeys(settings.parts.replace(",", " ").split()))
    before, known = scores(model, batch, probes)
    with tapped(model, *parts) as taps:
        for part in parts:
            switch_off(taps, part, settings.instead)
        after, now = scores(model, batch, probes)
    change, error, unit = after - before, standard_error(after - before), subject.objective.unit()
    columns = {
        "probe": [name for name in known for _ in range(2)],
        "model": ["all on", "off"] * len(known),
        "right": [each[name] for name in known for each in (known, now)],
    }
    bars = Table("Zero-shot probes", columns, Bars("probe", "right", "model"), "share right", {"chance": 0.5})
    return Finding(
        f"Without {', '.join(parts) or 'nothing'} the loss is {float(after.mean()):.3f} {unit}, "
        f"{float(change.mean()):+.3f} ± {error:.3f}.",
        (
            Number("loss", float(after.mean()), unit, {"all on": float(before.mean())}),
            *(Number(name, now[name], "share right", {"all on": known[name], "chance": 0.5}) for name in known),
        ),
        (bars,) if known else (),
    )


SWITCH_OFF = Instrument(
    name="switch off",
    group="Intervene",
    question="What happens without these heads, layers or neurons?",
    source="arXiv:1908.08593",
    measure=measure,
    rows=("V27",),
    needs=(
        scores_words,
        attends,
    ),
    settings=Settings(),
)
