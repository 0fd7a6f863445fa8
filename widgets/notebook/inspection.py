"""Instruments on trained models in a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from playground.analysis.finding import Finding, Table
from playground.analysis.instrument import Instrument, instrument_named, instruments
from playground.analysis.subject import Subject
from playground.interop.subjects import open_subject
from playground.knob import turn
from playground.training.observe.subjects import of_learner
from widgets.notebook.arguments import checked
from widgets.notebook.drawing import in_block
from widgets.notebook.training import Trained
from widgets.state.inside import by_name, differences
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


@dataclass(frozen=True, eq=False)
class Inspected:
    """What an instrument found of one or more models, by their names; it shows itself, with their differences."""

    instrument: Instrument
    found: Mapping[str, Finding]

    @property
    def finding(self) -> Finding:
        """What was found of the first model."""
        return next(iter(self.found.values()))

    @property
    def differences(self) -> list[Table]:
        """What each further model has more than the first, of tables with the same rows."""
        return differences(self.found)

    def __repr__(self) -> str:
        return f"{self.instrument.name} in {', '.join(self.found)}: {self.finding.headline}"

    def _repr_html_(self) -> str:
        each = "".join(
            f'<div><p class="title">{escape(name)}</p>{findings.markup(finding)}</div>'
            for name, finding in self.found.items()
        )
        more = "".join(map(findings.picture, self.differences))
        said = f'<p class="quiet">{escape(self.instrument.question)}</p>'
        return in_block(f'<style>{findings.STYLE}</style>{said}<div class="pictures">{each}</div>{more}')


@checked
def inspect(
    model: Trained | str, instrument: str = "", *, others: Trained | str | Sequence[Trained | str] = (), **settings: Any
) -> Inspected | Instruments:
    """Look inside a model with an instrument, and inside `others`; without one, all instruments are listed.

    A model is what `train(...)` returned, or the name of a saved run, the path of a checkpoint or of a folder of
    transformers, or an entry whose ready-made checkpoint is meant; `settings` are the knobs of the instrument. Tab
    inside the quotes and `inspect(model)` list the instruments.

    What comes back shows itself; `finding` is what was found of the first model, with its numbers and tables, `found`
    that of each model by its name, `differences` what the others have more.

    >>> seen = inspect(train("BERT"), "agreement")
    >>> seen.finding.headline
    """
    several = [others] if isinstance(others, Trained | str) else [*others]
    subjects = [_subject(each) for each in (model, *several)]
    if not instrument:
        return Instruments(subjects[0])
    chosen = instrument_named(instrument)
    turned = turn(chosen.settings, settings)
    return Inspected(chosen, {name: chosen.look(each, turned) for name, each in by_name(subjects).items()})


def _subject(model: Trained | str) -> Subject:
    return open_subject(model) if isinstance(model, str) else of_learner(model.learner, model.corpus)
