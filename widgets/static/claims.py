"""Claims as markup: the list of cards, a card with its rule, and the seeds with the interval that decides."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import inf, isinf
from statistics import fmean

from playground.claims.claim import GROUPS, Claim
from playground.claims.errata import ERRATA, Erratum
from playground.claims.lab import differences
from playground.claims.report import ClaimFacts, effect
from playground.claims.rule import INTERVAL, Call, Rule, RuleFacts
from playground.claims.verdict import Verdict, sentences
from playground.knob import as_written
from widgets.bundle import sheet
from widgets.charts.columns import ticks
from widgets.design_tokens import BLUE, GREEN, GREY, VERMILION
from widgets.static.svg import BOLD, dot, picture, rect, words

COLOURS: dict[Call | None, str] = {"agrees": GREEN, "disagrees": VERMILION, "undecided": GREY, None: "#8888"}
"""The colour of each verdict."""

COUNTED: dict[Call | None, str] = {
    "agrees": "agree", "disagrees": "disagree", "undecided": "undecided", None: "not run",
}  # fmt: skip
"""What is said of several cards with a verdict."""

MARKS: dict[Call | None, str] = {"agrees": "✓", "disagrees": "✗", "undecided": "?", None: "–"}
"""The mark of each verdict, where there is no room for the word."""

STYLE = sheet(__file__)

TEXT = 'style="text-align:left"'
"""Notebooks set all cells of a table to the right; text begins on the left."""

WIDTH, LEFT, RIGHT, ROW = 640, 150, 24, 24
"""Pixels of the picture, of the names on its left, of the room on its right, and of a row."""


def say(text: str, kind: str = "") -> str:
    """A paragraph; nothing where there is no text."""
    return f'<p class="{kind}">{escape(text)}</p>' if text else ""


def chip(call: Call | None) -> str:
    """A verdict as a small label."""
    return f'<span class="chip {call or "none"}">{call or "not run"}</span>'


def listed(facts: Sequence[ClaimFacts], chosen: str) -> str:
    """All cards by group, each with its verdict; the open one is marked."""
    lines = list[str]()
    for group in GROUPS:
        members = [each for each in facts if each["group"] == group]
        lines += [f'<div class="label">{group}</div>'] if members else []
        for each in members:
            kind = ' class="open" aria-current="true"' if each["name"] == chosen else ""
            lines.append(
                f'<button type="button" data-act="claim" data-name="{each["name"]}"{kind}>'
                f'<span class="name">{each["name"]}</span><span class="title">{escape(each["title"])}</span>'
                f"{_mark(each['verdict'])}</button>"
            )
    shown = "".join(lines) or say("No card matches; clear the search.", "quiet")
    return f'<div class="claims choices scroll">{shown}</div>'


def _mark(call: Call | None) -> str:
    said = call or "not run"
    return f'<span class="mark {call or "none"}" role="img" aria-label="{said}" title="{said}">{MARKS[call]}</span>'


def calls(facts: Sequence[ClaimFacts], pressed: Sequence[str]) -> str:
    """How many cards have each verdict, as buttons that list these cards alone."""
    verdicts = [each["verdict"] for each in facts]
    buttons = [
        f'<button type="button" class="chip {call}" data-act="verdict" data-name="{call}" '
        f'aria-pressed="{str(call in pressed).lower()}">{MARKS[call]} {verdicts.count(call)} {name}</button>'
        for call, name in COUNTED.items()
        if call
    ]
    return f'<div class="calls">{"".join(buttons)}</div>'


def counted(facts: Sequence[ClaimFacts]) -> str:
    """How many cards have each verdict."""
    verdicts = [each["verdict"] for each in facts]
    return ", ".join(f"{n} {name}" for call, name in COUNTED.items() if (n := verdicts.count(call)))


def card(claim: Claim, verdict: Verdict | None) -> str:
    """What the claim says, what would be seen, and the rule."""
    unit = f" ({claim.unit})" if claim.unit else ""
    parts = [
        f"<h2>{escape(claim.title)} {chip(verdict and verdict['call'])}</h2>",
        f'<p class="statement">{escape(claim.statement)}</p>',
        say(f"{claim.name}, {claim.source}", "quiet"),
        '<div class="two">',
        f'<div><div class="label">If it holds</div>{say(claim.prediction)}</div>',
        f'<div><div class="label">If not</div>{say(claim.otherwise)}</div>',
        '<div><div class="label">The rule, written before the run</div>',
        *(say(f"{rule.words[0].upper()}{rule.words[1:]}{unit}.") for rule in claim.rules),
        "</div></div>",
        *(say(f"The rule was changed: {line}", "notice") for line in claim.history),
    ]
    return f'<div class="card">{"".join(parts)}</div>'


def errata(chosen: Sequence[Erratum] = ERRATA) -> str:
    """What the sources printed, what is right, and what decides it here."""
    rows = "".join(
        f"<tr><td>{escape(each.source)}</td><td class=loose>{escape(each.printed)}</td>"
        f"<td class=loose>{escape(each.correct)}</td><td>{escape(each.decides)}</td></tr>"
        for each in chosen
    )
    head = "<tr><th>source</th><th>printed</th><th>correct</th><th>decided by</th></tr>"
    return f'<div class="wide"><table>{head}{rows}</table></div>'


def background(claim: Claim) -> str:
    """What is run, what the paper found, and what tiny models can say."""
    settled = [each for each in ERRATA if each.decides == claim.name]
    parts = {
        "What is run": _arms(claim), "Published": say(claim.published), "What tiny models can say": say(claim.scale),
        "Errata that this settles": errata(settled) if settled else "",
    }  # fmt: skip
    shown = "".join(f'<div class="label">{name}</div>{part}' for name, part in parts.items() if part)
    return f'<div class="card">{shown}</div>'


def _arms(claim: Claim) -> str:
    """What is set for each arm, the field in which they differ marked; then what comes with it."""
    sides = {name: arm.shown for name, arm in claim.sides.items()}
    names = list(dict.fromkeys(name for side in sides.values() for name in side))
    names = [*[n for n in names if n in claim.differs], *[n for n in names if n not in claim.differs]]
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
    rows = "".join(
        f"<tr><th scope=row>{escape(arm)}</th>"
        + "".join(
            f'<td class="{"differs" if name in claim.differs else ""}">'
            f"{escape(as_written(side[name])) if name in side else '–'}</td>"
            for name in names
        )
        + "</tr>"
        for arm, side in sides.items()
    )
    return f'<div class="wide"><table><tr><th>arm</th>{head}</tr>{rows}</table></div>{_also(claim)}'


def _also(claim: Claim) -> str:
    """What differs in the entries of the arms, in words."""
    if not set(claim.differs) & {"entry", "settings"}:
        return ""
    changes = [each for each in differences(claim) if each.group != "arm" and each.part != "loss"]
    parts = "; ".join(f"{each.part}: {each.before} → {each.after}" for each in changes)
    return say(f"That is: {parts}.", "quiet") if parts else ""


def found(claim: Claim, verdict: Verdict, title: str = "") -> str:
    """What the seeds gave, drawn and in words, and from what it was computed."""
    about = (
        f"{verdict['date']}, {len(verdict['seeds'])} seeds, {verdict['seconds']:.0f} seconds in one process, "
        f"torch {verdict['torch']}, code {verdict['code']}."
    )
    kept = dict.fromkeys(names[0] for names in verdict["runs"].values() if names and names[0])
    about += f" Checkpoints of the first seed: {', '.join(kept)}." if kept else ""
    heading = f'<div class="label">{escape(title)}</div><p>{chip(verdict["call"])}</p>' if title else ""
    rules = zip(verdict["rules"], sentences(verdict, claim.unit), strict=True)
    lines = "".join(f"<p>{_mark(facts['call'])} {escape(sentence)}</p>" for facts, sentence in rules)
    return (
        f'<div class="card">{heading}{lines}<div class="wide">{seeds(claim, verdict)}</div>{say(about, "quiet")}</div>'
    )


def seeds(claim: Claim, verdict: Verdict, paper: bool = False) -> str:
    """The figure of each arm with every seed, and below it each rule: where the interval lies and where it should."""
    parts, y = [*_strips(verdict["values"])], 40 + ROW * len(verdict["values"])
    for rule, facts in zip(claim.rules, verdict["rules"], strict=True):
        parts += _interval(rule, facts, rule.gaps(verdict["values"]), y)
        y += 72
    return picture("".join(parts), WIDTH, y, f"{claim.name}: {claim.title}", paper=paper)


def _scale(values: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest number of an axis that holds the values, with some room."""
    low, high = min(values), max(values)
    room = 0.08 * (high - low) or 0.1 * abs(high) or 0.5
    return low - room, high + room


def _x(value: float, low: float, high: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (min(max(value, low), high) - low) / (high - low)


def _axis(low: float, high: float, y: float) -> Iterator[str]:
    yield rect(LEFT, y, WIDTH - LEFT - RIGHT, 1, GREY, 0.5)
    for value in ticks(low, high, 6):
        yield words(_x(value, low, high), y + 15, f"{value:g}", "middle")


def _strips(values: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """A row for each arm: a dot for each seed, a line at the mean."""
    low, high = _scale([value for some in values.values() for value in some])
    for k, (name, some) in enumerate(values.items()):
        y = 18 + ROW * k
        yield words(LEFT - 12, y + 4, name if len(name) < 22 else f"{name[:20]}…", "end")
        yield rect(LEFT, y, WIDTH - LEFT - RIGHT, 1, GREY, 0.25)
        mean = fmean(some)
        yield rect(_x(mean, low, high) - 1, y - 8, 2.5, 16, BLUE, title=f"{name}: mean {mean:.4g}")
        for seed, value in enumerate(some):
            yield dot(_x(value, low, high), y, BLUE, f"{name}, seed {seed}: {value:.4g}")
    yield from _axis(low, high, 18 + ROW * len(values) - 8)


def _interval(rule: Rule, facts: RuleFacts, gaps: Sequence[float], y: float) -> Iterator[str]:
    """The region in which the claim holds, shaded, and the difference with its interval."""
    colour = COLOURS[facts["call"]]
    ends = [facts["difference"], 0.0, *(v for v in (facts["low"], facts["high"]) if v is not None), *gaps]
    ends += [bound for bound in (rule.low, rule.high) if not isinf(bound)]
    low, high = _scale(ends)
    left = low if rule.low == -inf else rule.low
    right = high if rule.high == inf else rule.high
    a, b = _x(left, low, high), _x(right, low, high)
    yield words(LEFT - 12, y + 20, "difference", "end")
    yield words(LEFT, y + 4, rule.words, more=BOLD)
    yield rect(a, y + 10, max(3.0, b - a), 24, GREEN, 0.18, title="here the claim holds")
    yield rect(_x(0, low, high), y + 8, 1, 28, GREY)
    if facts["low"] is not None and facts["high"] is not None:
        x, end = _x(facts["low"], low, high), _x(facts["high"], low, high)
        yield rect(x, y + 20.5, max(2.0, end - x), 3, colour, title=f"{facts['low']:.4g} to {facts['high']:.4g}")
    for gap in gaps:
        yield rect(_x(gap, low, high) - 0.75, y + 26, 1.5, 7, colour)
    yield dot(_x(facts["difference"], low, high), y + 22, colour, f"{facts['difference']:.4g}")
    yield from _axis(low, high, y + 36)


def runs(verdict: Verdict, there: Mapping[str, bool], measured: bool) -> str:
    """The runs behind the arms: their curves, and what the card measures; those that are gone are said."""
    rows = list[str]()
    for arm, names in verdict["runs"].items():
        links = "".join(_links(name, seed, measured) for seed, name in enumerate(names) if there.get(name))
        if links:
            rows.append(f"<p>{escape(arm)}: {links}</p>")
    if not rows:
        return ""
    return f'<div class="label">Runs of this verdict</div><div class="runs">{"".join(rows)}</div>'


def _links(name: str, seed: int, measured: bool) -> str:
    curve = f'<button type="button" data-act="curve" data-name="{escape(name)}">seed {seed}</button>'
    inside = f'<button type="button" data-act="inside" data-name="{escape(name)}">measure</button>' if measured else ""
    return curve + inside


def table(facts: Sequence[ClaimFacts]) -> str:
    """Every card in a row: verdict, effect with interval, seeds, seconds and date."""
    rows = "".join(
        f"<tr><th scope=row>{each['name']}</th><td {TEXT}>{escape(each['title'])}</td>"
        f"<td {TEXT}>{chip(each['verdict'])}</td>"
        f"<td {TEXT}>{escape(effect(each))}</td><td>{each['seeds']}</td>"
        f"<td>{'' if each['seconds'] is None else round(each['seconds'])}</td>"
        f"<td>{escape(each['details']['date'] if each['details'] else '')}</td></tr>"
        for each in facts
    )
    names = ("claim", "", "verdict", f"effect ({INTERVAL})", "seeds", "seconds", "date")
    head = "".join(f"<th {TEXT}>{name}</th>" for name in names)
    return f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'
