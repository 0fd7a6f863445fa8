"""Instruments on trained models in a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from playground.analysis.finding import Finding
from playground.analysis.inspection import Inspection, arranged, inspect_each, instruments_of, way_of
from playground.analysis.instrument import instruments
from playground.analysis.subject import Subject
from playground.errors import UserError
from playground.interop.subjects import open_subject
from playground.knob import turn
from playground.training.observe.subjects import of_learner
from widgets.notebook.arguments import checked
from widgets.notebook.drawing import in_block
from widgets.notebook.training import Trained
from widgets.static import findings


@dataclass(frozen=True, eq=False)
class Instruments:
    """What can be asked of a model, and why the rest cannot; `inspect(model, name)` asks."""

    subject: Subject

    def __repr__(self) -> str:
        return f"The instruments for {self.subject.name}; inspect(model, name) asks one"

    def _repr_html_(self) -> str:
        said = {name: each.missing(self.subject) or each.question for name, each in instruments().items()}
        lines = [f"<tr><th scope=row>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in said.items()]
        return in_block(f'<p class="title">{escape(self.subject.name)}</p><table>{"".join(lines)}</table>')


REPR = 290
"""Letters of the line that stands for a value where no picture can."""


@dataclass(frozen=True, eq=False)
class Inspected:
    """What instruments found, by their names, and why others could not measure; it shows itself."""

    inspections: Mapping[str, Inspection]
    missing: Mapping[str, str]

    @property
    def inspection(self) -> Inspection:
        return next(iter(self.inspections.values()))

    @property
    def found(self) -> Mapping[str, Finding]:
        """What the first instrument found, by the name of each model or step."""
        return self.inspection.found

    @property
    def finding(self) -> Finding:
        """What the first instrument found in the first model; over steps at the last step."""
        return self.inspection.finding

    @property
    def summary(self) -> Finding | None:
        """What several findings come to: differences, curves over steps, or means over seeds."""
        return self.inspection.summary

    def __repr__(self) -> str:
        said = [
            f"{name} in {', '.join(each.found)}: {each.finding.headline}" for name, each in self.inspections.items()
        ]
        first, names = self.inspection, ", ".join(self.found)
        said = f"{first.finding.headline}" if len(self.inspections) == 1 else f"{len(self.inspections)} instruments"
        return f"{first.instrument.name if len(self.inspections) == 1 else 'Inspected'} in {names}: {said}"[:REPR]

    def _repr_html_(self) -> str:
        drawn = [
            f'<p class="quiet">{escape(each.instrument.question)}</p>{findings.inspection(each)}'
            for each in self.inspections.values()
        ]
        if len(drawn) > 1:
            named = zip(self.inspections, drawn, strict=True)
            drawn = [f"<details><summary>{escape(name)}</summary>{each}</details>" for name, each in named]
        drawn += [f'<p class="quiet">{escape(f"{name}: {why}")}</p>' for name, why in self.missing.items()]
        return in_block(f"<style>{findings.STYLE}</style>{''.join(drawn)}")


@checked
def inspect(
    model: Trained | str, instrument: str = "", *, others: Trained | str | Sequence[Trained | str] = (),
    over: str = "models", **settings: Any,
) -> Inspected | Instruments:  # fmt: skip
    """Look inside a model with an instrument, and inside `others`; without one, all instruments are listed.

    A model is what `train(...)` returned, or the name of a saved run, the path of a checkpoint or of a folder of
    transformers, or an entry whose ready-made checkpoint is meant; `settings` are the knobs of the instrument. Tab
    inside the quotes and `inspect(model)` list the instruments. Several instruments have commas between them; a group
    such as "Probes" stands for its instruments, "all" for all; those that lack something are then left out.

    `over="models"` shows several models side by side with their differences from the first, `over="steps"` the kept
    checkpoints of one model as a film, `over="seeds"` the mean of runs of several seeds.

    What comes back shows itself; `finding` is what was found of the first model, with its numbers and tables, `found`
    that of each model by its name, `summary` what they come to.

    >>> seen = inspect(train("BERT"), "agreement")
    >>> seen.finding.headline
    """
    several = [others] if isinstance(others, Trained | str) else [*others]
    subjects = [
        open_subject(each) if isinstance(each, str) else of_learner(each.learner, each.corpus)
        for each in (model, *several)
    ]
    if not instrument:
        return Instruments(subjects[0])
    chosen = instruments_of(instrument)
    if settings and len(chosen) != 1:
        raise UserError(f"Settings are those of one instrument, not of {len(chosen)}.")
    turned = {each.name: turn(each.settings, settings) for each in chosen}
    each = list(inspect_each(chosen, arranged(subjects, way_of(over)), turned, way_of(over)))
    made = {instrument.name: found for instrument, found in each if isinstance(found, Inspection)}
    missing = {instrument.name: found for instrument, found in each if isinstance(found, str)}
    if not made:
        raise UserError(next(iter(missing.values())))
    return Inspected(made, missing)
