"""What instruments find in one to four models, over the steps of a training, and over seeds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NotRequired, TypedDict, TypeVar, cast, get_args

import numpy as np

from playground.analysis.finding import (
    VALUES,
    Bars,
    Curve,
    Finding,
    FindingFacts,
    Number,
    Table,
    difference,
    melt,
    plain,
    same_rows,
)  # fmt: skip
from playground.analysis.instrument import GROUPS, Instrument, instrument_named, instruments
from playground.analysis.subject import Subject
from playground.errors import UserError
from playground.knob import KnobValue

Named = TypeVar("Named")

Over = Literal["models", "steps", "seeds"]
OVER: tuple[Over, ...] = get_args(Over)
"""Models side by side with their differences; the kept checkpoints of one model as a film; runs of several seeds."""

MOST_MODELS, MOST_STEPS, MOST_SEEDS, MOST_CURVES = 4, 8, 10, 8

BATTERY = ("Attention heads", "Intervene", "Probes", "Words", "Knowledge", "Floor")
"""The groups of instruments that are asked where none is named; none of them trains a model."""

ALL = "all"


class InspectionFacts(TypedDict):
    """What an instrument finds."""

    instrument: str
    settings: dict[str, KnobValue]
    """The knobs of the instrument."""
    found: dict[str, FindingFacts]
    """What it finds in each model, or at each step."""
    summary: NotRequired[FindingFacts]
    """Differences from the first model, curves over steps, or means over seeds. Left out for one model."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """What an instrument found, by the names of models or steps; `trained` are their training steps."""

    instrument: Instrument
    settings: Any
    over: Over
    found: Mapping[str, Finding]
    trained: Mapping[str, int]

    @property
    def finding(self) -> Finding:
        """What was found in the first model; over steps at the last step."""
        return list(self.found.values())[-1 if self.over == "steps" else 0]

    @cached_property
    def summary(self) -> Finding | None:
        """What several findings come to; nothing where there is one."""
        if len(self.found) < 2:
            return None
        if self.over == "steps":
            return over_steps(self.found, list(self.trained.values()))
        return differences(self.found) if self.over == "models" else over_seeds(self.found)

    def lines(self) -> Iterator[str]:
        """The finding as lines of text; of several the headlines, and what they come to."""
        if self.summary is None:
            yield from self.finding.lines()
            return
        yield from (" ".join((f"{name}: {each.headline}", *each.notes)) for name, each in self.found.items())
        yield from self.summary.lines()

    def facts(self) -> InspectionFacts:
        """The findings as values that JSON knows."""
        facts: InspectionFacts = {
            "instrument": self.instrument.name,
            "settings": asdict(self.settings),
            "found": {name: finding.facts() for name, finding in self.found.items()},
        }
        if self.summary is not None:
            facts["summary"] = self.summary.facts()
        return facts

    def files(self) -> Iterator[tuple[str, str]]:
        """Every table as CSV with the path of its file: `model/table.csv`, or `table.csv` where there is one model."""
        for name, finding in (*self.found.items(), *([("summary", self.summary)] if self.summary else [])):
            for table in finding.tables:
                title = f"{_file_name(table.title)}.csv"
                yield (title if self.summary is None else f"{_file_name(name)}/{title}"), table.to_csv()


def way_of(name: str) -> Over:
    """A way of seeing several by its name."""
    if name not in OVER:
        raise UserError(f"There is no {name!r} to compare over; there are {', '.join(OVER)}.")
    return cast("Over", name)


def by_name(subjects: Sequence[Subject]) -> dict[str, Subject]:
    """Subjects by their names, with a number after a name that several have."""
    names = [each.name for each in subjects]
    shown = [name if names.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(names)]
    return dict(zip(shown, subjects, strict=True))


def arranged(subjects: Sequence[Subject], over: Over) -> dict[str, Subject]:
    """The subjects by name for a way of seeing several; over steps those of the kept checkpoints of the one."""
    if over == "steps":
        return _at_steps(subjects)
    most = MOST_MODELS if over == "models" else MOST_SEEDS
    if len(subjects) > most:
        raise UserError(f"{len(subjects)} models are too many; at most {most} are measured together.")
    if over == "seeds":
        _only_seeds_differ(subjects)
    return by_name(subjects)


def _at_steps(subjects: Sequence[Subject]) -> dict[str, Subject]:
    if len(subjects) != 1:
        raise UserError(f"Over steps one model is measured, not {len(subjects)}; name one.")
    [subject] = subjects
    steps = sorted({*subject.earlier, subject.step})
    if len(steps) < 2:
        raise UserError(f"{subject.name} has only one checkpoint, so there are no steps to compare.")
    few = sorted({steps[round(k)] for k in np.linspace(0, len(steps) - 1, min(len(steps), MOST_STEPS))})
    return {f"step {step:,}": subject if step == subject.step else subject.at(step) for step in few}


def _only_seeds_differ(subjects: Sequence[Subject]) -> None:
    seeds = [subject.seed for subject in subjects]
    if len(set(seeds)) < max(2, len(seeds)):
        shown = ", ".join(f"{subject.name} (seed {subject.seed})" for subject in subjects)
        raise UserError(f"A mean over seeds needs at least two runs of different seeds, not {shown}.")
    first, *others = subjects
    for other in others:
        if other.corpus.name != first.corpus.name or other.model.shape != first.model.shape:
            raise UserError(f"{other.name} differs from {first.name} in more than the seed; choose runs of one recipe.")


def instruments_of(names: str) -> list[Instrument]:
    """Instruments by a list of names with commas between; a group's name stands for its members, `all` for all."""
    known, chosen = instruments(), list[Instrument]()
    groups = {group.lower(): group for group in GROUPS}
    for name in filter(None, map(str.strip, names.split(","))):
        group = groups.get(name.lower())
        whole = [each for each in known.values() if group == each.group or name.lower() == ALL]
        chosen += whole or [instrument_named(name)]
    if not chosen:
        raise UserError("No instrument is named; name one such as attention, or a group such as Probes.")
    return list(dict.fromkeys(chosen))


def battery() -> list[Instrument]:
    """The instruments that are asked where none is named."""
    return [each for each in instruments().values() if each.group in BATTERY]


def inspect_one(
    instrument: Instrument, named: Mapping[str, Subject], settings: Any = None, over: Over = "models",
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Inspection:  # fmt: skip
    """Measure `arranged` subjects with an instrument; where one of several lacks something, it is named."""
    settings = instrument.settings if settings is None else settings
    found = dict[str, Finding]()
    for k, (name, subject) in enumerate(named.items()):
        if len(named) > 1 and (sentence := instrument.missing(subject)):
            raise UserError(f"{name}: {sentence}")
        found[name] = instrument.look(replace(subject, report=share_of(report, k, len(named))), settings)
    found = on_one_scale(found) if over == "steps" else found
    return Inspection(instrument, settings, over, found, {name: each.step for name, each in named.items()})


def inspect_each(
    chosen: Sequence[Instrument], named: Mapping[str, Subject], settings: Mapping[str, Any], over: Over = "models",
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[tuple[Instrument, Inspection | str]]:  # fmt: skip
    """Measure with one instrument after the other, with `settings` by name; of several one may say why it cannot."""
    for k, instrument in enumerate(chosen):
        report(k, len(chosen))
        try:
            part = share_of(report, k, len(chosen))
            yield instrument, inspect_one(instrument, named, settings.get(instrument.name), over, part)
        except UserError as refusal:
            if len(chosen) == 1:
                raise
            yield instrument, str(refusal)


def share_of(report: Callable[[int, int], None], number: int, of: int) -> Callable[[int, int], None]:
    """Reports how much of all is done where one of several is at work."""
    return lambda done, total: report(number * total + done, of * total)


# what several findings come to


def differences(found: Mapping[str, Finding]) -> Finding:
    """What each further model has more than the first, of every number and of every table with the same rows."""
    (name, first), *others = found.items()
    numbers = [
        Number(
            a.name if len(others) == 1 else f"{a.name}, {other}",
            b.value - a.value,
            a.unit,
            {name: a.value, other: b.value},
        )
        for other, finding in others
        for a, b in _shared_numbers([first, finding])
    ]
    tables = [
        table if len(others) == 1 else replace(table, title=f"{table.title}, {other}")
        for other, finding in others
        for a, b in _shared_tables([first, finding])
        if (table := difference(a, b)) is not None
    ]
    said = "; ".join(f"{n.name} {n.value:+.3g}" for n in numbers[:3]) or "no number is measured in all models"
    return Finding(f"Difference from {name}: {said}.", tuple(numbers), tuple(tables), first.n)


def over_steps(found: Mapping[str, Finding], steps: Sequence[int]) -> Finding:
    """Every number as a curve over the training steps, those of one unit in one picture."""
    names, findings = list(found), list(found.values())
    shared = _shared_numbers(findings)
    numbers = tuple(replace(each[-1], baselines={names[0]: each[0].value, **each[-1].baselines}) for each in shared)
    tables: list[Table] = []
    for unit, of_unit in groupby(sorted(shared, key=lambda each: each[0].unit), key=lambda each: each[0].unit):
        rows = list(of_unit)
        tables += [_curves(steps, rows[k : k + MOST_CURVES], unit) for k in range(0, len(rows), MOST_CURVES)]
    moved = [f"{each[0].name} {each[0].value:.3g} → {each[-1].value:.3g}" for each in shared[:3]]
    said = f": {'; '.join(moved)}" if moved else ""
    return Finding(f"From {names[0]} to {names[-1]}{said}.", numbers, tuple(tables), findings[-1].n)


def _curves(steps: Sequence[int], rows: Sequence[Sequence[Number]], unit: str) -> Table:
    """A few numbers of one unit over the steps; of one alone also what it compares to at the last step."""
    values = {each[0].name: [number.value for number in each] for each in rows}
    title = f"Over steps: {rows[0][0].name}{f' to {rows[-1][0].name}' if len(rows) > 1 else ''}"
    fixed = rows[0][-1].baselines if len(rows) == 1 else {}
    return Table(
        title, melt("step", steps, "value", values, "number"), Curve("step", "value", "number"), unit, lines=fixed
    )


def over_seeds(found: Mapping[str, Finding]) -> Finding:
    """The mean and the standard deviation over seeds, of every number and of every table with the same rows."""
    findings = list(found.values())
    numbers = [
        Number(each[0].name, mean, each[0].unit, {"standard deviation": spread, **_means([n.baselines for n in each])})
        for each in _shared_numbers(findings)
        for mean, spread in [_mean_and_spread([number.value for number in each])]
    ]
    tables = [table for each in _shared_tables(findings) if (table := _band(each)) is not None]
    said = [f"{n.name} {n.value:.3g} ± {n.baselines['standard deviation']:.2g}" for n in numbers[:3]]
    return Finding(
        f"Mean and standard deviation over {len(findings)} seeds{': ' if said else ''}{'; '.join(said)}.",
        tuple(numbers), tuple(tables), {"seeds": len(findings), **findings[0].n},
    )  # fmt: skip


def on_one_scale(found: Mapping[str, Finding]) -> dict[str, Finding]:
    """Findings whose tables of one title are drawn on one scale, as the frames of a film."""
    values: dict[str, list[float]] = {}
    for table in (table for finding in found.values() for table in finding.tables):
        if name := VALUES.get(type(table.drawing), ""):
            values.setdefault(table.title, []).extend(plain(table.columns[getattr(table.drawing, name)]))
    scales = {title: (min(kept), max(kept)) for title, each in values.items() if (kept := [*filter(np.isfinite, each)])}
    return {
        name: replace(finding, tables=tuple(replace(t, scale=scales.get(t.title, ())) for t in finding.tables))
        for name, finding in found.items()
    }


def _shared_numbers(findings: Sequence[Finding]) -> list[list[Number]]:
    """The numbers that all findings have, by their names."""
    return _shared([{n.name: n for n in finding.numbers} for finding in findings])


def _shared_tables(findings: Sequence[Finding]) -> list[list[Table]]:
    """The tables that all findings have, by their titles."""
    return _shared([{t.title: t for t in finding.tables} for finding in findings])


def _shared(each: Sequence[Mapping[str, Named]]) -> list[list[Named]]:
    """What all mappings have, by name."""
    return [[one[name] for one in each] for name in each[0] if all(name in one for one in each)]


def _band(tables: Sequence[Table]) -> Table | None:
    """The mean of tables with the same rows, with a band of one standard deviation; None where the rows differ."""
    first, drawing = tables[0], tables[0].drawing
    named = same_rows(tables)
    if named is None:
        return None
    value = getattr(drawing, VALUES[type(drawing)])
    means, spreads = _mean_and_spread([np.asarray(table.columns[value], dtype=float) for table in tables])
    edges = {"mean - sd": means - spreads, "mean + sd": means + spreads}
    columns = {**{name: first.columns[name] for name in named}, value: means, **edges}
    banded = {"low": "mean - sd", "high": "mean + sd"} if isinstance(drawing, Bars | Curve) else {}
    lines = _means([table.lines for table in tables])
    drawn = replace(drawing, **banded, **({"text": ""} if hasattr(drawing, "text") else {}))
    return replace(first, title=f"Mean over seeds: {first.title}", columns=columns, drawing=drawn, lines=lines)


def _mean_and_spread(values: Sequence[Any]) -> tuple[Any, Any]:
    """Mean and standard deviation (of a sample) along the first axis."""
    stacked = np.stack([np.asarray(value, dtype=float) for value in values])
    mean, spread = stacked.mean(0), stacked.std(0, ddof=1)
    return (float(mean), float(spread)) if mean.ndim == 0 else (mean, spread)


def _means(each: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The means of what all have."""
    shared = [name for name in each[0] if all(name in other for other in each)]
    return {name: float(np.mean([other[name] for other in each])) for name in shared}


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in " .,-_" else "_" for c in name).strip()
