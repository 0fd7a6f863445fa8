"""The bug hunt as markup: the list of cases, and a sound run next to the suspect."""

from collections.abc import Mapping, Sequence
from html import escape
from statistics import fmean

from playground.hunt.effects import SEEDS, effects
from playground.hunt.fault import Fault
from playground.hunt.questions import QUESTIONS
from playground.hunt.suspect import Suspect
from widgets.bundle import sheet
from widgets.static import predictions, svg
from widgets.static.findings import one_matrix

SHOWN = 14
"""Positions of the attention mask that are drawn."""

STYLE = sheet(__file__)


def listed(solved: Mapping[int, bool], count: int, chosen: int) -> str:
    """The cases by number; a solved one has a tick, one that was answered wrongly a cross."""
    lines = list[str]()
    for number in range(1, count + 1):
        mark = ("✓" if solved[number] else "✗") if number in solved else ""
        kind = ' class="open" aria-current="true"' if number == chosen else ""
        lines.append(
            f'<button type="button" data-act="case" data-name="{number}"{kind}>'
            f'<span class="title">Case {number}</span><span>{mark}</span></button>'
        )
    return f'<div class="claims choices scroll">{"".join(lines)}</div>'


def pair(sound: Suspect, suspect: Suspect) -> str:
    """Curves, figures, attention mask and one row of data of both runs, on the same scales."""
    return f'<div class="pair">{_side("Sound", sound, suspect)}{_side("Suspect", suspect, sound)}</div>'


def _side(title: str, run: Suspect, other: Suspect) -> str:
    figures = "".join(f"<tr><th scope=row>{name}</th><td>{value:.3f}</td></tr>" for name, value in run.figures.items())
    curve = svg.curve(run.points, run.fault.steps, unit=run.facts["loss"]["unit"], beside=other.points)
    return (
        f'<div><div class="label">{title}</div>{curve}'
        f"<table>{figures}</table>{_mask(run)}{predictions.markup(run.glance)}</div>"
    )


def _mask(run: Suspect) -> str:
    """The attention mask of the first positions of one row, query by key."""
    batch = run.batch(1)
    mask = batch.inputs.query_attn_mask or batch.inputs.attn_mask
    cells = mask.dense()[0, :SHOWN, :SHOWN].float().numpy()
    names = [word[:12] for word in run.glance.sees[:SHOWN]]
    return f'<div class="wide">{one_matrix(cells, names, names, "Attention mask, query by key")}</div>'


def explained(fault: Fault) -> str:
    """What the fault is, where it was found, the law that it breaks, and how large its effect is."""
    sound, faulty = (fmean(effects()[fault.name][side]) for side in ("sound", "faulty"))
    return (
        f"<p><b>{escape(fault.name[0].upper() + fault.name[1:])}.</b> {escape(fault.explanation)}</p>"
        f'<p class="quiet">Found in {escape(fault.repository)}: '
        f'<a href="{escape(fault.thread)}" target="_blank" rel="noopener noreferrer">{escape(fault.thread)}</a>. '
        f"The law: {escape(fault.law)} Over {SEEDS} seeds, {escape(fault.shows)}: {sound:.3g} in the sound runs, "
        f"{faulty:.3g} with the fault.</p>"
    )


def reviewed(answers: Sequence[str]) -> str:
    """The questions with what was answered and why the right answer is right."""
    return "".join(
        f"<p>{k}. {escape(each.text)}<br>{'✓' if answer == each.right else '✗'} {escape(each.right)} "
        f'<span class="quiet">{escape(each.why)}</span></p>'
        for k, (each, answer) in enumerate(zip(QUESTIONS, answers, strict=True), 1)
    )
